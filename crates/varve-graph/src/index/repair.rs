//! Repairs of index entries that a verification has found missing, or that no state of their
//! element has.

use std::sync::Arc;

use varve_encoding::index::{KIND_DERIVED, element_key, ordered_len, values_len};
use varve_encoding::tables::{EVENT_INDEX, INDEX};
use varve_encoding::{DecodeError, key, row};
use varve_kv::{TableId, fail_point};
use varve_model::{Element, ElementId};

use super::rebuild::{Keys, StoredState, add_past, add_present, may_decide, put_claims, walk};
use super::{derived_entries, edge_label_entry, vertex_label_entry};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::hash::IdMap;
use crate::rows::{Current, decode_element};
use crate::schema::is_queryable;
use crate::write::{Emitter, States, commit_internal, is_put, states};

/// Elements in one commit.
const CHUNK: usize = 200;

/// Returns the element that an index entry names: for an edge's label index, the source vertex.
///
/// # Errors
/// When the keys are no entry's.
pub(crate) fn element_of(partition: &[u8], clustering: &[u8]) -> Result<ElementId, DecodeError> {
    if partition.first() == Some(&KIND_DERIVED) {
        return key::decode_ordered_element(&clustering[values_len(clustering)..]);
    }
    let values = (0..).map_while(|skipped| element_key(clustering, skipped));
    let element = values
        .take_while(|rest| !rest.is_empty())
        .find(|rest| ordered_len(rest).is_none());
    let element = element.ok_or_else(|| DecodeError::new("an index entry", clustering, 0))?;
    key::decode_element(element)
}

/// Adds the entries of all states of these elements, in complete indexes. Entries that exist are
/// not changed.
///
/// # Errors
/// When two elements hold the same values of a unique index; when the store fails or is damaged.
pub(crate) fn add_missing(graph: &Arc<Graph>, ids: &[ElementId]) -> Result<(), GraphError> {
    for ids in ids.chunks(CHUNK) {
        let mut claims = Vec::new();
        commit_internal(graph, &[], &[], |emitter| {
            for id in ids {
                let States { current, events } = states(graph, emitter, id)?;
                for row in current.iter().chain(&events).filter(is_put) {
                    put_claims(&graph.schema(), id, &row.content, &mut claims)?;
                }
            }
            Ok(())
        })?
        .wait()?;
        commit_internal(graph, ids, &claims, |emitter| {
            let mut claimed = IdMap::default();
            ids.iter()
                .try_for_each(|id| add_all(graph, emitter, id, (&claims, &mut claimed)))
        })?
        .wait()?;
        fail_point::INDEX_STEP.pass();
    }
    Ok(())
}

fn add_all(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
    (claims, claimed): (&[Vec<u8>], &mut IdMap<Vec<u8>, ElementId>),
) -> Result<(), GraphError> {
    let schema = graph.schema();
    let labels_of = |content: &[u8]| {
        let element = decode_element(id, content)?;
        let labels = match &element {
            Element::Vertex(vertex) => schema.indexes_of_vertex_label(vertex.label),
            Element::Edge(edge) => schema.indexes_of_edge_label(edge.id.label),
        };
        Ok::<_, GraphError>(labels.iter().filter(|label| is_queryable(label)))
    };
    let States { current, events } = states(graph, emitter, id)?;
    if let Some(row) = current.as_ref().filter(is_put) {
        for label in labels_of(&row.content)? {
            let of = (id, Some(row.clone()));
            add_present(emitter, graph, label, of, claims, claimed)?;
        }
        put_others(graph, emitter, (INDEX, id), &row.content)?;
    }
    for event in events.into_iter().filter(|row| is_put(&row)) {
        let ahead = may_decide(graph.now(), &event.header, current.as_ref());
        let Current { header, content } = event;
        let state = StoredState {
            id: id.clone(),
            header,
            content,
        };
        for label in labels_of(&state.content)? {
            add_past(emitter, label, &state, ahead, claims)?;
        }
        put_others(graph, emitter, (EVENT_INDEX, id), &state.content)?;
        if ahead {
            put_others(graph, emitter, (INDEX, id), &state.content)?;
        }
    }
    Ok(())
}

/// Puts the entries of a state in the label index and in derived indexes.
fn put_others(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    (table, id): (TableId, &ElementId),
    content: &[u8],
) -> Result<(), GraphError> {
    let deriver = graph.deriver();
    for (partition, clustering) in derived_entries(deriver.as_deref(), id, content)?.iter() {
        emitter.batch.put(table, partition, clustering, &[]);
    }
    let schema = graph.schema();
    let entry = match id {
        ElementId::Vertex(vertex) => {
            let label = row::vertex_label(content)?;
            let listed = schema.vertex_label(label);
            let listed = listed.is_some_and(|label| label.enable_label_index);
            listed.then(|| vertex_label_entry(label, vertex))
        }
        ElementId::Edge(edge) => {
            let label = schema.edge_label(edge.label);
            let listed = label.is_some_and(|label| label.enable_label_index);
            listed.then(|| edge_label_entry(edge))
        }
    };
    if let Some(entry) = entry {
        let (partition, clustering) = (&entry.partition, &entry.clustering);
        emitter.batch.put(table, partition, clustering, &[]);
    }
    Ok(())
}

/// Whether an entry (table, partition and clustering key) has a property.
type IsEntry<'a> = dyn Fn(TableId, &[u8], &[u8]) -> bool + 'a;

/// Removes the entries for which `may_be` returns true and that no state of their element has. An
/// entry of the present that only past states have moves to the entries of the past. Returns the
/// number of removed entries.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn remove_surplus(graph: &Arc<Graph>, may_be: &IsEntry<'_>) -> Result<u64, GraphError> {
    let mut removed = 0;
    for table in [INDEX, EVENT_INDEX] {
        walk(
            graph,
            table,
            None,
            &|partition, clustering, _| {
                let found = may_be(table, partition, clustering);
                Ok(found.then(|| (partition.to_vec(), clustering.to_vec())))
            },
            &mut |keys: Keys| {
                let mut found = 0;
                let ids: Vec<ElementId> = keys
                    .iter()
                    .map(|(partition, clustering)| element_of(partition, clustering))
                    .collect::<Result<_, _>>()?;
                commit_internal(graph, &ids, &[], |emitter| {
                    for (key, id) in keys.iter().zip(&ids) {
                        found += u64::from(remove_one(graph, emitter, (table, key), id)?);
                    }
                    Ok(())
                })?
                .wait()?;
                removed += found;
                Ok(())
            },
        )?;
    }
    Ok(removed)
}

/// Removes an entry, if no state has it. Returns whether it did.
fn remove_one(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    (table, entry): (TableId, &(Vec<u8>, Vec<u8>)),
    id: &ElementId,
) -> Result<bool, GraphError> {
    let States { current, events } = states(graph, emitter, id)?;
    let deriver = graph.deriver();
    let has = |emitter: &Emitter<'_>, row: &Current| {
        let derived = derived_entries(deriver.as_deref(), id, &row.content)?;
        let mut derived = derived.iter();
        let own = |one: (&[u8], &[u8])| one == (&entry.0[..], &entry.1[..]);
        Ok::<_, GraphError>(
            derived.any(own)
                || emitter
                    .entries(id, &row.content)?
                    .iter()
                    .any(|it| own((&it.partition, &it.clustering))),
        )
    };
    let (mut present, mut past) = (false, false);
    for row in current.iter().filter(is_put) {
        present |= has(emitter, row)?;
    }
    for event in events.iter().filter(is_put) {
        if has(emitter, event)? {
            past = true;
            present |= may_decide(graph.now(), &event.header, current.as_ref());
        }
    }
    let is_needed = present || (past && table == EVENT_INDEX);
    if !is_needed {
        emitter.batch.delete(table, &entry.0, &entry.1);
        if past {
            emitter.batch.put(EVENT_INDEX, &entry.0, &entry.1, &[]);
        }
    }
    Ok(!is_needed)
}
