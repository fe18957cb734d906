//! The clock of a statement.

use std::time::{SystemTime, UNIX_EPOCH};

use super::LocalDateTime;

/// The instants that `date()`, `datetime.transaction()` and the like return, as UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// When the transaction began.
    pub transaction: LocalDateTime,
    /// When the statement began.
    pub statement: LocalDateTime,
}

impl Clock {
    /// A statement that is a transaction of its own and begins now.
    #[must_use]
    pub fn now() -> Clock {
        let now = Clock::realtime();
        Clock {
            transaction: now,
            statement: now,
        }
    }

    /// The system's clock, as UTC.
    #[must_use]
    pub fn realtime() -> LocalDateTime {
        let (seconds, nanos) = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => (since.as_secs(), since.subsec_nanos()),
            Err(_) => (0, 0),
        };
        LocalDateTime {
            seconds: i64::try_from(seconds).unwrap_or(0),
            nanos,
        }
    }
}
