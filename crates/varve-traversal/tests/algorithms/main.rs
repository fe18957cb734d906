//! Graph algorithms against their definitions, on random graphs with parallel edges and self-loops.
//! `crates/varve-server/tests/points` runs the same checks on stored graphs at points of both
//! times. `VARVE_TRAVERSAL_GRAPHS` sets the number of graphs.

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
