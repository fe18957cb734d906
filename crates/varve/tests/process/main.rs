//! Tests of the real binary as a process: its tools, its start and stop, and what it survives.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod acknowledged;
#[cfg(feature = "engines")]
mod backups;
mod bench;
#[cfg(feature = "engines")]
mod changes;
#[cfg(feature = "engines")]
mod chores;
#[cfg(feature = "engines")]
mod cluster;
mod corrections;
#[cfg(feature = "engines")]
mod crash;
mod dashboards;
mod dumps;
#[cfg(feature = "engines")]
mod fail_points;
#[cfg(feature = "engines")]
mod faults;
#[cfg(feature = "engines")]
mod folders;
#[cfg(feature = "engines")]
mod followers;
#[cfg(feature = "engines")]
mod following;
#[cfg(feature = "engines")]
mod frontier;
#[cfg(feature = "engines")]
mod gremlin_crash;
#[cfg(feature = "engines")]
mod idle;
mod loading;
#[cfg(feature = "engines")]
mod log_damage;
mod metadata;
mod metadata_bad_input;
#[cfg(feature = "engines")]
mod metadata_crash;
mod metadata_suite;
mod observed;
#[cfg(feature = "engines")]
mod one_directory;
mod open_copies;
#[cfg(feature = "engines")]
mod open_graph;
#[cfg(feature = "engines")]
mod power;
#[cfg(feature = "engines")]
mod private;
mod promlint;
mod restoring;
#[cfg(feature = "engines")]
mod seeds;
mod server;
mod tls;
mod tools;
#[cfg(feature = "engines")]
mod users;
