//! The storage seam on an Apache Cassandra cluster.
//!
//! A space is a keyspace. A table of the seam is a table
//! `(p blob, c blob, v blob, PRIMARY KEY (p, c))`. The seam is synchronous, and the driver is
//! asynchronous. So the engine has a small runtime for requests, and the calling thread waits for
//! them ([`Capabilities::reads_may_wait`](varve_kv::Capabilities)).
//!
//! The key decision: **a batch is first stored as a record in a log, then carried out partition by
//! partition**, since Cassandra has neither transactions over partitions nor snapshots. Every
//! request carries the batch's timestamp, so it may be repeated: by this process or, from the log,
//! by the next process that opens the space. The price is that every byte is written twice, and
//! that a reader may see one partition of a batch before another ([`varve_kv::Space::snapshot`]).
//! The alternative, Cassandra's own logged batch, was rejected. With default settings it refuses
//! more than 50 KiB over several partitions, and its outcome after a timeout cannot be determined.
//!
//! While the cluster is unreachable, a write that has begun waits, and later writes are refused. A
//! process gives up such a write only if the process has lost its lease or its engine is closing,
//! or if the cluster refuses the write for good. The process then writes no more until it opens the
//! space again.
//!
//! A lease in the keyspace ensures that one process at a time has a space open. It names a process
//! that is registered in the table of servers; the process renews that one row for all its spaces.
//! This crate does not interpret keys and values.

mod acquire;
mod ahead;
mod bridge;
mod change;
mod clock;
mod cluster;
mod config;
mod core;
mod cuts;
mod directory;
mod engine;
mod failure;
mod figures;
mod followed;
mod full;
mod group;
mod known;
mod leaders;
mod learn;
mod lease;
mod log;
mod member;
mod nodes;
mod open;
mod plan;
mod process;
mod read;
mod record;
mod schema;
mod scope;
mod send;
mod servers;
mod sessions;
mod slices;
mod source;
mod space;
mod split;
mod stamps;
mod statements;
mod tls;
mod tried;
mod watch;

pub use change::ConsistencyChange;
pub use config::{CassandraConfig, Consistency, Credentials, Identity, Tls};
pub use engine::CassandraEngine;
