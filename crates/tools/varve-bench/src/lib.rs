//! `varve-bench`: load tests of any server that speaks HugeGraph's REST API, and the performance
//! suite of any open-metadata repository.
//!
//! [`api`] and [`metadata`] use HTTP only. The other modules here are shared: options, the server
//! that is started and its process, HTTP, histograms, result files, progress and reports.

pub mod api;
mod arguments;
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

pub use command::main;
