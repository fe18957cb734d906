//! Groups: commits that are written as one batch.

use smallvec::SmallVec;
use varve_kv::Batch;
use varve_model::CommitVersion;

use super::super::prepared::{Commit, EndOf};

pub(super) struct Group {
    pub(super) commits: Vec<Commit>,
    /// The first version of each commit, ascending.
    pub(super) versions: SmallVec<[CommitVersion; 4]>,
    /// The last version of the last commit; `None` if no commit got a version.
    pub(super) last: Option<CommitVersion>,
    /// Commits whose version would reach their [`End`](super::super::prepared::End): not stored.
    pub(super) late: Vec<(Commit, EndOf)>,
}

/// Joins the batches of a group.
pub(super) fn joined(commits: &mut [Commit]) -> Batch {
    let mut batch = Batch::new();
    if let Some((first, others)) = commits.split_first_mut() {
        batch = std::mem::take(&mut first.batch);
        others.iter().for_each(|commit| batch.append(&commit.batch));
    }
    batch
}

/// Assigns versions to commits, from `first` on. A commit whose version would reach its end gets
/// none and goes to [`Group::late`].
pub(super) fn numbered(group: Vec<Commit>, first: CommitVersion) -> Group {
    let mut numbers = Numbers {
        next: first,
        versions: SmallVec::new(),
        last: None,
    };
    let (mut commits, mut late) = (Vec::new(), Vec::new());
    if group.iter().all(|commit| commit.end.is_none()) {
        for commit in &group {
            let _ = numbers.give(commit);
        }
        commits = group;
    } else {
        for commit in group {
            match numbers.give(&commit) {
                Some(of) => late.push((commit, of)),
                None => commits.push(commit),
            }
        }
    }
    let Numbers { versions, last, .. } = numbers;
    Group {
        commits,
        versions,
        last,
        late,
    }
}

/// The versions assigned to a group so far.
struct Numbers {
    next: CommitVersion,
    versions: SmallVec<[CommitVersion; 4]>,
    last: Option<CommitVersion>,
}

impl Numbers {
    /// Assigns a version to a commit, or returns what ends its period before that version.
    fn give(&mut self, commit: &Commit) -> Option<EndOf> {
        let version = self.next.with_room(commit.stamps.versions());
        if let Some(end) = commit.end.filter(|end| end.at <= version.instant()) {
            return Some(end.of);
        }
        let last = commit.last_version(version);
        self.versions.push(version);
        self.last = Some(last);
        self.next = last.next();
        None
    }
}
