//! The services of `call()`.

use std::sync::Arc;

use varve_model::time::{parse_instant, parse_version};
use varve_model::{CommitVersion, Direction, Element, ElementId, Instant, TemporalScope};
use varve_view::{Elements, Expand, Flow, PastVersion, ScanAsk, ScanPosition, ScannedElement};

use super::build::{Builder, batch};
use super::child::Child;
use super::context::Context;
use super::element::{held, property_values};
use super::row::Row;
use super::source::value_of;
use super::{BATCH_MAX, BoxedOperator};
use crate::plan::Name;
use crate::plan::call::{Call, Service};
use crate::value::Walked;
use crate::value::{DateTime, EdgeHandle, NewerEdge, Token, ValueMap, VertexContent, VertexHandle};
use crate::{QueryError, Value};

/// The number of versions in a history, if the call has no `limit`.
const HISTORY_LIMIT: usize = 100;
/// The largest `limit` of a history.
const HISTORY_LIMIT_MAX: usize = 10_000;
/// Bytes charged for the map of a version, without its element.
const VERSION_BYTES: usize = 1_024;

/// A step that calls a service for each row.
pub(super) fn operator(
    call: &Call,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let mut parameters = Parameters::new(call, builder)?;
    let service = call.service;
    Ok(batch(input, move |cx, rows| {
        let mut out = Vec::new();
        for row in rows {
            cx.tick(1)?;
            let values = parameters.of(cx, &row)?;
            let parameters = CallParameters { service, values };
            let results = match service {
                Service::List => list(&parameters)?,
                Service::History => history(cx, &row.value, &parameters)?,
                Service::AsOf => as_of(cx, &row.value, &parameters)?,
                Service::Degree => vec![degree(cx, &row.value, &parameters)?],
                Service::Search => search(cx, &parameters)?,
            };
            out.extend(results.into_iter().map(|value| row.at(value, cx.track)));
        }
        Ok(out)
    }))
}

/// The parameters of a call step, before they are computed for a row.
struct Parameters {
    given: ValueMap,
    computed: Option<Child>,
    with: Vec<(Name, Child)>,
}

impl Parameters {
    fn new(call: &Call, builder: &Builder<'_>) -> Result<Self, QueryError> {
        let computed = call.computed.as_ref();
        let with = call.with.iter();
        Ok(Self {
            given: call.given.clone(),
            computed: computed
                .map(|plan| Child::local(plan, builder))
                .transpose()?,
            with: with
                .map(|(name, plan)| Ok((name.clone(), Child::local(plan, builder)?)))
                .collect::<Result<_, QueryError>>()?,
        })
    }

    fn of(&mut self, cx: &mut Context<'_>, row: &Row) -> Result<ValueMap, QueryError> {
        let mut all = self.given.clone();
        if let Some(child) = &mut self.computed {
            match first(child, cx, row)? {
                Some(Value::Map(map)) => {
                    all.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                None => {}
                Some(other) => return Err(QueryError::cast(&other, "Map")),
            }
        }
        for (name, child) in &mut self.with {
            if let Some(value) = first(child, cx, row)? {
                all.insert(Value::Text(name.clone()), value);
            }
        }
        Ok(all)
    }
}

fn first(child: &mut Child, cx: &mut Context<'_>, row: &Row) -> Result<Option<Value>, QueryError> {
    let firsts = child.firsts(cx, std::slice::from_ref(row))?;
    Ok(firsts.into_iter().next().flatten().map(|row| row.value))
}

/// The computed parameters of one call.
struct CallParameters {
    service: Service,
    values: ValueMap,
}

impl CallParameters {
    fn get(&self, name: &str) -> Option<&Value> {
        self.values
            .get(&Value::text(name))
            .filter(|value| !value.is_null())
    }

    fn refused(&self, name: &str, value: &Value, wanted: &str) -> QueryError {
        let service = self.service.name();
        QueryError::invalid(format!(
            "The parameter '{name}' of {service} must be {wanted}, but got {}",
            value.shown()
        ))
    }

    fn text(&self, name: &str) -> Result<Option<&str>, QueryError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.refused(name, other, "a text")),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, QueryError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.refused(name, other, "true or false")),
        }
    }
}

fn list(parameters: &CallParameters) -> Result<Vec<Value>, QueryError> {
    let only = parameters.text("service")?;
    let verbose = parameters.flag("verbose")?;
    let listed = Service::LISTED.into_iter();
    let listed = listed.filter(|service| only.is_none_or(|only| service.name() == only));
    let text = |text: &str| Value::text(text);
    let describe = |service: Service| match verbose {
        false => text(service.name()),
        true => {
            let own = service.parameters().iter();
            let kind = match service.is_source() {
                true => "Start",
                false => "Streaming",
            };
            Value::map([
                (text("name"), text(service.name())),
                (
                    text("type:[requirements]:"),
                    Value::map([(text(kind), Value::list(Vec::new()))]),
                ),
                (
                    text("params"),
                    Value::map(own.map(|(name, what)| (text(name), text(what)))),
                ),
            ])
        }
    };
    Ok(listed.map(describe).collect())
}

fn element_id(value: &Value, service: Service) -> Result<ElementId, QueryError> {
    match value {
        Value::Vertex(vertex) => Ok(ElementId::Vertex(vertex.id().clone())),
        Value::Edge(edge, _) => Ok(ElementId::Edge(edge.id.clone())),
        other => Err(QueryError::invalid(format!(
            "{} is called on a vertex or an edge, but got {} {}",
            service.name(),
            other.type_name(),
            other.shown()
        ))),
    }
}

/// An element at another point of both times, detached from the query's view.
fn detached(cx: &Context<'_>, element: Element) -> Value {
    match element {
        Element::Vertex(vertex) => Value::Vertex(Arc::new(VertexHandle::detached(
            vertex.id,
            VertexContent {
                label: vertex.label,
                properties: vertex.properties,
            },
        ))),
        Element::Edge(edge) => {
            let handle = EdgeHandle {
                label_name: cx.edge_label(edge.id.label).into(),
                is_given: cx.is_given(&edge.id),
                id: edge.id,
                source_label: edge.source_label,
                target_label: edge.target_label,
                properties: edge.properties,
                newer: NewerEdge::default(),
            };
            Value::Edge(Arc::new(handle.detached()), Walked::No)
        }
    }
}

fn history(
    cx: &mut Context<'_>,
    value: &Value,
    parameters: &CallParameters,
) -> Result<Vec<Value>, QueryError> {
    let id = element_id(value, parameters.service)?;
    let limit = match parameters.get("limit") {
        None => HISTORY_LIMIT,
        Some(limit) => {
            let number = limit
                .as_long()
                .and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| (1..=HISTORY_LIMIT_MAX).contains(number));
            let wanted = format!("a number from 1 to {HISTORY_LIMIT_MAX}");
            number.ok_or_else(|| parameters.refused("limit", limit, &wanted))?
        }
    };
    let mut versions = Vec::new();
    let mut charged = Ok(());
    cx.view.versions(&id, cx.meter, &mut |past| {
        let version = version_map(cx, past);
        charged = cx.meter.hold(VERSION_BYTES + held(&version.0));
        versions.push(version.1);
        match charged.is_err() || versions.len() == limit {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        }
    })?;
    charged?;
    Ok(versions)
}

/// The element of a version, and the map that represents the version.
fn version_map(cx: &Context<'_>, past: PastVersion) -> (Value, Value) {
    let instant = |at: Instant| match at {
        Instant::MIN | Instant::FOREVER => Value::Null,
        Instant(micros) => Value::DateTime(DateTime::of_micros(micros, 0)),
    };
    let kind = match past.element {
        Some(_) => "put",
        None => "delete",
    };
    let element = past.element.map(|element| detached(cx, element));
    let element = element.unwrap_or_default();
    let superseded = past.superseded.map(CommitVersion::instant);
    let entries = [
        ("valid_from", instant(past.period.from)),
        ("valid_to", instant(past.period.to)),
        ("version", Value::count(past.version.0)),
        ("recorded_at", instant(past.version.instant())),
        ("superseded_at", superseded.map_or(Value::Null, instant)),
        ("kind", Value::text(kind)),
        ("element", element.clone()),
    ];
    let map = Value::map(entries.map(|(name, value)| (Value::text(name), value)));
    (element, map)
}

/// An instant of valid time; the first or last one if the date is beyond its range.
fn instant_of(at: &DateTime) -> Instant {
    let limit = if at.millis() < 0 {
        Instant::MIN
    } else {
        Instant::FOREVER
    };
    at.micros().map_or(limit, Instant)
}

fn as_of(
    cx: &mut Context<'_>,
    value: &Value,
    parameters: &CallParameters,
) -> Result<Vec<Value>, QueryError> {
    let id = element_id(value, parameters.service)?;
    let wanted = "a date or its text";
    let valid = parameters.get("as_of").map(|at| match at {
        Value::DateTime(at) => Ok(instant_of(at)),
        other => parse_instant(&other.shown().to_string())
            .ok_or_else(|| parameters.refused("as_of", other, wanted)),
    });
    let wanted = "a commit version, a date, its text, or 'now'";
    let transaction = parameters.get("as_of_tx").map(|at| match at {
        Value::DateTime(at) => Ok(CommitVersion::last_at(instant_of(at))),
        other => parse_version(&other.shown().to_string())
            .ok_or_else(|| parameters.refused("as_of_tx", other, wanted)),
    });
    let at = TemporalScope {
        valid: valid.transpose()?,
        transaction: transaction.transpose()?,
    };
    let element = cx.view.element_at(&id, at, cx.meter)?;
    let element = element.map(|element| detached(cx, element));
    if let Some(element) = &element {
        cx.meter.hold(VERSION_BYTES + held(element))?;
    }
    Ok(element.into_iter().collect())
}

fn degree(
    cx: &mut Context<'_>,
    value: &Value,
    parameters: &CallParameters,
) -> Result<Value, QueryError> {
    let Value::Vertex(vertex) = value else {
        return Err(QueryError::cast(value, "Vertex"));
    };
    let direction = match parameters.get("direction") {
        None | Some(Value::Token(Token::In)) => Some(Direction::In),
        Some(Value::Token(Token::Out)) => Some(Direction::Out),
        Some(Value::Text(text)) if text == "IN" => Some(Direction::In),
        Some(Value::Text(text)) if text == "OUT" => Some(Direction::Out),
        Some(Value::Text(text)) if text == "BOTH" => None,
        Some(other) => return Err(parameters.refused("direction", other, "IN, OUT or BOTH")),
    };
    let ask = Expand {
        direction,
        ..Expand::default()
    };
    let mut key = Vec::new();
    cx.view.put_vertex_key(vertex.id(), &mut key);
    let degrees = cx.view.degrees(&[&key], &ask, u64::MAX, cx.meter)?;
    Ok(Value::count(degrees.into_iter().sum()))
}

/// Properties whose value is a text that contains the text to search for.
fn search(cx: &mut Context<'_>, parameters: &CallParameters) -> Result<Vec<Value>, QueryError> {
    let Some(wanted) = parameters.text("search")? else {
        return Err(QueryError::invalid(
            "tinker.search needs the parameter 'search'",
        ));
    };
    let (vertices, meta, edges) = match parameters.text("type")? {
        None => (true, true, true),
        Some("Vertex") => (true, false, false),
        Some("VertexProperty") => (false, true, false),
        Some("Edge") => (false, false, true),
        Some(other) => {
            let other = Value::text(other);
            let wanted = "Vertex, Edge or VertexProperty";
            return Err(parameters.refused("type", &other, wanted));
        }
    };
    let mut found = Vec::new();
    let fits = |value: &Value| match value {
        Value::VertexProperty(own) => contains(&own.value, wanted),
        Value::Property(own) => contains(&own.value, wanted),
        _ => false,
    };
    let mut look = |cx: &Context<'_>, element: &Value| -> Result<(), QueryError> {
        for property in property_values(cx, element, &[]) {
            let is_edges = matches!(element, Value::Edge(..));
            if meta && !is_edges {
                let own = property_values(cx, &property, &[]).into_iter();
                for own in own.filter(|own| fits(own)) {
                    cx.meter.hold(VERSION_BYTES)?;
                    found.push(own);
                }
            }
            if (is_edges || vertices) && fits(&property) {
                cx.meter.hold(VERSION_BYTES)?;
                found.push(property);
            }
        }
        Ok(())
    };
    if vertices || meta {
        each(cx, Elements::Vertices(&[]), &mut look)?;
    }
    if edges {
        each(cx, Elements::Edges(&[]), &mut look)?;
    }
    Ok(found)
}

fn contains(value: &Value, wanted: &str) -> bool {
    matches!(value, Value::Text(text) if text.contains(wanted))
}

/// Calls `look` for all elements of a kind, with all their properties.
fn each(
    cx: &Context<'_>,
    elements: Elements<'_>,
    look: &mut dyn FnMut(&Context<'_>, &Value) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let ask = ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties: &cx.schema.property_keys(),
    };
    let mut place: Option<ScanPosition> = None;
    loop {
        let mut looked = Ok(());
        let mut show = |found: &ScannedElement<'_>| {
            looked = value_of(cx, found).and_then(|element| look(cx, &element));
            match looked {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        };
        let from = place.as_ref();
        place = cx.view.scan(&ask, from, BATCH_MAX, cx.meter, &mut show)?;
        looked?;
        if place.is_none() {
            return Ok(());
        }
    }
}
