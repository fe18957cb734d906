//! Adding the entries of derived indexes to what is stored.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{Header, Kind};
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::TableId;
use varve_model::{Direction, ElementId};

use super::derived_entries;
use super::rebuild::{Found, ids, may_decide, walk};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::write::{Emitter, commit_internal};

/// Adds every entry that the graph's deriver makes and that is missing: of present elements, and of events for reads of
/// the past. `wanted` says of which elements, by their content. Writers keep entries up to date meanwhile, so this may be
/// interrupted and repeated at any point. Entries that elements have no more are left: they cost a look each.
///
/// # Errors
/// When the store fails or is damaged.
pub fn rebuild_derived(
    graph: &Arc<Graph>,
    wanted: &dyn Fn(&ElementId, &[u8]) -> bool,
) -> Result<(), GraphError> {
    for table in [VERTEX, EDGE, EVENT] {
        let take = |partition: &[u8], clustering: &[u8], value: &[u8]| {
            state(table, partition, clustering, value)
                .map(|found| found.filter(|found| wanted(&found.id, &found.content)))
        };
        walk(graph, table, None, &take, &mut |found: Vec<Found>| {
            commit_internal(graph, &ids(&found), &[], |emitter| {
                found
                    .iter()
                    .try_for_each(|found| add(graph, emitter, table, found))
            })?
            .wait()
            .map(drop)
        })?;
    }
    Ok(())
}

/// The state that a row holds, of an edge on its source's side.
fn state(
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
    value: &[u8],
) -> Result<Option<Found>, GraphError> {
    let (header, content) = Header::decode(value)?;
    if header.kind != Kind::Put {
        return Ok(None);
    }
    let current = if table == EVENT {
        key::split_event(clustering)?.0
    } else {
        clustering
    };
    let id = if current == key::VERTEX_CLUSTERING {
        ElementId::Vertex(key::decode_vertex_id(partition)?)
    } else {
        match key::decode_edge(partition, current)? {
            (_, Direction::In) => return Ok(None),
            (id, Direction::Out) => ElementId::Edge(id),
        }
    };
    let content = content.to_vec();
    Ok(Some(Found {
        id,
        header,
        content,
    }))
}

fn add(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    table: TableId,
    found: &Found,
) -> Result<(), GraphError> {
    let deriver = graph.deriver();
    let of = |content: &[u8]| derived_entries(deriver.as_deref(), &found.id, content);
    if table != EVENT {
        // What was found may have changed since, before this commit took its latches.
        let current = emitter.read_current(&found.id)?;
        if let Some(current) = current.filter(|it| it.header.kind == Kind::Put) {
            for (partition, clustering) in of(&current.content)?.iter() {
                emitter.batch.put(INDEX, partition, clustering, &[]);
            }
        }
        return Ok(());
    }
    let ahead = may_decide(emitter, graph, found)?;
    for (partition, clustering) in of(&found.content)?.iter() {
        emitter.batch.put(EVENT_INDEX, partition, clustering, &[]);
        if ahead {
            emitter.batch.put(INDEX, partition, clustering, &[]);
        }
    }
    Ok(())
}
