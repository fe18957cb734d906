//! What reading one message may take.

use crate::error::{Result, WireError};

/// The most levels of values inside each other.
pub const NESTING_MAX: usize = 256;
/// The most values of one message. Each takes some 40 bytes when read.
pub const VALUES_MAX: usize = 2_000_000;

/// The most levels of JSON. A nested traversal takes four of them in GraphSON.
pub(crate) const JSON_NESTING_MAX: usize = 4 * NESTING_MAX;

/// Counts levels and values.
#[derive(Debug)]
pub(crate) struct Budget {
    nesting_max: usize,
    depth: usize,
    values: usize,
}

impl Budget {
    /// Allows so many levels.
    pub(crate) fn new(nesting_max: usize) -> Budget {
        Budget {
            nesting_max,
            depth: 0,
            values: 0,
        }
    }

    /// A value begins.
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        self.values += 1;
        if self.depth > self.nesting_max {
            return Err(WireError::TooDeep);
        }
        if self.values > VALUES_MAX {
            return Err(WireError::TooMany);
        }
        Ok(())
    }

    /// The value ends.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
