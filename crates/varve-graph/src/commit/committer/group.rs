//! Commits that are written at once.

use varve_kv::Batch;
use varve_model::CommitVersion;

use super::super::prepared::{Commit, EndOf};

/// What is written at once.
pub(super) struct Group {
    pub(super) commits: Vec<Commit>,
    /// The version of the first commit; the others follow.
    pub(super) first: CommitVersion,
    /// Commits whose end has passed: they are not stored.
    pub(super) late: Vec<(Commit, EndOf)>,
}

/// The batches of a group as one.
pub(super) fn joined(commits: &mut [Commit]) -> Batch {
    let mut batch = Batch::new();
    if let Some((first, others)) = commits.split_first_mut() {
        batch = std::mem::take(&mut first.batch);
        others.iter().for_each(|commit| batch.append(&commit.batch));
    }
    batch
}

/// Parts those whose end the version has reached that they would have in a group that begins with `first`.
pub(super) fn split_late(
    group: Vec<Commit>,
    first: CommitVersion,
) -> (Vec<Commit>, Vec<(Commit, EndOf)>) {
    if group.iter().all(|commit| commit.end.is_none()) {
        return (group, Vec::new());
    }
    let mut split = (Vec::with_capacity(group.len()), Vec::new());
    for commit in group {
        let reached = first.plus(split.0.len()).instant();
        match commit.end.filter(|end| end.at <= reached) {
            Some(end) => split.1.push((commit, end.of)),
            None => split.0.push(commit),
        }
    }
    split
}
