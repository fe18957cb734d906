//! The store of instances on a graph.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]
#![allow(clippy::unwrap_used, reason = "a test may fail by it")]

mod answers;
mod basics;
mod bounds;
mod concurrency;
mod corrections;
mod costs;
mod crowded;
mod ends;
mod filled;
mod histories;
mod large;
mod linking;
mod looks;
mod model;
mod older;
mod past_types;
mod texts;
mod type_changes;
mod undone;
mod world;
