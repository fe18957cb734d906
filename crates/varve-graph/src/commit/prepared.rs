//! A prepared commit: a batch whose rows still miss their commit version, and all that is done once
//! they have it.

use varve_encoding::change;
use varve_encoding::key::EVENT_SUFFIX;
use varve_encoding::row::VERSION_AT;
use varve_kv::{Batch, fail_point};
use varve_model::{CommitVersion, Instant};

use super::latch::LatchSet;
use super::several;
use super::ticket::{CommitFailure, Completer};
use crate::error::ErrorKind;

/// Places in a batch that take the commit's version once it is known.
///
/// A commit that gives an element several events has several versions, one after another: an event
/// takes that of its `number`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stamps {
    /// Positions of rows: the version goes to [`VERSION_AT`] within.
    rows: Vec<usize>,
    /// Positions right after event clustering keys: the inverted version goes before.
    keys: Vec<usize>,
    /// The events that take a later version than the first: number, and position.
    later_rows: Vec<(u8, usize)>,
    later_keys: Vec<(u8, usize)>,
    /// The position right after the keys of the record of a commit with several versions.
    record: Option<usize>,
    /// Positions right after the keys of rows of the table `change`, which miss the partition and
    /// the last version.
    changes: Vec<usize>,
}

impl Stamps {
    /// The row at `position` (as [`Batch::put`] returned it) misses the version of that number.
    pub(crate) fn row(&mut self, position: usize, number: u8) {
        match number {
            0 => self.rows.push(position),
            _ => self.later_rows.push((number, position)),
        }
    }

    /// The event at `position` misses the version of that number in the row and in the clustering
    /// key.
    pub(crate) fn event(&mut self, position: usize, number: u8) {
        self.row(position, number);
        match number {
            0 => self.keys.push(position),
            _ => self.later_keys.push((number, position)),
        }
    }

    /// The clustering key that ends at `position` misses its inverted version.
    pub(crate) fn key(&mut self, position: usize) {
        self.keys.push(position);
    }

    /// The keys that end at `position` are those of [`several`]'s record, and miss the day and the
    /// inverted version.
    pub(crate) fn record(&mut self, position: usize) {
        self.record = Some(position);
    }

    /// The row of the table `change` whose keys end at `position` misses its partition and its
    /// version.
    pub(crate) fn change(&mut self, position: usize) {
        self.changes.push(position);
    }

    /// How many versions the commit has.
    pub(crate) fn versions(&self) -> usize {
        let numbers = self.later_rows.iter().map(|(number, _)| *number);
        usize::from(numbers.max().unwrap_or(0)) + 1
    }

    pub(super) fn apply(&self, batch: &mut Batch, version: CommitVersion) {
        let bytes = batch.bytes_mut();
        let mut put_row = |at: usize, version: CommitVersion| {
            let at = at + VERSION_AT;
            bytes[at..at + 8].copy_from_slice(&version.0.to_be_bytes());
        };
        self.rows.iter().for_each(|at| put_row(*at, version));
        for (number, at) in &self.later_rows {
            put_row(*at, version.plus(usize::from(*number)));
        }
        let mut put_key = |at: usize, version: CommitVersion| {
            bytes[at - EVENT_SUFFIX..at].copy_from_slice(&(!version.0).to_be_bytes());
        };
        self.keys.iter().for_each(|at| put_key(*at, version));
        for (number, at) in &self.later_keys {
            put_key(*at, version.plus(usize::from(*number)));
        }
        let last = version.plus(self.versions() - 1);
        if let Some(at) = self.record {
            put_key(at, last);
            let day = at - EVENT_SUFFIX - several::DAY_BYTES;
            bytes[day..at - EVENT_SUFFIX].copy_from_slice(&several::day(last));
        }
        for at in &self.changes {
            let piece = at - change::PIECE_BYTES;
            let version = piece - change::VERSION_BYTES;
            bytes[version..piece].copy_from_slice(&last.0.to_be_bytes());
            let partition = version - change::PARTITION_BYTES;
            bytes[partition..version].copy_from_slice(&change::partition(last));
        }
    }
}

/// A prepared commit.
pub(crate) struct Commit {
    /// What counted as now when it was prepared: its version is not before, even if the clock has
    /// gone back since.
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
    /// Its last version, if `first` is its first: as of that all of it is visible.
    pub(super) fn last_version(&self, first: CommitVersion) -> CommitVersion {
        first.plus(self.stamps.versions() - 1)
    }

    /// Releases its latches and notifies its caller that it is stored up to `version`, or why not.
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
    /// The first of the states that a sequenced update changes.
    State,
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
            Self::State => (
                ErrorKind::Busy,
                "Another state began while the write waited to be stored; nothing is changed",
            ),
        };
        let message = message.into();
        CommitFailure { kind, message }
    }
}
