//! Keeps the partitions of an engine from growing without bound: an engine over another one, for
//! clusters whose partitions lie on one set of nodes each and must stay small.
//!
//! Above, nothing is different: a partition is one ordered list of rows. Below, a partition that
//! has taken its share of bytes is continued in further ones, its **parts**. Parts come in
//! **epochs**: epoch 0 is the partition itself, epoch 1 has 8 parts, epoch 2 has 64, all later
//! ones 256. A row is written to the newest epoch, to the part that a hash of its clustering key
//! says. Nothing is ever moved: what is in an older epoch stays there, and is hidden by a row of
//! the same key in a newer one. A read asks one part of each epoch for a row, and merges all parts
//! in order for a scan; of rows that all lie together, one part of each epoch.
//!
//! What must stay together does: the hash is of the part of the clustering key that the table's
//! [`PartRule`] names, so rows of several tables that are one thing lie in one part, and change
//! together ([`varve_kv::Space::snapshot`]). A partition as a whole does not any more, once it is
//! in parts.
//!
//! Which partitions are in parts is kept in a table of its own, [`TABLE`], and all of it in memory:
//! whoever has a space open is the only one to write it. How much was written to a partition is
//! counted roughly until it is much.

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
