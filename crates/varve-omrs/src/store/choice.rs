//! The choice of the states of a history to read: the headers of all states are read, but only the
//! chosen states are decoded.

use super::{LifeStatus, Version};
use crate::error::OmrsError;

/// Bounds the cost of a read.
pub trait Cost {
    /// Counts a state that is examined.
    ///
    /// # Errors
    /// When the limit of states or of time is exceeded; then reading ends.
    fn look(&mut self) -> Result<(), OmrsError>;

    /// Counts a state that is held in memory from now on, by its stored size.
    ///
    /// # Errors
    /// When the limit of memory is exceeded; then reading ends.
    fn hold(&mut self, bytes: usize) -> Result<(), OmrsError>;
}

/// Chooses the states of a history to read.
pub trait Choice: Cost {
    /// Counts bytes that are held, for all states together, until [`Choice::choose`] has returned.
    ///
    /// # Errors
    /// When the limit of memory is exceeded; then reading ends.
    fn keep(&mut self, bytes: usize) -> Result<(), OmrsError>;

    /// Returns the positions of the chosen states, in the order in which to return them. `states`
    /// has all states, oldest first; none when the instance is not known.
    ///
    /// # Errors
    /// The error with which reading ends.
    fn choose(&mut self, states: &[Version<LifeStatus>]) -> Result<Vec<usize>, OmrsError>;
}
