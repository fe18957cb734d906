//! Writes GraphBinary.

use std::net::IpAddr;

use super::{NULL, PRESENT, code, temporal};
use crate::value::{
    Edge, Graph, Instruction, Metrics, Path, Property, Tree, Value, Vertex, VertexProperty,
    is_text_predicate,
};

/// Appends a fully qualified value.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match type_code(value) {
        None => out.extend_from_slice(&[code::UNSPECIFIED, NULL]),
        Some(code) => {
            out.extend_from_slice(&[code, PRESENT]);
            bare(value, out);
        }
    }
}

/// The type code of a value; `None` for null.
fn type_code(value: &Value) -> Option<u8> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => code::BOOLEAN,
        Value::Byte(_) => code::BYTE,
        Value::Short(_) => code::SHORT,
        Value::Int(_) => code::INT,
        Value::Long(_) => code::LONG,
        Value::BigInt(_) => code::BIG_INTEGER,
        Value::Float(_) => code::FLOAT,
        Value::Double(_) => code::DOUBLE,
        Value::BigDecimal(_) => code::BIG_DECIMAL,
        Value::Char(_) => code::CHAR,
        Value::String(_) => code::STRING,
        Value::Uuid(_) => code::UUID,
        Value::Binary(_) => code::BYTE_BUFFER,
        Value::Date(_) => code::DATE,
        Value::Timestamp(_) => code::TIMESTAMP,
        Value::DateTime(_) => code::OFFSET_DATE_TIME,
        Value::Duration(_) => code::DURATION,
        Value::Temporal(other) => temporal::code_of(other),
        Value::Address(_) => code::ADDRESS,
        Value::Class(_) => code::CLASS,
        Value::List(_) => code::LIST,
        Value::Set(_) => code::SET,
        Value::Map(_) => code::MAP,
        Value::BulkSet(_) => code::BULK_SET,
        Value::Vertex(_) => code::VERTEX,
        Value::Edge(_) => code::EDGE,
        Value::VertexProperty(_) => code::VERTEX_PROPERTY,
        Value::Property(_) => code::PROPERTY,
        Value::Path(_) => code::PATH,
        Value::Tree(_) => code::TREE,
        Value::Graph(_) => code::GRAPH,
        Value::Token { class, .. } => class.code(),
        Value::Predicate { name, .. } if is_text_predicate(name) => code::TEXT_P,
        Value::Predicate { .. } => code::P,
        Value::Bytecode(_) => code::BYTECODE,
        Value::Binding { .. } => code::BINDING,
        Value::Lambda { .. } => code::LAMBDA,
        Value::Strategy { .. } => code::STRATEGY,
        Value::Traverser { .. } => code::TRAVERSER,
        Value::Metrics(_) => code::METRICS,
        Value::TraversalMetrics { .. } => code::TRAVERSAL_METRICS,
    })
}

fn bare(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Bool(value) => out.push(u8::from(*value)),
        Value::Byte(value) => out.push(value.cast_unsigned()),
        Value::Short(value) => out.extend_from_slice(&value.to_be_bytes()),
        Value::Int(value) => out.extend_from_slice(&value.to_be_bytes()),
        Value::Long(value) | Value::Date(value) | Value::Timestamp(value) => put_i64(*value, out),
        Value::Float(value) => out.extend_from_slice(&value.to_be_bytes()),
        Value::Double(value) => out.extend_from_slice(&value.to_be_bytes()),
        Value::BigInt(value) => put_bytes(&value.to_signed_bytes_be(), out),
        Value::BigDecimal(value) => {
            let (digits, scale) = value.as_bigint_and_exponent();
            put_i32(i32::try_from(scale).unwrap_or(i32::MAX), out);
            put_bytes(&digits.to_signed_bytes_be(), out);
        }
        Value::Char(value) => {
            out.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Value::String(text) | Value::Class(text) => put_string(text, out),
        Value::Uuid(value) => out.extend_from_slice(&value.to_be_bytes()),
        Value::Binary(bytes) => put_bytes(bytes, out),
        Value::DateTime(instant) => temporal::put_date_time(*instant, out),
        Value::Duration(length) => {
            put_i64(length.seconds, out);
            out.extend_from_slice(&length.nanoseconds.to_be_bytes());
        }
        Value::Temporal(other) => temporal::put(other, out),
        Value::Address(IpAddr::V4(address)) => put_bytes(&address.octets(), out),
        Value::Address(IpAddr::V6(address)) => put_bytes(&address.octets(), out),
        Value::List(members) | Value::Set(members) => put_list(members, out),
        Value::Map(entries) => put_map(entries.iter().map(|(key, value)| (key, value)), out),
        Value::BulkSet(members) => {
            put_length(members.len(), out);
            for (member, bulk) in members {
                write(member, out);
                put_i64(*bulk, out);
            }
        }
        Value::Traverser { bulk, value } => {
            put_i64(*bulk, out);
            write(value, out);
        }
        Value::Token { name, .. } => write_string(name, out),
        _ => structure(value, out),
    }
}

/// Appends an element, or a value of a type that occurs only in requests.
fn structure(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Vertex(vertex) => put_vertex(vertex, out),
        Value::Edge(edge) => put_edge(edge, out),
        Value::VertexProperty(property) => {
            put_vertex_property_start(property, out);
            put_properties(&property.properties, out);
        }
        Value::Property(property) => put_property(property, out),
        Value::Path(path) => put_path(path, out),
        Value::Tree(tree) => put_tree(tree, out),
        Value::Graph(graph) => put_graph(graph, out),
        Value::Predicate { name, operands } => {
            put_string(name, out);
            put_list(operands, out);
        }
        Value::Bytecode(bytecode) => {
            put_instructions(&bytecode.steps, out);
            put_instructions(&bytecode.source, out);
        }
        Value::Binding { key, value } => {
            put_string(key, out);
            write(value, out);
        }
        Value::Lambda {
            language,
            script,
            arguments,
        } => {
            put_string(language, out);
            put_string(script, out);
            put_i32(*arguments, out);
        }
        Value::Strategy {
            class,
            configuration,
        } => {
            put_string(class, out);
            put_length(configuration.len(), out);
            for (key, value) in configuration {
                write_string(key, out);
                write(value, out);
            }
        }
        Value::Metrics(metrics) => put_metrics(metrics, out),
        Value::TraversalMetrics {
            nanoseconds,
            metrics,
        } => {
            put_i64(*nanoseconds, out);
            put_all_metrics(metrics, out);
        }
        // `bare` handles all other values.
        _ => {}
    }
}

pub(crate) fn put_i32(value: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Begins a list of `length` members.
pub(crate) fn put_list_start(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&[code::LIST, PRESENT]);
    put_length(length, out);
}

fn put_i64(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a length. It fits into 32 bits: a message has at most some megabytes.
fn put_length(length: usize, out: &mut Vec<u8>) {
    put_i32(i32::try_from(length).unwrap_or(i32::MAX), out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Appends a string without type code and flag.
pub(crate) fn put_string(text: &str, out: &mut Vec<u8>) {
    put_bytes(text.as_bytes(), out);
}

/// Appends a fully qualified string.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&[code::STRING, PRESENT]);
    put_string(text, out);
}

fn put_null(out: &mut Vec<u8>) {
    out.extend_from_slice(&[code::UNSPECIFIED, NULL]);
}

fn put_list(members: &[Value], out: &mut Vec<u8>) {
    put_length(members.len(), out);
    for member in members {
        write(member, out);
    }
}

/// Appends a map without type code and flag.
pub(crate) fn put_map<'v>(
    entries: impl ExactSizeIterator<Item = (&'v Value, &'v Value)>,
    out: &mut Vec<u8>,
) {
    put_length(entries.len(), out);
    for (key, value) in entries {
        write(key, out);
        write(value, out);
    }
}

fn put_instructions(instructions: &[Instruction], out: &mut Vec<u8>) {
    put_length(instructions.len(), out);
    for instruction in instructions {
        put_string(&instruction.name, out);
        put_list(&instruction.arguments, out);
    }
}

fn put_vertex(vertex: &Vertex, out: &mut Vec<u8>) {
    write(&vertex.id, out);
    put_string(&vertex.label, out);
    if vertex.properties.is_empty() {
        return put_null(out);
    }
    out.extend_from_slice(&[code::LIST, PRESENT]);
    put_length(vertex.properties.len(), out);
    for property in &vertex.properties {
        out.extend_from_slice(&[code::VERTEX_PROPERTY, PRESENT]);
        put_vertex_property_start(property, out);
        put_properties(&property.properties, out);
    }
}

/// Appends a vertex property without its meta-properties.
fn put_vertex_property_start(property: &VertexProperty, out: &mut Vec<u8>) {
    write(&property.id, out);
    put_string(&property.label, out);
    write(&property.value, out);
    put_null(out);
}

/// Appends a list of properties; null if there are none.
fn put_properties(properties: &[Property], out: &mut Vec<u8>) {
    if properties.is_empty() {
        return put_null(out);
    }
    out.extend_from_slice(&[code::LIST, PRESENT]);
    put_bare_properties(properties, out);
}

fn put_bare_properties(properties: &[Property], out: &mut Vec<u8>) {
    put_length(properties.len(), out);
    for property in properties {
        out.extend_from_slice(&[code::PROPERTY, PRESENT]);
        put_property(property, out);
    }
}

fn put_property(property: &Property, out: &mut Vec<u8>) {
    put_string(&property.key, out);
    write(&property.value, out);
    put_null(out);
}

fn put_edge(edge: &Edge, out: &mut Vec<u8>) {
    write(&edge.id, out);
    put_string(&edge.label, out);
    write(&edge.in_id, out);
    put_string(&edge.in_label, out);
    write(&edge.out_id, out);
    put_string(&edge.out_label, out);
    put_null(out);
    put_properties(&edge.properties, out);
}

fn put_path(path: &Path, out: &mut Vec<u8>) {
    out.extend_from_slice(&[code::LIST, PRESENT]);
    put_length(path.labels.len(), out);
    for labels in &path.labels {
        out.extend_from_slice(&[code::SET, PRESENT]);
        put_length(labels.len(), out);
        for label in labels {
            write_string(label, out);
        }
    }
    out.extend_from_slice(&[code::LIST, PRESENT]);
    put_list(&path.objects, out);
}

fn put_tree(tree: &Tree, out: &mut Vec<u8>) {
    put_length(tree.branches.len(), out);
    for (key, branch) in &tree.branches {
        write(key, out);
        put_tree(branch, out);
    }
}

fn put_graph(graph: &Graph, out: &mut Vec<u8>) {
    put_length(graph.vertices.len(), out);
    for vertex in &graph.vertices {
        write(&vertex.id, out);
        put_string(&vertex.label, out);
        put_length(vertex.properties.len(), out);
        for property in &vertex.properties {
            put_vertex_property_start(property, out);
            put_bare_properties(&property.properties, out);
        }
    }
    put_length(graph.edges.len(), out);
    for edge in &graph.edges {
        write(&edge.id, out);
        put_string(&edge.label, out);
        write(&edge.in_id, out);
        put_null(out);
        write(&edge.out_id, out);
        put_null(out);
        put_null(out);
        put_bare_properties(&edge.properties, out);
    }
}

fn put_all_metrics(metrics: &[Metrics], out: &mut Vec<u8>) {
    put_length(metrics.len(), out);
    for member in metrics {
        out.extend_from_slice(&[code::METRICS, PRESENT]);
        put_metrics(member, out);
    }
}

fn put_metrics(metrics: &Metrics, out: &mut Vec<u8>) {
    put_string(&metrics.id, out);
    put_string(&metrics.name, out);
    put_i64(metrics.nanoseconds, out);
    put_length(metrics.counts.len(), out);
    for (name, count) in &metrics.counts {
        write_string(name, out);
        write(&Value::Long(*count), out);
    }
    put_length(metrics.annotations.len(), out);
    for (name, value) in &metrics.annotations {
        write_string(name, out);
        write(value, out);
    }
    put_all_metrics(&metrics.nested, out);
}
