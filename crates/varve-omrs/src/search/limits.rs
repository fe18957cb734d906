//! What a search may cost.

/// What one search or graph query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most instances that it looks at.
    pub examined_max: usize,
}

/// Enough to page through a repository of millions of instances without having been there before; some ten seconds of work.
const EXAMINED_MAX: usize = 5_000_000;

impl Default for Limits {
    fn default() -> Self {
        Self {
            examined_max: EXAMINED_MAX,
        }
    }
}
