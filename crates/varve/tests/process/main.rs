//! Tests of the real binary as a process: its tools, its start and stop, and what it survives.

mod acknowledged;
#[cfg(feature = "rocksdb")]
mod crash;
#[cfg(feature = "rocksdb")]
mod faults;
mod server;
mod tools;
