//! Reads all tables: one thread reads rows in order, other threads check them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use parking_lot::Mutex;
use varve_encoding::tables::{EDGE, EVENT, TABLES};
use varve_kv::{Flow, KvError, Reader, TableId};
use varve_model::CommitVersion;

use super::rows::Rows;
use super::sides::Sides;
use super::unreadable::gap;
use super::{Check, PROBLEMS_MAX, VerifyReport, hex, is_damage, name_of};
use crate::error::GraphError;
use crate::read::View;

/// The rows that one thread checks at a time. A step ends at the end of a partition, unless that
/// would take twice as many rows. So rows of one partition can be compared, for example the
/// elements of a unique value.
const STEP: usize = 4_000;
/// Bytes of rows at which a step ends early.
const STEP_BYTES: usize = 1 << 20;

/// Consecutive rows of one table.
type Step = (TableId, Rows);

/// What one pass checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All invariants, and the sum over the sides of all edges.
    All,
    /// The sides of each edge.
    Sides,
}

impl Pass {
    fn tables(self) -> Vec<TableId> {
        match self {
            Self::Sides => vec![EDGE, EVENT],
            Self::All => (0..TABLES.len())
                .map(|number| TableId(u8::try_from(number).expect("there are few tables")))
                .collect(),
        }
    }
}

/// Reads and checks all tables, with `threads` threads that check.
pub(super) fn walk(
    view: &View,
    published: CommitVersion,
    threads: usize,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Result<VerifyReport, GraphError> {
    let checks = || Check::new(view, published);
    let first = pass(view, Pass::All, &checks, threads, proceed)?;
    let mut report = first.report;
    if first.whole && first.sides != Sides::default() {
        let read = first.read;
        let mut proceed = |rows: u64| proceed(read + rows);
        let second = pass(view, Pass::Sides, &checks, threads, &mut proceed)?;
        // Without a snapshot, the difference may have been a commit between two reads.
        if second.whole && view.is_one_state() && second.report.is_sound() {
            let unnamed =
                "the sides of edges differ in sum, but no edge was found whose sides differ";
            report.problem_count += 1;
            report.problems.push(unnamed.to_owned());
        }
        report.add(second.report);
    }
    report.problems.truncate(PROBLEMS_MAX);
    Ok(report)
}

/// The result of a pass.
struct Passed {
    report: VerifyReport,
    sides: Sides,
    /// Whether the pass was completed.
    whole: bool,
    /// Rows that were read.
    read: u64,
}

fn pass<'v>(
    view: &'v View,
    pass: Pass,
    checks: &(dyn Fn() -> Check<'v> + Sync),
    threads: usize,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Result<Passed, GraphError> {
    let (steps, to_check) = sync_channel(threads);
    let to_check = Arc::new(Mutex::new(to_check));
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let checking: Vec<_> = (0..threads)
            .map(|_| {
                let to_check = Arc::clone(&to_check);
                let failed = &failed;
                scope.spawn(move || check(checks(), pass, &to_check, failed))
            })
            .collect();
        // Only the checking threads hold it: if all of them panic, no send blocks.
        drop(to_check);
        let mut reading = Reading {
            reader: view.reader(),
            pass,
            steps,
            failed: &failed,
            read: 0,
            report: VerifyReport::default(),
        };
        let whole = reading.all(proceed);
        let (mut report, read) = (reading.report, reading.read);
        drop(reading.steps);
        let mut sides = Sides::default();
        for checked in checking {
            match checked.join() {
                Ok(part) => {
                    let (part, of_part) = part?;
                    report.add(part);
                    sides.add(of_part);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(Passed {
            report,
            sides,
            whole: whole?,
            read,
        })
    })
}

/// Checks steps until the channel is closed.
fn check(
    mut check: Check<'_>,
    pass: Pass,
    steps: &Mutex<Receiver<Step>>,
    failed: &AtomicBool,
) -> Result<(VerifyReport, Sides), GraphError> {
    loop {
        let step = steps.lock().recv();
        let Ok((table, rows)) = step else {
            return Ok((check.report, check.sides));
        };
        let checked = match pass {
            Pass::All => check.rows(table, &rows),
            Pass::Sides => check.sides_of(table, &rows),
        };
        if let Err(error) = checked {
            failed.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// The reading thread.
struct Reading<'a> {
    reader: &'a dyn Reader,
    pass: Pass,
    steps: SyncSender<Step>,
    /// Whether a checking thread has ended with an error.
    failed: &'a AtomicBool,
    read: u64,
    /// Contains problems only.
    report: VerifyReport,
}

impl Reading<'_> {
    /// Reads all tables of the pass. Returns whether it completed them.
    fn all(&mut self, proceed: &mut dyn FnMut(u64) -> bool) -> Result<bool, GraphError> {
        for table in self.pass.tables() {
            if !self.table(table, proceed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads one table. Returns whether to continue.
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
                after = Some((partition.to_vec(), clustering.to_vec()));
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

    /// Reads the next rows of a table. Returns the rows read before an error, too.
    fn step(
        &self,
        table: TableId,
        after: Option<&(Vec<u8>, Vec<u8>)>,
    ) -> (Rows, Result<(), KvError>) {
        let mut rows = Rows::default();
        let after = after.map(|(partition, clustering)| (&partition[..], &clustering[..]));
        let outcome = self.reader.scan_table(table, after, &mut |row| {
            let is_full =
                |times: usize| rows.len() >= times * STEP || rows.bytes() >= times * STEP_BYTES;
            let goes_on = || rows.last().is_none_or(|(last, _, _)| last == row.partition);
            if is_full(2) || (is_full(1) && !goes_on()) {
                return Flow::Break(());
            }
            rows.push(&row);
            Flow::Continue(())
        });
        (rows, outcome)
    }

    /// Reports that a table is unreadable after a row. Returns the keys after which to continue.
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
        if self.pass == Pass::All {
            self.report.problem_count += 1;
        }
        if self.pass == Pass::All && self.report.problems.len() < PROBLEMS_MAX {
            let name = name_of(table);
            let problem = format!("{name}: cannot be read from {begin} to {end}: {error}");
            self.report.problems.push(problem);
        }
        gap.map(|gap| gap.resume)
    }
}

impl VerifyReport {
    /// Adds the report of another thread.
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
