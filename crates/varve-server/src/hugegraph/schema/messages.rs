//! Bodies of schema requests, and schema elements as JSON, with their members in HugeGraph's order.
//!
//! `null` means the default of a member. Unknown members are refused, except those that clients
//! copy from answers.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use varve_graph::schema::{Schema, UserData};
use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexBase, IndexType, WriteType,
};
use varve_model::value::{Cardinality, DataType};
use varve_model::{Datum, EdgeLabel, IndexLabel, PropertyKey, PropertyKeyId, VertexLabel};

use crate::datum::{self, JsonDatum};
use crate::json::JsonWriter;

/// An enumeration whose values are upper-case names on the wire.
pub(super) trait WireEnum: Sized {
    /// The name of the type in messages.
    const WHAT: &'static str;
    /// Every name.
    fn names() -> Vec<&'static str>;
    /// The value of a name.
    fn from_wire(name: &str) -> Option<Self>;
}

macro_rules! wire_enum {
    ($($type:ident),+) => {
        $(impl WireEnum for $type {
            const WHAT: &'static str = stringify!($type);

            fn names() -> Vec<&'static str> {
                Self::ALL.iter().map(|each| each.name()).collect()
            }

            fn from_wire(name: &str) -> Option<Self> {
                Self::from_name(name)
            }
        })+
    };
}
wire_enum!(
    DataType,
    Cardinality,
    AggregateType,
    WriteType,
    EdgeLabelType
);

/// `DEFAULT` or a value: clients that do not choose send `DEFAULT`.
pub(super) struct OrDefault<T>(pub(super) Option<T>);

macro_rules! or_default {
    ($($type:ident),+) => {
        $(impl WireEnum for OrDefault<$type> {
            const WHAT: &'static str = stringify!($type);

            fn names() -> Vec<&'static str> {
                let named = $type::ALL.iter().map(|each| each.name());
                std::iter::once("DEFAULT").chain(named).collect()
            }

            fn from_wire(name: &str) -> Option<Self> {
                match name {
                    "DEFAULT" => Some(Self(None)),
                    _ => $type::from_name(name).map(|value| Self(Some(value))),
                }
            }
        })+
    };
}
or_default!(IdStrategy, Frequency);

impl WireEnum for IndexType {
    const WHAT: &'static str = "IndexType";

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|each| each.name()).collect()
    }

    /// Also reads the range types of HugeGraph's backups, which name the type of the values.
    fn from_wire(name: &str) -> Option<Self> {
        match name {
            "RANGE_INT" | "RANGE_FLOAT" | "RANGE_LONG" | "RANGE_DOUBLE" => Some(Self::Range),
            _ => Self::from_name(name),
        }
    }
}

/// A [`WireEnum`] that can be read.
pub(super) struct Wire<T>(pub(super) T);

impl<'de, T: WireEnum> Deserialize<'de> for Wire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        T::from_wire(&name).map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "Cannot deserialize value of type `{}` from String \"{name}\": not one of the values accepted for Enum class: [{}]",
                T::WHAT,
                T::names().join(", ")
            ))
        })
    }
}

/// Members of user data.
pub(super) struct Members(pub(super) UserData);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match JsonDatum::deserialize(deserializer)?.0 {
            Datum::Map(members) => Ok(Self(members)),
            _ => Err(D::Error::custom("The user data must be an object")),
        }
    }
}

/// Pairs of label names: `[{"person":"software"}]`.
pub(super) struct Links(pub(super) Vec<(String, String)>);

impl<'de> Deserialize<'de> for Links {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let objects = Vec::<Pairs>::deserialize(deserializer)?;
        Ok(Self(
            objects.into_iter().flat_map(|pairs| pairs.0).collect(),
        ))
    }
}

/// An object of texts, in written order.
struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor(PhantomData<Pairs>);

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of a source label and a target label")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = members.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

/// A property key to create or change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PropertyKeyBody {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) data_type: Option<Wire<DataType>>,
    pub(super) cardinality: Option<Wire<Cardinality>>,
    pub(super) aggregate_type: Option<Wire<AggregateType>>,
    pub(super) write_type: Option<Wire<WriteType>>,
    pub(super) properties: Option<Vec<String>>,
    pub(super) user_data: Option<Members>,
    pub(super) check_exist: Option<bool>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

/// A vertex label to create or change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VertexLabelBody {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) id_strategy: Option<Wire<OrDefault<IdStrategy>>>,
    pub(super) properties: Option<Vec<String>>,
    pub(super) primary_keys: Option<Vec<String>>,
    pub(super) nullable_keys: Option<Vec<String>>,
    pub(super) ttl: Option<i64>,
    pub(super) ttl_start_time: Option<String>,
    pub(super) enable_label_index: Option<bool>,
    /// How long superseded versions are kept; an extension of Varve.
    pub(super) history: Option<String>,
    pub(super) user_data: Option<Members>,
    pub(super) check_exist: Option<bool>,
    #[serde(rename = "index_labels")]
    _index_labels: Option<IgnoredAny>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

/// An edge label to create or change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EdgeLabelBody {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) edgelabel_type: Option<Wire<EdgeLabelType>>,
    pub(super) parent_label: Option<String>,
    pub(super) source_label: Option<String>,
    pub(super) target_label: Option<String>,
    pub(super) links: Option<Links>,
    pub(super) frequency: Option<Wire<OrDefault<Frequency>>>,
    pub(super) sort_keys: Option<Vec<String>>,
    pub(super) properties: Option<Vec<String>>,
    pub(super) nullable_keys: Option<Vec<String>>,
    pub(super) ttl: Option<i64>,
    pub(super) ttl_start_time: Option<String>,
    pub(super) enable_label_index: Option<bool>,
    /// How long superseded versions are kept; an extension of Varve.
    pub(super) history: Option<String>,
    pub(super) user_data: Option<Members>,
    pub(super) check_exist: Option<bool>,
    #[serde(rename = "index_labels")]
    _index_labels: Option<IgnoredAny>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

/// An index label to create or change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndexLabelBody {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) base_type: Option<String>,
    pub(super) base_value: Option<String>,
    pub(super) index_type: Option<Wire<IndexType>>,
    pub(super) fields: Option<Vec<String>>,
    pub(super) rebuild: Option<bool>,
    pub(super) user_data: Option<Members>,
    pub(super) check_exist: Option<bool>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

/// A schema element that can be written as JSON. `schema` has the names of the elements that it
/// refers to.
pub(super) trait Show {
    /// Writes the object.
    fn show(&self, schema: &Schema, json: &mut JsonWriter);
}

fn key_names(schema: &Schema, ids: &[PropertyKeyId], json: &mut JsonWriter) {
    json.begin_array();
    for id in ids {
        json.string(schema.property_key_name(*id));
    }
    json.end_array();
}

fn index_names(schema: &Schema, base: IndexBase, json: &mut JsonWriter) {
    json.begin_array();
    for index in schema.indexes_on(base) {
        json.string(&index.name);
    }
    json.end_array();
}

impl Show for PropertyKey {
    fn show(&self, _schema: &Schema, json: &mut JsonWriter) {
        json.begin_object();
        json.key("id").integer(i64::from(self.id.0));
        json.key("name").string(&self.name);
        json.key("data_type").string(self.data_type.name());
        json.key("cardinality").string(self.cardinality.name());
        json.key("aggregate_type")
            .string(self.aggregate_type.name());
        json.key("write_type").string(self.write_type.name());
        json.key("properties").begin_array().end_array();
        json.key("status").string(self.status.name());
        datum::write(&self.user_data, json.key("user_data"));
        json.end_object();
    }
}

impl Show for VertexLabel {
    fn show(&self, schema: &Schema, json: &mut JsonWriter) {
        json.begin_object();
        json.key("id").integer(i64::from(self.id.0));
        json.key("name").string(&self.name);
        json.key("id_strategy").string(self.id_strategy.name());
        key_names(schema, &self.primary_keys, json.key("primary_keys"));
        key_names(schema, &self.nullable_keys, json.key("nullable_keys"));
        let base = IndexBase::Vertex(self.id);
        index_names(schema, base, json.key("index_labels"));
        key_names(schema, &self.properties, json.key("properties"));
        json.key("status").string(self.status.name());
        show_ttl(schema, self.ttl, self.ttl_start_time, json);
        json.key("enable_label_index")
            .boolean(self.enable_label_index);
        datum::write(&self.user_data, json.key("user_data"));
        json.end_object();
    }
}

fn show_ttl(schema: &Schema, ttl: i64, start: Option<PropertyKeyId>, json: &mut JsonWriter) {
    json.key("ttl").integer(ttl);
    if let Some(start) = start {
        json.key("ttl_start_time")
            .string(schema.property_key_name(start));
    }
}

impl Show for EdgeLabel {
    fn show(&self, schema: &Schema, json: &mut JsonWriter) {
        json.begin_object();
        json.key("id").integer(i64::from(self.id.0));
        json.key("name").string(&self.name);
        json.key("edgelabel_type").string(self.label_type.name());
        if self.label_type == EdgeLabelType::Parent {
            let subs: Vec<&EdgeLabel> = schema.sub_labels(self.id).map(|sub| &**sub).collect();
            if !subs.is_empty() {
                show_links(schema, subs, json.key("links"));
            }
            json.end_object();
            return;
        }
        if let Some(parent) = self.parent {
            json.key("parent_label")
                .string(schema.edge_label_name(parent));
        }
        if let Some((source, target)) = self.link {
            json.key("source_label")
                .string(schema.vertex_label_name(source));
            json.key("target_label")
                .string(schema.vertex_label_name(target));
        }
        show_links(schema, vec![self], json.key("links"));
        json.key("frequency").string(self.frequency.name());
        key_names(schema, &self.sort_keys, json.key("sort_keys"));
        key_names(schema, &self.nullable_keys, json.key("nullable_keys"));
        let base = IndexBase::Edge(self.id);
        index_names(schema, base, json.key("index_labels"));
        key_names(schema, &self.properties, json.key("properties"));
        json.key("status").string(self.status.name());
        show_ttl(schema, self.ttl, self.ttl_start_time, json);
        json.key("enable_label_index")
            .boolean(self.enable_label_index);
        datum::write(&self.user_data, json.key("user_data"));
        json.end_object();
    }
}

/// The links of some labels, each pair once.
fn show_links(schema: &Schema, labels: Vec<&EdgeLabel>, json: &mut JsonWriter) {
    let mut shown = Vec::with_capacity(labels.len());
    json.begin_array();
    for (source, target) in labels.into_iter().filter_map(|label| label.link) {
        if shown.contains(&(source, target)) {
            continue;
        }
        shown.push((source, target));
        json.begin_object();
        json.key(schema.vertex_label_name(source))
            .string(schema.vertex_label_name(target));
        json.end_object();
    }
    json.end_array();
}

impl Show for IndexLabel {
    fn show(&self, schema: &Schema, json: &mut JsonWriter) {
        show_index_label(self, self.index_type.name(), schema, json);
    }
}

/// Writes an index label as in the answer with the whole schema: as in HugeGraph, the type of a
/// range index names the type of the values.
pub(super) fn show_stored(label: &IndexLabel, schema: &Schema, json: &mut JsonWriter) {
    let data_type = label
        .fields
        .first()
        .and_then(|field| schema.property_key(*field))
        .map(|key| key.data_type);
    let name = match (label.index_type, data_type) {
        (IndexType::Range, Some(DataType::Byte | DataType::Int)) => "RANGE_INT",
        (IndexType::Range, Some(DataType::Float)) => "RANGE_FLOAT",
        (IndexType::Range, Some(DataType::Double)) => "RANGE_DOUBLE",
        (IndexType::Range, Some(_)) => "RANGE_LONG",
        (other, _) => other.name(),
    };
    show_index_label(label, name, schema, json);
}

fn show_index_label(label: &IndexLabel, index_type: &str, schema: &Schema, json: &mut JsonWriter) {
    let (base_type, base) = match label.base {
        IndexBase::Vertex(vertex) => ("VERTEX_LABEL", schema.vertex_label_name(vertex)),
        IndexBase::Edge(edge) => ("EDGE_LABEL", schema.edge_label_name(edge)),
        IndexBase::Olap => ("VERTEX_LABEL", "*olap"),
    };
    json.begin_object();
    json.key("id").integer(i64::from(label.id.0));
    json.key("name").string(&label.name);
    json.key("base_type").string(base_type);
    json.key("base_value").string(base);
    json.key("index_type").string(index_type);
    key_names(schema, &label.fields, json.key("fields"));
    json.key("status").string(label.status.name());
    datum::write(&label.user_data, json.key("user_data"));
    json.end_object();
}
