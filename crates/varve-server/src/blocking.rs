//! A bounded pool of threads for long work: scans, large batches, compression of large answers.
//!
//! Its queue is bounded by a semaphore that callers wait on without blocking their core. A panic in a piece of work
//! reaches its caller, not the pool.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use parking_lot::{Condvar, Mutex};
use tokio::sync::{Semaphore, oneshot};

use crate::config::ServerConfig;
use crate::errors::ApiError;

type Work = Box<dyn FnOnce() + Send>;

/// The pool. Its threads end when it is dropped and the queue is empty.
#[derive(Debug)]
pub struct BlockingPool {
    queue: Arc<Queue>,
    room: Arc<Semaphore>,
    capacity: usize,
    wait: std::time::Duration,
    retry_after_seconds: u32,
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
    /// It panicked.
    Panicked(Box<dyn std::any::Any + Send>),
}

impl BlockingPool {
    /// Starts the threads; `reads_wait`: their work mostly waits for a network.
    pub(crate) fn start(config: &ServerConfig, reads_wait: bool) -> std::io::Result<Self> {
        let threads = config.blocking_thread_count(reads_wait);
        let queue = Arc::new(Queue::default());
        for index in 0..threads {
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name(format!("varve-pool-{index}"))
                .spawn(move || queue.serve())?;
        }
        let capacity = threads + config.blocking_queue;
        Ok(Self {
            queue,
            room: Arc::new(Semaphore::new(capacity)),
            capacity,
            wait: config.admission_wait(),
            retry_after_seconds: config.retry_after_seconds,
        })
    }

    /// Runs a piece of work and waits for it without blocking. Work that was begun is not stopped when the caller
    /// goes away.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, PoolError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let room = tokio::time::timeout(self.wait, Arc::clone(&self.room).acquire_owned()).await;
        let Ok(Ok(permit)) = room else {
            let message = "The server is too busy, please try again later";
            return Err(PoolError::Busy(ApiError::unavailable(
                message,
                self.retry_after_seconds,
            )));
        };
        let (sender, receiver) = oneshot::channel();
        self.queue.push(Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            drop(permit);
            // The caller may be gone; then nobody wants the result.
            let _ = sender.send(result);
        }));
        match receiver.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(panic)) => Err(PoolError::Panicked(panic)),
            Err(_) => Err(PoolError::Panicked(Box::new("the pool was stopped"))),
        }
    }

    /// Pieces of work queued or running.
    pub fn in_work(&self) -> usize {
        self.capacity.saturating_sub(self.room.available_permits())
    }
}

impl Drop for BlockingPool {
    fn drop(&mut self) {
        self.queue.state.lock().closed = true;
        self.queue.changed.notify_all();
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

    #[tokio::test]
    async fn work_runs_and_panics_reach_the_caller() {
        let config = ServerConfig {
            blocking_threads: 1,
            ..ServerConfig::default()
        };
        let pool = BlockingPool::start(&config, false).expect("threads can be started");
        assert_eq!(pool.run(|| 6 * 7).await.expect("it does not panic"), 42);
        assert!(matches!(
            pool.run(|| panic!("on purpose")).await,
            Err::<(), _>(PoolError::Panicked(_))
        ));
        assert_eq!(pool.run(|| 1).await.expect("the thread lives on"), 1);
    }

    #[tokio::test]
    async fn a_full_queue_is_refused_in_time() {
        let config = ServerConfig {
            blocking_threads: 1,
            blocking_queue: 0,
            admission_wait_ms: 1,
            ..ServerConfig::default()
        };
        let pool = BlockingPool::start(&config, false).expect("threads can be started");
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let long = pool.run(move || wait.recv());
        let (_, refused) = tokio::join!(long, async {
            let refused = pool.run(|| ()).await;
            release.send(()).expect("the work waits");
            refused
        });
        assert!(matches!(refused, Err(PoolError::Busy(_))));
    }
}
