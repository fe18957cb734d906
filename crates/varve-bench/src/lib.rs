//! `varve bench`: load tests of any server that speaks HugeGraph's REST API, and Varve against its ceilings.
//!
//! [`api`] speaks HTTP only, and builds without any storage engine. The ceilings need ours and RocksDB: feature
//! `rocksdb`.

pub mod api;
#[cfg(feature = "rocksdb")]
mod ceilings;
mod command;

pub use command::{BenchArguments, run};
