//! Commits: latches, the hybrid clock, and the committer that numbers, groups, stores and
//! publishes.
//!
//! A prepared commit ([`Commit`]) is a batch whose rows still miss their commit version, the
//! latches that protect what was read for it, and a ticket that its caller waits on. The committer
//! thread takes everything that waits, gives each commit its version in order, puts the batches
//! together, writes them once, publishes the version, releases the latches and completes the
//! tickets.

use std::time::Duration;

mod committer;
mod latch;
mod prepared;
mod promise;
mod several;
mod ticket;

pub use committer::DurabilityMode;
pub(crate) use committer::{
    Committer, CommitterOptions, IDLE_MAX as COMMITTER_IDLE_MAX, Progress, Waited, stored_version,
};
pub(crate) use latch::{LatchKey, LatchSet, Latches};
pub(crate) use prepared::{Commit, End, EndOf, Stamps};
pub(crate) use promise::Promise;
pub(crate) use several::{end_of_commit, record};
pub use ticket::Ticket;
pub(crate) use ticket::ticket;

/// How long the end of a graph waits for what it stores last, where a write may take as long as the
/// store is away. What is not stored by then is no loss: versions jump a little ahead.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(2);
