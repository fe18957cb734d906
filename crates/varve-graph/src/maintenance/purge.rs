//! Purge: the only destroyer. Removes an element with its whole history, and leaves a record that it was done.

use std::sync::Arc;

use varve_encoding::datum;
use varve_encoding::row::{Header, Kind};
use varve_encoding::tables::{EVENT, EVENT_INDEX, INDEX, TX};
use varve_kv::{Flow, fail_point};
use varve_model::{CommitVersion, Datum, EdgeId, ElementId};

use crate::commit::Ticket;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::derived_entries;
use crate::read::scan_events;
use crate::write::{
    Emitter, Reach, Room, commit_internal, decode_element, entries_of, incident_edges, sides,
};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Destroys `id` with all its versions; a vertex takes every edge it ever had with it. The ticket tells when it is
/// stored. Purging what never existed leaves only the record.
///
/// # Errors
/// [`crate::ErrorKind::LimitExceeded`] for a vertex with more edges than one commit may take; or when the store fails.
pub fn purge(graph: &Arc<Graph>, id: &ElementId) -> Result<Ticket, GraphError> {
    let mut edges = ever_incident(graph, id)?;
    loop {
        let mut doomed = vec![id.clone()];
        doomed.extend(edges.iter().cloned().map(ElementId::Edge));
        let mut found = Vec::new();
        let ticket = commit_internal(graph, &doomed, &[], |emitter| {
            // Edges that came before the latches were taken have to be latched too: nothing is purged yet.
            found = ever_incident(graph, id)?;
            if found != edges {
                return Ok(());
            }
            fail_point::PURGE_FOUND.pass();
            for element in &doomed {
                destroy(graph, emitter, element)?;
            }
            record(graph, emitter, std::slice::from_ref(id), edges.len());
            Ok(())
        })?;
        if found == edges {
            return Ok(ticket);
        }
        edges = found;
    }
}

/// Leaves the record that elements were purged with so many edges.
pub(crate) fn record(graph: &Graph, emitter: &mut Emitter<'_>, ids: &[ElementId], edges: usize) {
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
}

/// All states of an element that are stored.
pub(crate) struct States {
    /// The content of the current one.
    pub(crate) current: Option<Vec<u8>>,
    /// Those of the past and planned ones.
    pub(crate) events: Vec<(Header, Vec<u8>)>,
}

/// All states of `id` that are stored.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn states(
    graph: &Graph,
    emitter: &Emitter<'_>,
    id: &ElementId,
) -> Result<States, GraphError> {
    let current = emitter.read_current(id)?;
    let current = current.filter(|it| it.header.kind == Kind::Put);
    let mut events = Vec::new();
    let (_, sides) = sides(id);
    let (partition, clustering) = (&sides[0].partition, &sides[0].clustering);
    let newest = CommitVersion::MAX;
    scan_events(
        graph.reader(),
        partition,
        clustering,
        newest,
        &mut |header, content| {
            if header.kind == Kind::Put {
                events.push((header, content.to_vec()));
            }
            Flow::Continue(())
        },
    )?;
    let current = current.map(|it| it.content);
    Ok(States { current, events })
}

/// Removes every row and entry of `id`.
pub(crate) fn destroy(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
) -> Result<(), GraphError> {
    let (table, sides) = sides(id);
    let States { current, events } = states(graph, emitter, id)?;
    let events = events.iter().map(|(_, content)| content);
    for content in current.iter().chain(events) {
        let element = decode_element(id, content)?;
        for entry in entries_of(&graph.schema(), id, &element) {
            emitter
                .batch
                .delete(INDEX, &entry.partition, &entry.clustering);
            emitter
                .batch
                .delete(EVENT_INDEX, &entry.partition, &entry.clustering);
        }
        let derived = derived_entries(graph.deriver().as_deref(), id, content)?;
        for (partition, clustering) in derived.iter() {
            emitter.batch.delete(INDEX, partition, clustering);
            emitter.batch.delete(EVENT_INDEX, partition, clustering);
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

/// The edges that a purge of `id` takes along.
fn ever_incident(graph: &Graph, id: &ElementId) -> Result<Vec<EdgeId>, GraphError> {
    match id {
        ElementId::Vertex(vertex) => {
            let mut room = Room::of(graph.limits());
            incident_edges(graph.reader(), vertex, Reach::Ever, &mut room)
        }
        ElementId::Edge(_) => Ok(Vec::new()),
    }
}
