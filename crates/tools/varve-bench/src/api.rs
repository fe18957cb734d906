//! The load tool: runs the scenarios of HugeGraph's published load tests, and ours, against a
//! server.
//!
//! A [`scenario`] makes requests from [`payload`] templates. A [`schedule`] determines when they
//! are due. A [`worker`] thread sends them over its connections and [`measure`]s. A [`row`] has the
//! results of all workers under one load. A [`mod@run`] makes the rows one after another, reads
//! back the writes ([`verify`]), and writes the [`result`].

mod answer;
mod bound;
mod changes;
pub(crate) mod choice;
pub(crate) mod connection;
mod jtl;
mod limit_search;
pub(crate) mod measure;
mod opening;
mod options;
pub(crate) mod payload;
mod prefix;
mod preset;
mod queries;
pub mod report;
pub(crate) mod request;
pub mod result;
pub(crate) mod row;
mod run;
pub(crate) mod scenario;
mod schedule;
mod social;
pub mod table;
pub(crate) mod target;
mod threshold;
mod verify;
mod worker;

pub use options::ApiArguments;
pub use run::run;
