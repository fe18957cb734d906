//! Bounded pools of threads for long work: scans, large batches, compression of large answers.
//!
//! Reads and writes have a lane each, with threads and a queue of its own, so that neither waits
//! behind the other. A queue is bounded by a semaphore that callers wait on without blocking their
//! core. A panic in a piece of work reaches its caller, not the pool.
//!
//! The thread that begins a piece of work and the request that waits for it agree whether it has
//! begun ([`Turn`]): work that was given up before it began never runs.
//!
//! Long reads call [`yield_to_others`] regularly. A read that has run for its time slice lets the
//! waiting work of its lane run first, so that short work waits for slices, not for whole searches.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::{Semaphore, oneshot};

use crate::{Class, Failure};

type Work = Box<dyn FnOnce() + Send>;

/// How long a piece of work runs before it yields.
const SLICE: Duration = Duration::from_millis(20);

/// Threads of the lane of reads for each piece of work that may run: the other threads hold work
/// that has yielded.
const THREADS_FOR_ONE: usize = 4;

thread_local! {
    /// The queue that this thread serves, if its work may yield.
    static SERVED: RefCell<Option<Arc<Queue>>> = const { RefCell::new(None) };
    /// When the slice of the current work began.
    static SLICE_BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets the waiting work of the lane of reads run first, if the current work has run for its slice.
/// The caller must hold no lock. Does nothing on other threads: a write may hold locks.
pub fn yield_to_others() {
    let Some(began) = SLICE_BEGAN.get() else {
        return;
    };
    if began.elapsed() >= SLICE {
        SERVED.with_borrow(|queue| {
            if let Some(queue) = queue {
                queue.yield_turn();
            }
        });
        SLICE_BEGAN.set(Some(Instant::now()));
    }
}

/// Runs `wait`, which only waits, while other work of the lane runs in its place. Returns `None` if
/// so much work has yielded that no thread would be left for new work. On other threads, only calls
/// `wait`.
pub fn aside<T>(wait: impl FnOnce() -> T) -> Option<T> {
    let queue = SERVED.with_borrow(Clone::clone);
    let (Some(queue), Some(_)) = (queue, SLICE_BEGAN.get()) else {
        return Some(wait());
    };
    let place = queue.leave()?;
    SLICE_BEGAN.set(None);
    let done = wait();
    drop(place);
    SLICE_BEGAN.set(Some(Instant::now()));
    Some(done)
}

/// The queue in which a piece of work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Of work that changes nothing.
    Reads,
    /// Of work that may change something.
    Writes,
}

impl Lane {
    /// The lane of a request's work.
    pub fn of(class: Class) -> Self {
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

/// Whether a request's work has begun. Beginning and giving up change the same state, so only one
/// of them succeeds.
#[derive(Debug)]
pub struct Turn {
    state: AtomicU8,
    deadline: Instant,
    /// Whether the work changes something.
    changes: AtomicBool,
}

impl Turn {
    /// The turn of work that must have begun before `deadline`.
    pub fn until(deadline: Instant) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU8::new(WAITING),
            deadline,
            changes: AtomicBool::new(false),
        })
    }

    /// Marks the work as changing something: if it has begun when its time is over, its outcome is
    /// unknown.
    pub fn will_change(&self) {
        self.changes.store(true, Ordering::Release);
    }

    /// Whether the work changes something.
    pub fn changes(&self) -> bool {
        self.changes.load(Ordering::Acquire)
    }

    /// Marks the work as begun. Returns `false` if its deadline has passed or it was given up: it
    /// must not run then.
    #[must_use]
    pub fn begin(&self) -> bool {
        if Instant::now() >= self.deadline {
            return !self.give_up();
        }
        match self.change(WAITING, BEGUN) {
            Ok(_) => true,
            Err(state) => state == BEGUN,
        }
    }

    /// Marks begun work as having changed nothing: it may be given up again.
    pub fn has_changed_nothing(&self) {
        // The state cannot be `GIVEN_UP`, since the work was begun.
        let _ = self.change(BEGUN, WAITING);
    }

    /// Gives the work up. Returns `false` if it has begun already.
    #[must_use]
    pub fn give_up(&self) -> bool {
        self.change(WAITING, GIVEN_UP) != Err(BEGUN)
    }

    fn change(&self, from: u8, to: u8) -> Result<u8, u8> {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// The sizes of the pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Threads of each lane that run work at the same time.
    pub threads: usize,
    /// Pieces of work that may wait in each lane.
    pub queue: usize,
    /// How long a caller waits for room in the queue.
    pub wait: Duration,
    /// After how many seconds refused work may be tried again.
    pub retry_after_seconds: u32,
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

struct Queue {
    state: Mutex<QueueState>,
    /// Wakes threads whose work has yielded.
    to_go_on: Condvar,
    running_max: usize,
}

#[derive(Default)]
struct QueueState {
    next: VecDeque<Next>,
    /// Pieces of work that run now.
    running: usize,
    /// Pieces of work that have begun and yielded.
    waiting: usize,
    /// The number of the next piece that yields.
    number: u64,
    /// The threads without work, each with what wakes it. The one that worked last is woken first:
    /// its memory and its caches are warm, and the memory of the others can be returned.
    idle: Vec<Arc<Condvar>>,
    closed: bool,
}

/// An entry of the queue: new work, or the number of work that has yielded.
enum Next {
    Begin(Work),
    GoOn(u64),
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Why a piece of work gave no result.
#[derive(Debug)]
pub enum PoolError {
    /// The queue had no room in time.
    Busy(Failure),
    /// Its deadline passed before it began: it did not run.
    NotBegun,
    /// It panicked.
    Panicked(Box<dyn std::any::Any + Send>),
}

impl BlockingPool {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system starts no more threads.
    pub fn start(options: PoolOptions) -> std::io::Result<Self> {
        Ok(Self {
            reads: Threads::start("varve-reads", options, true)?,
            writes: Threads::start("varve-writes", options, false)?,
            wait: options.wait,
            retry_after_seconds: options.retry_after_seconds,
        })
    }

    /// Runs a piece of work in its turn, and waits for it without blocking. If the caller goes
    /// away, work that has not begun never runs; work that has begun is not stopped.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub async fn run<T, F>(&self, lane: Lane, turn: &Arc<Turn>, work: F) -> Result<T, PoolError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let threads = self.lane(lane);
        let room = Arc::clone(&threads.room).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(self.wait, room).await else {
            return Err(PoolError::Busy(Failure::busy(self.retry_after_seconds)));
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
    fn start(name: &str, options: PoolOptions, yields: bool) -> std::io::Result<Self> {
        let count = options.threads;
        let queue = Arc::new(Queue {
            state: Mutex::default(),
            to_go_on: Condvar::new(),
            running_max: count,
        });
        let threads = match yields {
            true => count * THREADS_FOR_ONE,
            false => count,
        };
        for index in 0..threads {
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name(format!("{name}-{index}"))
                .spawn(move || {
                    if yields {
                        SERVED.set(Some(Arc::clone(&queue)));
                    }
                    queue.serve();
                })?;
        }
        let capacity = count + options.queue;
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
        let mut state = self.queue.state.lock();
        state.closed = true;
        self.queue.wake(&mut state);
    }
}

/// A caller that waits for its work. Dropping it gives up work that has not begun.
struct Waiting(Arc<Turn>);

impl Drop for Waiting {
    fn drop(&mut self) {
        // Work that has begun goes on.
        let _ = self.0.give_up();
    }
}

impl Queue {
    fn push(&self, work: Work) {
        let mut state = self.state.lock();
        state.next.push_back(Next::Begin(work));
        self.wake(&mut state);
    }

    /// Wakes the thread whose turn it is, if another piece of work may run.
    fn wake(&self, state: &mut QueueState) {
        if state.closed {
            for idle in state.idle.drain(..) {
                idle.notify_one();
            }
        }
        if state.running >= self.running_max {
            return;
        }
        match state.next.front() {
            Some(Next::Begin(_)) => {
                if let Some(idle) = state.idle.pop() {
                    idle.notify_one();
                }
            }
            Some(Next::GoOn(_)) => {
                self.to_go_on.notify_all();
            }
            None => {}
        }
    }

    fn serve(&self) {
        let own = Arc::new(Condvar::new());
        let mut state = self.state.lock();
        loop {
            let may_run = state.running < self.running_max;
            let may_begin = |next: &mut Next| may_run && matches!(next, Next::Begin(_));
            match state.next.pop_front_if(may_begin) {
                Some(Next::Begin(work)) => {
                    state.running += 1;
                    self.wake(&mut state);
                    drop(state);
                    SLICE_BEGAN.set(Some(Instant::now()));
                    work();
                    state = self.state.lock();
                    state.running -= 1;
                    // New work is taken by this thread itself.
                    if !matches!(state.next.front(), Some(Next::Begin(_))) {
                        self.wake(&mut state);
                    }
                }
                _ if state.closed && state.next.is_empty() => return,
                _ => {
                    state.idle.push(Arc::clone(&own));
                    own.wait(&mut state);
                    // It may have woken by itself.
                    state.idle.retain(|idle| !Arc::ptr_eq(idle, &own));
                }
            }
        }
    }

    /// Moves the current work to the end of the queue, unless the queue is empty or no thread would
    /// be left for new work.
    fn yield_turn(&self) {
        let mut state = self.state.lock();
        if state.next.is_empty() || state.waiting >= self.waiting_max() {
            return;
        }
        state.running -= 1;
        state.waiting += 1;
        self.go_on(state);
    }

    const fn waiting_max(&self) -> usize {
        self.running_max * (THREADS_FOR_ONE - 1)
    }

    /// Lets other work run in place of the current work until the returned guard is dropped. `None`
    /// if no thread would be left for new work.
    fn leave(self: &Arc<Self>) -> Option<Left> {
        let mut state = self.state.lock();
        if state.waiting >= self.waiting_max() {
            return None;
        }
        state.running -= 1;
        state.waiting += 1;
        self.wake(&mut state);
        drop(state);
        Some(Left(Arc::clone(self)))
    }

    /// Waits for a turn at the end of the queue.
    fn go_on(&self, mut state: MutexGuard<'_, QueueState>) {
        let number = state.number;
        state.number += 1;
        state.next.push_back(Next::GoOn(number));
        self.wake(&mut state);
        loop {
            let may_run = state.running < self.running_max;
            let is_own =
                |next: &mut Next| may_run && matches!(next, Next::GoOn(of) if *of == number);
            if state.next.pop_front_if(is_own).is_some() {
                break;
            }
            self.to_go_on.wait(&mut state);
        }
        state.running += 1;
        state.waiting -= 1;
        self.wake(&mut state);
    }
}

/// Work whose slot others use; dropping it waits for a turn again.
struct Left(Arc<Queue>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.go_on(self.0.state.lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later() -> Arc<Turn> {
        Turn::until(Instant::now() + Duration::from_secs(600))
    }

    fn pool(threads: usize, queue: usize, wait_ms: u64) -> BlockingPool {
        let options = PoolOptions {
            threads,
            queue,
            wait: Duration::from_millis(wait_ms),
            retry_after_seconds: 1,
        };
        BlockingPool::start(options).expect("threads can be started")
    }

    #[tokio::test]
    async fn work_runs_and_panics_reach_the_caller() {
        let pool = pool(1, 100, 60_000);
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
    async fn the_thread_that_worked_last_works_next() {
        let pool = pool(4, 100, 60_000);
        let mut threads = std::collections::HashSet::new();
        for _ in 0..200 {
            let turn = later();
            let done = pool.run(Lane::Reads, &turn, || thread::current().id());
            threads.insert(done.await.expect("it does not panic"));
        }
        // Of 16. The next piece may come before the thread of the last one is idle again.
        assert!(threads.len() <= 8, "{}", threads.len());
    }

    #[tokio::test]
    async fn a_full_queue_is_refused_in_time_and_the_other_lane_goes_on() {
        let pool = pool(1, 0, 1);
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
    async fn short_work_does_not_wait_for_the_end_of_long_work() {
        let pool = pool(1, 100, 60_000);
        let is_done = Arc::new(AtomicBool::new(false));
        let (long_until, short_does) = (Arc::clone(&is_done), Arc::clone(&is_done));
        let (turn, later_turn) = (later(), later());
        let long = pool.run(Lane::Reads, &turn, move || {
            while !long_until.load(Ordering::Relaxed) {
                yield_to_others();
            }
        });
        let short = pool.run(Lane::Reads, &later_turn, move || {
            short_does.store(true, Ordering::Relaxed);
        });
        let (long, short) = tokio::join!(long, short);
        assert!(long.is_ok() && short.is_ok());
    }

    #[test]
    fn all_long_work_goes_on_after_it_let_others_go_first() {
        let pool = pool(2, 100, 60_000);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        thread::scope(|scope| {
            for _ in 0..20 {
                let (pool, handle) = (&pool, runtime.handle());
                scope.spawn(move || {
                    let long = || {
                        let until = Instant::now() + 3 * SLICE;
                        while Instant::now() < until {
                            yield_to_others();
                        }
                    };
                    let done = handle.block_on(pool.run(Lane::Reads, &later(), long));
                    assert!(done.is_ok());
                });
            }
        });
        assert_eq!(pool.reads.queue.state.lock().waiting, 0);
    }

    #[tokio::test]
    async fn work_whose_deadline_has_passed_is_not_begun() {
        let pool = pool(2, 100, 60_000);
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
