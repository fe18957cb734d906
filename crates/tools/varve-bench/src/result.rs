//! The common part of the result files of all suites: their header, and how they are read and
//! written.

mod buckets;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use buckets::Buckets;

/// Exit code for missed thresholds, wrong answers or missing data.
pub(crate) const EXIT_FAILED: u8 = 3;

/// The most steps along a chain of symbolic links, as in Linux.
const LINKS_MAX: usize = 40;

/// The header of a result file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    /// 0 in old files of the metadata suite, which do not state their format.
    format: u32,
    suite: String,
}

/// A kind of result file, and the format versions that this tool reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The name of the suite in the file; empty for the load tests.
    pub(crate) suite: &'static str,
    /// The command that writes it.
    pub(crate) command: &'static str,
    pub(crate) oldest: u32,
    pub(crate) newest: u32,
}

impl Form {
    /// Whether a file is of this suite. An error if it cannot be read or is no result file.
    pub(crate) fn is_of(self, path: &Path) -> Result<bool> {
        let head: Head = parse(path, &text(path)?)?;
        Ok(head.suite == self.suite)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is of another suite, or has a format older than `oldest` or newer
    /// than `newest`.
    pub(crate) fn read<F: DeserializeOwned>(self, path: &Path) -> Result<F> {
        let (text, shown) = (text(path)?, path.display());
        let head: Head = parse(path, &text)?;
        let Self {
            command,
            oldest,
            newest,
            ..
        } = self;
        ensure!(
            head.suite == self.suite,
            "{shown} is not a result of `{command}`"
        );
        ensure!(
            (oldest..=newest).contains(&head.format),
            "{shown}: form {} is not known to this tool, which knows {oldest} to {newest}",
            head.format
        );
        parse(path, &text)
    }
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn parse<F: DeserializeOwned>(path: &Path, text: &str) -> Result<F> {
    serde_json::from_str(text).with_context(|| format!("{} is not a result file", path.display()))
}

/// Writes a readable file: one field a line, but each pair of a histogram and each second on one
/// line. Replaces an existing file atomically where possible; otherwise overwrites it in place.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(file: &impl Serialize, path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(file).context("the result as JSON")?;
    let text = compact_pairs(&text) + "\n";
    let Some(target) = replaceable(path) else {
        return put(path, &text);
    };
    let mut beside = target.as_os_str().to_owned();
    beside.push(".new");
    // If no file can be created beside it, the file is overwritten in place.
    let Ok(mut file) = File::create(&beside) else {
        return put(path, &text);
    };
    // The new file replaces the old one atomically, so that a reader never sees half a file.
    file.write_all(text.as_bytes())
        .and_then(|()| std::fs::rename(&beside, &target))
        .inspect_err(|_| drop(std::fs::remove_file(&beside)))
        .with_context(|| format!("writing {}", path.display()))
}

/// The file to which `path` leads through symbolic links, whether it exists or not. `None` if it
/// cannot be replaced: it is a device, a pipe or a folder, is in /dev or /proc (such as
/// /dev/stdout), is in a missing folder, or is behind too many links.
fn replaceable(path: &Path) -> Option<PathBuf> {
    let mut at = path.to_owned();
    // One step more than links: the last one finds the file.
    for _ in 0..=LINKS_MAX {
        let folder = match at.parent()? {
            empty if empty.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        let folder = folder.canonicalize().ok()?;
        if folder.starts_with("/proc") || folder.starts_with("/dev") {
            return None;
        }
        at = folder.join(at.file_name()?);
        match at.read_link() {
            Ok(next) => at = folder.join(next),
            Err(_) => {
                let is_other = at.metadata().is_ok_and(|there| !there.is_file());
                return (!is_other).then_some(at);
            }
        }
    }
    None
}

/// Writes text to a file.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Puts each array in an array and each object that begins with `at_s` on one line. Otherwise a
/// histogram would fill thousands of lines.
fn compact_pairs(pretty: &str) -> String {
    let mut out = String::with_capacity(pretty.len());
    let mut lines = pretty.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        let in_series = line.ends_with('[') && line.trim() == "[";
        let in_second = line.trim() == "{"
            && lines
                .peek()
                .is_some_and(|next| next.trim().starts_with("\"at_s\""));
        if in_series || in_second {
            for inner in lines.by_ref() {
                let inner = inner.trim();
                if !matches!(inner, "]" | "]," | "}" | "},") {
                    out.push_str(inner);
                    continue;
                }
                out.push_str(inner);
                break;
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn number(path: &Path) -> u32 {
        parse(path, &text(path).expect("there")).expect("whole")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_replaces_the_old_one() {
        let folder = folder();
        let path = folder.path().join("r.json");
        write(&1, &path).expect("written");
        let old = File::open(&path).expect("there");
        write(&2, &path).expect("written");
        assert_eq!(number(&path), 2);
        let old = std::io::read_to_string(old).expect("whole");
        assert_eq!(old.trim(), "1");
        assert_eq!(names(folder.path()), ["r.json"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = folder();
        let (target, link) = (folder.path().join("r.json"), folder.path().join("link"));
        symlink("r.json", &link).expect("linked");
        // The first write creates the target.
        for round in 1..3 {
            write(&round, &link).expect("written");
            assert!(link.is_symlink());
            assert_eq!(number(&target), round);
        }
        assert_eq!(names(folder.path()), ["link", "r.json"]);
    }

    #[test]
    fn a_file_behind_as_many_links_as_linux_follows_is_replaced() {
        let folder = folder();
        let at = |number: usize| folder.path().join(format!("r{number:02}"));
        write(&1, &at(0)).expect("written");
        for number in 1..=LINKS_MAX + 1 {
            symlink(at(number - 1), at(number)).expect("linked");
        }
        let mut old = File::open(at(0)).expect("there");
        write(&2, &at(LINKS_MAX)).expect("written");
        assert_eq!(number(&at(0)), 2);
        let old = std::io::read_to_string(&mut old).expect("whole");
        assert_eq!(old.trim(), "1", "the file is not overwritten in place");
        write(&3, &at(LINKS_MAX + 1)).expect_err("Linux follows no more links");
        assert_eq!(number(&at(0)), 2);
    }

    #[test]
    fn a_file_behind_a_link_of_proc_is_written_in_place() {
        use std::os::fd::AsRawFd as _;
        let folder = folder();
        let path = folder.path().join("out.json");
        let out = File::create(&path).expect("created");
        let link = PathBuf::from(format!("/proc/self/fd/{}", out.as_raw_fd()));
        write(&7, &link).expect("written");
        assert_eq!((number(&link), number(&path)), (7, 7));
        assert_eq!(names(folder.path()), ["out.json"]);
        // Neither a link to such a link nor a device is replaced.
        let outer = folder.path().join("outer");
        symlink(&link, &outer).expect("linked");
        write(&88, &outer).expect("written");
        assert_eq!((number(&link), number(&path)), (88, 88));
        write(&7, Path::new("/dev/null")).expect("written");
    }

    #[test]
    fn where_no_file_can_be_made_beside_it_is_written_in_place() {
        let folder = folder();
        let path = folder.path().join("r.json");
        write(&1, &path).expect("written");
        let beside = folder.path().join("r.json.new");
        std::fs::create_dir(&beside).expect("made");
        write(&2, &path).expect("written");
        assert_eq!(number(&path), 2);
        assert_eq!(names(folder.path()), ["r.json", "r.json.new"]);
    }
}
