//! The storage seam on RocksDB: one RocksDB directory for each space, one column family for each
//! table that has had files.
//!
//! A row's key is `partition ++ clustering`. Partition keys are self-delimiting, so no separator is
//! needed. All spaces share one block cache and one budget for memtables. Both are inside
//! [`RocksConfig::memory_bytes`], so one setting bounds the memory of the engine, however many
//! graphs there are.
//!
//! Durability: `write` appends a batch to RocksDB's log in one write call before it returns, so the
//! batch survives the end of the process. With [`Durability::Sync`](varve_kv::Durability::Sync)
//! `write` also syncs the log (`fdatasync`). Then the batch and everything written before it
//! survive power loss. Callers share a sync by writing several commits as one batch. Large batches
//! also cost much less per row.
//!
//! What remains after each failure:
//! - When the disk is full, a write fails and nothing of it is stored. Each later write checks
//!   whether there is space again and, if so, takes RocksDB out of its error state. So writes
//!   succeed again without a restart.
//! - After any other failed write the space refuses writes until it is opened again. Opening
//!   replays the log. What the log has on disk then decides whether the failed write is stored.
//! - A log whose end was torn by a crash is cut after its last whole batch. Damage before the end
//!   makes opening fail with the file's name; nothing is skipped silently.
//!
//! Options and the measurements behind them: `docs/decisions/0003-rocksdb-options.md`.

mod batch;
mod checksums;
mod config;
mod cuts;
mod directory;
mod engine;
mod errors;
mod families;
mod front_log;
mod health;
mod ingest;
mod manifest;
mod options;
mod partition;
mod snapshot;
mod space;
mod statistics;
mod tiers;
mod view;
mod wal;

pub use config::{
    FRONT_TABLE_BYTES_DEFAULT, FrontTable, MEMORY_BYTES_DEFAULT, MEMORY_BYTES_MIN, RocksConfig,
    Tuning,
};
pub use engine::{LogRecovery, RocksEngine};
pub use varve_kv_front::log::Salvaged;
