//! The cost of one query, and its limits.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::ViewError;

/// Rows between two checks of the clock and the cancel token. Reading that many rows takes some
/// hundred microseconds.
const CHECK_EVERY: u64 = 1_024;
/// Rows between two checks of the thread's allocated bytes; one check takes some nanoseconds.
const MEASURE_EVERY: u64 = 64;

/// The limits of a query's cost.
#[derive(Debug, Clone, Copy)]
pub struct MeterLimits {
    /// The most rows that the query may read.
    pub rows_max: u64,
    /// The most bytes that the query may hold at one time.
    pub bytes_max: u64,
    /// The query's deadline; `None`: the query has none.
    pub deadline: Option<Instant>,
}

impl MeterLimits {
    /// No limits: for tests and for tools without a client.
    pub const NONE: Self = Self {
        rows_max: u64::MAX,
        bytes_max: u64::MAX,
        deadline: None,
    };
}

/// Cancels a query from another thread.
#[derive(Clone, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    /// Another condition that cancels the query.
    watched: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl std::fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CancelToken")
            .field(&self.is_cancelled())
            .finish()
    }
}

impl CancelToken {
    /// A token that is also cancelled while `watched` returns true.
    #[must_use]
    pub fn watching(watched: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            watched: Some(Arc::new(watched)),
            ..Self::default()
        }
    }

    /// Ends the query at its next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the query is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.watched.as_ref().is_some_and(|watched| watched())
    }
}

/// Bytes of values made between two checks of the thread's allocated bytes.
const ROOM_EVERY: u64 = 64 * 1024;

/// The step, in bytes, in which a meter reserves memory of a shared budget.
const RESERVE_STEP: u64 = 256 * 1024;

/// The most reserved bytes beyond those that the query holds.
const RESERVE_SPARE: u64 = 4 * 1024 * 1024;

/// Counts the rows and bytes of one query and ends it when a limit is exceeded. A meter belongs to
/// one thread.
#[derive(Debug)]
pub struct Meter {
    limits: MeterLimits,
    deadline: Cell<Option<Instant>>,
    cancel: CancelToken,
    /// Called by each check after the measurement, before the cancel token and the clock are
    /// checked.
    pause: fn(),
    rows: Cell<u64>,
    /// The count of rows at which clock and token are checked next.
    check_at: Cell<u64>,
    /// The count of rows at which anything is checked next: clock and token, or allocated bytes.
    look_at: Cell<u64>,
    bytes: Cell<u64>,
    /// Bytes of values that [`Meter::room`] was asked for and has not checked.
    unchecked: Cell<u64>,
    measure: Option<Measure>,
    /// The last measured bytes.
    measured: Cell<u64>,
    /// This query's part of the budget that queries share; `None`: there is no such budget.
    shared: Option<Box<dyn SharedBytes>>,
    /// The bytes reserved in the shared budget. Without one, `u64::MAX` once a query holds bytes.
    reserved: Cell<u64>,
}

/// Measures the bytes that a query's thread has allocated since the query began.
#[derive(Debug)]
struct Measure {
    /// The bytes that the calling thread has allocated and not freed since the thread began.
    allocated: fn() -> i64,
    /// The value of `allocated` when the query began.
    before: Cell<i64>,
}

impl Measure {
    fn bytes(&self) -> u64 {
        let bytes = (self.allocated)().saturating_sub(self.before.get());
        // A thread may free memory that another thread allocated.
        u64::try_from(bytes).unwrap_or(0)
    }
}

/// A query's part of a memory budget that all queries share. Dropping it releases the memory.
pub trait SharedBytes: fmt::Debug + Send {
    /// Changes the reserved size to `bytes`. If that fails, the size stays.
    ///
    /// # Errors
    /// When the budget has not enough free bytes.
    fn resize(&self, bytes: u64) -> Result<(), ViewError>;
}

impl Meter {
    /// A meter that starts at zero.
    #[must_use]
    pub fn new(limits: MeterLimits, cancel: CancelToken) -> Self {
        Self {
            deadline: Cell::new(limits.deadline),
            limits,
            cancel,
            pause: || {},
            rows: Cell::new(0),
            check_at: Cell::new(CHECK_EVERY),
            look_at: Cell::new(CHECK_EVERY),
            bytes: Cell::new(0),
            unchecked: Cell::new(0),
            measure: None,
            measured: Cell::new(0),
            shared: None,
            reserved: Cell::new(0),
        }
    }

    /// Reserves the held bytes in a budget that queries share, in steps of 256 KiB.
    #[must_use]
    pub fn sharing(mut self, shared: Box<dyn SharedBytes>) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Also measures what this thread allocates from now on. `allocated` returns the bytes that the
    /// thread has allocated and not freed since it began. Until [`Meter::settle`], the query's
    /// bytes are the larger of the counted and the measured ones.
    #[must_use]
    pub fn measuring(mut self, allocated: fn() -> i64) -> Self {
        let before = Cell::new(allocated());
        self.measure = Some(Measure { allocated, before });
        self.look_at.set(MEASURE_EVERY);
        self
    }

    /// Calls `pause` at every check, before the check of token and clock. There a long query lets
    /// short ones run first. A check that fails for lack of memory does not call it.
    #[must_use]
    pub fn pausing(mut self, pause: fn()) -> Self {
        self.pause = pause;
        self
    }

    /// A meter without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(MeterLimits::NONE, CancelToken::default())
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }

    pub(crate) const fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// The number of rows read so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.get()
    }

    /// The bytes held now: the larger of the counted and the last measured ones.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.get().max(self.measured.get())
    }

    /// Ends the measurement when the query has ended. The bytes measured now are those of its
    /// results, and replace the counted ones. Afterwards the meter may move to another thread.
    /// Without a measurement, nothing happens.
    pub fn settle(&mut self) {
        let Some(measure) = self.measure.take() else {
            return;
        };
        self.measured.set(0);
        self.bytes.set(measure.bytes());
        self.give_back();
    }

    /// Runs work whose allocations outlive the query, such as a commit. What the work allocates and
    /// does not free is not charged to the query.
    pub fn apart<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(measure) = &self.measure else {
            return work();
        };
        let before = (measure.allocated)();
        let done = work();
        let left = (measure.allocated)().saturating_sub(before);
        let begin = measure.before.get().saturating_add(left);
        measure.before.set(begin);
        done
    }

    /// Counts one row.
    ///
    /// # Errors
    /// [`ViewError::Rows`] when [`MeterLimits::rows_max`] is exceeded. Every 64 rows as
    /// [`Meter::measure`] if allocations are measured, every 1,024 rows as [`Meter::check`].
    #[inline]
    pub fn row(&self) -> Result<(), ViewError> {
        let rows = self.rows.get() + 1;
        self.rows.set(rows);
        if rows >= self.look_at.get() || rows > self.limits.rows_max {
            return self.look();
        }
        Ok(())
    }

    #[cold]
    fn look(&self) -> Result<(), ViewError> {
        let rows = self.rows.get();
        if rows > self.limits.rows_max {
            return Err(ViewError::Rows {
                max: self.limits.rows_max,
            });
        }
        let every = match self.measure {
            Some(_) => MEASURE_EVERY,
            None => CHECK_EVERY,
        };
        self.look_at.set(rows + every);
        if rows < self.check_at.get() {
            return self.measure();
        }
        self.check_at.set(rows + CHECK_EVERY);
        self.check()
    }

    /// Checks the allocated bytes, pauses, then checks the cancel token and the clock.
    ///
    /// # Errors
    /// As [`Meter::measure`]; [`ViewError::Cancelled`] when the token is cancelled;
    /// [`ViewError::Deadline`] from the deadline on.
    pub fn check(&self) -> Result<(), ViewError> {
        self.measure()?;
        (self.pause)();
        if self.cancel.is_cancelled() {
            return Err(ViewError::Cancelled);
        }
        match self.deadline.get() {
            Some(deadline) if Instant::now() >= deadline => Err(ViewError::Deadline),
            _ => Ok(()),
        }
    }

    /// Sets an earlier deadline. A later one has no effect.
    pub fn end_by(&self, deadline: Instant) {
        let before = self.deadline.get();
        let first = before.map_or(deadline, |before| before.min(deadline));
        self.deadline.set(Some(first));
    }

    /// Adds bytes that the query holds from now on. They count even if this fails.
    ///
    /// # Errors
    /// [`ViewError::Memory`] when [`MeterLimits::bytes_max`] is exceeded; that of
    /// [`SharedBytes::resize`] when the shared budget has not enough free bytes.
    pub fn hold(&self, bytes: usize) -> Result<(), ViewError> {
        let held = self.bytes.get().saturating_add(bytes as u64);
        self.bytes.set(held);
        self.fit(held)
    }

    /// The bytes that are counted as held: those of [`Meter::hold`] without the released ones.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.bytes.get()
    }

    /// Checks, before a value of so many bytes is made, that the query may have it beside what it
    /// has. The bytes are not held. Small values are checked once they are 64 KiB together.
    ///
    /// # Errors
    /// As [`Meter::hold`]; always for more bytes than any value can have.
    #[inline]
    pub fn room(&self, bytes: usize) -> Result<(), ViewError> {
        let unchecked = self.unchecked.get().saturating_add(bytes as u64);
        self.unchecked.set(unchecked);
        match unchecked < ROOM_EVERY {
            true => Ok(()),
            false => self.check_room(bytes),
        }
    }

    #[cold]
    fn check_room(&self, bytes: usize) -> Result<(), ViewError> {
        self.unchecked.set(0);
        self.measure()?;
        if isize::try_from(bytes).is_err() {
            return Err(ViewError::Memory {
                max: self.limits.bytes_max,
            });
        }
        self.fit(self.bytes().saturating_add(bytes as u64))
    }

    /// Measures the bytes that the query has allocated, if allocations are measured.
    ///
    /// # Errors
    /// As [`Meter::hold`].
    pub fn measure(&self) -> Result<(), ViewError> {
        let Some(measure) = &self.measure else {
            return Ok(());
        };
        self.measured.set(measure.bytes());
        self.give_back();
        self.fit(self.measured.get())
    }

    /// Checks a total of held bytes against the limit and the shared budget.
    fn fit(&self, held: u64) -> Result<(), ViewError> {
        if held > self.limits.bytes_max {
            return Err(ViewError::Memory {
                max: self.limits.bytes_max,
            });
        }
        if held > self.reserved.get() {
            return self.reserve(held);
        }
        Ok(())
    }

    /// Reserves `bytes` in the shared budget, rounded up to the next step.
    #[cold]
    fn reserve(&self, bytes: u64) -> Result<(), ViewError> {
        let Some(shared) = &self.shared else {
            self.reserved.set(u64::MAX);
            return Ok(());
        };
        let bytes = bytes.next_multiple_of(RESERVE_STEP);
        shared.resize(bytes)?;
        self.reserved.set(bytes);
        Ok(())
    }

    /// Subtracts bytes that the query no longer holds.
    pub fn release(&self, bytes: usize) {
        self.bytes
            .set(self.bytes.get().saturating_sub(bytes as u64));
        self.give_back();
    }

    /// Returns reserved bytes to the budget if more than [`RESERVE_SPARE`] of them are not held.
    fn give_back(&self) {
        let held = self.bytes();
        let spare = self.reserved.get().saturating_sub(held);
        if self.shared.is_some() && spare > RESERVE_SPARE {
            // A smaller reservation cannot fail.
            let _ = self.reserve(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_ends_at_its_row_limit() {
        let limits = MeterLimits {
            rows_max: 10,
            ..MeterLimits::NONE
        };
        let meter = Meter::new(limits, CancelToken::default());
        assert!((0..10).all(|_| meter.row().is_ok()));
        assert!(matches!(meter.row(), Err(ViewError::Rows { max: 10 })));
    }

    #[test]
    fn a_query_ends_within_a_thousand_rows_of_its_deadline_or_cancellation() {
        let limits = MeterLimits {
            deadline: Some(Instant::now()),
            ..MeterLimits::NONE
        };
        let late = Meter::new(limits, CancelToken::default());
        let ended = (0..=CHECK_EVERY).find_map(|_| late.row().err());
        assert!(matches!(ended, Some(ViewError::Deadline)));
        let token = CancelToken::default();
        let meter = Meter::new(MeterLimits::NONE, token.clone());
        assert!(meter.row().is_ok());
        token.cancel();
        let ended = (0..=CHECK_EVERY).find_map(|_| meter.row().err());
        assert!(matches!(ended, Some(ViewError::Cancelled)));
    }

    #[test]
    fn a_query_pauses_at_every_check() {
        thread_local! {
            static PAUSES: Cell<u64> = const { Cell::new(0) };
        }
        let meter = Meter::unlimited().pausing(|| PAUSES.set(PAUSES.get() + 1));
        assert!((0..3 * CHECK_EVERY).all(|_| meter.row().is_ok()));
        assert_eq!(PAUSES.get(), 3);
    }

    #[test]
    fn a_query_ends_when_what_its_token_watches_says_so() {
        let flag = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&flag);
        let token = CancelToken::watching(move || watched.load(Ordering::Relaxed));
        let meter = Meter::new(MeterLimits::NONE, token);
        assert!(meter.check().is_ok());
        flag.store(true, Ordering::Relaxed);
        assert!(matches!(meter.check(), Err(ViewError::Cancelled)));
    }

    #[test]
    fn memory_that_was_released_may_be_held_again() {
        let limits = MeterLimits {
            bytes_max: 10,
            ..MeterLimits::NONE
        };
        let meter = Meter::new(limits, CancelToken::default());
        assert!(meter.hold(10).is_ok());
        meter.release(5);
        assert!(meter.hold(5).is_ok());
        assert!(matches!(meter.hold(1), Err(ViewError::Memory { max: 10 })));
    }

    thread_local! {
        static ALLOCATED: Cell<i64> = const { Cell::new(1_000) };
    }

    #[test]
    fn a_query_holds_what_its_thread_allocates_until_it_has_ended() {
        let limits = MeterLimits {
            bytes_max: 100,
            ..MeterLimits::NONE
        };
        let allocate = |bytes: i64| ALLOCATED.set(ALLOCATED.get() + bytes);
        let meter = || Meter::new(limits, CancelToken::default()).measuring(|| ALLOCATED.get());
        let measured = meter();
        allocate(90);
        assert!((0..MEASURE_EVERY).all(|_| measured.row().is_ok()));
        assert_eq!(measured.bytes(), 90);
        allocate(20);
        let ended = (0..MEASURE_EVERY).find_map(|_| measured.row().err());
        assert!(matches!(ended, Some(ViewError::Memory { max: 100 })));
        // Bytes that were counted beforehand and then allocated must not count twice.
        let mut counted = meter();
        counted.hold(60).expect("room");
        allocate(60);
        counted.check().expect("room");
        assert_eq!(counted.bytes(), 60);
        // Bytes that a commit leaves behind are not charged to the query.
        counted.apart(|| allocate(1_000));
        allocate(-20);
        counted.check().expect("room");
        counted.settle();
        allocate(500);
        assert_eq!(counted.bytes(), 40, "what the results take");
        counted.check().expect("no longer measured");
    }

    #[test]
    fn many_small_values_are_measured_as_they_are_made() {
        thread_local! {
            static MADE: Cell<i64> = const { Cell::new(0) };
        }
        let limits = MeterLimits {
            bytes_max: 1 << 20,
            ..MeterLimits::NONE
        };
        let meter = Meter::new(limits, CancelToken::default()).measuring(|| MADE.get());
        let ended = (0..2_048).find_map(|_| {
            let refused = meter.room(1_024).err();
            MADE.set(MADE.get() + 1_024);
            refused
        });
        assert!(matches!(ended, Some(ViewError::Memory { .. })));
        assert!(MADE.get() <= (1 << 20) + 64 * 1_024, "{}", MADE.get());
        assert!(Meter::unlimited().room(usize::MAX).is_err());
    }

    #[derive(Debug)]
    struct Budget(std::sync::Arc<std::sync::Mutex<Vec<u64>>>);

    impl SharedBytes for Budget {
        fn resize(&self, bytes: u64) -> Result<(), ViewError> {
            if bytes > 40 * RESERVE_STEP {
                return Err(ViewError::Cancelled);
            }
            self.0.lock().expect("one thread").push(bytes);
            Ok(())
        }
    }

    #[test]
    fn what_is_held_is_taken_from_a_shared_budget_in_steps_and_given_back() {
        let taken = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let meter = Meter::unlimited().sharing(Box::new(Budget(std::sync::Arc::clone(&taken))));
        let step = RESERVE_STEP as usize;
        for _ in 0..10 {
            meter.hold(step / 8).expect("room");
        }
        meter.hold(34 * step).expect("room");
        assert!(meter.hold(5 * step).is_err(), "the budget is shared");
        meter.release(40 * step);
        let taken = taken.lock().expect("one thread").clone();
        assert_eq!(
            taken[..3],
            [RESERVE_STEP, 2 * RESERVE_STEP, 36 * RESERVE_STEP]
        );
        assert!(taken[3] <= RESERVE_STEP, "{taken:?}");
    }
}
