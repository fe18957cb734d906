//! The load tool: runs the scenarios of HugeGraph's published load tests, and ours, against a server.
//!
//! A [`scenario`] makes requests from [`payload`] texts; a [`plan`] says when they are due; a [`worker`] thread sends
//! them over its connections and [`measure`]s; a [`row`] is what all workers of one load found; a [`run`] makes the rows
//! one after another, reads back what was written ([`verify`]), and writes the [`result`].

mod choice;
mod connection;
mod environment;
mod http;
mod jtl;
mod limit_search;
mod measure;
mod options;
mod payload;
mod plan;
mod preset;
mod probe;
mod process;
mod progress;
pub mod report;
pub mod result;
mod row;
mod run;
mod scenario;
mod serve;
pub mod table;
mod target;
mod threshold;
mod verify;
mod worker;

pub use options::ApiArguments;
pub use run::run;
