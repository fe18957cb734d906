//! What a search may cost.

use std::time::Duration;

/// What one search or graph query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most instances that it looks at.
    pub examined_max: usize,
    /// The most bytes of instances that it holds at a time, about: those of its answer, and those that may yet belong there.
    pub held_bytes_max: usize,
    /// The longest that it works.
    pub time_max: Duration,
    /// The most bytes of an answer. Of one that is over it nothing is sent.
    pub answer_bytes_max: usize,
}

/// Enough to page through a repository of millions of instances without having been there before; some ten seconds of work.
const EXAMINED_MAX: usize = 5_000_000;
/// Enough for some hundred thousand instances of usual size, and little enough for several such calls at a time.
const HELD_BYTES_MAX: usize = 256 << 20;
/// As long as a request may take unless the server is told otherwise.
const TIME_MAX: Duration = Duration::from_secs(30);
/// More than a client reads at once without being prepared for it, and little enough for several such calls at a time.
const ANSWER_BYTES_MAX: usize = 256 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            examined_max: EXAMINED_MAX,
            held_bytes_max: HELD_BYTES_MAX,
            time_max: TIME_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
    }
}
