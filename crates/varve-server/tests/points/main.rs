//! Traversers, algorithms, Gremlin and Cypher over stored graphs at points of both times, with
//! corrections and deletions, against their definitions on the naive model.
//!
//! `VARVE_TRAVERSAL_GRAPHS` sets how many points each test reads, `VARVE_TRAVERSAL_SEED` the first
//! seed of the traversers.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod algorithms;
mod cypher;
mod gremlin;
mod history;
mod traversers;
