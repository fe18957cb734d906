//! Bounded pools of threads for long work: scans, large batches, compression of large answers.
//!
//! Reads and writes have a lane each, with threads and a queue of its own, so that neither waits
//! behind the other. A queue is bounded by a semaphore that callers wait on without blocking their
//! core. A panic in a piece of work reaches its caller, not the pool.
//!
//! The thread that is about to do a piece of work and the request that waits for it agree whether
//! it has begun ([`Turn`]): what was given up before it began is never done.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::{Semaphore, oneshot};

use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::route::Class;

type Work = Box<dyn FnOnce() + Send>;

/// Which queue a piece of work waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Reads,
    Writes,
}

impl Lane {
    /// The lane of a request's work.
    pub(crate) fn of(class: Class) -> Self {
        match class {
            Class::Write => Self::Writes,
            Class::Read | Class::Control => Self::Reads,
        }
    }
}

/// The state of a [`Turn`] while its work may begin or be given up.
const WAITING: u8 = 0;
/// Its work has begun.
const BEGUN: u8 = 1;
/// Its work never begins.
const GIVEN_UP: u8 = 2;

/// Whether a request's work has begun. Who begins it and who gives it up change the same state, so
/// only one of them succeeds.
#[derive(Debug)]
pub(crate) struct Turn {
    state: AtomicU8,
    deadline: Instant,
}

impl Turn {
    /// The turn of work that must have begun before `deadline`.
    pub(crate) fn until(deadline: Instant) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU8::new(WAITING),
            deadline,
        })
    }

    /// Says that the work begins now. `false`: its deadline has passed or it was given up, and it
    /// must not be done.
    #[must_use]
    pub(crate) fn begin(&self) -> bool {
        if Instant::now() >= self.deadline {
            return !self.give_up();
        }
        match self.change(WAITING, BEGUN) {
            Ok(_) => true,
            Err(state) => state == BEGUN,
        }
    }

    /// Says that what was begun has changed nothing: it may be given up again.
    pub(crate) fn has_changed_nothing(&self) {
        // Given up it cannot be: it was begun.
        let _ = self.change(BEGUN, WAITING);
    }

    /// Gives the work up. `false`: it has begun already.
    #[must_use]
    pub(crate) fn give_up(&self) -> bool {
        self.change(WAITING, GIVEN_UP) != Err(BEGUN)
    }

    fn change(&self, from: u8, to: u8) -> Result<u8, u8> {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// The lanes. Their threads end when the pool is dropped and the queues are empty.
#[derive(Debug)]
pub struct BlockingPool {
    reads: Threads,
    writes: Threads,
    wait: Duration,
    retry_after_seconds: u32,
}

/// The threads of a lane and their queue.
#[derive(Debug)]
struct Threads {
    queue: Arc<Queue>,
    room: Arc<Semaphore>,
    capacity: usize,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    work: VecDeque<Work>,
    closed: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Why a piece of work gave no result.
#[derive(Debug)]
pub(crate) enum PoolError {
    /// No room in the queue in time.
    Busy(ApiError),
    /// Its deadline passed before it began: it was not done.
    NotBegun,
    /// It panicked.
    Panicked(Box<dyn std::any::Any + Send>),
}

impl BlockingPool {
    /// Starts the threads; `reads_wait`: their work mostly waits for a network.
    pub(crate) fn start(config: &ServerConfig, reads_wait: bool) -> std::io::Result<Self> {
        Ok(Self {
            reads: Threads::start("varve-reads", config, reads_wait)?,
            writes: Threads::start("varve-writes", config, reads_wait)?,
            wait: config.admission_wait(),
            retry_after_seconds: config.retry_after_seconds,
        })
    }

    /// Runs a piece of work when it has its turn, and waits for it without blocking. When the
    /// caller goes away, work that has not begun is not done; what has begun is not stopped.
    pub(crate) async fn run<T, F>(
        &self,
        lane: Lane,
        turn: &Arc<Turn>,
        work: F,
    ) -> Result<T, PoolError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let threads = self.lane(lane);
        let room = Arc::clone(&threads.room).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(self.wait, room).await else {
            let message = "The server is too busy, please try again later";
            return Err(PoolError::Busy(ApiError::unavailable(
                message,
                self.retry_after_seconds,
            )));
        };
        let waiting = Waiting(Arc::clone(turn));
        let turn = Arc::clone(turn);
        let (sender, receiver) = oneshot::channel();
        threads.queue.push(Box::new(move || {
            let _permit = permit;
            let result = turn.begin().then(|| catch_unwind(AssertUnwindSafe(work)));
            // The caller may be gone; then nobody wants the result.
            let _ = sender.send(result);
        }));
        let result = receiver.await;
        drop(waiting);
        match result {
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(panic))) => Err(PoolError::Panicked(panic)),
            Ok(None) => Err(PoolError::NotBegun),
            Err(_) => Err(PoolError::Panicked(Box::new("the pool was stopped"))),
        }
    }

    /// Pieces of work queued or running.
    pub fn in_work(&self) -> usize {
        self.reads.in_work() + self.writes.in_work()
    }

    fn lane(&self, lane: Lane) -> &Threads {
        match lane {
            Lane::Reads => &self.reads,
            Lane::Writes => &self.writes,
        }
    }
}

impl Threads {
    fn start(name: &str, config: &ServerConfig, reads_wait: bool) -> std::io::Result<Self> {
        let count = config.blocking_thread_count(reads_wait);
        let queue = Arc::new(Queue::default());
        for index in 0..count {
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name(format!("{name}-{index}"))
                .spawn(move || queue.serve())?;
        }
        let capacity = count + config.blocking_queue;
        Ok(Self {
            queue,
            room: Arc::new(Semaphore::new(capacity)),
            capacity,
        })
    }

    fn in_work(&self) -> usize {
        self.capacity.saturating_sub(self.room.available_permits())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue.state.lock().closed = true;
        self.queue.changed.notify_all();
    }
}

/// A caller that waits for its work: dropped, it gives up what has not begun.
struct Waiting(Arc<Turn>);

impl Drop for Waiting {
    fn drop(&mut self) {
        // What has begun goes on.
        let _ = self.0.give_up();
    }
}

impl Queue {
    fn push(&self, work: Work) {
        self.state.lock().work.push_back(work);
        self.changed.notify_one();
    }

    fn serve(&self) {
        loop {
            let mut state = self.state.lock();
            let work = loop {
                if let Some(work) = state.work.pop_front() {
                    break work;
                }
                if state.closed {
                    return;
                }
                self.changed.wait(&mut state);
            };
            drop(state);
            work();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later() -> Arc<Turn> {
        Turn::until(Instant::now() + Duration::from_secs(600))
    }

    fn pool(config: ServerConfig) -> BlockingPool {
        BlockingPool::start(&config, false).expect("threads can be started")
    }

    #[tokio::test]
    async fn work_runs_and_panics_reach_the_caller() {
        let pool = pool(ServerConfig {
            blocking_threads: 1,
            ..ServerConfig::default()
        });
        let done = pool.run(Lane::Reads, &later(), || 6 * 7).await;
        assert_eq!(done.expect("it does not panic"), 42);
        assert!(matches!(
            pool.run(Lane::Reads, &later(), || panic!("on purpose"))
                .await,
            Err::<(), _>(PoolError::Panicked(_))
        ));
        let done = pool.run(Lane::Reads, &later(), || 1).await;
        assert_eq!(done.expect("the thread lives on"), 1);
    }

    #[tokio::test]
    async fn a_full_queue_is_refused_in_time_and_the_other_lane_goes_on() {
        let pool = pool(ServerConfig {
            blocking_threads: 1,
            blocking_queue: 0,
            admission_wait_ms: 1,
            ..ServerConfig::default()
        });
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let turn = later();
        let long = pool.run(Lane::Reads, &turn, move || wait.recv());
        let (_, (refused, written)) = tokio::join!(long, async {
            let refused = pool.run(Lane::Reads, &later(), || ()).await;
            let written = pool.run(Lane::Writes, &later(), || 7).await;
            release.send(()).expect("the work waits");
            (refused, written)
        });
        assert!(matches!(refused, Err(PoolError::Busy(_))));
        assert_eq!(written.expect("it does not wait for reads"), 7);
    }

    #[tokio::test]
    async fn work_whose_deadline_has_passed_is_not_begun() {
        let pool = pool(ServerConfig::default());
        let over = Turn::until(Instant::now());
        let result = pool.run(Lane::Writes, &over, || panic!("begun")).await;
        assert!(matches!(result, Err::<(), _>(PoolError::NotBegun)));
    }

    #[test]
    fn a_turn_is_begun_or_given_up_and_never_both() {
        let begun = later();
        assert!(begun.begin() && !begun.give_up());
        begun.has_changed_nothing();
        assert!(begun.give_up() && !begun.begin());
        let given_up = later();
        assert!(given_up.give_up() && given_up.give_up() && !given_up.begin());
        assert!(!Turn::until(Instant::now()).begin());
    }
}
