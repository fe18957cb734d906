//! What lies in front of an engine of sorted files, so that a write costs a hash and an append, not an ordered insertion
//! among all keys of a table.
//!
//! - [`log`]: the write-ahead log. It makes a write durable before it is in any sorted file, and replays it after a crash.

pub mod log;
