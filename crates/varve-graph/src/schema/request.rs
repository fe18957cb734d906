//! Requests to change the schema. They name elements; the catalogue resolves the names.
//!
//! In a *change*, a member that is `None` or empty was not given. Giving one that cannot be changed
//! is refused.

use std::sync::Arc;

use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexType, WriteType,
};
use varve_model::value::{Cardinality, DataType};

pub use super::user_data::UserData;
use crate::tasks::TaskId;

/// Whether a change adds or takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Puts what is named.
    Append,
    /// Removes what is named.
    Eliminate,
}

/// A schema element as it is now, and the task that completes the change.
#[derive(Debug, Clone)]
pub struct WithTask<T> {
    /// The element.
    pub element: Arc<T>,
    /// The task to wait for, or [`TaskId::NONE`].
    pub task: TaskId,
}

/// A property key to create.
#[derive(Debug, Clone)]
pub struct NewPropertyKey {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// Type of its values.
    pub data_type: DataType,
    /// How many values.
    pub cardinality: Cardinality,
    /// How writes are combined.
    pub aggregate_type: AggregateType,
    /// Who writes it.
    pub write_type: WriteType,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element of the same name and definition is an error.
    pub check_exist: bool,
}

impl NewPropertyKey {
    /// A property key with every default: one TEXT, written by transactions.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            data_type: DataType::Text,
            cardinality: Cardinality::Single,
            aggregate_type: AggregateType::None,
            write_type: WriteType::Oltp,
            user_data: Vec::new(),
            check_exist: true,
        }
    }
}

/// A change of a property key: of its user data.
#[derive(Debug, Clone, Default)]
pub struct PropertyKeyChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed; TEXT counts as not given, since clients send it by default.
    pub data_type: Option<DataType>,
    /// Cannot be changed; SINGLE counts as not given, since clients send it by default.
    pub cardinality: Option<Cardinality>,
    /// Members to put or remove.
    pub user_data: UserData,
}

/// A vertex label to create.
#[derive(Debug, Clone)]
pub struct NewVertexLabel {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// Where ids come from; by default from primary keys if there are some, else from the server.
    pub id_strategy: Option<IdStrategy>,
    /// Names of properties.
    pub properties: Vec<String>,
    /// Names of the properties that make the id, in order.
    pub primary_keys: Vec<String>,
    /// Names of the properties that may be absent.
    pub nullable_keys: Vec<String>,
    /// Milliseconds to live; 0 = for ever.
    pub ttl: i64,
    /// Name of the DATE property from which the time to live counts.
    pub ttl_start_time: Option<String>,
    /// Whether vertices can be listed by the label.
    pub enable_label_index: bool,
    /// Text form of how long superseded versions are kept.
    pub history: Option<String>,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element of the same name and definition is an error.
    pub check_exist: bool,
}

impl NewVertexLabel {
    /// A vertex label with every default: no properties, automatic ids.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            id_strategy: None,
            properties: Vec::new(),
            primary_keys: Vec::new(),
            nullable_keys: Vec::new(),
            ttl: 0,
            ttl_start_time: None,
            enable_label_index: true,
            history: None,
            user_data: Vec::new(),
            check_exist: true,
        }
    }
}

/// A change of a vertex label.
#[derive(Debug, Clone, Default)]
pub struct VertexLabelChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed.
    pub id_strategy: Option<IdStrategy>,
    /// Cannot be changed.
    pub primary_keys: Vec<String>,
    /// Cannot be changed.
    pub enable_label_index: Option<bool>,
    /// The part that edge labels can change too.
    pub label: LabelChange,
}

/// What can be changed of vertex and edge labels.
#[derive(Debug, Clone, Default)]
pub struct LabelChange {
    /// Names of properties to add; they must be nullable.
    pub properties: Vec<String>,
    /// Names of properties that may be absent from now on.
    pub nullable_keys: Vec<String>,
    /// Milliseconds to live. 0 = not given, since clients send it by default; eliminating any other
    /// value ends the limit.
    pub ttl: i64,
    /// Name of the DATE property from which the time to live counts.
    pub ttl_start_time: Option<String>,
    /// Text form of how long superseded versions are kept; eliminating it restores the default.
    pub history: Option<String>,
    /// Members to put or remove.
    pub user_data: UserData,
}

/// An edge label to create.
#[derive(Debug, Clone)]
pub struct NewEdgeLabel {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// Its place in a hierarchy.
    pub label_type: EdgeLabelType,
    /// Name of the parent of a SUB label.
    pub parent: Option<String>,
    /// Name of the source's label; with `target`, or `links` instead of both.
    pub source: Option<String>,
    /// Name of the target's label.
    pub target: Option<String>,
    /// Pairs of names of source and target; exactly one.
    pub links: Vec<(String, String)>,
    /// How many edges between two vertices; SINGLE by default.
    pub frequency: Option<Frequency>,
    /// Names of the properties that tell edges apart, in order.
    pub sort_keys: Vec<String>,
    /// Names of properties.
    pub properties: Vec<String>,
    /// Names of the properties that may be absent.
    pub nullable_keys: Vec<String>,
    /// Milliseconds to live; 0 = for ever.
    pub ttl: i64,
    /// Name of the DATE property from which the time to live counts.
    pub ttl_start_time: Option<String>,
    /// Whether edges can be listed by the label.
    pub enable_label_index: bool,
    /// Text form of how long superseded versions are kept.
    pub history: Option<String>,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element of the same name and definition is an error.
    pub check_exist: bool,
}

impl NewEdgeLabel {
    /// An edge label between two vertex labels with every other default.
    #[must_use]
    pub fn between(name: &str, source: &str, target: &str) -> Self {
        Self {
            source: Some(source.to_owned()),
            target: Some(target.to_owned()),
            ..Self::named(name)
        }
    }

    /// An edge label with every default and no link, which only a PARENT may lack.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            label_type: EdgeLabelType::Normal,
            parent: None,
            source: None,
            target: None,
            links: Vec::new(),
            frequency: None,
            sort_keys: Vec::new(),
            properties: Vec::new(),
            nullable_keys: Vec::new(),
            ttl: 0,
            ttl_start_time: None,
            enable_label_index: true,
            history: None,
            user_data: Vec::new(),
            check_exist: true,
        }
    }
}

/// A change of an edge label.
#[derive(Debug, Clone, Default)]
pub struct EdgeLabelChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed.
    pub source: Option<String>,
    /// Cannot be changed.
    pub target: Option<String>,
    /// Cannot be changed.
    pub links: Vec<(String, String)>,
    /// Cannot be changed.
    pub frequency: Option<Frequency>,
    /// Cannot be changed.
    pub sort_keys: Vec<String>,
    /// Cannot be changed.
    pub enable_label_index: Option<bool>,
    /// The part that vertex labels can change too.
    pub label: LabelChange,
}

/// Which kind of label an index label is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum BaseType {
    VertexLabel,
    EdgeLabel,
}

/// An index label to create.
#[derive(Debug, Clone)]
pub struct NewIndexLabel {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// Which kind of label it is on.
    pub base_type: BaseType,
    /// The name of that label.
    pub base: String,
    /// What it answers.
    pub index_type: IndexType,
    /// Names of the indexed properties, in order.
    pub fields: Vec<String>,
    /// Whether existing elements are indexed by a task; if not they stay unindexed until a rebuild.
    pub rebuild: bool,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element of the same name and definition is an error.
    pub check_exist: bool,
}

impl NewIndexLabel {
    /// An index label with every default.
    #[must_use]
    pub fn on(
        name: &str,
        base_type: BaseType,
        base: &str,
        index_type: IndexType,
        fields: &[&str],
    ) -> Self {
        Self {
            id: None,
            name: name.to_owned(),
            base_type,
            base: base.to_owned(),
            index_type,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            rebuild: true,
            user_data: Vec::new(),
            check_exist: true,
        }
    }
}

/// A change of an index label: of its user data.
#[derive(Debug, Clone, Default)]
pub struct IndexLabelChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed.
    pub fields: Vec<String>,
    /// Members to put or remove.
    pub user_data: UserData,
}
