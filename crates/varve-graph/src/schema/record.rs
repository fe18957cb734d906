//! Schema elements as stored records: [`Datum`] maps whose members are found by name. So old
//! records stay readable, and members of a newer version are ignored. References are ids, never
//! names.

use std::sync::Arc;

use varve_model::schema::{IndexBase, Retention};
use varve_model::value::{Cardinality, DataType};
use varve_model::{
    Datum, EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKey, PropertyKeyId,
    VertexLabel, VertexLabelId,
    schema::{
        AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexType, SchemaStatus, WriteType,
    },
};

use super::kind::SchemaElement;
use super::retention::{parse_retention, retention_text};
use super::snapshot::Schema;
use crate::{ErrorKind, GraphError};

/// A schema element that can be written to and read from a record.
pub(super) trait Record: SchemaElement {
    /// The members of its record.
    fn members(&self) -> Vec<(String, Datum)>;
    /// Reads a record.
    fn from_record(number: u32, record: &Datum) -> Result<Self, GraphError>;
    /// Puts the element into a snapshot.
    fn place(self, schema: &mut Schema) -> Arc<Self>;

    fn to_bytes(&self) -> Vec<u8> {
        varve_encoding::datum::to_bytes(&Datum::Map(self.members()))
    }
}

/// Reads the members of one record. Errors name the kind, the id and the member.
struct Fields<'a> {
    of: String,
    record: &'a Datum,
}

impl<'a> Fields<'a> {
    fn new<T: SchemaElement>(number: u32, record: &'a Datum) -> Self {
        let of = format!("{} {number}", T::KIND.readable());
        Self { of, record }
    }

    fn damaged(&self, member: &str) -> GraphError {
        let message = format!(
            "Stored data is damaged: member '{member}' of the record of {}",
            self.of
        );
        GraphError::new(ErrorKind::Storage, message)
    }

    fn text(&self, member: &str) -> Result<&'a str, GraphError> {
        match self.record.get(member) {
            Some(Datum::Text(text)) => Ok(text),
            _ => Err(self.damaged(member)),
        }
    }

    fn named<T>(&self, member: &str, read: fn(&str) -> Option<T>) -> Result<T, GraphError> {
        read(self.text(member)?).ok_or_else(|| self.damaged(member))
    }

    fn int(&self, member: &str) -> Result<i64, GraphError> {
        match self.record.get(member) {
            Some(Datum::Int(number)) => Ok(*number),
            _ => Err(self.damaged(member)),
        }
    }

    fn flag(&self, member: &str) -> Result<bool, GraphError> {
        match self.record.get(member) {
            Some(Datum::Bool(flag)) => Ok(*flag),
            _ => Err(self.damaged(member)),
        }
    }

    fn number(&self, member: &str) -> Result<u32, GraphError> {
        u32::try_from(self.int(member)?).map_err(|_| self.damaged(member))
    }

    /// Reads a member that may be missing or null.
    fn optional_number(&self, member: &str) -> Result<Option<u32>, GraphError> {
        match self.record.get(member) {
            None | Some(Datum::Null) => Ok(None),
            Some(_) => self.number(member).map(Some),
        }
    }

    fn keys(&self, member: &str) -> Result<Vec<PropertyKeyId>, GraphError> {
        let Some(Datum::List(items)) = self.record.get(member) else {
            return Err(self.damaged(member));
        };
        let key = |item: &Datum| match item {
            Datum::Int(id) => u32::try_from(*id).ok().map(PropertyKeyId),
            _ => None,
        };
        let keys: Option<Vec<PropertyKeyId>> = items.iter().map(key).collect();
        keys.ok_or_else(|| self.damaged(member))
    }

    fn retention(&self) -> Result<Retention, GraphError> {
        match self.record.get("history") {
            None => Ok(Retention::All),
            Some(Datum::Int(micros)) => Ok(Retention::For(*micros)),
            Some(_) => parse_retention(self.text("history")?).map_err(|_| self.damaged("history")),
        }
    }

    fn user_data(&self) -> Datum {
        match self.record.get("user_data") {
            Some(data @ Datum::Map(_)) => data.clone(),
            _ => Datum::Map(Vec::new()),
        }
    }
}

/// Returns the form of a retention in a record: a text, or the microseconds of a duration.
fn retention_datum(retention: Retention) -> Datum {
    match retention {
        Retention::For(micros) => Datum::Int(micros),
        other => Datum::Text(retention_text(other)),
    }
}

fn text(value: &str) -> Datum {
    Datum::Text(value.to_owned())
}

fn id(number: u32) -> Datum {
    Datum::Int(i64::from(number))
}

fn key_list(keys: &[PropertyKeyId]) -> Datum {
    Datum::List(keys.iter().map(|key| id(key.0)).collect())
}

fn map<const N: usize>(members: [(&str, Datum); N]) -> Vec<(String, Datum)> {
    let named = members.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

impl Record for PropertyKey {
    fn place(self, schema: &mut Schema) -> Arc<Self> {
        schema.put_property_key(self)
    }

    fn members(&self) -> Vec<(String, Datum)> {
        map([
            ("name", text(&self.name)),
            ("data_type", text(self.data_type.name())),
            ("cardinality", text(self.cardinality.name())),
            ("aggregate_type", text(self.aggregate_type.name())),
            ("write_type", text(self.write_type.name())),
            ("status", text(self.status.name())),
            ("user_data", self.user_data.clone()),
        ])
    }

    fn from_record(number: u32, record: &Datum) -> Result<Self, GraphError> {
        let fields = Fields::new::<Self>(number, record);
        Ok(Self {
            id: PropertyKeyId(number),
            name: fields.text("name")?.to_owned(),
            data_type: fields.named("data_type", DataType::from_name)?,
            cardinality: fields.named("cardinality", Cardinality::from_name)?,
            aggregate_type: fields.named("aggregate_type", AggregateType::from_name)?,
            write_type: fields.named("write_type", WriteType::from_name)?,
            status: fields.named("status", SchemaStatus::from_name)?,
            user_data: fields.user_data(),
        })
    }
}

impl Record for VertexLabel {
    fn place(self, schema: &mut Schema) -> Arc<Self> {
        schema.put_vertex_label(self)
    }

    fn members(&self) -> Vec<(String, Datum)> {
        map([
            ("name", text(&self.name)),
            ("id_strategy", text(self.id_strategy.name())),
            ("properties", key_list(&self.properties)),
            ("primary_keys", key_list(&self.primary_keys)),
            ("nullable_keys", key_list(&self.nullable_keys)),
            ("ttl", Datum::Int(self.ttl)),
            (
                "ttl_start_time",
                self.ttl_start_time.map_or(Datum::Null, |key| id(key.0)),
            ),
            ("enable_label_index", Datum::Bool(self.enable_label_index)),
            ("history", retention_datum(self.retention)),
            ("status", text(self.status.name())),
            ("user_data", self.user_data.clone()),
        ])
    }

    fn from_record(number: u32, record: &Datum) -> Result<Self, GraphError> {
        let fields = Fields::new::<Self>(number, record);
        Ok(Self {
            id: VertexLabelId(number),
            name: fields.text("name")?.to_owned(),
            id_strategy: fields.named("id_strategy", IdStrategy::from_name)?,
            properties: fields.keys("properties")?,
            primary_keys: fields.keys("primary_keys")?,
            nullable_keys: fields.keys("nullable_keys")?,
            ttl: fields.int("ttl")?,
            ttl_start_time: fields.optional_number("ttl_start_time")?.map(PropertyKeyId),
            enable_label_index: fields.flag("enable_label_index")?,
            retention: fields.retention()?,
            status: fields.named("status", SchemaStatus::from_name)?,
            user_data: fields.user_data(),
        })
    }
}

impl Record for EdgeLabel {
    fn place(self, schema: &mut Schema) -> Arc<Self> {
        schema.put_edge_label(self)
    }

    fn members(&self) -> Vec<(String, Datum)> {
        let link = self.link;
        map([
            ("name", text(&self.name)),
            ("type", text(self.label_type.name())),
            ("parent", self.parent.map_or(Datum::Null, |l| id(l.0))),
            ("source", link.map_or(Datum::Null, |l| id(l.0.0))),
            ("target", link.map_or(Datum::Null, |l| id(l.1.0))),
            ("frequency", text(self.frequency.name())),
            ("sort_keys", key_list(&self.sort_keys)),
            ("properties", key_list(&self.properties)),
            ("nullable_keys", key_list(&self.nullable_keys)),
            ("ttl", Datum::Int(self.ttl)),
            (
                "ttl_start_time",
                self.ttl_start_time.map_or(Datum::Null, |key| id(key.0)),
            ),
            ("enable_label_index", Datum::Bool(self.enable_label_index)),
            ("history", retention_datum(self.retention)),
            ("status", text(self.status.name())),
            ("user_data", self.user_data.clone()),
        ])
    }

    fn from_record(number: u32, record: &Datum) -> Result<Self, GraphError> {
        let fields = Fields::new::<Self>(number, record);
        let source = fields.optional_number("source")?.map(VertexLabelId);
        let target = fields.optional_number("target")?.map(VertexLabelId);
        Ok(Self {
            id: EdgeLabelId(number),
            name: fields.text("name")?.to_owned(),
            label_type: fields.named("type", EdgeLabelType::from_name)?,
            parent: fields.optional_number("parent")?.map(EdgeLabelId),
            link: source.zip(target),
            frequency: fields.named("frequency", Frequency::from_name)?,
            sort_keys: fields.keys("sort_keys")?,
            properties: fields.keys("properties")?,
            nullable_keys: fields.keys("nullable_keys")?,
            ttl: fields.int("ttl")?,
            ttl_start_time: fields.optional_number("ttl_start_time")?.map(PropertyKeyId),
            enable_label_index: fields.flag("enable_label_index")?,
            retention: fields.retention()?,
            status: fields.named("status", SchemaStatus::from_name)?,
            user_data: fields.user_data(),
        })
    }
}

impl Record for IndexLabel {
    fn place(self, schema: &mut Schema) -> Arc<Self> {
        schema.put_index_label(self)
    }

    fn members(&self) -> Vec<(String, Datum)> {
        let (base, label) = match self.base {
            IndexBase::Vertex(label) => ("VERTEX_LABEL", id(label.0)),
            IndexBase::Edge(label) => ("EDGE_LABEL", id(label.0)),
            IndexBase::Olap => ("OLAP", Datum::Null),
        };
        map([
            ("name", text(&self.name)),
            ("base_type", text(base)),
            ("base", label),
            ("type", text(self.index_type.name())),
            ("fields", key_list(&self.fields)),
            ("buckets", Datum::Int(i64::from(self.buckets))),
            ("group", self.group.map_or(Datum::Null, |group| id(group.0))),
            ("status", text(self.status.name())),
            ("user_data", self.user_data.clone()),
        ])
    }

    fn from_record(number: u32, record: &Datum) -> Result<Self, GraphError> {
        let fields = Fields::new::<Self>(number, record);
        let base = match fields.text("base_type")? {
            "VERTEX_LABEL" => IndexBase::Vertex(VertexLabelId(fields.number("base")?)),
            "EDGE_LABEL" => IndexBase::Edge(EdgeLabelId(fields.number("base")?)),
            "OLAP" => IndexBase::Olap,
            _ => return Err(fields.damaged("base_type")),
        };
        let buckets = u8::try_from(fields.int("buckets")?);
        Ok(Self {
            id: IndexLabelId(number),
            name: fields.text("name")?.to_owned(),
            base,
            index_type: fields.named("type", IndexType::from_name)?,
            fields: fields.keys("fields")?,
            buckets: buckets.map_err(|_| fields.damaged("buckets"))?,
            group: fields.optional_number("group")?.map(IndexLabelId),
            status: fields.named("status", SchemaStatus::from_name)?,
            user_data: fields.user_data(),
        })
    }
}
