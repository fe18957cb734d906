//! The storage engines of this build. It has RocksDB and Cassandra; a development build
//! without the feature `engines` has neither, only the engine in memory.

#[cfg(not(feature = "engines"))]
mod none;
#[cfg(feature = "engines")]
mod recover_log;
#[cfg(feature = "engines")]
mod stored;

#[cfg(not(feature = "engines"))]
pub(crate) use none::{cassandra, change_consistency, recover_log, rocksdb};
#[cfg(feature = "engines")]
pub(crate) use recover_log::recover_log;
#[cfg(feature = "engines")]
pub(crate) use stored::{cassandra, change_consistency, rocksdb};

/// What to do if there is no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    Create,
    Refuse,
}
