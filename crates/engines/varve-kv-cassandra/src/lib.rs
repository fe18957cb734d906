//! The storage seam on an Apache Cassandra cluster.
//!
//! A space is a keyspace, a table of the seam is a table
//! `(p blob, c blob, v blob, PRIMARY KEY (p, c))`. The seam is synchronous, the driver is not: the
//! engine has a small runtime, on which the calling thread waits
//! ([`Capabilities::reads_may_wait`](varve_kv::Capabilities)).
//!
//! The key decision: Cassandra has neither transactions over partitions nor snapshots, so **a batch
//! is first stored as a record in a log, then carried out partition by partition**; every request
//! carries the batch's timestamp, so a request may be repeated, by this process or, from the log,
//! by the next one that opens the space. In return, every byte is written twice, and a reader may
//! see one partition of a batch before another ([`varve_kv::Space::snapshot`]). The alternative,
//! Cassandra's own logged batch, was rejected: with default settings it refuses more than 50 KiB
//! over several partitions, and its outcome after a timeout cannot be determined.
//!
//! A write that has begun is finished: while the cluster is unreachable the write waits, and later
//! writes are refused. Only a process that has lost its lease to another gives a write up, and it
//! never writes again.
//!
//! A lease in the keyspace ensures that one process at a time has a space open. This crate does not
//! interpret keys and values.

mod acquire;
mod bridge;
mod change;
mod clock;
mod cluster;
mod config;
mod cuts;
mod directory;
mod engine;
mod failure;
mod full;
mod known;
mod learn;
mod lease;
mod log;
mod nodes;
mod plan;
mod read;
mod record;
mod scope;
mod send;
mod space;
mod split;
mod stamps;
mod statements;
mod tls;

pub use change::ConsistencyChange;
pub use config::{CassandraConfig, Consistency, Credentials, Identity, Tls};
pub use engine::CassandraEngine;
