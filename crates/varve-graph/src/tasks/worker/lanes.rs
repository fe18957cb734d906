//! The threads of the lanes: each runs the tasks of its lane one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::MutexGuard;
use varve_kv::{Durability, fail_point};

use super::super::{Lane, TaskBodies, TaskId, TaskStatus};
use super::{INTERRUPTED, Live, Shared, TaskSchedule};
use crate::{ErrorKind, GraphError};

/// How long a lane's thread waits for tasks before it ends.
const IDLE_MAX: Duration = Duration::from_secs(5);

impl Shared {
    /// Starts the thread of a lane if there is work for it and it is not running, and notifies it.
    pub(super) fn wake(shared: &Arc<Self>, state: &mut TaskSchedule, lane: Lane) {
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
            // If no thread can be started, the tasks wait, and the next submission tries again.
            if let Ok(thread) = thread.spawn(move || own.work(lane)) {
                state.running[lane as usize] = true;
                let ended = state.threads[lane as usize].replace(thread);
                let _ = ended.map(JoinHandle::join);
            }
        }
        shared.changed.notify_all();
    }

    /// The thread of a lane: runs its tasks by id until none came for [`IDLE_MAX`].
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
        mut state: MutexGuard<'a, TaskSchedule>,
        bodies: &dyn TaskBodies,
        id: TaskId,
    ) -> MutexGuard<'a, TaskSchedule> {
        let Some(live) = state.live.get_mut(&id) else {
            return state;
        };
        live.task.status = TaskStatus::Running;
        let (spec, progress) = (live.spec(), live.progress.clone());
        // The start of a job must survive a power loss, so that the job is not run twice.
        let durability = match spec.task_type.lane() {
            Lane::Schema => Durability::Buffered,
            Lane::Job => Durability::Sync,
        };
        if let Err(error) = self.save(live, durability) {
            let message = Some(error.message);
            let ended = self.end(&mut state, id, TaskStatus::Failed, message);
            self.notify_abandoned(state, ended);
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

    /// Decides the final status of a task that has run.
    fn finish(&self, state: &mut TaskSchedule, id: TaskId, outcome: Result<String, GraphError>) {
        let Some(live) = state.live.get_mut(&id) else {
            return;
        };
        let lane = live.task.task_type.lane();
        let control = &live.progress.control;
        let stopping = control.stopping.load(Ordering::Relaxed);
        let cancelled = control.cancelled.load(Ordering::Relaxed);
        let (status, result) = match (live.task.status, outcome) {
            (TaskStatus::Deleting, _) => (TaskStatus::Deleting, None),
            // A completed change of the schema counts as a success even if it was cancelled
            // meanwhile.
            (_, Ok(result)) if lane == Lane::Schema || !cancelled => {
                (TaskStatus::Success, Some(result))
            }
            _ if cancelled => (TaskStatus::Cancelled, None),
            (_, Err(_)) if stopping && lane == Lane::Schema => {
                live.task.status = TaskStatus::Queued;
                // If this cannot be stored, the task is restored as after a crash.
                let _ = self.save(live, Durability::Sync);
                return;
            }
            (_, Err(_)) if stopping => (TaskStatus::Failed, Some(INTERRUPTED.to_owned())),
            (_, Err(error)) => (TaskStatus::Failed, Some(error.message)),
            (_, Ok(_)) => (TaskStatus::Cancelled, None),
        };
        // The body ran, so no notification is needed.
        let _ = self.end(state, id, status, result);
    }
}

impl TaskSchedule {
    /// Returns the first waiting task of a lane whose dependencies have ended.
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
