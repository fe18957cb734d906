//! Which Varve this is: the version and the commit that it was built from.

use std::sync::OnceLock;

/// The version of Varve.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Says which commit the binary was built from; only the first call of a process counts. The
/// binary's own build finds out, so that a new commit does not compile this crate anew.
pub fn set_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

/// The commit that the binary was built from, abbreviated; `unknown` where nobody said.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}
