//! Building the entries of an index label from stored elements, and removing them, as work of
//! tasks.
//!
//! Writers keep an index up to date as soon as its label exists, and a task begins only when all
//! earlier writes have ended. So building adds the missing entries, and may be interrupted and
//! repeated at any point.

use std::sync::Arc;

use varve_encoding::index::{IndexId, partition_prefix};
use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{Batch, ClusteringRange, Flow, TableId, fail_point};
use varve_model::schema::{IndexBase, IndexType};
use varve_model::{Direction, Element, ElementId, IndexLabel, Instant, TemporalScope};

use super::uniqueness::has_values;
use super::{IndexEntry, conflict, entries, holders};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::hash::IdMap;
use crate::rows::{Current, decode_element};
use crate::schema::{Schema, SchemaElement};
use crate::tasks::TaskProgress;
use crate::write::{Emitter, commit_internal, current_rows_near, read_latch};

/// Elements, or entries, in one commit.
const CHUNK: usize = 2_000;
/// Rows read between two checks of the progress.
pub(super) const STEP: usize = 20_000;

/// Partition and clustering keys of entries.
pub(super) type Keys = Vec<(Vec<u8>, Vec<u8>)>;

/// Adds every missing entry of `label`: of present elements, and of events for reads of the past.
///
/// # Errors
/// When two elements hold the same values of a unique index now or at a later instant, when the
/// task was cancelled, or when the store fails.
pub(crate) fn rebuild(
    graph: &Arc<Graph>,
    label: &Arc<IndexLabel>,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    let (current, vertices) = match label.base {
        IndexBase::Vertex(_) | IndexBase::Olap => (VERTEX, true),
        IndexBase::Edge(_) => (EDGE, false),
    };
    walk(
        graph,
        current,
        Some(progress),
        &|partition, clustering, value| wanted(label, vertices, partition, clustering, value),
        &mut |found: Vec<StoredState>| {
            let (ids, claims) = (ids(&found), claims(label, &found));
            commit_internal(graph, &ids, &claims, |emitter| {
                let mut claimed = IdMap::default();
                // The states found may have changed before this commit took its latches, so rows
                // are read again.
                let rows = current_rows_near(graph.reader(), &ids)?;
                ids.iter().zip(rows).try_for_each(|(id, current)| {
                    add_present(emitter, graph, label, (id, current), &claims, &mut claimed)
                })
            })?
            .wait()
            .map(drop)
        },
    )?;
    walk(
        graph,
        EVENT,
        Some(progress),
        &|partition, clustering, value| {
            let (current, _) = key::split_event(clustering)?;
            if (current == key::VERTEX_CLUSTERING) != vertices {
                return Ok(None);
            }
            wanted(label, vertices, partition, current, value)
        },
        &mut |found: Vec<StoredState>| {
            let (ids, claims) = (ids(&found), claims(label, &found));
            commit_internal(graph, &ids, &claims, |emitter| {
                let ahead = may_decide_each(graph, &ids, &found)?;
                found
                    .iter()
                    .zip(ahead)
                    .try_for_each(|(found, ahead)| add_past(emitter, label, found, ahead, &claims))
            })?
            .wait()
            .map(drop)
        },
    )?;
    if label.index_type == IndexType::Unique {
        check_unique(graph, label, progress)?;
    }
    Ok(())
}

/// Refuses values that two elements hold at one instant, now or later. This includes planned
/// states, which are not checked when their entries are added. All entries exist by now, so writers
/// prevent new conflicts. Without a snapshot, the holders of a value are latched while they are
/// read: otherwise their rows could move between two reads.
fn check_unique(
    graph: &Arc<Graph>,
    label: &IndexLabel,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    let prefix = partition_prefix(IndexId::Label(label.group.unwrap_or(label.id)));
    let mut partition: Vec<u8> = Vec::new();
    let mut holders: Vec<ElementId> = Vec::new();
    let check = |partition: &[u8], holders: &[ElementId]| {
        if holders.len() < 2 {
            return Ok(());
        }
        let schema = graph.schema();
        let found = |reader| conflict(reader, (&schema, label), partition, holders, graph.now());
        let found = match Arc::clone(graph.space()).snapshot() {
            Some(snapshot) => found(&*snapshot),
            None => {
                let latches = holders.iter().map(read_latch).collect();
                let _latched = graph.latches.acquire(latches)?;
                found(graph.reader())
            }
        };
        match found? {
            Some((_, id)) => Err(conflict_found(&schema, label, &id)),
            None => Ok(()),
        }
    };
    walk(
        graph,
        INDEX,
        Some(progress),
        &|partition, clustering, _| {
            let of = partition.starts_with(&prefix);
            Ok(of.then(|| (partition.to_vec(), clustering.to_vec())))
        },
        &mut |keys: Keys| {
            for (place, element) in keys {
                if place != partition {
                    check(&partition, &holders)?;
                    holders.clear();
                    partition = place;
                }
                holders.push(key::decode_element(&element)?);
            }
            Ok(())
        },
    )?;
    check(&partition, &holders)
}

fn conflict_found(schema: &Schema, label: &IndexLabel, id: &ElementId) -> GraphError {
    let message = format!(
        "Unique constraint {}(id={}) conflict is found for '{id}'",
        schema.told_name(label),
        label.id
    );
    GraphError::new(ErrorKind::Unique, message)
}

/// A stored state of an element that the label indexes.
pub(super) struct StoredState {
    pub(super) id: ElementId,
    pub(super) header: Header,
    pub(super) content: Vec<u8>,
}

pub(super) fn ids(found: &[StoredState]) -> Vec<ElementId> {
    let mut ids: Vec<ElementId> = found.iter().map(|found| found.id.clone()).collect();
    ids.dedup();
    ids
}

/// The partitions in which states claim their values of a unique index. The commit latches them, so
/// that no writer claims a value at the same time. If a state changed since it was found, its
/// writer has claimed the new values.
fn claims(label: &IndexLabel, found: &[StoredState]) -> Vec<Vec<u8>> {
    if label.index_type != IndexType::Unique {
        return Vec::new();
    }
    let entries = found.iter().flat_map(|found| {
        let element = decode_element(&found.id, &found.content);
        element.map_or_else(
            |_| Vec::new(),
            |element| entries(label, &found.id, element.properties()),
        )
    });
    entries.map(|entry| entry.partition).collect()
}

/// Adds the partitions in which a state claims its values of unique indexes.
pub(super) fn put_claims(
    schema: &Schema,
    id: &ElementId,
    content: &[u8],
    claims: &mut Vec<Vec<u8>>,
) -> Result<(), GraphError> {
    let element = decode_element(id, content)?;
    let labels = match &element {
        Element::Vertex(vertex) => schema.indexes_of_vertex_label(vertex.label),
        Element::Edge(edge) => schema.indexes_of_edge_label(edge.id.label),
    };
    for label in labels
        .iter()
        .filter(|it| it.index_type == IndexType::Unique)
    {
        let entries = entries(label, id, element.properties()).into_iter();
        claims.extend(entries.map(|entry| entry.partition));
    }
    Ok(())
}

/// The state of a row, if `label` has an entry for it. Other rows are skipped, even if they change
/// before their chunk is committed: the writer that changes one puts the new entries.
fn wanted(
    label: &IndexLabel,
    vertices: bool,
    partition: &[u8],
    clustering: &[u8],
    value: &[u8],
) -> Result<Option<StoredState>, GraphError> {
    let (header, content) = Header::decode(value)?;
    if header.kind != RowKind::Put {
        return Ok(None);
    }
    let id = if vertices {
        let of = IndexBase::Vertex(row::vertex_label(content)?);
        if label.base != of && label.base != IndexBase::Olap {
            return Ok(None);
        }
        ElementId::Vertex(key::decode_vertex_id(partition)?)
    } else {
        let of = row::edge_labels_of_clustering(clustering).map(|(_, of)| IndexBase::Edge(of));
        if of != Some(label.base) {
            return Ok(None);
        }
        let (id, direction) = key::decode_edge(partition, clustering)?;
        if direction == Direction::In {
            return Ok(None);
        }
        ElementId::Edge(id)
    };
    let element = decode_element(&id, content)?;
    if entries(label, &id, element.properties()).is_empty() {
        return Ok(None);
    }
    let content = content.to_vec();
    Ok(Some(StoredState {
        id,
        header,
        content,
    }))
}

pub(super) fn add_present(
    emitter: &mut Emitter<'_>,
    graph: &Graph,
    label: &IndexLabel,
    (id, current): (&ElementId, Option<Current>),
    claims: &[Vec<u8>],
    claimed: &mut IdMap<Vec<u8>, ElementId>,
) -> Result<(), GraphError> {
    let Some(current) = current.filter(|it| it.header.kind == RowKind::Put) else {
        return Ok(());
    };
    let element = decode_element(id, &current.content)?;
    let exists = current.header.until > graph.now();
    for entry in entries(label, id, element.properties()) {
        if entry.unique && !claims.contains(&entry.partition) {
            continue;
        }
        if entry.unique && exists {
            let earlier = claimed.insert(entry.partition.clone(), id.clone());
            let mut holders = holders(graph.reader(), &entry.partition)?;
            holders.extend(earlier);
            for holder in holders.iter().filter(|holder| *holder != id) {
                if holds_now(graph, label, holder, &entry)? {
                    return Err(conflict_found(&graph.schema(), label, id));
                }
            }
        }
        emitter
            .batch
            .put(INDEX, &entry.partition, &entry.clustering, &[]);
    }
    Ok(())
}

fn holds_now(
    graph: &Graph,
    label: &IndexLabel,
    id: &ElementId,
    entry: &IndexEntry,
) -> Result<bool, GraphError> {
    let now = TemporalScope::NOW;
    let element = match id {
        ElementId::Vertex(id) => graph.vertex(id, now)?.map(Element::Vertex),
        ElementId::Edge(id) => graph.edge(id, now)?.map(Element::Edge),
    };
    let schema = graph.schema();
    Ok(element.is_some_and(|element| has_values(&schema, label, &element, &entry.partition)))
}

/// Adds the entries of an event for reads of the past; if the event may decide now or later
/// (`ahead`), for reads of the present too.
pub(super) fn add_past(
    emitter: &mut Emitter<'_>,
    label: &IndexLabel,
    found: &StoredState,
    ahead: bool,
    claims: &[Vec<u8>],
) -> Result<(), GraphError> {
    let element = decode_element(&found.id, &found.content)?;
    for entry in entries(label, &found.id, element.properties()) {
        let (partition, clustering) = (&entry.partition, &entry.clustering);
        if !entry.unique {
            emitter.batch.put(EVENT_INDEX, partition, clustering, &[]);
        }
        if ahead && (!entry.unique || claims.contains(partition)) {
            emitter.batch.put(INDEX, partition, clustering, &[]);
        }
    }
    Ok(())
}

/// [`may_decide`] for each of the events `found`, whose elements are `ids`.
pub(super) fn may_decide_each(
    graph: &Graph,
    ids: &[ElementId],
    found: &[StoredState],
) -> Result<Vec<bool>, GraphError> {
    let rows = current_rows_near(graph.reader(), ids)?;
    let rows: IdMap<&ElementId, Current> = ids
        .iter()
        .zip(rows)
        .filter_map(|(id, row)| Some((id, row?)))
        .collect();
    let ahead = found
        .iter()
        .map(|found| may_decide(graph.now(), &found.header, rows.get(&found.id)));
    Ok(ahead.collect())
}

/// Whether an event in the event table may decide now or later: its period has not ended, and the
/// element has a current row other than a newer put without an end.
pub(super) fn may_decide(now: Instant, event: &Header, current: Option<&Current>) -> bool {
    event.period().to > now
        && current.is_some_and(|current| {
            current.header.kind != RowKind::Put
                || current.header.version < event.version
                || current.header.to != Instant::FOREVER
        })
}

/// Removes every entry of `label`, which no write has any more.
///
/// # Errors
/// When the task was cancelled or the store fails.
pub(crate) fn remove(
    graph: &Arc<Graph>,
    label: &IndexLabel,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    if label.group.is_some()
        && graph
            .schema()
            .all_index_labels()
            .any(|other| goes_on(label, other))
    {
        return Ok(());
    }
    let prefix = partition_prefix(IndexId::Label(label.group.unwrap_or(label.id)));
    for table in [INDEX, EVENT_INDEX] {
        walk(
            graph,
            table,
            Some(progress),
            &|partition, clustering, _| {
                let of = partition.starts_with(&prefix);
                Ok(of.then(|| (partition.to_vec(), clustering.to_vec())))
            },
            &mut |keys: Keys| {
                commit_internal(graph, &[], &[], |emitter| {
                    delete_all(&mut emitter.batch, table, &keys);
                    Ok(())
                })?
                .wait()
                .map(drop)
            },
        )?;
    }
    Ok(())
}

/// Whether `other` shares the entries of `label`, which is being removed, and stays.
fn goes_on(label: &IndexLabel, other: &IndexLabel) -> bool {
    other.group == label.group && other.id != label.id && other.is_usable()
}

/// Deletes these entries, which are consecutive in a scan. The entries before them in their
/// partitions are deleted already, so each partition is swept: up to the last of the keys, and all
/// others to their ends.
fn delete_all(batch: &mut Batch, table: TableId, keys: &Keys) {
    let mut partitions = keys.chunk_by(|one, other| one.0 == other.0).peekable();
    while let Some(entries) = partitions.next() {
        for (partition, clustering) in entries {
            batch.delete(table, partition, clustering);
        }
        let mut range = ClusteringRange::all();
        if let ([.., (_, last)], None) = (entries, partitions.peek()) {
            range.to = Some([last.as_slice(), &[0]].concat());
        }
        batch.sweep(table, &entries[0].0, range);
    }
}

/// Returns what the walk collects from a row (partition, clustering key, value), if anything.
pub(super) type Take<'a, T> = dyn Fn(&[u8], &[u8], &[u8]) -> Result<Option<T>, GraphError> + 'a;

/// Scans a table, collects what `take` returns, and passes it to `give` in chunks.
pub(super) fn walk<T>(
    graph: &Graph,
    table: TableId,
    progress: Option<&TaskProgress>,
    take: &Take<'_, T>,
    give: &mut dyn FnMut(Vec<T>) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
    loop {
        progress.map_or(Ok(()), TaskProgress::check)?;
        let mut seen = 0;
        let mut taken = Vec::new();
        let mut failed = None;
        let mut last = None;
        let from = after.as_ref().map(|(p, c)| (p.as_slice(), c.as_slice()));
        graph.reader().scan_table(table, from, &mut |row| {
            seen += 1;
            match take(row.partition, row.clustering, row.value) {
                Ok(found) => taken.extend(found),
                Err(error) => {
                    failed = Some(error);
                    return Flow::Break(());
                }
            }
            if taken.len() < CHUNK && seen < STEP {
                return Flow::Continue(());
            }
            last = Some((row.partition.to_vec(), row.clustering.to_vec()));
            Flow::Break(())
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(progress) = progress {
            progress.add(seen as u64);
        }
        fail_point::INDEX_STEP.pass();
        if !taken.is_empty() {
            give(taken)?;
        }
        if last.is_none() {
            return Ok(());
        }
        after = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partitions_of_a_removed_index_are_swept() {
        let key = |partition: u8, entry: u8| (vec![partition], vec![entry]);
        let mut batch = Batch::new();
        delete_all(&mut batch, INDEX, &vec![key(1, 5), key(2, 1), key(2, 2)]);
        assert_eq!(batch.len(), 3);
        let swept = batch.sweeps().iter();
        let swept: Vec<_> = swept
            .map(|it| (it.partition[0], it.range.clone()))
            .collect();
        let up_to = ClusteringRange {
            from: Vec::new(),
            to: Some(vec![2, 0]),
        };
        assert_eq!(swept, [(1, ClusteringRange::all()), (2, up_to)]);
    }
}
