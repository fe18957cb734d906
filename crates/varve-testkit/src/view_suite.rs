//! The contract of [`GraphView`] as a comparison: a view must give the same results as the model's
//! view.

use std::collections::BTreeMap;

use varve_model::{
    Direction, EdgeId, EdgeLabelId, Properties, PropertyKeyId, Value, VertexId, VertexLabelId,
};
use varve_view::{Counted, Dictionary, Expand, Flow, GraphView, Meter, ViewError};

use crate::Random;

mod scans;

/// A neighbour as a visitor sees it, in terms that are independent of the view.
type Seen = (
    usize,
    Direction,
    EdgeLabelId,
    EdgeId,
    VertexId,
    VertexLabelId,
    Properties,
);

/// The arguments of the questions.
#[derive(Debug)]
pub struct Questions<'a> {
    /// Vertices to start from, existing and missing ones.
    pub vertices: &'a [VertexId],
    /// Vertex labels, including some without vertices.
    pub vertex_labels: &'a [VertexLabelId],
    /// Edge labels, including parents and some without edges.
    pub labels: &'a [EdgeLabelId],
    /// Properties of edges and vertices.
    pub properties: &'a [PropertyKeyId],
}

/// Asks both views random questions and compares the answers.
///
/// # Errors
/// The first difference.
pub fn compare(
    view: &dyn GraphView,
    model: &dyn GraphView,
    questions: &Questions<'_>,
    random: &mut Random,
    rounds: usize,
) -> Result<(), String> {
    if questions.vertices.is_empty() {
        return Ok(());
    }
    keys_keep_ids_and_their_order(view, questions.vertices)?;
    for _ in 0..rounds {
        let from: Vec<VertexId> = (0..random.below(6))
            .map(|_| one_of(random, questions.vertices).clone())
            .collect();
        let labels: Vec<EdgeLabelId> = match random.below(2) {
            0 => Vec::new(),
            _ => some_of(random, questions.labels),
        };
        let mut properties = some_of(random, questions.properties);
        properties.sort_unstable();
        properties.dedup();
        let ask = Expand {
            direction: [None, Some(Direction::Out), Some(Direction::In)][random.below(3)],
            labels: &labels,
            properties: &properties,
        };
        let most = match random.below(2) {
            0 => usize::MAX,
            _ => 1 + random.below(3),
        };
        let what = format!("{ask:?} of {from:?}, at most {most} each");
        let shown = |view| neighbours(view, &from, &ask, most).map_err(|error| error.to_string());
        same(&what, shown(model)?, shown(view)?)?;
        let mut ids: Vec<EdgeId> = shown(model)?.into_iter().map(|seen| seen.3).collect();
        ids.extend(some_absent(&ids));
        let found = |view| edges(view, &ids, &properties);
        same(&format!("edges {ids:?}"), found(model)?, found(view)?)?;
        let degrees = |view| degrees(view, &from, &ask, most as u64);
        same(&what, degrees(model)?, degrees(view)?)?;
        let counted = |view| counts(view, &from, &ask);
        same(&what, counted(model)?, counted(view)?)?;
        let found = |view| vertices(view, &from, &properties);
        same(&format!("vertices {from:?}"), found(model)?, found(view)?)?;
        if let Some(key) = properties.first().copied() {
            let found = |view| vertex_values(view, &from, key);
            let what = format!("values of {key:?} of {from:?}");
            same(&what, found(model)?, found(view)?)?;
        }
        scans::compare(view, model, questions, random)?;
    }
    Ok(())
}

/// Edges that may not exist: the first of these reversed, and with other sort values.
fn some_absent(ids: &[EdgeId]) -> Vec<EdgeId> {
    let Some(first) = ids.first() else {
        return Vec::new();
    };
    let turned = EdgeId {
        source: first.target.clone(),
        target: first.source.clone(),
        ..first.clone()
    };
    let sorted = EdgeId {
        sort_values: "of no edge".into(),
        ..first.clone()
    };
    vec![turned, sorted]
}

fn one_of<'a, T>(random: &mut Random, all: &'a [T]) -> &'a T {
    &all[random.below(all.len())]
}

fn some_of<T: Copy>(random: &mut Random, all: &[T]) -> Vec<T> {
    let mut some = all.to_vec();
    some.retain(|_| random.below(2) == 0);
    some
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, wanted: T, got: T) -> Result<(), String> {
    match wanted == got {
        true => Ok(()),
        false => Err(format!("{what}: wanted {wanted:?}, got {got:?}")),
    }
}

fn keys(view: &dyn GraphView, ids: &[VertexId]) -> Vec<Vec<u8>> {
    let key = |id: &VertexId| {
        let mut key = Vec::new();
        view.put_vertex_key(id, &mut key);
        key
    };
    ids.iter().map(key).collect()
}

fn keys_keep_ids_and_their_order(view: &dyn GraphView, ids: &[VertexId]) -> Result<(), String> {
    let keys = keys(view, ids);
    for (id, key) in ids.iter().zip(&keys) {
        let read = view.vertex_id(key).map_err(|error| error.to_string())?;
        same("the id of a key", id, &read)?;
    }
    for (a, ka) in ids.iter().zip(&keys) {
        for (b, kb) in ids.iter().zip(&keys) {
            same(&format!("the order of {a} and {b}"), a.cmp(b), ka.cmp(kb))?;
        }
    }
    Ok(())
}

/// Integers converted to LONG, since views may return them so.
fn widened(properties: &Properties) -> Properties {
    let widen = |value: &Value| match value {
        Value::Byte(_) | Value::Int(_) => Value::Long(value.as_i64().unwrap()),
        other => other.clone(),
    };
    let each = properties.iter();
    each.map(|(key, value)| (key, widen(value))).collect()
}

fn neighbours(
    view: &dyn GraphView,
    from: &[VertexId],
    ask: &Expand<'_>,
    most: usize,
) -> Result<Vec<Seen>, ViewError> {
    let keys = keys(view, from);
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let (mut seen, mut failed) = (Vec::new(), None);
    let mut counts = vec![0; from.len()];
    view.neighbours(&keys, ask, &Meter::unlimited(), &mut |at, edge| {
        let ids = view
            .edge_id(keys[at], edge.edge)
            .and_then(|id| Ok((id, view.vertex_id(edge.other)?)));
        match ids {
            Ok((id, other)) => seen.push((
                at,
                edge.direction,
                edge.label,
                id,
                other,
                edge.other_label,
                widened(edge.properties),
            )),
            Err(error) => failed = Some(error),
        }
        counts[at] += 1;
        match counts[at] < most {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    })?;
    failed.map_or(Ok(seen), Err)
}

fn degrees(
    view: &dyn GraphView,
    from: &[VertexId],
    ask: &Expand<'_>,
    most: u64,
) -> Result<Vec<u64>, String> {
    let keys = keys(view, from);
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let degrees = view.degrees(&keys, ask, most, &Meter::unlimited());
    degrees.map_err(|error| error.to_string())
}

/// The numbers of edges that are alike, each with one of them.
fn counts(
    view: &dyn GraphView,
    from: &[VertexId],
    ask: &Expand<'_>,
) -> Result<BTreeMap<String, u64>, String> {
    let keys = keys(view, from);
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut counts = BTreeMap::new();
    let counted = view.counts(&keys, ask, &Meter::unlimited(), &mut |at, of| {
        let one = Counted { edges: 1, ..of };
        *counts.entry(format!("{at} {one:?}")).or_default() += of.edges;
    });
    counted.map_err(|error| error.to_string())?;
    Ok(counts)
}

fn vertices(
    view: &dyn GraphView,
    ids: &[VertexId],
    properties: &[PropertyKeyId],
) -> Result<Vec<(usize, VertexLabelId, Properties)>, String> {
    let keys = keys(view, ids);
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut seen = Vec::new();
    view.vertices(
        &keys,
        properties,
        &Meter::unlimited(),
        &mut |at, label, properties| {
            seen.push((at, label, widened(&properties)));
        },
    )
    .map_err(|error| error.to_string())?;
    seen.sort_by_key(|(at, ..)| *at);
    Ok(seen)
}

/// The values of a property, read through a dictionary.
fn vertex_values(
    view: &dyn GraphView,
    ids: &[VertexId],
    property: PropertyKeyId,
) -> Result<Vec<(usize, Properties)>, String> {
    let keys = keys(view, ids);
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let (mut dictionary, mut seen) = (Dictionary::default(), Vec::new());
    let (meter, found) = (Meter::unlimited(), &mut |at, number| {
        seen.push((at, number))
    });
    view.vertex_values(&keys, property, &mut dictionary, &meter, found)
        .map_err(|error| error.to_string())?;
    seen.sort_unstable();
    let shown = |(at, number)| (at, shown_value(&dictionary, property, number));
    Ok(seen.into_iter().map(shown).collect())
}

/// The value of a property with this number in the dictionary.
fn shown_value(dictionary: &Dictionary, property: PropertyKeyId, number: u32) -> Properties {
    let value = dictionary.values()[number as usize].clone();
    widened(&[(property, value)].into_iter().collect())
}

fn edges(
    view: &dyn GraphView,
    ids: &[EdgeId],
    properties: &[PropertyKeyId],
) -> Result<Vec<(usize, VertexLabelId, VertexLabelId, Properties)>, String> {
    let mut seen = Vec::new();
    view.edges(ids, properties, &Meter::unlimited(), &mut |at, found| {
        let properties = widened(found.properties);
        seen.push((at, found.source_label, found.target_label, properties));
    })
    .map_err(|error| error.to_string())?;
    seen.sort_by_key(|(at, ..)| *at);
    Ok(seen)
}
