//! Adding the missing entries of derived indexes to stored elements, and removing the obsolete
//! ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{Flow, TableId};
use varve_model::{Direction, ElementId};

use super::rebuild::{Keys, STEP, StoredState, ids, may_decide, may_decide_each, walk};
use super::{Deriver, derived_entries};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::write::{Emitter, States, commit_internal, current_rows_near, is_put, states};

/// Adds every missing entry that the graph's deriver computes, from the present states and, for
/// reads of the past, from the events. `wanted` selects the elements by their content. Writers keep
/// entries up to date meanwhile, so this may be interrupted and repeated at any point.
///
/// Entries that `former` computes from these elements, and that no state of them has any more, are
/// deleted. Other obsolete entries stay, also when their element is purged; each costs a read when
/// a search meets it.
///
/// # Errors
/// When the store fails or is damaged.
pub fn rebuild_derived(
    graph: &Arc<Graph>,
    former: Option<&dyn Deriver>,
    wanted: &dyn Fn(&ElementId, &[u8]) -> bool,
) -> Result<(), GraphError> {
    for table in [VERTEX, EDGE, EVENT] {
        let take = |partition: &[u8], clustering: &[u8], value: &[u8]| {
            state(table, partition, clustering, value)
                .map(|found| found.filter(|found| wanted(&found.id, &found.content)))
        };
        walk(graph, table, None, &take, &mut |found: Vec<StoredState>| {
            let ids = ids(&found);
            commit_internal(graph, &ids, &[], |emitter| {
                if let Some(former) = former {
                    ids.iter()
                        .try_for_each(|id| forget(graph, emitter, former, id))?;
                }
                add(graph, emitter, table, &ids, &found)
            })?
            .wait()
            .map(drop)
        })?;
    }
    Ok(())
}

/// Calls `visit` with every stored state until it breaks: present states first, then those of
/// events; for an edge, those stored at its source. A state that moves to another table meanwhile
/// may be visited twice, but is not missed.
///
/// # Errors
/// When the store fails or is damaged.
pub fn visit_states(
    graph: &Graph,
    visit: &mut dyn FnMut(&ElementId, &[u8]) -> Flow,
) -> Result<(), GraphError> {
    for table in [VERTEX, EDGE, EVENT] {
        let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
        loop {
            let (mut seen, mut shown, mut last) = (0, Ok(Flow::Continue(())), None);
            let from = after.as_ref().map(|(p, c)| (p.as_slice(), c.as_slice()));
            graph.reader().scan_table(table, from, &mut |row| {
                seen += 1;
                shown = state(table, row.partition, row.clustering, row.value).map(|found| {
                    found.map_or(Flow::Continue(()), |found| visit(&found.id, &found.content))
                });
                if !matches!(shown, Ok(Flow::Continue(()))) {
                    return Flow::Break(());
                }
                if seen < STEP {
                    return Flow::Continue(());
                }
                last = Some((row.partition.to_vec(), row.clustering.to_vec()));
                Flow::Break(())
            })?;
            if shown?.is_break() {
                return Ok(());
            }
            match last {
                None => break,
                last => after = last,
            }
        }
    }
    Ok(())
}

/// Deletes the obsolete entries that `former` computes from the states of an element. An entry that
/// no present or planned state has is removed from `index`; if a past state has it, it is put into
/// `event_index`, else removed from there too.
fn forget(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    former: &dyn Deriver,
    id: &ElementId,
) -> Result<(), GraphError> {
    let States { current, events } = states(graph, emitter, id)?;
    let row = current;
    let current = row.as_ref().filter(is_put);
    let events: Vec<_> = events.into_iter().filter(|row| is_put(&row)).collect();
    let mut gone = BTreeSet::new();
    for row in current.into_iter().chain(&events) {
        gone.extend(keys_of(Some(former), id, &row.content)?);
    }
    if gone.is_empty() {
        return Ok(());
    }
    let deriver = graph.deriver();
    let mut present = BTreeSet::new();
    if let Some(row) = current {
        present.extend(keys_of(deriver.as_deref(), id, &row.content)?);
    }
    let mut past = present.clone();
    for event in events {
        let keys = keys_of(deriver.as_deref(), id, &event.content)?;
        if may_decide(graph.now(), &event.header, row.as_ref()) {
            present.extend(keys.iter().cloned());
        }
        past.extend(keys);
    }
    for key in gone.difference(&present) {
        emitter.batch.delete(INDEX, &key.0, &key.1);
        if past.contains(key) {
            // It may be in `index` only: an entry moves to `event_index` only when no later state
            // has it.
            emitter.batch.put(EVENT_INDEX, &key.0, &key.1, &[]);
        } else {
            emitter.batch.delete(EVENT_INDEX, &key.0, &key.1);
        }
    }
    Ok(())
}

/// Partition and clustering keys of the entries of a state.
fn keys_of(
    deriver: Option<&dyn Deriver>,
    id: &ElementId,
    content: &[u8],
) -> Result<Keys, GraphError> {
    let entries = derived_entries(deriver, id, content)?;
    let keys = entries.iter().map(|(p, c)| (p.to_vec(), c.to_vec()));
    Ok(keys.collect())
}

/// The state in a row; `None` for an edge's row at its target, and for rows without a state.
fn state(
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
    value: &[u8],
) -> Result<Option<StoredState>, GraphError> {
    let (header, content) = Header::decode(value)?;
    if header.kind != RowKind::Put {
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
    Ok(Some(StoredState {
        id,
        header,
        content,
    }))
}

/// Adds the entries of the states `found` in `table`, whose elements are `ids`.
fn add(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    table: TableId,
    ids: &[ElementId],
    found: &[StoredState],
) -> Result<(), GraphError> {
    let deriver = graph.deriver();
    let of = |id: &ElementId, content: &[u8]| derived_entries(deriver.as_deref(), id, content);
    if table != EVENT {
        // The states found may have changed before this commit took its latches, so rows are read
        // again.
        for (id, current) in ids.iter().zip(current_rows_near(graph.reader(), ids)?) {
            let Some(current) = current.filter(|it| it.header.kind == RowKind::Put) else {
                continue;
            };
            for (partition, clustering) in of(id, &current.content)?.iter() {
                emitter.batch.put(INDEX, partition, clustering, &[]);
            }
        }
        return Ok(());
    }
    for (found, ahead) in found.iter().zip(may_decide_each(graph, ids, found)?) {
        for (partition, clustering) in of(&found.id, &found.content)?.iter() {
            emitter.batch.put(EVENT_INDEX, partition, clustering, &[]);
            if ahead {
                emitter.batch.put(INDEX, partition, clustering, &[]);
            }
        }
    }
    Ok(())
}
