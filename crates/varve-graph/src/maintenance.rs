//! Background work: tidying boundaries that have passed, and retention; and purging on demand.

mod purge;
mod retention;
mod tidy;
mod worker;

pub use purge::purge;
pub(crate) use purge::{States, destroy, is_put, record, states};
pub use retention::{RetentionReport, sweep};
pub use tidy::tidy;
pub use worker::{Finding, Maintenance, MaintenanceOptions};
