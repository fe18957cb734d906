//! Checks a stored graph against the invariants of `docs/time.md`, while it serves: what `varve verify` runs.
//!
//! One committed state is walked table by table. Memory stays bounded by the events of one element and by the number of
//! problems that are told in full. What is checked:
//!
//! - every key and row decodes, and no version is newer than the last commit;
//! - each event is in exactly one place, and a row with newer events says so (B1);
//! - a current row is what resolution gives, from now until it says it may not be (B2), and where there is no row
//!   nothing exists now or later;
//! - the two sides of an edge hold the same rows and the same events;
//! - what is now or later has its entries in `index`, what was has them there or in `event_index` (B4);
//! - no two elements hold the values of a unique index now;
//! - the instant at which a row stops deciding is waited for.

mod elements;
mod indexes;

use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, PENDING, VERTEX};
use varve_kv::{Reader, TableId};
use varve_model::{CommitVersion, Instant};

use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::Deriver;
use crate::read::View;
use crate::schema::Schema;

/// Problems that a report tells in full; more are counted.
pub const PROBLEMS_TOLD_MAX: usize = 1_000;

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
    /// Edges with an end that does not exist now; allowed, since ends need not be checked when an edge is written.
    pub dangling_edges: u64,
    /// How many problems there are.
    pub problem_count: u64,
    /// The first [`PROBLEMS_TOLD_MAX`] of them, each a sentence that names the place.
    pub problems: Vec<String>,
}

impl VerifyReport {
    /// Whether no problem was found.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }
}

/// Verifies what `graph` holds at this moment. `proceed` is asked after each table's step of rows, with how many rows
/// have been looked at; when it answers `false` the report ends there.
///
/// # Errors
/// When the store fails. Damage of single rows is a problem in the report.
pub fn verify(
    graph: &Graph,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Result<VerifyReport, GraphError> {
    let view = graph.view(varve_model::TemporalScope::NOW)?;
    let published = graph.published();
    let mut check = Check::new(&view, published);
    for table in [VERTEX, EDGE, EVENT, INDEX, EVENT_INDEX, PENDING] {
        if !check.walk(table, proceed)? {
            break;
        }
    }
    Ok(check.report)
}

/// Rows looked at between two looks at whether to go on.
const STEP: usize = 10_000;
/// Bytes of values that end a step early.
const STEP_BYTES: usize = 8 << 20;

type RowOf = (Vec<u8>, Vec<u8>, Vec<u8>);

struct Check<'a> {
    reader: &'a dyn Reader,
    schema: &'a Schema,
    deriver: Option<&'a dyn Deriver>,
    now: Instant,
    published: CommitVersion,
    report: VerifyReport,
    seen: u64,
    /// Partition of unique values being walked, and one that holds them now.
    claimed: Option<(Vec<u8>, varve_model::ElementId)>,
    /// Side of the element whose events are being walked.
    walked: Option<(Vec<u8>, Vec<u8>)>,
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
            seen: 0,
            claimed: None,
            walked: None,
        }
    }

    fn problem(&mut self, told: impl FnOnce() -> String) {
        self.report.problem_count += 1;
        if self.report.problems.len() < PROBLEMS_TOLD_MAX {
            self.report.problems.push(told());
        }
    }

    /// Walks one table; returns whether to go on.
    fn walk(
        &mut self,
        table: TableId,
        proceed: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, GraphError> {
        let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
        loop {
            let rows = self.step(table, after.as_ref())?;
            for (partition, clustering, value) in &rows {
                let outcome = match table {
                    VERTEX => self.vertex_row(partition, clustering, value),
                    EDGE => self.edge_row(partition, clustering, value),
                    EVENT => self.event_row(partition, clustering, value),
                    PENDING => self.pending_row(clustering),
                    _ => self.index_row(table, partition, clustering),
                };
                match outcome {
                    Ok(()) => {}
                    Err(Wrong::Store(error)) => return Err(error),
                    Err(Wrong::Damage(told)) => {
                        let place = place(table, partition, clustering);
                        self.problem(|| format!("{place}: {told}"));
                    }
                }
            }
            self.seen += rows.len() as u64;
            if !proceed(self.seen) {
                return Ok(false);
            }
            match rows.into_iter().last() {
                Some((partition, clustering, _)) => after = Some((partition, clustering)),
                None => return Ok(true),
            }
        }
    }

    fn step(
        &self,
        table: TableId,
        after: Option<&(Vec<u8>, Vec<u8>)>,
    ) -> Result<Vec<RowOf>, GraphError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let after = after.map(|(partition, clustering)| (&partition[..], &clustering[..]));
        self.reader.scan_table(table, after, &mut |row| {
            let (partition, clustering) = (row.partition.to_vec(), row.clustering.to_vec());
            rows.push((partition, clustering, row.value.to_vec()));
            bytes += row.value.len();
            if rows.len() < STEP && bytes < STEP_BYTES {
                varve_kv::Flow::Continue(())
            } else {
                varve_kv::Flow::Break(())
            }
        })?;
        Ok(rows)
    }
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
        match error.kind {
            crate::ErrorKind::Storage if error.message.starts_with("Stored data is damaged") => {
                Self::Damage(error.message)
            }
            _ => Self::Store(error),
        }
    }
}

impl From<varve_kv::KvError> for Wrong {
    fn from(error: varve_kv::KvError) -> Self {
        Self::Store(error.into())
    }
}

impl From<varve_encoding::DecodeError> for Wrong {
    fn from(error: varve_encoding::DecodeError) -> Self {
        Self::Damage(error.to_string())
    }
}

/// A row's place, for people.
fn place(table: TableId, partition: &[u8], clustering: &[u8]) -> String {
    let name = varve_encoding::tables::TABLES[usize::from(table.0)].name;
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    format!("{name} {} {}", hex(partition), hex(clustering))
}
