//! The progress of commits, for concurrent readers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use varve_model::CommitVersion;

use super::Shared;
use crate::commit::Followed;
use crate::deadline;
use crate::error::ErrorKind;

/// The result of waiting for commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// They are stored as a whole, or given up.
    Stored,
    /// One of them failed, and it is unknown how much of it is stored until the server is
    /// restarted.
    Failed,
    /// The same, until a server opens the graph again.
    Undecided,
    /// This thread's deadline has passed first.
    TooLong,
    /// The leader of a followed graph was asked, and did not confirm the position that is read.
    Passed,
}

/// The progress of commits: of the own committer, or of the leader's.
#[derive(Clone)]
pub(crate) enum Progress {
    Own(OwnProgress),
    Followed(Arc<Followed>),
}

impl Progress {
    /// A mark of the commits that can be stored, in whole or in part, by now.
    pub(crate) fn mark(&self) -> u64 {
        match self {
            Self::Own(own) => own.numbered().0,
            Self::Followed(followed) => followed.mark(),
        }
    }

    /// Waits until each commit of a mark is stored as a whole, or given up.
    pub(crate) fn wait(&self, mark: u64) -> Waited {
        match self {
            Self::Own(own) => own.wait(CommitVersion(mark)),
            Self::Followed(followed) => followed.wait(mark),
        }
    }

    /// Notes that the leader of a followed graph must answer the request.
    pub(crate) fn note_elsewhere(&self) {
        if let Self::Followed(followed) = self {
            followed.note_elsewhere();
        }
    }

    /// Notes that an index was read.
    pub(crate) fn searched(&self) {
        if let Self::Followed(followed) = self {
            followed.searched();
        }
    }
}

/// The progress of a committer of this process.
#[derive(Clone)]
pub(crate) struct OwnProgress(Arc<Shared>);

impl OwnProgress {
    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// The newest version that can be stored, in whole or in part, by now.
    fn numbered(&self) -> CommitVersion {
        CommitVersion(self.0.numbered.load(Ordering::Acquire))
    }

    /// Waits until each commit up to `version` is stored as a whole, or given up.
    fn wait(&self, version: CommitVersion) -> Waited {
        let stored = || self.0.published.load(Ordering::Acquire) >= version.0;
        if stored() {
            return Waited::Stored;
        }
        let mut state = self.0.state.lock();
        while state.writing && state.failed.is_none() && !stored() {
            if !deadline::wait(&self.0.written, &mut state) {
                return Waited::TooLong;
            }
        }
        match &state.failed {
            Some(failed) if !stored() => match failed.kind {
                ErrorKind::Busy => Waited::Undecided,
                _ => Waited::Failed,
            },
            _ => Waited::Stored,
        }
    }
}
