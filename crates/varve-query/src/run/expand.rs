//! Edges and neighbours of vertices, and the ends of edges.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::{Direction, EdgeLabelId};
use varve_view::{Expand as Ask, Flow, Neighbour, SchemaView};

use super::analysis::edge_labels;
use super::build::Builder;
use super::context::{Context, SharedSegments};
use super::fused::VertexKey;
use super::row::{Row, Track};
use super::{BATCH_MAX, BoxedOperator, GROWTH, Operator, Reset, SeededMap};
use crate::plan::{End, Expanded, Name};
use crate::value::{EdgeHandle, VertexHandle, Walked};
use crate::{QueryError, Value};

/// Rows of a growing batch are charged in steps of this many.
const CHARGE_EVERY: usize = 4_096;

/// The edge labels that a step names. Empty = all.
pub(crate) struct EdgeLabels {
    names: Vec<Name>,
    /// `None`: labels are given, and the schema has none of them.
    known: Option<Vec<EdgeLabelId>>,
}

impl EdgeLabels {
    pub(crate) fn new(names: &[Name], schema: &dyn SchemaView) -> Self {
        Self {
            known: edge_labels(schema, names),
            names: names.to_vec(),
        }
    }

    /// The labels that exist. A query that writes looks them up each time, since it may create
    /// them.
    pub(super) fn of(&self, cx: &Context<'_>) -> Option<Cow<'_, [EdgeLabelId]>> {
        match cx.writer {
            Some(writer) => edge_labels(writer, &self.names).map(Cow::Owned),
            None => self.known.as_deref().map(Cow::Borrowed),
        }
    }
}

/// Vertex keys, concatenated.
#[derive(Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn with_capacity(keys: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(keys * 12),
            ends: Vec::with_capacity(keys),
        }
    }

    pub(super) fn push_with(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn slices(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let key = |&end: &usize| &self.bytes[std::mem::replace(&mut start, end)..end];
        self.ends.iter().map(key).collect()
    }
}

/// Vertices to expand.
pub(super) struct Starts {
    pub(super) rows: Vec<Row>,
    pub(super) keys: Keys,
}

/// Walks the edges of the input vertices.
pub(crate) struct Expand {
    input: BoxedOperator,
    pub(super) direction: Option<Direction>,
    pub(super) labels: EdgeLabels,
    to: Expanded,
    segments: SharedSegments,
    /// The most results needed for each vertex.
    pub(crate) most: u64,
    /// Whether equal vertices are merged into one row.
    pub(crate) merges: bool,
    /// Input rows that have not been expanded yet.
    waiting: std::vec::IntoIter<Row>,
    /// The fewest rows to expand at once; grows with each batch.
    at_once: usize,
    /// Charged bytes of the batch that was given last.
    held: usize,
}

impl Expand {
    pub(crate) fn new(
        input: BoxedOperator,
        direction: Option<Direction>,
        labels: &[Name],
        to: Expanded,
        builder: &Builder<'_>,
    ) -> Self {
        Self {
            input,
            direction,
            labels: EdgeLabels::new(labels, builder.schema),
            to,
            segments: Rc::clone(&builder.segments),
            most: u64::MAX,
            merges: false,
            waiting: Vec::new().into_iter(),
            at_once: 1,
            held: 0,
        }
    }

    /// The next vertices to expand; `None` when the input has ended.
    pub(super) fn next_from(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Starts>, QueryError> {
        let Some(mut rows) = self.take(cx, demand)? else {
            return Ok(None);
        };
        let mut keys = Keys::with_capacity(rows.len());
        for row in &rows {
            let Value::Vertex(vertex) = &row.value else {
                return Err(QueryError::cast(&row.value, "Vertex"));
            };
            if !self.segments.is_closed(row.segment) {
                keys.push_with(|bytes| cx.view.put_vertex_key(vertex.id(), bytes));
            }
        }
        rows.retain(|row| !self.segments.is_closed(row.segment));
        Ok(Some(Starts { rows, keys }))
    }

    /// The next rows to expand: at first no more than `demand`, so that a small limit reads little.
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        let demand = demand.max(self.at_once).min(BATCH_MAX);
        self.at_once = demand.saturating_mul(GROWTH);
        if self.waiting.len() == 0 {
            match self.input.next(cx, demand)? {
                Some(rows) if rows.len() <= demand => return Ok(Some(rows)),
                Some(rows) => self.waiting = rows.into_iter(),
                None => return Ok(None),
            }
        }
        Ok(Some(self.waiting.by_ref().take(demand).collect()))
    }
}

impl Operator for Expand {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        cx.meter.release(std::mem::take(&mut self.held));
        let Some(Starts { rows, keys }) = self.next_from(cx, demand)? else {
            return Ok(None);
        };
        let Some(labels) = self.labels.of(cx) else {
            return Ok(Some(Vec::new()));
        };
        let out = walk(cx, &rows, &keys.slices(), self, &labels)?;
        self.held = out.len() * Row::BYTES;
        cx.meter.hold(self.held)?;
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.waiting = Vec::new().into_iter();
        self.at_once = 1;
        self.input.reset(how);
    }
}

/// The state of expanding one batch.
struct Walk<'w> {
    expand: &'w Expand,
    from: &'w [Row],
    keys: &'w [&'w [u8]],
    out: Vec<Row>,
    /// The position in `out` of each vertex's row, if equal vertices are merged.
    places: SeededMap<(u32, VertexKey), usize>,
    /// The index of the row being expanded, and the number of its results so far.
    current: (usize, u64),
}

impl Walk<'_> {
    /// Adds a neighbour of a row. Returns a break when the row needs no more results.
    fn add(
        &mut self,
        cx: &Context<'_>,
        at: usize,
        seen: &Neighbour<'_>,
    ) -> Result<Flow, QueryError> {
        let row = &self.from[at];
        if self.current.0 != at {
            self.current = (at, 0);
        }
        self.current.1 += 1;
        let flow = match self.current.1 < self.expand.most {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        };
        if self.expand.merges && row.sack.is_none() && row.path.is_none() {
            let key = (row.segment, VertexKey::from_slice(seen.other));
            match self.places.entry(key) {
                Entry::Occupied(place) => {
                    let bulk = &mut self.out[*place.get()].bulk;
                    *bulk = bulk.saturating_add(row.bulk);
                    return Ok(flow);
                }
                Entry::Vacant(place) => {
                    place.insert(self.out.len());
                }
            }
        }
        let value = match self.expand.to {
            Expanded::Vertices => other(cx, seen)?,
            Expanded::Edges => edge(cx, row, self.keys[at], seen)?,
        };
        self.out.push(row.at(value, cx.track));
        if self.out.len().is_multiple_of(CHARGE_EVERY) {
            cx.meter.hold(CHARGE_EVERY * Row::BYTES)?;
        }
        Ok(flow)
    }
}

fn walk(
    cx: &Context<'_>,
    from: &[Row],
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
    let mut walk = Walk {
        expand,
        from,
        keys,
        out: Vec::with_capacity(from.len() * 4),
        places: SeededMap::default(),
        current: (usize::MAX, 0),
    };
    let mut failed = None;
    cx.view.neighbours(keys, &ask, cx.meter, &mut |at, seen| {
        walk.add(cx, at, seen).unwrap_or_else(|error| {
            failed = Some(error);
            Flow::Break(())
        })
    })?;
    // The caller charges the batch that is returned.
    cx.meter
        .release(walk.out.len() / CHARGE_EVERY * CHARGE_EVERY * Row::BYTES);
    failed.map_or(Ok(walk.out), Err)
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
    let id = cx.view.edge_id(key, seen.edge)?;
    let handle = EdgeHandle {
        label_name: cx.edge_label(seen.label).into(),
        is_given: cx.is_given(&id),
        id,
        source_label,
        target_label,
        properties: seen.properties.clone(),
        newer: crate::value::NewerEdge::default(),
    };
    Ok(Value::Edge(Arc::new(handle), walked))
}

/// How an edge was reached from the last vertex before it in the path. An edge that was not reached
/// from an end counts as reached from its target.
fn walked_from(row: &Row, edge: &EdgeHandle) -> Result<Walked, QueryError> {
    let from = row.places().skip(1).find_map(|place| match place {
        Value::Vertex(vertex) => Some(vertex.id()),
        _ => None,
    });
    match from {
        Some(from) if from == edge.id.owner(Direction::Out) => Ok(Walked::Out),
        Some(_) => Ok(Walked::In),
        None => Err(QueryError::invalid(
            "The path history of the traverser does not contain a previous vertex",
        )),
    }
}

/// Adds the selected ends of an edge.
pub(crate) fn ends(
    cx: &Context<'_>,
    row: &Row,
    end: End,
    out: &mut Vec<Row>,
) -> Result<(), QueryError> {
    let Value::Edge(edge, walked) = &row.value else {
        return Err(QueryError::cast(&row.value, "Edge"));
    };
    let walked = match (end, cx.track) {
        (End::Other, Track::Path) if row.path.is_some() => walked_from(row, edge)?,
        _ => *walked,
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
