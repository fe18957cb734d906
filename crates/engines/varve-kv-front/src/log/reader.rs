//! Reads a segment: its records up to the first bad one, and the bytes after that.

use std::io;
use std::sync::Arc;

use super::disk::DiskFile;
use super::format::{
    BadHead, HEAD_BYTES, Head, KIND_END, KIND_PAYLOAD, RECORD_HEAD_BYTES, RecordHead,
};

/// The size of the window in bytes.
const WINDOW_BYTES: usize = 1 << 20;

/// A segment's file, read through a window.
pub(crate) struct Reader {
    file: Arc<dyn DiskFile>,
    /// The file's length when it was opened.
    bytes: u64,
    window: Vec<u8>,
    /// The offset in the file at which the window starts.
    start: u64,
    filled: usize,
}

/// The sound records of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The offset at which the sound records end.
    pub(crate) end: u64,
    /// Whether the last record closes the segment.
    pub(crate) closed: bool,
    /// The greatest durable position in the head and the records.
    pub(crate) durable: u64,
}

/// The bytes of a segment after its sound records.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Behind {
    /// The greatest durable position in the record heads found there.
    pub(crate) durable: u64,
    /// The number of heads of records with a payload.
    pub(crate) records: u64,
    /// The number of bytes up to the last non-zero one.
    pub(crate) bytes: u64,
}

/// Why reading stopped: an error of the file, or of the receiver of payloads.
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

    /// Passes every payload to `take`, up to the first bad record.
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

    /// Examines the bytes from `offset` on. Every record head counts, even if its record is not
    /// whole or does not follow another: it suffices that such a head was written.
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

    /// Reads the head of a record at this offset; `None` if there is no valid one.
    pub(crate) fn record_head(
        &mut self,
        head: &Head,
        offset: u64,
    ) -> io::Result<Option<RecordHead>> {
        let bytes = self.at(offset, RECORD_HEAD_BYTES)?;
        let position = head.position(offset);
        Ok(bytes.and_then(|bytes| RecordHead::decode(bytes, head, position)))
    }

    /// Returns the file's bytes at an offset; `None` if the file ends before their end.
    fn at(&mut self, offset: u64, length: usize) -> io::Result<Option<&[u8]>> {
        if offset + length as u64 > self.bytes {
            return Ok(None);
        }
        let inside =
            offset >= self.start && offset + length as u64 <= self.start + self.filled as u64;
        if !inside {
            let wanted = length.max(WINDOW_BYTES);
            // A whole window, not only the wanted bytes, since it serves many small records.
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
