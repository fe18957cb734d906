//! What tests of several crates share, and nothing that ships.
//!
//! - [`engine_suite`]: the contract of `varve-kv` as cases, one for each sentence; every engine runs all of them.
//! - [`FaultyEngine`]: any engine, with failures of writes and reads on demand.
//! - [`Random`]: reproducible random numbers; a failing test prints its seed.

#![allow(
    clippy::unwrap_used,
    reason = "this crate is test code: a failed call is a failed test"
)]

pub mod engine_suite;
pub mod faulty;
pub mod random;

pub use faulty::{Fault, Faults, FaultyEngine};
pub use random::Random;
