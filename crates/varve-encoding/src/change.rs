//! Rows of the table `change`: the elements that a commit wrote or purged, those with a planned
//! state that is due, and the schema elements that it changed.
//!
//! The partition is ten seconds of transaction time, the clustering key the commit's last version
//! and the number of the piece. A value begins with the number of the commit's versions (one byte,
//! less one). Entries follow, each with a byte for its kind.

use varve_model::{CommitVersion, Instant};

use crate::DecodeError;
use crate::key;

/// Microseconds of one partition.
const PARTITION_MICROS: i64 = 10_000_000;
/// Bytes of a partition key.
pub const PARTITION_BYTES: usize = 4;
/// Bytes of the version in a clustering key.
pub const VERSION_BYTES: usize = 8;
/// Bytes of the number of a piece, after the version.
pub const PIECE_BYTES: usize = 2;

const VERTEX: u8 = 1;
const EDGE: u8 = 2;
const SCHEMA: u8 = 3;
const PURGED: u8 = 0x80;
const DUE: u8 = 0x40;

/// The partition that a commit's rows are in.
#[must_use]
pub fn partition(version: CommitVersion) -> [u8; PARTITION_BYTES] {
    let number = version.instant().0.max(0) / PARTITION_MICROS;
    u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes()
}

/// The first version that a partition may have.
#[must_use]
pub fn first_of(partition: [u8; PARTITION_BYTES]) -> CommitVersion {
    let number = i64::from(u32::from_be_bytes(partition));
    CommitVersion::first_at(Instant(number * PARTITION_MICROS))
}

/// The partition after this one.
#[must_use]
pub fn next(partition: [u8; PARTITION_BYTES]) -> Option<[u8; PARTITION_BYTES]> {
    let number = u32::from_be_bytes(partition).checked_add(1)?;
    Some(number.to_be_bytes())
}

/// The clustering key of a piece.
#[must_use]
pub fn clustering(version: CommitVersion, piece: u16) -> [u8; VERSION_BYTES + PIECE_BYTES] {
    let mut key = [0; VERSION_BYTES + PIECE_BYTES];
    key[..VERSION_BYTES].copy_from_slice(&version.0.to_be_bytes());
    key[VERSION_BYTES..].copy_from_slice(&piece.to_be_bytes());
    key
}

/// The version and the piece of a clustering key.
///
/// # Errors
/// When the bytes are too short.
pub fn split(clustering: &[u8]) -> Result<(CommitVersion, u16), DecodeError> {
    let parts = clustering.split_first_chunk::<VERSION_BYTES>();
    let parts = parts.and_then(|(version, piece)| Some((version, piece.first_chunk()?)));
    let (version, piece) =
        parts.ok_or_else(|| DecodeError::new("a change's key", clustering, 0))?;
    let version = CommitVersion(u64::from_be_bytes(*version));
    Ok((version, u16::from_be_bytes(*piece)))
}

/// The keys of an element's row; for an edge, those at its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Keys<'a> {
    /// The partition key.
    pub partition: &'a [u8],
    /// The clustering key; that of a vertex is [`key::VERTEX_CLUSTERING`].
    pub clustering: &'a [u8],
}

/// An entry of a commit's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Touched<'a> {
    /// An element that it wrote.
    Element(Keys<'a>),
    /// An element that it purged.
    Purged(Keys<'a>),
    /// An element with a state that begins or ends at an instant that has passed.
    Due(Keys<'a>, Instant),
    /// An element of the schema, by its kind and its id.
    Schema(u8, u32),
}

impl Touched<'_> {
    /// Appends the entry to a value.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Element(keys) => keys.put(0, out),
            Self::Purged(keys) => keys.put(PURGED, out),
            Self::Due(keys, at) => {
                keys.put(DUE, out);
                out.extend_from_slice(&at.0.to_be_bytes());
            }
            Self::Schema(kind, id) => {
                out.extend_from_slice(&[SCHEMA, *kind]);
                out.extend_from_slice(&id.to_be_bytes());
            }
        }
    }
}

impl<'a> Keys<'a> {
    fn put(self, flag: u8, out: &mut Vec<u8>) {
        if self.clustering == key::VERTEX_CLUSTERING {
            out.push(VERTEX | flag);
            out.extend_from_slice(self.partition);
            return;
        }
        out.push(EDGE | flag);
        out.extend_from_slice(self.partition);
        let length = u16::try_from(self.clustering.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(self.clustering);
    }

    /// The keys of an element of this kind, and the bytes after them.
    fn split(kind: u8, keys: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (partition, behind) = keys.split_at_checked(key::vertex_id_len(keys)?)?;
        let (clustering, behind) = match kind {
            VERTEX => (key::VERTEX_CLUSTERING, behind),
            EDGE => {
                let (length, behind) = behind.split_first_chunk()?;
                behind.split_at_checked(usize::from(u16::from_be_bytes(*length)))?
            }
            _ => return None,
        };
        let keys = Self {
            partition,
            clustering,
        };
        Some((keys, behind))
    }
}

impl<'a> Touched<'a> {
    /// The first entry of a value, and the bytes after it.
    fn split(value: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (kind, rest) = value.split_first()?;
        if *kind == SCHEMA {
            let (kind, rest) = rest.split_first()?;
            let (id, rest) = rest.split_first_chunk()?;
            return Some((Self::Schema(*kind, u32::from_be_bytes(*id)), rest));
        }
        let (keys, rest) = Keys::split(kind & !(PURGED | DUE), rest)?;
        match kind & (PURGED | DUE) {
            0 => Some((Self::Element(keys), rest)),
            PURGED => Some((Self::Purged(keys), rest)),
            DUE => {
                let (at, rest) = rest.split_first_chunk()?;
                Some((Self::Due(keys, Instant(i64::from_be_bytes(*at))), rest))
            }
            _ => None,
        }
    }
}

/// Visits the entries of a value in order. Returns the number of the commit's versions.
///
/// # Errors
/// When the value is damaged.
pub fn visit<'a>(
    value: &'a [u8],
    visit: &mut dyn FnMut(Touched<'a>),
) -> Result<usize, DecodeError> {
    let error = || DecodeError::new("a change", value, 0);
    let (more, mut rest) = value.split_first().ok_or_else(error)?;
    while !rest.is_empty() {
        let (touched, behind) = Touched::split(rest).ok_or_else(error)?;
        visit(touched);
        rest = behind;
    }
    Ok(usize::from(*more) + 1)
}

#[cfg(test)]
mod tests {
    use varve_model::VertexId;

    use super::*;

    #[test]
    fn values_read_back() {
        let (text, number) = (
            key::vertex_id(&VertexId::text("a")),
            key::vertex_id(&VertexId::Number(-7)),
        );
        let vertex = |partition| Keys {
            partition,
            clustering: key::VERTEX_CLUSTERING,
        };
        let edge = Keys {
            partition: &number,
            clustering: &[1, 3, 0, 0, 0x81, b'a'],
        };
        let touched = [
            Touched::Element(vertex(&text)),
            Touched::Element(edge),
            Touched::Purged(vertex(&number)),
            Touched::Due(edge, Instant(-5)),
            Touched::Schema(2, 77),
        ];
        let mut value = vec![2];
        touched.iter().for_each(|each| each.put(&mut value));
        let mut read = Vec::new();
        assert_eq!(
            visit(&value, &mut |each| read.push(each)).expect("sound"),
            3
        );
        assert_eq!(read, touched);
        for cut in 2..value.len() {
            // A cut within an entry is detected; a cut between two gives a shorter list.
            let mut count = 0;
            let whole = visit(&value[..cut], &mut |_| count += 1).is_ok();
            assert!(!whole || count < touched.len());
        }
        assert!(visit(&[], &mut |_| {}).is_err());
    }

    #[test]
    fn keys_sort_as_versions_do() {
        let at = |micros: i64| CommitVersion::first_at(Instant(micros));
        let (early, late) = (at(1_700_000_009_999_999), at(1_700_000_010_000_000));
        assert!(partition(early) < partition(late));
        assert_eq!(next(partition(early)), Some(partition(late)));
        assert_eq!(first_of(partition(late)), late);
        assert!(clustering(early, 1) < clustering(early, 2));
        assert!(clustering(early, u16::MAX) < clustering(late, 0));
        assert_eq!(split(&clustering(late, 3)).expect("a key"), (late, 3));
        assert!(split(&[1, 2]).is_err());
    }
}
