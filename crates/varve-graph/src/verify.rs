//! Checks a stored graph against the invariants of `docs/time.md`, while it serves: what `varve
//! verify` runs.
//!
//! One committed state is read table by table, and threads check the rows. Where a part of a table
//! cannot be read, the report says from where to where, and the walk goes on behind it. Memory
//! stays bounded by the events of one element, by the number of problems that are listed in full,
//! and by some megabytes for each thread. What is checked:
//!
//! - every key, row and record of every table decodes, and no version is newer than the last
//!   commit;
//! - each event is in exactly one place, and a row with newer events says so (B1);
//! - a current row is what resolution gives, from now until it says it may not be (B2), and where
//!   there is no row nothing exists now or later;
//! - the two sides of an edge hold the same rows and the same events;
//! - what is now or later has its entries in `index`, what was has them there or in `event_index`
//!   (B4);
//! - no two elements hold the values of a unique index now;
//! - the instant at which a row stops deciding is waited for.

mod elements;
mod events;
mod indexes;
mod records;
mod rows;
mod sides;
mod unreadable;
mod walk;

use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, PENDING, TABLES, VERTEX};
use varve_kv::{KvError, Reader, TableId};
use varve_model::{CommitVersion, Instant, VertexId};

use self::events::Eventful;
use self::rows::{RowOf, Rows};
use self::sides::Sides;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::Deriver;
use crate::read::View;
use crate::schema::Schema;

/// Problems that a report lists in full; more are counted.
pub const PROBLEMS_MAX: usize = 1_000;

/// What a verification saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Vertices that exist now.
    pub vertices: u64,
    /// Edges that exist now.
    pub edges: u64,
    /// Events outside the current tables; an edge's counted once.
    pub events: u64,
    /// Current rows that only say that something may exist later; an edge's counted once.
    pub markers: u64,
    /// Entries of the present's indexes.
    pub index_entries: u64,
    /// Entries of the past's indexes.
    pub event_index_entries: u64,
    /// Boundaries that are waited for.
    pub pending: u64,
    /// Current rows whose time is up and that have not been tidied; harmless.
    pub untidied: u64,
    /// Edges with an end that does not exist now; allowed, since ends need not be checked when an
    /// edge is written.
    pub dangling_edges: u64,
    /// How many problems there are.
    pub problem_count: u64,
    /// The first [`PROBLEMS_MAX`] of them, each a sentence that names the place.
    pub problems: Vec<String>,
}

impl VerifyReport {
    /// Whether no problem was found.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// Verifies what `graph` holds at this moment, with `threads` threads beside the one that reads.
/// `proceed` is asked after each step of rows, with how many have been read; when it answers
/// `false` the report ends there.
///
/// # Errors
/// When the store fails. What is damaged or cannot be read is a problem in the report.
pub fn verify(
    graph: &Graph,
    threads: usize,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Result<VerifyReport, GraphError> {
    let view = graph.view(varve_model::TemporalScope::NOW)?;
    walk::walk(&view, graph.published(), threads.max(1), proceed)
}

struct Check<'a> {
    reader: &'a dyn Reader,
    schema: &'a Schema,
    deriver: Option<&'a dyn Deriver>,
    now: Instant,
    published: CommitVersion,
    report: VerifyReport,
    sides: Sides,
    /// Partition of unique values being walked, and one that holds them now.
    claimed: Option<(Vec<u8>, varve_model::ElementId)>,
    /// Side of the element whose events are being walked.
    walked: Option<(Vec<u8>, Vec<u8>)>,
    /// Source of the edges being walked, and whether it exists now.
    source: Option<(VertexId, bool)>,
    /// Which partitions of the rows being walked have events.
    eventful: Eventful,
    /// The index entry that was found last: edges of one source share that of their label.
    entry: Option<(Vec<u8>, Vec<u8>)>,
}

impl<'a> Check<'a> {
    fn new(view: &'a View, published: CommitVersion) -> Self {
        Self {
            reader: view.reader(),
            schema: view.schema(),
            deriver: view.deriver(),
            now: view.valid(),
            published,
            report: VerifyReport::default(),
            sides: Sides::default(),
            claimed: None,
            walked: None,
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

    /// Checks rows of one table that follow each other.
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
        )
    }

    /// Calls `check` with each row; a row that is damaged is a problem.
    fn each(
        &mut self,
        table: TableId,
        rows: &Rows,
        check: impl Fn(&mut Self, RowOf<'_>) -> Result<(), Wrong>,
    ) -> Result<(), GraphError> {
        for row in rows.iter() {
            match check(self, row) {
                Ok(()) => {}
                Err(Wrong::Store(error)) => return Err(error),
                Err(Wrong::Damage(damage)) => {
                    let place = place(table, row.0, row.1);
                    self.problem(|| format!("{place}: {damage}"));
                }
            }
        }
        Ok(())
    }
}

/// Whether an error is about the very bytes that were to be read, so that others may be readable.
fn is_damage(error: &KvError) -> bool {
    matches!(
        error,
        KvError::Corruption { .. } | KvError::Unreadable { .. } | KvError::Io { .. }
    )
}

/// Why a row could not be checked to the end.
enum Wrong {
    /// The store failed: the verification ends.
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

/// A row's place, for people.
fn place(table: TableId, partition: &[u8], clustering: &[u8]) -> String {
    format!("{} {} {}", name_of(table), hex(partition), hex(clustering))
}

fn name_of(table: TableId) -> &'static str {
    TABLES[usize::from(table.0)].name
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
