//! The events of one element.

use varve_model::{CommitVersion, Element, Period};

/// One event of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct PastVersion {
    /// Its commit version: the start of its transaction time.
    pub version: CommitVersion,
    /// The period of valid time that it is about.
    pub period: Period,
    /// The state; `None` = a delete.
    pub element: Option<Element>,
    /// The next newer event with an overlapping period: the end of this event's transaction time,
    /// for the overlap.
    pub superseded: Option<CommitVersion>,
}
