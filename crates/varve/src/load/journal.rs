//! The journal of a load, beside the mapping file: the rows that are already loaded, so that an
//! interrupted load can resume.
//!
//! When all rows of a block are sent, one line is written for each contiguous range of stored rows.
//! Refused rows are in no range, so the next run tries them again. A line that a crash cut short is
//! ignored, and its rows are sent again. That is harmless, since a load writes each element whole
//! and under its own id.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A contiguous range of stored rows in one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The number of the input, in the order of the load.
    pub(crate) input: usize,
    /// The first byte of the range.
    pub(crate) from: u64,
    /// The byte after the last.
    pub(crate) to: u64,
    /// The number of elements stored.
    pub(crate) stored: u64,
}

/// The identity of a load; a different load does not resume from the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// The URL of the graph.
    pub(crate) target: String,
    /// A hash of the mapping file.
    pub(crate) mapping: String,
    /// Path and length of each input.
    pub(crate) inputs: Vec<(PathBuf, u64)>,
}

/// The open journal of a load.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal at `path`; returns the ranges that are already stored. An empty or missing
    /// journal starts a new load.
    ///
    /// # Errors
    /// When the journal cannot be read or written, or belongs to another load.
    pub(crate) fn open(path: &Path, subject: &Subject) -> Result<(Self, Vec<Done>), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole.lines();
        let mut done = Vec::new();
        let started = match lines.next().map(serde_json::from_str::<Subject>) {
            None => false,
            Some(Ok(known)) if known == *subject => true,
            Some(_) => {
                return Err(format!(
                    "{} belongs to a load of other files, another mapping or another graph; go on with those, or \
                     start anew with --restart",
                    path.display()
                ));
            }
        };
        for line in lines {
            let piece = serde_json::from_str(line);
            done.push(piece.map_err(|error| format!("{}: {error}", path.display()))?);
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(failed)?;
        file.set_len(whole.len() as u64).map_err(failed)?;
        let mut journal = Self {
            path: path.to_path_buf(),
            file,
        };
        std::io::Seek::seek(&mut journal.file, std::io::SeekFrom::End(0)).map_err(failed)?;
        if !started {
            journal.write_line(subject)?;
        }
        Ok((journal, done))
    }

    /// Appends a range.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) fn note(&mut self, done: Done) -> Result<(), String> {
        self.write_line(&done)
    }

    /// Removes the journal of a load that is complete.
    pub(crate) fn finish(self) {
        // If the removal fails, the next load of the same files skips their rows and prints that it
        // resumes.
        let _ = std::fs::remove_file(&self.path);
    }

    fn write_line(&mut self, line: &impl Serialize) -> Result<(), String> {
        let failed = |error: String| format!("{}: {error}", self.path.display());
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| failed(error.to_string()))
    }
}

/// The stored ranges of one input.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Sorted by start.
    pieces: Vec<Done>,
}

impl Progress {
    /// The ranges of input number `input`.
    pub(crate) fn of(input: usize, done: &[Done]) -> Self {
        let mut pieces: Vec<Done> = done
            .iter()
            .copied()
            .filter(|piece| piece.input == input)
            .collect();
        pieces.sort_by_key(|piece| piece.from);
        Self { pieces }
    }

    /// Whether the row that starts at `byte` is stored.
    pub(crate) fn covers(&self, byte: u64) -> bool {
        let after = self.pieces.partition_point(|piece| piece.from <= byte);
        self.pieces[..after]
            .iter()
            .rev()
            .take(2)
            .any(|piece| byte < piece.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from: u64, to: u64) -> Done {
        Done {
            input: 0,
            from,
            to,
            stored: 1,
        }
    }

    fn subject(target: &str) -> Subject {
        Subject {
            target: target.to_owned(),
            mapping: "1".to_owned(),
            inputs: vec![("a.csv".into(), 90)],
        }
    }

    #[test]
    fn a_journal_goes_on_where_it_was_cut() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("j");
        let (mut journal, done) = Journal::open(&path, &subject("a")).unwrap();
        assert!(done.is_empty());
        journal.note(piece(5, 20)).unwrap();
        journal.note(piece(20, 40)).unwrap();
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (mut journal, done) = Journal::open(&path, &subject("a")).unwrap();
        assert_eq!(
            done,
            [piece(5, 20)],
            "the line that was cut short is not counted"
        );
        journal.note(piece(20, 40)).unwrap();
        drop(journal);
        let (journal, done) = Journal::open(&path, &subject("a")).unwrap();
        assert_eq!(done, [piece(5, 20), piece(20, 40)]);
        journal.finish();
        assert!(!path.exists());
    }

    #[test]
    fn a_journal_of_another_load_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("j");
        drop(Journal::open(&path, &subject("a")).unwrap());
        assert!(
            Journal::open(&path, &subject("b"))
                .unwrap_err()
                .contains("--restart")
        );
    }

    #[test]
    fn progress_knows_gaps() {
        let progress = Progress::of(0, &[piece(60, 80), piece(5, 20), piece(20, 40)]);
        assert!(
            progress.covers(39)
                && !progress.covers(40)
                && progress.covers(60)
                && !progress.covers(80)
        );
        assert!(!Progress::of(1, &[piece(5, 20)]).covers(5));
    }
}
