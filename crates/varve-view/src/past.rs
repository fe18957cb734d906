//! What was said of one element in the course of time.

use varve_model::{CommitVersion, Element, Period};

/// One event of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct PastVersion {
    /// When it was committed: start of its transaction time.
    pub version: CommitVersion,
    /// The valid time it speaks of.
    pub period: Period,
    /// The state in that time; `None` = the element did not exist.
    pub element: Option<Element>,
    /// The next newer event about an overlapping valid time: end of its transaction time there.
    pub superseded: Option<CommitVersion>,
}
