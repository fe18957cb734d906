//! The types in the store: their labels in the graph, and the rules of their index entries.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use varve_graph::index::Deriver;
use varve_graph::schema::{NewEdgeLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::{Graph, GraphError, Schema};
use varve_model::value::DataType;

use super::entries::InstanceDeriver;
use super::made::{
    CLASSIFICATION_BYTES_MAX, ENTITY_BYTES_MAX, MadeClassifications, MadeEntity, MadeJson,
};
use super::rules::Rules;
use super::texts::Texts;
use crate::store::Subject;
use crate::types::{Catalogue, ResolvedType, TypeDefCategory, TypeIndex};

/// The property keys that hold the parts of instances.
const PROPERTY_KEYS: [&str; 3] = ["header", "properties", "classifications"];

/// The ids of the property keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) header: u32,
    pub(super) properties: u32,
    pub(super) classifications: u32,
}

impl Keys {
    /// The keys in a schema; `None` if one is missing.
    pub(super) fn of(schema: &Schema) -> Option<Self> {
        let [header, properties, classifications] = PROPERTY_KEYS.map(|name| {
            let key = schema.property_key_by_name(name)?;
            (key.data_type == DataType::Object).then_some(key.id.0)
        });
        Some(Self {
            header: header?,
            properties: properties?,
            classifications: classifications?,
        })
    }
}

/// The types, and their labels and property keys in the graph. Immutable: a change of the types
/// makes a new value.
pub(super) struct TypesInGraph {
    pub(super) types: Arc<Catalogue>,
    pub(super) keys: Keys,
    pub(super) rules: Arc<Rules>,
    pub(super) known_texts: Arc<Texts>,
    /// Cached JSON of classifications of these types.
    pub(super) made: MadeJson<MadeClassifications>,
    /// Cached JSON of entities of these types.
    pub(super) made_entities: MadeJson<MadeEntity>,
    labels: FxHashMap<TypeIndex, u32>,
    entity_types: FxHashMap<u32, TypeIndex>,
    relationship_types: FxHashMap<u32, TypeIndex>,
    /// The entity types without a supertype, then the relationship types without one.
    roots: [Vec<TypeIndex>; 2],
}

impl TypesInGraph {
    pub(super) fn new(
        types: Arc<Catalogue>,
        keys: Keys,
        rules: Arc<Rules>,
        labels: FxHashMap<TypeIndex, u32>,
        known_texts: Arc<Texts>,
    ) -> Self {
        let (mut entity_types, mut relationship_types) =
            (FxHashMap::default(), FxHashMap::default());
        let mut roots = [Vec::new(), Vec::new()];
        for (index, label) in &labels {
            let of = types.get(*index);
            if of.depth() == 0 {
                let is_entity = of.def().category() == TypeDefCategory::Entity;
                roots[usize::from(!is_entity)].push(*index);
            }
            match types.get(*index).def().category() {
                TypeDefCategory::Entity => entity_types.insert(*label, *index),
                _ => relationship_types.insert(*label, *index),
            };
        }
        Self {
            types,
            keys,
            rules,
            known_texts,
            made: MadeJson::new(CLASSIFICATION_BYTES_MAX),
            made_entities: MadeJson::new(ENTITY_BYTES_MAX),
            labels,
            entity_types,
            relationship_types,
            roots,
        }
    }

    /// The types without a supertype, of entities or of relationships.
    pub(super) fn roots(&self, subject: Subject) -> &[TypeIndex] {
        match subject {
            Subject::Entities => &self.roots[0],
            Subject::Relationships => &self.roots[1],
        }
    }

    /// The number of distinct texts in instances ([`Texts`]); `None` unless all are known.
    pub(super) fn texts(&self) -> Option<usize> {
        self.known_texts.count(|| self.text_reader())
    }

    /// Starts to collect the distinct texts in instances.
    pub(super) fn begin_texts(&self) {
        self.known_texts.begin(|| self.text_reader());
    }

    fn text_reader(&self) -> Box<dyn Deriver> {
        Box::new(InstanceDeriver {
            rules: Arc::clone(&self.rules),
            keys: self.keys,
            texts: Some(Arc::clone(&self.known_texts)),
        })
    }

    /// The label of a type of entities or relationships.
    pub(super) fn label(&self, of: TypeIndex) -> Option<u32> {
        self.labels.get(&of).copied()
    }

    /// The type of entities with this label.
    pub(super) fn entity_type(&self, label: u32) -> Option<TypeIndex> {
        self.entity_types.get(&label).copied()
    }

    /// The type of relationships with this label.
    pub(super) fn relationship_type(&self, label: u32) -> Option<TypeIndex> {
        self.relationship_types.get(&label).copied()
    }

    pub(super) fn resolved(&self, of: Option<TypeIndex>) -> Option<&ResolvedType> {
        of.map(|of| self.types.get(of))
    }
}

/// Creates the missing labels of the types of entities and relationships, and the missing property
/// keys. Returns the labels.
pub(super) fn ensure_labels(
    graph: &Graph,
    types: &Catalogue,
) -> Result<FxHashMap<TypeIndex, u32>, GraphError> {
    let schema = graph.schema();
    let missing_key = |name: &&&str| schema.property_key_by_name(name).is_none();
    let keys: Vec<NewPropertyKey> = PROPERTY_KEYS
        .iter()
        .filter(missing_key)
        .map(|name| NewPropertyKey {
            data_type: DataType::Object,
            ..NewPropertyKey::named(name)
        })
        .collect();
    let (mut vertex_labels, mut edge_labels) = (Vec::new(), Vec::new());
    for (_, of) in types.types() {
        match of.def().category() {
            TypeDefCategory::Entity if schema.vertex_label_by_name(of.name()).is_none() => {
                vertex_labels.push(vertex_label(of));
            }
            TypeDefCategory::Relationship if schema.edge_label_by_name(of.name()).is_none() => {
                edge_labels.extend(edge_label(types, of));
            }
            _ => {}
        }
    }
    graph
        .catalogue()
        .create_many(keys, vertex_labels, edge_labels)?;
    let schema = graph.schema();
    let label = |(index, of): (TypeIndex, &ResolvedType)| {
        let label = match of.def().category() {
            TypeDefCategory::Entity => schema.vertex_label_by_name(of.name())?.id.0,
            TypeDefCategory::Relationship => schema.edge_label_by_name(of.name())?.id.0,
            _ => return None,
        };
        Some((index, label))
    };
    Ok(types.types().filter_map(label).collect())
}

fn property_names() -> Vec<String> {
    PROPERTY_KEYS.map(str::to_owned).to_vec()
}

fn vertex_label(of: &ResolvedType) -> NewVertexLabel {
    NewVertexLabel {
        id_strategy: Some(varve_model::schema::IdStrategy::CustomizeString),
        properties: property_names(),
        nullable_keys: property_names(),
        ..NewVertexLabel::named(of.name())
    }
}

/// Creates an edge label between the two types that the definition names. The ends of an edge may
/// also have subtypes of these types.
fn edge_label(types: &Catalogue, of: &ResolvedType) -> Option<NewEdgeLabel> {
    let [one, two] = of.ends()?.map(|end| types.get(end).name());
    Some(NewEdgeLabel {
        properties: property_names(),
        nullable_keys: property_names(),
        ..NewEdgeLabel::between(of.name(), one, two)
    })
}
