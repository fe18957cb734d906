//! Definitions of an open graph: an index, or a constraint, by one label of vertices or one label
//! of edges.
//!
//! A vertex label of an open graph is a set of labels, and a definition covers all sets that
//! contain its label: those that exist, and those that come into being later. For each of them it
//! has *parts*, which are index labels. The change that makes a label, or adds a key to it, also
//! makes its parts.

use std::sync::Arc;

use varve_model::schema::{IndexBase, IndexType, SchemaStatus};
use varve_model::{Datum, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKeyId, VertexLabelId};

use super::catalogue::damaged;
use super::draft::Draft;
use super::index_label::about;
use super::kind::{SchemaElement, SchemaKind};
use super::name::{check_name, refuse_repeats};
use super::rule::PropertyType;
use super::snapshot::Schema;
use super::user_data;
use crate::element::DEFAULT_VERTEX_LABEL;
use crate::tasks::{TaskId, TaskType};
use crate::{ErrorKind, GraphError};

/// Partition key of the definitions in the `meta` table; the clustering key is the id (4 bytes, big
/// endian), the value a record.
pub(crate) const PARTITION: &[u8] = b"d";

/// The most definitions of a graph.
const DEFINITIONS_MAX: usize = 1_000;
/// The most keys of a definition.
const KEYS_MAX: usize = 16;
/// The most bytes of a definition's name.
const NAME_BYTES_MAX: usize = 1_024;

/// What a definition is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// It finds elements by the values of its keys.
    Range,
    /// As `Range`; made for texts.
    Text,
    /// As `Range`; made for points.
    Point,
    /// No two elements have the same values of all its keys; it also finds elements by them.
    Unique,
    /// As `Unique`, and every element has all its keys.
    Key,
    /// Every element has its key.
    Exists,
    /// The values of its key have one of its types.
    Type,
}

impl DefinitionKind {
    const ALL: [Self; 7] = [
        Self::Range,
        Self::Text,
        Self::Point,
        Self::Unique,
        Self::Key,
        Self::Exists,
        Self::Type,
    ];

    /// Its name: `RANGE`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Range => "RANGE",
            Self::Text => "TEXT",
            Self::Point => "POINT",
            Self::Unique => "UNIQUE",
            Self::Key => "KEY",
            Self::Exists => "EXISTS",
            Self::Type => "TYPE",
        }
    }

    /// Whether every state of an element is checked by itself.
    #[must_use]
    pub const fn is_rule(self) -> bool {
        matches!(self, Self::Key | Self::Exists | Self::Type)
    }

    /// The types of its parts for one label.
    const fn part_types(self) -> &'static [IndexType] {
        match self {
            // All values in one order.
            Self::Range | Self::Text => &[IndexType::Shard],
            Self::Point => &[IndexType::Secondary],
            Self::Unique | Self::Key => &[IndexType::Unique, IndexType::Secondary],
            Self::Exists | Self::Type => &[],
        }
    }
}

/// A definition to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDefinition {
    /// Its name, unique among definitions.
    pub name: String,
    /// What it is for.
    pub kind: DefinitionKind,
    /// Whether it is about edges.
    pub is_of_edges: bool,
    /// The label of its elements.
    pub label: String,
    /// The property keys, in order. They need not exist.
    pub keys: Vec<String>,
    /// The types that values may have; only of kind `Type`.
    pub types: Vec<PropertyType>,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its id, which no index label has.
    pub id: IndexLabelId,
    /// What it defines.
    pub of: NewDefinition,
    /// The index labels that serve it; removed ones may be among them.
    pub parts: Vec<IndexLabelId>,
    /// Whether the elements that were stored before a rule are checked against it.
    pub is_checked: bool,
}

/// How far a definition is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionState {
    /// All parts are complete, and the elements of before are checked.
    Complete,
    /// A part is being built, or the elements of before are not checked yet.
    Building,
    /// A part could not be built.
    Failed,
}

impl Definition {
    /// How far it is served.
    #[must_use]
    pub fn state(&self, schema: &Schema) -> DefinitionState {
        match self.parts_state(schema) {
            DefinitionState::Complete if !self.is_checked => DefinitionState::Building,
            state => state,
        }
    }

    /// How far its parts are built.
    #[must_use]
    pub fn parts_state(&self, schema: &Schema) -> DefinitionState {
        let parts = self.parts.iter().filter_map(|id| schema.index_label(*id));
        let mut state = DefinitionState::Complete;
        for part in parts {
            match part.status {
                SchemaStatus::Created | SchemaStatus::Removed | SchemaStatus::Deleting => {}
                SchemaStatus::Creating | SchemaStatus::Rebuilding => {
                    state = DefinitionState::Building;
                }
                SchemaStatus::Undeleted | SchemaStatus::Invalid => return DefinitionState::Failed,
            }
        }
        state
    }

    /// Whether the elements of a label have its label.
    pub(super) fn covers(&self, schema: &Schema, base: IndexBase) -> bool {
        let wanted = self.of.label.as_str();
        match base {
            IndexBase::Vertex(id) if !self.of.is_of_edges => {
                let name = schema.vertex_label_name(id);
                name != DEFAULT_VERTEX_LABEL && name.split("::").any(|one| one == wanted)
            }
            IndexBase::Edge(id) if self.of.is_of_edges => schema.edge_label_name(id) == wanted,
            _ => false,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let text = |text: &str| Datum::Text(text.to_owned());
        let of = &self.of;
        let keys = of.keys.iter().map(|key| text(key)).collect();
        let parts = self.parts.iter().map(|part| Datum::Int(part.0.into()));
        let types = of.types.iter().map(|one| Datum::Text(one.to_string()));
        let members = [
            ("name", text(&of.name)),
            ("kind", text(of.kind.name())),
            ("edges", Datum::Bool(of.is_of_edges)),
            ("label", text(&of.label)),
            ("keys", Datum::List(keys)),
            ("parts", Datum::List(parts.collect())),
            ("types", Datum::List(types.collect())),
            ("checked", Datum::Bool(self.is_checked)),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), value));
        varve_encoding::datum::to_bytes(&Datum::Map(members.into()))
    }

    /// Reads a stored definition.
    pub(super) fn from_row(key: &[u8], value: &[u8]) -> Result<Self, GraphError> {
        let record = varve_encoding::datum::decode(value)?;
        let read = || {
            let text = |datum: &Datum| match datum {
                Datum::Text(text) => Some(text.clone()),
                _ => None,
            };
            let part = |datum: &Datum| match datum {
                Datum::Int(id) => u32::try_from(*id).ok().map(IndexLabelId),
                _ => None,
            };
            let member = |name: &str| record.get(name).and_then(text);
            let kind = member("kind")?;
            let (Datum::List(keys), Datum::List(parts)) =
                (record.get("keys")?, record.get("parts")?)
            else {
                return None;
            };
            // Records of earlier releases have no types.
            let types = match record.get("types") {
                Some(Datum::List(types)) => &types[..],
                _ => &[],
            };
            let types = types.iter().map(|one| PropertyType::from_name(&text(one)?));
            let of = NewDefinition {
                name: member("name")?,
                kind: DefinitionKind::ALL
                    .into_iter()
                    .find(|one| one.name() == kind)?,
                is_of_edges: matches!(record.get("edges")?, Datum::Bool(true)),
                label: member("label")?,
                keys: keys.iter().map(text).collect::<Option<_>>()?,
                types: types.collect::<Option<_>>()?,
            };
            Some(Self {
                id: IndexLabelId(u32::from_be_bytes(key.try_into().ok()?)),
                of,
                parts: parts.iter().map(part).collect::<Option<_>>()?,
                is_checked: !matches!(record.get("checked"), Some(Datum::Bool(false))),
            })
        };
        read().ok_or_else(|| damaged("the record of a definition"))
    }
}

impl NewDefinition {
    /// Whether a graph cannot have both: they have one label, the same keys, and one kind. `Unique`
    /// and `Key` count as `Range`, which they include.
    fn excludes(&self, other: &Self) -> bool {
        let kind = |of: &Self| match of.kind {
            DefinitionKind::Unique | DefinitionKind::Key => DefinitionKind::Range,
            kind => kind,
        };
        kind(self) == kind(other)
            && self.is_of_edges == other.is_of_edges
            && self.label == other.label
            && self.keys == other.keys
    }

    fn check(&self) -> Result<(), GraphError> {
        for name in self.keys.iter().chain([&self.label]) {
            check_name(name)?;
        }
        if self.name.is_empty() || self.keys.is_empty() {
            return Err(GraphError::invalid("The name can't be empty."));
        }
        if self.name.len() > NAME_BYTES_MAX || self.keys.len() > KEYS_MAX {
            return Err(GraphError::new(
                ErrorKind::LimitExceeded,
                format!(
                    "A name has at most {NAME_BYTES_MAX} bytes, and an index at most {KEYS_MAX} \
                     properties"
                ),
            ));
        }
        let is_of_one = matches!(self.kind, DefinitionKind::Exists | DefinitionKind::Type);
        if is_of_one && self.keys.len() > 1 {
            return Err(GraphError::invalid(
                "A constraint of existence or type has one property",
            ));
        }
        if (self.kind == DefinitionKind::Type) == self.types.is_empty() {
            return Err(GraphError::invalid("A constraint of type has types"));
        }
        refuse_repeats("index fields", &self.keys)
    }
}

/// Creates a definition and its parts. Returns the tasks that build them.
pub(super) fn create(
    draft: &mut Draft<'_>,
    new: NewDefinition,
) -> Result<(Arc<Definition>, Vec<TaskId>), GraphError> {
    if !draft.schema.is_open() {
        return Err(GraphError::new(
            ErrorKind::NotAllowed,
            format!(
                "The schema of graph '{}' is declared: an index is on one label of it",
                draft.graph_name
            ),
        ));
    }
    new.check()?;
    let mut all = draft.schema.definitions().iter();
    let is_taken = draft.schema.index_label_by_name(&new.name).is_some();
    if is_taken || all.any(|one| one.of.name == new.name || one.of.excludes(&new)) {
        return Err(SchemaKind::IndexLabel.existed(&new.name));
    }
    if draft.schema.definitions().len() >= DEFINITIONS_MAX {
        return Err(GraphError::new(
            ErrorKind::LimitExceeded,
            format!("A graph has at most {DEFINITIONS_MAX} indexes and constraints of labels"),
        ));
    }
    let mut definition = Definition {
        id: IndexLabelId(draft.hidden_index_id()?),
        is_checked: !new.kind.is_rule(),
        of: new,
        parts: Vec::new(),
    };
    let schema = draft.schema.clone();
    let vertices = schema.all_vertex_labels();
    let vertices = vertices.map(|label| IndexBase::Vertex(label.id));
    let edges = schema.all_edge_labels();
    let bases = vertices.chain(edges.map(|label| IndexBase::Edge(label.id)));
    let mut tasks = Vec::new();
    for base in bases {
        tasks.extend(serve(draft, &mut definition, base, &schema)?);
    }
    put(draft, definition.clone());
    Ok((Arc::new(definition), tasks))
}

/// Makes the parts that changed labels lack. `before`: the schema before the change.
pub(super) fn serve_changed(draft: &mut Draft<'_>, before: &Schema) -> Result<(), GraphError> {
    if draft.schema.definitions().is_empty() {
        return Ok(());
    }
    let base = |(kind, id): &(SchemaKind, u32)| match kind {
        SchemaKind::VertexLabel => Some(IndexBase::Vertex(VertexLabelId(*id))),
        SchemaKind::EdgeLabel => Some(IndexBase::Edge(EdgeLabelId(*id))),
        SchemaKind::PropertyKey | SchemaKind::IndexLabel => None,
    };
    let bases: Vec<IndexBase> = draft.changed.iter().filter_map(base).collect();
    if bases.is_empty() {
        return Ok(());
    }
    for definition in draft.schema.definitions().to_vec() {
        let mut grown = Definition::clone(&definition);
        for base in &bases {
            serve(draft, &mut grown, *base, before)?;
        }
        if grown.parts.len() > definition.parts.len() {
            put(draft, grown);
        }
    }
    Ok(())
}

/// Makes the parts for one label, if the definition covers it and the label has all keys. Returns
/// the tasks that build them.
fn serve(
    draft: &mut Draft<'_>,
    definition: &mut Definition,
    base: IndexBase,
    before: &Schema,
) -> Result<Vec<TaskId>, GraphError> {
    let schema = &draft.schema;
    let Some(own) = properties(schema, base).filter(|_| definition.covers(schema, base)) else {
        return Ok(Vec::new());
    };
    let field = |name: &String| {
        let key = schema.property_key_by_name(name)?;
        (key.is_usable() && own.contains(&key.id)).then_some(key.id)
    };
    let fields = definition.of.keys.iter().map(field);
    let Some(fields) = fields.collect::<Option<Vec<_>>>() else {
        return Ok(Vec::new());
    };
    // No element of the label has a key that the label had not before.
    let old = properties(before, base);
    let is_new = |field: &PropertyKeyId| old.is_none_or(|old| !old.contains(field));
    let mut tasks = Vec::new();
    for index_type in definition.of.kind.part_types() {
        // Such an index has the elements with its first field.
        let is_empty = match index_type {
            IndexType::Secondary | IndexType::Shard => is_new(&fields[0]),
            _ => fields.iter().any(is_new),
        };
        let serves =
            |part: &&Arc<IndexLabel>| part.fields == fields && part.index_type == *index_type;
        let mut served = draft.schema.kept_on(base).iter().filter(serves);
        if served.any(|part| definition.parts.contains(&part.id)) {
            continue;
        }
        let mut served = draft.schema.kept_on(base).iter().filter(serves);
        let shared = served.find(|part| draft.schema.definition_of(part.id).is_some());
        if let (IndexType::Secondary | IndexType::Shard, Some(shared)) = (index_type, shared) {
            definition.parts.push(shared.id);
            continue;
        }
        let group = (*index_type == IndexType::Unique).then_some(definition.id);
        let part = new_part(draft, (base, *index_type, &fields), group, is_empty)?;
        definition.parts.push(part.id);
        if !is_empty {
            tasks.push(draft.add_task(about(TaskType::RebuildIndex, &part))?);
        }
    }
    Ok(tasks)
}

fn new_part(
    draft: &mut Draft<'_>,
    (base, index_type, fields): (IndexBase, IndexType, &[PropertyKeyId]),
    group: Option<IndexLabelId>,
    is_complete: bool,
) -> Result<Arc<IndexLabel>, GraphError> {
    let number = draft.hidden_index_id()?;
    let name = part_name(&draft.schema, base, number);
    Ok(draft.put(IndexLabel {
        id: IndexLabelId(number),
        name,
        base,
        index_type,
        fields: fields.to_vec(),
        group,
        buckets: 1,
        status: match is_complete {
            true => SchemaStatus::Created,
            false => SchemaStatus::Creating,
        },
        user_data: user_data::created(Vec::new(), draft.now),
    }))
}

/// The properties of a usable label.
fn properties(schema: &Schema, base: IndexBase) -> Option<&[PropertyKeyId]> {
    match base {
        IndexBase::Vertex(id) => {
            let label = schema.vertex_label(id).filter(|label| label.is_usable())?;
            Some(&label.properties)
        }
        IndexBase::Edge(id) => {
            let label = schema.edge_label(id).filter(|label| label.is_usable())?;
            Some(&label.properties)
        }
        IndexBase::Olap => None,
    }
}

/// A name that no index label has: the number of the index and the name of its label.
fn part_name(schema: &Schema, base: IndexBase, number: u32) -> String {
    let label = match base {
        IndexBase::Vertex(id) => schema.vertex_label_name(id),
        IndexBase::Edge(id) => schema.edge_label_name(id),
        IndexBase::Olap => "",
    };
    let mut name = format!("*{number}_{}", label.replace("::", "_"));
    while schema.index_label_by_name(&name).is_some() {
        name.push('_');
    }
    name
}

/// Removes a definition. Its parts are removed by tasks, unless another definition has them.
pub(super) fn remove(draft: &mut Draft<'_>, name: &str) -> Result<Arc<Definition>, GraphError> {
    let mut all = draft.schema.definitions().iter();
    let found = all.find(|one| one.of.name == name).cloned();
    let definition = found.ok_or_else(|| SchemaKind::IndexLabel.not_found(name))?;
    let key = definition.id.0.to_be_bytes();
    draft.batch.delete(draft.tables.meta, PARTITION, &key);
    draft.schema.remove_definition(definition.id);
    for id in &definition.parts {
        let part = draft.schema.index_label(*id).cloned();
        let part = part.filter(|part| part.status != SchemaStatus::Removed);
        if let Some(part) = part.filter(|part| draft.schema.definition_of(part.id).is_none()) {
            draft.set_status(&part, SchemaStatus::Deleting);
            draft.add_task(about(TaskType::RemoveSchema, &part))?;
        }
    }
    Ok(definition)
}

/// Records that the elements of before are checked.
pub(super) fn set_checked(draft: &mut Draft<'_>, id: IndexLabelId) -> Result<(), GraphError> {
    let mut all = draft.schema.definitions().iter();
    let found = all.find(|one| one.id == id).cloned();
    let definition = found.ok_or_else(|| SchemaKind::IndexLabel.not_found(&id.to_string()))?;
    put(
        draft,
        Definition {
            is_checked: true,
            ..Definition::clone(&definition)
        },
    );
    Ok(())
}

fn put(draft: &mut Draft<'_>, definition: Definition) {
    let key = definition.id.0.to_be_bytes();
    let bytes = definition.to_bytes();
    draft.batch.put(draft.tables.meta, PARTITION, &key, &bytes);
    draft.schema.put_definition(definition);
}

/// Refuses to remove an index label that serves a definition.
pub(super) fn refuse_part(schema: &Schema, index: IndexLabelId) -> Result<(), GraphError> {
    let Some(definition) = schema.definition_of(index) else {
        return Ok(());
    };
    Err(GraphError::new(
        ErrorKind::NotAllowed,
        format!(
            "The index label belongs to '{}', which Cypher's DROP removes",
            definition.of.name
        ),
    ))
}
