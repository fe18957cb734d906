//! Destroys an element with all its versions in the batch of a commit, and writes the record of it.

use rustc_hash::FxHashSet;
use varve_encoding::row::RowKind;
use varve_encoding::tables::{EVENT, EVENT_INDEX, INDEX, TX};
use varve_encoding::{datum, key};
use varve_kv::Flow;
use varve_model::{CommitVersion, Datum, ElementId};

use super::emit::Emitter;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::derived_entries;
use crate::read::scan_events;
use crate::rows::{Current, Side, sides};

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Adds the record of the purge of `ids` to the emitter's batch. `edges` is the number of edges
/// that are destroyed with vertices.
pub(crate) fn record_purge(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    ids: &[ElementId],
    edges: usize,
) {
    let named = |id: &ElementId| Datum::Text(id.to_string());
    let element = match ids {
        [id] => named(id),
        _ => Datum::List(ids.iter().map(named).collect()),
    };
    let record = Datum::Map(vec![
        ("kind".to_owned(), Datum::Text("purge".to_owned())),
        ("element".to_owned(), element),
        (
            "edges".to_owned(),
            Datum::Int(i64::try_from(edges).unwrap_or(i64::MAX)),
        ),
    ]);
    let day = u32::try_from(graph.now().0.max(0) / DAY).unwrap_or(u32::MAX);
    let version = CommitVersion::ZERO.0.to_be_bytes();
    let at = emitter
        .batch
        .put(TX, &day.to_be_bytes(), &version, &datum::to_bytes(&record));
    emitter.stamps.key(at);
    ids.iter().for_each(|id| emitter.touch_purged(id));
}

/// All stored rows of an element; for an edge, only those at its source.
pub(crate) struct States {
    /// The current row, which may be a marker without content; `None` if there is no such row.
    pub(crate) current: Option<Current>,
    /// The events in the event table, newest first.
    pub(crate) events: Vec<Current>,
}

/// Whether a row has a state: it is neither a delete nor a marker.
pub(crate) fn is_put(row: &&Current) -> bool {
    row.header.kind == RowKind::Put
}

/// Reads all stored rows of `id`.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn states(
    graph: &Graph,
    emitter: &Emitter<'_>,
    id: &ElementId,
) -> Result<States, GraphError> {
    let current = emitter.read_current(id)?;
    let (_, sides) = sides(id);
    let events = events(graph, &sides[0])?;
    Ok(States { current, events })
}

/// The events of one side in the event table, newest first.
fn events(graph: &Graph, side: &Side) -> Result<Vec<Current>, GraphError> {
    let mut events = Vec::new();
    scan_events(
        graph.reader(),
        &side.partition,
        &side.clustering,
        CommitVersion::MAX,
        &mut |header, content| {
            let content = content.to_vec();
            events.push(Current { header, content });
            Flow::Continue(())
        },
    )?;
    Ok(events)
}

/// Removes every row and every index entry of `id`. The events of both sides of an edge are read:
/// if its label's retention was ever limited, one side may have lost events that the other still
/// has. `current` is the current row. `known` are the events of a vertex that were read under its
/// latch; `None` to read them here.
pub(crate) fn destroy(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
    current: Option<Current>,
    mut known: Option<Vec<Current>>,
) -> Result<(), GraphError> {
    let (table, sides) = sides(id);
    let mut states: Vec<_> = current.into_iter().filter(|row| is_put(&row)).collect();
    let mut seen = FxHashSet::default();
    for side in &sides {
        let (partition, clustering) = (&side.partition, &side.clustering);
        emitter.batch.delete(table, partition, clustering);
        let events = match known.take() {
            Some(known) => known,
            None => events(graph, side)?,
        };
        for event in events {
            let version = event.header.version;
            let key = key::event_clustering(clustering, version);
            emitter.batch.delete(EVENT, partition, &key);
            if seen.insert(version) && is_put(&&event) {
                states.push(event);
            }
        }
    }
    remove_entries(graph, emitter, id, &states)
}

/// Removes the entries of all states, each once, from `index` and from `event_index`. The rows do
/// not show which of the two tables has an entry: a state that was planned when its write was
/// prepared may have begun before the commit, and retention may have deleted events since then.
fn remove_entries(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
    states: &[Current],
) -> Result<(), GraphError> {
    let deriver = graph.deriver();
    let mut found = Vec::with_capacity(states.len());
    for row in states {
        let derived = derived_entries(deriver.as_deref(), id, &row.content)?;
        found.push((derived, emitter.entries(id, &row.content)?));
    }
    let mut removed = FxHashSet::default();
    for (derived, of_labels) in &found {
        let of_labels = of_labels.iter();
        let of_labels = of_labels.map(|it| (&it.partition[..], &it.clustering[..]));
        for entry in derived.iter().chain(of_labels) {
            if removed.insert(entry) {
                emitter.batch.delete(INDEX, entry.0, entry.1);
                emitter.batch.delete(EVENT_INDEX, entry.0, entry.1);
            }
        }
    }
    Ok(())
}
