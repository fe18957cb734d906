//! `varve bench`: load tests of any server that speaks HugeGraph's REST API, the performance suite
//! of any open-metadata repository, and comparisons of Varve with the bare engine and the bare HTTP
//! server (its *ceilings*).
//!
//! [`api`] and [`metadata`] use HTTP only, and build without any storage engine. The ceilings need
//! Varve's own engine and RocksDB: feature `rocksdb`. The other modules here are shared: options,
//! the server that is started and its process, HTTP, histograms, result files, progress and
//! reports.
//!
//! [`api`] and [`metadata`] have no common plan or runner, since they differ in kind. A row of
//! `api` is a load: threads send independent requests for many users on a schedule, and a tally
//! counts the answers. A profile of `metadata` is a sequence: one connection makes calls with
//! arguments from earlier answers, and it ends with the last type, not at a time.

pub mod api;
mod arguments;
#[cfg(feature = "rocksdb")]
mod ceilings;
mod client;
mod command;
mod endpoint;
mod environment;
mod histogram;
mod http;
pub mod metadata;
mod owned;
mod process;
mod progress;
mod random;
mod report;
mod result;
mod serve;
mod wait;

pub use command::{BenchArguments, run};
pub use owned::Program;
