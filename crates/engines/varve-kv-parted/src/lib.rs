//! A layer over an engine that bounds the size of its partitions. It is for clusters, where each
//! partition is on one set of nodes and must stay small.
//!
//! Callers see each partition as one ordered list of rows. In the engine below, a partition that
//! has reached a limit of bytes is continued in further partitions, its **parts**. Parts come in
//! **epochs**: epoch 0 is the partition itself, epoch 1 has 8 parts, epoch 2 has 64, and every
//! later one has 256. A row is written to the newest epoch, into the part given by a hash of its
//! clustering key. Rows are never moved: a row of an older epoch stays there, hidden by a row of
//! the same key in a newer one. A read of a row reads one part of each epoch. A scan merges all
//! parts in order, or one part of each epoch if all rows of its range have the same hash.
//!
//! Rows that must change together stay together ([`varve_kv::Space::snapshot`]): the hash covers
//! only the piece of the clustering key that the table's [`PartRule`] names, so the rows of one
//! element in several tables are in one part. A partition as a whole no longer changes atomically
//! once it is in parts.
//!
//! The list of partitions in parts is stored in a separate table, [`TABLE`], and all of it also in
//! memory: only the process that has the space open writes it. The number of bytes written to a
//! partition is estimated while it is small, and counted once it is large.

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

/// Returns the piece of a row's clustering key that decides in which part the row is. Rows with the
/// same piece, of all tables with the same partition key, are in the same part. `None`: the row is
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
    /// The same for all rows that a scan may find: if they are together, only one part of each
    /// epoch is read.
    pub of_prefix: OfPrefix,
}

/// The options of the layer.
#[derive(Debug, Clone, Copy)]
pub struct PartOptions {
    /// Bytes that a partition, or a part of one, takes before rows go to further parts, all tables
    /// together. The count is approximate: it includes overwritten rows, and a row counts as at
    /// least 100 bytes.
    pub bytes_max: u64,
}

impl Default for PartOptions {
    fn default() -> Self {
        Self {
            bytes_max: 48 << 20,
        }
    }
}
