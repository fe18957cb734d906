//! Commits: latches, the hybrid clock, and the committer that numbers, groups, stores and
//! publishes.
//!
//! A prepared commit ([`Commit`]) has a batch whose rows lack their commit version, the latches
//! that protect what was read for it, and the completer of the ticket that its caller waits on. The
//! committer takes the waiting commits as a group, gives each its version in order, joins the
//! batches and writes them once. Then it publishes the version, releases the latches and completes
//! the tickets.

use std::time::Duration;

mod commits;
mod committer;
mod followed;
mod known;
mod latch;
mod latency;
mod prepared;
mod promise;
mod several;
mod ticket;

pub(crate) use commits::Commits;
pub use committer::DurabilityMode;
pub(crate) use committer::{
    Committer, CommitterOptions, IDLE_MAX as COMMITTER_IDLE_MAX, Progress, Waited, stored_version,
};
pub use followed::{AskLeader, Position, Standing};
pub(crate) use followed::{Followed, elsewhere};
pub(crate) use known::{Additions, Known, KnownPairs, KnownVertices, PairHash, VertexMark};
pub(crate) use latch::{LatchKey, LatchSet, Latches};
pub use latency::{CommitLatency, LATENCY_BUCKETS};
pub(crate) use prepared::{Commit, End, EndOf, Stamps};
pub(crate) use promise::Promise;
pub(crate) use several::{end_of_commit, record};
pub use ticket::Ticket;
pub(crate) use ticket::ticket;

/// How long the closing of a graph waits for its last writes, where a write may wait for an absent
/// cluster. If these do not finish in time, versions jump ahead a little at the next start.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(2);
