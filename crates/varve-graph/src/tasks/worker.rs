//! The queue of unfinished tasks and the threads that run them.

mod lanes;
mod restoring;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as MonotonicInstant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use varve_kv::{Batch, Durability, ReaderExt, Space};
use varve_model::Clock;

use super::record::{self, INPUT, LAST_ID, OPEN, PARTITION, RECORD, RESULT};
use super::{
    Lane, TASK_RESULT_BYTES_MAX, Task, TaskBodies, TaskDetail, TaskId, TaskProgress, TaskQuery,
    TaskSpec, TaskStatus, TaskTables,
};
use crate::{ErrorKind, GraphError};

/// The result text of a job that was interrupted by a restart.
const INTERRUPTED: &str = "The server stopped while the task was running; jobs are not run again, since their effects may have been stored already";

/// Tasks read in one step when old ones are deleted.
const FORGET_CHUNK: usize = 500;

/// The tasks of one graph.
///
/// Dropping it stops the worker threads as [`Tasks::stop`] does.
pub struct Tasks {
    pub(super) shared: Arc<Shared>,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let live: Vec<TaskId> = self.shared.state.lock().live.keys().copied().collect();
        f.debug_struct("Tasks").field("unfinished", &live).finish()
    }
}

/// The state that the threads share.
pub(super) struct Shared {
    pub(super) space: Arc<dyn Space>,
    pub(super) tables: TaskTables,
    pub(super) clock: Arc<dyn Clock>,
    /// The last assigned id. Locked before `state` and before no other lock.
    pub(super) last_id: Mutex<u64>,
    pub(super) state: Mutex<TaskSchedule>,
    /// Notified of every change of `state`.
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct TaskSchedule {
    /// Every task that has not ended, and ended tasks whose end could not be stored.
    pub(super) live: BTreeMap<TaskId, Live>,
    bodies: Option<Arc<dyn TaskBodies>>,
    /// Tasks that ended when the graph was opened, to be reported to the bodies.
    ended_at_open: Vec<TaskSpec>,
    paused: bool,
    stopping: bool,
    /// The current or last thread of each lane.
    threads: [Option<JoinHandle<()>>; Lane::ALL.len()],
    running: [bool; Lane::ALL.len()],
}

/// An unfinished task.
pub(super) struct Live {
    pub(super) task: Task,
    pub(super) input: Option<String>,
    pub(super) progress: TaskProgress,
    /// The result of a task whose end could not be stored. Its record has status RUNNING, so after
    /// a restart it is treated as if the process had died while it ran.
    pub(super) unsaved: Option<String>,
}

impl Live {
    /// The task with its current progress.
    pub(super) fn current(&self) -> Task {
        Task {
            progress: self.progress.control.progress.load(Ordering::Relaxed),
            ..self.task.clone()
        }
    }

    fn spec(&self) -> TaskSpec {
        TaskSpec {
            id: self.task.id,
            task_type: self.task.task_type,
            name: self.task.name.clone(),
            subject: self.task.subject,
            input: self.input.clone(),
            owner: self.task.owner.clone(),
        }
    }
}

impl Tasks {
    /// Reads the unfinished tasks of a graph. Nothing runs before [`Tasks::start`].
    ///
    /// # Errors
    /// When records cannot be read, or the end of a task that must not run again cannot be stored.
    pub fn open(
        space: Arc<dyn Space>,
        tables: TaskTables,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, GraphError> {
        let last_id = match space.get(tables.counter, PARTITION, LAST_ID)? {
            Some(bytes) => {
                let id: Option<[u8; 8]> = bytes.try_into().ok();
                u64::from_be_bytes(id.ok_or_else(|| {
                    let message = "Stored data is damaged: the counter of tasks";
                    GraphError::new(ErrorKind::Storage, message)
                })?)
            }
            None => 0,
        };
        let shared = Shared {
            space,
            tables,
            clock,
            last_id: Mutex::new(last_id),
            state: Mutex::new(TaskSchedule::default()),
            changed: Condvar::new(),
        };
        shared.restore()?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The tasks of a graph that another server leads: none run or are known here.
    pub(crate) fn followed(space: Arc<dyn Space>, clock: Arc<dyn Clock>) -> Self {
        let shared = Shared {
            space,
            tables: TaskTables::default(),
            clock,
            last_id: Mutex::default(),
            state: Mutex::new(TaskSchedule::default()),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Sets the bodies and starts to run waiting tasks.
    pub fn start(&self, bodies: Arc<dyn TaskBodies>) {
        let ended = {
            let mut state = self.shared.state.lock();
            state.bodies = Some(Arc::clone(&bodies));
            std::mem::take(&mut state.ended_at_open)
        };
        ended.iter().for_each(|spec| bodies.abandoned(spec));
        let mut state = self.shared.state.lock();
        for lane in Lane::ALL {
            Shared::wake(&self.shared, &mut state, lane);
        }
    }

    /// Pauses (`true`) or resumes the start of tasks. A running task continues.
    pub fn set_paused(&self, paused: bool) {
        self.shared.state.lock().paused = paused;
        self.shared.changed.notify_all();
    }

    /// Asks running bodies to end, waits for them and stops the threads. Interrupted schema tasks
    /// wait for the next start. Afterwards tasks can be read, but not run.
    pub fn stop(&self) {
        let threads = {
            let mut state = self.shared.state.lock();
            state.stopping = true;
            for live in state.live.values() {
                let control = &live.progress.control;
                control.stopping.store(true, Ordering::Relaxed);
            }
            self.shared.changed.notify_all();
            std::mem::take(&mut state.threads)
        };
        for thread in threads.into_iter().flatten() {
            // A body that holds the last handle of its graph calls this on its own thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
        self.shared.state.lock().bodies = None;
    }

    /// Cancels a task: at once if it waits, else as soon as its body notices. Returns the task
    /// after the cancellation: [`TaskStatus::Cancelled`] or [`TaskStatus::Cancelling`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no task with this id, [`ErrorKind::IllegalState`] when
    /// it has already ended or been cancelled, or when the change cannot be stored.
    pub fn cancel(&self, id: TaskId) -> Result<TaskDetail, GraphError> {
        let ended = || {
            let message = format!("Can't cancel task '{id}' which is completed or cancelling");
            GraphError::new(ErrorKind::IllegalState, message)
        };
        let mut state = self.shared.state.lock();
        let Some(live) = state.live.get_mut(&id) else {
            drop(state);
            self.task(id)?;
            return Err(ended());
        };
        let status = live.task.status;
        if status.is_final() || matches!(status, TaskStatus::Cancelling | TaskStatus::Deleting) {
            return Err(ended());
        }
        if live.task.status.is_waiting() {
            let abandoned = self.shared.end(&mut state, id, TaskStatus::Cancelled, None);
            self.shared.notify_abandoned(state, abandoned);
            return self.detail(id);
        }
        live.task.status = TaskStatus::Cancelling;
        let control = &live.progress.control;
        control.cancelled.store(true, Ordering::Relaxed);
        self.shared.save(live, Durability::Buffered)?;
        // Read under the lock, since the body may end at once afterwards.
        let task = live.current();
        drop(state);
        Ok(TaskDetail {
            input: self.input(id)?,
            result: None,
            task,
        })
    }

    /// Removes a task's record. With `force`, an unfinished task is cancelled first, and its record
    /// is removed when its body has ended.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no task with this id, [`ErrorKind::InvalidArgument`]
    /// when it has not ended and `force` is not set, or when the removal cannot be stored.
    pub fn delete(&self, id: TaskId, force: bool) -> Result<(), GraphError> {
        let mut state = self.shared.state.lock();
        let Some(live) = state.live.get_mut(&id) else {
            drop(state);
            self.task(id)?;
            return self.shared.erase(&[id]);
        };
        let status = live.task.status;
        if !force && !status.is_final() {
            return Err(GraphError::invalid(format!(
                "Can't delete incomplete task '{id}' in status {}, Please try to cancel the task first",
                status.name()
            )));
        }
        if !status.is_final() && !status.is_waiting() {
            live.task.status = TaskStatus::Deleting;
            let control = &live.progress.control;
            control.cancelled.store(true, Ordering::Relaxed);
            return self.shared.save(live, Durability::Buffered);
        }
        self.shared.erase(&[id])?;
        let gone = state.live.remove(&id).filter(|_| status.is_waiting());
        let abandoned = gone.map(|live| live.spec());
        self.shared.notify_abandoned(state, abandoned);
        Ok(())
    }

    /// Removes the records of tasks that ended longer than `kept` ago. Returns their number.
    ///
    /// # Errors
    /// When records cannot be read, or their removal cannot be stored.
    pub fn forget_ended(&self, kept: Duration) -> Result<usize, GraphError> {
        let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let horizon = self.shared.clock.now().millis().saturating_sub(kept);
        let (mut after, mut forgotten) = (None, 0);
        loop {
            let page = self.list(TaskQuery {
                status: None,
                after,
                limit: Some(FORGET_CHUNK),
            })?;
            let over = |task: &&Task| task.status.is_final() && task.update < horizon;
            let ended = page.tasks.iter().filter(over);
            // A task whose end could not be stored must still be stored.
            let state = self.shared.state.lock();
            let ids: Vec<TaskId> = ended
                .map(|task| task.id)
                .filter(|id| !state.live.contains_key(id))
                .collect();
            drop(state);
            if !ids.is_empty() {
                self.shared.erase(&ids)?;
                forgotten += ids.len();
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(forgotten),
            }
        }
    }

    /// Waits until a task has ended, at most for `timeout`, and returns its state.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no task with this id.
    pub fn wait_until_done(&self, id: TaskId, timeout: Duration) -> Result<Task, GraphError> {
        let deadline = MonotonicInstant::now() + timeout;
        let mut state = self.shared.state.lock();
        let unfinished = |state: &TaskSchedule| {
            let live = state.live.get(&id);
            live.is_some_and(|live| !live.task.status.is_final())
        };
        while unfinished(&state) {
            let wait = self.shared.changed.wait_until(&mut state, deadline);
            if wait.timed_out() {
                break;
            }
        }
        drop(state);
        self.task(id)
    }

    /// The number of unfinished tasks.
    #[must_use]
    pub fn unfinished_count(&self) -> usize {
        let state = self.shared.state.lock();
        let is_open = |live: &&Live| !live.task.status.is_final();
        state.live.values().filter(is_open).count()
    }

    pub(super) fn enqueue(&self, added: Vec<Live>) {
        let mut state = self.shared.state.lock();
        for live in added {
            let lane = live.task.task_type.lane();
            state.live.insert(live.task.id, live);
            Shared::wake(&self.shared, &mut state, lane);
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    /// Ends a task: stores its end and removes it from the queue. Returns its description. If the
    /// task's body never ran, the caller must pass the description to the [`TaskBodies`].
    fn end(
        &self,
        state: &mut TaskSchedule,
        id: TaskId,
        status: TaskStatus,
        result: Option<String>,
    ) -> Option<TaskSpec> {
        let live = state.live.get_mut(&id)?;
        let spec = live.spec();
        let result = result.filter(|text| !text.is_empty());
        if status == TaskStatus::Deleting {
            // If this fails, the record has status DELETING, and the next opening of the graph
            // tries again.
            let _ = self.erase(&[id]);
            state.live.remove(&id);
            self.changed.notify_all();
            return Some(spec);
        }
        let (status, result) = match result {
            Some(result) if result.len() > TASK_RESULT_BYTES_MAX => {
                let message = format!(
                    "Task result size {} exceeded limit {TASK_RESULT_BYTES_MAX} bytes",
                    result.len()
                );
                (TaskStatus::Failed, Some(message))
            }
            result => (status, result),
        };
        live.task.status = status;
        live.task.update = self.clock.now().millis();
        live.task = live.current();
        let mut batch = Batch::new();
        record::write(&mut batch, self.tables.meta, &live.task);
        if let Some(result) = &result {
            let key = record::key(RESULT, id);
            batch.put(self.tables.meta, PARTITION, &key, result.as_bytes());
        }
        batch.delete(self.tables.meta, PARTITION, &record::key(OPEN, id));
        match self.space.write(&batch, Durability::Sync) {
            Ok(()) => drop(state.live.remove(&id)),
            Err(_) => live.unsaved = Some(result.unwrap_or_default()),
        }
        self.changed.notify_all();
        Some(spec)
    }

    /// Stores a task's record with a new time of update.
    fn save(&self, live: &mut Live, durability: Durability) -> Result<(), GraphError> {
        live.task.update = self.clock.now().millis();
        self.save_stored(live, durability)
    }

    fn save_stored(&self, live: &Live, durability: Durability) -> Result<(), GraphError> {
        let mut batch = Batch::new();
        record::write(&mut batch, self.tables.meta, &live.current());
        Ok(self.space.write(&batch, durability)?)
    }

    /// Removes all stored parts of tasks.
    fn erase(&self, ids: &[TaskId]) -> Result<(), GraphError> {
        let mut batch = Batch::new();
        for id in ids {
            for part in [OPEN, RECORD, INPUT, RESULT] {
                batch.delete(self.tables.meta, PARTITION, &record::key(part, *id));
            }
        }
        Ok(self.space.write(&batch, Durability::Sync)?)
    }

    /// Notifies the bodies of an abandoned task, without holding the lock.
    fn notify_abandoned(&self, state: MutexGuard<'_, TaskSchedule>, spec: Option<TaskSpec>) {
        let bodies = state.bodies.clone();
        drop(state);
        if let (Some(spec), Some(bodies)) = (spec, bodies) {
            bodies.abandoned(&spec);
        }
    }
}
