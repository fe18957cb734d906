//! An engine over another one that bounds the size of its partitions. It is for clusters, where
//! each partition is on one set of nodes and must stay small.
//!
//! For the callers nothing changes: a partition is one ordered list of rows. In the engine below, a
//! partition that has reached a limit of bytes is continued in further ones, its **parts**. Parts
//! come in **epochs**: epoch 0 is the partition itself, epoch 1 has 8 parts, epoch 2 has 64, all
//! later ones 256. A row is written to the newest epoch, to the part given by a hash of its
//! clustering key. Nothing is ever moved: a row of an older epoch stays there, hidden by a row of
//! the same key in a newer one. A read of a row asks one part of each epoch. A scan merges all
//! parts in order, or one part of each epoch if all its rows are kept together.
//!
//! Rows that must change together stay together ([`varve_kv::Space::snapshot`]): the hash covers
//! only the piece of the clustering key that the table's [`PartRule`] names, so the rows of one
//! element in several tables are in one part. A partition as a whole no longer changes atomically
//! once it is in parts.
//!
//! The list of partitions in parts is kept in a table of its own, [`TABLE`], with a copy of all of
//! it in memory: only the process that has the space open writes it. The bytes written to a
//! partition are estimated while they are few, and counted once they are many.

mod counts;
mod directory;
mod engine;
mod full;
mod merge;
mod parts;
mod placing;
mod space;

pub use engine::PartedEngine;

/// The table that says which partitions are in parts.
pub const TABLE: &str = "parted";

/// What of a row's clustering key decides in which part the row lies. Rows that are equal in it, of
/// all tables with the same partition key, lie in the same. `None`: in the partition itself.
pub type Together = fn(&[u8]) -> Option<&[u8]>;

/// What [`Together`] says of all clustering keys that start with some bytes, as far as these tell:
/// `None` if they do not, `Some(None)` if all those rows are in the partition itself.
pub type OfPrefix = fn(&[u8]) -> Option<Option<&[u8]>>;

/// Says of a table that its partitions may be in parts.
#[derive(Debug, Clone, Copy)]
pub struct PartRule {
    /// The table's name.
    pub table: &'static str,
    /// What keeps rows together.
    pub together: Together,
    /// The same of all rows that a scan may find: where they lie together, one part of each epoch
    /// is read.
    pub of_prefix: OfPrefix,
}

/// What an engine must know besides.
#[derive(Debug, Clone, Copy)]
pub struct PartOptions {
    /// Bytes that a partition, or a part of one, takes before rows go to further parts. All tables
    /// count together. Roughly: what is counted is what was written, and a row counts as 100 bytes
    /// at least.
    pub bytes_max: u64,
}

impl Default for PartOptions {
    fn default() -> Self {
        Self {
            bytes_max: 48 << 20,
        }
    }
}
