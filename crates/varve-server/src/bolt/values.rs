//! Values of queries as PackStream.

use varve_bolt::packstream::Value as Packed;
use varve_bolt::structures::{self, Identity};
use varve_bolt::{Map, Version};
use varve_graph::schema::Schema;
use varve_model::{Properties, VertexId};
use varve_query::Value;
use varve_query::value::VertexHandle;

/// Renders the values of one graph for one connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renderer<'s> {
    pub(super) schema: &'s Schema,
    pub(super) version: Version,
}

/// The number of a vertex for clients that know no other ids, and that take two vertices of one
/// number for the same. For texts and UUIDs it is a hash (FNV-1a), which is the same at all times.
fn number_of(id: &VertexId) -> i64 {
    let hash = |bytes: &[u8]| {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
        (hash >> 1) as i64
    };
    match id {
        VertexId::Number(number) => *number,
        VertexId::Text(text) => hash(text.as_bytes()),
        VertexId::Uuid(uuid) => hash(&uuid.to_be_bytes()),
    }
}

impl Renderer<'_> {
    /// The value as PackStream. What it has no form for is sent as text.
    pub(super) fn value(self, value: &Value) -> Packed {
        match value {
            Value::Null => Packed::Null,
            Value::Bool(truth) => Packed::Bool(*truth),
            Value::Float(number) => Packed::Float(f64::from(*number)),
            Value::Double(number) => Packed::Float(*number),
            Value::Text(text) => Packed::String(text.to_string()),
            Value::Bytes(bytes) => Packed::Bytes(bytes.to_vec()),
            Value::DateTime(instant) => {
                let (seconds, nanoseconds) = instant.seconds();
                let offset = i64::from(instant.offset());
                structures::date_time(self.version, seconds, nanoseconds.into(), offset)
            }
            Value::List(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Set(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Vertex(vertex) => self.vertex(vertex),
            other => match other.as_long() {
                Some(number) => Packed::Int(number),
                None => Packed::String(other.shown().to_string()),
            },
        }
    }

    fn vertex(self, vertex: &VertexHandle) -> Packed {
        let label = vertex.label();
        let label = label.map_or("", |label| self.schema.vertex_label_name(label));
        let content = vertex.content().flatten();
        let properties = content.map(|content| self.properties(&content.properties));
        let identity = Identity {
            id: number_of(vertex.id()),
            element_id: vertex.id().to_string(),
        };
        let labels = vec![label.to_owned()];
        structures::node(
            self.version,
            identity,
            labels,
            properties.unwrap_or_default(),
        )
    }

    /// The properties; a key with several values has a list of them.
    fn properties(self, properties: &Properties) -> Map {
        let keys = properties.iter().map(|(key, _)| key);
        let named = keys.filter_map(|key| {
            let key = self.schema.property_key(key)?;
            let values = properties.values(key.id);
            let values =
                values.map(|one| self.value(&Value::of_property(one.value, key.data_type)));
            let mut values: Vec<_> = values.collect();
            let value = match values.len() {
                1 => values.remove(0),
                _ => Packed::List(values),
            };
            Some((key.name.to_string(), value))
        });
        named.collect()
    }
}
