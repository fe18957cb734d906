//! Commits of the graph itself: tidying, purging, rebuilding. They use the same latches and the
//! same committer as requests, so readers see each of them as a whole or not at all.

use std::sync::Arc;

use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{KvError, Reader, TableId};
use varve_model::ElementId;

use super::emit::{EmitContext, Emitter};
use super::keys::Keys;
use crate::commit::{Additions, Commit, LatchKey, LatchSet, Ticket, ticket};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::near::{Place, get_near};
use crate::rows::{Current, sides};

/// Latches `ids` and the unique values whose index partitions are `claims`, calls `build` to fill
/// the batch, and commits it.
///
/// # Errors
/// When `build` fails, or when the commit is not accepted.
pub(crate) fn commit_internal(
    graph: &Arc<Graph>,
    ids: &[ElementId],
    claims: &[Vec<u8>],
    build: impl FnOnce(&mut Emitter<'_>) -> Result<(), GraphError>,
) -> Result<Ticket, GraphError> {
    let mut keys = latch_keys(ids);
    keys.extend(claims.iter().map(|claim| LatchKey::exclusive(claim)));
    let latches = graph.latches.acquire(keys)?;
    commit_latched(graph, latches, build)
}

/// As [`commit_internal`], for rows that belong to no element. It takes no latches, so callers may
/// hold some.
///
/// # Errors
/// As [`commit_internal`].
pub(crate) fn commit_unlatched(
    graph: &Arc<Graph>,
    build: impl FnOnce(&mut Emitter<'_>) -> Result<(), GraphError>,
) -> Result<Ticket, GraphError> {
    let latches = graph.latches.acquire(Vec::new())?;
    commit_latched(graph, latches, build)
}

fn commit_latched(
    graph: &Arc<Graph>,
    latches: LatchSet,
    build: impl FnOnce(&mut Emitter<'_>) -> Result<(), GraphError>,
) -> Result<Ticket, GraphError> {
    let (schema, now) = (graph.schema(), graph.now());
    let deriver = graph.deriver();
    // These commits are rare, so pairs are put again without a look at the cache.
    let known = |_| false;
    let context = EmitContext {
        reader: graph.reader(),
        schema: &schema,
        deriver: deriver.as_deref(),
        now,
        known_pair: &known,
        keeps_changes: graph.keeps_changes(),
    };
    let mut emitter = Emitter::new(context);
    build(&mut emitter)?;
    let (batch, stamps) = emitter.finish();
    if batch.is_empty() {
        return Ok(Ticket::done(graph.published()));
    }
    let (ticket, completer) = ticket();
    graph.submit(Commit {
        now,
        end: None,
        batch,
        stamps,
        latches,
        completer,
        may_wait: false,
        additions: Additions::default(),
    })?;
    Ok(ticket)
}

fn latch_keys(ids: &[ElementId]) -> Vec<LatchKey> {
    let mut latches = Vec::with_capacity(ids.len() * 3 + 1);
    latches.push(LatchKey::SCHEMA);
    let mut keys = Keys::with_capacity(ids.len());
    for id in ids {
        let number = keys.add(id);
        keys.of(number).latches(&mut latches);
    }
    latches
}

/// Reads the current rows of `ids`, in their order, in one call for each table: on a cluster each
/// call is a round trip.
///
/// # Errors
/// When the store fails or is damaged.
pub(crate) fn current_rows(
    reader: &dyn Reader,
    ids: &[ElementId],
) -> Result<Vec<Option<Current>>, GraphError> {
    rows_by(ids, &|table, keys, found| {
        reader.get_each(table, keys, found)
    })
}

/// As [`current_rows`], for different elements in the order of a full scan of their tables.
///
/// # Errors
/// As [`current_rows`].
pub(crate) fn current_rows_near(
    reader: &dyn Reader,
    ids: &[ElementId],
) -> Result<Vec<Option<Current>>, GraphError> {
    rows_by(ids, &|table, keys, found| {
        get_near(reader, table, keys, found)
    })
}

/// Reads rows of a table by their keys, as [`Reader::get_each`] does.
type GetEach<'a> =
    dyn Fn(TableId, &[Place<'_>], &mut dyn FnMut(usize, &[u8])) -> Result<(), KvError> + 'a;

fn rows_by(ids: &[ElementId], get_each: &GetEach<'_>) -> Result<Vec<Option<Current>>, GraphError> {
    let places: Vec<_> = ids.iter().map(sides).collect();
    let mut rows = vec![None; ids.len()];
    for table in [VERTEX, EDGE] {
        let (mut numbers, mut keys) = (Vec::new(), Vec::new());
        for (number, (of, sides)) in places.iter().enumerate() {
            if *of == table {
                numbers.push(number);
                keys.push((&*sides[0].partition, &*sides[0].clustering));
            }
        }
        let mut damaged = Ok(());
        get_each(
            table,
            &keys,
            &mut |number, row| match Current::decode(row) {
                Ok(row) => rows[numbers[number]] = Some(row),
                Err(error) => damaged = Err(error),
            },
        )?;
        damaged?;
    }
    Ok(rows)
}
