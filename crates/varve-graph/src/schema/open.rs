//! Open schemas: labels and property keys that are created on first use.
//!
//! The result is an ordinary schema: every key of a label is nullable, a vertex label takes the id
//! strategy of its first vertex, and an edge label links any vertices and has frequency MULTIPLE
//! without sort keys.

use std::sync::Arc;

use varve_kv::{Batch, Durability, ReaderExt, Space};
use varve_model::schema::{EdgeLabelType, Frequency, IdStrategy, Retention, SchemaStatus};
use varve_model::value::DataType;
use varve_model::{EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, VertexLabel, VertexLabelId};

use super::catalogue::{SchemaTables, damaged};
use super::draft::Draft;
use super::kind::SchemaElement;
use super::mode::SchemaMode;
use super::name::{check_label_set, check_name};
use super::request::NewPropertyKey;
use super::snapshot::Schema;
use super::{property_key, user_data};
use crate::{ErrorKind, GraphError};

/// Default of the most labels and keys of an open graph; beyond it, none is created on first use.
pub const OPEN_SCHEMA_MAX: usize = 10_000;

/// Partition key of settings in the `meta` table.
const SETTINGS: &[u8] = b"s";
/// The setting with the name of the schema's mode. A graph without it has a declared schema.
const SCHEMA: &[u8] = b"schema";

/// The labels and keys that some data uses, by name.
#[derive(Debug, Clone, Default)]
pub struct FirstUse<'a> {
    /// Keys that need not be in a label, such as those of meta-properties, each with its value's
    /// [`varve_model::Value::data_type`].
    pub property_keys: Vec<(&'a str, DataType)>,
    /// Labels of vertices.
    pub vertex_labels: Vec<LabelUse<'a>>,
    /// Labels of edges.
    pub edge_labels: Vec<LabelUse<'a>>,
}

/// A label and the keys of its elements.
#[derive(Debug, Clone, Default)]
pub struct LabelUse<'a> {
    /// The label's name.
    pub name: &'a str,
    /// The id strategy of the first vertex; `None` = AUTOMATIC, and for edge labels.
    pub ids: Option<IdStrategy>,
    /// The keys with the types of their values.
    pub keys: Vec<(&'a str, DataType)>,
}

impl<'a> FirstUse<'a> {
    fn all_keys(&self) -> impl Iterator<Item = (&'a str, DataType)> {
        let labels = self.vertex_labels.iter().chain(&self.edge_labels);
        let listed = labels.flat_map(|label| &label.keys);
        self.property_keys.iter().chain(listed).copied()
    }
}

/// Stores the schema mode of a new graph.
pub(crate) fn put_mode(space: &dyn Space, mode: SchemaMode) -> Result<(), GraphError> {
    if mode == SchemaMode::Declared {
        return Ok(());
    }
    let mut batch = Batch::new();
    let meta = SchemaTables::default().meta;
    batch.put(meta, SETTINGS, SCHEMA, mode.name().as_bytes());
    Ok(space.write(&batch, Durability::Sync)?)
}

/// Reads the schema mode of a stored graph.
pub(super) fn stored_mode(
    space: &dyn Space,
    tables: SchemaTables,
) -> Result<SchemaMode, GraphError> {
    let Some(name) = space.get(tables.meta, SETTINGS, SCHEMA)? else {
        return Ok(SchemaMode::Declared);
    };
    let mode = std::str::from_utf8(&name)
        .ok()
        .and_then(SchemaMode::from_name);
    mode.ok_or_else(|| damaged("the mode of the schema"))
}

/// Whether the schema contains everything in `used`.
pub(crate) fn has_all(schema: &Schema, used: &FirstUse<'_>) -> bool {
    let key = |name: &str| {
        let found = schema.property_key_by_name(name);
        found.filter(|key| key.is_usable())
    };
    let lists = |properties: &[PropertyKeyId], keys: &[(&str, DataType)]| {
        let mut each = keys.iter();
        each.all(|(name, _)| key(name).is_some_and(|key| properties.contains(&key.id)))
    };
    schema.is_open()
        && used
            .all_keys()
            .all(|(name, data_type)| key(name).is_some_and(|key| takes(key, data_type)))
        && used.vertex_labels.iter().all(|label| {
            let found = schema.vertex_label_by_name(label.name);
            found.is_some_and(|l| l.is_usable() && lists(&l.properties, &label.keys))
        })
        && used.edge_labels.iter().all(|label| {
            let found = schema.edge_label_by_name(label.name);
            found.is_some_and(|l| l.is_usable() && lists(&l.properties, &label.keys))
        })
}

fn takes(key: &PropertyKey, data_type: DataType) -> bool {
    key.data_type == data_type || key.data_type == DataType::Object
}

/// Creates what is missing of `used`. `max` is the most labels and keys of the graph.
pub(super) fn make(
    draft: &mut Draft<'_>,
    used: &FirstUse<'_>,
    max: usize,
) -> Result<(), GraphError> {
    if !draft.schema.is_open() {
        return Err(GraphError::new(
            ErrorKind::NotAllowed,
            format!(
                "The schema of graph '{}' is declared: labels and keys are not made on first use",
                draft.graph_name
            ),
        ));
    }
    let before = size(&draft.schema);
    for (name, data_type) in used.all_keys() {
        ensure_key(draft, name, data_type)?;
    }
    for label in &used.vertex_labels {
        ensure_vertex_label(draft, label)?;
    }
    for label in &used.edge_labels {
        ensure_edge_label(draft, label)?;
    }
    let after = size(&draft.schema);
    if after > before && after > max {
        return Err(GraphError::new(
            ErrorKind::LimitExceeded,
            format!(
                "Graph '{}' would have {after} labels and keys; gremlin.open_schema_max is {max}",
                draft.graph_name
            ),
        ));
    }
    Ok(())
}

/// Returns the number of labels and keys.
fn size(schema: &Schema) -> usize {
    schema.all_property_keys().count()
        + schema.all_vertex_labels().count()
        + schema.all_edge_labels().count()
}

/// Returns the element, or an error if it is being removed.
fn usable<T: SchemaElement>(found: Option<&Arc<T>>) -> Result<Option<Arc<T>>, GraphError> {
    match found {
        None => Ok(None),
        Some(element) if element.is_usable() => Ok(Some(Arc::clone(element))),
        Some(element) => Err(T::KIND.undefined(element.name())),
    }
}

fn ensure_key(draft: &mut Draft<'_>, name: &str, data_type: DataType) -> Result<(), GraphError> {
    let Some(key) = usable(draft.schema.property_key_by_name(name))? else {
        let new = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        return property_key::create(draft, new).map(drop);
    };
    if takes(&key, data_type) {
        return Ok(());
    }
    if let Some(user) = user_of_type(&draft.schema, key.id) {
        return Err(GraphError::new(
            ErrorKind::NotAllowed,
            format!(
                "Property key '{name}' takes values of type {} only, since {user} uses it",
                key.data_type
            ),
        ));
    }
    let mut any = PropertyKey::clone(&key);
    any.data_type = DataType::Object;
    draft.put(any);
    Ok(())
}

/// Returns a schema element that depends on the data type of a key: by an index, an id, a sort key
/// or a time to live. Indexes of definitions take values of all types.
fn user_of_type(schema: &Schema, key: PropertyKeyId) -> Option<String> {
    let index = schema.all_index_labels().find(|index| {
        index.fields.contains(&key)
            && index.status != SchemaStatus::Deleting
            && schema.definition_of(index.id).is_none()
    });
    if let Some(index) = index {
        return Some(format!("index label '{}'", index.name));
    }
    let vertex_label = schema
        .all_vertex_labels()
        .find(|label| label.primary_keys.contains(&key) || label.ttl_start_time == Some(key));
    if let Some(label) = vertex_label {
        return Some(format!("vertex label '{}'", label.name));
    }
    let edge_label = schema
        .all_edge_labels()
        .find(|label| label.sort_keys.contains(&key) || label.ttl_start_time == Some(key));
    edge_label.map(|label| format!("edge label '{}'", label.name))
}

/// Adds the named keys to the properties of a label, ascending; `None` if it already has all.
fn with_keys(
    schema: &Schema,
    properties: &[PropertyKeyId],
    keys: &[(&str, DataType)],
) -> Result<Option<Vec<PropertyKeyId>>, GraphError> {
    let mut all = properties.to_vec();
    for (name, _) in keys {
        let id = schema.require_property_key(name)?.id;
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all.sort_unstable();
    Ok((all.len() > properties.len()).then_some(all))
}

/// Returns the nullable keys of a label whose properties have grown from `before` to `now`.
fn nullable(
    nullable: &[PropertyKeyId],
    before: &[PropertyKeyId],
    now: &[PropertyKeyId],
) -> Vec<PropertyKeyId> {
    let added = now.iter().filter(|key| !before.contains(key));
    let mut all: Vec<PropertyKeyId> = nullable.iter().chain(added).copied().collect();
    all.sort_unstable();
    all
}

fn ensure_vertex_label(draft: &mut Draft<'_>, used: &LabelUse<'_>) -> Result<(), GraphError> {
    let found = usable(draft.schema.vertex_label_by_name(used.name))?;
    let mut label = match &found {
        Some(label) => VertexLabel::clone(label),
        None => new_vertex_label(draft, used)?,
    };
    let grown = with_keys(&draft.schema, &label.properties, &used.keys)?;
    if found.is_none() || grown.is_some() {
        if let Some(properties) = grown {
            label.nullable_keys = nullable(&label.nullable_keys, &label.properties, &properties);
            label.properties = properties;
        }
        draft.put(label);
    }
    Ok(())
}

fn new_vertex_label(draft: &mut Draft<'_>, used: &LabelUse<'_>) -> Result<VertexLabel, GraphError> {
    check_label_set(used.name)?;
    let id = draft.new_id::<VertexLabel>(None, |_, _| false)?;
    Ok(VertexLabel {
        id: VertexLabelId(id),
        name: used.name.to_owned(),
        id_strategy: used.ids.unwrap_or(IdStrategy::Automatic),
        properties: Vec::new(),
        primary_keys: Vec::new(),
        nullable_keys: Vec::new(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index: true,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: user_data::created(Vec::new(), draft.now),
    })
}

fn ensure_edge_label(draft: &mut Draft<'_>, used: &LabelUse<'_>) -> Result<(), GraphError> {
    let found = usable(draft.schema.edge_label_by_name(used.name))?;
    let mut label = match &found {
        Some(label) => EdgeLabel::clone(label),
        None => new_edge_label(draft, used.name)?,
    };
    let grown = with_keys(&draft.schema, &label.properties, &used.keys)?;
    if found.is_none() || grown.is_some() {
        if let Some(properties) = grown {
            label.nullable_keys = nullable(&label.nullable_keys, &label.properties, &properties);
            label.properties = properties;
        }
        draft.put(label);
    }
    Ok(())
}

fn new_edge_label(draft: &mut Draft<'_>, name: &str) -> Result<EdgeLabel, GraphError> {
    check_name(name)?;
    let id = draft.new_id::<EdgeLabel>(None, |_, _| false)?;
    Ok(EdgeLabel {
        id: EdgeLabelId(id),
        name: name.to_owned(),
        label_type: EdgeLabelType::Normal,
        parent: None,
        link: None,
        frequency: Frequency::Multiple,
        sort_keys: Vec::new(),
        properties: Vec::new(),
        nullable_keys: Vec::new(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index: true,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: user_data::created(Vec::new(), draft.now),
    })
}
