//! Commits: latches, the hybrid clock, and the committer that numbers, groups, stores and publishes.
//!
//! A prepared commit ([`Commit`]) is a batch whose rows still miss their commit version, the latches that protect what
//! was read for it, and a ticket that its caller waits on. The committer thread takes everything that waits, gives each
//! commit its version in order, puts the batches together, writes them once, publishes the version, releases the
//! latches and completes the tickets.

mod committer;
mod latch;
mod promise;
mod ticket;

pub use committer::DurabilityMode;
pub(crate) use committer::{
    Commit, Committer, CommitterOptions, End, EndOf, Progress, Stamps, Waited, stored_version,
};
pub(crate) use latch::{LatchKey, LatchSet, Latches};
pub(crate) use promise::Promise;
pub use ticket::Ticket;
pub(crate) use ticket::ticket;
