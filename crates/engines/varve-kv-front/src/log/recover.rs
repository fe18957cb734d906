//! Surveys a log's directory: its segments, whether they belong to this space, the end of their
//! sound records, and whether the bytes at that end are a torn write or damage.
//!
//! Every record has the position up to which the log was on stable storage when it was written. The
//! mark has that position for the last records. So a bad record is damage if any record or the mark
//! shows that it had been stored. If the machine has not stopped since the log was written, no
//! written byte can be missing. Then a bad record is also damage if it is before the acknowledged
//! position, or if another record follows it. Otherwise the power failed before the record was
//! stored, its durability was never promised, and the log ends there.

use std::io;
use std::path::Path;
use std::sync::Arc;

use varve_kv::KvError;

use super::disk::{Disk, DiskFile};
use super::errors::{self, WHAT_TO_DO};
use super::format::{self, BadHead, Head, LogId, Mark, RECORD_HEAD_BYTES};
use super::mark::{self, MarkFile};
use super::reader::{Behind, Extent, Reader, Stop};
use super::{Folders, SegmentId};

/// Receives payloads, in order.
pub(crate) type Take<'a> = dyn FnMut(SegmentId, &[u8]) -> Result<(), KvError> + 'a;

/// The segments of a directory, not yet read.
#[derive(Debug)]
pub(crate) struct Survey<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) space: &'a str,
    /// In order, without a gap.
    pub(crate) segments: Vec<Head>,
    /// Files left by an interrupted rotation or removal.
    pub(crate) left_over: Vec<String>,
    /// The content of the mark; `None` if there is no mark, or an empty one (log format 1).
    pub(crate) mark: Option<Mark>,
    /// The position that the log certainly reached.
    reached: Reached,
}

/// The least extent of a log, as known from the mark.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    durable: u64,
    acknowledged: u64,
    /// Whether no written byte can be missing, synced or not.
    is_whole: bool,
}

/// The end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The index of the last segment; the records of later segments are dropped.
    pub(crate) segment: usize,
    /// The offset in that segment's file.
    pub(crate) offset: u64,
    /// The position up to which the log was certainly on stable storage.
    pub(crate) durable: u64,
    /// The bytes after the end, which are dropped.
    pub(crate) behind: Behind,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(folders: &'a Folders, space: &'a str) -> Result<Self, KvError> {
        let mut survey = Self {
            disk: &*folders.log,
            space,
            segments: Vec::new(),
            left_over: Vec::new(),
            mark: None,
            reached: Reached::default(),
        };
        // The mark is read before the segments: a log that is being written can only grow in
        // between.
        let beside = &*folders.beside;
        let found = mark::read(beside)
            .map_err(|error| errors::file_error(space, "reading the log's mark", &error))?;
        let names = Self::names(survey.disk).map_err(|error| survey.failed("", error))?;
        let first = match found {
            MarkFile::Mark(mark) => {
                survey.reached = Reached {
                    durable: mark.durable,
                    acknowledged: mark.acknowledged,
                    is_whole: mark.session != 0 && mark.session == beside.session(),
                };
                survey.mark = Some(mark);
                mark.first
            }
            MarkFile::Damaged => {
                return Err(survey.refused(&beside.path(format::MARK_NAME), "is damaged"));
            }
            MarkFile::Absent | MarkFile::Empty => survey.reached_in_earlier_builds(&names)?,
        };
        let newest = survey.find(&names, first)?;
        if survey.segments.is_empty() {
            let must_be = match survey.mark {
                Some(mark) => mark.in_use,
                None => {
                    found == MarkFile::Empty || first > SegmentId(1) || survey.reached.durable > 0
                }
            };
            return match newest {
                Some(newest) => Err(survey.older(newest, first)),
                None if must_be => Err(survey.missing(first)),
                None => Ok(survey),
            };
        }
        survey.check_identity(beside)?;
        Ok(survey)
    }

    /// Classifies the files and reads the heads of the segments from `first` on. Returns the number
    /// of the last segment before `first`.
    fn find(&mut self, names: &[String], first: SegmentId) -> Result<Option<SegmentId>, KvError> {
        let mut found: Vec<SegmentId> = Vec::new();
        let mut before = None;
        for name in names {
            match format::segment_of(name) {
                Some(id) if id >= first => found.push(id),
                Some(id) => {
                    before = before.max(Some(id));
                    self.left_over.push(name.clone());
                }
                None if name.ends_with(UNFINISHED) => self.left_over.push(name.clone()),
                None => {}
            }
        }
        found.sort_unstable();
        for (expected, id) in (first.0..).map(SegmentId).zip(found) {
            if expected != id {
                return Err(self.missing(expected));
            }
            let head = self.head(id)?;
            self.segments.push(head);
        }
        Ok(before)
    }

    /// The file names in the log's directory; empty if the directory is missing.
    pub(crate) fn names(disk: &dyn Disk) -> io::Result<Vec<String>> {
        match disk.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        }
    }

    /// Reads the files `FIRST` and `DURABLE` of a log of format 1. Returns the first segment
    /// needed.
    fn reached_in_earlier_builds(&mut self, names: &[String]) -> Result<SegmentId, KvError> {
        let durable = small_file(self.disk, names, format::DURABLE_NAME)
            .map_err(|error| self.failed(format::DURABLE_NAME, error))?;
        // The file was not synced, so a damaged one is ignored.
        self.reached.durable = format::decode_durable(&durable).unwrap_or(0);
        Self::first_of_earlier_builds(self.disk, names)
            .map_err(|error| self.failed(format::FIRST_NAME, error))?
            .ok_or_else(|| self.damaged(format::FIRST_NAME, 0))
    }

    /// Returns the first segment needed of a log of format 1; `None` if the file that names it is
    /// damaged.
    pub(crate) fn first_of_earlier_builds(
        disk: &dyn Disk,
        names: &[String],
    ) -> io::Result<Option<SegmentId>> {
        let first = small_file(disk, names, format::FIRST_NAME)?;
        Ok(match first.is_empty() {
            true => Some(SegmentId(1)),
            false => format::decode_first(&first),
        })
    }

    /// Refuses segments of another log, and a log that does not begin where the sorted files end.
    fn check_identity(&self, beside: &dyn Disk) -> Result<(), KvError> {
        let log = self.mark.map_or(LogId::NONE, |mark| mark.log);
        let is_other = |head: &&Head| head.log != log;
        if let Some(other) = self.segments.iter().find(is_other) {
            let path = self.disk.path(&format::file_name(other.segment));
            if self.mark.is_none() {
                let mark = beside.path(format::MARK_NAME);
                return Err(self.refused(&mark, "is missing or empty, though there is a log"));
            }
            let what = "is not of this graph's log: it is another graph's, or of another time";
            return Err(self.refused(&path, what));
        }
        let first = &self.segments[0];
        match self.mark {
            Some(mark) if mark.flushed != first.base => {
                let what = format!(
                    "begins at position {}, and the sorted files end at {}: one of them is older",
                    first.base, mark.flushed
                );
                let path = self.disk.path(&format::file_name(first.segment));
                Err(self.refused(&path, &what))
            }
            _ => Ok(()),
        }
    }

    fn head(&self, id: SegmentId) -> Result<Head, KvError> {
        let name = format::file_name(id);
        let head = self
            .disk
            .open(&name, false)
            .and_then(|file| Reader::new(file)?.head());
        match head.map_err(|error| self.failed(&name, error))? {
            Ok(head) if head.segment == id => Ok(head),
            Ok(_) | Err(BadHead::Damaged) => Err(self.damaged(&name, 0)),
            Err(BadHead::Format(format)) => Err(KvError::Unavailable {
                space: self.space.to_owned(),
                detail: format!(
                    "{} is in form {format}, which this program does not know; open it with a newer one",
                    self.disk.path(&name).display()
                ),
            }),
        }
    }

    /// Reads all records in order and returns their end; `None` if there is no segment.
    pub(crate) fn read(&self, take: &mut Take<'_>) -> Result<Option<End>, KvError> {
        let mut durable = 0;
        for (index, head) in self.segments.iter().enumerate() {
            let name = format::file_name(head.segment);
            let mut reader = self.reader(head)?;
            let extent = reader
                .records(head, |payload| take(head.segment, payload))
                .map_err(|stop| match stop {
                    Stop::Read(error) => self.failed(&name, error),
                    Stop::Taker(error) => error,
                })?;
            durable = durable.max(extent.durable);
            let next = self.segments.get(index + 1);
            if next.is_some_and(|next| leads_to(head, &extent, next)) {
                continue;
            }
            if next.is_none() && extent.closed {
                return Err(self.missing(SegmentId(head.segment.0 + 1)));
            }
            let behind = self.behind(index, &mut reader, extent.end)?;
            self.check_end(head, &name, extent.end, &behind)?;
            return Ok(Some(End {
                segment: index,
                offset: extent.end,
                durable: durable.max(behind.durable),
                behind,
            }));
        }
        Ok(None)
    }

    /// Refuses a log that ends before bytes that had been stored or that cannot have been lost.
    fn check_end(
        &self,
        head: &Head,
        name: &str,
        offset: u64,
        behind: &Behind,
    ) -> Result<(), KvError> {
        let end = head.position(offset);
        if behind.durable > end {
            return Err(self.damaged(name, offset));
        }
        let reached = match self.reached.is_whole {
            true => self.reached.acknowledged.max(self.reached.durable),
            false => self.reached.durable,
        };
        let lacking = reached.saturating_sub(end);
        if lacking > 0 {
            let what = format!(
                "was cut short or overwritten at byte {offset}: {lacking} more bytes of records had been stored"
            );
            return Err(self.refused(&self.disk.path(name), &what));
        }
        if self.reached.is_whole && behind.records > 0 {
            let what = format!(
                "is damaged at byte {offset}, and {} records follow",
                behind.records
            );
            return Err(self.refused(&self.disk.path(name), &what));
        }
        Ok(())
    }

    /// Reads the bytes after an offset, in its segment and in the later ones.
    fn behind(&self, index: usize, reader: &mut Reader, offset: u64) -> Result<Behind, KvError> {
        let head = &self.segments[index];
        let name = format::file_name(head.segment);
        let mut behind = reader
            .behind(head, offset)
            .map_err(|error| self.failed(&name, error))?;
        let torn = reader.record_head(head, offset);
        if torn.map_err(|error| self.failed(&name, error))?.is_some() {
            // The record at the offset itself, torn while it was written, does not count as one
            // that follows.
            behind.records = behind.records.saturating_sub(1);
        }
        for later in &self.segments[index + 1..] {
            let read = self.reader(later)?.behind(later, later.bytes());
            let name = format::file_name(later.segment);
            let read = read.map_err(|error| self.failed(&name, error))?;
            behind.durable = behind.durable.max(later.durable).max(read.durable);
            behind.records += read.records;
            behind.bytes += read.bytes;
        }
        Ok(behind)
    }

    fn reader(&self, head: &Head) -> Result<Reader, KvError> {
        let name = format::file_name(head.segment);
        let file: io::Result<Arc<dyn DiskFile>> = self.disk.open(&name, false);
        file.and_then(Reader::new)
            .map_err(|error| self.failed(&name, error))
    }

    fn failed(&self, name: &str, error: io::Error) -> KvError {
        let path = self.disk.path(name);
        if error.kind() == io::ErrorKind::NotFound && !name.is_empty() {
            return self.refused(&path, "is missing");
        }
        errors::file_error(
            self.space,
            &format!("reading the log {}", path.display()),
            &error,
        )
    }

    fn damaged(&self, name: &str, offset: u64) -> KvError {
        let what = format!("is damaged at byte {offset}, which had been stored");
        self.refused(&self.disk.path(name), &what)
    }

    fn missing(&self, id: SegmentId) -> KvError {
        self.refused(&self.disk.path(&format::file_name(id)), "is missing")
    }

    fn older(&self, newest: SegmentId, first: SegmentId) -> KvError {
        let what = format!(
            "is the last of an older log: the sorted files have all before segment {}",
            first.0
        );
        self.refused(&self.disk.path(&format::file_name(newest)), &what)
    }

    fn refused(&self, path: &Path, what: &str) -> KvError {
        KvError::Corruption {
            space: self.space.to_owned(),
            detail: format!("the log {} {what}. {WHAT_TO_DO}", path.display()),
        }
    }
}

/// Returns the content of a small file; empty if the file is missing.
fn small_file(disk: &dyn Disk, names: &[String], name: &str) -> io::Result<Vec<u8>> {
    if !names.iter().any(|there| there == name) {
        return Ok(Vec::new());
    }
    let file = disk.open(name, false)?;
    let mut content = vec![0; file.bytes()? as usize];
    let filled = file.read(&mut content, 0)?;
    content.truncate(filled);
    Ok(content)
}

/// The suffix of files that are not complete yet.
pub(crate) const UNFINISHED: &str = ".new";

/// Whether the records of a segment, as far as they were read, continue in the next segment. The
/// record that marks the end may be missing: it is written after the next segment exists, and
/// omitted when the disk is full.
pub(crate) fn leads_to(head: &Head, extent: &Extent, next: &Head) -> bool {
    let end = head.position(extent.end);
    let with_mark = if extent.closed {
        end
    } else {
        end + RECORD_HEAD_BYTES as u64
    };
    with_mark == next.base
}
