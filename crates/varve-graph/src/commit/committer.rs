//! The committer: numbers commits, writes them in groups and publishes them, one group at a time.
//!
//! If no sync is needed and no thread is writing, the thread that prepared a commit writes it in
//! place: its rows and latches are still in that core's cache, and no other thread has to be woken.
//! Commits that arrive meanwhile wait. The same thread writes them next if they are small in total
//! ([`LED_BYTES_MAX`]), because it may have other clients to serve; else the committer's own thread
//! does.
//!
//! The committer's own thread also writes if each commit needs a sync, or if a write may block and
//! the thread that prepared the commit must not. With [`DurabilityMode::Interval`] it also syncs.
//! It is started when it is first needed, and ends after it was idle for [`IDLE_MAX`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as MonotonicInstant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use varve_encoding::tables::COUNTER;
use varve_kv::{Batch, Durability, KvError, Reader, ReaderExt, Space, fail_point, has_snapshots};
use varve_model::{Clock, CommitVersion, Instant};

pub(crate) use progress::{OwnProgress, Progress, Waited};

use self::group::{Group, joined, numbered};
use super::CLOSE_WAIT_MAX;
use super::known::Known;
use super::latency::{CommitLatency, Latencies};
use super::prepared::Commit;
use super::ticket::CommitFailure;
use crate::deadline;
use crate::error::{ErrorKind, GraphError};

/// When a commit is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DurabilityMode {
    /// When it is on stable storage; one sync for all commits that wait.
    #[default]
    Sync,
    /// At once; a power failure may lose the commits of the last interval, a crash of the process
    /// loses none.
    Interval(Duration),
    /// At once; how much a power failure may lose depends on the operating system.
    None,
}

impl std::fmt::Display for DurabilityMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sync => f.write_str("sync"),
            Self::Interval(every) => write!(f, "interval:{}", every.as_millis()),
            Self::None => f.write_str("none"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CommitterOptions {
    pub(crate) durability: DurabilityMode,
    /// The most bytes of batches in one engine write; a single larger batch is written alone.
    pub(crate) group_bytes_max: usize,
    /// The most bytes of batches that may wait; further commits are refused as busy.
    pub(crate) queue_bytes_max: usize,
    /// How long the committer's own thread waits for work before it ends: [`IDLE_MAX`], except in
    /// tests.
    pub(crate) idle_max: Duration,
}

/// See [`CommitterOptions::idle_max`]: long enough that a client that writes one commit after
/// another does not start a thread for each.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(5);
/// The most groups that a thread writes in place before it returns to its own work.
const LED_GROUPS_MAX: usize = 8;
/// How far the stored version is ahead of the last commit (see `Shared::ahead`), in microseconds.
const LEAD_MICROS: i64 = 1_000_000;
/// The most bytes of other threads' commits that a thread writes in place. A single insert has some
/// hundred bytes, and a write of this size takes less than a millisecond.
const LED_BYTES_MAX: usize = 64 << 10;
/// The same for a thread that serves no other client: room for some large batches, which would
/// otherwise move to another core's cache.
const LED_BYTES_MAX_WAITING: usize = 1 << 20;
/// After this time a thread writes no further groups of others: its own client waits for its
/// answer.
const LED_TIME_MAX: Duration = Duration::from_millis(50);

#[derive(Default)]
struct CommitterState {
    queue: Vec<Commit>,
    queued_bytes: usize,
    /// The newest version that was assigned to a commit or fixed by a read.
    last: CommitVersion,
    /// A thread is writing a group; it checks the queue afterwards.
    writing: bool,
    /// When the oldest write that no sync has covered was made.
    unsynced_since: Option<MonotonicInstant>,
    /// The committer's own thread is waiting for the next sync of an interval.
    timed: bool,
    stop: bool,
    /// The committer's own thread, or the previous one that has ended.
    thread: Option<JoinHandle<()>>,
    running: bool,
    failed: Option<CommitFailure>,
}

struct Shared {
    state: Mutex<CommitterState>,
    arrived: Condvar,
    written: Condvar,
    published: AtomicU64,
    /// A copy of `CommitterState::last`, readable without the lock.
    numbered: AtomicU64,
    space: Arc<dyn Space>,
    clock: Arc<dyn Clock>,
    /// The caches that commits are added to.
    known: Arc<Known>,
    latencies: Latencies,
    options: CommitterOptions,
    /// Without snapshots (on a cluster): the version stored in [`COUNTER`], which is ahead of the
    /// last commit, so that no stored commit has a greater one. On a cluster, one more row in
    /// another partition with each group would cost more than most commits do.
    ahead: Option<AtomicU64>,
}

/// The committer of one graph. Dropping it stores the waiting commits, then ends the thread. On a
/// cluster the drop waits at most [`CLOSE_WAIT_MAX`], and the thread finishes by itself.
pub(crate) struct Committer {
    shared: Arc<Shared>,
}

const COUNTER_PARTITION: &[u8] = &[0];
const LAST_VERSION: &[u8] = b"commit_version";

/// Reads the version of the last commit, or a later version that no later commit gets.
pub(crate) fn stored_version(reader: &(impl Reader + ?Sized)) -> Result<CommitVersion, GraphError> {
    let stored = reader.get(COUNTER, COUNTER_PARTITION, LAST_VERSION)?;
    let Some(bytes) = stored else {
        return Ok(CommitVersion::ZERO);
    };
    let bytes: [u8; 8] = bytes
        .as_slice()
        .try_into()
        .map_err(|_| GraphError::new(ErrorKind::Storage, "The stored commit version is damaged"))?;
    Ok(CommitVersion(u64::from_be_bytes(bytes)))
}

impl Committer {
    /// Creates the committer of `space`; its versions follow the last stored one.
    pub(crate) fn start(
        space: Arc<dyn Space>,
        clock: Arc<dyn Clock>,
        known: Arc<Known>,
        options: CommitterOptions,
    ) -> Result<Self, GraphError> {
        let last = stored_version(&*space)?;
        let ahead = (!has_snapshots(&space)).then(|| AtomicU64::new(last.0));
        let shared = Arc::new(Shared {
            state: Mutex::new(CommitterState {
                last,
                ..CommitterState::default()
            }),
            arrived: Condvar::new(),
            written: Condvar::new(),
            published: AtomicU64::new(last.0),
            numbered: AtomicU64::new(last.0),
            space,
            clock,
            known,
            latencies: Latencies::default(),
            options,
            ahead,
        });
        Ok(Self { shared })
    }

    /// Submits a prepared commit.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when too many bytes wait, or the outcome of an earlier write is unknown
    /// until the graph is opened again; [`ErrorKind::Storage`] after a failed write. The commit's
    /// latches are released then.
    pub(crate) fn submit(&self, commit: Commit) -> Result<(), GraphError> {
        let mut state = self.shared.state.lock();
        if let Some(failed) = &state.failed {
            return Err(GraphError::new(failed.kind, &*failed.message));
        }
        let bytes = commit.batch.byte_len();
        if state.queued_bytes > 0
            && state.queued_bytes + bytes > self.shared.options.queue_bytes_max
        {
            return Err(GraphError::new(
                ErrorKind::Busy,
                "Too many writes are waiting",
            ));
        }
        let others = state.queued_bytes;
        let may_wait = commit.may_wait;
        state.queued_bytes += bytes;
        state.queue.push(commit);
        if !state.writing {
            if others <= led_bytes_max(may_wait) && self.shared.writes_in_place(may_wait) {
                self.shared.lead(state, others, may_wait);
            } else {
                self.shared.wake(state);
            }
        }
        Ok(())
    }

    /// How long the commits took.
    pub(crate) fn latency(&self) -> CommitLatency {
        self.shared.latencies.get()
    }

    /// The committer's progress, for concurrent readers.
    pub(crate) fn progress(&self) -> Progress {
        Progress::Own(OwnProgress::of(&self.shared))
    }

    /// The newest version whose commit, like all before it, is visible.
    pub(crate) fn published(&self) -> CommitVersion {
        CommitVersion(self.shared.published.load(Ordering::Acquire))
    }

    /// The newest version that was assigned to a commit, stored or not, or fixed by a read. Later
    /// commits get greater ones.
    pub(crate) fn numbered(&self) -> CommitVersion {
        CommitVersion(self.shared.numbered.load(Ordering::Acquire))
    }

    /// Fixes `version`: every later commit gets a greater one. Waits for the commits up to it that
    /// are being written. From then on, a read as of `version` always gives the same answer.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when this thread's deadline passes first.
    pub(crate) fn settle(&self, version: CommitVersion) -> Result<(), GraphError> {
        if version <= self.published() {
            return Ok(());
        }
        let mut state = self.shared.state.lock();
        let awaited = state.last.min(version);
        let last = state.last.max(version);
        self.shared.number(&mut state, last);
        while state.writing && state.failed.is_none() && self.published() < awaited {
            if !deadline::wait(&self.shared.written, &mut state) {
                return Err(deadline::too_late());
            }
        }
        Ok(())
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        let shared = &self.shared;
        let mut state = shared.state.lock();
        state.stop = true;
        // Starts a thread if none runs: it may have to sync, or to store the last version.
        shared.wake(state);
        state = shared.state.lock();
        if shared.ahead.is_some() {
            let end = MonotonicInstant::now() + CLOSE_WAIT_MAX;
            let going_on = |state: &mut CommitterState| state.running;
            shared.written.wait_while_until(&mut state, going_on, end);
            if state.running {
                return;
            }
        }
        let thread = state.thread.take();
        drop(state);
        if let Some(thread) = thread {
            // The thread handles its own panics.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Whether the thread that prepared a commit may write it; `may_wait`: whether that thread may
    /// block.
    fn writes_in_place(&self, may_wait: bool) -> bool {
        self.options.durability != DurabilityMode::Sync
            && (may_wait || !self.space.write_may_wait())
    }

    /// Writes the waiting commits on a thread that prepared one: its own, the `others` bytes that
    /// waited before, and a few of those that arrive meanwhile.
    fn lead(
        self: &Arc<Self>,
        state: MutexGuard<'_, CommitterState>,
        others: usize,
        may_wait: bool,
    ) {
        let led = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut state = state;
            let mut others = others;
            let started = MonotonicInstant::now();
            for _ in 0..LED_GROUPS_MAX {
                let group = self.next_group(&mut state);
                drop(state);
                self.write_group(group);
                state = self.state.lock();
                others += state.queued_bytes;
                // Another thread may have begun to write in between.
                if state.writing
                    || state.queue.is_empty()
                    || others > led_bytes_max(may_wait)
                    || started.elapsed() > LED_TIME_MAX
                    || !self.writes_in_place(may_wait)
                {
                    break;
                }
            }
            self.rest(state);
        }));
        if led.is_err() {
            self.give_up();
        }
    }

    /// Leaves the remaining work to the committer's own thread.
    fn rest(self: &Arc<Self>, state: MutexGuard<'_, CommitterState>) {
        let first_unsynced =
            matches!(self.options.durability, DurabilityMode::Interval(_)) && !state.timed;
        if !state.queue.is_empty() || state.stop || first_unsynced {
            self.wake(state);
        }
    }

    fn give_up(&self) {
        let message = "Writes are refused until the server is restarted: the committer failed";
        let failed = CommitFailure {
            kind: ErrorKind::Storage,
            message: message.into(),
        };
        let mut state = self.state.lock();
        state.failed = Some(failed);
        state.writing = false;
        state.queued_bytes = 0;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        self.written.notify_all();
        // Dropping a commit releases its latches and notifies its caller.
        drop(left);
    }

    /// Takes the next group out of the queue and gives its commits their versions.
    fn next_group(&self, state: &mut CommitterState) -> Group {
        let mut bytes = 0;
        let fits = state.queue.iter().take_while(|commit| {
            let fits =
                bytes == 0 || bytes + commit.batch.byte_len() <= self.options.group_bytes_max;
            bytes += commit.batch.byte_len();
            fits
        });
        let count = fits.count();
        let rest = state.queue.split_off(count);
        let group = std::mem::replace(&mut state.queue, rest);
        let left = state.queue.iter().map(|commit| commit.batch.byte_len());
        state.queued_bytes = left.sum();
        let prepared = group.iter().map(|commit| commit.now);
        let now = prepared.fold(self.clock.now(), Instant::max);
        let first = CommitVersion::first_at(now).max(state.last.next());
        let group = numbered(group, first);
        if let Some(last) = group.last {
            self.number(state, last);
        }
        state.writing = true;
        group
    }

    /// Marks the versions up to `last` as assigned or fixed.
    fn number(&self, state: &mut CommitterState, last: CommitVersion) {
        state.last = last;
        self.numbered.store(last.0, Ordering::Release);
    }

    fn write_group(&self, group: Group) {
        let Group {
            mut commits,
            versions,
            last,
            late,
        } = group;
        for (commit, of) in late {
            drop(commit.latches);
            commit.completer.complete(Err(of.passed()));
        }
        let Some(last) = last else {
            self.state.lock().writing = false;
            self.written.notify_all();
            return;
        };
        for (commit, version) in commits.iter_mut().zip(&versions) {
            commit.stamps.apply(&mut commit.batch, *version);
        }
        fail_point::COMMIT_NUMBERED.pass();
        let kept = self.version_to_store(last);
        let mut batch = joined(&mut commits);
        if let Some(version) = kept {
            put_version(&mut batch, version);
        }
        let failure = self.store(&batch, last).err();
        if let (Some(ahead), Some(version), None) = (&self.ahead, kept, &failure) {
            ahead.store(version.0, Ordering::Release);
        }
        {
            let mut state = self.state.lock();
            state.writing = false;
            if self.options.durability != DurabilityMode::Sync {
                state
                    .unsynced_since
                    .get_or_insert_with(MonotonicInstant::now);
            }
        }
        self.written.notify_all();
        let stored = MonotonicInstant::now();
        for (commit, version) in commits.into_iter().zip(versions) {
            if failure.is_none() {
                self.latencies.add(stored - commit.completer.began);
            }
            let last = commit.last_version(version);
            commit.complete(&self.known, last, failure.clone());
        }
    }

    /// The version to store with a group that ends with `last`; `None` if the stored one is still
    /// ahead.
    fn version_to_store(&self, last: CommitVersion) -> Option<CommitVersion> {
        let Some(ahead) = &self.ahead else {
            return Some(last);
        };
        let short = ahead.load(Ordering::Acquire) < last.0;
        short.then(|| CommitVersion::last_at(last.instant().plus_micros(LEAD_MICROS)))
    }

    /// Stores the batch of a group and publishes it up to its last version.
    fn store(&self, batch: &Batch, last: CommitVersion) -> Result<(), CommitFailure> {
        let durability = match self.options.durability {
            DurabilityMode::Sync => Durability::Sync,
            DurabilityMode::Interval(_) | DurabilityMode::None => Durability::Buffered,
        };
        self.space
            .write(batch, durability)
            .map_err(|error| self.fail(&error))?;
        fail_point::COMMIT_STORED.pass();
        self.published.store(last.0, Ordering::Release);
        fail_point::COMMIT_PUBLISHED.pass();
        Ok(())
    }

    /// Refuses all later commits.
    fn take_no_more(&self, kind: ErrorKind, reason: String) {
        let message = reason.into();
        self.state.lock().failed = Some(CommitFailure { kind, message });
    }

    /// The failure that the callers of a failed write get. Unless nothing of the write was stored,
    /// all later commits are refused.
    fn fail(&self, error: &KvError) -> CommitFailure {
        let message: Arc<str> = error.to_string().into();
        match error {
            KvError::DiskFull { .. } | KvError::ReadOnly { .. } => CommitFailure {
                kind: ErrorKind::Unwritable,
                message,
            },
            KvError::Busy { .. } | KvError::Away { .. } => CommitFailure {
                kind: ErrorKind::Busy,
                message,
            },
            KvError::TooLarge { .. } => CommitFailure {
                kind: ErrorKind::LimitExceeded,
                message,
            },
            KvError::OutcomeUnknown { .. } => {
                let reason = format!("Writes are refused until the graph is reopened: {error}");
                self.take_no_more(ErrorKind::Busy, reason);
                CommitFailure {
                    kind: ErrorKind::OutcomeUnknown,
                    message,
                }
            }
            _ => {
                let reason = format!("Writes are refused until the server is restarted: {error}");
                self.take_no_more(ErrorKind::Storage, reason);
                CommitFailure {
                    kind: ErrorKind::Storage,
                    message,
                }
            }
        }
    }
}

const fn led_bytes_max(may_wait: bool) -> usize {
    if may_wait {
        LED_BYTES_MAX_WAITING
    } else {
        LED_BYTES_MAX
    }
}

fn put_version(batch: &mut Batch, version: CommitVersion) {
    batch.put(
        COUNTER,
        COUNTER_PARTITION,
        LAST_VERSION,
        &version.0.to_be_bytes(),
    );
}

mod group;
mod progress;
#[cfg(test)]
mod tests;
mod thread;
