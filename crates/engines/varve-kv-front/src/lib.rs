//! The write-ahead log and the front tables over an engine of sorted files. With them a write costs
//! a hash and an append, not an ordered insertion among all keys of a table.
//!
//! The seam promises order within a partition only. So a hash finds a row's partition, and only the
//! rows of that partition are kept in order. All rows are sorted once, when a full table is
//! flushed. In return, reads must merge the front tables with the files, and this crate must do
//! recovery and back-pressure itself.
//!
//! - [`log`]: the write-ahead log. It makes a write durable before it is in any sorted file, and
//!   replays it after a crash.
//! - [`FrontSpace`]: a space that writes to the log and to a front table, and flushes full tables
//!   to a [`Base`].
//! - [`memory`]: the same over the in-memory engine, for tests.
//!
//! The alternative, an ordered structure over all keys (RocksDB's memtable), was rejected: it costs
//! about twenty cache misses per row for keys in random order. Measurements:
//! `docs/decisions/0004-front-table.md`. How it works: `docs/architecture-front-table.md`.

pub mod log;
pub mod memory;

mod ahead;
mod arena;
mod base;
mod cursor;
mod files;
mod flusher;
mod hash;
mod heads;
mod list;
mod options;
mod partitions;
mod presence;
mod pressure;
mod record;
mod recovery;
mod rows;
mod sorted;
mod space;
mod table;
mod view;
mod watch;

pub use base::{Base, RunRow, SortedTable};
pub use memory::FrontMemoryEngine;
pub use options::{Budget, FrontOptions};
pub use partitions::PartitionCache;
pub use record::{RECORD_BATCH, RECORD_NAMES, RECORD_VERSION};
pub use recovery::recover_log;
pub use rows::RowCache;
pub use space::{FrontConfig, FrontSpace};
pub use watch::Watch;
