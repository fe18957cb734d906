//! Purge: removes an element with its whole history, and writes a record of the purge. Nothing else
//! destroys a single element.

use std::sync::Arc;

use varve_kv::fail_point;
use varve_model::{EdgeId, ElementId};

use crate::commit::Ticket;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::write::{Reach, Room, commit_internal, destroy, incident_edges, record_purge};

/// Destroys `id` with all its versions, and for a vertex also every edge that it ever had. The
/// ticket completes when the purge is stored. If the element never existed, only the record is
/// written.
///
/// # Errors
/// [`crate::ErrorKind::LimitExceeded`] for a vertex with more edges than one commit may take; or
/// when the store fails or is damaged.
pub fn purge(graph: &Arc<Graph>, id: &ElementId) -> Result<Ticket, GraphError> {
    let mut edges = ever_incident(graph, id)?;
    loop {
        let mut doomed = vec![id.clone()];
        doomed.extend(edges.iter().cloned().map(ElementId::Edge));
        let mut found = Vec::new();
        let ticket = commit_internal(graph, &doomed, &[], |emitter| {
            // Edges that were added before the latches were taken must be latched too. If there are
            // any, nothing is purged, and the loop repeats.
            found = ever_incident(graph, id)?;
            if found != edges {
                return Ok(());
            }
            fail_point::PURGE_FOUND.pass();
            for element in &doomed {
                let current = emitter.read_current(element)?;
                destroy(graph, emitter, element, current, None)?;
            }
            record_purge(graph, emitter, std::slice::from_ref(id), edges.len());
            Ok(())
        })?;
        if found == edges {
            return Ok(ticket);
        }
        edges = found;
    }
}

/// The edges that a purge of `id` destroys with it: none for an edge.
fn ever_incident(graph: &Graph, id: &ElementId) -> Result<Vec<EdgeId>, GraphError> {
    match id {
        ElementId::Vertex(vertex) => {
            let mut room = Room::of(graph.limits());
            incident_edges(graph.reader(), vertex, Reach::Ever, &mut room)
        }
        ElementId::Edge(_) => Ok(Vec::new()),
    }
}
