//! Waits until a constraint holds, or an index is removed.

use std::time::Duration;

use varve_graph::GraphError;
use varve_graph::index::check_existing;
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_model::IndexLabelId;
use varve_view::ErrorKind;

use super::{Change, CypherFailure, Rule, refused};

/// How often a command that waits for a task checks whether it may go on.
const WAIT_SLICE: Duration = Duration::from_millis(20);

impl Change<'_> {
    /// Waits until a constraint holds. If the graph violates it, it is removed again.
    pub(super) fn built(
        &self,
        rule: &Rule,
        id: u32,
        tasks: &[TaskId],
    ) -> Result<(), CypherFailure> {
        for task in tasks.iter().filter(|task| **task != TaskId::NONE) {
            if let Some(reason) = self.ended(rule, *task)? {
                return Err(self.given_up(rule, id, &reason)?);
            }
        }
        if !rule.kind.is_checked_alone() {
            return Ok(());
        }
        let mut late = None;
        let mut proceed = || {
            self.session.check_deadline().map_err(|failure| {
                let stopped = GraphError::new(ErrorKind::Busy, &*failure.message);
                late = Some(failure);
                stopped
            })
        };
        let checked = check_existing(self.graph, IndexLabelId(id), &mut proceed);
        // An element that is being written may stay so until the deadline.
        if matches!(&checked, Err(error) if error.kind == ErrorKind::Busy) && late.is_none() {
            late = self.session.check_deadline().err();
        }
        if let Some(failure) = late {
            let message = format!(
                "{}: the constraint '{}' holds for new writes, but not all existing elements are \
                 checked. CREATE CONSTRAINT … IF NOT EXISTS checks them",
                failure.message, rule.name
            );
            let code = "Neo.ClientError.Transaction.TransactionTimedOut";
            return Err(refused(code, message));
        }
        match checked {
            Err(error) if error.kind == ErrorKind::Constraint => {
                // The message names an element.
                let reason = match self.sees_all()? {
                    true => &error.message,
                    false => "existing elements break it",
                };
                Err(self.given_up(rule, id, reason)?)
            }
            checked => Ok(checked?),
        }
    }

    /// Removes a constraint that the graph violates; the error for it.
    fn given_up(&self, rule: &Rule, id: u32, reason: &str) -> Result<CypherFailure, CypherFailure> {
        let all = Rule::all(&self.graph.schema());
        all.iter()
            .filter(|one| one.id == id)
            .try_for_each(|one| self.remove_failed(one))?;
        let message = format!("Unable to create {}: {reason}", rule.constraint_text());
        let code = "Neo.DatabaseError.Schema.ConstraintCreationFailed";
        Ok(refused(code, message))
    }

    /// Whether the client may see all elements.
    fn sees_all(&self) -> Result<bool, CypherFailure> {
        let served = self.session.served(self.graph.name())?;
        Ok(self.session.access_to(&served).is_none())
    }

    /// Waits for a task that builds a constraint. Returns why it failed.
    fn ended(&self, rule: &Rule, id: TaskId) -> Result<Option<String>, CypherFailure> {
        if self.final_status(id, &|| self.may_wait(rule))? == TaskStatus::Success {
            return Ok(None);
        }
        // The result names an element.
        Ok(Some(match self.sees_all()? {
            true => self.graph.tasks().detail(id)?.result.unwrap_or_default(),
            false => "elements have equal values, or the work on it failed".to_owned(),
        }))
    }

    /// Waits for the end of a task; before each wait, `may_wait` says whether there is time.
    pub(super) fn final_status(
        &self,
        id: TaskId,
        may_wait: &dyn Fn() -> Result<(), CypherFailure>,
    ) -> Result<TaskStatus, CypherFailure> {
        loop {
            may_wait()?;
            let status = self.graph.tasks().wait_until_done(id, WAIT_SLICE)?.status;
            if status.is_final() {
                return Ok(status);
            }
        }
    }

    pub(super) fn pause(&self, rule: &Rule) -> Result<(), CypherFailure> {
        self.may_wait(rule)?;
        std::thread::sleep(WAIT_SLICE);
        Ok(())
    }

    /// # Errors
    /// At the deadline. The constraint stays, and so does the work on it.
    pub(super) fn may_wait(&self, rule: &Rule) -> Result<(), CypherFailure> {
        self.session.check_deadline().map_err(|failure| {
            let message = format!(
                "{}: the constraint '{}' is still being built, and this goes on. CREATE CONSTRAINT \
                 … IF NOT EXISTS waits for its end",
                failure.message, rule.name
            );
            refused("Neo.ClientError.Transaction.TransactionTimedOut", message)
        })
    }
}
