//! Back-pressure: requests over the budget wait up to a named time, and only then are answered 503.
//!
//! Reads and writes have budgets of their own, so that neither starves the other; each counts requests in work, the
//! bytes of their bodies as they arrive, and as many bytes again for what is made of bodies. Work that runs in place needs no slot: a core does one such request at a time, and what it
//! has not come to yet waits in the kernel's socket buffers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::route::Class;

/// Bodies up to this size need no share of the byte budget: the number of connections bounds them well enough.
pub(crate) const SMALL_BODY_BYTES: usize = 16 * 1024;

/// The budgets of one server.
#[derive(Debug)]
pub struct Admission {
    reads: Gate,
    writes: Gate,
}

impl Admission {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            reads: Gate::new(
                config.max_reads_in_flight,
                config.max_read_request_bytes,
                config,
            ),
            writes: Gate::new(
                config.max_writes_in_flight,
                config.max_write_request_bytes,
                config,
            ),
        }
    }

    /// The gate of a class; control requests have none.
    pub(crate) fn gate(&self, class: Class) -> Option<&Gate> {
        match class {
            Class::Control => None,
            Class::Read => Some(&self.reads),
            Class::Write => Some(&self.writes),
        }
    }

    /// The reads' gate.
    pub fn reads(&self) -> &Gate {
        &self.reads
    }

    /// The writes' gate.
    pub fn writes(&self) -> &Gate {
        &self.writes
    }
}

/// One budget: slots for requests in work, bytes of bodies, and bytes of what is made of them. Whoever waits for the last holds the
/// one before it, never the other way round, so that no two wait for each other.
#[derive(Debug)]
pub struct Gate {
    slots: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    work: Arc<Semaphore>,
    slots_total: usize,
    bytes_total: usize,
    waiting: AtomicUsize,
    max_waiting: usize,
    wait: Duration,
    retry_after_seconds: u32,
    waited: AtomicU64,
    refused: AtomicU64,
}

impl Gate {
    fn new(slots: usize, bytes: usize, config: &ServerConfig) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(slots)),
            bytes: Arc::new(Semaphore::new(bytes)),
            work: Arc::new(Semaphore::new(bytes)),
            slots_total: slots,
            bytes_total: bytes,
            waiting: AtomicUsize::new(0),
            max_waiting: config.max_waiting_requests,
            wait: config.admission_wait(),
            retry_after_seconds: config.retry_after_seconds,
            waited: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Whether a slot is free and nobody waits for it. Only looks, so that requests of several cores do not meet here.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting() == 0 && self.slots.available_permits() > 0
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    /// Takes a slot, waiting for one if need be.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.acquire(&self.slots, 1).await
    }

    /// Takes a share of the byte budget, waiting for it if need be.
    pub(crate) async fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        // The configuration keeps the budget below 4 GiB and no body larger than the budget.
        let bytes = u32::try_from(bytes.min(self.bytes_total)).unwrap_or(u32::MAX);
        self.acquire(&self.bytes, bytes).await
    }

    /// Takes a share for what is made of a body, waiting for it if need be. 413 for one that no budget of this size can hold.
    pub(crate) async fn reserve_work(
        &self,
        bytes: usize,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        match u32::try_from(bytes) {
            Ok(count) if bytes <= self.bytes_total => self.acquire(&self.work, count).await,
            _ => Err(ApiError::body_too_costly(self.bytes_total)),
        }
    }

    /// The most that [`Gate::reserve_work`] can give.
    pub(crate) fn work_max(&self) -> usize {
        self.bytes_total
    }

    async fn acquire(
        &self,
        from: &Arc<Semaphore>,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        match Arc::clone(from).try_acquire_many_owned(count) {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::Closed) => return Err(self.refuse()),
            Err(TryAcquireError::NoPermits) => {}
        }
        let _waiting = Waiting::start(self).ok_or_else(|| self.refuse())?;
        self.waited.fetch_add(1, Ordering::Relaxed);
        match tokio::time::timeout(self.wait, Arc::clone(from).acquire_many_owned(count)).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(self.refuse()),
        }
    }

    fn refuse(&self) -> ApiError {
        self.refused.fetch_add(1, Ordering::Relaxed);
        ApiError::unavailable(
            "The server is too busy, please try again later",
            self.retry_after_seconds,
        )
    }

    /// Requests in work.
    pub fn in_flight(&self) -> usize {
        self.slots_total
            .saturating_sub(self.slots.available_permits())
    }

    /// Bytes of bodies held.
    pub fn bytes_held(&self) -> usize {
        self.bytes_total
            .saturating_sub(self.bytes.available_permits())
    }

    /// Requests waiting now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Requests that had to wait, since the start.
    pub fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// Requests refused, since the start.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Counts one waiting request for as long as it lives.
struct Waiting<'a> {
    gate: &'a Gate,
}

impl<'a> Waiting<'a> {
    fn start(gate: &'a Gate) -> Option<Self> {
        let before = gate.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Self { gate };
        (before < gate.max_waiting).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gate.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(wait_ms: u64, max_waiting: usize) -> ServerConfig {
        ServerConfig {
            max_writes_in_flight: 1,
            admission_wait_ms: wait_ms,
            max_waiting_requests: max_waiting,
            ..ServerConfig::default()
        }
    }

    #[tokio::test]
    async fn a_full_gate_lets_the_next_in_when_one_leaves() {
        let admission = Admission::new(&config(60_000, 10));
        let gate = admission.writes();
        let first = gate.enter().await.expect("the gate is empty");
        let (second, ()) = tokio::join!(gate.enter(), async {
            tokio::task::yield_now().await;
            assert_eq!(gate.waiting(), 1);
            drop(first);
        });
        assert!(second.is_ok());
        assert_eq!((gate.waited(), gate.refused(), gate.waiting()), (1, 0, 0));
    }

    #[tokio::test]
    async fn over_the_time_or_the_queue_it_is_503() {
        let admission = Admission::new(&config(1, 10));
        let _held = admission.writes().enter().await.expect("the gate is empty");
        let error = admission
            .writes()
            .enter()
            .await
            .expect_err("the gate is full");
        assert_eq!(
            error.exception(),
            "jakarta.ws.rs.ServiceUnavailableException"
        );
        let admission = Admission::new(&config(60_000, 0));
        let _held = admission.writes().enter().await.expect("the gate is empty");
        assert!(admission.writes().enter().await.is_err());
        assert_eq!(
            (admission.writes().refused(), admission.writes().waiting()),
            (1, 0)
        );
    }
}
