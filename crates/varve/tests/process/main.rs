//! Tests of the real binary as a process: its tools, its start and stop, and what it survives.

mod acknowledged;
mod bench;
#[cfg(feature = "rocksdb")]
mod changes;
#[cfg(feature = "rocksdb")]
mod chores;
#[cfg(feature = "cassandra")]
mod cluster;
#[cfg(feature = "rocksdb")]
mod crash;
mod dumps;
#[cfg(feature = "rocksdb")]
mod fail_points;
#[cfg(feature = "rocksdb")]
mod faults;
#[cfg(feature = "rocksdb")]
mod folders;
#[cfg(feature = "rocksdb")]
mod followers;
#[cfg(feature = "rocksdb")]
mod following;
#[cfg(all(feature = "cassandra", not(feature = "rocksdb")))]
mod frontier;
#[cfg(feature = "rocksdb")]
mod gremlin_crash;
#[cfg(feature = "rocksdb")]
mod idle;
mod loading;
#[cfg(feature = "rocksdb")]
mod log_damage;
mod metadata;
mod metadata_bad_input;
#[cfg(feature = "rocksdb")]
mod metadata_crash;
mod metadata_suite;
mod observed;
mod open_copies;
#[cfg(any(feature = "rocksdb", feature = "cassandra"))]
mod open_graph;
#[cfg(feature = "rocksdb")]
mod power;
#[cfg(feature = "rocksdb")]
mod private;
mod promlint;
#[cfg(any(feature = "rocksdb", feature = "cassandra"))]
mod seeds;
#[cfg_attr(
    not(feature = "rocksdb"),
    expect(
        dead_code,
        reason = "stops and kills need a server that keeps its data"
    )
)]
mod server;
mod tls;
mod tools;
#[cfg(feature = "rocksdb")]
mod users;
