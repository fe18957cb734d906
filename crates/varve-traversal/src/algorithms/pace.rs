//! Looking at the clock, and arrays that are charged to the meter.

use varve_view::{Meter, ViewError};

/// Edges between two looks at the clock and at the cancel token: about a millisecond.
const EDGES: usize = 1 << 16;

/// Ends an algorithm at its deadline.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    meter: &'a Meter,
    left: usize,
}

impl<'a> Pace<'a> {
    pub(super) const fn new(meter: &'a Meter) -> Self {
        Self { meter, left: EDGES }
    }

    /// Counts edges that were looked at.
    ///
    /// # Errors
    /// At the deadline, or when cancelled.
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

/// An array that the meter is charged for.
///
/// # Errors
/// Over the bytes of the meter.
pub(super) fn array<T: Clone>(meter: &Meter, value: T, count: usize) -> Result<Vec<T>, ViewError> {
    meter.hold(count * size_of::<T>())?;
    Ok(vec![value; count])
}
