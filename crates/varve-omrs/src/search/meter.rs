//! What a search or graph query has cost so far.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use super::Limits;
use crate::error::{Message, OmrsError};
use crate::matching::Effort;

/// After how many instances the clock is looked at. A power of two.
const CLOCK_EVERY: usize = 64;
/// After how many bytes of texts that are not those of instances it is.
const CLOCK_EVERY_BYTES: usize = 64 << 10;

/// Counts what one call looks at and holds, and says when it is too much.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    began: Instant,
    examined: Cell<usize>,
    held: Cell<usize>,
    /// Bytes of texts since the clock was looked at.
    texts: Cell<usize>,
    effort: Option<Arc<Effort>>,
}

impl Meter {
    /// One that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            began: Instant::now(),
            examined: Cell::new(0),
            held: Cell::new(0),
            texts: Cell::new(0),
            effort: None,
        }
    }

    /// One of a query whose conditions are made already: it began with them.
    pub(crate) fn of_query(limits: &Limits, effort: Option<&Arc<Effort>>) -> Self {
        let meter = Self::new(limits);
        Self {
            began: effort.map_or(meter.began, |effort| effort.began()),
            effort: effort.cloned(),
            ..meter
        }
    }

    /// How many more may be looked at.
    ///
    /// # Errors
    /// `RepositoryErrorException` when it is none.
    pub(crate) fn left(&self) -> Result<usize, OmrsError> {
        match self.limits.examined_max.saturating_sub(self.examined.get()) {
            0 => Err(self.too_many()),
            left => Ok(left),
        }
    }

    /// How many were looked at.
    pub(crate) fn examined(&self) -> usize {
        self.examined.get()
    }

    /// Counts one more that is looked at.
    ///
    /// # Errors
    /// `RepositoryErrorException` when it is one too many, or the time is up.
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

    /// Counts the bytes of a text that is looked at, of whatever instance it may be.
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
        match self.began.elapsed() > self.limits.time_max {
            true => Err(OmrsError::took_too_long(self.limits.time_max)),
            false => Ok(()),
        }
    }

    /// That the query's conditions said of all that was looked at whether they hold.
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

    /// Counts bytes that are held from now on. False when they are too many.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        self.held.set(self.held.get().saturating_add(bytes));
        self.held.get() <= self.limits.held_bytes_max
    }

    /// Whether less than half of what may be held is held.
    pub(crate) fn is_half_empty(&self) -> bool {
        self.held.get() < self.limits.held_bytes_max / 2
    }

    /// Whether no more than half of what may be held is held with so many bytes more.
    pub(crate) fn is_half_empty_with(&self, bytes: usize) -> bool {
        self.held.get().saturating_add(bytes) <= self.limits.held_bytes_max / 2
    }

    /// Counts bytes that are no longer held.
    pub(crate) fn release(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }

    /// What is said when more would have to be held than may be: a `RepositoryErrorException`.
    pub(crate) fn too_much(&self) -> OmrsError {
        let words = self.limits.held_bytes_max.to_string();
        OmrsError::new(Message::TooMuchHeld, &[&words])
    }

    fn too_many(&self) -> OmrsError {
        let words = self.limits.examined_max.to_string();
        OmrsError::new(Message::TooManyExamined, &[&words])
    }
}
