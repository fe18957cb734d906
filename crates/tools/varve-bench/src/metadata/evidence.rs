//! The evidence of the timed calls, in the published form: a file for each profile, with a record
//! of each call. It is written while the suite runs, since a large run has millions of calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::profile::{Profile, Row};

/// The files of evidence. A file is created at the first call of its profile.
#[derive(Debug)]
pub(crate) struct Evidence {
    folder: PathBuf,
    files: BTreeMap<Profile, ProfileFile>,
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
        let mut profiles = Profile::ALL.iter();
        let is_there = |profile: &Profile| ProfileFile::path(folder, *profile).is_file();
        ensure!(
            !profiles.any(is_there),
            "{} has the evidence of another run: name another folder",
            folder.display()
        );
        let shown = folder.display();
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder {shown}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            error: None,
        })
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

    /// Completes the files; later calls can still be added.
    ///
    /// # Errors
    /// When something could not be written, now or earlier.
    pub(crate) fn complete(&mut self) -> Result<()> {
        let earlier = self.error.take().map_or(Ok(()), Err);
        let mut files = self.files.values_mut();
        let completed = earlier.and_then(|()| Ok(files.try_for_each(ProfileFile::complete)?));
        completed.context("writing the evidence")
    }
}

impl ProfileFile {
    /// Writes the end and flushes the file. Then seeks back to the position before the end, so that
    /// later calls overwrite it.
    fn complete(&mut self) -> std::io::Result<()> {
        let end = self.writer.stream_position()?;
        self.writer.write_all(b"\n]}]}\n")?;
        self.writer.seek(SeekFrom::Start(end)).map(drop)
    }

    fn path(folder: &Path, profile: Profile) -> PathBuf {
        folder.join(format!("profile-{:03}.json", profile.id()))
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
}
