//! The repository's values as a client and a server see them. One program, so that they are linked
//! once.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests too"
)]

mod below;
mod catalogue;
mod contract;
mod filled;
mod generate;
mod graph_queries;
mod patterns;
mod repository;
mod round_trips;
mod search;
mod validation;
