//! Which changes a graph keeps.
//!
//! A note stores the version at which the list began, the version after which it is complete, and
//! whether older rows may remain.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use varve_model::schema::Retention;
use varve_model::{CommitVersion, Instant};

use crate::error::GraphError;
use crate::notes::Notes;

/// The name of the note.
pub(crate) const NOTE: &str = "changes";
/// Whether changes are kept, and the number of the restored copy that the store is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping {
    /// `None`: changes are listed if they were before, and none are deleted.
    pub(crate) retention: Option<Retention>,
    /// See [`crate::GraphOptions::restored`].
    pub(crate) restored: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    /// The version at which the list began; [`CommitVersion::MAX`]: no changes are kept.
    since: CommitVersion,
    /// The list is complete after this version.
    oldest: CommitVersion,
    /// The number of the restored copy when the list began.
    restored: u64,
    /// Whether rows up to `oldest` may remain.
    has_rest: bool,
}

impl Note {
    const BYTES: usize = 25;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (since, rest) = bytes.split_first_chunk::<8>()?;
        let (oldest, rest) = rest.split_first_chunk::<8>()?;
        // An old note ends here; rows may remain in such a store.
        let restored = rest.first_chunk::<8>();
        Some(Self {
            since: CommitVersion(u64::from_be_bytes(*since)),
            oldest: CommitVersion(u64::from_be_bytes(*oldest)),
            restored: restored.map_or(0, |bytes| u64::from_be_bytes(*bytes)),
            has_rest: rest.get(8).is_none_or(|flag| *flag != 0),
        })
    }

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.since.0.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.oldest.0.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.restored.to_be_bytes());
        bytes[24] = u8::from(self.has_rest);
        bytes
    }

    const fn is_of_none(&self) -> bool {
        self.since.0 == CommitVersion::MAX.0
    }
}

/// The range of changes that the leader of a graph has noted.
///
/// # Errors
/// When the store fails.
pub(super) fn stored_range(
    notes: &Notes,
) -> Result<Option<(CommitVersion, CommitVersion)>, GraphError> {
    let stored = notes.get(NOTE)?.as_deref().and_then(Note::read);
    let kept = stored.filter(|note| !note.is_of_none());
    Ok(kept.map(|note| (note.since, note.oldest)))
}

/// The range of changes that a graph keeps.
#[derive(Debug)]
pub(crate) struct KeptChanges {
    retention: Retention,
    since: CommitVersion,
    oldest: AtomicU64,
    restored: u64,
    has_rest: AtomicBool,
}

impl KeptChanges {
    /// No changes are kept.
    pub(crate) fn off() -> Self {
        Self {
            retention: Retention::None,
            since: CommitVersion::MAX,
            oldest: AtomicU64::new(CommitVersion::MAX.0),
            restored: 0,
            has_rest: AtomicBool::new(false),
        }
    }

    /// Reads and updates the note of a graph that is opened at `now` with the newest version
    /// `newest`. If changes were not kept, or the store was restored from a backup, the list starts
    /// anew, since commits may be missing from the old one.
    pub(crate) fn open(
        notes: &Notes,
        keeping: Keeping,
        (newest, now): (CommitVersion, Instant),
    ) -> Result<Self, GraphError> {
        let stored = notes.get(NOTE)?.as_deref().and_then(Note::read);
        let was_on = stored.filter(|note| !note.is_of_none());
        let as_before = match was_on {
            Some(_) => Retention::All,
            None => Retention::None,
        };
        let retention = keeping.retention.unwrap_or(as_before);
        let is_same = |note: &Note| note.restored == keeping.restored;
        let note = match was_on.filter(is_same) {
            Some(note) if retention != Retention::None => note,
            _ => {
                // The last version before any that a commit can get from now on.
                let before = CommitVersion(CommitVersion::first_at(now).0.saturating_sub(1));
                let since = match retention {
                    Retention::None => CommitVersion::MAX,
                    _ => newest.max(before),
                };
                Note {
                    since,
                    oldest: since,
                    restored: keeping.restored,
                    has_rest: stored.is_some_and(|note| note.has_rest || !note.is_of_none()),
                }
            }
        };
        let is_needed = !note.is_of_none() || note.has_rest;
        if is_needed && stored != Some(note) {
            notes.put(NOTE, &note.to_bytes())?;
        }
        Ok(Self {
            retention,
            since: note.since,
            oldest: AtomicU64::new(note.oldest.0),
            restored: note.restored,
            has_rest: AtomicBool::new(note.has_rest),
        })
    }

    /// Whether commits list what they touch.
    pub(crate) fn is_on(&self) -> bool {
        self.retention != Retention::None
    }

    /// The version at which the list began, and the version after which it is complete.
    pub(crate) fn range(&self) -> Option<(CommitVersion, CommitVersion)> {
        self.is_on().then(|| (self.since, self.oldest()))
    }

    pub(super) fn oldest(&self) -> CommitVersion {
        CommitVersion(self.oldest.load(Ordering::Acquire))
    }

    pub(super) fn has_rest(&self) -> bool {
        self.has_rest.load(Ordering::Acquire)
    }

    /// Stores the version after which the list is complete, and whether older rows may remain.
    pub(crate) fn put(
        &self,
        notes: &Notes,
        oldest: CommitVersion,
        has_rest: bool,
    ) -> Result<(), GraphError> {
        let note = Note {
            since: self.since,
            oldest,
            restored: self.restored,
            has_rest,
        };
        match note.is_of_none() && !has_rest {
            true => notes.put(NOTE, &[])?,
            false => notes.put(NOTE, &note.to_bytes())?,
        }
        self.oldest.store(oldest.0, Ordering::Release);
        self.has_rest.store(has_rest, Ordering::Release);
        Ok(())
    }

    /// The version up to which changes are past retention at `now`.
    pub(super) fn horizon(&self, now: Instant) -> CommitVersion {
        match self.retention {
            Retention::For(micros) => {
                CommitVersion::first_at(Instant(now.0.saturating_sub(micros)))
            }
            Retention::All | Retention::None => CommitVersion::ZERO,
        }
    }
}
