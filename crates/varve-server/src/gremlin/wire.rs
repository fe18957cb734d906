//! Converts values of queries to the values of TinkerPop's formats, and back.

use std::collections::HashMap;
use std::sync::Arc;

use compact_str::CompactString;
use varve_graph::schema::Schema;
use varve_graphson as wire;
use varve_gremlin::{bind, bytecode};
use varve_model::{Properties, VertexId};
use varve_query::Value;
use varve_query::value::{
    DateTime, EdgeHandle, Path, StepMetrics, Subgraph, Token, Tree, VertexHandle,
};

/// The metrics of steps; a step's id is its position. `total`: nanoseconds of all steps of the
/// query.
pub(super) fn metrics(steps: &[StepMetrics], total: u64, within: &str) -> Vec<wire::Metrics> {
    let each = steps.iter().enumerate().map(|(at, step)| {
        let id = match within {
            "" => at.to_string(),
            within => format!("{within}.{at}"),
        };
        #[allow(clippy::cast_precision_loss, reason = "a share in percent")]
        let percent = step.nanoseconds as f64 * 100.0 / (total.max(1)) as f64;
        wire::Metrics {
            nested: metrics(&step.nested, total, &id),
            id: id.into(),
            name: CompactString::new(&step.name),
            nanoseconds: whole(step.nanoseconds),
            counts: vec![
                ("traverserCount".into(), whole(step.traversers)),
                ("elementCount".into(), whole(step.elements)),
            ],
            annotations: vec![("percentDur".into(), wire::Value::Double(percent))],
        }
    });
    each.collect()
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Renders values in their form on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renderer<'s> {
    /// Names labels and keys.
    pub(super) schema: &'s Schema,
    /// Whether elements come without their properties.
    pub(super) references: bool,
    /// Whether dates are sent only as milliseconds.
    pub(super) plain_dates: bool,
}

impl Renderer<'_> {
    /// The value in its form on the wire.
    pub(super) fn value(self, value: &Value) -> wire::Value {
        use wire::Value as To;
        match value {
            Value::Null => To::Null,
            Value::Bool(truth) => To::Bool(*truth),
            Value::Byte(number) => To::Byte(*number),
            Value::Short(number) => To::Short(*number),
            Value::Int(number) => To::Int(*number),
            Value::Long(number) => To::Long(*number),
            Value::BigInt(number) => To::BigInt(Box::new(number.as_ref().clone())),
            Value::Float(number) => To::Float(*number),
            Value::Double(number) => To::Double(*number),
            Value::BigDecimal(number) => To::BigDecimal(Box::new(number.as_ref().clone())),
            Value::Text(text) => To::String(text.clone()),
            Value::Bytes(bytes) => To::Binary(bytes.to_vec()),
            Value::Uuid(uuid) => To::Uuid(*uuid),
            Value::DateTime(instant) if self.plain_dates => To::Date(instant.millis()),
            Value::DateTime(instant) => To::DateTime(date_time(*instant)),
            Value::Duration(span) => To::Duration(wire::Duration {
                seconds: span.seconds,
                nanoseconds: span.nanos,
            }),
            Value::List(items) => To::List(self.all(items.iter())),
            Value::Set(items) => To::Set(self.all(items.iter())),
            Value::Map(map) => To::Map(map.iter().map(|entry| self.entry(entry)).collect()),
            Value::Entry(entry) => To::Map(vec![self.entry((&entry.0, &entry.1))]),
            Value::Vertex(vertex) => To::Vertex(Box::new(self.vertex(vertex))),
            Value::Edge(edge, _) => To::Edge(Box::new(self.edge(edge))),
            Value::VertexProperty(property) => To::VertexProperty(Box::new(wire::VertexProperty {
                id: property_id(&property.id()),
                label: property.name.clone(),
                value: self.value(&property.value),
                properties: self.properties(property.current_meta()),
            })),
            Value::Property(property) => To::Property(Box::new(wire::Property {
                key: property.name.clone(),
                value: self.value(&property.value),
            })),
            Value::Path(path) => To::Path(self.path(path)),
            Value::Tree(tree) => To::Tree(self.tree(tree)),
            Value::Graph(graph) => To::Graph(Box::new(self.graph(graph))),
            Value::Profile(profile) => To::TraversalMetrics {
                nanoseconds: whole(profile.nanoseconds()),
                metrics: metrics(&profile.steps, profile.nanoseconds(), ""),
            },
            Value::Token(token) => self::token(*token),
        }
    }

    fn all<'v>(self, values: impl Iterator<Item = &'v Value>) -> Vec<wire::Value> {
        values.map(|value| self.value(value)).collect()
    }

    fn entry(self, (key, value): (&Value, &Value)) -> (wire::Value, wire::Value) {
        (self.value(key), self.value(value))
    }

    fn path(self, path: &Path) -> wire::Path {
        wire::Path {
            labels: path.labels.clone(),
            objects: self.all(path.objects.iter()),
        }
    }

    fn tree(self, tree: &Tree) -> wire::Tree {
        let branches = tree.0.iter();
        wire::Tree {
            branches: branches
                .map(|(key, below)| (self.value(key), self.tree(below)))
                .collect(),
        }
    }

    fn graph(self, graph: &Subgraph) -> wire::Graph {
        let vertex = |value: &Value| match value {
            Value::Vertex(vertex) => Some(self.vertex(vertex)),
            _ => None,
        };
        let edge = |value: &Value| match value {
            Value::Edge(edge, _) => Some(self.edge(edge)),
            _ => None,
        };
        wire::Graph {
            vertices: graph.vertices.iter().filter_map(vertex).collect(),
            edges: graph.edges.iter().filter_map(edge).collect(),
        }
    }

    fn vertex(self, vertex: &VertexHandle) -> wire::Vertex {
        let label = vertex.label();
        let content = vertex.content().flatten();
        let content = content.filter(|_| !self.references);
        wire::Vertex {
            id: vertex_id(vertex.id()),
            label: label
                .map_or("", |label| self.schema.vertex_label_name(label))
                .into(),
            properties: content.map_or_else(Vec::new, |content| {
                self.vertex_properties(vertex.id(), &content.properties)
            }),
        }
    }

    /// The properties of a vertex: one for each of several values of a key.
    fn vertex_properties(self, id: &VertexId, of: &Properties) -> Vec<wire::VertexProperty> {
        let keys = of
            .iter()
            .filter_map(|(key, _)| self.schema.property_key(key));
        let each = keys.flat_map(|key| {
            of.values(key.id).map(|one| wire::VertexProperty {
                id: property_id(&match one.number {
                    0 => format!("{id}>{}", key.name),
                    number => format!("{id}>{}>{number}", key.name),
                }),
                label: CompactString::new(&key.name),
                value: self.value(&Value::of_property(one.value, key.data_type)),
                properties: one.meta.map_or_else(Vec::new, |meta| self.properties(meta)),
            })
        });
        each.collect()
    }

    fn edge(self, edge: &EdgeHandle) -> wire::Edge {
        let label = |label| CompactString::new(self.schema.vertex_label_name(label));
        wire::Edge {
            id: self.value(&edge.id_value()),
            label: edge.label_name.clone(),
            in_id: vertex_id(&edge.id.target),
            in_label: label(edge.target_label),
            out_id: vertex_id(&edge.id.source),
            out_label: label(edge.source_label),
            properties: self.properties(edge.properties()),
        }
    }

    /// Properties of an edge or of a vertex property; none if elements are sent without properties.
    fn properties(self, properties: &Properties) -> Vec<wire::Property> {
        if self.references {
            return Vec::new();
        }
        let each = properties.iter();
        each.filter_map(|(id, stored)| {
            let key = self.schema.property_key(id)?;
            let value = Value::of_property(stored, key.data_type);
            Some(wire::Property {
                key: CompactString::new(&key.name),
                value: self.value(&value),
            })
        })
        .collect()
    }
}

fn vertex_id(id: &VertexId) -> wire::Value {
    match id {
        VertexId::Number(number) => wire::Value::Long(*number),
        VertexId::Uuid(uuid) => wire::Value::Uuid(*uuid),
        VertexId::Text(text) => wire::Value::String(text.clone()),
    }
}

fn property_id(text: &str) -> wire::Value {
    wire::Value::String(CompactString::new(text))
}

fn date_time(instant: DateTime) -> wire::DateTime {
    let (seconds, nanoseconds) = instant.seconds();
    wire::DateTime {
        seconds,
        nanoseconds,
        offset: instant.offset(),
    }
}

fn token(token: Token) -> wire::Value {
    let class = match token {
        Token::Out | Token::In => wire::TokenClass::Direction,
        Token::OutV | Token::InV => wire::TokenClass::Merge,
        Token::Single | Token::List | Token::Set => wire::TokenClass::Cardinality,
        Token::Id | Token::Label | Token::Key | Token::Value => wire::TokenClass::T,
    };
    wire::Value::Token {
        class,
        name: CompactString::new(token.to_string()),
    }
}

/// Converts a value that a client sends into one of queries; the error says why it cannot.
pub(super) fn value_of(value: wire::Value) -> Result<Value, String> {
    let value = value.into_gremlin().map_err(|error| error.to_string())?;
    let argument = bytecode::argument(value).map_err(|error| error.to_string())?;
    bind::value(&argument, &bind::NoVariables).map_err(|error| error.to_string())
}

/// Names that a script reads as words of Gremlin, so a variable of that name would have no effect.
const RESERVED: &[&str] = &[
    "id", "key", "label", "value", "~id", "~key", "~label", "~value", "keys", "values", "asc",
    "desc", "shuffle", "sum", "sumLong", "minus", "mult", "div", "min", "max", "assign", "and",
    "or", "addAll", "global", "local", "first", "last", "all", "mixed",
];

/// Refuses names of variables that are words of Gremlin, as TinkerPop's server does.
pub(super) fn check_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    let reserved: Vec<&str> = names.filter(|name| RESERVED.contains(name)).collect();
    match reserved.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "The [eval] message supplies one or more invalid parameters key of [{}] - these are \
             reserved names.",
            reserved.join(", ")
        )),
    }
}

/// The values of variables.
pub(super) fn bindings(
    entries: Vec<(wire::Value, wire::Value)>,
) -> Result<HashMap<CompactString, Value>, String> {
    let names = entries.iter().filter_map(|(name, _)| match name {
        wire::Value::String(name) => Some(name.as_str()),
        _ => None,
    });
    check_names(names)?;
    let each = entries.into_iter();
    each.map(|(name, value)| match name {
        wire::Value::String(name) => {
            let value = value_of(value).map_err(|why| format!("The binding [{name}]: {why}"))?;
            Ok((name, value))
        }
        other => Err(format!(
            "The name of a binding must be text, but is {other:?}"
        )),
    })
    .collect()
}

/// An empty schema, for results without a graph.
pub(super) fn no_schema() -> Arc<Schema> {
    Arc::new(Schema::default())
}
