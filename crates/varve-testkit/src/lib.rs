//! Shared code of the tests of several crates; it is not part of the product.
//!
//! - [`mod@engine_suite`]: the contract of `varve-kv` as cases, one for each sentence; every engine
//!   runs all of them.
//! - [`FaultyEngine`]: any engine, with write and read failures on demand.
//! - [`NotedEngine`]: any engine, with a record of each read.
//! - [`ReplicatedEngine`]: the in-memory engine that behaves as a cluster, with replicas that have
//!   not received a write yet.
//! - [`ScatteredEngine`]: the in-memory engine with partitions in the order of a hash, independent
//!   of their keys.
//! - [`SharedMemory`]: an in-memory engine that several servers share, with leases that end when a
//!   test ends them.
//! - [`WatchedEngine`]: any engine that counts its reads, and runs other work between two of them
//!   on demand.
//! - [`model`]: a naive bitemporal graph, the oracle; [`generate`]: random lists of operations for
//!   it and for a real graph.
//! - [`view_suite`]: the contract of `varve-view`: a view of a graph must give the same results as
//!   the model's view.
//! - [`ServerProcess`]: a server as a child process; [`Client`] and [`mod@http`]: requests to any
//!   server, and raw bytes on a connection. A server in the process of the test is in
//!   `varve-testserver`.
//! - [`ManualClock`]: a clock that moves only when a test moves it.
//! - [`once_unlocked`]: opens an engine on a directory whose lock a child process may still hold.
//! - [`Random`]: reproducible random numbers; a failing test prints its seed.

#![allow(
    clippy::unwrap_used,
    reason = "this crate is test code: a failed call is a failed test"
)]

pub mod clock;
pub mod engine_suite;
pub mod faulty;
pub mod generate;
pub mod http;
pub mod leased;
pub mod model;
pub mod noted;
pub mod process;
pub mod random;
pub mod replicated;
pub mod scattered;
pub mod unlocked;
pub mod view_suite;
pub mod watched;

pub use clock::ManualClock;
pub use faulty::{Fault, Faults, FaultyEngine};
pub use http::Client;
pub use leased::SharedMemory;
pub use noted::{Looks, NotedEngine};
pub use process::ServerProcess;
pub use random::Random;
pub use replicated::{Replicas, ReplicatedEngine};
pub use scattered::ScatteredEngine;
pub use unlocked::once_unlocked;
pub use watched::{Counted, Reads, WatchedEngine};
