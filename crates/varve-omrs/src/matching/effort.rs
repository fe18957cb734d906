//! The cost limit of one request's regular expressions, and the cost so far.
//!
//! The time of a comparison grows with the length of the text and of the expression, and nothing
//! can interrupt it. So the number of expressions of a request is limited, the steps of each
//! comparison are counted, the clock is checked after a number of steps, and a single comparison
//! that could take long is refused before it begins.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Message, OmrsError};

/// The most general expressions of a request. An expression that only quotes a text does not count.
const EXPRESSIONS_MAX: usize = 100;
/// The most bytes of all compiled expressions of a request together.
const COMPILED_BYTES_MAX: usize = 4 << 20;
/// The most steps of one comparison. A step takes some nanoseconds in the worst case, so this is
/// some seconds. It is enough for texts of 4 MiB, the longest by default, with compiled expressions
/// of 16 KiB, larger than most that people write. The largest expressions allow texts of 128 KiB.
const COMPARISON_MAX: u64 = 1 << 31;
/// The number of steps between two checks of the clock: some ten milliseconds in the worst case.
const CLOCK_EVERY: u64 = 1 << 23;

/// [`Effort::end`] while comparisons are allowed.
const GOES_ON: u8 = 0;
/// [`Effort::end`] when the time is over.
const TIME_UP: u8 = 1;
/// [`Effort::end`] when a comparison was refused.
const REFUSED: u8 = 2;

/// The budget of one request's regular expressions.
pub struct Effort {
    began: Instant,
    time_max: Duration,
    expressions: AtomicUsize,
    compiled_bytes: AtomicUsize,
    /// Steps since the last check of the clock.
    steps: AtomicU64,
    /// Whether, and why, no more comparisons are allowed.
    end: AtomicU8,
}

impl Effort {
    /// The budget of a request that begins now and may take this long.
    #[must_use]
    pub fn new(time_max: Duration) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            time_max,
            expressions: AtomicUsize::new(0),
            compiled_bytes: AtomicUsize::new(0),
            steps: AtomicU64::new(0),
            end: AtomicU8::new(GOES_ON),
        })
    }

    /// The start of the request.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Checks that there is time to parse one more expression.
    ///
    /// # Errors
    /// As [`Effort::check`].
    pub(super) fn check_time(&self) -> Result<(), OmrsError> {
        self.look();
        self.check()
    }

    /// Counts one more general expression and its compiled bytes. `parameter` names the parameter
    /// that has it.
    ///
    /// # Errors
    /// `InvalidParameterException` when there are too many expressions, or too many bytes in all.
    pub(super) fn add(&self, bytes: usize, parameter: &str) -> Result<(), OmrsError> {
        let count = self.expressions.fetch_add(1, Ordering::Relaxed) + 1;
        within(count, EXPRESSIONS_MAX, "expressions", parameter)?;
        let all = self.compiled_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        within(all, COMPILED_BYTES_MAX, "bytes when compiled", parameter)
    }

    /// Counts a comparison of at most so many steps. Returns false if it must not begin.
    pub(super) fn allows(&self, steps: u64) -> bool {
        if self.is_over() {
            return false;
        }
        if steps > COMPARISON_MAX {
            self.end.store(REFUSED, Ordering::Relaxed);
            return false;
        }
        let since = self.steps.load(Ordering::Relaxed) + steps;
        self.steps.store(since, Ordering::Relaxed);
        if since >= CLOCK_EVERY {
            self.look();
        }
        !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed) != GOES_ON
    }

    /// Checks the clock.
    fn look(&self) {
        self.steps.store(0, Ordering::Relaxed);
        if self.began.elapsed() > self.time_max {
            self.end.store(TIME_UP, Ordering::Relaxed);
        }
    }

    /// Checks that no comparison was refused.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the time was over, or when one comparison could have taken
    /// too long.
    pub(crate) fn check(&self) -> Result<(), OmrsError> {
        match self.end.load(Ordering::Relaxed) {
            GOES_ON => Ok(()),
            REFUSED => {
                let most = COMPARISON_MAX.to_string();
                Err(OmrsError::new(Message::ComparisonTooLong, &[&most]))
            }
            _ => Err(OmrsError::took_too_long(self.time_max)),
        }
    }
}

/// The same text for every request, since cached queries are identified by their debug format.
impl fmt::Debug for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Effort")
    }
}

fn within(count: usize, most: usize, what: &str, parameter: &str) -> Result<(), OmrsError> {
    if count <= most {
        return Ok(());
    }
    let words = [parameter, &most.to_string(), what];
    Err(OmrsError::of_parameter(
        Message::TooManyPatterns,
        parameter,
        &words,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn the_clock_is_looked_at_by_what_comparisons_cost() {
        let effort = Effort::new(Duration::ZERO);
        assert!(effort.allows(CLOCK_EVERY - 1));
        assert!(effort.check().is_ok());
        assert!(!effort.allows(1));
        let refused = effort.check().unwrap_err();
        assert_eq!(refused.message, Message::TookTooLong);
        assert!(!effort.allows(0));
    }

    #[test]
    fn a_comparison_that_could_take_long_is_not_begun() {
        let effort = Effort::new(LONG);
        assert!(effort.allows(COMPARISON_MAX));
        assert!(effort.check().is_ok());
        assert!(!effort.allows(COMPARISON_MAX + 1));
        let refused = effort.check().unwrap_err();
        assert_eq!(refused.message, Message::ComparisonTooLong);
        assert!(!effort.allows(0));
    }

    #[test]
    fn expressions_are_counted_and_so_are_their_bytes() {
        let effort = Effort::new(LONG);
        for _ in 0..EXPRESSIONS_MAX {
            effort.add(1, "p").unwrap();
        }
        let refused = effort.add(1, "p").unwrap_err();
        assert_eq!(refused.message, Message::TooManyPatterns);
        let effort = Effort::new(LONG);
        effort.add(COMPILED_BYTES_MAX, "p").unwrap();
        assert!(effort.add(1, "p").is_err());
    }

    #[test]
    fn nothing_is_read_when_the_time_is_up() {
        let effort = Effort::new(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(1));
        let refused = effort.check_time().unwrap_err();
        assert_eq!(refused.message, Message::TookTooLong);
    }
}
