//! Submits tasks, alone or in one write with the change that needs them.

use parking_lot::MutexGuard;
use varve_kv::{Batch, Durability, fail_point};

use super::record::{self, INPUT, LAST_ID, OPEN, PARTITION};
use super::worker::{Live, Tasks};
use super::{
    NewTask, TASK_INPUT_BYTES_MAX, TASK_NAME_BYTES_MAX, Task, TaskId, TaskProgress, TaskStatus,
};
use crate::{ErrorKind, GraphError};

/// Tasks to submit. They run after the batch with their records was stored and
/// [`Submission::commit`] was called. If the submission is dropped and the batch is not stored,
/// nothing has happened, and the ids are free again. A graph has at most one open submission, which
/// holds the lock on the last task id.
#[must_use = "tasks run only after the batch was stored and the submission committed"]
pub struct Submission<'a> {
    tasks: &'a Tasks,
    last_id: MutexGuard<'a, u64>,
    added: Vec<(Task, Option<String>)>,
}

impl std::fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<TaskId> = self.added.iter().map(|(task, _)| task.id).collect();
        f.debug_tuple("Submission").field(&ids).finish()
    }
}

impl Tasks {
    /// Opens a submission. Blocks until the graph's open submission, if there is one, is committed
    /// or dropped.
    pub fn begin(&self) -> Submission<'_> {
        Submission {
            tasks: self,
            last_id: self.shared.last_id.lock(),
            added: Vec::new(),
        }
    }

    /// Stores one task durably and puts it in the queue.
    ///
    /// # Errors
    /// As [`Submission::add`], and when the task cannot be stored.
    pub fn submit(&self, new: NewTask) -> Result<TaskId, GraphError> {
        let mut submission = self.begin();
        let id = submission.add(new)?;
        let mut batch = Batch::new();
        submission.write_into(&mut batch);
        self.shared.space.write(&batch, Durability::Sync)?;
        submission.commit();
        fail_point::TASK_QUEUED.pass();
        Ok(id)
    }
}

impl Submission<'_> {
    /// Adds a task and returns the id that it will have. A name longer than [`TASK_NAME_BYTES_MAX`]
    /// is cut.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] when its input is longer than [`TASK_INPUT_BYTES_MAX`].
    pub fn add(&mut self, new: NewTask) -> Result<TaskId, GraphError> {
        let input_bytes = new.input.as_ref().map_or(0, String::len);
        if input_bytes > TASK_INPUT_BYTES_MAX {
            return Err(GraphError::new(
                ErrorKind::LimitExceeded,
                format!(
                    "Task input size {input_bytes} exceeded limit {TASK_INPUT_BYTES_MAX} bytes"
                ),
            ));
        }
        let id = TaskId(*self.last_id + 1 + self.added.len() as u64);
        let now = self.tasks.shared.clock.now().millis();
        let task = Task {
            id,
            task_type: new.task_type,
            name: cut(new.name),
            status: TaskStatus::Queued,
            progress: 0,
            create: now,
            update: now,
            retries: 0,
            dependencies: new.dependencies,
            description: new.description,
            subject: new.subject,
            owner: new.owner,
        };
        self.added.push((task, new.input));
        Ok(id)
    }

    /// Adds the records of the tasks and the last task id to a batch.
    pub fn write_into(&self, batch: &mut Batch) {
        let tables = self.tasks.shared.tables;
        for (task, input) in &self.added {
            record::write(batch, tables.meta, task);
            batch.put(tables.meta, PARTITION, &record::key(OPEN, task.id), &[]);
            if let Some(input) = input {
                let key = record::key(INPUT, task.id);
                batch.put(tables.meta, PARTITION, &key, input.as_bytes());
            }
        }
        if let Some((last, _)) = self.added.last() {
            let id = last.id.0.to_be_bytes();
            batch.put(tables.counter, PARTITION, LAST_ID, &id);
        }
    }

    /// Queues the tasks. Must be called after the batch was stored.
    pub fn commit(mut self) {
        let Some((last, _)) = self.added.last() else {
            return;
        };
        *self.last_id = last.id.0;
        let live = self.added.drain(..).map(|(task, input)| Live {
            task,
            input,
            progress: TaskProgress::default(),
            unsaved: None,
        });
        self.tasks.enqueue(live.collect());
    }
}

/// Cuts a name to at most [`TASK_NAME_BYTES_MAX`] bytes, at a character boundary.
fn cut(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(TASK_NAME_BYTES_MAX));
    name
}
