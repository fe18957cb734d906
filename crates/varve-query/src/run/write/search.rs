//! The searches of merge steps, before they add an element.

use std::sync::Arc;

use varve_model::{Direction, EdgeLabelId, ElementId, VertexId};
use varve_view::{ErrorKind, Expand, Flow, GraphView, Meter, SchemaView, Search, ViewError};

use super::super::analysis::edge_labels;
use super::super::build::{self, Builder};
use super::super::context::Context;
use super::super::each::drain;
use super::super::query::{Query, QueryOptions};
use super::super::row::Track;
use super::merge::Wanted;
use crate::plan::{ElementKind, End, Expanded, Name, Op, Plan};
use crate::predicate::{Predicate, Test};
use crate::value::{Token, VertexHandle};
use crate::{QueryError, Value, conditions, rules};

/// The plan that searches for vertices.
pub(super) fn vertices(wanted: &Wanted) -> Plan {
    let mut ops = vec![source(ElementKind::Vertex, wanted)];
    filters(wanted, &mut ops);
    Plan::new(ops)
}

/// The plan that searches for edges. It starts at the id if one is given, else at a given end. If
/// both ends are given, `nearer` chooses one: OUT is the source, IN the target.
pub(super) fn edges(wanted: &Wanted, nearer: Direction) -> Plan {
    let vertex = |value: &Value| Op::Source {
        kind: ElementKind::Vertex,
        ids: Some(vec![value.clone()]),
        labels: None,
        conditions: Vec::new(),
    };
    let expand = |direction| Op::Expand {
        direction: Some(direction),
        labels: wanted.label.iter().cloned().collect(),
        to: Expanded::Edges,
    };
    let mut ops = match (&wanted.id, &wanted.source, &wanted.target) {
        (None, Some(_), Some(target)) if nearer == Direction::In => {
            vec![vertex(target), expand(Direction::In)]
        }
        (None, Some(source), _) => vec![vertex(source), expand(Direction::Out)],
        (None, None, Some(target)) => vec![vertex(target), expand(Direction::In)],
        _ => vec![source(ElementKind::Edge, wanted)],
    };
    for (end, value) in [(End::Out, &wanted.source), (End::In, &wanted.target)] {
        let id = value.as_ref().and_then(Value::as_vertex_id);
        let Some(id) = id else { continue };
        let is_it = Predicate::Test(Test::Eq, Value::of_id(&id));
        let child = vec![Op::EndVertex(end), has(Token::Id, is_it)];
        ops.push(Op::Where {
            child: Plan::new(child),
            not: false,
        });
    }
    filters(wanted, &mut ops);
    Plan::new(ops)
}

/// The bound of the first count of edges at each end.
const FIRST_EDGES: usize = 16;

/// The end from which a search for edges should start: OUT (the source) or IN (the target). Counts
/// the edges with the label at each end, up to a bound that doubles, until one end has fewer. The
/// source is counted first. So the cost is about that of walking the edges from the result.
///
/// Returns OUT without counting if an id is given, an end is not given, or the label does not
/// exist.
pub(super) fn nearer_end(cx: &Context<'_>, wanted: &Wanted) -> Result<Direction, QueryError> {
    let end = |value: &Option<Value>| value.as_ref().and_then(Value::as_vertex_id);
    let (None, Some(source), Some(target)) = (&wanted.id, end(&wanted.source), end(&wanted.target))
    else {
        return Ok(Direction::Out);
    };
    let names: Vec<Name> = wanted.label.iter().cloned().collect();
    let known = match cx.writer {
        Some(writer) => edge_labels(writer, &names),
        None => edge_labels(cx.schema, &names),
    };
    let Some(labels) = known else {
        return Ok(Direction::Out);
    };
    let mut most = FIRST_EDGES;
    loop {
        for (id, direction) in [(&source, Direction::Out), (&target, Direction::In)] {
            if count_edges(cx, id, direction, &labels, most)? < most {
                return Ok(direction);
            }
        }
        most = most.saturating_mul(2);
    }
}

/// The number of edges of a vertex with these labels, counted up to `most`.
fn count_edges(
    cx: &Context<'_>,
    id: &VertexId,
    direction: Direction,
    labels: &[EdgeLabelId],
    most: usize,
) -> Result<usize, QueryError> {
    let mut key = Vec::new();
    cx.view.put_vertex_key(id, &mut key);
    let ask = Expand {
        direction: Some(direction),
        labels,
        properties: &[],
    };
    let mut count = 0;
    cx.view.neighbours(&[&key], &ask, cx.meter, &mut |_, _| {
        count += 1;
        match count < most {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    })?;
    Ok(count)
}

fn source(kind: ElementKind, wanted: &Wanted) -> Op {
    Op::Source {
        kind,
        ids: wanted.id.as_ref().map(|id| vec![id.clone()]),
        labels: None,
        conditions: Vec::new(),
    }
}

const fn has(token: Token, predicate: Predicate) -> Op {
    Op::HasToken { token, predicate }
}

fn filters(wanted: &Wanted, ops: &mut Vec<Op>) {
    if let Some(label) = &wanted.label {
        let is_it = Predicate::Test(Test::Eq, Value::Text(label.clone()));
        ops.push(has(Token::Label, is_it));
    }
    for (name, value) in &wanted.values {
        let value = match value {
            Value::Entry(entry) => &entry.1,
            value => value,
        };
        let key = name.clone();
        ops.push(match value.is_null() {
            true => Op::HasNot(key),
            false => Op::HasProperty {
                key,
                predicate: Predicate::Test(Test::Eq, value.clone()),
            },
        });
    }
}

/// Runs a plan to its end, within the current query.
pub(super) fn run(cx: &mut Context<'_>, plan: &Plan) -> Result<Vec<Value>, QueryError> {
    let plan = conditions::converted(plan, cx.schema)?;
    let plan = rules::rewritten(&plan, cx.schema, false);
    let mut chain = build::query(&plan, &Builder::new(cx.schema, Track::Nothing, None, false))?;
    let mut values = Vec::new();
    for row in drain(chain.as_mut(), cx)? {
        for _ in 0..row.bulk {
            values.push(row.value.clone());
        }
    }
    Ok(values)
}

/// A [`Search`] that runs the plan again, on the view that the commit passes.
pub(super) fn again(plan: Plan) -> Arc<Search> {
    Arc::new(
        move |(view, schema): (&dyn GraphView, &dyn SchemaView),
              meter: &Meter,
              visit: &mut dyn FnMut(&ElementId) -> Flow| {
            let read = |error| match error {
                QueryError::View(error) => error,
                other => ViewError::failed(ErrorKind::InvalidArgument, other.to_string()),
            };
            let options = QueryOptions::default();
            let mut query = Query::new(&plan, view, schema, meter, options).map_err(read)?;
            while let Some(rows) = query.next(1).map_err(read)? {
                for (value, _) in rows {
                    let id = match value {
                        Value::Vertex(vertex) => ElementId::Vertex(vertex.id().clone()),
                        Value::Edge(edge, _) => ElementId::Edge(edge.id.clone()),
                        _ => continue,
                    };
                    if visit(&id).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        },
    )
}

/// Whether a vertex with this id exists in the view of the query.
pub(super) fn exists(cx: &Context<'_>, id: &VertexId) -> Result<bool, QueryError> {
    let vertex = Value::Vertex(Arc::new(VertexHandle::new(id.clone(), None)));
    cx.fetch(std::iter::once(&vertex))?;
    Ok(match &vertex {
        Value::Vertex(vertex) => vertex.content().flatten().is_some(),
        _ => false,
    })
}
