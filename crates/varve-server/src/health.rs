//! Server errors seen from outside: each is logged or counted in a log line, and `/health` names
//! its kind.
//!
//! A kind of error degrades the server for [`RECENT`] after its last error; a store that takes no
//! writes does so until a write succeeds. A kind is logged at most once in [`LOG_INTERVAL`]: under
//! overload there are thousands a second.

use std::time::{Duration, Instant};

use http::{StatusCode, Uri};
use parking_lot::Mutex;

use crate::errors::ApiError;

/// How long an error degrades the server.
const RECENT: Duration = Duration::from_secs(60);

/// Errors of a kind are logged at most this often; a line has the number of those that were not.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// A kind of server error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The store refuses writes: 507.
    Unwritable,
    /// Requests failed: 500.
    Failed,
    /// Writes whose outcome is unknown: 503.
    OutcomeUnknown,
    /// Requests were turned away or not done in time: 503.
    Busy,
}

impl Trouble {
    /// All kinds, in the order of the variants.
    pub(crate) const ALL: [Self; 4] = [
        Self::Unwritable,
        Self::Failed,
        Self::OutcomeUnknown,
        Self::Busy,
    ];

    /// The kind of an error; `None` for those that a client has caused.
    pub(crate) fn of(error: &ApiError) -> Option<Self> {
        if error.is_by_design() || !error.status().is_server_error() {
            return None;
        }
        Some(match error.status() {
            StatusCode::INSUFFICIENT_STORAGE => Self::Unwritable,
            _ if error.is_outcome_unknown() => Self::OutcomeUnknown,
            StatusCode::SERVICE_UNAVAILABLE => Self::Busy,
            _ => Self::Failed,
        })
    }

    /// Its stable name, in `/health` and in metrics.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Unwritable => "unwritable",
            Self::Failed => "failed",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::Busy => "busy",
        }
    }

    /// The description of the kind. An error's own message may name files, so it is left out.
    const fn words(self) -> &'static str {
        match self {
            Self::Unwritable => {
                "the store refuses writes (507): the disk is full or cannot be written; reads continue"
            }
            Self::Failed => "requests failed (500): see the server's log",
            Self::OutcomeUnknown => {
                "writes did not end in time, it is unknown whether they are stored (503)"
            }
            Self::Busy => "requests were turned away or not done in time (503)",
        }
    }
}

/// Why the server is degraded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    /// A stable name.
    pub(crate) code: &'static str,
    /// The message for people.
    pub(crate) message: String,
}

/// The last errors of each kind.
#[derive(Debug, Default)]
pub(crate) struct Health([Mutex<Seen>; Trouble::ALL.len()]);

#[derive(Debug, Default)]
struct Seen {
    /// When the last error was.
    last: Option<Instant>,
    /// Writes that had succeeded then.
    writes: u64,
    /// When an error was logged last.
    logged: Option<Instant>,
    /// Errors since then, which are not logged.
    unlogged: u64,
}

impl Seen {
    /// Records an error. If the error must be logged, returns the number of unlogged errors before
    /// it.
    fn note(&mut self, now: Instant, writes: u64) -> Option<u64> {
        self.last = Some(now);
        self.writes = writes;
        let waits = |logged: Instant| now.duration_since(logged) < LOG_INTERVAL;
        if self.logged.is_some_and(waits) {
            self.unlogged += 1;
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.unlogged))
    }
}

impl Health {
    /// Records and logs the error of a request; `writes` returns how many writes have succeeded so
    /// far.
    pub(crate) fn note(&self, error: &ApiError, uri: &Uri, writes: impl FnOnce() -> u64) {
        if let Some(trouble) = Trouble::of(error) {
            self.note_as(trouble, uri, error.message(), writes);
        }
    }

    /// The same for an error in another form.
    pub(crate) fn note_as(
        &self,
        trouble: Trouble,
        uri: &Uri,
        message: &str,
        writes: impl FnOnce() -> u64,
    ) {
        let writes = match trouble {
            Trouble::Unwritable => writes(),
            _ => 0,
        };
        let noted = self.0[trouble as usize].lock().note(Instant::now(), writes);
        let Some(unlogged) = noted else { return };
        let kind = trouble.code();
        match trouble {
            Trouble::Failed => {
                tracing::error!(%uri, reason = message, unlogged, kind, "request failed")
            }
            _ => tracing::warn!(%uri, reason = message, unlogged, kind, "request failed"),
        }
    }

    /// Whether a kind of error degrades the server now; `writes` is how many writes have succeeded
    /// so far.
    pub(crate) fn has(&self, trouble: Trouble, writes: u64) -> bool {
        let seen = self.0[trouble as usize].lock();
        let is_recent = seen.last.is_some_and(|last| last.elapsed() < RECENT);
        let waits = trouble == Trouble::Unwritable && seen.last.is_some() && writes == seen.writes;
        is_recent || waits
    }

    /// Why the server is degraded; nothing if it is not.
    pub(crate) fn reasons(&self, writes: u64) -> Vec<Reason> {
        let present = Trouble::ALL.into_iter();
        let present = present.filter(|trouble| self.has(*trouble, writes));
        present
            .map(|trouble| Reason {
                code: trouble.code(),
                message: trouble.words().to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_logged_once_in_its_interval_and_the_rest_is_counted() {
        let mut seen = Seen::default();
        let start = Instant::now();
        assert_eq!(seen.note(start, 0), Some(0));
        assert_eq!(seen.note(start, 0), None);
        assert_eq!(seen.note(start + LOG_INTERVAL / 2, 0), None);
        assert_eq!(seen.note(start + LOG_INTERVAL, 0), Some(2));
        assert_eq!(seen.note(start + 3 * LOG_INTERVAL, 0), Some(0));
    }

    #[test]
    fn a_store_that_takes_no_writes_stays_a_reason_until_one_succeeds() {
        let health = Health::default();
        let long_ago = Instant::now().checked_sub(2 * RECENT);
        for trouble in [Trouble::Unwritable, Trouble::Busy] {
            let mut seen = health.0[trouble as usize].lock();
            seen.note(long_ago.expect("the machine runs for minutes"), 7);
        }
        assert!(health.has(Trouble::Unwritable, 7));
        assert!(!health.has(Trouble::Unwritable, 8));
        assert!(!health.has(Trouble::Busy, 0));
        assert_eq!(health.reasons(7)[0].code, "unwritable");
        assert!(health.reasons(8).is_empty());
    }

    #[test]
    fn what_a_client_causes_is_no_trouble() {
        let uri = Uri::from_static("/");
        let health = Health::default();
        let refused = ApiError::illegal_argument("no");
        let by_design = ApiError::internal("unconfigured").by_design();
        for error in [&refused, &by_design] {
            health.note(error, &uri, || 0);
            assert_eq!(Trouble::of(error), None);
        }
        assert!(health.reasons(0).is_empty());
        for (error, trouble) in [
            (ApiError::insufficient_storage("full"), Trouble::Unwritable),
            (ApiError::storage("damaged"), Trouble::Failed),
            (ApiError::outcome_unknown(), Trouble::OutcomeUnknown),
            (ApiError::unavailable("busy", 1), Trouble::Busy),
        ] {
            assert_eq!(Trouble::of(&error), Some(trouble));
            health.note(&error, &uri, || 0);
            assert!(health.has(trouble, 0), "{trouble:?}");
        }
    }
}
