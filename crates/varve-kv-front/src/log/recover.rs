//! Finds out what a log's directory holds: which segments, up to where they are sound, and whether a place that is not
//! sound is the torn end of the last writes or damage.
//!
//! Every record says up to where the log was on stable storage when it was written. So a bad place is damage when any
//! record or segment behind it knows that it had been stored; otherwise the power went before it was, nobody had been
//! told otherwise, and the log ends there.

use std::io;
use std::sync::Arc;

use varve_kv::KvError;

use super::SegmentId;
use super::disk::{Disk, DiskFile};
use super::errors::{self, WHAT_TO_DO};
use super::format::{self, BadHead, Head, RECORD_HEAD_BYTES};
use super::mark;
use super::reader::{Extent, Reader, Stop, position};

/// What takes payloads, in order.
pub(crate) type Take<'a> = dyn FnMut(SegmentId, &[u8]) -> Result<(), KvError> + 'a;

/// The segments of a directory, not yet read.
#[derive(Debug)]
pub(crate) struct Survey<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) space: &'a str,
    /// In order, without a gap.
    pub(crate) segments: Vec<Head>,
    /// Files that an interrupted rotation or removal left behind.
    pub(crate) left_over: Vec<String>,
    /// Whether the file that names the first segment is there.
    pub(crate) first_is_named: bool,
    /// The position that the log reached on stable storage, as the file beside the segments says;
    /// 0 when that file is missing or damaged.
    pub(crate) mark: u64,
}

/// Where a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Index of the segment; those behind it hold nothing that counts.
    pub(crate) segment: usize,
    /// Where in its file.
    pub(crate) offset: u64,
    /// The position up to which the log was surely on stable storage.
    pub(crate) durable: u64,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, space: &'a str) -> Result<Self, KvError> {
        let mut survey = Self {
            disk,
            space,
            segments: Vec::new(),
            left_over: Vec::new(),
            first_is_named: false,
            // Read before the segments: a log that is being written only grows meanwhile.
            mark: mark::read(disk),
        };
        let names = disk.list().map_err(|error| survey.failed("", error))?;
        let first = survey.first(&names)?;
        let mut found: Vec<SegmentId> = Vec::new();
        for name in names {
            match format::segment_of(&name) {
                Some(id) if id >= first => found.push(id),
                Some(_) => survey.left_over.push(name),
                None if name.ends_with(UNFINISHED) => survey.left_over.push(name),
                None => {}
            }
        }
        found.sort_unstable();
        if found.is_empty() && (survey.first_is_named || survey.mark > 0) {
            return Err(survey.missing(first));
        }
        for (expected, id) in (first.0..).map(SegmentId).zip(found) {
            if expected != id {
                return Err(survey.missing(expected));
            }
            let head = survey.head(id)?;
            survey.segments.push(head);
        }
        Ok(survey)
    }

    /// The first segment that is still needed.
    fn first(&mut self, names: &[String]) -> Result<SegmentId, KvError> {
        if !names.iter().any(|name| name == format::FIRST_NAME) {
            return Ok(SegmentId(1));
        }
        self.first_is_named = true;
        let read = || -> io::Result<Vec<u8>> {
            let file = self.disk.open(format::FIRST_NAME, false)?;
            let mut content = vec![0; file.bytes()? as usize];
            let filled = file.read(&mut content, 0)?;
            content.truncate(filled);
            Ok(content)
        };
        let content = read().map_err(|error| self.failed(format::FIRST_NAME, error))?;
        format::decode_first(&content).ok_or_else(|| self.damaged(format::FIRST_NAME, 0))
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

    /// Reads all records in order and says where they end. `None` when there is no segment.
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
            let behind = self.durable_behind(index, &mut reader, extent.end)?;
            if behind > position(head, extent.end) {
                return Err(self.damaged(&name, extent.end));
            }
            self.check_mark(head, &name, extent.end)?;
            return Ok(Some(End {
                segment: index,
                offset: extent.end,
                durable: durable.max(behind),
            }));
        }
        Ok(None)
    }

    /// Refuses a log that ends before the position that it had reached on stable storage.
    fn check_mark(&self, head: &Head, name: &str, offset: u64) -> Result<(), KvError> {
        let lacking = self.mark.saturating_sub(position(head, offset));
        if lacking == 0 {
            return Ok(());
        }
        Err(KvError::Corruption {
            space: self.space.to_owned(),
            detail: format!(
                "the log {} was cut short or overwritten at byte {offset}: {lacking} more bytes of \
                 records had been stored. {WHAT_TO_DO}",
                self.disk.path(name).display()
            ),
        })
    }

    /// The greatest position that anything behind a place knows to have been on stable storage.
    fn durable_behind(
        &self,
        index: usize,
        reader: &mut Reader,
        offset: u64,
    ) -> Result<u64, KvError> {
        let head = &self.segments[index];
        let name = format::file_name(head.segment);
        let mut durable = reader
            .durable_behind(head, offset)
            .map_err(|error| self.failed(&name, error))?;
        for later in &self.segments[index + 1..] {
            let read = self
                .reader(later)?
                .durable_behind(later, format::HEAD_BYTES as u64);
            let name = format::file_name(later.segment);
            let read = read.map_err(|error| self.failed(&name, error))?;
            durable = durable.max(later.durable).max(read);
        }
        Ok(durable)
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
            return KvError::Corruption {
                space: self.space.to_owned(),
                detail: format!("{} is missing. {WHAT_TO_DO}", path.display()),
            };
        }
        errors::file_error(
            self.space,
            &format!("reading the log {}", path.display()),
            &error,
        )
    }

    fn damaged(&self, name: &str, offset: u64) -> KvError {
        KvError::Corruption {
            space: self.space.to_owned(),
            detail: format!(
                "the log {} is damaged at byte {offset}, which had been stored. {WHAT_TO_DO}",
                self.disk.path(name).display()
            ),
        }
    }

    fn missing(&self, id: SegmentId) -> KvError {
        KvError::Corruption {
            space: self.space.to_owned(),
            detail: format!(
                "the log {} is missing. {WHAT_TO_DO}",
                self.disk.path(&format::file_name(id)).display()
            ),
        }
    }
}

/// How files are called that are not yet in their place.
pub(crate) const UNFINISHED: &str = ".new";

/// Whether a segment that was read so far goes on in the next one. The mark of its end may be absent: it is written
/// after the next segment exists, and left out when the disk is full.
fn leads_to(head: &Head, extent: &Extent, next: &Head) -> bool {
    let end = position(head, extent.end);
    let with_mark = if extent.closed {
        end
    } else {
        end + RECORD_HEAD_BYTES as u64
    };
    with_mark == next.base
}
