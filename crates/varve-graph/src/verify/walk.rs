//! The walk over all tables: one thread reads rows in order, others check them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use parking_lot::Mutex;
use varve_encoding::tables::TABLES;
use varve_kv::{Flow, KvError, Reader, TableId};
use varve_model::CommitVersion;

use super::unreadable::gap;
use super::{Check, PROBLEMS_TOLD_MAX, RowOf, VerifyReport, hex, is_damage, name_of};
use crate::error::GraphError;
use crate::read::View;

/// Rows that one thread checks at a time. They end with a partition, unless that has twice as many:
/// what is compared between rows of a partition, as the holders of a unique value, is compared
/// then.
const STEP: usize = 4_000;
/// Bytes of values that end a step early.
const STEP_BYTES: usize = 1 << 20;

/// Rows of one table that follow each other.
type Step = (TableId, Vec<RowOf>);

/// Walks all tables; `threads` threads check what is read.
pub(super) fn walk(
    view: &View,
    published: CommitVersion,
    threads: usize,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Result<VerifyReport, GraphError> {
    let (steps, to_check) = sync_channel(threads);
    let to_check = Arc::new(Mutex::new(to_check));
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let checking: Vec<_> = (0..threads)
            .map(|_| {
                let to_check = Arc::clone(&to_check);
                let failed = &failed;
                scope.spawn(move || check(Check::new(view, published), &to_check, failed))
            })
            .collect();
        // Only those that check keep it: should all of them panic, nobody waits for them.
        drop(to_check);
        let mut reading = Reading {
            reader: view.reader(),
            steps,
            failed: &failed,
            read: 0,
            report: VerifyReport::default(),
        };
        let read = reading.all(proceed);
        let mut report = reading.report;
        drop(reading.steps);
        for checked in checking {
            match checked.join() {
                Ok(part) => report.add(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        report.problems.truncate(PROBLEMS_TOLD_MAX);
        read.map(|()| report)
    })
}

/// Checks steps until none comes any more.
fn check(
    mut check: Check<'_>,
    steps: &Mutex<Receiver<Step>>,
    failed: &AtomicBool,
) -> Result<VerifyReport, GraphError> {
    loop {
        let step = steps.lock().recv();
        let Ok((table, rows)) = step else {
            return Ok(check.report);
        };
        if let Err(error) = check.rows(table, &rows) {
            failed.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// The thread that reads.
struct Reading<'a> {
    reader: &'a dyn Reader,
    steps: SyncSender<Step>,
    /// Whether a thread that checks has ended with an error.
    failed: &'a AtomicBool,
    read: u64,
    /// Holds problems only.
    report: VerifyReport,
}

impl Reading<'_> {
    fn all(&mut self, proceed: &mut dyn FnMut(u64) -> bool) -> Result<(), GraphError> {
        for number in 0..TABLES.len() {
            let table = TableId(u8::try_from(number).expect("there are few tables"));
            if !self.table(table, proceed)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads one table; returns whether to go on.
    fn table(
        &mut self,
        table: TableId,
        proceed: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, GraphError> {
        let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
        loop {
            let (rows, outcome) = self.step(table, after.as_ref());
            let is_end = rows.is_empty() && outcome.is_ok();
            if let Some((partition, clustering, _)) = rows.last() {
                after = Some((partition.clone(), clustering.clone()));
            }
            self.read += rows.len() as u64;
            let sent = self.steps.send((table, rows)).is_ok();
            if !sent || self.failed.load(Ordering::Relaxed) || !proceed(self.read) {
                return Ok(false);
            }
            match outcome {
                Ok(()) if is_end => return Ok(true),
                Ok(()) => {}
                Err(error) if is_damage(&error) => match self.unreadable(table, after, &error) {
                    None => return Ok(true),
                    behind => after = behind,
                },
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads the next rows of a table: those that were read before an error too.
    fn step(
        &self,
        table: TableId,
        after: Option<&(Vec<u8>, Vec<u8>)>,
    ) -> (Vec<RowOf>, Result<(), KvError>) {
        let (mut rows, mut bytes): (Vec<RowOf>, usize) = (Vec::new(), 0);
        let after = after.map(|(partition, clustering)| (&partition[..], &clustering[..]));
        let outcome = self.reader.scan_table(table, after, &mut |row| {
            let is_full = |times: usize| rows.len() >= times * STEP || bytes >= times * STEP_BYTES;
            let goes_on = rows.last().is_none_or(|(last, _, _)| last == row.partition);
            if is_full(2) || (is_full(1) && !goes_on) {
                return Flow::Break(());
            }
            bytes += row.value.len();
            let (partition, clustering) = (row.partition.to_vec(), row.clustering.to_vec());
            rows.push((partition, clustering, row.value.to_vec()));
            Flow::Continue(())
        });
        (rows, outcome)
    }

    /// Reports that a table cannot be read behind a row; returns where to go on.
    fn unreadable(
        &mut self,
        table: TableId,
        after: Option<(Vec<u8>, Vec<u8>)>,
        error: &KvError,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        let shown = |(partition, clustering): &(Vec<u8>, Vec<u8>)| {
            format!("{} {}", hex(partition), hex(clustering))
        };
        let begin = after.as_ref().map_or_else(
            || "the first row".to_owned(),
            |row| format!("after {}", shown(row)),
        );
        let from = after.map_or_else(Vec::new, |(partition, clustering)| {
            [partition, clustering].concat()
        });
        let gap = gap(self.reader, table, &from);
        let next = gap.as_ref().and_then(|gap| gap.next.as_ref());
        let end = next.map_or_else(
            || "the end".to_owned(),
            |row| format!("before {}", shown(row)),
        );
        self.report.problem_count += 1;
        if self.report.problems.len() < PROBLEMS_TOLD_MAX {
            let name = name_of(table);
            let told = format!("{name}: cannot be read from {begin} to {end}: {error}");
            self.report.problems.push(told);
        }
        gap.map(|gap| gap.resume)
    }
}

impl VerifyReport {
    /// Adds what another thread has seen.
    fn add(&mut self, other: Self) {
        self.vertices += other.vertices;
        self.edges += other.edges;
        self.events += other.events;
        self.markers += other.markers;
        self.index_entries += other.index_entries;
        self.event_index_entries += other.event_index_entries;
        self.pending += other.pending;
        self.untidied += other.untidied;
        self.dangling_edges += other.dangling_edges;
        self.problem_count += other.problem_count;
        self.problems.extend(other.problems);
    }
}
