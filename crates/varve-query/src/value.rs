//! The values of queries: numbers of every width, collections, elements, paths.
//!
//! Values are cheap to clone: large content is shared. Elements are handles: a vertex has its id,
//! and also its label and properties once the query has read them.

mod datetime;
mod element;
mod equivalence;
pub mod number;
mod order;
mod profile;
mod size;
mod stored;
mod text;

use std::borrow::Cow;
use std::sync::Arc;

use compact_str::CompactString;
use indexmap::{IndexMap, IndexSet};
use num_bigint::BigInt;
use varve_model::id::VERTEX_ID_BYTES_MAX;
use varve_model::value::Duration;
use varve_model::{Decimal, VertexId};

pub use datetime::DateTime;
pub use element::{
    EdgeHandle, NewerEdge, Owner, Property, VertexContent, VertexHandle, VertexProperty,
};
pub use order::{Comparison, sort};
pub use profile::{Profile, StepMetrics};
pub use size::{CONTENT_BYTES_MAX, DEPTH_MAX, MEMBERS_MAX, Size};
pub use stored::STORED_DEPTH_MAX;
pub use text::{Shown, TEXT_BYTES_MAX, TextBuilder, too_long};

/// A map in the order of insertion.
pub type ValueMap = IndexMap<Value, Value, foldhash::fast::RandomState>;
/// A set in the order of insertion.
pub type ValueSet = IndexSet<Value, foldhash::fast::RandomState>;

/// One value.
///
/// `==` is TinkerPop's *equivalence*, the relation of `dedup` and of map keys: `1`, `1L` and `1.0`
/// differ, and NaN equals itself. The relation of predicates is [`Value::equals`].
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// null
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// 8 bits.
    Byte(i8),
    /// 16 bits.
    Short(i16),
    /// 32 bits.
    Int(i32),
    /// 64 bits.
    Long(i64),
    /// A whole number of any size.
    BigInt(Arc<BigInt>),
    /// 32 bits, IEEE.
    Float(f32),
    /// 64 bits, IEEE.
    Double(f64),
    /// A decimal number.
    BigDecimal(Arc<Decimal>),
    /// Text.
    Text(CompactString),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A UUID, most significant byte first.
    Uuid(u128),
    /// An instant.
    DateTime(DateTime),
    /// A span of time.
    Duration(Duration),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A set.
    Set(Arc<ValueSet>),
    /// A map.
    Map(Arc<ValueMap>),
    /// One entry of a map.
    Entry(Arc<(Value, Value)>),
    /// A vertex.
    Vertex(Arc<VertexHandle>),
    /// An edge, and the direction in which a query walked it.
    Edge(Arc<EdgeHandle>, Walked),
    /// A property of a vertex.
    VertexProperty(Arc<VertexProperty>),
    /// A property of an edge.
    Property(Arc<Property>),
    /// A path.
    Path(Arc<Path>),
    /// A tree of values.
    Tree(Arc<Tree>),
    /// A part of the graph.
    Graph(Arc<Subgraph>),
    /// Metrics of a query's steps.
    Profile(Arc<Profile>),
    /// A name with a meaning: `id`, `label`, `IN`, `OUT`.
    Token(Token),
}

/// Names with a meaning. Most are keys of maps that describe elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Token {
    Id,
    Label,
    Key,
    Value,
    Out,
    In,
    /// In an option of a merge: the source of the merged edge.
    OutV,
    /// In an option of a merge: the target of the merged edge.
    InV,
    /// `Single`, `List` and `Set`, in a map that is merged: the cardinality of a property's value.
    Single,
    List,
    Set,
}

/// The direction in which an edge was walked.
#[derive(Debug, Clone, Copy, Default)]
pub enum Walked {
    /// The edge was not reached from one of its ends.
    #[default]
    No,
    /// From its source to its target.
    Out,
    /// From its target to its source.
    In,
}

/// The objects that a traverser has visited, with the labels of each.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// The objects, first to last.
    pub objects: Vec<Value>,
    /// The labels of each object.
    pub labels: Vec<Vec<CompactString>>,
}

/// Edges and their end vertices, each in the order in which it was added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subgraph {
    /// The vertices.
    pub vertices: ValueSet,
    /// The edges.
    pub edges: ValueSet,
}

/// Values, each with the tree of the values that followed it.
#[derive(Debug, Clone, Default)]
pub struct Tree(pub IndexMap<Value, Tree, foldhash::fast::RandomState>);

impl Value {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(CompactString::new(text))
    }

    /// A list.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// A set of these, without repeats.
    pub fn set(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Set(Arc::new(items.into_iter().collect()))
    }

    /// A map; later entries replace earlier ones.
    pub fn map(entries: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::Map(Arc::new(entries.into_iter().collect()))
    }

    /// A whole number as a LONG, or as a BIGINT if it is larger than that.
    #[must_use]
    pub fn count(number: u64) -> Self {
        match i64::try_from(number) {
            Ok(number) => Self::Long(number),
            Err(_) => Self::BigInt(Arc::new(number.into())),
        }
    }

    /// A vertex id as a value.
    #[must_use]
    pub fn of_id(id: &VertexId) -> Self {
        match id {
            VertexId::Number(number) => Self::Long(*number),
            VertexId::Uuid(uuid) => Self::Uuid(*uuid),
            VertexId::Text(text) => Self::Text(text.clone()),
        }
    }

    /// The vertex id that this value is: of a vertex, a number, a UUID or a text of 1 to
    /// [`VERTEX_ID_BYTES_MAX`] bytes.
    #[must_use]
    pub fn as_vertex_id(&self) -> Option<VertexId> {
        match self {
            Self::Text(text) => {
                let is_id = (1..=VERTEX_ID_BYTES_MAX).contains(&text.len());
                is_id.then(|| VertexId::Text(text.clone()))
            }
            Self::Uuid(uuid) => Some(VertexId::Uuid(*uuid)),
            Self::Vertex(vertex) => Some(vertex.id().clone()),
            _ => self.as_long().map(VertexId::Number),
        }
    }

    /// This whole number, if its type has at most 64 bits.
    #[must_use]
    pub const fn as_long(&self) -> Option<i64> {
        match *self {
            Self::Byte(number) => Some(number as i64),
            Self::Short(number) => Some(number as i64),
            Self::Int(number) => Some(number as i64),
            Self::Long(number) => Some(number),
            _ => None,
        }
    }

    /// This number as a DOUBLE, rounded.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        number::Number::of(self).map(|number| number.to_f64())
    }

    /// The name of the value's type in error messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "Boolean",
            Self::Byte(_) => "Byte",
            Self::Short(_) => "Short",
            Self::Int(_) => "Integer",
            Self::Long(_) => "Long",
            Self::BigInt(_) => "BigInteger",
            Self::Float(_) => "Float",
            Self::Double(_) => "Double",
            Self::BigDecimal(_) => "BigDecimal",
            Self::Text(_) => "String",
            Self::Bytes(_) => "ByteBuffer",
            Self::Uuid(_) => "UUID",
            Self::DateTime(_) => "OffsetDateTime",
            Self::Duration(_) => "Duration",
            Self::List(_) => "List",
            Self::Set(_) => "Set",
            Self::Map(_) => "Map",
            Self::Entry(_) => "Map.Entry",
            Self::Vertex(_) => "Vertex",
            Self::Edge(..) => "Edge",
            Self::VertexProperty(_) => "VertexProperty",
            Self::Property(_) => "Property",
            Self::Path(_) => "Path",
            Self::Tree(_) => "Tree",
            Self::Graph(_) => "Graph",
            Self::Profile(_) => "TraversalMetrics",
            Self::Token(_) => "T",
        }
    }

    /// Whether this is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is a number.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Byte(_)
                | Self::Short(_)
                | Self::Int(_)
                | Self::Long(_)
                | Self::BigInt(_)
                | Self::Float(_)
                | Self::Double(_)
                | Self::BigDecimal(_)
        )
    }

    /// This map, or this tree as a map from each key to the tree below it; `None` for any other
    /// value.
    #[must_use]
    pub fn as_map(&self) -> Option<Cow<'_, ValueMap>> {
        match self {
            Self::Map(map) => Some(Cow::Borrowed(map.as_ref())),
            Self::Tree(tree) => {
                let below = |(key, below): (&Self, &Tree)| {
                    (key.clone(), Self::Tree(Arc::new(below.clone())))
                };
                Some(Cow::Owned(tree.0.iter().map(below).collect()))
            }
            _ => None,
        }
    }

    /// The members of a list, a set or a path, or the entries of a map or a tree; `None` for any
    /// other value.
    #[must_use]
    pub fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(items) => Some(items.as_ref().clone()),
            Self::Set(items) => Some(items.iter().cloned().collect()),
            Self::Path(path) => Some(path.objects.clone()),
            other => {
                let entry = |(key, value): (&Self, &Self)| {
                    Self::Entry(Arc::new((key.clone(), value.clone())))
                };
                Some(other.as_map()?.iter().map(entry).collect())
            }
        }
    }

    /// A stored property value, as a value of the property key's type: whole numbers of any type
    /// may be stored as LONG. If the key has several values, this is the first.
    #[must_use]
    pub fn of_property(value: &varve_model::Value, data_type: varve_model::DataType) -> Self {
        use varve_model::{DataType, Value as Stored};
        let each = |items: &[Stored]| -> Vec<Self> {
            let each = items.iter();
            each.map(|item| Self::of_property(item, data_type))
                .collect()
        };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the key's type bounds what was stored"
        )]
        match value {
            Stored::Boolean(value) => Self::Bool(*value),
            Stored::Byte(value) => Self::Byte(*value),
            Stored::Int(value) => Self::Int(*value),
            Stored::Long(value) => match data_type {
                DataType::Byte => Self::Byte(*value as i8),
                DataType::Int => Self::Int(*value as i32),
                _ => Self::Long(*value),
            },
            Stored::Float(value) => Self::Float(*value),
            Stored::Double(value) => Self::Double(*value),
            Stored::Text(text) => Self::text(text),
            Stored::Blob(bytes) => Self::Bytes(Arc::from(bytes.as_slice())),
            Stored::Date(millis) => Self::DateTime(DateTime::of_millis(*millis)),
            Stored::Uuid(uuid) => Self::Uuid(*uuid),
            Stored::Object(datum) => Self::of_datum(datum),
            Stored::List(items) => Self::list(each(items)),
            Stored::Set(items) => Self::set(each(items)),
            rare => Self::of_open(rare, data_type),
        }
    }

    /// A free-form value.
    #[must_use]
    pub fn of_datum(datum: &varve_model::Datum) -> Self {
        use varve_model::Datum;
        match datum {
            Datum::Null => Self::Null,
            Datum::Bool(value) => Self::Bool(*value),
            Datum::Int(number) => Self::Long(*number),
            Datum::Float(number) => Self::Double(*number),
            Datum::Text(text) => Self::text(text),
            Datum::List(items) => Self::list(items.iter().map(Self::of_datum).collect()),
            Datum::Map(members) => Self::map(
                members
                    .iter()
                    .map(|(name, value)| (Self::text(name), Self::of_datum(value))),
            ),
        }
    }
}

impl Subgraph {
    /// Its vertices, then its edges.
    pub fn members(&self) -> impl Iterator<Item = &Value> {
        self.vertices.iter().chain(&self.edges)
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Id => "id",
            Self::Label => "label",
            Self::Key => "key",
            Self::Value => "value",
            Self::Out => "OUT",
            Self::In => "IN",
            Self::OutV => "outV",
            Self::InV => "inV",
            Self::Single => "single",
            Self::List => "list",
            Self::Set => "set",
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_ids_are_no_vertex_ids() {
        let id = |length| Value::text(&"x".repeat(length)).as_vertex_id().is_some();
        assert!(id(1) && id(VERTEX_ID_BYTES_MAX));
        assert!(!id(0) && !id(VERTEX_ID_BYTES_MAX + 1));
    }
}
