//! Checks a stored graph against the invariants of `docs/time.md` while the graph is in use; `varve
//! verify` runs this.
//!
//! Threads read one committed state in parts of tables, and each thread checks the rows that it
//! reads. Tables are read in stages, so that few rows are looked up one by one (`prints`). If a
//! part of a table cannot be read, the report names its bounds, and the read continues after it.
//! Memory is bounded by the events of one element, by the number of problems that are listed in
//! full, and by some megabytes for each thread. These are the checks:
//!
//! - every key, row and record of every table decodes, and no version is newer than the last
//!   commit;
//! - each event is in exactly one place, and a row that has newer events is marked as such (B1);
//! - a current row equals resolution, from now until its `until` (B2), and an element without a
//!   current row exists neither now nor later;
//! - the two sides of an edge have the same rows and the same events;
//! - states of the present and the future have their entries in `index`, and past states there or
//!   in `event_index` (B4);
//! - no two elements have the same values in a unique index now;
//! - no state of now or later breaks a constraint of existence, key or type;
//! - `pending` has the instant at which a row ceases to decide.

mod elements;
mod events;
mod indexes;
mod parts;
mod prints;
mod records;
mod repair;
mod rows;
mod sides;
mod unreadable;
mod walk;

use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, PENDING, TABLES, VERTEX};
use varve_kv::{KvError, Reader, TableId};
use varve_model::{CommitVersion, ElementId, Instant, VertexId};

use self::events::Eventful;
use self::prints::{Collected, Prints};
pub use self::repair::{RepairReport, repair};
use self::rows::{RowOf, Rows};
use self::sides::Sides;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::Deriver;
use crate::read::View;
use crate::schema::Schema;

/// Problems that a report lists in full; more are counted.
pub const PROBLEMS_MAX: usize = 1_000;

/// The most elements that lack index entries that a report names for each part of a table.
const UNINDEXED_MAX: usize = 100_000;

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Vertices that exist now.
    pub vertices: u64,
    /// Edges that exist now.
    pub edges: u64,
    /// Events outside the current tables; the event of an edge is counted once.
    pub events: u64,
    /// Current rows that only announce a future state; the row of an edge is counted once.
    pub markers: u64,
    /// Index entries of the present.
    pub index_entries: u64,
    /// Index entries of the past.
    pub event_index_entries: u64,
    /// Instants in `pending`.
    pub pending: u64,
    /// Current rows that have ceased to decide and are not tidied yet; harmless.
    pub untidied: u64,
    /// Edges with an end that does not exist now. They are allowed, since a write of an edge need
    /// not check its ends.
    pub dangling_edges: u64,
    /// The number of problems.
    pub problem_count: u64,
    /// The first [`PROBLEMS_MAX`] problems, each a sentence that names the row.
    pub problems: Vec<String>,
    /// Entries in `index` and `event_index` that no state needs, as far as the verification can
    /// tell without further reads. They are harmless.
    pub surplus_entries: u64,
    /// The elements that lack index entries.
    pub unindexed: Vec<ElementId>,
}

impl VerifyReport {
    /// Whether no problem was found.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// Decides after each step whether to continue, given the number of rows read so far. One thread at
/// a time calls it.
type Proceed<'a> = dyn FnMut(u64) -> bool + Send + 'a;

/// Verifies the present state of `graph`, with `threads` threads. `proceed` is called after each
/// step, by one thread at a time, with the number of rows read so far. If it returns `false`, the
/// verification ends early.
///
/// # Errors
/// When the store fails. A row that is damaged or unreadable is a problem in the report.
pub fn verify(
    graph: &Graph,
    threads: usize,
    proceed: &mut (dyn FnMut(u64) -> bool + Send),
) -> Result<VerifyReport, GraphError> {
    let view = graph.view(varve_model::TemporalScope::NOW)?;
    let walked = walk::walk(&view, graph.published(), threads.max(1), proceed)?;
    Ok(walked.0)
}

/// What earlier stages have read, for the checks of later ones.
#[derive(Debug, Default)]
struct Known {
    /// The entries of `index` and of `event_index`.
    entries: [Prints; 2],
    /// The current rows of vertices and edges, of an edge the one at its source.
    rows: Prints,
    /// The vertices that exist now.
    vertices: Prints,
}

/// The fingerprints that a stage collects, as in [`Known`].
#[derive(Debug, Default)]
struct Seen<P> {
    entries: [P; 2],
    rows: P,
    vertices: P,
}

impl Known {
    /// Adds what a stage has read.
    fn add(&mut self, stage: Seen<Collected>) {
        let Seen {
            entries,
            rows,
            vertices,
        } = stage;
        for (known, read) in self.entries.iter_mut().zip(entries) {
            known.add(read);
        }
        self.rows.add(rows);
        self.vertices.add(vertices);
    }
}

impl Seen<Collected> {
    fn add(&mut self, step: &mut Seen<Vec<u64>>) {
        for (all, step) in self.entries.iter_mut().zip(&mut step.entries) {
            all.extend(step.drain(..));
        }
        self.rows.extend(step.rows.drain(..));
        self.vertices.extend(step.vertices.drain(..));
    }
}

struct Check<'a> {
    reader: &'a dyn Reader,
    /// What earlier stages have read.
    known: &'a Known,
    /// The fingerprints of this step.
    seen: Seen<Vec<u64>>,
    schema: &'a Schema,
    deriver: Option<&'a dyn Deriver>,
    now: Instant,
    published: CommitVersion,
    report: VerifyReport,
    sides: Sides,
    /// The partition of unique values in progress, and an element with an entry there. It has these
    /// values now, or that was not checked yet.
    claimed: Option<Claimed>,
    /// The side of the element whose events are in progress.
    walked: Option<(Vec<u8>, Vec<u8>)>,
    /// The targets of those edges of the step whose sources exist, each with the number of the
    /// edge's row.
    targets: Vec<(Vec<u8>, usize)>,
    /// The number of the current row in its step.
    row: usize,
    /// The source of the edges in progress, and whether it exists now.
    source: Option<(VertexId, bool)>,
    /// Which partitions of the rows in progress have events.
    eventful: Eventful,
    /// The last index entry that was found: edges of one source share the entry of their label.
    entry: Option<(Vec<u8>, Vec<u8>)>,
}

/// An element with an entry in a partition of unique values.
#[derive(Debug)]
struct Claimed {
    partition: Vec<u8>,
    id: ElementId,
    /// Whether it is known that the element has the values now.
    holds: bool,
}

impl<'a> Check<'a> {
    fn new(view: &'a View, published: CommitVersion, known: &'a Known) -> Self {
        Self {
            reader: view.reader(),
            known,
            seen: Seen::default(),
            schema: view.schema(),
            deriver: view.deriver(),
            now: view.valid(),
            published,
            report: VerifyReport::default(),
            sides: Sides::default(),
            claimed: None,
            walked: None,
            targets: Vec::new(),
            row: 0,
            source: None,
            eventful: Eventful::default(),
            entry: None,
        }
    }

    fn problem(&mut self, text: impl FnOnce() -> String) {
        self.report.problem_count += 1;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(text());
        }
    }

    /// Checks consecutive rows of one table.
    fn rows(&mut self, table: TableId, rows: &Rows) -> Result<(), GraphError> {
        (self.claimed, self.walked, self.source, self.entry) = (None, None, None, None);
        self.eventful = match table {
            VERTEX | EDGE => Eventful::of(self.reader, rows),
            _ => Eventful::default(),
        };
        self.each(
            table,
            rows,
            |check, (partition, clustering, value)| match table {
                VERTEX => check.vertex_row(partition, clustering, value),
                EDGE => check.edge_row(partition, clustering, value),
                EVENT => check.event_row(partition, clustering, value),
                PENDING => check.pending_row(clustering),
                INDEX | EVENT_INDEX => check.index_row(table, partition, clustering),
                _ => records::check(table, partition, clustering, value),
            },
        )?;
        self.look_for_targets(rows)
    }

    /// Calls `check` with each row. Damage is a problem of the report.
    fn each(
        &mut self,
        table: TableId,
        rows: &Rows,
        check: impl Fn(&mut Self, RowOf<'_>) -> Result<(), Wrong>,
    ) -> Result<(), GraphError> {
        for (number, row) in rows.iter().enumerate() {
            self.row = number;
            let checked = check(self, row);
            self.unless_damaged(table, row, checked)?;
        }
        Ok(())
    }

    /// Returns the result of the check of a row. Damage is a problem of the report, and gives
    /// `None`.
    fn unless_damaged<T>(
        &mut self,
        table: TableId,
        row: RowOf<'_>,
        checked: Result<T, Wrong>,
    ) -> Result<Option<T>, GraphError> {
        match checked {
            Ok(checked) => Ok(Some(checked)),
            Err(Wrong::Store(error)) => Err(error),
            Err(Wrong::Damage(damage)) => {
                let place = place(table, row.0, row.1);
                self.problem(|| format!("{place}: {damage}"));
                Ok(None)
            }
        }
    }
}

/// Whether an error concerns only the bytes that were to be read, so that other rows may be
/// readable.
fn is_damage(error: &KvError) -> bool {
    matches!(
        error,
        KvError::Corruption { .. } | KvError::Unreadable { .. } | KvError::Io { .. }
    )
}

/// Why the check of a row ended early.
enum Wrong {
    /// The store failed, so the verification ends.
    Store(GraphError),
    /// The row is damaged.
    Damage(String),
}

impl From<GraphError> for Wrong {
    fn from(error: GraphError) -> Self {
        let below = error.source.as_ref();
        let is_sound = below
            .and_then(|below| below.downcast_ref::<KvError>())
            .is_some_and(|below| !is_damage(below));
        match error.kind {
            crate::ErrorKind::Storage if !is_sound => Self::Damage(error.message),
            _ => Self::Store(error),
        }
    }
}

impl From<KvError> for Wrong {
    fn from(error: KvError) -> Self {
        match is_damage(&error) {
            true => Self::Damage(error.to_string()),
            false => Self::Store(error.into()),
        }
    }
}

impl From<varve_encoding::DecodeError> for Wrong {
    fn from(error: varve_encoding::DecodeError) -> Self {
        Self::Damage(error.to_string())
    }
}

/// Returns the place of a row, as text.
fn place(table: TableId, partition: &[u8], clustering: &[u8]) -> String {
    format!("{} {} {}", name_of(table), hex(partition), hex(clustering))
}

fn name_of(table: TableId) -> &'static str {
    TABLES[usize::from(table.0)].name
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
