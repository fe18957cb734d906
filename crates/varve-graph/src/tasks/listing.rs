//! Reads tasks: one, several, or a page of all.

use std::ops::ControlFlow;

use varve_kv::ScanRequest;

use super::record::{self, INPUT, PARTITION, RECORD, RESULT};
use super::worker::Tasks;
use super::{Task, TaskDetail, TaskId, TaskStatus};
use crate::GraphError;

/// Which tasks to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskQuery {
    /// Only tasks with this status.
    pub status: Option<TaskStatus>,
    /// Only tasks with a greater id: [`TaskPage::next`] of the previous page.
    pub after: Option<TaskId>,
    /// The most tasks to return; `None` for all.
    pub limit: Option<usize>,
}

/// Tasks by ascending id.
#[derive(Debug, Clone)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The [`TaskQuery::after`] of the next page; `None` at the end.
    pub next: Option<TaskId>,
}

impl Tasks {
    /// Lists tasks by ascending id.
    ///
    /// # Errors
    /// When records cannot be read.
    pub fn list(&self, query: TaskQuery) -> Result<TaskPage, GraphError> {
        self.list_those(query, &|_| true)
    }

    /// Lists the tasks for which `is_seen` returns true. The others do not count for the limit.
    ///
    /// # Errors
    /// When records cannot be read.
    pub fn list_those(
        &self,
        query: TaskQuery,
        is_seen: &dyn Fn(&Task) -> bool,
    ) -> Result<TaskPage, GraphError> {
        let wanted = query.limit.unwrap_or(usize::MAX);
        let mut tasks = match query.status {
            Some(status) => self.with_status(status, query, wanted, is_seen)?,
            None => self.scan(query, wanted, is_seen)?,
        };
        let more = tasks.len() > wanted;
        tasks.truncate(wanted);
        let next = tasks.last().map(|task| task.id).filter(|_| more);
        Ok(TaskPage { tasks, next })
    }

    /// Returns the tasks with these ids, in their order; unknown ids are left out.
    ///
    /// # Errors
    /// When records cannot be read.
    pub fn by_ids(&self, ids: &[TaskId]) -> Result<Vec<Task>, GraphError> {
        let found = ids.iter().map(|id| self.find(*id));
        found.filter_map(Result::transpose).collect()
    }

    /// Returns the task with this id.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] when there is no such task; when its record cannot be read.
    pub fn task(&self, id: TaskId) -> Result<Task, GraphError> {
        self.find(id)?.ok_or_else(|| unknown(id))
    }

    /// Returns the task with this id, with its input and result.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] when there is no such task; when its record, input or result
    /// cannot be read.
    pub fn detail(&self, id: TaskId) -> Result<TaskDetail, GraphError> {
        let (space, meta) = (&*self.shared.space, self.shared.tables.meta);
        if let Some((task, unsaved)) = self.live(id) {
            return Ok(TaskDetail {
                input: self.input(id)?,
                result: unsaved,
                task,
            });
        }
        let task = record::read(space, meta, id)?.ok_or_else(|| unknown(id))?;
        Ok(TaskDetail {
            input: self.input(id)?,
            result: record::read_text(space, meta, RESULT, id)?,
            task,
        })
    }

    /// Reads the input of a task; `None` if it has none.
    pub(super) fn input(&self, id: TaskId) -> Result<Option<String>, GraphError> {
        record::read_text(&*self.shared.space, self.shared.tables.meta, INPUT, id)
    }

    fn find(&self, id: TaskId) -> Result<Option<Task>, GraphError> {
        if let Some((task, _)) = self.live(id) {
            return Ok(Some(task));
        }
        record::read(&*self.shared.space, self.shared.tables.meta, id)
    }

    /// Returns the current state of a live task, and its result if its end could not be stored.
    /// `None` if the end of the task is stored, or the task is unknown.
    fn live(&self, id: TaskId) -> Option<(Task, Option<String>)> {
        let state = self.shared.state.lock();
        let live = state.live.get(&id)?;
        Some((live.current(), live.unsaved.clone()))
    }

    /// Returns at least the first `wanted` + 1 tasks with that status, by ascending id.
    fn with_status(
        &self,
        status: TaskStatus,
        query: TaskQuery,
        wanted: usize,
        is_seen: &dyn Fn(&Task) -> bool,
    ) -> Result<Vec<Task>, GraphError> {
        let mut tasks = self.live_with(status, query.after, is_seen);
        // Tasks with other statuses are live. Ended tasks have a record with that status, unless
        // their end could not be stored: then they are live. A task that is being deleted is live,
        // unless its removal could not be stored: then it has a record.
        if status.is_final() || status == TaskStatus::Deleting {
            tasks.extend(self.scan(query, wanted, is_seen)?);
            tasks.sort_by_key(|task| task.id);
            tasks.dedup_by_key(|task| task.id);
        }
        Ok(tasks)
    }

    fn live_with(
        &self,
        status: TaskStatus,
        after: Option<TaskId>,
        is_seen: &dyn Fn(&Task) -> bool,
    ) -> Vec<Task> {
        let state = self.shared.state.lock();
        let later = state
            .live
            .values()
            .filter(|live| Some(live.task.id) > after);
        let matching = later.filter(|live| live.task.status == status && is_seen(&live.task));
        matching.map(|live| live.current()).collect()
    }

    /// Returns up to `wanted` + 1 tasks whose records match the query, live ones in their current
    /// state.
    fn scan(
        &self,
        query: TaskQuery,
        wanted: usize,
        is_seen: &dyn Fn(&Task) -> bool,
    ) -> Result<Vec<Task>, GraphError> {
        let is_wanted =
            |task: &Task| query.status.is_none_or(|status| task.status == status) && is_seen(task);
        let range = record::range(RECORD, query.after);
        let request = ScanRequest {
            table: self.shared.tables.meta,
            partition: PARTITION,
            range: &range,
            reverse: false,
        };
        // The visitor must not take the state's lock, since its holder may be waiting for the
        // engine.
        let mut found = Vec::new();
        let mut failure = None;
        self.shared.space.scan(request, &mut |key, value| {
            match record::id_of(key).map(|id| record::decode(id, value)) {
                Some(Ok(task)) if is_wanted(&task) => found.push(task),
                Some(Err(error)) => failure = Some(error),
                _ => {}
            }
            if failure.is_some() || found.len() > wanted {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        for task in &mut found {
            if let Some((current, _)) = self.live(task.id) {
                *task = current;
            }
        }
        Ok(found)
    }
}

/// The error for an id that no task has.
pub(super) fn unknown(id: TaskId) -> GraphError {
    GraphError::not_found(format!("Can't find task with id '{id}'"))
}
