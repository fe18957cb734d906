//! Queries on a real graph over the in-memory engine: what the write path and index building leave
//! in the indexes is what queries need, now and at every other point of both times.

mod building;
mod replicas;
mod scans;
mod stories;
mod world;
