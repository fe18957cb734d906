//! A layer over an engine, which bounds the size of the engine's partitions. It is for clusters,
//! where each partition is on one set of nodes and must stay small.
//!
//! Callers see each partition as one ordered list of rows. In the engine below, a partition that
//! has reached a limit of bytes continues in further partitions, its **parts**. Parts come in
//! **epochs**: epoch 0 is the partition itself, epoch 1 has 8 parts, epoch 2 has 64, and every
//! later one has 256. A row is written to the newest epoch, into the part given by a hash of a
//! piece of its clustering key. Rows are never moved: a row of an older epoch stays there until it
//! is removed. A row of the same key in a newer epoch hides it. A read of a row reads one part of
//! each epoch. A scan merges all parts in order, or only one part of each epoch if all rows of its
//! range share that piece.
//!
//! Rows that must change together stay together ([`varve_kv::Space::snapshot`]): the hashed piece
//! of the clustering key is the one that the table's [`PartRule`] names. So the rows of one element
//! that are written together, in several tables, are in one part. Rows without such a piece always
//! stay in the partition itself. A partition as a whole no longer changes atomically once it is in
//! parts.
//!
//! The list of partitions in parts is stored in a separate table, [`TABLE`]. All of it is also in
//! memory, since only the process that has the space open writes it. The number of bytes written to
//! a partition is estimated while it is small, and counted from an eighth of the limit on.

mod counts;
mod directory;
mod engine;
mod full;
mod merge;
mod parts;
mod placing;
mod space;

pub use engine::PartedEngine;

/// The table with the list of partitions in parts.
pub const TABLE: &str = "parted";

/// Returns the piece of a row's clustering key that decides in which part of an epoch the row is.
/// Rows of the same partition key and piece, in any table, are in the same part. `None`: the row is
/// in the partition itself.
pub type Together = fn(&[u8]) -> Option<&[u8]>;

/// Returns the result of [`Together`] that all clustering keys with a prefix share; `None` if the
/// prefix does not determine it. `Some(None)`: all such rows are in the partition itself.
pub type OfPrefix = fn(&[u8]) -> Option<Option<&[u8]>>;

/// Declares that the partitions of a table may be in parts.
#[derive(Debug, Clone, Copy)]
pub struct PartRule {
    /// The table's name.
    pub table: &'static str,
    /// The piece of a clustering key whose rows stay together.
    pub together: Together,
    /// The same piece for all rows that a scan may find. If they share it, the scan reads only one
    /// part of each epoch.
    pub of_prefix: OfPrefix,
}

/// The options of the layer.
#[derive(Debug, Clone, Copy)]
pub struct PartOptions {
    /// The bytes that each part of the newest epoch takes on average, all tables together, before a
    /// new epoch begins. A whole partition counts as one part. The count is approximate: it
    /// includes overwritten rows, and a row counts as at least 100 bytes.
    pub bytes_max: u64,
}

impl Default for PartOptions {
    fn default() -> Self {
        Self {
            bytes_max: 48 << 20,
        }
    }
}
