//! Edges and neighbours of vertices, and the ends of edges.

use std::borrow::Cow;
use std::sync::Arc;

use varve_model::{Direction, EdgeLabelId};
use varve_view::{Expand as Ask, Flow, Neighbour, SchemaView};

use super::analysis::edge_labels;
use super::context::{Context, SharedSegments};
use super::row::Row;
use super::{BATCH_MAX, BATCH_MIN, BoxedOperator, Operator, Reset};
use crate::plan::{End, Expanded, Name};
use crate::value::{EdgeHandle, VertexHandle, Walked};
use crate::{QueryError, Value};

/// Rows that are charged at once while they are read.
const CHARGE_EVERY: usize = 4_096;

/// The edge labels that a step names.
pub(crate) struct EdgeLabels {
    names: Vec<Name>,
    /// `None`: labels were asked for, and the schema has none of them.
    known: Option<Vec<EdgeLabelId>>,
}

impl EdgeLabels {
    pub(crate) fn new(names: &[Name], schema: &dyn SchemaView) -> Self {
        Self {
            known: edge_labels(schema, names),
            names: names.to_vec(),
        }
    }

    /// Those that are there; in a query that writes, by now.
    fn of(&self, cx: &Context<'_>) -> Option<Cow<'_, [EdgeLabelId]>> {
        match cx.writer {
            Some(writer) => edge_labels(writer, &self.names).map(Cow::Owned),
            None => self.known.as_deref().map(Cow::Borrowed),
        }
    }
}

/// Walks the edges of the vertices that come in.
pub(crate) struct Expand {
    pub(crate) input: BoxedOperator,
    pub(crate) direction: Option<Direction>,
    pub(crate) labels: EdgeLabels,
    pub(crate) to: Expanded,
    pub(crate) segments: SharedSegments,
    /// Bytes of the batch that was given last.
    pub(crate) held: usize,
}

impl Operator for Expand {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        cx.meter.release(std::mem::take(&mut self.held));
        let Some(rows) = self.input.next(cx, demand.clamp(BATCH_MIN, BATCH_MAX))? else {
            return Ok(None);
        };
        let Some(labels) = self.labels.of(cx) else {
            return Ok(Some(Vec::new()));
        };
        let mut from: Vec<&Row> = Vec::with_capacity(rows.len());
        let mut bytes = Vec::with_capacity(rows.len() * 12);
        let mut ends = Vec::with_capacity(rows.len());
        for row in &rows {
            let Value::Vertex(vertex) = &row.value else {
                return Err(QueryError::cast(&row.value, "Vertex"));
            };
            if !self.segments.is_closed(row.segment) {
                cx.view.put_vertex_key(vertex.id(), &mut bytes);
                ends.push(bytes.len());
                from.push(row);
            }
        }
        let mut start = 0;
        let key = |&end: &usize| {
            let key = &bytes[start..end];
            start = end;
            key
        };
        let keys: Vec<&[u8]> = ends.iter().map(key).collect();
        let out = walk(cx, &from, &keys, self, &labels)?;
        self.held = out.len() * Row::BYTES;
        cx.meter.hold(self.held)?;
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.input.reset(how);
    }
}

fn walk(
    cx: &Context<'_>,
    from: &[&Row],
    keys: &[&[u8]],
    expand: &Expand,
    labels: &[EdgeLabelId],
) -> Result<Vec<Row>, QueryError> {
    let projection = cx.projection();
    let ask = Ask {
        direction: expand.direction,
        labels,
        properties: match expand.to {
            Expanded::Edges => &projection,
            Expanded::Vertices => &[],
        },
    };
    let mut out = Vec::with_capacity(from.len() * 4);
    let mut failed = None;
    cx.view.neighbours(keys, &ask, cx.meter, &mut |at, seen| {
        let value = match expand.to {
            Expanded::Vertices => other(cx, seen),
            Expanded::Edges => edge(cx, from[at], keys[at], seen),
        };
        match value {
            Ok(value) => {
                out.push(from[at].at(value, cx.track));
                match out.len() % CHARGE_EVERY {
                    0 => match cx.meter.hold(CHARGE_EVERY * Row::BYTES) {
                        Ok(()) => Flow::Continue(()),
                        Err(error) => {
                            failed = Some(error.into());
                            Flow::Break(())
                        }
                    },
                    _ => Flow::Continue(()),
                }
            }
            Err(error) => {
                failed = Some(error);
                Flow::Break(())
            }
        }
    })?;
    // The caller charges what is given on.
    cx.meter
        .release(out.len() / CHARGE_EVERY * CHARGE_EVERY * Row::BYTES);
    failed.map_or(Ok(out), Err)
}

fn other(cx: &Context<'_>, seen: &Neighbour<'_>) -> Result<Value, QueryError> {
    let id = cx.view.vertex_id(seen.other)?;
    Ok(Value::Vertex(Arc::new(VertexHandle::new(
        id,
        Some(seen.other_label),
    ))))
}

fn edge(
    cx: &Context<'_>,
    from: &Row,
    key: &[u8],
    seen: &Neighbour<'_>,
) -> Result<Value, QueryError> {
    let own = match &from.value {
        Value::Vertex(vertex) => vertex.label(),
        _ => None,
    };
    let link = cx
        .schema
        .edge_label(seen.label)
        .and_then(|label| label.link);
    let declared = link.map(|(source, target)| match seen.direction {
        Direction::Out => source,
        Direction::In => target,
    });
    let own = own.or(declared).unwrap_or(varve_model::VertexLabelId(0));
    let (source_label, target_label, walked) = match seen.direction {
        Direction::Out => (own, seen.other_label, Walked::Out),
        Direction::In => (seen.other_label, own, Walked::In),
    };
    let handle = EdgeHandle {
        label_name: cx.edge_label(seen.label).into(),
        id: cx.view.edge_id(key, seen.edge)?,
        source_label,
        target_label,
        properties: seen.properties.clone(),
        newer: crate::value::NewerEdge::default(),
    };
    Ok(Value::Edge(Arc::new(handle), walked))
}

/// The ends of the edges that come in.
pub(crate) fn ends(
    cx: &Context<'_>,
    row: &Row,
    end: End,
    out: &mut Vec<Row>,
) -> Result<(), QueryError> {
    let Value::Edge(edge, walked) = &row.value else {
        return Err(QueryError::cast(&row.value, "Edge"));
    };
    let mut give = |direction| out.push(row.at(edge.end(direction), cx.track));
    match end {
        End::Out => give(Direction::Out),
        End::In => give(Direction::In),
        End::Both => {
            give(Direction::Out);
            give(Direction::In);
        }
        End::Other => match walked {
            Walked::Out => give(Direction::In),
            Walked::In => give(Direction::Out),
            Walked::No => {
                return Err(QueryError::invalid(
                    "otherV() needs an edge that was reached from one of its vertices",
                ));
            }
        },
    }
    Ok(())
}
