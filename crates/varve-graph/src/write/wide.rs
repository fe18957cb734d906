//! Deleting vertices with more edges than one commit may take.
//!
//! The edges go first, some thousand in each commit, then the vertex with the rest. Readers meanwhile see the vertex with
//! fewer and fewer edges; if the server stops in between, the vertex is still there and the request was not answered.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::tables::EDGE;
use varve_kv::{ClusteringRange, Flow, ScanRequest, fail_point};
use varve_model::{ElementId, VertexId};

use super::incident::{Room, edge_bytes};
use super::{Contention, Missing, Mutation, WriteRequest, Written, prepare};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;

/// Edges deleted in one commit.
const STEP: usize = 10_000;
/// Bytes of them after which no more are taken.
const STEP_BYTES: usize = 16 << 20;

/// Prepares and submits `request`, after making a vertex that it alone deletes small enough.
pub(crate) fn write(
    graph: &Arc<Graph>,
    request: &WriteRequest,
    contention: Contention,
) -> Result<Option<Written>, GraphError> {
    loop {
        let error = match prepare(graph, request, contention) {
            Err(error) if error.kind == ErrorKind::LimitExceeded => error,
            done => return done,
        };
        match (contention, lone_deletion(request)) {
            // Too much for a thread that serves others.
            (Contention::Refuse, _) => return Ok(None),
            (Contention::Wait, Some(vertex)) => delete_some_edges(graph, vertex)?,
            (Contention::Wait, None) => return Err(error),
        }
    }
}

/// The vertex that `request` deletes from now on, if it does nothing else.
fn lone_deletion(request: &WriteRequest) -> Option<&VertexId> {
    match request.mutations.as_slice() {
        [
            Mutation::Delete {
                id: ElementId::Vertex(id),
                ..
            },
        ] if request.period.from.is_none() => request.period.to.is_none().then_some(id),
        _ => None,
    }
}

fn delete_some_edges(graph: &Arc<Graph>, vertex: &VertexId) -> Result<(), GraphError> {
    let partition = key::vertex_id(vertex);
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: EDGE,
        partition: &partition,
        range: &range,
        reverse: false,
    };
    let mut edges = Vec::new();
    let mut damaged = None;
    let room = Room::of(graph.limits()).at_most(STEP, STEP_BYTES);
    let mut bytes = 0;
    graph.reader().scan(request, &mut |clustering, row| {
        bytes += edge_bytes(&partition, clustering, row);
        match key::decode_edge(&partition, clustering) {
            Ok((id, _)) => edges.push(id),
            Err(error) => damaged = Some(error),
        }
        if damaged.is_some() || edges.len() >= room.edges || bytes >= room.bytes {
            Flow::Break(())
        } else {
            Flow::Continue(())
        }
    })?;
    if let Some(error) = damaged {
        return Err(error.into());
    }
    fail_point::WIDE_STEP.pass();
    let delete = |id| Mutation::Delete {
        id: ElementId::Edge(id),
        missing: Missing::Ignore,
    };
    graph
        .write_now(&WriteRequest::now(edges.into_iter().map(delete).collect()))
        .map(drop)
}
