//! Upkeep: a thread tidies boundaries that have passed, and deletes what is past its retention.
//! Purging is on demand.

mod last_look;
mod purge;
mod retention;
mod tidy;
mod worker;

pub(crate) use last_look::LastLook;
pub use purge::purge;
pub use retention::{RetentionReport, sweep};
pub use tidy::tidy;
pub use worker::{Finding, Maintenance, MaintenanceOptions};
