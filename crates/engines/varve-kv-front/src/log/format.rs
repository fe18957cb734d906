//! The bytes of a segment. `docs/storage-format.md` describes them for readers; a test compares the
//! two.
//!
//! All integers are big endian. A *position* counts the bytes of records since the log began, over
//! all segments.

use std::hash::{BuildHasher as _, RandomState};
use std::time::SystemTime;

use crc32c::{crc32c, crc32c_append};

use super::SegmentId;

/// The first bytes of every segment.
pub(crate) const MAGIC: &[u8; 8] = b"VARVELOG";
/// The format of segments that this code writes.
pub(crate) const FORMAT: u32 = 2;
/// Format 1, whose segments have no log id. Such a log is read once, flushed and removed.
pub(crate) const FORMAT_WITHOUT_ID: u32 = 1;
/// Bytes of a segment before its first record.
pub(crate) const HEAD_BYTES: usize = 60;
/// The same in format 1; also the length of the part that the heads of all formats share.
pub(crate) const HEAD_BYTES_WITHOUT_ID: usize = 40;
/// Bytes of a record before its payload.
pub(crate) const RECORD_HEAD_BYTES: usize = 21;
/// A record that carries a payload.
pub(crate) const KIND_PAYLOAD: u8 = 1;
/// The last record of a closed segment, without a payload.
pub(crate) const KIND_END: u8 = 2;

/// The id of a log: random, assigned when the log is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogId(pub(crate) [u8; 16]);

impl LogId {
    /// The id of logs of format 1, which have none.
    pub(crate) const NONE: Self = Self([0; 16]);

    /// Creates a random id.
    pub(crate) fn random() -> Self {
        let mut id = [0; 16];
        for half in id.chunks_exact_mut(8) {
            // Each `RandomState` has random keys; the time is for systems with little entropy.
            let half_id = RandomState::new().hash_one(SystemTime::now());
            half.copy_from_slice(&half_id.to_be_bytes());
        }
        Self(id)
    }
}

/// The beginning of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) log: LogId,
    pub(crate) segment: SegmentId,
    /// The position of the segment's first record.
    pub(crate) base: u64,
    /// The position up to which everything was on stable storage when the segment began.
    pub(crate) durable: u64,
}

/// Why a head cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadHead {
    Damaged,
    /// The head is whole, but has a format that this code does not know.
    Format(u32),
}

impl Head {
    /// The length of the head in the file; the first record follows it.
    pub(crate) fn bytes(&self) -> u64 {
        match self.log {
            LogId::NONE => HEAD_BYTES_WITHOUT_ID as u64,
            _ => HEAD_BYTES as u64,
        }
    }

    /// The position of an offset in the segment's file.
    pub(crate) fn position(&self, offset: u64) -> u64 {
        let records = offset.saturating_sub(self.bytes());
        self.base.saturating_add(records)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let form = match self.log {
            LogId::NONE => FORMAT_WITHOUT_ID,
            _ => FORMAT,
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(form.to_be_bytes());
        for number in [self.segment.0, self.base, self.durable] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(crc32c(&bytes).to_be_bytes());
        if self.log != LogId::NONE {
            bytes.extend(self.log.0);
            bytes.extend(crc32c(&bytes).to_be_bytes());
        }
        bytes
    }

    /// Reads the head at the front of `bytes`, which are the first [`HEAD_BYTES`] of the file, or
    /// the whole file if it is shorter.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, BadHead> {
        // Every format begins like this, so that a later format is distinguished from damage.
        let shared: &[u8; HEAD_BYTES_WITHOUT_ID] = bytes.first_chunk().ok_or(BadHead::Damaged)?;
        if &shared[..8] != MAGIC || u32_at(shared, 36) != crc32c(&shared[..36]) {
            return Err(BadHead::Damaged);
        }
        let log = match u32_at(shared, 8) {
            FORMAT_WITHOUT_ID => LogId::NONE,
            FORMAT => Self::decode_id(bytes).ok_or(BadHead::Damaged)?,
            other => return Err(BadHead::Format(other)),
        };
        Ok(Self {
            log,
            segment: SegmentId(u64_at(shared, 12)),
            base: u64_at(shared, 20),
            durable: u64_at(shared, 28),
        })
    }

    fn decode_id(bytes: &[u8]) -> Option<LogId> {
        let bytes: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
        let id = LogId(*bytes[HEAD_BYTES_WITHOUT_ID..].first_chunk()?);
        let sound = u32_at(bytes, 56) == crc32c(&bytes[..56]) && id != LogId::NONE;
        sound.then_some(id)
    }
}

/// The beginning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) kind: u8,
    pub(crate) payload_bytes: u32,
    pub(crate) payload_sum: u32,
    /// The position up to which everything was on stable storage when the record was written. A bad
    /// record before this position is damage. A bad record after it may be a torn write that was
    /// never acknowledged as durable.
    pub(crate) durable: u64,
}

impl RecordHead {
    /// The head of a record with this payload.
    pub(crate) fn of(kind: u8, payload: &[u8], payload_bytes: u32, durable: u64) -> Self {
        Self {
            kind,
            payload_bytes,
            payload_sum: crc32c(payload),
            durable,
        }
    }

    /// The length of the whole record.
    pub(crate) fn record_bytes(&self) -> u64 {
        RECORD_HEAD_BYTES as u64 + u64::from(self.payload_bytes)
    }

    pub(crate) fn encode(&self, segment: &Head, position: u64) -> [u8; RECORD_HEAD_BYTES] {
        let mut bytes = [0; RECORD_HEAD_BYTES];
        bytes[..4].copy_from_slice(&self.payload_bytes.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.payload_sum.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.durable.to_be_bytes());
        bytes[16] = self.kind;
        let sum = head_sum(&bytes, segment, position);
        bytes[17..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// Reads the head at the front of `bytes`, which have at least [`RECORD_HEAD_BYTES`]; `None` if
    /// they are not a head.
    pub(crate) fn decode(bytes: &[u8], segment: &Head, position: u64) -> Option<Self> {
        let bytes: &[u8; RECORD_HEAD_BYTES] = bytes.first_chunk()?;
        let head = Self {
            payload_bytes: u32_at(bytes, 0),
            payload_sum: u32_at(bytes, 4),
            durable: u64_at(bytes, 8),
            kind: bytes[16],
        };
        // The cheap tests come first, since a reader tests every offset of a preallocated tail.
        let plausible = match head.kind {
            KIND_PAYLOAD => true,
            KIND_END => head.payload_bytes == 0,
            _ => false,
        };
        let sound = plausible
            && head.durable <= position
            && u32_at(bytes, 17) == head_sum(bytes, segment, position);
        sound.then_some(head)
    }
}

/// The checksum of a record's head. It includes log, segment and position, so that bytes of another
/// log, file or offset are never taken for a record.
fn head_sum(bytes: &[u8; RECORD_HEAD_BYTES], segment: &Head, position: u64) -> u32 {
    let log = match segment.log {
        LogId::NONE => 0,
        LogId(id) => crc32c(&id),
    };
    // A call costs more than the bytes, so there is one call for all of them.
    let mut rest = [0; 16 + 17];
    rest[..8].copy_from_slice(&segment.segment.0.to_be_bytes());
    rest[8..16].copy_from_slice(&position.to_be_bytes());
    rest[16..].copy_from_slice(&bytes[..17]);
    crc32c_append(log, &rest)
}

/// The name of a segment's file.
pub(crate) fn file_name(segment: SegmentId) -> String {
    format!("{:016x}{FILE_END}", segment.0)
}

/// The suffix of segment files.
pub(crate) const FILE_END: &str = ".front";

/// Returns the segment with this file name.
pub(crate) fn segment_of(name: &str) -> Option<SegmentId> {
    let digits = name.strip_suffix(FILE_END)?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (file_name(SegmentId(number)) == name).then_some(SegmentId(number))
}

/// The file of a log of format 1 that names the first segment still needed.
pub(crate) const FIRST_NAME: &str = "FIRST";

/// Reads the content of the file [`FIRST_NAME`]: the number in decimal and its checksum in
/// hexadecimal; `None` if it is damaged.
pub(crate) fn decode_first(content: &[u8]) -> Option<SegmentId> {
    let (number, sum) = content
        .strip_suffix(b"\n")?
        .split_at_checked(content.len().checked_sub(10)?)?;
    let expected = format!(" {:08x}", crc32c(number));
    let first = std::str::from_utf8(number).ok()?.parse().ok()?;
    (sum == expected.as_bytes()).then_some(SegmentId(first))
}

/// The file of a log of format 1 with the position up to which the log is known to be on stable
/// storage.
pub(crate) const DURABLE_NAME: &str = "DURABLE";

/// Reads the content of the file [`DURABLE_NAME`]: the position and its checksum; `None` if it is
/// damaged.
pub(crate) fn decode_durable(content: &[u8]) -> Option<u64> {
    let content: &[u8; 12] = content.try_into().ok()?;
    (u32_at(content, 8) == crc32c(&content[..8])).then(|| u64_at(content, 0))
}

/// The name of the file with the mark; it is beside the log's directory.
pub(crate) const MARK_NAME: &str = "VARVE-FRONT-LOG";
/// The first bytes of that file.
pub(crate) const MARK_MAGIC: &[u8; 3] = b"VFL";
/// The next byte for a log that is being created.
pub(crate) const MARK_OF_NEW_LOG: u8 = 1;
/// The next byte for a log that was open.
pub(crate) const MARK_IN_USE: u8 = 2;
/// The length of that file. It fits into one sector, so that a write of it is atomic.
pub(crate) const MARK_BYTES: usize = 64;

/// The mark: names the log that belongs to a space, and its extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whether the log was ever open. Before that its files need not exist.
    pub(crate) in_use: bool,
    pub(crate) log: LogId,
    /// The [session](super::disk::Disk::session) in which the mark was written.
    pub(crate) session: u64,
    /// The first segment needed: the records of earlier segments are in the sorted files.
    pub(crate) first: SegmentId,
    /// The position of that segment's first record.
    pub(crate) flushed: u64,
    /// The position up to which the log is on stable storage.
    pub(crate) durable: u64,
    /// The position up to which writes were acknowledged, whether they are on stable storage or
    /// not.
    pub(crate) acknowledged: u64,
}

impl Mark {
    /// The mark of a log that is to be created.
    pub(crate) fn of_new_log(session: u64) -> Self {
        Self {
            in_use: false,
            log: LogId::random(),
            session,
            first: SegmentId(1),
            flushed: 0,
            durable: 0,
            acknowledged: 0,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = MARK_MAGIC.to_vec();
        bytes.push(match self.in_use {
            false => MARK_OF_NEW_LOG,
            true => MARK_IN_USE,
        });
        bytes.extend(self.log.0);
        for number in [
            self.session,
            self.first.0,
            self.flushed,
            self.durable,
            self.acknowledged,
        ] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(crc32c(&bytes).to_be_bytes());
        bytes
    }

    /// Reads a mark; `None` if it is damaged.
    pub(crate) fn decode(content: &[u8]) -> Option<Self> {
        let bytes: &[u8; MARK_BYTES] = content.try_into().ok()?;
        let mark = Self {
            in_use: bytes[3] == MARK_IN_USE,
            log: LogId(*bytes[4..].first_chunk()?),
            session: u64_at(bytes, 20),
            first: SegmentId(u64_at(bytes, 28)),
            flushed: u64_at(bytes, 36),
            durable: u64_at(bytes, 44),
            acknowledged: u64_at(bytes, 52),
        };
        (mark.encode() == bytes).then_some(mark)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(eight)
}
