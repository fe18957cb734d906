//! `varve-bench`: load tests of any server that speaks HugeGraph's REST API, and the performance
//! suite of any open-metadata repository. It also measures Varve beside its limits.
//!
//! One runner ([`mod@run`]) runs the plans of all suites, and writes one form of result file
//! ([`result`]), from which the reports are made. A suite ([`api`], [`metadata`], [`limits`]) makes
//! its plan, and measures its steps: a step of `api` is a load of independent requests, a step of
//! `metadata` a sequence of dependent calls, a step of `limits` the turns of a scenario. The other
//! modules are shared: options, the server that is started and its process, HTTP, histograms and
//! progress. All but `limits` use HTTP only.

mod api;
mod arguments;
mod client;
mod command;
mod endpoint;
mod environment;
mod histogram;
mod http;
mod limits;
mod metadata;
mod owned;
mod process;
mod progress;
mod random;
mod report;
pub mod result;
mod run;
mod serve;
mod wait;

pub use command::main;
