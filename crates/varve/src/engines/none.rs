//! Stands in for the persistent engines in a build without them: every function fails.

use std::process::ExitCode;
use std::sync::Arc;

use varve_kv::Engine;

use super::Absent;
use crate::CommandError;
use crate::cli::RecoverLogArguments;
use crate::config::Config;

const WITHOUT: &str = "this is a development build without RocksDB and Cassandra; \
                       use --engine memory";

pub(crate) fn rocksdb(_: &Config, _: Absent) -> Result<Arc<dyn Engine>, CommandError> {
    Err(WITHOUT.into())
}

pub(crate) fn cassandra(
    _: &Config,
    _: Option<String>,
    _: Absent,
) -> Result<Arc<dyn Engine>, CommandError> {
    Err(WITHOUT.into())
}

pub(crate) fn change_consistency(_: &Config) -> Result<String, CommandError> {
    Err(WITHOUT.into())
}

pub(crate) fn recover_log(_: &RecoverLogArguments) -> Result<ExitCode, CommandError> {
    Err(WITHOUT.into())
}
