//! The evidence of the timed calls, in the published form: a file for each profile, with a record
//! of each call. It is written while the suite runs, since a large run has millions of calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::profile::{Profile, Row};

/// The files of evidence. A file is created at the first call of its profile.
#[derive(Debug)]
pub(crate) struct Evidence {
    folder: PathBuf,
    files: BTreeMap<Profile, ProfileFile>,
    /// The length of each file without its end, by the profile's id, when all files were last
    /// complete.
    whole: BTreeMap<u16, u64>,
    /// The first error. No later call is written; calls are still timed, and the run ends with this
    /// error.
    error: Option<anyhow::Error>,
}

#[derive(Debug)]
struct ProfileFile {
    writer: BufWriter<File>,
    first: bool,
}

impl Evidence {
    /// Evidence in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    /// When the folder cannot be created, or has the evidence of another run.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        Self::check_new(folder)?;
        Self::in_folder(folder)
    }

    /// Checks that a folder has no evidence. Evidence of another run could be taken for that of
    /// this one.
    ///
    /// # Errors
    /// When the folder has evidence.
    pub(crate) fn check_new(folder: &Path) -> Result<()> {
        let mut profiles = Profile::ALL.iter();
        let is_there = |profile: &Profile| ProfileFile::path(folder, *profile).is_file();
        ensure!(
            !profiles.any(is_there),
            "{} has the evidence of another run: name another folder",
            folder.display()
        );
        Ok(())
    }

    fn in_folder(folder: &Path) -> Result<Self> {
        let shown = folder.display();
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder {shown}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            whole: BTreeMap::new(),
            error: None,
        })
    }

    /// Reopens the evidence in `folder` as it was when [`Evidence::complete`] returned `lengths`:
    /// truncates files to their lengths, removes those without a length, and completes them again.
    ///
    /// # Errors
    /// When a file is missing or shorter than its length, or cannot be written or removed.
    pub(crate) fn again(folder: &Path, lengths: &BTreeMap<u16, u64>) -> Result<Self> {
        let mut evidence = Self::in_folder(folder)?;
        for profile in Profile::ALL {
            let path = ProfileFile::path(folder, *profile);
            if let Some(length) = lengths.get(&profile.id()) {
                let file = ProfileFile::again(&path, *length)?;
                evidence.files.insert(*profile, file);
            } else if path.is_file() {
                let removed = std::fs::remove_file(&path);
                removed.with_context(|| format!("removing {}", path.display()))?;
            }
        }
        evidence.complete()?;
        Ok(evidence)
    }

    /// Resets the evidence to its last complete state, as [`Evidence::again`] does. Forgets the
    /// first error.
    ///
    /// # Errors
    /// As [`Evidence::again`].
    pub(crate) fn cut_back(&mut self) -> Result<()> {
        for file in std::mem::take(&mut self.files).into_values() {
            // The buffered calls must not be written. Dropping the writer itself would flush them.
            drop(file.writer.into_parts());
        }
        *self = Self::again(&self.folder, &self.whole)?;
        Ok(())
    }

    /// Adds a call to the file of `row`'s profile. `case`: the profile and the type of the test
    /// case that made the call. An error is kept for [`Evidence::complete`].
    pub(crate) fn add(&mut self, row: Row, case: (Profile, &str), elapsed: Duration) {
        if self.error.is_none()
            && let Err(error) = self.write(row, case, elapsed)
        {
            self.error = Some(error);
        }
    }

    fn write(
        &mut self,
        row: Row,
        (profile, of_type): (Profile, &str),
        time: Duration,
    ) -> Result<()> {
        if !self.files.contains_key(&row.profile) {
            let file = ProfileFile::new(&self.folder, row.profile)?;
            self.files.insert(row.profile, file);
        }
        let Some(file) = self.files.get_mut(&row.profile) else {
            return Ok(());
        };
        let case = profile.case_id();
        let piece = json!({
            "profileId": row.profile.id(),
            "testCaseId": format!("{case}-{of_type}"),
            "assertionId": format!("{case}-{}", row.method),
            "methodName": row.method,
            "elapsedTime": time.as_millis() as u64,
            "elapsedMicroseconds": time.as_micros() as u64,
        });
        let comma = if file.first { "\n" } else { ",\n" };
        file.first = false;
        write!(file.writer, "{comma}{piece}")?;
        Ok(())
    }

    /// Completes the files; later calls can still be added. Returns the length of each file without
    /// its end, by the profile's id, for [`Evidence::again`].
    ///
    /// # Errors
    /// When something could not be written, now or earlier.
    pub(crate) fn complete(&mut self) -> Result<BTreeMap<u16, u64>> {
        if self.error.is_none() {
            let files = self.files.iter_mut();
            let lengths = files.map(|(profile, file)| Ok((profile.id(), file.complete()?)));
            match lengths.collect::<Result<BTreeMap<_, _>>>() {
                Ok(lengths) => {
                    self.whole.clone_from(&lengths);
                    return Ok(lengths);
                }
                // Nothing more may be written, since a part of the file is missing.
                Err(error) => self.error = Some(error),
            }
        }
        let error = self.error.as_ref().map(|error| format!("{error:#}"));
        bail!("writing the evidence: {}", error.unwrap_or_default());
    }
}

impl ProfileFile {
    /// Writes the end and flushes the file. Then seeks back to the position before the end, so that
    /// later calls overwrite it, and returns that position.
    fn complete(&mut self) -> std::io::Result<u64> {
        let end = self.writer.stream_position()?;
        self.writer.write_all(b"\n]}]}\n")?;
        self.writer.seek(SeekFrom::Start(end))
    }

    fn path(folder: &Path, profile: Profile) -> PathBuf {
        folder.join(format!("profile-{:03}.json", profile.id()))
    }

    /// Reopens an existing file and truncates it to `length`.
    fn again(path: &Path, length: u64) -> Result<Self> {
        let shown = path.display();
        let open = File::options().write(true).open(path);
        let mut file = open.with_context(|| format!("opening {shown}"))?;
        let is = file.metadata().with_context(|| format!("{shown}"))?.len();
        ensure!(is >= length, "{shown} is shorter than it was");
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Self {
            writer: BufWriter::new(file),
            // A file is created at its first call, so it has at least one.
            first: false,
        })
    }

    fn new(folder: &Path, profile: Profile) -> Result<Self> {
        let path = Self::path(folder, profile);
        let file = File::create(&path).with_context(|| format!("making {}", path.display()))?;
        let mut writer = BufWriter::new(file);
        let (id, name) = (profile.id(), json!(profile.name()));
        write!(
            writer,
            "{{\"id\":{id},\"name\":{name},\"requirementResults\":[{{\"name\":{name},\"positiveTestEvidence\":["
        )?;
        Ok(Self {
            writer,
            first: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_published_form() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let mut evidence = Evidence::new(folder.path()).expect("a folder");
        let row = Row::new(Profile::EntitySearch, "findEntities");
        let path = folder.path().join("profile-002.json");
        let read = || {
            let text = std::fs::read_to_string(&path).expect("a file");
            let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            file
        };
        for (count, us) in [(1, 700), (2, 12_345)] {
            let case = (Profile::EntityRetrieval, "Asset");
            evidence.add(row, case, Duration::from_micros(us));
            // Complete after each call, as when a run is interrupted.
            evidence.complete().expect("written");
            let pieces = &read()["requirementResults"][0]["positiveTestEvidence"];
            assert_eq!(pieces.as_array().map(Vec::len), Some(count));
        }
        let file = read();
        assert_eq!(
            (&file["id"], &file["name"]),
            (&json!(2), &json!("Entity search"))
        );
        let pieces = &file["requirementResults"][0]["positiveTestEvidence"];
        assert_eq!(
            pieces[1],
            json!({
                "profileId": 2,
                "testCaseId": "repository-entity-retrieval-performance-Asset",
                "assertionId": "repository-entity-retrieval-performance-findEntities",
                "methodName": "findEntities",
                "elapsedTime": 12,
                "elapsedMicroseconds": 12_345,
            })
        );
    }

    #[test]
    fn what_is_not_whole_is_cut_off_and_so_are_files_of_it() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = |id: u16| folder.path().join(format!("profile-{id:03}.json"));
        let pieces = |id| {
            let text = std::fs::read_to_string(path(id)).expect("a file");
            let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let pieces = &file["requirementResults"][0]["positiveTestEvidence"];
            pieces.as_array().map(Vec::len)
        };
        let add = |evidence: &mut Evidence, profile, count| {
            for _ in 0..count {
                let row = Row::new(profile, "findEntities");
                evidence.add(row, (profile, "Asset"), Duration::from_millis(1));
            }
        };
        let (search, past) = (Profile::EntitySearch, Profile::EntityHistorySearch);
        let mut evidence = Evidence::new(folder.path()).expect("a folder");
        add(&mut evidence, search, 3);
        let lengths = evidence.complete().expect("written");
        // More than the buffer holds.
        add(&mut evidence, search, 1_000);
        add(&mut evidence, past, 1);
        evidence.cut_back().expect("written");
        assert_eq!((pieces(2), path(16).exists()), (Some(3), false));
        // The same after the tool was killed.
        add(&mut evidence, search, 1_000);
        add(&mut evidence, past, 1_000);
        drop(evidence);
        let mut evidence = Evidence::again(folder.path(), &lengths).expect("there");
        assert_eq!((pieces(2), path(16).exists()), (Some(3), false));
        add(&mut evidence, search, 1);
        add(&mut evidence, past, 2);
        evidence.complete().expect("written");
        assert_eq!((pieces(2), pieces(16)), (Some(4), Some(2)));
    }
}
