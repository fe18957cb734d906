//! Reads all tables: each thread takes one part of a table after another, reads its rows in order
//! and checks them. Problems are reported in the order of the parts, whichever thread found them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use varve_encoding::tables::{
    CHANGE, COUNTER, EDGE, EVENT, EVENT_INDEX, INDEX, META, PENDING, SCHEMA, TX, VERTEX,
};
use varve_kv::{Flow, KvError, Row, TableId};
use varve_model::CommitVersion;

use super::parts::{self, Part};
use super::prints::{Collected, Prints};
use super::rows::Rows;
use super::sides::Sides;
use super::unreadable::{RowKey, gap};
use super::{Check, Known, PROBLEMS_MAX, Proceed, Seen, VerifyReport, hex, is_damage, name_of};
use crate::error::GraphError;
use crate::read::View;

/// The rows that a thread reads before it checks them. A step ends at the end of a partition,
/// unless that would take twice as many rows. So rows of one partition can be compared, for example
/// the elements of a unique value.
const STEP: usize = 4_000;
/// Bytes of rows at which a step ends early.
const STEP_BYTES: usize = 1 << 20;

/// The tables in the order in which they are read. A stage may ask for keys of the tables of
/// earlier stages ([`Known`]).
const STAGES: [&[TableId]; 4] = [
    &[INDEX, EVENT_INDEX],
    &[VERTEX, PENDING, TX, SCHEMA, META, COUNTER, CHANGE],
    &[EDGE],
    &[EVENT],
];

/// What one pass checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All invariants, and the sum over the sides of all edges.
    All,
    /// The sides of each edge.
    Sides,
}

/// Reads and checks all tables, with `threads` threads. Also returns what was read.
pub(super) fn walk(
    view: &View,
    published: CommitVersion,
    threads: usize,
    proceed: &mut Proceed<'_>,
) -> Result<(VerifyReport, Known), GraphError> {
    let mut report = VerifyReport::default();
    let mut known = Known::default();
    let (mut sides, mut read) = (Sides::default(), 0);
    for tables in STAGES {
        let checks = || Check::new(view, published, &known);
        let mut proceed = |rows: u64| proceed(read + rows);
        let passed = pass(view, (Pass::All, tables), &checks, threads, &mut proceed)?;
        report.add(passed.report);
        sides.add(passed.sides);
        read += passed.read;
        if !passed.whole {
            report.problems.truncate(PROBLEMS_MAX);
            return Ok((report, known));
        }
        known.add(passed.seen);
    }
    if sides != Sides::default() {
        let checks = || Check::new(view, published, &known);
        let mut proceed = |rows: u64| proceed(read + rows);
        let work = (Pass::Sides, &[EDGE, EVENT][..]);
        let second = pass(view, work, &checks, threads, &mut proceed)?;
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
    let surplus = known.entries.iter().map(Prints::surplus);
    report.surplus_entries = surplus.sum();
    report.unindexed.sort_unstable();
    report.unindexed.dedup();
    Ok((report, known))
}

/// The result of a pass.
struct Passed {
    report: VerifyReport,
    sides: Sides,
    seen: Seen<Collected>,
    /// Whether the pass was completed.
    whole: bool,
    /// Rows that were read.
    read: u64,
}

fn pass<'v>(
    view: &'v View,
    (pass, tables): (Pass, &[TableId]),
    checks: &(dyn Fn() -> Check<'v> + Sync),
    threads: usize,
    proceed: &mut Proceed<'_>,
) -> Result<Passed, GraphError> {
    let tables = tables.iter().copied();
    let work = Work {
        pass,
        parts: tables
            .flat_map(|table| parts::of(view.reader(), table))
            .collect(),
        next: AtomicUsize::new(0),
        checks,
        found: Mutex::default(),
        progress: Mutex::new(Progress {
            read: 0,
            goes_on: true,
            proceed,
        }),
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(|| work.run())).collect();
        for thread in running {
            match thread.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<(), GraphError>(())
    })?;
    let (found, progress) = (work.found.into_inner(), work.progress.into_inner());
    let mut report = found.report;
    report.problems = found.problems.into_values().flatten().collect();
    Ok(Passed {
        report,
        sides: found.sides,
        seen: found.seen,
        whole: progress.goes_on,
        read: progress.read,
    })
}

/// The state that the threads of a pass share.
struct Work<'a, 'v> {
    pass: Pass,
    parts: Vec<Part>,
    /// The number of the next part.
    next: AtomicUsize,
    checks: &'a (dyn Fn() -> Check<'v> + Sync),
    found: Mutex<Found>,
    progress: Mutex<Progress<'a>>,
}

impl Work<'_, '_> {
    /// Reads and checks parts until none is left or the pass ends early.
    fn run(&self) -> Result<(), GraphError> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.parts.get(number) else {
                return Ok(());
            };
            let mut reading = Reading {
                work: self,
                part,
                check: (self.checks)(),
            };
            let goes_on = reading.all();
            self.found.lock().add(number, reading.check);
            match goes_on {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    self.progress.lock().goes_on = false;
                    return Err(error);
                }
            }
        }
    }
}

/// The progress of a pass.
struct Progress<'a> {
    /// Rows that were read.
    read: u64,
    /// Whether to continue: neither the caller nor a failure of the store has ended the pass.
    goes_on: bool,
    proceed: &'a mut Proceed<'a>,
}

impl Progress<'_> {
    /// Adds the rows of a step. Returns whether to continue.
    fn step(&mut self, rows: usize) -> bool {
        self.read += rows as u64;
        self.goes_on = self.goes_on && (self.proceed)(self.read);
        self.goes_on
    }
}

/// The results of all parts.
#[derive(Default)]
struct Found {
    /// The counts; the list of problems is empty.
    report: VerifyReport,
    sides: Sides,
    seen: Seen<Collected>,
    /// The problems by part. A part after the first [`PROBLEMS_MAX`] problems is dropped.
    problems: BTreeMap<usize, Vec<String>>,
}

impl Found {
    fn add(&mut self, part: usize, check: Check<'_>) {
        let mut report = check.report;
        let problems = std::mem::take(&mut report.problems);
        self.report.add(report);
        self.sides.add(check.sides);
        if problems.is_empty() {
            return;
        }
        self.problems.insert(part, problems);
        let mut before: usize = self.problems.values().map(Vec::len).sum();
        while let Some((_, last)) = self.problems.last_key_value() {
            before -= last.len();
            if before < PROBLEMS_MAX {
                break;
            }
            self.problems.pop_last();
        }
    }
}

/// A part in progress.
struct Reading<'a, 'p, 'v> {
    work: &'a Work<'p, 'v>,
    part: &'a Part,
    check: Check<'v>,
}

impl Reading<'_, '_, '_> {
    /// Reads and checks all rows of the part. Returns whether to continue with another part.
    fn all(&mut self) -> Result<bool, GraphError> {
        let table = self.part.table;
        let mut after = self.part.after.clone();
        loop {
            let (rows, is_end, outcome) = self.step(after.as_ref());
            if let Some((partition, clustering, _)) = rows.last() {
                after = Some((partition.to_vec(), clustering.to_vec()));
            }
            match self.work.pass {
                Pass::All => self.check.rows(table, &rows)?,
                Pass::Sides => self.check.sides_of(table, &rows)?,
            }
            self.work.found.lock().seen.add(&mut self.check.seen);
            if !self.work.progress.lock().step(rows.len()) {
                return Ok(false);
            }
            match outcome {
                Ok(()) if is_end => return Ok(true),
                Ok(()) => {}
                Err(error) if is_damage(&error) => match self.unreadable(after, &error) {
                    None => return Ok(true),
                    behind => after = behind,
                },
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads the next rows of the part, and returns whether they are its last ones. Returns the
    /// rows read before an error, too.
    fn step(&self, after: Option<&RowKey>) -> (Rows, bool, Result<(), KvError>) {
        let (part, reader) = (self.part, self.check.reader);
        let mut rows = Rows::default();
        let mut is_end = true;
        let after = after.map(|(partition, clustering)| (&partition[..], &clustering[..]));
        let outcome = reader.scan_table(part.table, after, &mut |row| {
            let is_full =
                |times: usize| rows.len() >= times * STEP || rows.bytes() >= times * STEP_BYTES;
            let last = rows.last();
            let follows = last.is_some_and(|(partition, ..)| partition == row.partition);
            if !part.holds(reader, &row, follows) {
                return Flow::Break(());
            }
            if is_full(2) || (is_full(1) && !follows) {
                is_end = false;
                return Flow::Break(());
            }
            rows.push(&row);
            Flow::Continue(())
        });
        (rows, is_end, outcome)
    }

    /// Reports that the table is unreadable after a row. Returns the key after which to continue;
    /// `None` if the rest of the part is unreadable.
    fn unreadable(&mut self, after: Option<RowKey>, error: &KvError) -> Option<RowKey> {
        let (part, reader) = (self.part, self.check.reader);
        let shown =
            |(partition, clustering): &RowKey| format!("{} {}", hex(partition), hex(clustering));
        let begin = after.as_ref().map_or_else(
            || "the first row".to_owned(),
            |row| format!("after {}", shown(row)),
        );
        let from = after.map_or_else(Vec::new, |(partition, clustering)| {
            [partition, clustering].concat()
        });
        let within = |(partition, clustering): &RowKey| {
            let row = Row {
                partition,
                clustering,
                value: &[],
            };
            part.holds(reader, &row, false)
        };
        let gap =
            gap(reader, part.table, &from).filter(|gap| gap.next.as_ref().is_some_and(within));
        let next = gap.as_ref().and_then(|gap| gap.next.as_ref());
        let end = next.or(part.next()).map_or_else(
            || "the end".to_owned(),
            |row| format!("before {}", shown(row)),
        );
        if self.work.pass == Pass::All {
            let name = name_of(part.table);
            self.check
                .problem(|| format!("{name}: cannot be read from {begin} to {end}: {error}"));
        }
        gap.map(|gap| gap.resume)
    }
}

impl VerifyReport {
    /// Adds the report of another part or pass.
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
        self.surplus_entries += other.surplus_entries;
        self.unindexed.extend(other.unindexed);
    }
}
