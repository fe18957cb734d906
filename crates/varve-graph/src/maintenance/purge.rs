//! Purge: the only destroyer. Removes an element with its whole history, and leaves a record that it was done.

use std::sync::Arc;

use varve_encoding::datum;
use varve_encoding::key;
use varve_encoding::row::Kind;
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, TX};
use varve_kv::{ClusteringRange, Flow, ScanRequest};
use varve_model::{CommitVersion, Datum, EdgeId, ElementId, VertexId};

use crate::commit::Ticket;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::read::scan_events;
use crate::write::{Emitter, commit_internal, decode_element, entries_of, sides};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Destroys `id` with all its versions; a vertex takes every edge it ever had with it. The ticket tells when it is
/// stored. Purging what never existed leaves only the record.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] for a vertex with more edges than one commit may take; or when the store fails.
pub fn purge(graph: &Arc<Graph>, id: &ElementId) -> Result<Ticket, GraphError> {
    commit_internal(graph, std::slice::from_ref(id), &[], |emitter| {
        let mut doomed = vec![id.clone()];
        if let ElementId::Vertex(vertex) = id {
            let edges = ever_incident(graph, vertex)?;
            doomed.extend(edges.into_iter().map(ElementId::Edge));
        }
        for element in &doomed {
            destroy(graph, emitter, element)?;
        }
        graph.forget_pairs();
        let record = Datum::Map(vec![
            ("kind".to_owned(), Datum::Text("purge".to_owned())),
            ("element".to_owned(), Datum::Text(id.to_string())),
            (
                "edges".to_owned(),
                Datum::Int(i64::try_from(doomed.len() - 1).unwrap_or(i64::MAX)),
            ),
        ]);
        let day = u32::try_from(graph.now().0.max(0) / DAY).unwrap_or(u32::MAX);
        let version = CommitVersion::ZERO.0.to_be_bytes();
        let at = emitter
            .batch
            .put(TX, &day.to_be_bytes(), &version, &datum::to_bytes(&record));
        emitter.stamps.key(at);
        Ok(())
    })
}

fn destroy(graph: &Graph, emitter: &mut Emitter<'_>, id: &ElementId) -> Result<(), GraphError> {
    let (table, sides) = sides(id);
    let mut contents = Vec::new();
    if let Some(current) = emitter
        .read_current(id)?
        .filter(|it| it.header.kind == Kind::Put)
    {
        contents.push(current.content);
    }
    let (partition, clustering) = (&sides[0].partition, &sides[0].clustering);
    let newest = CommitVersion::MAX;
    scan_events(
        graph.reader(),
        partition,
        clustering,
        newest,
        &mut |header, content| {
            if header.kind == Kind::Put {
                contents.push(content.to_vec());
            }
            Flow::Continue(())
        },
    )?;
    for content in &contents {
        let element = decode_element(id, content)?;
        for entry in entries_of(&graph.schema(), id, &element) {
            emitter
                .batch
                .delete(INDEX, &entry.partition, &entry.clustering);
            emitter
                .batch
                .delete(EVENT_INDEX, &entry.partition, &entry.clustering);
        }
    }
    for side in &sides {
        emitter
            .batch
            .delete(table, &side.partition, &side.clustering);
        emitter
            .batch
            .delete_prefix(EVENT, &side.partition, &side.clustering);
    }
    Ok(())
}

fn ever_incident(graph: &Graph, vertex: &VertexId) -> Result<Vec<EdgeId>, GraphError> {
    let limit = graph.limits().vertex_delete_edges_max;
    let partition = key::vertex_id(vertex);
    let mut found: Vec<EdgeId> = Vec::new();
    let mut damaged = None;
    for table in [EDGE, EVENT] {
        let range = ClusteringRange {
            from: vec![1],
            to: None,
        };
        let request = ScanRequest {
            table,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        graph.reader().scan(request, &mut |clustering, _| {
            let current = match table {
                EVENT => key::split_event(clustering).map(|(current, _)| current),
                _ => Ok(clustering),
            };
            match current.and_then(|current| key::decode_edge(&partition, current)) {
                Ok((id, _)) if found.last() != Some(&id) => found.push(id),
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
            if damaged.is_some() || found.len() > limit {
                Flow::Break(())
            } else {
                Flow::Continue(())
            }
        })?;
    }
    if let Some(error) = damaged {
        return Err(error.into());
    }
    if found.len() > limit {
        let message = format!("Vertex '{vertex}' had more than {limit} edges: purge them first");
        return Err(GraphError::new(ErrorKind::LimitExceeded, message));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
