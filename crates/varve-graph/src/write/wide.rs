//! Deleting vertices with more edges than one commit may take.
//!
//! The edges go first, some thousand in each commit, then the vertex with the rest. Readers meanwhile see the vertex with
//! fewer and fewer edges; if the server stops in between, the vertex is still there and the request was not answered.

use std::sync::Arc;

use varve_encoding::key;
use varve_kv::fail_point;
use varve_model::{ElementId, VertexId};

use super::{Contention, Mutation, WriteRequest, Written, prepare};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;

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
            (Contention::Wait, Some(vertex)) => delete_edges(graph, vertex)?,
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
        ] => request.is_plain().then_some(id),
        _ => None,
    }
}

/// Deletes the edges that `vertex` has, in steps. Each goes on where the one before has ended: what that has removed may long be in
/// the way of whoever looks from the beginning on. Edges that come meanwhile, before that place, are left to the last look.
fn delete_edges(graph: &Arc<Graph>, vertex: &VertexId) -> Result<(), GraphError> {
    let mut rest = Some(key::EDGES_FROM.to_vec());
    while let Some(from) = rest {
        fail_point::WIDE_STEP.pass();
        let vertex = vertex.clone();
        let step = WriteRequest::now(vec![Mutation::DeleteEdges { vertex, from }]);
        // It is not refused, as it waits.
        let Some(written) = prepare(graph, &step, Contention::Wait)? else {
            return Ok(());
        };
        written.ticket.wait()?;
        rest = written.rest;
    }
    Ok(())
}
