//! Who commits: this process, or the server that leads the graph.

use std::sync::Arc;

use varve_model::CommitVersion;

use super::{Commit, CommitLatency, Committer, Followed, Progress, Promise};
use crate::error::GraphError;

/// The commits of a graph, as seen from this process.
pub(crate) enum Commits {
    /// This process makes them.
    Own {
        committer: Committer,
        promise: Promise,
    },
    /// The server that leads the graph makes them.
    Followed(Arc<Followed>),
}

impl Commits {
    /// The newest version whose commit, like all before it, is visible.
    pub(crate) fn published(&self) -> CommitVersion {
        match self {
            Self::Own { committer, .. } => committer.published(),
            Self::Followed(followed) => followed.position().version,
        }
    }

    /// The newest version that was assigned to a commit, stored or not, or fixed by a read. Later
    /// commits of this process get greater ones.
    pub(crate) fn numbered(&self) -> CommitVersion {
        match self {
            Self::Own { committer, .. } => committer.numbered(),
            Self::Followed(followed) => followed.position().version,
        }
    }

    /// Fixes `version`, also beyond a restart: later commits get greater ones.
    ///
    /// # Errors
    /// As [`Promise::cover`] and [`Committer::settle`]; [`crate::ErrorKind::Elsewhere`] for a later
    /// version than that at which this process follows the graph.
    pub(crate) fn fix(&self, version: CommitVersion) -> Result<(), GraphError> {
        if version <= self.published() {
            return Ok(());
        }
        match self {
            Self::Own { committer, promise } => {
                promise.cover(version)?;
                committer.settle(version)
            }
            Self::Followed(followed) => Err(followed.elsewhere()),
        }
    }

    /// How long the commits of this process took; `None` where another one makes them.
    pub(crate) fn latency(&self) -> Option<CommitLatency> {
        match self {
            Self::Own { committer, .. } => Some(committer.latency()),
            Self::Followed(_) => None,
        }
    }

    /// The progress of the commits, for concurrent readers.
    pub(crate) fn progress(&self) -> Progress {
        match self {
            Self::Own { committer, .. } => committer.progress(),
            Self::Followed(followed) => Progress::Followed(Arc::clone(followed)),
        }
    }

    /// Submits a prepared commit.
    ///
    /// # Errors
    /// As [`Committer::submit`]; [`crate::ErrorKind::Elsewhere`] where the graph is followed.
    pub(crate) fn submit(&self, commit: Commit) -> Result<(), GraphError> {
        match self {
            Self::Own { committer, .. } => committer.submit(commit),
            Self::Followed(followed) => Err(followed.elsewhere()),
        }
    }

    /// The leader's commits; `None` where this process leads.
    pub(crate) fn followed(&self) -> Option<&Arc<Followed>> {
        match self {
            Self::Own { .. } => None,
            Self::Followed(followed) => Some(followed),
        }
    }
}
