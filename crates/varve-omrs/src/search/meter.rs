//! The cost of a search or a graph query so far, and its limits.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use super::Limits;
use crate::error::{Message, OmrsError};
use crate::matching::Effort;

/// The clock is checked after this many instances. A power of two.
const CLOCK_EVERY: usize = 64;
/// The clock is also checked after this many bytes of texts ([`Meter::pass`]).
const CLOCK_EVERY_BYTES: usize = 64 << 10;

/// Bytes that a search takes from the shared budget at a time, to keep contention low.
const CHARGED_STEP: usize = 256 << 10;

/// Counts the instances that one call examines and the bytes that it holds, and fails over a limit.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    began: Instant,
    examined: Cell<usize>,
    held: Cell<usize>,
    /// Bytes taken from the budget of all searches: at least the most that was held at once.
    charged: Cell<usize>,
    /// Whether that budget had no room.
    is_refused: Cell<bool>,
    /// Bytes of texts since the last check of the clock.
    texts: Cell<usize>,
    effort: Option<Arc<Effort>>,
}

impl Meter {
    /// A meter whose time begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            began: Instant::now(),
            examined: Cell::new(0),
            held: Cell::new(0),
            charged: Cell::new(0),
            is_refused: Cell::new(false),
            texts: Cell::new(0),
            effort: None,
        }
    }

    /// The meter of a query. Its time began when its conditions were compiled, as `effort` knows.
    pub(crate) fn of_query(limits: &Limits, effort: Option<&Arc<Effort>>) -> Self {
        let mut meter = Self::new(limits);
        meter.began = effort.map_or(meter.began, |effort| effort.began());
        meter.effort = effort.cloned();
        meter
    }

    /// The number of instances that may still be examined.
    ///
    /// # Errors
    /// `RepositoryErrorException` when that is 0.
    pub(crate) fn left(&self) -> Result<usize, OmrsError> {
        match self.limits.examined_max.saturating_sub(self.examined.get()) {
            0 => Err(self.too_many()),
            left => Ok(left),
        }
    }

    /// The number of instances examined.
    pub(crate) fn examined(&self) -> usize {
        self.examined.get()
    }

    /// Counts one more examined instance.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the limit of instances or time is exceeded.
    pub(crate) fn examine(&self) -> Result<(), OmrsError> {
        let examined = self.examined.get() + 1;
        self.examined.set(examined);
        if examined > self.limits.examined_max {
            return Err(self.too_many());
        }
        if examined.is_multiple_of(CLOCK_EVERY) {
            self.look()?;
        }
        self.check()
    }

    /// Counts the bytes of a text that is examined apart from an instance.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the time is up.
    pub(crate) fn pass(&self, bytes: usize) -> Result<(), OmrsError> {
        let passed = self.texts.get().saturating_add(bytes);
        self.texts.set(passed % CLOCK_EVERY_BYTES);
        if passed >= CLOCK_EVERY_BYTES {
            self.look()?;
        }
        self.check()
    }

    fn look(&self) -> Result<(), OmrsError> {
        (self.limits.pause)();
        match self.began.elapsed() > self.limits.time_max {
            true => Err(OmrsError::took_too_long(self.limits.time_max)),
            false => Ok(()),
        }
    }

    /// Checks that the query's conditions could be decided for everything examined so far.
    ///
    /// # Errors
    /// As [`Effort::check`].
    pub(crate) fn check(&self) -> Result<(), OmrsError> {
        self.effort.as_ref().map_or(Ok(()), |effort| effort.check())
    }

    /// Counts bytes that are held from now on.
    ///
    /// # Errors
    /// As [`Meter::too_much`], when there is no room for them.
    pub(crate) fn hold(&self, bytes: usize) -> Result<(), OmrsError> {
        if self.has_room_for(bytes) {
            Ok(())
        } else {
            Err(self.too_much())
        }
    }

    /// Counts bytes that are held from now on. Returns false if there is no room for them.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        self.held.set(self.held.get().saturating_add(bytes));
        self.held.get() <= self.limits.held_bytes_max && self.charge()
    }

    /// Takes the held bytes from the budget of all searches, in steps. Returns false if the budget
    /// has no room.
    fn charge(&self) -> bool {
        let held = self.held.get();
        let missing = held.saturating_sub(self.charged.get());
        if missing == 0 {
            return true;
        }
        let step = missing.next_multiple_of(CHARGED_STEP);
        let has_room = self.limits.held_by_all.take(step);
        match has_room {
            true => self.charged.set(self.charged.get() + step),
            false => self.is_refused.set(true),
        }
        has_room
    }

    /// Whether the held bytes are less than half of the limit.
    pub(crate) fn is_half_empty(&self) -> bool {
        self.held.get() < self.limits.held_bytes_max / 2
    }

    /// Whether the held bytes and `bytes` more are at most half of the limit.
    pub(crate) fn is_half_empty_with(&self, bytes: usize) -> bool {
        self.held.get().saturating_add(bytes) <= self.limits.held_bytes_max / 2
    }

    /// Counts bytes that are no longer held.
    pub(crate) fn release(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }

    /// The error when there is no room for more held bytes: a `RepositoryErrorException`.
    pub(crate) fn too_much(&self) -> OmrsError {
        if self.is_refused.get() {
            let max = self.limits.held_by_all.max();
            let words = format!(
                "all searches together hold {max} bytes, and this one finds no room: try again, or ask for less"
            );
            return OmrsError::new(Message::StoreBusy, &[&words]);
        }
        let words = self.limits.held_bytes_max.to_string();
        OmrsError::new(Message::TooMuchHeld, &[&words])
    }

    fn too_many(&self) -> OmrsError {
        let words = self.limits.examined_max.to_string();
        OmrsError::new(Message::TooManyExamined, &[&words])
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.limits.held_by_all.give_back(self.charged.get());
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeldBudget;
    use super::*;

    #[test]
    fn searches_share_one_budget_and_are_charged_as_they_grow() {
        let budget = HeldBudget::new(4 * CHARGED_STEP);
        let limits = Limits {
            held_by_all: Arc::clone(&budget),
            ..Limits::default()
        };
        let (one, other) = (Meter::new(&limits), Meter::new(&limits));
        assert_eq!(budget.held(), 0, "nothing is taken up front");
        assert!(one.hold(2 * CHARGED_STEP + 1).is_ok());
        assert!(other.hold(1).is_ok());
        assert_eq!(budget.held(), 4 * CHARGED_STEP);
        let refused = other.hold(CHARGED_STEP).err().map(|error| error.message);
        assert_eq!(refused, Some(Message::StoreBusy));
        drop(one);
        let third = Meter::new(&limits);
        assert!(third.hold(2 * CHARGED_STEP).is_ok(), "what ended gave back");
        drop((other, third));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_search_pauses_where_it_looks_at_the_clock() {
        thread_local! {
            static PAUSES: Cell<usize> = const { Cell::new(0) };
        }
        let meter = Meter::new(&Limits {
            pause: || PAUSES.set(PAUSES.get() + 1),
            ..Limits::default()
        });
        assert!((0..3 * CLOCK_EVERY).all(|_| meter.examine().is_ok()));
        assert!(meter.pass(CLOCK_EVERY_BYTES).is_ok());
        assert_eq!(PAUSES.get(), 4);
    }
}
