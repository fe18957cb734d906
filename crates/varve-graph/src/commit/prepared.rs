//! A prepared commit: a batch whose rows still miss their commit version, and all that is done once they have it.

use varve_encoding::key::EVENT_SUFFIX;
use varve_encoding::row::VERSION_AT;
use varve_kv::{Batch, fail_point};
use varve_model::{CommitVersion, Instant};

use super::latch::LatchSet;
use super::ticket::{CommitFailure, Completer};
use crate::error::ErrorKind;

/// Places in a batch that take the commit's version once it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stamps {
    /// Positions of rows: the version goes to [`VERSION_AT`] within.
    rows: Vec<usize>,
    /// Positions right after event clustering keys: the inverted version goes before.
    keys: Vec<usize>,
}

impl Stamps {
    /// The row at `position` (as [`Batch::put`] returned it) misses its version.
    pub(crate) fn row(&mut self, position: usize) {
        self.rows.push(position);
    }

    /// The event at `position` misses its version in the row and in the clustering key.
    pub(crate) fn event(&mut self, position: usize) {
        self.rows.push(position);
        self.keys.push(position);
    }

    /// The clustering key that ends at `position` misses its inverted version.
    pub(crate) fn key(&mut self, position: usize) {
        self.keys.push(position);
    }

    pub(super) fn apply(&self, batch: &mut Batch, version: CommitVersion) {
        let bytes = batch.bytes_mut();
        for at in &self.rows {
            let at = at + VERSION_AT;
            bytes[at..at + 8].copy_from_slice(&version.0.to_be_bytes());
        }
        for at in &self.keys {
            bytes[at - EVENT_SUFFIX..*at].copy_from_slice(&(!version.0).to_be_bytes());
        }
    }
}

/// A prepared commit.
pub(crate) struct Commit {
    /// What counted as now when it was prepared: its version is not before, even if the clock has gone back since.
    pub(crate) now: Instant,
    /// Its version must be before this instant.
    pub(crate) end: Option<End>,
    pub(crate) batch: Batch,
    pub(crate) stamps: Stamps,
    pub(crate) latches: LatchSet,
    pub(crate) completer: Completer,
    /// Whether the thread that submits it may wait for the disk: it serves nobody else.
    pub(crate) may_wait: bool,
    /// Called after publication, before the latches are released.
    pub(crate) published: Option<Box<dyn FnOnce(CommitVersion) + Send>>,
}

impl Commit {
    /// Releases its latches and tells its caller that it is stored, or why not.
    pub(super) fn complete(self, version: CommitVersion, failure: Option<CommitFailure>) {
        if let (None, Some(published)) = (&failure, self.published) {
            published(version);
        }
        drop(self.latches);
        fail_point::COMMIT_RELEASED.pass();
        self.completer.complete(failure.map_or(Ok(version), Err));
    }
}

/// The first end of a period that starts with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) at: Instant,
    pub(crate) of: EndOf,
}

impl End {
    /// The earlier one.
    pub(crate) fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|end| end.at)
    }
}

/// What ends a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOf {
    /// The request's `valid_to`.
    ValidTo,
    /// The label's time to live.
    TimeToLive,
}

impl EndOf {
    /// What to tell when it has passed: nothing would be left of the period.
    pub(super) fn passed(self) -> CommitFailure {
        let (kind, message) = match self {
            Self::ValidTo => (
                ErrorKind::InvalidArgument,
                "The valid_to has passed while the write waited to be stored",
            ),
            Self::TimeToLive => (
                ErrorKind::Busy,
                "The time to live has passed while the write waited to be stored",
            ),
        };
        let message = message.into();
        CommitFailure { kind, message }
    }
}
