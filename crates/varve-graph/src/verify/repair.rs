//! Repairs the index entries of a graph while it is used.

use std::sync::Arc;

use varve_encoding::index::{IndexId, partition_prefix};
use varve_encoding::tables::EVENT_INDEX;
use varve_model::EdgeLabelId;

use super::prints::print;
use super::{Proceed, VerifyReport, walk};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::{add_missing, remove_surplus};

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// What the verification before the repair has found.
    pub found: VerifyReport,
    /// Elements whose entries were added.
    pub completed: u64,
    /// Entries that were removed, since no state of their element has them.
    pub removed: u64,
}

/// Verifies a graph, adds the index entries that are missing, and removes those that no state of
/// their element has. Other problems are reported only. `proceed` is as in
/// [`verify`](super::verify()); if it returns `false`, nothing is repaired.
///
/// # Errors
/// As [`verify`](super::verify()); when two elements hold the same values of a unique index.
pub fn repair(
    graph: &Arc<Graph>,
    threads: usize,
    proceed: &mut Proceed<'_>,
) -> Result<RepairReport, GraphError> {
    let view = graph.view(varve_model::TemporalScope::NOW)?;
    let mut goes_on = true;
    let mut watched = |rows: u64| {
        goes_on = proceed(rows);
        goes_on
    };
    let (found, known) = walk::walk(&view, graph.published(), threads.max(1), &mut watched)?;
    drop(view);
    let mut report = RepairReport {
        found,
        ..RepairReport::default()
    };
    if !goes_on {
        return Ok(report);
    }
    add_missing(graph, &report.found.unindexed)?;
    report.completed = report.found.unindexed.len() as u64;
    // The entry of an edge label is shared by all edges of a source, so no edge says that it is
    // not needed.
    let shared = partition_prefix(IndexId::EdgeLabel(EdgeLabelId(0)))[0];
    report.removed = remove_surplus(graph, &|table, partition, clustering| {
        let known = &known.entries[usize::from(table == EVENT_INDEX)];
        partition.first() != Some(&shared) && known.is_surplus(print(partition, clustering))
    })?;
    Ok(report)
}
