//! Commits in between: a transaction commits its changes so far, and continues on the newest state.

use std::sync::Arc;

use varve_model::{CommitVersion, ElementId, TemporalScope};

use super::commit::store;
use super::{CommitEvery, HeldBytes, OptimisticLimits, OptimisticTransaction, TransactionState};
use crate::error::{ErrorKind, GraphError};

impl OptimisticTransaction {
    /// Commits in between if that is due, and returns whether it did. `next` is the element that is
    /// changed next. If it is changed already, no commit is due, so that all changes of one step to
    /// an element are in one commit. `count`: the number of elements that are changed together.
    pub(super) fn commit_if_due(
        &self,
        next: Option<&ElementId>,
        count: usize,
    ) -> Result<bool, GraphError> {
        let is_due = self.state.read().is_due(next, count, &self.limits);
        if is_due {
            self.commit_so_far()?;
        }
        Ok(is_due)
    }

    /// Commits the changes so far, and continues on the newest state.
    ///
    /// # Errors
    /// As [`Self::commit`]; [`ErrorKind::NotSupported`] in a transaction without parts.
    pub(super) fn commit_so_far(&self) -> Result<Option<CommitVersion>, GraphError> {
        let every = self.state.read().every.clone();
        let Some(CommitEvery { period, check, .. }) = every else {
            return Err(GraphError::new(
                ErrorKind::NotSupported,
                "This transaction is committed as a whole",
            ));
        };
        if self.is_changed() {
            check.map_or(Ok(()), |check| check())?;
        }
        let state = self.state.write().take(&self.limits);
        let stored = store(&self.graph, &self.base(), state, period)?;
        let mut state = self.state.write();
        state.last_part = stored.or(state.last_part);
        drop(state);
        self.go_on().map_err(|error| {
            let message = format!("The changes so far are stored, but: {}", error.message);
            GraphError::new(ErrorKind::OutcomeUnknown, message)
        })?;
        Ok(stored)
    }

    /// Drops the changes since the last commit, and continues on the newest state.
    ///
    /// # Errors
    /// When the store fails, or the schema has changed too often.
    pub(super) fn drop_so_far(&self) -> Result<(), GraphError> {
        drop(self.state.write().take(&self.limits));
        self.go_on()
    }

    /// Continues on the newest state.
    fn go_on(&self) -> Result<(), GraphError> {
        let scope = TemporalScope {
            valid: None,
            transaction: Some(CommitVersion::MAX),
        };
        let next = self.graph.view(scope)?.guarded_by(self.base().access());
        self.base.store(Arc::new(next));
        // The newest state may have labels that others have made.
        self.renew(&self.graph.schema())
    }
}

impl TransactionState {
    /// Whether a commit in between is due.
    fn is_due(&self, next: Option<&ElementId>, count: usize, limits: &OptimisticLimits) -> bool {
        let Some(elements) = self.every.as_ref().and_then(|every| every.elements) else {
            return false;
        };
        let is_full = self.order.len() >= elements
            || self.order.len() + count > limits.elements_max
            || self.bytes >= limits.bytes_max / 2;
        let is_changed = match next {
            Some(ElementId::Vertex(id)) => self.vertices.get(id).is_some_and(|own| own.last > 0),
            Some(ElementId::Edge(id)) => self.edges.get(id).is_some_and(|own| own.last > 0),
            None => false,
        };
        is_full && !is_changed && !self.order.is_empty()
    }

    /// Takes the changes so far and leaves an empty state, which counts as one more change: what
    /// was read before may be old.
    fn take(&mut self, limits: &OptimisticLimits) -> Self {
        let changes = self.changes + 1;
        let next = Self {
            changes,
            committed: changes,
            last_part: self.last_part,
            every: self.every.clone(),
            share: limits.all.clone().map(HeldBytes::share),
            ..Self::default()
        };
        std::mem::replace(self, next)
    }
}
