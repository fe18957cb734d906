//! The load tests: the scenarios of HugeGraph's published load tests, and ours, against a server.
//!
//! A [`scenario`] makes requests from [`payload`] templates. A [`schedule`] determines when they
//! are due. A [`worker`] thread sends them over its connections and [`measure`]s. A [`row`] has the
//! results of all workers under one load. [`mod@run`] is the suite: it loads the data of each row,
//! and reads back the writes ([`verify`]).

mod answer;
mod bound;
mod connection;
mod jtl;
mod limit_search;
mod measure;
pub(crate) mod options;
pub(crate) mod payload;
mod preset;
mod queries;
pub(crate) mod request;
pub(crate) mod row;
mod run;
pub(crate) mod scenario;
mod schedule;
mod social;
pub(crate) mod target;
mod threshold;
mod verify;
mod worker;

pub(crate) use options::ApiArguments;
pub(crate) use run::run;
