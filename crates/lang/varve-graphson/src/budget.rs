//! What reading one message may take.

use crate::error::{Result, WireError};

/// The most levels of values inside each other.
pub const NESTING_MAX: usize = 256;
/// The most values of one message. Each takes some 40 bytes when read.
pub const VALUES_MAX: usize = 2_000_000;

/// Bytes that reading takes for each value, about: its node of JSON, the value, and what lists have
/// to spare.
pub const VALUE_BYTES: usize = 128;

/// The most levels of JSON. A nested traversal takes four of them in GraphSON.
pub(crate) const JSON_NESTING_MAX: usize = 4 * NESTING_MAX;

/// Counts levels and values.
#[derive(Debug)]
pub(crate) struct Budget {
    nesting_max: usize,
    depth: usize,
    /// Values that may still come.
    left: usize,
}

impl Budget {
    /// Allows so many levels, and so many values but no more than [`VALUES_MAX`].
    pub(crate) fn new(nesting_max: usize, values_max: usize) -> Budget {
        Budget {
            nesting_max,
            depth: 0,
            left: values_max.min(VALUES_MAX),
        }
    }

    /// Values that have come of so many that might.
    pub(crate) fn used(&self, values_max: usize) -> usize {
        values_max.min(VALUES_MAX).saturating_sub(self.left)
    }

    /// A value begins.
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.nesting_max {
            return Err(WireError::TooDeep);
        }
        self.left = self.left.checked_sub(1).ok_or(WireError::TooMany)?;
        Ok(())
    }

    /// The value ends.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
