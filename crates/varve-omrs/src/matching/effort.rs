//! What the regular expressions of one request may cost, and have cost so far.
//!
//! A text is compared with an expression in a time that grows with the length of both, and nothing
//! can interrupt that. So a request may have no more than so many expressions; what they cost is
//! counted with each text, the clock is looked at accordingly, and a single comparison that could
//! take long is refused before it begins.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Message, OmrsError};

/// The most general expressions of a request. What quotes one text is none.
const EXPRESSIONS_MAX: usize = 100;
/// The most bytes of them when compiled, all together.
const COMPILED_BYTES_MAX: usize = 4 << 20;
/// The most steps that one comparison may take, of some nanoseconds each in the worst case: some
/// seconds. Enough for texts of 4 MiB, the longest by default, with
/// expressions of 16 KiB, more than most that people write; for the largest expressions it allows
/// texts of 128 KiB.
const COMPARISON_MAX: u64 = 1 << 31;
/// After how many steps the clock is looked at: some ten milliseconds in the worst case.
const CLOCK_EVERY: u64 = 1 << 23;

/// [`Effort::end`] while comparisons are made.
const GOES_ON: u8 = 0;
/// [`Effort::end`] when the time is up.
const TIME_UP: u8 = 1;
/// [`Effort::end`] when a comparison was refused.
const REFUSED: u8 = 2;

/// The regular expressions of one request, while it is answered.
pub struct Effort {
    began: Instant,
    time_max: Duration,
    expressions: AtomicUsize,
    compiled_bytes: AtomicUsize,
    /// Steps since the clock was looked at.
    steps: AtomicU64,
    /// Why no more comparisons are made.
    end: AtomicU8,
}

impl Effort {
    /// That of a request which begins now and may take so long.
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

    /// When the request began.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// That there is time to read one more expression.
    ///
    /// # Errors
    /// As [`Effort::check`].
    pub(super) fn check_time(&self) -> Result<(), OmrsError> {
        self.look();
        self.check()
    }

    /// Counts one more general expression, which `parameter` gives, and the bytes that it has when
    /// compiled.
    ///
    /// # Errors
    /// `InvalidParameterException` when it is one too many, or all together have too many bytes.
    pub(super) fn add(&self, bytes: usize, parameter: &str) -> Result<(), OmrsError> {
        let count = self.expressions.fetch_add(1, Ordering::Relaxed) + 1;
        within(count, EXPRESSIONS_MAX, "expressions", parameter)?;
        let all = self.compiled_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        within(all, COMPILED_BYTES_MAX, "bytes when compiled", parameter)
    }

    /// Counts a comparison that takes so many steps at most. False when it is not to be begun.
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

    /// Looks at the clock.
    fn look(&self) {
        self.steps.store(0, Ordering::Relaxed);
        if self.began.elapsed() > self.time_max {
            self.end.store(TIME_UP, Ordering::Relaxed);
        }
    }

    /// That every comparison was made which was asked for.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the time was up for one, or it could have taken too long by
    /// itself.
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

/// The same for every request: queries are distinguished by how they are written.
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
