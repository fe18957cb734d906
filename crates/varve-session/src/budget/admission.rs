//! Back-pressure: a request over the budget waits for a limited time; then it fails as busy.
//!
//! Reads and writes have separate budgets, so neither starves the other. Each budget has three
//! parts: slots for requests in work, bytes of bodies that arrive, and bytes of the values that are
//! parsed from them. Work that runs in place needs no slot: a core does one such request at a time,
//! and further requests wait in the kernel's socket buffers.
//!
//! A body's share is at most twice its bytes received. So bodies may have to grow while each holds
//! a part of a full budget, and none could be completed. One of them at a time may then exceed the
//! budget: it holds the **overdraft** until its request ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};
use varve_view::ErrorKind;

use crate::{Class, Failure};

/// Bodies up to this size are not charged: the number of connections bounds them.
pub const SMALL_BODY_BYTES: usize = 16 * 1024;

/// Bytes that all unauthenticated clients of WebSockets may have sent and not got answered, beyond
/// [`SMALL_BODY_BYTES`] of each.
const STRANGERS_BYTES: usize = 16 << 20;

/// The budgets of one server.
#[derive(Debug)]
pub struct Admission {
    reads: Gate,
    writes: Gate,
    strangers: Arc<Semaphore>,
}

/// The limits of the budgets.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Reads in work, and bytes of their bodies.
    pub reads: (usize, usize),
    /// Writes in work, and bytes of their bodies.
    pub writes: (usize, usize),
    /// Requests of one budget that may wait.
    pub waiting_max: usize,
    /// How long a request waits.
    pub wait: Duration,
    /// After how many seconds a refused request may be sent again.
    pub retry_after_seconds: u32,
}

impl Admission {
    /// Empty budgets.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            reads: Gate::new(limits.reads, limits),
            writes: Gate::new(limits.writes, limits),
            strangers: Arc::new(Semaphore::new(STRANGERS_BYTES)),
        }
    }

    /// The budget of unauthenticated clients of WebSockets, in bytes.
    pub fn strangers(&self) -> &Arc<Semaphore> {
        &self.strangers
    }

    /// Bytes of that budget that are taken.
    pub fn strangers_bytes(&self) -> usize {
        STRANGERS_BYTES - self.strangers.available_permits()
    }

    /// The gate of a class; control requests have none.
    pub fn gate(&self, class: Class) -> Option<&Gate> {
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

/// One budget. A request takes its parts in this order: bytes of its body, bytes of parsed values,
/// a slot. So no two requests wait for each other.
#[derive(Debug)]
pub struct Gate {
    slots: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    /// One permit: for a body that exceeds the budget.
    overdraft: Arc<Semaphore>,
    /// Bytes of parsed values.
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
    fn new((slots, bytes): (usize, usize), limits: &Limits) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(slots)),
            bytes: Arc::new(Semaphore::new(bytes)),
            overdraft: Arc::new(Semaphore::new(1)),
            work: Arc::new(Semaphore::new(bytes)),
            slots_total: slots,
            bytes_total: bytes,
            waiting: AtomicUsize::new(0),
            max_waiting: limits.waiting_max,
            wait: limits.wait,
            retry_after_seconds: limits.retry_after_seconds,
            waited: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Whether a slot is free and no request waits. Takes no slot, so cores do not contend here.
    pub fn has_room(&self) -> bool {
        self.waiting() == 0 && self.slots.available_permits() > 0
    }

    /// Takes a slot if one is free.
    pub fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    /// Takes a slot, or waits for one.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.acquire(&self.slots, 1).await
    }

    /// Makes the share of a body at least `bytes` large, `wanted` if the budget has room. The first
    /// share waits for its turn; a body that holds one already waits for more, or for the
    /// overdraft.
    pub async fn grow(
        &self,
        share: &mut BodyShare,
        bytes: usize,
        wanted: usize,
    ) -> Result<(), Failure> {
        let held = share.bytes();
        if bytes <= held || share.overdraft.is_some() {
            return Ok(());
        }
        // The configuration keeps the budget below 4 GiB and no body larger than the budget.
        let count = |bytes: usize| u32::try_from(bytes.min(self.bytes_total)).unwrap_or(u32::MAX);
        let (least, most) = (count(bytes - held), count(wanted.max(bytes) - held));
        if let Ok(more) = Arc::clone(&self.bytes).try_acquire_many_owned(most) {
            share.add(more);
            return Ok(());
        }
        if held == 0 {
            share.add(self.acquire(&self.bytes, least).await?);
            return Ok(());
        }
        let more = Arc::clone(&self.bytes).acquire_many_owned(least);
        let overdraft = Arc::clone(&self.overdraft).acquire_owned();
        let either = async {
            tokio::select! {
                biased;
                more = more => share.add(more?),
                overdraft = overdraft => share.overdraft = Some(overdraft?),
            }
            Ok(())
        };
        self.wait_for(either).await
    }

    /// Takes a share for the values parsed from a body, or waits for it.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the whole budget cannot hold it, [`ErrorKind::Busy`] if it has no
    /// room in time.
    pub async fn reserve_work(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Failure> {
        match u32::try_from(bytes) {
            Ok(count) if bytes <= self.bytes_total => self.acquire(&self.work, count).await,
            _ => Err(self.too_costly()),
        }
    }

    /// The failure of a body whose values need more memory than the whole budget.
    #[must_use]
    pub fn too_costly(&self) -> Failure {
        let message = format!(
            "The values of the request body take more than the limit of {} bytes of memory: send it in parts",
            self.bytes_total
        );
        Failure::new(ErrorKind::TooLarge, message)
    }

    /// The most that [`Gate::reserve_work`] can give.
    pub fn work_max(&self) -> usize {
        self.bytes_total
    }

    async fn acquire(
        &self,
        from: &Arc<Semaphore>,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, Failure> {
        match Arc::clone(from).try_acquire_many_owned(count) {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::Closed) => return Err(self.refuse()),
            Err(TryAcquireError::NoPermits) => {}
        }
        self.wait_for(Arc::clone(from).acquire_many_owned(count))
            .await
    }

    /// Counts a wait and bounds it.
    async fn wait_for<T>(
        &self,
        turn: impl Future<Output = Result<T, AcquireError>>,
    ) -> Result<T, Failure> {
        let _waiting = Waiting::start(self).ok_or_else(|| self.refuse())?;
        self.waited.fetch_add(1, Ordering::Relaxed);
        match tokio::time::timeout(self.wait, turn).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) | Err(_) => Err(self.refuse()),
        }
    }

    fn refuse(&self) -> Failure {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Failure::busy(self.retry_after_seconds)
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

/// A body's share of the byte budget, returned when it is dropped.
#[derive(Debug, Default)]
pub struct BodyShare {
    bytes: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedSemaphorePermit>,
}

impl BodyShare {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let bytes = self.bytes.as_ref();
        bytes.map_or(0, OwnedSemaphorePermit::num_permits)
    }

    fn add(&mut self, more: OwnedSemaphorePermit) {
        match &mut self.bytes {
            None => self.bytes = Some(more),
            Some(bytes) => bytes.merge(more),
        }
    }

    /// Returns the bytes beyond `bytes` to the budget.
    pub fn shrink(&mut self, bytes: usize) {
        let excess = self.bytes().saturating_sub(bytes);
        if let Some(held) = &mut self.bytes {
            drop(held.split(excess));
        }
    }
}

/// Counts one waiting request until it is dropped.
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

    fn limits(wait_ms: u64, waiting_max: usize) -> Limits {
        Limits {
            reads: (1, 1_000),
            writes: (1, 1_000),
            waiting_max,
            wait: Duration::from_millis(wait_ms),
            retry_after_seconds: 1,
        }
    }

    #[tokio::test]
    async fn a_full_gate_lets_the_next_in_when_one_leaves() {
        let admission = Admission::new(&limits(60_000, 10));
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
    async fn over_the_time_or_the_queue_it_is_busy() {
        let admission = Admission::new(&limits(1, 10));
        let _held = admission.writes().enter().await.expect("the gate is empty");
        let error = admission
            .writes()
            .enter()
            .await
            .expect_err("the gate is full");
        assert_eq!(
            (error.kind, error.retry_after_seconds),
            (ErrorKind::Busy, Some(1))
        );
        let admission = Admission::new(&limits(60_000, 0));
        let _held = admission.writes().enter().await.expect("the gate is empty");
        assert!(admission.writes().enter().await.is_err());
        assert_eq!(
            (admission.writes().refused(), admission.writes().waiting()),
            (1, 0)
        );
    }
}
