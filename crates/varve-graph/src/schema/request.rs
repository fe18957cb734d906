//! Requests to change the schema. They refer to schema elements by name; the catalogue resolves the
//! names.
//!
//! In a *change*, a member that is `None` or empty counts as not given. A member marked "Cannot be
//! changed" must not be given, or the change is refused.

use std::sync::Arc;

use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexType, WriteType,
};
use varve_model::value::{Cardinality, DataType};

pub use super::user_data::UserData;
use crate::tasks::TaskId;

/// Whether a change adds or removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Adds or replaces the named parts.
    Append,
    /// Removes the named parts. Properties and nullable keys of a label cannot be removed.
    Eliminate,
}

/// A schema element after the change, and the task that completes the change.
#[derive(Debug, Clone)]
pub struct WithTask<T> {
    /// The element.
    pub element: Arc<T>,
    /// The task to wait for; [`TaskId::NONE`] if the change is already complete.
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
    /// Single value, list or set.
    pub cardinality: Cardinality,
    /// How a written value is combined with the stored one.
    pub aggregate_type: AggregateType,
    /// Whether transactions or offline analysis write it.
    pub write_type: WriteType,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element with the same name and definition is an error. One with the
    /// same name and another definition always is.
    pub check_exist: bool,
}

impl NewPropertyKey {
    /// A property key with default members: a single TEXT, written by transactions.
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

/// A change of a property key's user data.
#[derive(Debug, Clone, Default)]
pub struct PropertyKeyChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed; TEXT counts as not given, since clients send it by default.
    pub data_type: Option<DataType>,
    /// Cannot be changed; SINGLE counts as not given, since clients send it by default.
    pub cardinality: Option<Cardinality>,
    /// Members to put, or to remove by name.
    pub user_data: UserData,
}

/// A vertex label to create.
#[derive(Debug, Clone)]
pub struct NewVertexLabel {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// The id strategy; by default PRIMARY_KEY if there are primary keys, else AUTOMATIC.
    pub id_strategy: Option<IdStrategy>,
    /// Names of properties.
    pub properties: Vec<String>,
    /// Names of the properties that form the id, in order.
    pub primary_keys: Vec<String>,
    /// Names of the properties that may be absent.
    pub nullable_keys: Vec<String>,
    /// Milliseconds to live; 0 = for ever.
    pub ttl: i64,
    /// Name of the DATE property from which the time to live counts.
    pub ttl_start_time: Option<String>,
    /// Whether vertices can be listed by the label.
    pub enable_label_index: bool,
    /// The retention, in text form; `None` = by the user data, else `all`.
    pub history: Option<String>,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element with the same name and definition is an error. One with the
    /// same name and another definition always is.
    pub check_exist: bool,
}

impl NewVertexLabel {
    /// A vertex label with default members: no properties, automatic ids.
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
    /// The changes that vertex and edge labels share.
    pub label: LabelChange,
}

/// The changes that vertex and edge labels share.
#[derive(Debug, Clone, Default)]
pub struct LabelChange {
    /// Names of properties to add. Those that the label does not have yet must also be in
    /// `nullable_keys`.
    pub properties: Vec<String>,
    /// Names of properties that may be absent from now on.
    pub nullable_keys: Vec<String>,
    /// Milliseconds to live. 0 counts as not given, since clients send it by default. Eliminating
    /// any other value removes the time to live and its start.
    pub ttl: i64,
    /// Name of the DATE property from which the time to live counts. Eliminating any name removes
    /// the start.
    pub ttl_start_time: Option<String>,
    /// The retention, in text form; eliminating it restores the default, `all`.
    pub history: Option<String>,
    /// Members to put, or to remove by name.
    pub user_data: UserData,
}

/// An edge label to create.
#[derive(Debug, Clone)]
pub struct NewEdgeLabel {
    /// Its id; only in mode RESTORING, and then required.
    pub id: Option<i64>,
    /// Its name.
    pub name: String,
    /// NORMAL, PARENT or SUB.
    pub label_type: EdgeLabelType,
    /// Name of the parent of a SUB label.
    pub parent: Option<String>,
    /// Name of the source's label. A source without a target is ignored, and vice versa.
    pub source: Option<String>,
    /// Name of the target's label.
    pub target: Option<String>,
    /// Pairs of names of source and target labels. Together with `source` and `target` they name
    /// exactly one pair, or none for a PARENT.
    pub links: Vec<(String, String)>,
    /// Whether two vertices may have several edges of this label; SINGLE by default.
    pub frequency: Option<Frequency>,
    /// Names of the properties that distinguish edges between the same vertices, in order.
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
    /// The retention, in text form; `None` = by the user data, else `all`.
    pub history: Option<String>,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element with the same name and definition is an error. One with the
    /// same name and another definition always is.
    pub check_exist: bool,
}

impl NewEdgeLabel {
    /// An edge label between two vertex labels, with default values for all other members.
    #[must_use]
    pub fn between(name: &str, source: &str, target: &str) -> Self {
        Self {
            source: Some(source.to_owned()),
            target: Some(target.to_owned()),
            ..Self::named(name)
        }
    }

    /// An edge label with default members and without a link. Only a PARENT, or a NORMAL label of
    /// an open graph in mode RESTORING, may be created without one.
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
    /// The changes that vertex and edge labels share.
    pub label: LabelChange,
}

/// The kind of label whose elements an index label indexes.
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
    /// The kind of label whose elements it indexes.
    pub base_type: BaseType,
    /// The name of that label.
    pub base: String,
    /// The type of the index.
    pub index_type: IndexType,
    /// Names of the indexed properties, in order.
    pub fields: Vec<String>,
    /// Whether a task indexes existing elements; otherwise they stay unindexed until a rebuild.
    pub rebuild: bool,
    /// Free-form members.
    pub user_data: UserData,
    /// Whether an existing element with the same name and definition is an error. One with the
    /// same name and another definition always is.
    pub check_exist: bool,
}

impl NewIndexLabel {
    /// An index label with default values for all other members.
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

/// A change of an index label's user data.
#[derive(Debug, Clone, Default)]
pub struct IndexLabelChange {
    /// Its name.
    pub name: String,
    /// Cannot be changed.
    pub fields: Vec<String>,
    /// Members to put, or to remove by name.
    pub user_data: UserData,
}
