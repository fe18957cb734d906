//! Bytes that one piece of work holds.

use varve_view::Meter;

use crate::error::Outcome;

/// Bytes that are charged to a query until this is dropped.
pub(crate) struct Held<'m> {
    meter: &'m Meter,
    bytes: usize,
}

impl<'m> Held<'m> {
    /// No bytes yet.
    pub(crate) const fn new(meter: &'m Meter) -> Held<'m> {
        Held { meter, bytes: 0 }
    }

    /// Holds so many bytes more.
    ///
    /// # Errors
    /// When the query needs too much memory.
    pub(crate) fn add(&mut self, bytes: usize) -> Outcome<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(self.meter.hold(bytes)?)
    }

    /// Leaves it to the caller to release the bytes.
    pub(crate) fn keep(mut self) -> usize {
        std::mem::take(&mut self.bytes)
    }

    /// Holds so many bytes in all, or what it holds if that is more.
    ///
    /// # Errors
    /// As [`Held::add`].
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Outcome<()> {
        self.add(bytes.saturating_sub(self.bytes))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
