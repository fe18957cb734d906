//! What a reader knows of the commits that are under way.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use varve_model::CommitVersion;

use super::Shared;
use crate::deadline;
use crate::error::ErrorKind;

/// How waiting for commits ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// They are wholly stored, or given up.
    Stored,
    /// One of them failed so that nobody knows how much of it is stored, until the server is
    /// started again.
    Failed,
    /// The same, until the graph is opened anew, by whichever server.
    Undecided,
    /// The time that this thread has was over first.
    TooLong,
}

/// How far a committer has come.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Shared>);

impl Progress {
    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// The newest version of which anything can be stored now.
    pub(crate) fn numbered(&self) -> CommitVersion {
        CommitVersion(self.0.numbered.load(Ordering::Acquire))
    }

    /// Waits until each commit up to `version` is wholly stored, or given up.
    pub(crate) fn wait(&self, version: CommitVersion) -> Waited {
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
