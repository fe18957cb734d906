//! Whether two elements hold the same values of a unique index at one instant, from now on.

use varve_encoding::row::{Header, RowKind};
use varve_kv::{Flow, Reader, ReaderExt};
use varve_model::schema::IndexBase;
use varve_model::{CommitVersion, Element, ElementId, IndexLabel, Instant, Period};

use super::entries;
use crate::error::GraphError;
use crate::read::{resolve, scan_events};
use crate::rows::{decode_element, sides};
use crate::schema::Schema;

/// Finds two of `holders` that hold the values of `partition` at one instant from `now` on. The
/// reader is a snapshot, or the caller has latched the holders; otherwise their rows may move
/// between two reads.
pub(crate) fn conflict(
    reader: &dyn Reader,
    of: (&Schema, &IndexLabel),
    partition: &[u8],
    holders: &[ElementId],
    now: Instant,
) -> Result<Option<(ElementId, ElementId)>, GraphError> {
    let mut held: Vec<(Period, &ElementId)> = Vec::new();
    for holder in holders {
        let periods = held_by(reader, of, partition, holder, now)?;
        held.extend(periods.into_iter().map(|period| (period, holder)));
    }
    held.sort_by_key(|(period, _)| period.from);
    // The period so far that ends last, with its holder.
    let mut last: Option<(Period, &ElementId)> = None;
    for (period, holder) in held {
        if let Some((before, other)) = last {
            if before.overlaps(period) && other != holder {
                return Ok(Some((other.clone(), holder.clone())));
            }
            if before.to >= period.to {
                continue;
            }
        }
        last = Some((period, holder));
    }
    Ok(None)
}

/// The periods, from `now` on, in which `id` is of the label's base and has the values of
/// `partition`.
fn held_by(
    reader: &dyn Reader,
    (schema, label): (&Schema, &IndexLabel),
    partition: &[u8],
    id: &ElementId,
    now: Instant,
) -> Result<Vec<Period>, GraphError> {
    let (table, sides) = sides(id);
    let (place, clustering) = (&sides[0].partition, &sides[0].clustering);
    let row = reader.get(table, place, clustering)?;
    let newest = CommitVersion::MAX;
    let mut instants = vec![now];
    let mut add = |period: Period| {
        let boundaries = [period.from, period.to].into_iter();
        instants.extend(boundaries.filter(|at| *at > now && *at < Instant::FOREVER));
    };
    if let Some(row) = &row {
        let (header, _) = Header::decode(row)?;
        if header.kind == RowKind::Put {
            add(header.period());
        }
    }
    scan_events(reader, place, clustering, newest, &mut |header, _| {
        add(header.period());
        Flow::Continue(())
    })?;
    instants.sort_unstable();
    instants.dedup();
    let ends = instants.iter().copied().skip(1).chain([Instant::FOREVER]);
    let mut periods = Vec::new();
    for (from, to) in instants.iter().copied().zip(ends) {
        let state = resolve(reader, place, clustering, row.as_deref(), from, newest)?;
        let Some(state) = state else { continue };
        let element = decode_element(id, &state.content)?;
        if has_values(schema, label, &element, partition) {
            periods.extend(Period::new(from, to));
        }
    }
    Ok(periods)
}

/// Whether an element has the values of a partition of a unique index or its group. The id may
/// belong to an element of another label than when the entry was made.
pub(crate) fn has_values(
    schema: &Schema,
    label: &IndexLabel,
    element: &Element,
    partition: &[u8],
) -> bool {
    let base = base_of(element);
    let id = element.id();
    let has = |label: &IndexLabel| {
        let own = entries(label, &id, element.properties());
        own.iter().any(|own| own.partition == partition)
    };
    match label.group {
        None => label.base == base && has(label),
        group => schema
            .kept_on(base)
            .iter()
            .any(|other| other.group == group && has(other)),
    }
}

/// The base of the index labels that cover `element`.
fn base_of(element: &Element) -> IndexBase {
    match element {
        Element::Vertex(vertex) => IndexBase::Vertex(vertex.label),
        Element::Edge(edge) => IndexBase::Edge(edge.id.label),
    }
}
