//! Every traverser against its definition, by brute force on random graphs.
//! `crates/varve-server/tests/points` runs the same checks on stored graphs at points of both
//! times.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod effort;
mod graphs;
mod making;
mod naive;
mod near;
mod pairs;
mod ranks;
mod steps;
mod walks;
mod world;
