//! The flusher: a thread that flushes the frozen tables of a space to the sorted files, oldest
//! first. It is started when a table is frozen. It ends when the queue is empty, or when a flush
//! fails for good.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use varve_kv::{KvError, fail_point};

use crate::base::{Base, SortedTable};
use crate::hash::partition_hash;
use crate::log::SegmentId;
use crate::partitions::{PartitionKey, SpacePartitions};
use crate::rows::{RowKey, SpaceRows};
use crate::sorted::Run;
use crate::space::{Shared, table_id};
use crate::table::Table;
use crate::view::View;

/// The delay before the retry of a flush that failed for a reason that may pass
/// ([`FlushState::may_recover`]).
const RETRY: Duration = Duration::from_secs(1);
/// When memory is short, an active table that is filled to 1/`WORTH_FREEING` of its limit is
/// frozen, even if it gets no more writes.
const WORTH_FREEING: usize = 64;
/// The estimated progress of a flush once its rows are sorted.
pub(crate) const SORTED: f64 = 0.17;
/// The estimated progress of a flush once all rows are passed to the base, which then finishes,
/// syncs and ingests the files.
pub(crate) const HANDED_OVER: f64 = 0.85;
/// The interval of checks of the backlog while it is too large.
const BACKLOG_LOOK: Duration = Duration::from_millis(50);

/// A table that takes no more writes, and the last segment of the log that contains rows of it.
#[derive(Debug, Clone)]
pub(crate) struct Frozen {
    pub(crate) table: Arc<Table>,
    pub(crate) segment: SegmentId,
}

/// The queue of tables to flush, and the results of flushes.
#[derive(Debug, Default)]
pub(crate) struct FlushState {
    queue: VecDeque<Frozen>,
    enqueued: u64,
    flushed: u64,
    failures: u64,
    /// The flusher's thread, running or ended.
    thread: Option<JoinHandle<()>>,
    running: bool,
    /// Whether no more flushes are tried until the space is opened again.
    given_up: bool,
    stop: bool,
    /// Flushed tables that readers may still use. They are referenced here, so that the last reader
    /// of a table does not have to free it.
    retired: Vec<Arc<Table>>,
    /// Why the last flush failed; `None` after a success.
    failed: Option<KvError>,
    /// Why the active table could not be frozen; `None` after a success.
    pub(crate) not_frozen: Option<KvError>,
    /// The recent flush rate, in bytes of front tables per second.
    pub(crate) bytes_per_second: f64,
    /// When the running flush began.
    began: Option<Instant>,
    /// The last backlog that the base reported.
    pub(crate) backlog: f64,
    pub(crate) flushed_bytes: u64,
    /// For how long writers were delayed, in total.
    pub(crate) held_back: Duration,
}

impl FlushState {
    pub(crate) fn enqueue(&mut self, frozen: Frozen) {
        self.queue.push_back(frozen);
        self.enqueued += 1;
    }

    /// Makes the flusher end once the queue is empty or any flush fails. Returns its thread, to be
    /// joined; `None` if there is none.
    pub(crate) fn stop(&mut self) -> Option<JoinHandle<()>> {
        self.stop = true;
        self.thread.take()
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The flush rate in bytes of front tables per second: that of the running flush once it is
    /// past sorting, otherwise the recent one.
    pub(crate) fn rate(&self) -> f64 {
        if let (Some(began), Some(table)) = (self.began, self.oldest()) {
            let part = table.flushed();
            if part > SORTED {
                return table.bytes() as f64 * part / began.elapsed().as_secs_f64().max(1e-6);
            }
        }
        self.bytes_per_second
    }

    /// The table that is being flushed, or is the next one.
    pub(crate) fn oldest(&self) -> Option<&Table> {
        self.queue.front().map(|frozen| &*frozen.table)
    }

    pub(crate) fn enqueued(&self) -> u64 {
        self.enqueued
    }

    pub(crate) fn flushed(&self) -> u64 {
        self.flushed
    }

    /// The number of failed tries to flush, including those whose retry succeeded.
    pub(crate) fn failures(&self) -> u64 {
        self.failures
    }

    /// Why flushes fail at present; `None` after a success.
    pub(crate) fn failed(&self) -> Option<&KvError> {
        self.failed.as_ref()
    }

    /// Whether flushes are not failing, or fail for a reason that may pass: a full or read-only
    /// disk, or a lack of descriptors.
    pub(crate) fn may_recover(&self) -> bool {
        self.failed.as_ref().is_none_or(passes)
    }
}

fn passes(error: &KvError) -> bool {
    matches!(
        error,
        KvError::DiskFull { .. } | KvError::ReadOnly { .. } | KvError::Busy { .. }
    )
}

/// Returns a copy of an error of the space `name`; errors are not `Clone`. Kinds that are not
/// listed here become [`KvError::Io`] with the same message.
pub(crate) fn again(error: &KvError, name: &str) -> KvError {
    match error {
        KvError::DiskFull { space, detail } => KvError::DiskFull {
            space: space.clone(),
            detail: detail.clone(),
        },
        KvError::ReadOnly { space, detail } => KvError::ReadOnly {
            space: space.clone(),
            detail: detail.clone(),
        },
        KvError::Busy { space, detail } => KvError::Busy {
            space: space.clone(),
            detail: detail.clone(),
        },
        KvError::Corruption { space, detail } => KvError::Corruption {
            space: space.clone(),
            detail: detail.clone(),
        },
        KvError::Io { space, detail } => KvError::Io {
            space: space.clone(),
            detail: detail.clone(),
        },
        other => KvError::Io {
            space: name.to_owned(),
            detail: other.to_string(),
        },
    }
}

/// Sorts a table and ingests it into the base.
pub(crate) fn ingest(base: &dyn Base, tables: usize, table: &Table) -> Result<(), KvError> {
    table.set_flushed(0.0);
    let runs = Run::of_all_tables(&table.arena, tables, table.operations());
    table.set_flushed(SORTED);
    let rows: usize = runs.iter().map(Run::len).sum();
    let mut before = 0;
    let mut sorted = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if run.is_empty() {
            continue;
        }
        sorted.push(SortedTable {
            id: table_id(number),
            run,
            table,
            before,
            rows,
        });
        before += run.len();
    }
    base.ingest(&sorted)
}

/// Flushes until the queue is empty, or a flush fails for good. A panic counts as such a failure,
/// so callers that wait for flushes get an error.
fn run(shared: &Shared) {
    let work = std::panic::AssertUnwindSafe(|| flush_all(shared));
    if std::panic::catch_unwind(work).is_err() {
        let mut state = shared.flush.lock();
        state.running = false;
        state.given_up = true;
        state.failed = Some(KvError::Io {
            space: shared.config.name.clone(),
            detail: "the thread that flushes tables ended".to_owned(),
        });
        drop(state);
        shared.changed.notify_all();
    }
}

fn flush_all(shared: &Shared) {
    while let Some(frozen) = next(shared) {
        let waited = wait_for_base(shared);
        let started = Instant::now();
        shared.flush.lock().began = Some(started);
        let outcome = waited.and_then(|()| flush(shared, &frozen));
        let backlog = shared.base.backlog();
        let mut state = shared.flush.lock();
        state.backlog = backlog;
        state.began = None;
        match outcome {
            Ok(()) => {
                state.queue.pop_front();
                state.flushed += 1;
                state.failed = None;
                let bytes = frozen.table.bytes();
                state.flushed_bytes += bytes as u64;
                let rate = bytes as f64 / started.elapsed().as_secs_f64().max(1e-6);
                state.bytes_per_second = if state.bytes_per_second == 0.0 {
                    rate
                } else {
                    state.bytes_per_second * 0.7 + rate * 0.3
                };
                drop(state);
                shared.forget(&frozen);
                shared.flush.lock().retired.push(frozen.table);
                shared.free_retired();
            }
            Err(error) => {
                // Writers are delayed in proportion to the unflushed part of the table, which is
                // now all of it again.
                frozen.table.set_flushed(0.0);
                state.given_up = state.stop || !passes(&error);
                state.failed = Some(error);
                state.failures += 1;
                shared.changed.notify_all();
                if state.given_up {
                    state.running = false;
                    return;
                }
                shared.changed.wait_for(&mut state, RETRY);
            }
        }
        shared.changed.notify_all();
    }
}

/// Returns the oldest table in the queue. `None` ends the flusher.
fn next(shared: &Shared) -> Option<Frozen> {
    let mut state = shared.flush.lock();
    let oldest = state.queue.front().cloned();
    state.running = oldest.is_some();
    oldest
}

impl Shared {
    /// Starts the flusher if tables wait, it does not run, and no flush has failed for good.
    pub(crate) fn start_flusher(&self, state: &mut FlushState) {
        if state.running || state.given_up || state.queue.is_empty() {
            return;
        }
        // If the space is being closed, the log still has the rows of the queued tables.
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let started = std::thread::Builder::new()
            .name(format!("varve-flush-{}", self.config.name))
            .spawn(move || run(&own));
        match started {
            Ok(thread) => {
                state.running = true;
                if let Some(ended) = state.thread.replace(thread) {
                    // The thread has ended, and has reported its own panic.
                    let _ = ended.join();
                }
            }
            // The watch tries again in its next round.
            Err(error) => {
                state.failed = Some(KvError::Busy {
                    space: self.config.name.clone(),
                    detail: format!("the thread that flushes tables did not start: {error}"),
                });
            }
        }
    }

    /// The work of the watch thread for one space, about once a second. It frees retired tables and
    /// starts the flusher if it is needed. While no table is flushed, it also freezes the active
    /// table if that is due, and lets an idle base start work that it has put off.
    pub(crate) fn look(&self) {
        self.free_retired();
        self.config.partitions.trim();
        let mut state = self.flush.lock();
        self.start_flusher(&mut state);
        if state.stop {
            return;
        }
        if state.running {
            drop(state);
            self.start_learner();
            return;
        }
        if state.backlog > 0.0 {
            state.backlog = self.base.backlog();
        }
        let failed_before = state.not_frozen.is_some();
        drop(state);
        self.base.settle();
        self.syncer.note();
        self.start_learner();
        if failed_before || should_freeze(self) {
            // If the log cannot be rotated, writes fail once the table has grown too large; the
            // next round tries again.
            let _ = self.freeze_now();
        }
    }

    /// Frees the flushed tables that no reader uses any more.
    fn free_retired(&self) {
        let mut state = self.flush.lock();
        let retired = std::mem::take(&mut state.retired);
        let (kept, free): (Vec<_>, Vec<_>) = retired
            .into_iter()
            .partition(|table| Arc::strong_count(table) > 1);
        state.retired = kept;
        drop(state);
        drop(free);
    }
}

/// Whether the active table is old, or is worth freeing ([`WORTH_FREEING`]) while the front tables
/// of all spaces together exceed their memory budget.
fn should_freeze(shared: &Shared) -> bool {
    let options = &shared.config.options;
    let active = &shared.view().active;
    active.is_older_than(options.age_max)
        || (shared.config.budget.exceeded()
            && active.bytes() >= options.table_bytes / WORTH_FREEING)
}

/// Flushes a table: syncs the log, ingests the files, and then publishes a view without the table.
/// So a reader with an old view still has the table, and needs no new files.
fn flush(shared: &Shared, frozen: &Frozen) -> Result<(), KvError> {
    let table = &frozen.table;
    // A batch may be spread over several files. So the log, which has the whole batch, must be
    // durable before the first file is.
    shared.syncer.sync()?;
    let _ingesting = shared.ingesting.lock();
    shared.base.expect(shared.presence.take_new());
    shared.taken_in_partly.store(true, Ordering::Relaxed);
    ingest(&*shared.base, shared.config.tables.len(), table)?;
    shared.taken_in_partly.store(false, Ordering::Relaxed);
    let base = Arc::clone(&shared.base).state();
    let tables = 0..shared.config.tables.len();
    let base_holds = tables.map(|n| shared.base.may_hold(table_id(n))).collect();
    let view = shared.view();
    let (rows, partitions) = (Arc::clone(&view.rows), Arc::clone(&view.partitions));
    drop(view);
    let generation = end_cached(&rows, &partitions, table);
    shared.replace(|view| View {
        active: Arc::clone(&view.active),
        frozen: view
            .frozen
            .iter()
            .filter(|other| !Arc::ptr_eq(other, table))
            .cloned()
            .collect(),
        base,
        base_holds,
        rows,
        partitions,
        generation,
        presence: Arc::clone(&view.presence),
    });
    shared.config.budget.give_back(table.bytes());
    fail_point::FRONT_PUBLISHED.pass();
    Ok(())
}

/// Begins a generation of the caches and removes what `table` changes from them: everything, if the
/// table has deletes. Returns the generation's number.
fn end_cached(rows: &SpaceRows, partitions: &SpacePartitions, table: &Table) -> u64 {
    let generation = rows.begin_generation();
    if table.has_deletes() {
        rows.remove_all();
        partitions.remove_before(generation);
        return generation;
    }
    let (of_rows, of_partitions) = (rows.tables(), partitions.tables());
    if of_rows.is_empty() && of_partitions.is_empty() {
        return generation;
    }
    let mut last = None;
    for block in 0..table.arena.blocks() {
        for (_, op) in table.arena.ops(block) {
            let (in_rows, in_partitions) = (of_rows.has(op.table), of_partitions.has(op.table));
            if !in_rows && !in_partitions {
                continue;
            }
            let (table, partition) = (op.table, op.partition());
            let hash = partition_hash(table, partition);
            if in_rows {
                rows.remove(&RowKey {
                    table,
                    partition,
                    clustering: op.clustering(),
                    hash,
                });
            }
            // Rows of a partition often follow each other.
            if in_partitions && last.replace(hash) != Some(hash) {
                partitions.remove(&PartitionKey {
                    table,
                    partition,
                    hash,
                });
            }
        }
    }
    generation
}

/// Waits while the backlog of the sorted files is too large (1.0 or more), unless the space is
/// being closed. Fails if the base has failed.
fn wait_for_base(shared: &Shared) -> Result<(), KvError> {
    loop {
        let backlog = shared.base.backlog();
        if backlog < 1.0 {
            return Ok(());
        }
        shared.base.check()?;
        let mut state = shared.flush.lock();
        state.backlog = backlog;
        if state.stop {
            return Ok(());
        }
        shared.changed.wait_for(&mut state, BACKLOG_LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_an_error_names_the_space() {
        let (space, detail) = ("g".to_owned(), "no rights".to_owned());
        let unreadable = KvError::Unreadable { space, detail };
        let copied = again(&unreadable, "g");
        assert!(matches!(&copied, KvError::Io { space, .. } if space == "g"));
        let message = "reading or writing 'g' failed: the files of 'g' cannot be read: no rights";
        assert_eq!(copied.to_string(), message);
    }
}
