//! Results as HugeGraph's flat JSON.

use std::sync::Arc;

use base64::Engine;
use compact_str::CompactString;
use varve_graph::registry::ServedGraph;
use varve_graph::schema::Schema;
use varve_model::value::{Uuid, date_text, duration_text};
use varve_query::Value;
use varve_query::value::{
    DateTime, Path, StepMetrics, Tree, ValueMap, VertexHandle, VertexProperty,
};

use super::weight;
use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult};
use crate::wire::output;

/// The first capacity of the buffer, in bytes.
const FIRST_BYTES: usize = 1_024;
/// A text of more bytes is charged before it is written.
const LONG_TEXT_BYTES: usize = 16 * 1024;
/// Results that are written between two checks of the deadline.
const DEADLINE_EVERY: usize = 256;

/// The answer with these results of a graph.
pub(super) fn write(
    context: &RequestContext,
    graph: Option<&ServedGraph>,
    results: &[(Value, u64)],
) -> HandlerResult {
    let empty;
    let schema = match graph {
        Some(served) => served.schema.as_ref(),
        None => {
            empty = Schema::default();
            &empty
        }
    };
    let mut growing = Growing::with_capacity(context, FIRST_BYTES);
    let json = growing.json.begin_object();
    json.key("requestId")
        .string(&Uuid(super::request_id()).to_string());
    json.key("status").begin_object();
    json.key("message").string("");
    json.key("code").unsigned(200);
    json.key("attributes").begin_object().end_object();
    json.end_object();
    json.key("result").begin_object();
    json.key("data").begin_array();
    let mut written = 0;
    for (result, bulk) in results {
        for _ in 0..*bulk {
            if written % DEADLINE_EVERY == 0 {
                context.check_deadline()?;
            }
            written += 1;
            value(&mut growing, schema, result)?;
        }
    }
    let json = growing.json.end_array();
    json.key("meta").begin_object().end_object();
    json.end_object().end_object();
    Ok(growing.finish())
}

pub(super) fn value(
    growing: &mut Growing<'_>,
    schema: &Schema,
    value: &Value,
) -> Result<(), ApiError> {
    growing.check()?;
    let json = &mut growing.json;
    match value {
        Value::Null
        | Value::Bool(_)
        | Value::Byte(_)
        | Value::Short(_)
        | Value::Int(_)
        | Value::Long(_)
        | Value::BigInt(_)
        | Value::BigDecimal(_)
        | Value::Float(_)
        | Value::Double(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Uuid(_)
        | Value::DateTime(_)
        | Value::Duration(_)
        | Value::Token(_) => scalar(growing, value)?,
        Value::List(items) => list(growing, schema, items.iter())?,
        Value::Set(items) => list(growing, schema, items.iter())?,
        Value::Map(map) => self::map(growing, schema, map)?,
        Value::Entry(entry) => {
            json.begin_object().key(&key_text(&entry.0)?);
            self::value(growing, schema, &entry.1)?;
            growing.json.end_object();
        }
        Value::Vertex(vertex) => self::vertex(json, schema, vertex),
        Value::Edge(edge, _) => {
            let edge = varve_model::Edge {
                id: edge.id.clone(),
                source_label: edge.source_label,
                target_label: edge.target_label,
                properties: edge.properties().clone(),
            };
            output::edge(json, schema, &edge);
        }
        Value::VertexProperty(property) => vertex_property(growing, schema, property)?,
        Value::Property(property) => {
            json.begin_object().key("key").string(&property.name);
            json.key("value");
            self::value(growing, schema, &property.value)?;
            growing.json.end_object();
        }
        Value::Path(path) => self::path(growing, schema, path)?,
        Value::Tree(tree) => self::tree(growing, schema, tree)?,
        Value::Profile(profile) => {
            json.begin_object().key("dur");
            milliseconds(json, profile.nanoseconds());
            json.key("metrics");
            steps(json, &profile.steps, "");
            json.end_object();
        }
        Value::Graph(graph) => {
            json.begin_object().key("vertices");
            list(growing, schema, graph.vertices.iter())?;
            growing.json.key("edges");
            list(growing, schema, graph.edges.iter())?;
            growing.json.end_object();
        }
    }
    Ok(())
}

fn map(growing: &mut Growing<'_>, schema: &Schema, map: &ValueMap) -> Result<(), ApiError> {
    growing.json.begin_object();
    for (key, member) in map.iter() {
        growing.json.key(&key_text(key)?);
        self::value(growing, schema, member)?;
    }
    growing.json.end_object();
    Ok(())
}

/// Writes a value without members; writes nothing for other values.
fn scalar(growing: &mut Growing<'_>, value: &Value) -> Result<(), ApiError> {
    let json = &mut growing.json;
    match value {
        Value::Null => {
            json.null();
        }
        Value::Bool(truth) => {
            json.boolean(*truth);
        }
        Value::Byte(number) => {
            json.integer(i64::from(*number));
        }
        Value::Short(number) => {
            json.integer(i64::from(*number));
        }
        Value::Int(number) => {
            json.integer(i64::from(*number));
        }
        Value::Long(number) => {
            json.integer(*number);
        }
        Value::BigInt(number) => {
            json.raw(number.to_string().as_bytes());
        }
        Value::BigDecimal(number) => {
            json.raw(number.to_plain_string().as_bytes());
        }
        Value::Float(number) => {
            let _ = output::value(json, &varve_model::Value::Float(*number));
        }
        Value::Double(number) => {
            let _ = output::value(json, &varve_model::Value::Double(*number));
        }
        Value::Text(text) => {
            if text.len() > LONG_TEXT_BYTES {
                growing.expect(weight::of_text(text))?;
            }
            growing.json.string(text);
        }
        Value::Bytes(bytes) => {
            growing.expect(bytes.len().saturating_mul(2))?;
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            growing.json.string(&text);
        }
        Value::Uuid(uuid) => {
            json.string(&Uuid(*uuid).to_string());
        }
        Value::DateTime(instant) => {
            json.string(&instant_text(*instant));
        }
        Value::Duration(span) => {
            json.string(&duration_text(*span));
        }
        Value::Token(token) => {
            json.string(&token.to_string());
        }
        _ => {}
    }
    Ok(())
}

fn vertex_property(
    growing: &mut Growing<'_>,
    schema: &Schema,
    property: &VertexProperty,
) -> Result<(), ApiError> {
    let json = &mut growing.json;
    json.begin_object().key("id").string(&property.id());
    json.key("value");
    self::value(growing, schema, &property.value)?;
    let json = &mut growing.json;
    json.key("label").string(&property.name);
    if !property.current_meta().is_empty() {
        json.key("properties").begin_object();
        for (key, meta) in property.current_meta().iter() {
            json.key(schema.property_key_name(key));
            output::value(json, meta);
        }
        json.end_object();
    }
    json.end_object();
    Ok(())
}

fn path(growing: &mut Growing<'_>, schema: &Schema, path: &Path) -> Result<(), ApiError> {
    let json = &mut growing.json;
    json.begin_object().key("labels").begin_array();
    for labels in &path.labels {
        json.begin_array();
        for label in labels {
            json.string(label);
        }
        json.end_array();
    }
    json.end_array().key("objects");
    list(growing, schema, path.objects.iter())?;
    growing.json.end_object();
    Ok(())
}

fn milliseconds(json: &mut JsonWriter, nanoseconds: u64) {
    #[allow(clippy::cast_precision_loss, reason = "a time in milliseconds")]
    let milliseconds = nanoseconds as f64 / 1e6;
    let _ = output::value(json, &varve_model::Value::Double(milliseconds));
}

/// The metrics of steps in TinkerPop's form: see [`super::wire::metrics`].
fn steps(json: &mut JsonWriter, steps: &[StepMetrics], within: &str) {
    json.begin_array();
    for (at, step) in steps.iter().enumerate() {
        let id = match within {
            "" => at.to_string(),
            within => format!("{within}.{at}"),
        };
        json.begin_object().key("id").string(&id);
        json.key("name").string(&step.name);
        json.key("dur");
        milliseconds(json, step.nanoseconds);
        json.key("counts").begin_object();
        json.key("traverserCount").unsigned(step.traversers);
        json.key("elementCount").unsigned(step.elements);
        json.end_object();
        if !step.nested.is_empty() {
            json.key("metrics");
            self::steps(json, &step.nested, &id);
        }
        json.end_object();
    }
    json.end_array();
}

fn list<'v>(
    growing: &mut Growing<'_>,
    schema: &Schema,
    items: impl Iterator<Item = &'v Value>,
) -> Result<(), ApiError> {
    growing.json.begin_array();
    for (at, item) in items.enumerate() {
        if at % DEADLINE_EVERY == DEADLINE_EVERY - 1 {
            growing.check_deadline()?;
        }
        value(growing, schema, item)?;
    }
    growing.json.end_array();
    Ok(())
}

fn tree(growing: &mut Growing<'_>, schema: &Schema, tree: &Tree) -> Result<(), ApiError> {
    growing.json.begin_array();
    for (key, below) in &tree.0 {
        growing.json.begin_object().key("key");
        value(growing, schema, key)?;
        growing.json.key("value");
        self::tree(growing, schema, below)?;
        growing.json.end_object();
    }
    growing.json.end_array();
    Ok(())
}

/// A key of a map, as JSON has them: texts only.
fn key_text(key: &Value) -> Result<CompactString, ApiError> {
    match key {
        Value::Vertex(vertex) => Ok(vertex.id().to_string().into()),
        Value::Edge(edge, _) => Ok(edge.id.to_string().into()),
        other => {
            let text = other.to_text();
            text.map_err(|error| ApiError::limit_exceeded(error.to_string()))
        }
    }
}

fn vertex(json: &mut JsonWriter, schema: &Schema, vertex: &Arc<VertexHandle>) {
    let properties = vertex.content().flatten();
    let whole = varve_model::Vertex {
        id: vertex.id().clone(),
        label: vertex.label().unwrap_or(varve_model::VertexLabelId(0)),
        properties: properties
            .map(|content| content.properties.clone())
            .unwrap_or_default(),
    };
    output::vertex(json, schema, &whole);
}

/// A date in the form of the other answers; with an offset or microseconds, in ISO 8601.
fn instant_text(instant: DateTime) -> String {
    match instant.offset() == 0 && instant.has_whole_millis() {
        true => date_text(instant.millis()),
        false => instant.to_string(),
    }
}
