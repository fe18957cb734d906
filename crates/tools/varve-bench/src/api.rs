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
mod opening;
mod options;
mod payload;
mod prefix;
mod preset;
mod queries;
mod request;
mod row;
mod run;
mod scenario;
mod schedule;
mod social;
mod target;
mod threshold;
mod verify;
mod worker;

pub(crate) use options::ApiArguments;
pub(crate) use run::run;
