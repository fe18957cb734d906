//! Varve's version, and the commit that it was built from.

use std::sync::OnceLock;

/// The version of Varve.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Sets the commit that the binary was built from; only the first call of a process has an effect.
/// The binary's own build determines it, so that a new commit does not recompile this crate.
pub fn set_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

/// The commit that the binary was built from, abbreviated; `unknown` if it was not set.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}

/// The version of Neo4j whose clients are served.
pub(crate) const NEO4J: &str = "5.26.0";
