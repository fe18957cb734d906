//! The queue of unfinished tasks and the threads that work it off.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as MonotonicInstant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use varve_kv::{Batch, Durability, ScanRequest, Space, fail_point};
use varve_model::Clock;

use super::record::{self, INPUT, LAST_ID, OPEN, PARTITION, RECORD, RESULT};
use super::{
    Lane, TASK_RESULT_BYTES_MAX, TASK_RETRIES_MAX, Task, TaskBodies, TaskDetail, TaskId,
    TaskProgress, TaskQuery, TaskSpec, TaskStatus, TaskTables,
};
use crate::{ErrorKind, GraphError};

/// The result text of a job that a restart cut short.
const INTERRUPTED: &str = "The server stopped while the task was running; jobs are not run again, since their effects may have been stored already";

/// How long a lane's thread waits for tasks before it ends.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// Tasks looked at in one step when old ones are forgotten.
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

/// What the threads share.
pub(super) struct Shared {
    pub(super) space: Arc<dyn Space>,
    pub(super) tables: TaskTables,
    pub(super) clock: Arc<dyn Clock>,
    /// The last id given. Taken before `state`, and before nothing else.
    pub(super) last_id: Mutex<u64>,
    pub(super) state: Mutex<State>,
    /// Told of every change of `state`.
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    /// Every task that has not ended, and those whose end could not be stored.
    pub(super) live: BTreeMap<TaskId, Live>,
    bodies: Option<Arc<dyn TaskBodies>>,
    /// Tasks that ended while the graph was opened, to be told to the bodies.
    ended_at_open: Vec<TaskSpec>,
    paused: bool,
    stopping: bool,
    /// The threads of the lanes, or the last ones.
    threads: [Option<JoinHandle<()>>; Lane::ALL.len()],
    running: [bool; Lane::ALL.len()],
}

/// An unfinished task.
pub(super) struct Live {
    pub(super) task: Task,
    pub(super) input: Option<String>,
    pub(super) progress: TaskProgress,
    /// The result of a task whose end could not be stored. Its record says RUNNING: after a restart
    /// it is treated as if the process had died while it ran.
    pub(super) unsaved: Option<String>,
}

impl Live {
    /// The task with its progress as of now.
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
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        };
        shared.restore()?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Gives the bodies and begins to run what waits.
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

    /// Lets tasks wait (`true`), or run again. A running one goes on.
    pub fn set_paused(&self, paused: bool) {
        self.shared.state.lock().paused = paused;
        self.shared.changed.notify_all();
    }

    /// Asks running bodies to end, waits until they did and stops the threads. Schema tasks that
    /// ended early wait for the next start. Tasks can be read afterwards, not run.
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
            // A body that held the last handle of its graph drops it on its own thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
        self.shared.state.lock().bodies = None;
    }

    /// Cancels a task: at once when it waits, otherwise as soon as its body takes notice. Returns
    /// the task as the cancellation left it: [`TaskStatus::Cancelled`] or [`TaskStatus::Cancelling`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none of this id, [`ErrorKind::IllegalState`] when it
    /// ended or was cancelled already, or when the change cannot be stored.
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
            self.shared.tell_abandoned(state, abandoned);
            return self.detail(id);
        }
        live.task.status = TaskStatus::Cancelling;
        let control = &live.progress.control;
        control.cancelled.store(true, Ordering::Relaxed);
        self.shared.save(live, Durability::Buffered)?;
        // Read before the lock goes: the body may end at once.
        let task = live.current();
        drop(state);
        Ok(TaskDetail {
            input: self.input(id)?,
            result: None,
            task,
        })
    }

    /// Removes a task's record. With `force`, one that has not ended is cancelled first and its
    /// record goes when its body has ended.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none of this id, [`ErrorKind::InvalidArgument`] when
    /// it has not ended and `force` is not set, or when the removal cannot be stored.
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
        self.shared.tell_abandoned(state, abandoned);
        Ok(())
    }

    /// Removes the records of tasks that ended longer than `kept` ago; returns how many there were.
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
            // One that ended and whose end could not be stored is still to be stored.
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

    /// Waits until a task has ended, at most for `timeout`, and returns it as it then stands.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none of this id.
    pub fn wait_until_done(&self, id: TaskId, timeout: Duration) -> Result<Task, GraphError> {
        let deadline = MonotonicInstant::now() + timeout;
        let mut state = self.shared.state.lock();
        let unfinished = |state: &State| {
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

    /// How many tasks have not ended.
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
    /// Reads the unfinished tasks and decides what becomes of those that were running.
    fn restore(&self) -> Result<(), GraphError> {
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
        state: &mut State,
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

    /// Makes sure that a lane's thread exists if there is work for it, and tells it.
    fn wake(shared: &Arc<Self>, state: &mut State, lane: Lane) {
        let work = state
            .live
            .values()
            .any(|live| live.task.task_type.lane() == lane);
        if work && !state.running[lane as usize] && !state.stopping && state.bodies.is_some() {
            let own = Arc::clone(shared);
            let name = match lane {
                Lane::Schema => "varve-task-schema",
                Lane::Job => "varve-task-job",
            };
            let thread = std::thread::Builder::new().name(name.to_owned());
            // Without one the tasks wait; the next one submitted tries again.
            if let Ok(thread) = thread.spawn(move || own.work(lane)) {
                state.running[lane as usize] = true;
                let ended = state.threads[lane as usize].replace(thread);
                let _ = ended.map(JoinHandle::join);
            }
        }
        shared.changed.notify_all();
    }

    /// A lane's thread: runs its tasks by id until there was none for [`IDLE_MAX`].
    fn work(&self, lane: Lane) {
        let mut state = self.state.lock();
        let mut waited_enough = false;
        loop {
            let of_lane = |live: &Live| live.task.task_type.lane() == lane;
            if state.stopping || waited_enough && !state.live.values().any(of_lane) {
                state.running[lane as usize] = false;
                return;
            }
            let bodies = state.bodies.clone().filter(|_| !state.paused);
            let next = state.next(lane);
            let (Some(bodies), Some(id)) = (bodies, next) else {
                waited_enough = self.changed.wait_for(&mut state, IDLE_MAX).timed_out();
                continue;
            };
            state = self.run_one(state, &*bodies, id);
        }
    }

    fn run_one<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        bodies: &dyn TaskBodies,
        id: TaskId,
    ) -> MutexGuard<'a, State> {
        let Some(live) = state.live.get_mut(&id) else {
            return state;
        };
        live.task.status = TaskStatus::Running;
        let (spec, progress) = (live.spec(), live.progress.clone());
        // That a job runs must be known after a power loss, so that it is not run twice.
        let durability = match spec.task_type.lane() {
            Lane::Schema => Durability::Buffered,
            Lane::Job => Durability::Sync,
        };
        if let Err(error) = self.save(live, durability) {
            let message = Some(error.message);
            let ended = self.end(&mut state, id, TaskStatus::Failed, message);
            self.tell_abandoned(state, ended);
            return self.state.lock();
        }
        self.changed.notify_all();
        drop(state);
        fail_point::TASK_STARTED.pass();
        let outcome = catch_unwind(AssertUnwindSafe(|| bodies.run(&spec, &progress)));
        fail_point::TASK_ENDING.pass();
        let outcome = outcome.unwrap_or_else(|panic| Err(panicked(&*panic)));
        let mut state = self.state.lock();
        self.finish(&mut state, id, outcome);
        state
    }

    /// Decides how a task that ran has ended.
    fn finish(&self, state: &mut State, id: TaskId, outcome: Result<String, GraphError>) {
        let Some(live) = state.live.get_mut(&id) else {
            return;
        };
        let lane = live.task.task_type.lane();
        let control = &live.progress.control;
        let stopping = control.stopping.load(Ordering::Relaxed);
        let cancelled = control.cancelled.load(Ordering::Relaxed);
        let (status, result) = match (live.task.status, outcome) {
            (TaskStatus::Deleting, _) => (TaskStatus::Deleting, None),
            // A change of the schema that is complete counts, whatever was wished meanwhile.
            (_, Ok(result)) if lane == Lane::Schema || !cancelled => {
                (TaskStatus::Success, Some(result))
            }
            _ if cancelled => (TaskStatus::Cancelled, None),
            (_, Err(_)) if stopping && lane == Lane::Schema => {
                live.task.status = TaskStatus::Queued;
                // If this cannot be stored the task is restored as after a crash.
                let _ = self.save(live, Durability::Sync);
                return;
            }
            (_, Err(_)) if stopping => (TaskStatus::Failed, Some(INTERRUPTED.to_owned())),
            (_, Err(error)) => (TaskStatus::Failed, Some(error.message)),
            (_, Ok(_)) => (TaskStatus::Cancelled, None),
        };
        // The body ran, so nobody is told.
        let _ = self.end(state, id, status, result);
    }

    /// Ends a task: stores how, and takes it out of the queue. Returns what to tell the bodies if
    /// its body never ran.
    fn end(
        &self,
        state: &mut State,
        id: TaskId,
        status: TaskStatus,
        result: Option<String>,
    ) -> Option<TaskSpec> {
        let live = state.live.get_mut(&id)?;
        let spec = live.spec();
        let result = result.filter(|text| !text.is_empty());
        if status == TaskStatus::Deleting {
            // Should it fail, the record says so, and the next opening of the graph tries again.
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

    /// Removes everything that is stored of tasks.
    fn erase(&self, ids: &[TaskId]) -> Result<(), GraphError> {
        let mut batch = Batch::new();
        for id in ids {
            for part in [OPEN, RECORD, INPUT, RESULT] {
                batch.delete(self.tables.meta, PARTITION, &record::key(part, *id));
            }
        }
        Ok(self.space.write(&batch, Durability::Sync)?)
    }

    /// Tells the bodies that a task ended unrun, without holding the lock.
    fn tell_abandoned(&self, state: MutexGuard<'_, State>, spec: Option<TaskSpec>) {
        let bodies = state.bodies.clone();
        drop(state);
        if let (Some(spec), Some(bodies)) = (spec, bodies) {
            bodies.abandoned(&spec);
        }
    }
}

impl State {
    /// The first waiting task of a lane whose dependencies have ended.
    fn next(&self, lane: Lane) -> Option<TaskId> {
        let unfinished = |id: &TaskId| {
            let live = self.live.get(id);
            live.is_some_and(|live| !live.task.status.is_final())
        };
        let ready = |live: &&Live| {
            live.task.task_type.lane() == lane
                && live.task.status.is_waiting()
                && !live.task.dependencies.iter().any(unfinished)
        };
        self.live.values().find(ready).map(|live| live.task.id)
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> GraphError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let message = format!("The task panicked: {}", text.unwrap_or_default());
    GraphError::new(ErrorKind::IllegalState, message)
}
