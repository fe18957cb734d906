//! `varve bench metadata`: the performance suite of Egeria's conformance tests, against any
//! repository that speaks the OMRS REST API.
//!
//! The suite creates so many instances of every type of the open metadata standard, once as its own
//! and once as reference copies, then searches, classifies, updates, reads, walks, re-homes,
//! deletes and purges them, one call after another on one connection. Its 32 [`profile`]s are the
//! rows of a published table, which this tool reproduces call by call: [`plan`] says what is asked
//! of each type, [`profiles`] ask it, [`answer`] reads what comes back, [`recorder`] keeps the
//! times, [`suite`] runs the profiles in order, [`result`] is the file, and [`report`] shows it
//! beside the published figures.

mod answer;
mod arguments;
mod checked;
mod client;
mod counts;
mod evidence;
mod part;
mod plan;
mod profile;
mod profiles;
mod published;
mod recorder;
mod report;
mod result;
mod run;
mod suite;
mod values;
mod watch;

pub use arguments::MetadataArguments;
pub(crate) use result::FORM;
pub(crate) use run::report_of;
pub use run::run;
