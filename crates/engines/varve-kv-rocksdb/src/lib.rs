//! The storage seam on RocksDB: one RocksDB directory for each space, one column family for each
//! table that has had files.
//!
//! A row's key is `partition ++ clustering`; partition keys are self-delimiting, so no separator is
//! needed. All spaces share one block cache and one budget for memtables, both inside
//! [`RocksConfig::memory_bytes`], so the memory of the engine is bounded by one setting however
//! many graphs there are.
//!
//! Durability: every batch is in RocksDB's log before `write` returns, in one write call, so the
//! batch survives the end of the process. With [`Durability::Sync`](varve_kv::Durability::Sync) the
//! log is synced too (`fdatasync`), so the batch and everything written before it survive power
//! loss. Callers share a sync by writing several commits as one batch; large batches also cost much
//! less per row.
//!
//! What remains after each failure:
//! - A full disk refuses the write and stores nothing of it. Each later write checks whether there
//!   is space again and, if so, takes RocksDB out of its error state. So writes succeed again
//!   without a restart.
//! - After any other failed write the space refuses writes until it is opened again: opening
//!   replays the log, and the content of the disk decides what was stored.
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
