//! The storage seam: partitioned, ordered key-value tables of bytes.
//!
//! A row is `(table, partition key, clustering key) -> value`. Rows are ordered by clustering key
//! **within one partition only**; nothing above this seam may rely on the order of partitions. That
//! is what RocksDB and Apache Cassandra have in common, so the same graph runs on both.
//!
//! The seam is synchronous: an engine on local disk answers in microseconds and is called in place;
//! callers move long work to a pool of their own. The unit of work is the batch: [`Space::write`]
//! takes one whole transaction or a group of them and applies it atomically; reads come in slices.
//!
//! Every sentence of this contract is checked by a case of the suite in `varve-testkit`, which runs
//! on each engine.

pub mod attempt;
pub mod batch;
pub mod cached;
pub mod deadline;
pub mod error;
pub mod fail_point;
pub mod folder;
pub mod memory;
pub mod range;
pub mod table;

mod engine;
mod extension;
mod layer;
mod space_name;

pub use batch::{Batch, Op, OpKind, RawOp, Sweep};
pub use engine::{
    Absences, Capabilities, Durability, Engine, Flow, Leader, Leadership, Lease, PartitionRange,
    Reader, Row, ScanRequest, Space, SpaceId, Statistic,
};
pub use error::KvError;
pub use extension::{EngineExt, ReaderExt, has_snapshots, state_of};
pub use layer::{EngineLayer, ReaderLayer, SpaceLayer};
pub use memory::MemoryEngine;
pub use range::ClusteringRange;
pub use space_name::{LOCK_FILE, SPACE_NAME_BYTES_MAX, check_space_name, is_space_name};
pub use table::{TableId, TableSpec};
