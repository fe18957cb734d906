//! Tidying: updates the rows of elements whose boundary has passed, so that the current row is the
//! event that decides now, and removes the boundary.
//!
//! Reads do not need it (invariant B6); it keeps reads of the present fast.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::tables::PENDING;
use varve_kv::{ClusteringRange, Flow, ScanRequest, fail_point};
use varve_model::{ElementId, Instant};

use crate::error::GraphError;
use crate::graph::Graph;
use crate::write::{commit_internal, current_rows};

/// Elements tidied in one commit.
const CHUNK: usize = 256;

/// Tidies up to `limit` boundaries that have passed; returns the number tidied.
///
/// # Errors
/// When the store fails or is damaged.
pub fn tidy(graph: &Arc<Graph>, limit: usize) -> Result<usize, GraphError> {
    let mut done = 0;
    while done < limit {
        let published = graph.published();
        if graph.last_look.is_current(published, graph.now()) {
            break;
        }
        let (due, next) = due(graph, CHUNK.min(limit - done))?;
        if due.is_empty() {
            graph.last_look.note(published, next);
            break;
        }
        done += due.len();
        fail_point::TIDY_STEP.pass();
        let ids: Vec<ElementId> = due.iter().map(|(_, id)| id.clone()).collect();
        commit_internal(graph, &ids, &[], |emitter| {
            let rows = current_rows(graph.reader(), &ids)?;
            for ((clustering, id), current) in due.iter().zip(rows) {
                let (at, _) = key::decode_pending(clustering)?;
                emitter.touch_due(id, at);
                emitter.settled(id, current)?;
                emitter
                    .batch
                    .delete(PENDING, key::PENDING_PARTITION, clustering);
            }
            Ok(())
        })?
        .wait()?;
    }
    Ok(done)
}

/// Boundaries that have passed: their keys and elements.
type Due = Vec<(Vec<u8>, ElementId)>;

/// Returns up to `limit` boundaries that have passed, and the first that has not, if it was
/// reached.
fn due(graph: &Graph, limit: usize) -> Result<(Due, Option<Instant>), GraphError> {
    let mut due = Vec::new();
    let mut next = None;
    let mut damaged = None;
    let now = graph.now();
    let range = ClusteringRange::all();
    let partition = key::PENDING_PARTITION;
    let request = ScanRequest {
        table: PENDING,
        partition,
        range: &range,
        reverse: false,
    };
    graph.reader().scan(request, &mut |clustering, _| {
        match key::decode_pending(clustering) {
            Ok((at, id)) if at <= now => due.push((clustering.to_vec(), id)),
            Ok((at, _)) => {
                next = Some(at);
                return Flow::Break(());
            }
            Err(error) => {
                damaged = Some(error);
                return Flow::Break(());
            }
        }
        if due.len() < limit {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    })?;
    damaged.map_or(Ok((due, next)), |error| Err(error.into()))
}
