//! Limits on reading one message.

use crate::error::{Result, WireError};

/// The most nested levels of values.
pub const NESTING_MAX: usize = 256;
/// The most values of one message. Each takes some 40 bytes when it has been read.
pub const VALUES_MAX: usize = 2_000_000;

/// Approximate bytes for reading a value: its JSON node, the value, and the spare capacity of
/// lists.
pub const VALUE_BYTES: usize = 128;

/// The most nested levels of JSON. In GraphSON a nested traversal takes four of them.
pub(crate) const JSON_NESTING_MAX: usize = 4 * NESTING_MAX;

/// Counts nested levels and values.
#[derive(Debug)]
pub(crate) struct Budget {
    nesting_max: usize,
    depth: usize,
    /// The number of further values allowed.
    left: usize,
}

impl Budget {
    /// Allows `nesting_max` levels, and `values_max` values but no more than [`VALUES_MAX`].
    pub(crate) fn new(nesting_max: usize, values_max: usize) -> Budget {
        Budget {
            nesting_max,
            depth: 0,
            left: values_max.min(VALUES_MAX),
        }
    }

    /// The number of values read so far. `values_max`: as in [`Budget::new`].
    pub(crate) fn used(&self, values_max: usize) -> usize {
        values_max.min(VALUES_MAX).saturating_sub(self.left)
    }

    /// Begins a value.
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.nesting_max {
            return Err(WireError::TooDeep);
        }
        self.left = self.left.checked_sub(1).ok_or(WireError::TooMany)?;
        Ok(())
    }

    /// Ends a value.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
