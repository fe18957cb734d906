//! Writes GraphSON directly into the output buffer.

use super::elements::NANOSECONDS;
use super::read::takes_list;
use super::temporal;
use crate::json::write_string;
use crate::number::uuid_text;
use crate::value::{
    Bytecode, Edge, Instruction, Metrics, Path, Property, Text, Tree, Value, Vertex,
    VertexProperty, is_text_predicate,
};

/// Appends a value.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::String(text) => write_string(text, out),
        Value::Byte(number) => whole("gx:Byte", i64::from(*number), out),
        Value::Short(number) => whole("gx:Int16", i64::from(*number), out),
        Value::Int(number) => whole("g:Int32", i64::from(*number), out),
        Value::Long(number) => whole("g:Int64", *number, out),
        Value::Date(milliseconds) => whole("g:Date", *milliseconds, out),
        Value::Timestamp(milliseconds) => whole("g:Timestamp", *milliseconds, out),
        Value::BigInt(number) => raw("gx:BigInteger", &number.to_string(), out),
        Value::BigDecimal(number) => raw("gx:BigDecimal", &number.to_plain_string(), out),
        Value::Float(number) if number.is_finite() => raw("g:Float", &format!("{number:?}"), out),
        Value::Float(number) => float("g:Float", f64::from(*number), out),
        Value::Double(number) => float("g:Double", *number, out),
        Value::Char(one) => text("gx:Char", one.encode_utf8(&mut [0; 4]), out),
        Value::Uuid(uuid) => text("g:UUID", &uuid_text(*uuid), out),
        Value::Binary(bytes) => text("gx:ByteBuffer", &temporal::bytes_text(bytes), out),
        Value::DateTime(instant) => {
            text("gx:OffsetDateTime", &instant.java_text(), out);
        }
        Value::Duration(length) => text("gx:Duration", &temporal::duration_text(*length), out),
        Value::Temporal(other) => {
            let (kind, written) = temporal::text(other);
            text(kind, &written, out);
        }
        Value::Address(address) => text("gx:InetAddress", &address.to_string(), out),
        Value::Class(name) => text("g:Class", name, out),
        Value::Token { class, name } => {
            open("g:", class.name(), out);
            write_string(name, out);
            out.push(b'}');
        }
        Value::List(members) => typed("g:List", out, |out| list(members, out)),
        Value::Set(members) => typed("g:Set", out, |out| list(members, out)),
        Value::Map(entries) => typed("g:Map", out, |out| map(entries, out)),
        Value::BulkSet(members) => typed("g:BulkSet", out, |out| {
            array(members, out, |(member, bulk), out| {
                write(member, out);
                out.push(b',');
                whole("g:Int64", *bulk, out);
            });
        }),
        Value::Traverser { bulk, value } => typed("g:Traverser", out, |out| {
            out.extend_from_slice(b"{\"bulk\":");
            whole("g:Int64", *bulk, out);
            out.extend_from_slice(b",\"value\":");
            write(value, out);
            out.push(b'}');
        }),
        _ => write_structure(value, out),
    }
}

/// Appends an element, or a value of a type that occurs only in requests.
fn write_structure(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Vertex(vertex) => typed("g:Vertex", out, |out| write_vertex(vertex, out)),
        Value::Edge(edge) => typed("g:Edge", out, |out| write_edge(edge, out)),
        Value::VertexProperty(property) => typed("g:VertexProperty", out, |out| {
            write_vertex_property(property, out);
        }),
        Value::Property(property) => write_property(property, out),
        Value::Path(path) => typed("g:Path", out, |out| write_path(path, out)),
        Value::Tree(tree) => typed("g:Tree", out, |out| write_tree(tree, out)),
        Value::Graph(graph) => typed("tinker:graph", out, |out| {
            out.extend_from_slice(b"{\"vertices\":[");
            array_body(&graph.vertices, out, |vertex, out| {
                typed("g:Vertex", out, |out| write_vertex(vertex, out));
            });
            out.extend_from_slice(b"],\"edges\":[");
            array_body(&graph.edges, out, |edge, out| {
                typed("g:Edge", out, |out| write_edge(edge, out));
            });
            out.extend_from_slice(b"]}");
        }),
        Value::Predicate { name, operands } => write_predicate(name, operands, out),
        Value::Bytecode(bytecode) => typed("g:Bytecode", out, |out| write_bytecode(bytecode, out)),
        Value::Binding { key, value } => typed("g:Binding", out, |out| {
            out.extend_from_slice(b"{\"key\":");
            write_string(key, out);
            out.extend_from_slice(b",\"value\":");
            write(value, out);
            out.push(b'}');
        }),
        Value::Lambda {
            language,
            script,
            arguments,
        } => typed("g:Lambda", out, |out| {
            out.extend_from_slice(b"{\"script\":");
            write_string(script, out);
            out.extend_from_slice(b",\"language\":");
            write_string(language, out);
            out.extend_from_slice(b",\"arguments\":");
            number(i64::from(*arguments), out);
            out.push(b'}');
        }),
        Value::Strategy {
            class,
            configuration,
        } => write_strategy(class, configuration, out),
        Value::Metrics(metrics) => write_metrics(metrics, out),
        Value::TraversalMetrics {
            nanoseconds,
            metrics,
        } => typed("g:TraversalMetrics", out, |out| {
            typed("g:Map", out, |out| {
                out.extend_from_slice(b"[\"dur\",");
                milliseconds(*nanoseconds, out);
                out.extend_from_slice(b",\"metrics\",");
                all_metrics(metrics, out);
                out.push(b']');
            });
        }),
        // `write` handles all other values.
        _ => out.extend_from_slice(b"null"),
    }
}

/// Appends `{"@type":"prefixkind","@value":`.
fn open(prefix: &str, kind: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"@type\":\"");
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"@value\":");
}

fn typed(kind: &str, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    open("", kind, out);
    content(out);
    out.push(b'}');
}

fn number(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn whole(kind: &str, value: i64, out: &mut Vec<u8>) {
    typed(kind, out, |out| number(value, out));
}

fn raw(kind: &str, written: &str, out: &mut Vec<u8>) {
    typed(kind, out, |out| out.extend_from_slice(written.as_bytes()));
}

fn text(kind: &str, written: &str, out: &mut Vec<u8>) {
    typed(kind, out, |out| write_string(written, out));
}

fn float(kind: &str, value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        return raw(kind, &format!("{value:?}"), out);
    }
    let name = match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    text(kind, name, out);
}

fn array_body<T>(members: &[T], out: &mut Vec<u8>, mut one: impl FnMut(&T, &mut Vec<u8>)) {
    for (place, member) in members.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        one(member, out);
    }
}

fn array<T>(members: &[T], out: &mut Vec<u8>, one: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    array_body(members, out, one);
    out.push(b']');
}

fn list(members: &[Value], out: &mut Vec<u8>) {
    array(members, out, write);
}

fn map(entries: &[(Value, Value)], out: &mut Vec<u8>) {
    array(entries, out, |(key, value), out| {
        write(key, out);
        out.push(b',');
        write(value, out);
    });
}

/// Appends the member `properties`, unless it would be empty.
fn properties<T>(members: &[T], out: &mut Vec<u8>, one: impl FnMut(&T, &mut Vec<u8>)) {
    if !members.is_empty() {
        out.extend_from_slice(b",\"properties\":{");
        array_body(members, out, one);
        out.push(b'}');
    }
}

fn write_vertex(vertex: &Vertex, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    write(&vertex.id, out);
    out.extend_from_slice(b",\"label\":");
    write_string(&vertex.label, out);
    // Properties of one key are adjacent and share one array.
    let groups: Vec<&[VertexProperty]> = vertex
        .properties
        .chunk_by(|one, next| one.label == next.label)
        .collect();
    properties(&groups, out, |group, out| {
        write_string(&group[0].label, out);
        out.push(b':');
        array(group, out, |property, out| {
            typed("g:VertexProperty", out, |out| {
                write_vertex_property(property, out)
            });
        });
    });
    out.push(b'}');
}

fn write_vertex_property(property: &VertexProperty, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    write(&property.id, out);
    out.extend_from_slice(b",\"value\":");
    write(&property.value, out);
    out.extend_from_slice(b",\"label\":");
    write_string(&property.label, out);
    properties(&property.properties, out, |meta, out| {
        write_string(&meta.key, out);
        out.push(b':');
        write(&meta.value, out);
    });
    out.push(b'}');
}

fn write_edge(edge: &Edge, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    write(&edge.id, out);
    let label = |name: &[u8], label: &Text, out: &mut Vec<u8>| {
        out.extend_from_slice(name);
        write_string(label, out);
    };
    label(b",\"label\":", &edge.label, out);
    label(b",\"inVLabel\":", &edge.in_label, out);
    label(b",\"outVLabel\":", &edge.out_label, out);
    out.extend_from_slice(b",\"inV\":");
    write(&edge.in_id, out);
    out.extend_from_slice(b",\"outV\":");
    write(&edge.out_id, out);
    properties(&edge.properties, out, |property, out| {
        write_string(&property.key, out);
        out.push(b':');
        write_property(property, out);
    });
    out.push(b'}');
}

fn write_property(property: &Property, out: &mut Vec<u8>) {
    typed("g:Property", out, |out| {
        out.extend_from_slice(b"{\"key\":");
        write_string(&property.key, out);
        out.extend_from_slice(b",\"value\":");
        write(&property.value, out);
        out.push(b'}');
    });
}

fn write_path(path: &Path, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"labels\":");
    typed("g:List", out, |out| {
        array(&path.labels, out, |labels, out| {
            typed("g:Set", out, |out| {
                array(labels, out, |label, out| write_string(label, out))
            });
        });
    });
    out.extend_from_slice(b",\"objects\":");
    typed("g:List", out, |out| list(&path.objects, out));
    out.push(b'}');
}

fn write_tree(tree: &Tree, out: &mut Vec<u8>) {
    array(&tree.branches, out, |(key, branch), out| {
        out.extend_from_slice(b"{\"key\":");
        write(key, out);
        out.extend_from_slice(b",\"value\":");
        typed("g:Tree", out, |out| write_tree(branch, out));
        out.push(b'}');
    });
}

fn write_strategy(class: &str, configuration: &[(Text, Value)], out: &mut Vec<u8>) {
    let name = class.rsplit('.').next().unwrap_or(class);
    // The name comes from a request, so it becomes part of the type only if it is alphanumeric.
    let plain = name.ends_with("Strategy") && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    open("g:", if plain { name } else { "TraversalStrategy" }, out);
    out.extend_from_slice(b"{\"fqcn\":");
    write_string(class, out);
    out.extend_from_slice(b",\"conf\":");
    if configuration.iter().any(|(key, _)| key == "@type") {
        // A plain object with the member `@type` would be read as a typed value.
        let entry = |(key, value): &(Text, Value)| (Value::String(key.clone()), value.clone());
        write(&Value::Map(configuration.iter().map(entry).collect()), out);
        out.extend_from_slice(b"}}");
        return;
    }
    out.push(b'{');
    array_body(configuration, out, |(key, value), out| {
        write_string(key, out);
        out.push(b':');
        write(value, out);
    });
    out.extend_from_slice(b"}}}");
}

fn write_predicate(name: &str, operands: &[Value], out: &mut Vec<u8>) {
    let kind = if is_text_predicate(name) {
        "g:TextP"
    } else {
        "g:P"
    };
    typed(kind, out, |out| {
        out.extend_from_slice(b"{\"predicate\":");
        write_string(name, out);
        out.extend_from_slice(b",\"value\":");
        match operands {
            [one] if !takes_list(name) => write(one, out),
            several => typed("g:List", out, |out| list(several, out)),
        }
        out.push(b'}');
    });
}

fn write_bytecode(bytecode: &Bytecode, out: &mut Vec<u8>) {
    let instruction = |instruction: &Instruction, out: &mut Vec<u8>| {
        out.push(b'[');
        write_string(&instruction.name, out);
        for argument in &instruction.arguments {
            out.push(b',');
            write(argument, out);
        }
        out.push(b']');
    };
    out.push(b'{');
    if !bytecode.source.is_empty() {
        out.extend_from_slice(b"\"source\":");
        array(&bytecode.source, out, instruction);
        out.extend_from_slice(if bytecode.steps.is_empty() { b"" } else { b"," });
    }
    if !bytecode.steps.is_empty() {
        out.extend_from_slice(b"\"step\":");
        array(&bytecode.steps, out, instruction);
    }
    out.push(b'}');
}

#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds of a query need no 64 bits"
)]
fn milliseconds(nanoseconds: i64, out: &mut Vec<u8>) {
    float("g:Double", nanoseconds as f64 / NANOSECONDS, out);
}

fn all_metrics(metrics: &[Metrics], out: &mut Vec<u8>) {
    typed("g:List", out, |out| array(metrics, out, write_metrics));
}

fn write_metrics(metrics: &Metrics, out: &mut Vec<u8>) {
    typed("g:Metrics", out, |out| {
        typed("g:Map", out, |out| {
            out.extend_from_slice(b"[\"dur\",");
            milliseconds(metrics.nanoseconds, out);
            out.extend_from_slice(b",\"counts\",");
            typed("g:Map", out, |out| {
                array(&metrics.counts, out, |(name, count), out| {
                    write_string(name, out);
                    out.push(b',');
                    whole("g:Int64", *count, out);
                });
            });
            out.extend_from_slice(b",\"name\",");
            write_string(&metrics.name, out);
            out.extend_from_slice(b",\"annotations\",");
            typed("g:Map", out, |out| {
                array(&metrics.annotations, out, |(name, value), out| {
                    write_string(name, out);
                    out.push(b',');
                    write(value, out);
                });
            });
            out.extend_from_slice(b",\"id\",");
            write_string(&metrics.id, out);
            if !metrics.nested.is_empty() {
                out.extend_from_slice(b",\"metrics\",");
                all_metrics(&metrics.nested, out);
            }
            out.push(b']');
        });
    });
}
