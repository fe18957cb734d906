//! Every traverser against its definition, by brute force on random graphs. The same checks run at
//! points of both times of stored graphs in `crates/varve-server/tests/points`.

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
