//! Graph algorithms against their definitions, on random graphs with parallel edges and self-loops.
//! The same checks run at points of both times of stored graphs in
//! `crates/varve-server/tests/points`. `VARVE_TRAVERSAL_GRAPHS` sets how many graphs.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod definitions;
mod fixed;
mod making;
mod projections;
mod random;
mod world;
