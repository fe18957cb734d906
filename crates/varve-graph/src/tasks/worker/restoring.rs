//! Restores the tasks that had not ended when the graph was last closed.

use std::ops::ControlFlow;

use varve_kv::{Durability, ScanRequest};

use super::super::record::{self, INPUT, OPEN, PARTITION};
use super::super::{Lane, TASK_RETRIES_MAX, Task, TaskProgress, TaskStatus};
use super::{INTERRUPTED, Live, Shared, TaskSchedule};
use crate::GraphError;

impl Shared {
    /// Reads the unfinished tasks and decides whether those that were running run again.
    pub(super) fn restore(&self) -> Result<(), GraphError> {
        let meta = self.tables.meta;
        let mut ids = Vec::new();
        let range = record::range(OPEN, None);
        let request = ScanRequest {
            table: meta,
            partition: PARTITION,
            range: &range,
            reverse: false,
        };
        self.space.scan(request, &mut |key, _| {
            ids.extend(record::id_of(key));
            ControlFlow::Continue(())
        })?;
        let mut state = self.state.lock();
        for id in ids {
            let Some(task) = record::read(&*self.space, meta, id)? else {
                self.erase(&[id])?;
                continue;
            };
            let input = record::read_text(&*self.space, meta, INPUT, id)?;
            self.restore_one(&mut state, task, input)?;
        }
        Ok(())
    }

    fn restore_one(
        &self,
        state: &mut TaskSchedule,
        mut task: Task,
        input: Option<String>,
    ) -> Result<(), GraphError> {
        let id = task.id;
        let ran = task.status == TaskStatus::Running;
        if ran {
            task.retries += 1;
        }
        let end = match task.status {
            TaskStatus::Deleting => Some((TaskStatus::Deleting, None)),
            TaskStatus::Cancelling => Some((TaskStatus::Cancelled, None)),
            TaskStatus::Running if task.task_type.lane() == Lane::Job => {
                Some((TaskStatus::Failed, Some(INTERRUPTED.to_owned())))
            }
            TaskStatus::Running if task.retries > TASK_RETRIES_MAX => {
                let message = format!("The server died {} times while the task ran", task.retries);
                Some((TaskStatus::Failed, Some(message)))
            }
            _ => None,
        };
        task.status = TaskStatus::Queued;
        let live = Live {
            task,
            input,
            progress: TaskProgress::default(),
            unsaved: None,
        };
        if ran && end.is_none() {
            self.save_stored(&live, Durability::Sync)?;
        }
        state.live.insert(id, live);
        if let Some((status, result)) = end {
            let ended = self.end(state, id, status, result);
            state.ended_at_open.extend(ended);
        }
        Ok(())
    }
}
