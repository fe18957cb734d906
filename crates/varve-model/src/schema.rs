//! Schema elements: property keys, vertex labels, edge labels and index labels.

use crate::time::Instant;
use crate::value::{Cardinality, DataType};
use crate::{Datum, EdgeLabelId, IndexLabelId, PropertyKeyId, VertexLabelId};

/// The user-data member that every schema element has: when it was made, `yyyy-MM-dd HH:mm:ss.SSS`.
pub const CREATE_TIME: &str = "~create_time";
/// The user-data member of a property key that holds its default value.
pub const DEFAULT_VALUE: &str = "~default_value";

/// How several writes of one property are combined by the store (HugeGraph's aggregate types).
/// Varve keeps the declaration and, as HugeGraph on RocksDB does, refuses to store values of such
/// keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum AggregateType {
    None,
    Max,
    Min,
    Sum,
    Old,
    Set,
    List,
}

/// Whether a property is written by transactions or by offline analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum WriteType {
    Oltp,
    OlapCommon,
    OlapSecondary,
    OlapRange,
}

impl WriteType {
    /// Whether values come from offline analysis.
    #[must_use]
    pub const fn is_olap(self) -> bool {
        !matches!(self, Self::Oltp)
    }
}

/// Life cycle of a schema element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaStatus {
    /// In use.
    Created,
    /// Being built (an index label before its first rebuild ends).
    Creating,
    /// Its index is being rebuilt.
    Rebuilding,
    /// Being removed by a task; not usable any more.
    Deleting,
    /// Its removal failed.
    Undeleted,
    /// Unusable.
    Invalid,
    /// Removed. Its record stays, so that history can still be read by name; it is not shown to
    /// clients.
    Removed,
}

/// How long superseded versions of a label's elements are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retention {
    /// For ever.
    #[default]
    All,
    /// For this many microseconds after they were superseded.
    For(i64),
    /// Not at all: updates overwrite.
    None,
}

/// The source of a vertex label's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdStrategy {
    /// The server gives a 64-bit number.
    Automatic,
    /// The label's id and the primary-key values, joined.
    PrimaryKey,
    /// The writer gives a text.
    CustomizeString,
    /// The writer gives a whole number.
    CustomizeNumber,
    /// The writer gives a UUID.
    CustomizeUuid,
}

/// Declares a property.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyKey {
    /// Its id.
    pub id: PropertyKeyId,
    /// Its name, unique among property keys.
    pub name: String,
    /// Type of its values.
    pub data_type: DataType,
    /// How many values an element may hold.
    pub cardinality: Cardinality,
    /// How writes are combined.
    pub aggregate_type: AggregateType,
    /// Who writes it.
    pub write_type: WriteType,
    /// Life cycle.
    pub status: SchemaStatus,
    /// Free-form members, [`CREATE_TIME`] among them ([`Datum::Map`]).
    pub user_data: Datum,
}

/// Declares a kind of vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexLabel {
    /// Its id.
    pub id: VertexLabelId,
    /// Its name, unique among vertex labels.
    pub name: String,
    /// The source of its ids.
    pub id_strategy: IdStrategy,
    /// Properties its vertices may have, in declared order.
    pub properties: Vec<PropertyKeyId>,
    /// Properties that make the id, in order; only with [`IdStrategy::PrimaryKey`].
    pub primary_keys: Vec<PropertyKeyId>,
    /// Properties that may be absent.
    pub nullable_keys: Vec<PropertyKeyId>,
    /// Milliseconds after which a vertex vanishes; 0 = never.
    pub ttl: i64,
    /// DATE property from whose value the time to live counts, instead of the time of writing.
    pub ttl_start_time: Option<PropertyKeyId>,
    /// Whether vertices can be listed by this label.
    pub enable_label_index: bool,
    /// How long superseded versions are kept.
    pub retention: Retention,
    /// Life cycle.
    pub status: SchemaStatus,
    /// Free-form members.
    pub user_data: Datum,
}

/// Whether an edge label is on its own, the parent of other labels, or a child of a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum EdgeLabelType {
    Normal,
    Parent,
    Sub,
}

/// How many edges of a label may run from one vertex to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Frequency {
    /// One.
    Single,
    /// One for each combination of sort values. A label without sort keys gives each edge a hidden
    /// sort value; labels made on first use are such labels.
    Multiple,
}

/// Declares a kind of edge.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeLabel {
    /// Its id.
    pub id: EdgeLabelId,
    /// Its name, unique among edge labels.
    pub name: String,
    /// Whether it is a normal, a parent or a sub label.
    pub label_type: EdgeLabelType,
    /// The parent of a SUB label.
    pub parent: Option<EdgeLabelId>,
    /// Labels of source and target: exactly one pair; none for a PARENT, and for a label made on
    /// first use, whose edges run between any vertices.
    pub link: Option<(VertexLabelId, VertexLabelId)>,
    /// How many edges between two vertices.
    pub frequency: Frequency,
    /// Properties that distinguish edges of frequency MULTIPLE, in order.
    pub sort_keys: Vec<PropertyKeyId>,
    /// Properties its edges may have, in declared order.
    pub properties: Vec<PropertyKeyId>,
    /// Properties that may be absent.
    pub nullable_keys: Vec<PropertyKeyId>,
    /// Milliseconds after which an edge vanishes; 0 = never.
    pub ttl: i64,
    /// DATE property from whose value the time to live counts.
    pub ttl_start_time: Option<PropertyKeyId>,
    /// Whether edges can be listed by this label.
    pub enable_label_index: bool,
    /// How long superseded versions are kept.
    pub retention: Retention,
    /// Life cycle.
    pub status: SchemaStatus,
    /// Free-form members.
    pub user_data: Datum,
}

impl EdgeLabel {
    /// Whether each edge has a hidden sort value ([`crate::sortable::drawn_sort_value`]), so that
    /// any number of them run between two vertices.
    #[must_use]
    pub const fn has_hidden_sort(&self) -> bool {
        matches!(self.frequency, Frequency::Multiple) && self.sort_keys.is_empty()
    }
}

/// What an index label indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexBase {
    /// Vertices of a label.
    Vertex(VertexLabelId),
    /// Edges of a label.
    Edge(EdgeLabelId),
    /// The hidden label of OLAP property keys: nothing.
    Olap,
}

/// The queries that an index label can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexType {
    /// Equality on a prefix of the fields, or containment in a collection.
    Secondary,
    /// Equality and ranges of one number or date.
    Range,
    /// Words of one text.
    Search,
    /// Equality on a prefix of the fields and a range of the next.
    Shard,
    /// Nothing; refuses two elements with the same values.
    Unique,
}

/// Declares an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexLabel {
    /// Its id.
    pub id: IndexLabelId,
    /// Its name, unique among index labels.
    pub name: String,
    /// What it indexes.
    pub base: IndexBase,
    /// The queries that it answers.
    pub index_type: IndexType,
    /// The indexed properties, in order.
    pub fields: Vec<PropertyKeyId>,
    /// Of a UNIQUE index: no two elements of all UNIQUE indexes of the group have the same values.
    /// The group is an id that no index label has; `None` = the index is alone.
    pub group: Option<IndexLabelId>,
    /// Over how many partitions the entries of one value are spread; 1 on a single machine.
    pub buckets: u8,
    /// Life cycle.
    pub status: SchemaStatus,
    /// Free-form members.
    pub user_data: Datum,
}

/// When a task or schema element was made, for user data: `yyyy-MM-dd HH:mm:ss.SSS` in UTC.
#[must_use]
pub fn create_time_text(at: Instant) -> String {
    crate::value::date_text(at.millis())
}
