//! Vertices and edges as JSON, written from stored bytes straight into the answer.
//!
//! Properties are in ascending order of their keys' ids. A declared property that the element lacks
//! has the default of its key, if there is one.

use base64::Engine as _;
use varve_graph::content::{self, PropertyReader, ValueRef, take_value};
use varve_graph::element::text;
use varve_graph::schema::{Schema, default_value};
use varve_graph::write::IdRef;
use varve_graph::{ErrorKind, GraphError};
use varve_model::value::{Uuid, date_digits, date_text};
use varve_model::{
    Edge, EdgeId, Element, Properties, PropertyKeyId, Value, Vertex, VertexId, VertexLabelId,
};

use super::{open_values, typed_values};
use crate::JsonWriter;
use crate::datum;
use crate::json::Detail;

/// Bytes of one element in an answer, about; for the initial capacity of buffers.
pub(crate) const ELEMENT_BYTES: usize = 256;

/// Writes a vertex from its row's content.
pub(crate) fn vertex_row(
    json: &mut JsonWriter,
    schema: &Schema,
    id: &VertexId,
    row: &[u8],
) -> Result<(), GraphError> {
    let (label, properties) = content::vertex_parts(row)?;
    begin_vertex(json, schema, id, label);
    let declared = schema.vertex_label(label).map(|l| l.properties.as_slice());
    stored_properties(json, schema, declared.unwrap_or(&[]), properties)?;
    json.end_object().end_object();
    Ok(())
}

/// Writes an edge from its row's content.
pub(crate) fn edge_row(
    json: &mut JsonWriter,
    schema: &Schema,
    id: &EdgeId,
    row: &[u8],
) -> Result<(), GraphError> {
    let (source, target, properties) = content::edge_parts(row)?;
    begin_edge(json, schema, id, source, target);
    let declared = schema.edge_label(id.label).map(|l| l.properties.as_slice());
    stored_properties(json, schema, declared.unwrap_or(&[]), properties)?;
    json.end_object().end_object();
    Ok(())
}

/// Writes an element from its row's content.
pub(crate) fn content(
    json: &mut JsonWriter,
    schema: &Schema,
    id: IdRef<'_>,
    content: &[u8],
) -> Result<(), GraphError> {
    match id {
        IdRef::Vertex(id) => vertex_row(json, schema, id, content),
        IdRef::Edge(id) => edge_row(json, schema, id, content),
    }
}

/// Writes an element's id.
pub(crate) fn id(json: &mut JsonWriter, id: IdRef<'_>) {
    match id {
        IdRef::Vertex(id) => vertex_id(json, id),
        IdRef::Edge(id) => edge_id(json, id),
    }
}

/// Writes a vertex.
pub(crate) fn vertex(json: &mut JsonWriter, schema: &Schema, vertex: &Vertex) {
    begin_vertex(json, schema, &vertex.id, vertex.label);
    let declared = schema
        .vertex_label(vertex.label)
        .map(|l| l.properties.as_slice());
    owned_properties(json, schema, declared.unwrap_or(&[]), &vertex.properties);
    json.end_object().end_object();
}

/// Writes the properties of an element as an object.
pub(crate) fn properties(json: &mut JsonWriter, schema: &Schema, element: &Element) {
    let declared = match element {
        Element::Vertex(vertex) => schema
            .vertex_label(vertex.label)
            .map(|label| label.properties.as_slice()),
        Element::Edge(edge) => schema
            .edge_label(edge.id.label)
            .map(|label| label.properties.as_slice()),
    };
    json.begin_object();
    owned_properties(json, schema, declared.unwrap_or(&[]), element.properties());
    json.end_object();
}

/// Writes an edge.
pub(crate) fn edge(json: &mut JsonWriter, schema: &Schema, edge: &Edge) {
    begin_edge(json, schema, &edge.id, edge.source_label, edge.target_label);
    let declared = schema
        .edge_label(edge.id.label)
        .map(|l| l.properties.as_slice());
    owned_properties(json, schema, declared.unwrap_or(&[]), &edge.properties);
    json.end_object().end_object();
}

/// Writes a vertex or an edge.
pub(crate) fn element(json: &mut JsonWriter, schema: &Schema, element: &Element) {
    match element {
        Element::Vertex(each) => vertex(json, schema, each),
        Element::Edge(each) => edge(json, schema, each),
    }
}

/// Opens a vertex's object and that of its properties.
fn begin_vertex(json: &mut JsonWriter, schema: &Schema, id: &VertexId, label: VertexLabelId) {
    json.begin_object().quoted_key("\"id\":");
    vertex_id(json, id);
    json.quoted_key("\"label\":")
        .string(schema.vertex_label_name(label));
    json.quoted_key("\"type\":").plain_string(b"vertex");
    json.quoted_key("\"properties\":").begin_object();
}

/// Opens an edge's object and that of its properties.
fn begin_edge(
    json: &mut JsonWriter,
    schema: &Schema,
    id: &EdgeId,
    source_label: VertexLabelId,
    target_label: VertexLabelId,
) {
    json.begin_object().quoted_key("\"id\":");
    edge_id(json, id);
    json.quoted_key("\"label\":")
        .string(schema.edge_label_name(id.label));
    json.quoted_key("\"type\":").plain_string(b"edge");
    json.quoted_key("\"outV\":");
    vertex_id(json, &id.source);
    json.quoted_key("\"outVLabel\":")
        .string(schema.vertex_label_name(source_label));
    json.quoted_key("\"inV\":");
    vertex_id(json, &id.target);
    json.quoted_key("\"inVLabel\":")
        .string(schema.vertex_label_name(target_label));
    json.quoted_key("\"properties\":").begin_object();
}

/// Writes a vertex id: a number or a text.
pub(crate) fn vertex_id(json: &mut JsonWriter, id: &VertexId) {
    if json.detail() == Detail::Typed {
        return typed_values::vertex_id(json, id);
    }
    match id {
        VertexId::Number(number) => json.integer(*number),
        VertexId::Text(text) => json.string(text),
        VertexId::Uuid(uuid) => json.string(&Uuid(*uuid).to_string()),
    };
}

/// Writes an edge id.
pub(crate) fn edge_id(json: &mut JsonWriter, id: &EdgeId) {
    json.string_with(|text| id.write_text(text));
}

/// Writes the stored properties, and in key order between them the defaults of declared properties
/// that are missing.
fn stored_properties(
    json: &mut JsonWriter,
    schema: &Schema,
    declared: &[PropertyKeyId],
    mut properties: PropertyReader<'_>,
) -> Result<(), GraphError> {
    let mut defaults = Defaults::of(schema, declared, properties.len());
    while let Some((key, value)) = properties.next_property()? {
        if is_hidden(json, schema, key) {
            continue;
        }
        defaults.write_before(json, schema, key);
        json.key(schema.property_key_name(key));
        value_ref(json, value)?;
    }
    defaults.write_rest(json, schema);
    Ok(())
}

fn owned_properties(
    json: &mut JsonWriter,
    schema: &Schema,
    declared: &[PropertyKeyId],
    properties: &Properties,
) {
    let mut defaults = Defaults::of(schema, declared, properties.len());
    for (key, stored) in properties.iter() {
        if is_hidden(json, schema, key) {
            continue;
        }
        defaults.write_before(json, schema, key);
        json.key(schema.property_key_name(key));
        value(json, stored);
    }
    defaults.write_rest(json, schema);
}

/// The defaults of an element's declared properties, ascending by key.
struct Defaults {
    values: std::iter::Peekable<std::vec::IntoIter<(PropertyKeyId, Value)>>,
}

impl Defaults {
    /// Collects the defaults. `stored` is the number of the element's properties: if it has all
    /// declared ones, no default is needed.
    fn of(schema: &Schema, declared: &[PropertyKeyId], stored: usize) -> Self {
        let mut values = Vec::new();
        if stored < declared.len() {
            for id in declared {
                let Some(key) = schema.property_key(*id) else {
                    continue;
                };
                if let Ok(Some(value)) = default_value(key) {
                    values.push((*id, value));
                }
            }
            values.sort_unstable_by_key(|(id, _)| *id);
        }
        Self {
            values: values.into_iter().peekable(),
        }
    }

    /// Writes the defaults of keys before `key`, and drops that of `key` itself, which is stored.
    fn write_before(&mut self, json: &mut JsonWriter, schema: &Schema, key: PropertyKeyId) {
        while let Some((id, default)) = self.values.next_if(|(id, _)| *id <= key) {
            if id < key {
                json.key(schema.property_key_name(id));
                value(json, &default);
            }
        }
    }

    fn write_rest(self, json: &mut JsonWriter, schema: &Schema) {
        for (id, default) in self.values {
            json.key(schema.property_key_name(id));
            value(json, &default);
        }
    }
}

/// Whether an answer leaves out the property.
fn is_hidden(json: &JsonWriter, schema: &Schema, key: PropertyKeyId) -> bool {
    json.detail() == Detail::Seen && schema.hides(key)
}

fn value_ref(json: &mut JsonWriter, stored: ValueRef<'_>) -> Result<(), GraphError> {
    if json.detail() == Detail::Typed {
        return typed_values::stored(json, stored);
    }
    match stored {
        ValueRef::Text(text) => json.string(text),
        ValueRef::Integer(number, _) => json.integer(number),
        ValueRef::Boolean(flag) => json.boolean(flag),
        ValueRef::Double(number) => double(json, number),
        ValueRef::Float(number) => float(json, number),
        ValueRef::Date(millis) => date(json, millis),
        ValueRef::Uuid(uuid) => json.string(&Uuid(uuid).to_string()),
        ValueRef::Blob(bytes) => blob(json, bytes),
        ValueRef::Nested(bytes) => {
            let Some((nested, _)) = take_value(bytes) else {
                return Err(GraphError::new(
                    ErrorKind::Storage,
                    "Stored data is damaged: a nested property value",
                ));
            };
            value(json, &nested)
        }
    };
    Ok(())
}

/// Writes a property value.
pub(crate) fn value<'j>(json: &'j mut JsonWriter, stored: &Value) -> &'j mut JsonWriter {
    if json.detail() == Detail::Typed {
        return typed_values::value(json, stored);
    }
    match stored {
        Value::Boolean(flag) => json.boolean(*flag),
        Value::Byte(number) => json.integer(i64::from(*number)),
        Value::Int(number) => json.integer(i64::from(*number)),
        Value::Long(number) => json.integer(*number),
        Value::Float(number) => float(json, *number),
        Value::Double(number) => double(json, *number),
        Value::Text(text) => json.string(text),
        Value::Blob(bytes) => blob(json, bytes),
        Value::Date(millis) => date(json, *millis),
        Value::Uuid(uuid) => json.string(&Uuid(*uuid).to_string()),
        Value::Object(object) => {
            datum::write(object, json);
            json
        }
        Value::List(items) | Value::Set(items) => {
            json.begin_array();
            for item in items {
                value(json, item);
            }
            json.end_array()
        }
        rare => open_values::write(json, rare),
    }
}

/// Magnitudes that Java prints without an exponent, as `JsonWriter` does.
const PLAIN: std::ops::Range<f64> = 1e-3..1e7;

/// Writes a number as Java prints it, which is valid JSON. Numbers that JSON lacks become texts.
pub(crate) fn double(json: &mut JsonWriter, number: f64) -> &mut JsonWriter {
    if PLAIN.contains(&number.abs()) {
        json.double(number)
    } else if number.is_finite() {
        json.raw(text::of_double(number).as_bytes())
    } else {
        json.double(number)
    }
}

fn float(json: &mut JsonWriter, number: f32) -> &mut JsonWriter {
    if PLAIN.contains(&f64::from(number.abs())) {
        json.float(number)
    } else if number.is_finite() {
        json.raw(text::of_float(number).as_bytes())
    } else {
        json.float(number)
    }
}

fn date(json: &mut JsonWriter, millis: i64) -> &mut JsonWriter {
    match date_digits(millis) {
        Some(digits) => json.plain_string(&digits),
        None => json.string(&date_text(millis)),
    }
}

fn blob<'j>(json: &'j mut JsonWriter, bytes: &[u8]) -> &'j mut JsonWriter {
    json.string(&base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_laid_out_the_same_and_read_back() {
        let mut state = 1_u64;
        for round in 0..20_000_i32 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // One half have a usual magnitude, the others are random bits.
            let number = if round % 2 == 0 {
                (state >> 40) as f64 / f64::from(1 + round % 1000)
            } else {
                f64::from_bits(state)
            };
            if !number.is_finite() {
                continue;
            }
            let mut json = JsonWriter::default();
            double(&mut json, number);
            assert_eq!(json.finish(), text::of_double(number).as_bytes());
            let single = number as f32;
            if single.is_finite() {
                let mut json = JsonWriter::default();
                float(&mut json, single);
                // If a number has two shortest texts, the two ways may choose different ones.
                let written = String::from_utf8(json.finish()).expect("digits");
                assert_eq!(written.parse::<f32>(), Ok(single));
                let of_java = text::of_float(single);
                assert_eq!(
                    (written.len(), written.contains('E')),
                    (of_java.len(), of_java.contains('E'))
                );
            }
        }
    }
}
