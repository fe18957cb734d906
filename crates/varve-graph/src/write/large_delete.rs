//! Deletes vertices that have more edges than one commit may delete.
//!
//! The edges are deleted first, some thousand in each commit. The last commit deletes the vertex
//! with its remaining edges. Meanwhile readers see the vertex with fewer and fewer edges. If the
//! server stops in between, the vertex still exists, and the request gets no answer. If a later
//! commit fails, the answer must not state that nothing happened: see [`GraphError::after_part`].

use std::sync::Arc;

use varve_encoding::key;
use varve_kv::fail_point;
use varve_model::{ElementId, VertexId};

use super::{Contention, Missing, Mutation, Ticket, WriteRequest, Written, prepare};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;

/// Prepares and submits `request`. If it only deletes one vertex with too many edges, deletes most
/// of the edges first.
pub(crate) fn write(
    graph: &Arc<Graph>,
    request: &WriteRequest,
    contention: Contention,
) -> Result<Option<Written>, GraphError> {
    let error = match prepare(graph, request, contention) {
        // In several commits, neither the expectations of the request nor its policy could be
        // checked for all of them at once.
        Err(error)
            if error.kind == ErrorKind::LimitExceeded
                && request.expected.rows.is_empty()
                && request.access.is_none() =>
        {
            error
        }
        done => return done,
    };
    match (contention, lone_deletion(request)) {
        // Too long for a thread that serves other requests, too.
        (Contention::Refuse, _) => Ok(None),
        (Contention::Wait, None) => Err(error),
        (Contention::Wait, Some((vertex, missing))) => {
            let mut steps = 0;
            let done = delete_in_steps(graph, request, (vertex, missing), &mut steps);
            done.map(Some).map_err(|error| {
                let part = format!(
                    "{steps} parts of the edges of vertex '{vertex}' are deleted, the vertex may not be; delete it again"
                );
                if steps > 0 { error.after_part(&part) } else { error }
            })
        }
    }
}

/// Deletes edges of the vertex until `request` fits into one commit, and waits until that is
/// stored. Counts the preceding commits in `steps`.
fn delete_in_steps(
    graph: &Arc<Graph>,
    request: &WriteRequest,
    of: (&VertexId, Missing),
    steps: &mut usize,
) -> Result<Written, GraphError> {
    loop {
        delete_edges(graph, of, steps)?;
        match prepare(graph, request, Contention::Wait) {
            // New edges were added meanwhile.
            Err(error) if error.kind == ErrorKind::LimitExceeded => {}
            Err(error) => return Err(error),
            Ok(None) => return Err(busy()),
            Ok(Some(mut written)) => {
                // Wait here, since the error of a failure must mention the steps.
                let ticket =
                    std::mem::replace(&mut written.ticket, Ticket::done(graph.published()));
                written.ticket = Ticket::done(ticket.wait()?);
                return Ok(written);
            }
        }
    }
}

fn busy() -> GraphError {
    GraphError::new(ErrorKind::Busy, "The vertex is being written by others")
}

/// Returns the vertex that `request` deletes from now on and what to do if it does not exist;
/// `None` if the request does anything else.
fn lone_deletion(request: &WriteRequest) -> Option<(&VertexId, Missing)> {
    match request.mutations.as_slice() {
        [
            Mutation::Delete {
                id: ElementId::Vertex(id),
                missing,
            },
        ] => request.is_plain().then_some((id, *missing)),
        _ => None,
    }
}

/// Deletes the edges of `vertex` in steps. Each step continues after the previous one, since a scan
/// from the start would have to skip the tombstones of the deleted edges. Edges that are added
/// meanwhile before that position are left to the final deletion.
fn delete_edges(
    graph: &Arc<Graph>,
    (vertex, missing): (&VertexId, Missing),
    steps: &mut usize,
) -> Result<(), GraphError> {
    let mut rest = Some(key::EDGES_FROM.to_vec());
    while let Some(from) = rest {
        fail_point::WIDE_STEP.pass();
        let step = WriteRequest::now(vec![Mutation::DeleteEdges {
            vertex: vertex.clone(),
            from,
            missing,
        }]);
        let written = prepare(graph, &step, Contention::Wait)?.ok_or_else(busy)?;
        written.ticket.wait()?;
        *steps += 1;
        rest = written.rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use varve_encoding::tables::TABLES;
    use varve_kv::{Engine, MemoryEngine};
    use varve_model::time::SystemClock;
    use varve_model::{Edge, EdgeId, EdgeLabelId, TemporalScope, Vertex, VertexId, VertexLabelId};

    use super::*;
    use crate::commit::{DurabilityMode, LatchSet};
    use crate::deadline;
    use crate::graph::GraphOptions;
    use crate::schema::{NewEdgeLabel, NewVertexLabel};
    use crate::write::EndCheck;
    use crate::write::keys::edge_latch;

    const EDGES: usize = 20;

    fn edge_id(at: usize) -> EdgeId {
        EdgeId {
            source: VertexId::text("hub"),
            parent: EdgeLabelId(1),
            label: EdgeLabelId(1),
            sort_values: "".into(),
            target: VertexId::text(&format!("v{at:02}")),
        }
    }

    fn edge(id: EdgeId) -> Edge {
        Edge {
            id,
            source_label: VertexLabelId(1),
            target_label: VertexLabelId(1),
            properties: Default::default(),
        }
    }

    fn is_there(graph: &Graph, id: &EdgeId) -> bool {
        let found = graph.edge(id, TemporalScope::NOW);
        found.expect("read").is_some()
    }

    /// A vertex with four times as many edges as a commit may delete.
    fn graph() -> Arc<Graph> {
        let space = MemoryEngine::new().open("g", TABLES, true).expect("space");
        let mut options = GraphOptions::new(Arc::new(SystemClock));
        options.limits.vertex_delete_edges_max = EDGES / 4;
        options.durability = DurabilityMode::None;
        let graph = Graph::open("g", space, &options).expect("graph");
        let catalogue = graph.catalogue();
        let vertices = catalogue.create_vertex_label(NewVertexLabel::named("v"));
        vertices.expect("a label");
        let edges = catalogue.create_edge_label(NewEdgeLabel::between("e", "v", "v"));
        edges.expect("a label");
        let put_edge = |at| Mutation::PutEdge {
            edge: edge(edge_id(at)),
            ends: EndCheck::Skip,
        };
        let vertex = Vertex {
            id: VertexId::text("hub"),
            label: VertexLabelId(1),
            properties: Default::default(),
        };
        let fresh = false;
        let mut mutations = vec![Mutation::PutVertex { vertex, fresh }];
        mutations.extend((0..EDGES).map(put_edge));
        graph
            .write_now(&WriteRequest::now(mutations))
            .expect("stored");
        graph
    }

    fn held(graph: &Graph, at: usize) -> LatchSet {
        let latch = vec![edge_latch(&edge_id(at))];
        graph.latches.acquire(latch).expect("free")
    }

    fn left(graph: &Graph) -> usize {
        let there = |at: &usize| is_there(graph, &edge_id(*at));
        (0..EDGES).filter(there).count()
    }

    /// Deletes a vertex without waiting for a latch.
    fn delete(graph: &Arc<Graph>, id: &str, missing: Missing) -> Result<(), ErrorKind> {
        let id = ElementId::Vertex(VertexId::text(id));
        let request = WriteRequest::now(vec![Mutation::Delete { id, missing }]);
        let done = deadline::until(Instant::now(), || graph.write_now(&request));
        done.map(|_| ()).map_err(|error| error.kind)
    }

    #[test]
    fn a_deletion_that_ends_between_its_steps_does_not_say_that_nothing_happened() {
        let graph = graph();
        let other = held(&graph, 0);
        let first = delete(&graph, "hub", Missing::Refuse);
        assert_eq!((first, left(&graph)), (Err(ErrorKind::Busy), EDGES));
        drop(other);
        let other = held(&graph, EDGES - 1);
        let later = delete(&graph, "hub", Missing::Refuse);
        assert_eq!(later, Err(ErrorKind::OutcomeUnknown));
        assert!((1..EDGES).contains(&left(&graph)));
        drop(other);
        assert_eq!(delete(&graph, "hub", Missing::Refuse), Ok(()));
        assert_eq!(left(&graph), 0);
    }

    #[test]
    fn a_missing_vertex_is_refused_before_any_of_its_edges_is_deleted() {
        let graph = graph();
        let to_nobody = |at| EdgeId {
            target: VertexId::text("nobody"),
            source: VertexId::text(&format!("v{at:02}")),
            ..edge_id(at)
        };
        let put = |at| Mutation::PutEdge {
            edge: edge(to_nobody(at)),
            ends: EndCheck::Skip,
        };
        let edges = WriteRequest::now((0..EDGES).map(put).collect());
        graph.write_now(&edges).expect("stored");
        let refused = delete(&graph, "nobody", Missing::Refuse);
        assert_eq!(refused, Err(ErrorKind::NotFound));
        assert!((0..EDGES).all(|at| is_there(&graph, &to_nobody(at))));
        assert_eq!(delete(&graph, "nobody", Missing::Ignore), Ok(()));
        assert!(!(0..EDGES).any(|at| is_there(&graph, &to_nobody(at))));
    }
}
