//! Reads a segment: its records up to the first place where none is, and what lies behind that
//! place.

use std::io;
use std::sync::Arc;

use super::disk::DiskFile;
use super::format::{
    BadHead, HEAD_BYTES, Head, KIND_END, KIND_PAYLOAD, RECORD_HEAD_BYTES, RecordHead,
};

/// How much is read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// A segment's file, read through a window.
pub(crate) struct Reader {
    file: Arc<dyn DiskFile>,
    /// The file's length when it was opened.
    bytes: u64,
    window: Vec<u8>,
    /// Where in the file the window starts.
    start: u64,
    filled: usize,
}

/// What is in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where in the file the sound records end.
    pub(crate) end: u64,
    /// Whether the last of them says that the segment was closed.
    pub(crate) closed: bool,
    /// The greatest position that head or records know to have been on stable storage.
    pub(crate) durable: u64,
}

/// What is in a segment behind the place where its sound records end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Behind {
    /// The greatest position that any record there knows to have been on stable storage.
    pub(crate) durable: u64,
    /// How many heads of records that carry a payload are there.
    pub(crate) records: u64,
    /// Bytes up to the last that is not zero.
    pub(crate) bytes: u64,
}

/// A failure to go on: of the file, or of whoever takes the payloads.
pub(crate) enum Stop<E> {
    Read(io::Error),
    Taker(E),
}

impl Reader {
    pub(crate) fn new(file: Arc<dyn DiskFile>) -> io::Result<Self> {
        let bytes = file.bytes()?;
        Ok(Self {
            file,
            bytes,
            window: Vec::new(),
            start: 0,
            filled: 0,
        })
    }

    pub(crate) fn head(&mut self) -> io::Result<Result<Head, BadHead>> {
        let there = self.bytes.min(HEAD_BYTES as u64) as usize;
        let head = self.at(0, there)?;
        Ok(head.map_or(Err(BadHead::Damaged), Head::decode))
    }

    /// Hands every payload to `take`, up to the first place that holds no sound record.
    pub(crate) fn records<E>(
        &mut self,
        head: &Head,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Extent, Stop<E>> {
        let mut extent = Extent {
            end: head.bytes(),
            closed: false,
            durable: head.durable,
        };
        while !extent.closed {
            let Some(record) = self.record_head(head, extent.end).map_err(Stop::Read)? else {
                break;
            };
            let payload_at = extent.end + RECORD_HEAD_BYTES as u64;
            let payload = self.at(payload_at, record.payload_bytes as usize);
            match payload.map_err(Stop::Read)? {
                Some(payload) if crc32c::crc32c(payload) == record.payload_sum => {
                    extent.closed = record.kind == KIND_END;
                    if !extent.closed {
                        take(payload).map_err(Stop::Taker)?;
                    }
                }
                _ => break,
            }
            extent.durable = extent.durable.max(record.durable);
            extent.end += record.record_bytes();
        }
        Ok(extent)
    }

    /// What is in the file from `offset` on. Heads of records count that need not be whole, nor
    /// follow each other: that such a head was written decides.
    pub(crate) fn behind(&mut self, head: &Head, offset: u64) -> io::Result<Behind> {
        let mut behind = Behind::default();
        let mut at = offset;
        while at < self.bytes {
            let window = (self.bytes - at).min(WINDOW_BYTES as u64) as usize;
            let Some(bytes) = self.at(at, window)? else {
                break;
            };
            if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
                behind.bytes = at + last as u64 + 1 - offset;
            }
            let mut taken = 0;
            for place in bytes.windows(RECORD_HEAD_BYTES) {
                let position = head.position(at + taken);
                if let Some(record) = RecordHead::decode(place, head, position) {
                    behind.durable = behind.durable.max(record.durable);
                    behind.records += u64::from(record.kind == KIND_PAYLOAD);
                }
                taken += 1;
            }
            if taken == 0 {
                break;
            }
            at += taken;
        }
        Ok(behind)
    }

    /// The head of a record at this offset; `None` when none was written there.
    pub(crate) fn record_head(
        &mut self,
        head: &Head,
        offset: u64,
    ) -> io::Result<Option<RecordHead>> {
        let bytes = self.at(offset, RECORD_HEAD_BYTES)?;
        let position = head.position(offset);
        Ok(bytes.and_then(|bytes| RecordHead::decode(bytes, head, position)))
    }

    /// The file's bytes there; `None` if it ends before.
    fn at(&mut self, offset: u64, length: usize) -> io::Result<Option<&[u8]>> {
        if offset + length as u64 > self.bytes {
            return Ok(None);
        }
        let inside =
            offset >= self.start && offset + length as u64 <= self.start + self.filled as u64;
        if !inside {
            let wanted = length.max(WINDOW_BYTES);
            // Not by the file's length alone: one window serves the small records of a large
            // segment.
            let wanted = (wanted as u64).min(self.bytes - offset) as usize;
            self.window.resize(wanted, 0);
            self.start = offset;
            self.filled = 0;
            self.filled = self.file.read(&mut self.window, offset)?;
            if self.filled < length {
                return Ok(None);
            }
        }
        let from = (offset - self.start) as usize;
        Ok(Some(&self.window[from..from + length]))
    }
}
