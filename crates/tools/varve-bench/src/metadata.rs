//! `varve-bench metadata`: the performance suite of Egeria's conformance tests, against any
//! repository that speaks the OMRS REST API.
//!
//! The suite creates a fixed number of instances of every type of the open metadata standard, its
//! own ones and reference copies. It then searches, classifies, updates, reads, walks, re-homes,
//! deletes and purges them, one call after another on one connection. Its 32 [`profile`]s are the
//! rows of a published table, which this tool reproduces call by call. [`plan`] lists the
//! attributes of each type, [`profiles`] makes the calls, [`answer`] reads the answers,
//! [`recorder`] records the times, [`suite`] runs the profiles, and [`mod@run`] is the suite of the
//! common runner.

mod answer;
mod arguments;
mod checked;
mod client;
mod counts;
mod evidence;
mod family;
mod plan;
mod profile;
mod profiles;
mod recorder;
mod run;
mod suite;
mod values;

pub(crate) use arguments::MetadataArguments;
pub(crate) use profile::{GROWTH_MAX, LINE99_MAX_US, PUBLISHED_ROWS, ROWS, RowInfo};
pub(crate) use run::run;
