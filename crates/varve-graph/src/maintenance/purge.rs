//! Purge: the only destroyer. Removes an element with its whole history, and leaves a record that it was done.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use varve_encoding::row::{Header, Kind};
use varve_encoding::tables::{EVENT, EVENT_INDEX, INDEX, TX};
use varve_encoding::{datum, key};
use varve_kv::{Flow, fail_point};
use varve_model::schema::Retention;
use varve_model::{CommitVersion, Datum, EdgeId, ElementId, Instant};

use crate::commit::Ticket;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::index::derived_entries;
use crate::read::scan_events;
use crate::write::{Current, Emitter, Reach, Room, Side, commit_internal, incident_edges, sides};

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

/// All rows of an element that are stored, of an edge on its source's side.
pub(crate) struct States {
    /// The current row; a marker has no content.
    pub(crate) current: Option<Current>,
    /// The past and planned ones, newest first.
    pub(crate) events: Vec<Current>,
}

impl States {
    /// The rows that say that the element has a state.
    pub(crate) fn puts(&self) -> impl Iterator<Item = &Current> {
        self.current.iter().chain(&self.events).filter(is_put)
    }

    /// Whether each row was written for its commit's time or an earlier one, and without an end: nothing was ever planned.
    /// Then the present's index has entries of the current row only, and the past's of the events only.
    fn are_unplanned(&self) -> bool {
        self.current.iter().chain(&self.events).all(|row| {
            let Header { version, kind, .. } = row.header;
            kind != Kind::Marker
                && row.header.until == Instant::FOREVER
                && row.header.to == Instant::FOREVER
                && row.header.period().from <= version.instant()
        })
    }
}

/// Whether a row says that the element has a state.
pub(crate) fn is_put(row: &&Current) -> bool {
    row.header.kind == Kind::Put
}

/// All rows of `id` that are stored.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn states(
    graph: &Graph,
    emitter: &Emitter<'_>,
    id: &ElementId,
) -> Result<States, GraphError> {
    let current = emitter.read_current(id)?;
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
            let content = content.to_vec();
            events.push(Current { header, content });
            Flow::Continue(())
        },
    )?;
    Ok(States { current, events })
}

/// Removes every row and entry of `id`.
pub(crate) fn destroy(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
) -> Result<(), GraphError> {
    let (table, sides) = sides(id);
    let states = states(graph, emitter, id)?;
    let mut all_are_kept = true;
    for row in states.puts() {
        all_are_kept &= emitter.retention(id, &row.content)? == Retention::All;
    }
    remove_entries(
        graph,
        emitter,
        id,
        &states,
        all_are_kept && states.are_unplanned(),
    )?;
    for Side {
        partition,
        clustering,
    } in &sides
    {
        emitter.batch.delete(table, partition, clustering);
        if all_are_kept {
            for event in &states.events {
                let event = key::event_clustering(clustering, event.header.version);
                emitter.batch.delete(EVENT, partition, &event);
            }
        } else {
            // One side of an edge may have forgotten what the other has not yet.
            emitter.batch.delete_prefix(EVENT, partition, clustering);
        }
    }
    Ok(())
}

/// Removes the entries of all states, each once. Those of the current one from the present's index and those of events from
/// the past's, if `apart` says that they are nowhere else.
fn remove_entries(
    graph: &Graph,
    emitter: &mut Emitter<'_>,
    id: &ElementId,
    states: &States,
    apart: bool,
) -> Result<(), GraphError> {
    let deriver = graph.deriver();
    let mut found = Vec::new();
    let current = states.current.as_ref().filter(is_put);
    let rows = current.map(|row| (row, INDEX)).into_iter();
    let events = states.events.iter().filter(is_put);
    for (row, table) in rows.chain(events.map(|row| (row, EVENT_INDEX))) {
        let derived = derived_entries(deriver.as_deref(), id, &row.content)?;
        found.push((table, derived, emitter.entries(id, &row.content)?));
    }
    let mut removed = FxHashSet::default();
    let batch = &mut emitter.batch;
    for (table, derived, of_labels) in &found {
        let of_labels = of_labels.iter();
        let of_labels = of_labels.map(|it| (&it.partition[..], &it.clustering[..]));
        for (partition, clustering) in derived.iter().chain(of_labels) {
            for place in [INDEX, EVENT_INDEX] {
                let may_hold = !apart || place == *table;
                if may_hold && removed.insert((place, partition, clustering)) {
                    batch.delete(place, partition, clustering);
                }
            }
        }
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
