//! `varve bench`: load tests of any server that speaks HugeGraph's REST API, the performance suite
//! of any open-metadata repository, and Varve against its ceilings.
//!
//! [`api`] and [`metadata`] speak HTTP only, and build without any storage engine. The ceilings
//! need ours and RocksDB: feature `rocksdb`.

pub mod api;
#[cfg(feature = "rocksdb")]
mod ceilings;
mod command;
mod endpoint;
pub mod metadata;
mod owned;
mod wait;

pub use command::{BenchArguments, run};
pub use owned::Program;
