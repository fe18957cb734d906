//! Checks of the deadline, and arrays charged to the meter.

use varve_view::{Meter, ViewError};

/// Edges between two checks of the clock and the cancel token: about a millisecond.
const EDGES: usize = 1 << 16;

/// Ends an algorithm at its deadline or when it is cancelled.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    meter: &'a Meter,
    left: usize,
}

impl<'a> Pace<'a> {
    pub(super) const fn new(meter: &'a Meter) -> Self {
        Self { meter, left: EDGES }
    }

    /// Counts edges that were read.
    ///
    /// # Errors
    ///
    /// If the deadline has passed, or the request was cancelled.
    #[inline]
    pub(super) fn step(&mut self, edges: usize) -> Result<(), ViewError> {
        if self.left > edges {
            self.left -= edges;
            return Ok(());
        }
        self.left = EDGES;
        self.meter.check()
    }
}

/// Allocates an array and charges it to the meter.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded.
pub(super) fn array<T: Clone>(meter: &Meter, value: T, count: usize) -> Result<Vec<T>, ViewError> {
    meter.hold(count * size_of::<T>())?;
    Ok(vec![value; count])
}
