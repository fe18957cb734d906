//! Results in the form of HugeGraph's REST interface: plain JSON, with the properties of elements
//! flat.

use varve_model::value::date_text;

use crate::error::{Result, WireError};
use crate::json::write_string;
use crate::number::uuid_text;
use crate::value::{Edge, Metrics, Path, Property, Tree, Value, Vertex, VertexProperty};

/// Appends a value. Dates are written in UTC.
///
/// # Errors
/// If a map has a null key, which JSON cannot represent, or if a value has a type that occurs only
/// in requests: predicate, bytecode, binding, lambda or strategy.
pub fn write(value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::String(text) | Value::Class(text) => write_string(text, out),
        Value::Byte(number) => whole(i64::from(*number), out),
        Value::Short(number) => whole(i64::from(*number), out),
        Value::Int(number) => whole(i64::from(*number), out),
        Value::Long(number) => whole(*number, out),
        Value::BigInt(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::BigDecimal(number) => out.extend_from_slice(number.to_plain_string().as_bytes()),
        Value::Float(number) if number.is_finite() => {
            out.extend_from_slice(format!("{number:?}").as_bytes());
        }
        Value::Double(number) if number.is_finite() => {
            out.extend_from_slice(format!("{number:?}").as_bytes());
        }
        Value::List(members) | Value::Set(members) => array(members, out, write)?,
        Value::BulkSet(members) => {
            let each = members.iter().flat_map(|(member, bulk)| {
                let times = usize::try_from(*bulk).unwrap_or(0);
                std::iter::repeat_n(member, times)
            });
            array(each, out, write)?;
        }
        Value::Map(entries) => object(entries, out)?,
        Value::Traverser { value, .. } => write(value, out)?,
        Value::Vertex(vertex) => write_vertex(vertex, out)?,
        Value::Edge(edge) => write_edge(edge, out)?,
        Value::VertexProperty(property) => write_vertex_property(property, out)?,
        Value::Property(property) => {
            out.extend_from_slice(b"{\"key\":");
            write_string(&property.key, out);
            out.extend_from_slice(b",\"value\":");
            write(&property.value, out)?;
            out.push(b'}');
        }
        Value::Path(path) => write_path(path, out)?,
        Value::Tree(tree) => write_tree(tree, out)?,
        Value::Graph(graph) => {
            out.extend_from_slice(b"{\"vertices\":");
            array(&graph.vertices, out, write_vertex)?;
            out.extend_from_slice(b",\"edges\":");
            array(&graph.edges, out, write_edge)?;
            out.push(b'}');
        }
        Value::Metrics(metrics) => write_metrics(metrics, out)?,
        Value::TraversalMetrics {
            nanoseconds,
            metrics,
        } => {
            out.extend_from_slice(b"{\"dur\":");
            milliseconds(*nanoseconds, out);
            out.extend_from_slice(b",\"metrics\":");
            array(metrics, out, write_metrics)?;
            out.push(b'}');
        }
        other => write_string(&text(other)?, out),
    }
    Ok(())
}

/// The text of a value that is written as a JSON string, and of any float; an error for any other
/// value. The text may also be a member's name.
fn text(value: &Value) -> Result<String> {
    Ok(match value {
        Value::String(text) | Value::Class(text) => text.to_string(),
        Value::Token { name, .. } => name.to_string(),
        Value::Char(one) => one.to_string(),
        Value::Uuid(uuid) => uuid_text(*uuid),
        Value::Float(number) => java_float(f64::from(*number)),
        Value::Double(number) => java_float(*number),
        Value::Date(milliseconds) | Value::Timestamp(milliseconds) => date_text(*milliseconds),
        Value::DateTime(instant) => {
            let milliseconds = i64::from(instant.nanoseconds / 1_000_000);
            date_text(
                instant
                    .seconds
                    .saturating_mul(1_000)
                    .saturating_add(milliseconds),
            )
        }
        Value::Binary(_) | Value::Duration(_) | Value::Temporal(_) | Value::Address(_) => {
            crate::graphson::text_of(value).unwrap_or_default()
        }
        other => return Err(WireError::Unsupported(format!("{other:.40?}"))),
    })
}

fn java_float(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        value if value.is_infinite() => {
            if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        value => format!("{value:?}"),
    }
}

fn whole(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn separated<T>(
    members: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut one: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    for (place, member) in members.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        one(member, out)?;
    }
    Ok(())
}

fn array<T>(
    members: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    one: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.push(b'[');
    separated(members, out, one)?;
    out.push(b']');
    Ok(())
}

fn object(entries: &[(Value, Value)], out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    separated(entries, out, |(key, value), out| {
        write_key(key, out)?;
        out.push(b':');
        write(value, out)
    })?;
    out.push(b'}');
    Ok(())
}

/// Writes a key as a member's name. If the key has no text, the name is the key's JSON.
fn write_key(key: &Value, out: &mut Vec<u8>) -> Result<()> {
    match key {
        Value::Null => {
            return Err(WireError::value(
                "Map",
                "Null key for a Map not allowed in JSON (use a converting NullKeySerializer?)",
            ));
        }
        // The name of an element is its id.
        Value::Vertex(vertex) => return write_key(&vertex.id, out),
        Value::Edge(edge) => return write_key(&edge.id, out),
        Value::VertexProperty(property) => return write_key(&property.id, out),
        _ => {}
    }
    match text(key) {
        Ok(text) => write_string(&text, out),
        Err(_) => {
            let mut json = Vec::new();
            write(key, &mut json)?;
            write_string(&String::from_utf8_lossy(&json), out);
        }
    }
    Ok(())
}

fn write_vertex(vertex: &Vertex, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"id\":");
    write(&vertex.id, out)?;
    out.extend_from_slice(b",\"label\":");
    write_string(&vertex.label, out);
    out.extend_from_slice(b",\"type\":\"vertex\",\"properties\":{");
    // Several values of one key become an array.
    let groups = vertex
        .properties
        .chunk_by(|one, next| one.label == next.label);
    separated(groups, out, |group: &[VertexProperty], out| {
        write_string(&group[0].label, out);
        out.push(b':');
        match group {
            [one] => write(&one.value, out),
            several => array(several, out, |property: &VertexProperty, out| {
                write(&property.value, out)
            }),
        }
    })?;
    out.extend_from_slice(b"}}");
    Ok(())
}

fn write_edge(edge: &Edge, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"id\":");
    write(&edge.id, out)?;
    out.extend_from_slice(b",\"label\":");
    write_string(&edge.label, out);
    out.extend_from_slice(b",\"type\":\"edge\",\"outV\":");
    write(&edge.out_id, out)?;
    out.extend_from_slice(b",\"outVLabel\":");
    write_string(&edge.out_label, out);
    out.extend_from_slice(b",\"inV\":");
    write(&edge.in_id, out)?;
    out.extend_from_slice(b",\"inVLabel\":");
    write_string(&edge.in_label, out);
    out.extend_from_slice(b",\"properties\":{");
    write_properties(&edge.properties, out)?;
    out.extend_from_slice(b"}}");
    Ok(())
}

fn write_properties(properties: &[Property], out: &mut Vec<u8>) -> Result<()> {
    separated(properties, out, |property, out| {
        write_string(&property.key, out);
        out.push(b':');
        write(&property.value, out)
    })
}

fn write_vertex_property(property: &VertexProperty, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"id\":");
    write(&property.id, out)?;
    out.extend_from_slice(b",\"value\":");
    write(&property.value, out)?;
    out.extend_from_slice(b",\"label\":");
    write_string(&property.label, out);
    if !property.properties.is_empty() {
        out.extend_from_slice(b",\"properties\":{");
        write_properties(&property.properties, out)?;
        out.push(b'}');
    }
    out.push(b'}');
    Ok(())
}

fn write_path(path: &Path, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"labels\":");
    array(&path.labels, out, |labels, out| {
        array(labels, out, |label, out| {
            write_string(label, out);
            Ok(())
        })
    })?;
    out.extend_from_slice(b",\"objects\":");
    array(&path.objects, out, write)?;
    out.push(b'}');
    Ok(())
}

fn write_tree(tree: &Tree, out: &mut Vec<u8>) -> Result<()> {
    array(&tree.branches, out, |(key, branch), out| {
        out.extend_from_slice(b"{\"key\":");
        write(key, out)?;
        out.extend_from_slice(b",\"value\":");
        write_tree(branch, out)?;
        out.push(b'}');
        Ok(())
    })
}

#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds of a query need no 64 bits"
)]
fn milliseconds(nanoseconds: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:?}", nanoseconds as f64 / 1e6).as_bytes());
}

fn write_metrics(metrics: &Metrics, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"dur\":");
    milliseconds(metrics.nanoseconds, out);
    out.extend_from_slice(b",\"counts\":{");
    separated(&metrics.counts, out, |(name, count), out| {
        write_string(name, out);
        out.push(b':');
        whole(*count, out);
        Ok(())
    })?;
    out.extend_from_slice(b"},\"name\":");
    write_string(&metrics.name, out);
    out.extend_from_slice(b",\"annotations\":{");
    separated(&metrics.annotations, out, |(name, value), out| {
        write_string(name, out);
        out.push(b':');
        write(value, out)
    })?;
    out.extend_from_slice(b"},\"id\":");
    write_string(&metrics.id, out);
    if !metrics.nested.is_empty() {
        out.extend_from_slice(b",\"metrics\":");
        array(&metrics.nested, out, write_metrics)?;
    }
    out.push(b'}');
    Ok(())
}
