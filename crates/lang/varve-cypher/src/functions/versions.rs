//! Functions of the version of an element that the query reads, and the history of an element.

use std::sync::Arc;

use varve_model::id::VERTEX_ID_BYTES_MAX;
use varve_model::value::Uuid;
use varve_model::{EdgeId, ElementId, Instant, VertexId};
use varve_view::{Flow, PastVersion};

use super::{Function, Returns, Types, bad_value};
use crate::error::{Error, ErrorClass, Outcome, not_supported};
use crate::expression::Frame;
use crate::temporal::{Zone, from_nanos};
use crate::value::{Graph, Value};

const ELEMENT: Types = Types::ELEMENT;
const DATETIME: Returns = Returns::One(Types::DATETIME);

pub(super) const TABLE: &[Function] = &[
    // The start of the valid time that the version was written for; null without a start.
    Function::new("valid_from", &[ELEMENT], DATETIME, |values, frame| {
        of_version(values, frame, |version| instant(version.period.from))
    }),
    // The end of that valid time, which is not part of it; null without an end.
    Function::new("valid_to", &[ELEMENT], DATETIME, |values, frame| {
        of_version(values, frame, |version| instant(version.period.to))
    }),
    // When the version was committed.
    Function::new("system_from", &[ELEMENT], DATETIME, |values, frame| {
        of_version(values, frame, |version| instant(version.version.instant()))
    }),
    // The number of that commit.
    Function::new(
        "version",
        &[ELEMENT],
        Returns::One(Types::INTEGER),
        |values, frame| {
            of_version(values, frame, |version| {
                let number = i64::try_from(version.version.0);
                Ok(number.map_or(Value::Null, Value::Integer))
            })
        },
    ),
];

/// An instant as a date-time in UTC; null at the ends of time.
fn instant(at: Instant) -> Outcome<Value> {
    match at {
        Instant::MIN | Instant::FOREVER => Ok(Value::Null),
        Instant(micros) => from_nanos(i128::from(micros) * 1_000, &Zone::UTC),
    }
}

/// A function of the version of an element; null for an element that the graph does not have.
fn of_version(
    values: &[Value],
    frame: &Frame<'_>,
    of: impl FnOnce(&PastVersion) -> Outcome<Value>,
) -> Outcome<Value> {
    let graph = frame.graph;
    let (id, view) = match values {
        [Value::Node(node)] => (node.id(graph)?, node.view(graph)),
        [Value::Relationship(one)] => (ElementId::Edge(one.id.clone()), one.view(graph)),
        _ => return Err(bad_value("NODE or RELATIONSHIP", values.first())),
    };
    check_unchanged(graph, &id)?;
    // The state is that of the newest version whose period covers the view's valid time.
    let at = view.valid_at();
    let mut found = None;
    view.versions(&id, graph.meter, &mut |version| {
        if at.is_some_and(|at| !version.period.covers(at)) {
            return Flow::Continue(());
        }
        found = Some(version);
        Flow::Break(())
    })?;
    match found.filter(|version| version.element.is_some()) {
        Some(version) => of(&version),
        None => Ok(Value::Null),
    }
}

/// An element that the transaction has changed has no version yet.
fn check_unchanged(graph: &Graph<'_>, id: &ElementId) -> Outcome<()> {
    match graph.view.has_uncommitted(id) {
        false => Ok(()),
        true => Err(not_supported(
            "the version of an element that the transaction has changed",
        )),
    }
}

/// The versions of a node, a relationship or the element with this text of `elementId`, newest
/// first, as far as the graph's view sees them: of its transaction time, and with a valid time only
/// those whose periods contain it. Each is a row of the commit's number and instant, the valid
/// period, `put` or `delete`, and the properties (null of a delete). An element that never was has
/// none.
///
/// # Errors
/// When the value is nothing of this kind or a text that several nodes have, the transaction has
/// changed the element, a limit is exceeded or the store fails.
pub fn history(of: &Value, graph: &Graph<'_>) -> Outcome<Vec<Vec<Value>>> {
    let ids = match of {
        Value::Null => Vec::new(),
        Value::Node(node) => vec![node.id(graph)?],
        Value::Relationship(one) => vec![ElementId::Edge(one.id.clone())],
        Value::String(text) => named(text),
        other => return Err(bad_value("NODE, RELATIONSHIP or STRING", Some(other))),
    };
    let mut rows = Vec::new();
    for id in &ids {
        check_unchanged(graph, id)?;
        let before = rows.len();
        let mut failed = Ok(());
        graph.view.versions(
            id,
            graph.meter,
            &mut |version| match row_of(&version, graph) {
                Ok(row) => {
                    rows.push(row);
                    Flow::Continue(())
                }
                Err(error) => {
                    failed = Err(error);
                    Flow::Break(())
                }
            },
        )?;
        failed?;
        if before > 0 && rows.len() > before {
            let message = format!(
                "'{id}' is the id of several nodes, as a number, a UUID or a text: name one by a \
                 variable"
            );
            return Err(Error::run(ErrorClass::ArgumentError, "AmbiguousId", message).into());
        }
    }
    Ok(rows)
}

/// The ids that a text of `elementId` may mean.
fn named(text: &str) -> Vec<ElementId> {
    if let Ok(id) = EdgeId::parse(text) {
        return vec![ElementId::Edge(id)];
    }
    let numbers = text.parse().ok().map(VertexId::Number);
    let uuids = Uuid::parse(text).map(|uuid| VertexId::Uuid(uuid.0));
    let mut ids: Vec<VertexId> = numbers.into_iter().chain(uuids).collect();
    if (1..=VERTEX_ID_BYTES_MAX).contains(&text.len()) {
        ids.push(VertexId::text(text));
    }
    ids.into_iter().map(ElementId::Vertex).collect()
}

fn row_of(version: &PastVersion, graph: &Graph<'_>) -> Outcome<Vec<Value>> {
    let (kind, properties) = match &version.element {
        None => ("delete", Value::Null),
        Some(element) => {
            let each = element.properties().iter().filter_map(|(key, value)| {
                let key = graph.schema.property_key(key)?;
                Some((Arc::from(&*key.name), Value::from_stored(value)))
            });
            ("put", Value::map(each.collect()))
        }
    };
    Ok(vec![
        i64::try_from(version.version.0).map_or(Value::Null, Value::Integer),
        instant(version.version.instant())?,
        instant(version.period.from)?,
        instant(version.period.to)?,
        Value::string(kind),
        properties,
    ])
}
