//! A prepared commit: a batch whose rows lack their commit version, and what is done after it is
//! assigned.

use varve_encoding::change;
use varve_encoding::key::EVENT_SUFFIX;
use varve_encoding::row::VERSION_AT;
use varve_kv::{Batch, fail_point};
use varve_model::{CommitVersion, Instant};

use super::known::{Additions, Known};
use super::latch::LatchSet;
use super::several;
use super::ticket::{CommitFailure, Completer};
use crate::error::ErrorKind;

/// The positions in a batch at which the commit's version is filled in after it is assigned.
///
/// A commit with several events of one element has several consecutive versions. The `number` of an
/// event is the offset of its version from the first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stamps {
    /// Positions of rows; the version is at [`VERSION_AT`] within the row.
    rows: Vec<usize>,
    /// Positions right after clustering keys of events; the inverted version ends there.
    keys: Vec<usize>,
    /// Events with a later version than the first: number and position.
    later_rows: Vec<(u8, usize)>,
    later_keys: Vec<(u8, usize)>,
    /// The position right after the keys of [`several`]'s record.
    record: Option<usize>,
    /// Positions right after the keys of rows of the table `change`, which lack the partition and
    /// the last version.
    changes: Vec<usize>,
}

impl Stamps {
    /// Adds the row at `position` (as [`Batch::put`] returned it), which lacks the version of that
    /// number.
    pub(crate) fn row(&mut self, position: usize, number: u8) {
        match number {
            0 => self.rows.push(position),
            _ => self.later_rows.push((number, position)),
        }
    }

    /// Adds the event at `position`, whose row and clustering key lack the version of that number.
    pub(crate) fn event(&mut self, position: usize, number: u8) {
        self.row(position, number);
        match number {
            0 => self.keys.push(position),
            _ => self.later_keys.push((number, position)),
        }
    }

    /// Adds the clustering key that ends at `position`, which lacks its inverted version.
    pub(crate) fn key(&mut self, position: usize) {
        self.keys.push(position);
    }

    /// Adds the keys of [`several`]'s record, which end at `position` and lack the day and the
    /// inverted version.
    pub(crate) fn record(&mut self, position: usize) {
        self.record = Some(position);
    }

    /// Adds the row of the table `change` whose keys end at `position` and lack their partition and
    /// version.
    pub(crate) fn change(&mut self, position: usize) {
        self.changes.push(position);
    }

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

pub(crate) struct Commit {
    /// [`Graph::now`](crate::Graph::now) when the commit was prepared. The version is not earlier,
    /// even if the clock was turned back since.
    pub(crate) now: Instant,
    /// The first version must be before this instant.
    pub(crate) end: Option<End>,
    pub(crate) batch: Batch,
    pub(crate) stamps: Stamps,
    pub(crate) latches: LatchSet,
    pub(crate) completer: Completer,
    /// Whether the thread that submits the commit may block for the disk: it serves no other
    /// client.
    pub(crate) may_wait: bool,
    /// Added to the caches after publication, before the latches are released.
    pub(crate) additions: Additions,
}

impl Commit {
    /// The last version of the commit whose first is `first`: a read as of it sees the whole
    /// commit.
    pub(super) fn last_version(&self, first: CommitVersion) -> CommitVersion {
        first.plus(self.stamps.versions() - 1)
    }

    /// Releases the latches and completes the ticket with `version`, the last one, or with the
    /// failure.
    pub(super) fn complete(
        self,
        known: &Known,
        version: CommitVersion,
        failure: Option<CommitFailure>,
    ) {
        if failure.is_none() {
            known.add(self.additions);
        }
        drop(self.latches);
        fail_point::COMMIT_RELEASED.pass();
        self.completer.complete(failure.map_or(Ok(version), Err));
    }
}

/// The earliest end of the periods that start with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) at: Instant,
    pub(crate) of: EndOf,
}

impl End {
    /// Returns the earlier of two ends.
    pub(crate) fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|end| end.at)
    }
}

/// The cause of the end of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOf {
    /// The request's `valid_to`.
    ValidTo,
    /// The label's time to live.
    TimeToLive,
    /// The end of the first state that a sequenced update changes.
    State,
}

impl EndOf {
    /// The failure when this end has passed: the period would be empty.
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
                "Another state began while the write waited to be stored; nothing was changed",
            ),
        };
        let message = message.into();
        CommitFailure { kind, message }
    }
}
