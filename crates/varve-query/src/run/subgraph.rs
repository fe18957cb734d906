//! Side effects of `subgraph()`: edges and their end vertices.

use std::sync::Arc;

use varve_model::Direction;

use super::context::Context;
use super::effect::put;
use super::element::held;
use super::row::Row;
use crate::plan::Name;
use crate::value::{Subgraph, Walked};
use crate::{QueryError, Value};

/// Bytes of an element of a subgraph, beside its properties.
const ELEMENT_BYTES: usize = 256;

/// Adds the edges of these rows and their end vertices, without repeats.
pub(super) fn add(cx: &mut Context<'_>, into: &Name, rows: &[Row]) -> Result<(), QueryError> {
    let mut graph = match cx.effects.get_mut(into).map(|effect| &mut effect.value) {
        Some(Value::Graph(graph)) => std::mem::take(graph),
        Some(other) => return Err(QueryError::cast(other, "Graph")),
        None => Arc::default(),
    };
    let added = extend(cx, Arc::make_mut(&mut graph), rows);
    put(cx, into, Value::Graph(graph));
    added
}

fn extend(cx: &Context<'_>, graph: &mut Subgraph, rows: &[Row]) -> Result<(), QueryError> {
    let first = graph.vertices.len();
    for row in rows {
        let Value::Edge(edge, _) = &row.value else {
            return Err(QueryError::cast(&row.value, "Edge"));
        };
        if !graph
            .edges
            .insert(Value::Edge(Arc::clone(edge), Walked::No))
        {
            continue;
        }
        cx.meter.hold(ELEMENT_BYTES + held(&row.value))?;
        for direction in [Direction::Out, Direction::In] {
            if graph.vertices.insert(edge.end(direction)) {
                cx.meter.hold(ELEMENT_BYTES)?;
            }
        }
    }
    // Reads the vertices now, so that their content is charged.
    let new: Vec<&Value> = graph.vertices.iter().skip(first).collect();
    for batch in new.chunks(super::BATCH_MAX) {
        cx.fetch(batch.iter().copied())?;
        cx.meter
            .hold(batch.iter().map(|vertex| held(vertex)).sum())?;
    }
    Ok(())
}
