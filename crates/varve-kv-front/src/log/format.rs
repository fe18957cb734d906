//! The bytes of a segment. `docs/storage-format.md` describes them for readers; a test compares the two.
//!
//! All integers are big endian. A *position* counts the bytes of records since the log began, over all segments.

use crc32c::{crc32c, crc32c_append};

use super::SegmentId;

/// What every segment begins with.
pub(crate) const MAGIC: &[u8; 8] = b"VARVELOG";
/// The form of segments that this code reads and writes.
pub(crate) const FORMAT: u32 = 1;
/// Bytes of a segment before its first record.
pub(crate) const HEAD_BYTES: usize = 40;
/// Bytes of a record before its payload.
pub(crate) const RECORD_HEAD_BYTES: usize = 21;
/// A record that carries a payload.
pub(crate) const KIND_PAYLOAD: u8 = 1;
/// The last record of a closed segment, without a payload.
pub(crate) const KIND_END: u8 = 2;

/// The beginning of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
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
    /// Whole, but in a form that this code does not know.
    Format(u32),
}

impl Head {
    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.segment.0.to_be_bytes());
        bytes[20..28].copy_from_slice(&self.base.to_be_bytes());
        bytes[28..36].copy_from_slice(&self.durable.to_be_bytes());
        let sum = crc32c(&bytes[..36]);
        bytes[36..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HEAD_BYTES]) -> Result<Self, BadHead> {
        if &bytes[..8] != MAGIC || u32_at(bytes, 36) != crc32c(&bytes[..36]) {
            return Err(BadHead::Damaged);
        }
        match u32_at(bytes, 8) {
            FORMAT => Ok(Self {
                segment: SegmentId(u64_at(bytes, 12)),
                base: u64_at(bytes, 20),
                durable: u64_at(bytes, 28),
            }),
            other => Err(BadHead::Format(other)),
        }
    }
}

/// The beginning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) kind: u8,
    pub(crate) payload_bytes: u32,
    pub(crate) payload_sum: u32,
    /// The position up to which everything was on stable storage when the record was written. Damage before it is
    /// damage; damage after it may be the torn end of writes that nobody was told had succeeded.
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

    /// Bytes of the whole record.
    pub(crate) fn record_bytes(&self) -> u64 {
        RECORD_HEAD_BYTES as u64 + u64::from(self.payload_bytes)
    }

    pub(crate) fn encode(&self, segment: SegmentId, position: u64) -> [u8; RECORD_HEAD_BYTES] {
        let mut bytes = [0; RECORD_HEAD_BYTES];
        bytes[..4].copy_from_slice(&self.payload_bytes.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.payload_sum.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.durable.to_be_bytes());
        bytes[16] = self.kind;
        let sum = head_sum(&bytes, segment, position);
        bytes[17..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// The head at the front of `bytes`, which hold at least [`RECORD_HEAD_BYTES`]; `None` when none was written there.
    pub(crate) fn decode(bytes: &[u8], segment: SegmentId, position: u64) -> Option<Self> {
        let bytes: &[u8; RECORD_HEAD_BYTES] = bytes.first_chunk()?;
        let head = Self {
            payload_bytes: u32_at(bytes, 0),
            payload_sum: u32_at(bytes, 4),
            durable: u64_at(bytes, 8),
            kind: bytes[16],
        };
        // The cheap questions first: all of a preallocated tail is asked them.
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

/// Segment and position are mixed in, so that bytes of another file or place never pass for a record.
fn head_sum(bytes: &[u8; RECORD_HEAD_BYTES], segment: SegmentId, position: u64) -> u32 {
    let mut place = [0; 16];
    place[..8].copy_from_slice(&segment.0.to_be_bytes());
    place[8..].copy_from_slice(&position.to_be_bytes());
    crc32c_append(crc32c(&place), &bytes[..17])
}

/// The name of a segment's file.
pub(crate) fn file_name(segment: SegmentId) -> String {
    format!("{:016x}{FILE_END}", segment.0)
}

/// How names of segments end.
pub(crate) const FILE_END: &str = ".front";

/// The segment that a file of this name holds.
pub(crate) fn segment_of(name: &str) -> Option<SegmentId> {
    let digits = name.strip_suffix(FILE_END)?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (file_name(SegmentId(number)) == name).then_some(SegmentId(number))
}

/// The file that says which segment is the first one still needed.
pub(crate) const FIRST_NAME: &str = "FIRST";

/// The content of that file: the number in decimal and a checksum of it in hexadecimal, in one line.
pub(crate) fn encode_first(first: SegmentId) -> String {
    let number = first.0.to_string();
    let sum = crc32c(number.as_bytes());
    format!("{number} {sum:08x}\n")
}

/// Reads the same; `None` when it is damaged.
pub(crate) fn decode_first(content: &[u8]) -> Option<SegmentId> {
    let number = content.split(|byte| *byte == b' ').next()?;
    let first = SegmentId(std::str::from_utf8(number).ok()?.parse().ok()?);
    (encode_first(first).as_bytes() == content).then_some(first)
}

/// The file that holds the position up to which the log is known to be on stable storage.
pub(crate) const MARK_NAME: &str = "DURABLE";
/// Bytes of that file: the position and a CRC-32C of it. They lie in one sector.
pub(crate) const MARK_BYTES: usize = 12;

/// The content of that file.
pub(crate) fn encode_mark(position: u64) -> [u8; MARK_BYTES] {
    let mut bytes = [0; MARK_BYTES];
    bytes[..8].copy_from_slice(&position.to_be_bytes());
    let sum = crc32c(&bytes[..8]);
    bytes[8..].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Reads the same; `None` when it is damaged or was never written.
pub(crate) fn decode_mark(content: &[u8]) -> Option<u64> {
    let position = u64::from_be_bytes(*content.first_chunk()?);
    (encode_mark(position) == content).then_some(position)
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
