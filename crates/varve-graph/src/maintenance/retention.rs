//! Retention: deletes superseded events of labels that keep history for a limited time.
//!
//! The *horizon* of a label is now minus its retention, in microseconds. An event is deleted if a
//! newer event, itself committed at or before the horizon, overlaps its valid period and covers the
//! part of that period after the horizon. So a read keeps its answer if both its times are at or
//! after the horizon, which includes the present and planned states. Events without such a newer
//! event stay, however old.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, VERTEX};
use varve_kv::{Flow, ReaderExt, fail_point};
use varve_model::schema::Retention;
use varve_model::{CommitVersion, Instant, Period};

use crate::error::GraphError;
use crate::graph::Graph;
use crate::schema::Schema;
use crate::write::commit_internal;

/// Rows read in one step.
const CHUNK: usize = 2_000;

/// The result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// Event rows read; an edge's events count on both sides.
    pub seen: u64,
    /// Event rows removed.
    pub removed: u64,
}

type RowKey = (Vec<u8>, Vec<u8>);
/// Partition, clustering, value.
type Row = (Vec<u8>, Vec<u8>, Vec<u8>);

/// Scans all events once and removes those past their label's retention. Does nothing if every
/// label keeps all history.
///
/// # Errors
/// When the store fails or is damaged.
pub fn sweep(graph: &Arc<Graph>) -> Result<RetentionReport, GraphError> {
    let mut report = RetentionReport::default();
    let schema = graph.schema();
    let limited = |retention: Retention| retention != Retention::All;
    let any = schema
        .all_vertex_labels()
        .any(|label| limited(label.retention))
        || schema
            .all_edge_labels()
            .any(|label| limited(label.retention));
    if !any {
        return Ok(report);
    }
    let mut after: Option<RowKey> = None;
    let mut element = Walked::at(graph.now());
    loop {
        let rows = read_chunk(graph, after.as_ref())?;
        let Some(last) = rows.last() else {
            return Ok(report);
        };
        after = Some((last.0.clone(), last.1.clone()));
        report.seen += rows.len() as u64;
        let mut doomed = Vec::new();
        for (partition, clustering, row) in &rows {
            if element.is_past_retention(graph, &schema, partition, clustering, row)? {
                doomed.push((partition, clustering));
            }
        }
        report.removed += doomed.len() as u64;
        if !doomed.is_empty() {
            fail_point::RETENTION_STEP.pass();
            commit_internal(graph, &[], &[], |emitter| {
                for (partition, clustering) in &doomed {
                    emitter.batch.delete(EVENT, partition, clustering);
                }
                Ok(())
            })?
            .wait()?;
        }
    }
}

fn read_chunk(graph: &Graph, after: Option<&RowKey>) -> Result<Vec<Row>, GraphError> {
    let mut rows = Vec::new();
    let after = after.map(|(partition, clustering)| (partition.as_slice(), clustering.as_slice()));
    graph.reader().scan_table(EVENT, after, &mut |row| {
        rows.push((
            row.partition.to_vec(),
            row.clustering.to_vec(),
            row.value.to_vec(),
        ));
        if rows.len() < CHUNK {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    })?;
    Ok(rows)
}

/// The events of one side of one element that the scan has met, newest first.
struct Walked {
    /// When the sweep began: one instant for all events, so that both sides of an edge have the
    /// same horizon.
    begun: Instant,
    key: RowKey,
    newer: Vec<(CommitVersion, Period)>,
    /// The retention of the element's label; a vertex's label is that of the newest event so far
    /// with content.
    retention: Retention,
}

impl Walked {
    fn at(begun: Instant) -> Self {
        let (key, newer, retention) = (RowKey::default(), Vec::new(), Retention::All);
        Self {
            begun,
            key,
            newer,
            retention,
        }
    }

    fn is_past_retention(
        &mut self,
        graph: &Graph,
        schema: &Schema,
        partition: &[u8],
        clustering: &[u8],
        row: &[u8],
    ) -> Result<bool, GraphError> {
        let (current, version) = key::split_event(clustering)?;
        if self.key.0 != partition || self.key.1 != current {
            self.start(graph, schema, partition, current)?;
        }
        let (header, content) = Header::decode(row)?;
        if header.kind == RowKind::Put && current == key::VERTEX_CLUSTERING {
            let label = row::vertex_label(content)?;
            self.retention = schema
                .vertex_label(label)
                .map_or(Retention::All, |it| it.retention);
        }
        let period = header.period();
        let keep = match self.retention {
            Retention::All => None,
            Retention::For(micros) => Some(micros),
            Retention::None => Some(0),
        };
        // The list starts with the current row, which may be older than some events.
        let forgotten = keep.is_some_and(|keep| {
            let horizon = Instant(self.begun.0.saturating_sub(keep));
            let from = period.from.max(horizon);
            self.newer.iter().any(|(newer, of)| {
                let after = of.from <= from && period.to <= of.to;
                *newer > version
                    && newer.instant() <= horizon
                    && of.overlaps(period)
                    && (period.to <= horizon || after)
            })
        });
        self.newer.push((version, period));
        Ok(forgotten)
    }

    fn start(
        &mut self,
        graph: &Graph,
        schema: &Schema,
        partition: &[u8],
        current: &[u8],
    ) -> Result<(), GraphError> {
        self.key = (partition.to_vec(), current.to_vec());
        self.newer.clear();
        self.retention = Retention::All;
        let table = if current == key::VERTEX_CLUSTERING {
            VERTEX
        } else {
            EDGE
        };
        if table == EDGE {
            let label = row::edge_labels_of_clustering(current).map(|(_, label)| label);
            let label = label.and_then(|label| schema.edge_label(label));
            self.retention = label.map_or(Retention::All, |label| label.retention);
        }
        if let Some(row) = graph.reader().get(table, partition, current)? {
            let (header, _) = Header::decode(&row)?;
            if header.kind == RowKind::Put {
                self.newer.push((header.version, header.period()));
            }
        }
        Ok(())
    }
}
