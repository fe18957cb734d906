//! Instances as queries of the other doors see them: properties, classifications and header are
//! properties, and the label of an entity is its type, with the supertypes.
//!
//! The properties of the header have names that begin with one `_`. Those of a classification are
//! `Classification.property`. A property of a type whose name begins with `_` or contains a `.` has
//! `__` before its name, so that it is none of these.

mod entries;
mod header;
mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;
use varve_graph::index::{DerivedEntries, Deriver};
use varve_graph::schema::{
    Entries, Presentation, PresentedElement, PresentedLabel, PresentedNames, PresentedType,
    Presenter,
};
use varve_graph::{GraphError, Schema};
use varve_model::{
    Condition, Datum, EdgeLabelId, ElementId, Predicate, PropertyKeyId, Value, VertexLabelId,
};

use self::values::values_of;
use super::entries::InstanceDeriver;
use super::read::guid_of;
use super::rules::{FORM, Rules};
use super::state::Keys;
use crate::types::{Catalogue, ResolvedType, TypeDefCategory, TypeIndex};

/// Makes the entries of a graph's instances, and presents them to queries.
pub(super) struct PresentingDeriver {
    pub(super) entries: InstanceDeriver,
    pub(super) types: Arc<Catalogue>,
    /// Whether all instances have the entries of these types.
    pub(super) is_complete: Arc<AtomicBool>,
}

impl Deriver for PresentingDeriver {
    fn derive(
        &self,
        id: &ElementId,
        content: &[u8],
        entries: &mut DerivedEntries,
    ) -> Result<(), GraphError> {
        self.entries.derive(id, content, entries)
    }

    fn presentation(&self, schema: &Schema) -> Option<Presentation> {
        let presenter = InstancePresenter::new(self, schema);
        let before = schema.presentation();
        Some(Presentation::new(Arc::new(presenter), before))
    }
}

/// The name under which queries see a property of a type.
fn name_of_property(name: &str) -> String {
    match name.starts_with('_') || name.contains('.') {
        true => format!("__{name}"),
        false => name.to_owned(),
    }
}

/// The name under which queries see a property of a classification.
fn name_of_classified(classification: &str, property: &str) -> String {
    format!("{classification}.{property}")
}

/// Presents instances of known types.
struct InstancePresenter {
    types: Arc<Catalogue>,
    rules: Arc<Rules>,
    keys: Keys,
    /// The keys of a header, properties and classifications, ascending.
    parts: [PropertyKeyId; 3],
    header: [PropertyKeyId; 1],
    entities: FxHashMap<u32, TypeIndex>,
    relationships: FxHashMap<u32, TypeIndex>,
    is_complete: Arc<AtomicBool>,
}

impl InstancePresenter {
    fn new(of: &PresentingDeriver, schema: &Schema) -> Self {
        let keys = of.entries.keys;
        let mut parts = [keys.header, keys.properties, keys.classifications].map(PropertyKeyId);
        parts.sort_unstable();
        let (mut entities, mut relationships) = (FxHashMap::default(), FxHashMap::default());
        for (index, resolved) in of.types.types() {
            let name = resolved.name();
            match resolved.def().category() {
                TypeDefCategory::Entity => {
                    let label = schema.vertex_label_by_name(name);
                    entities.extend(label.map(|label| (label.id.0, index)));
                }
                TypeDefCategory::Relationship => {
                    let label = schema.edge_label_by_name(name);
                    relationships.extend(label.map(|label| (label.id.0, index)));
                }
                _ => {}
            }
        }
        Self {
            types: Arc::clone(&of.types),
            rules: Arc::clone(&of.entries.rules),
            keys,
            parts,
            header: [PropertyKeyId(keys.header)],
            entities,
            relationships,
            is_complete: Arc::clone(&of.is_complete),
        }
    }

    /// The types with these labels.
    fn types_of<L: Copy>(
        &self,
        labels: &FxHashMap<u32, TypeIndex>,
        label_of: fn(u32) -> L,
    ) -> Vec<PresentedType<L>> {
        let by_type: FxHashMap<TypeIndex, u32> =
            labels.iter().map(|(label, of)| (*of, *label)).collect();
        let presented = |(label, of): (&u32, &TypeIndex)| {
            let of = self.types.get(*of);
            let above = of.lineage().iter().rev().skip(1);
            let above = above.filter_map(|of| by_type.get(of).copied());
            PresentedType {
                label: label_of(*label),
                supertypes: above.map(label_of).collect(),
                properties: self.names_of(of),
            }
        };
        labels.iter().map(presented).collect()
    }

    /// The names of the properties that instances of a type may have.
    fn names_of(&self, of: &ResolvedType) -> Vec<String> {
        let own = of
            .properties()
            .iter()
            .map(|property| property.attribute.name());
        let mut names: Vec<String> = own.map(name_of_property).collect();
        names.extend(header::names().map(str::to_owned));
        for classification in of.valid_classifications() {
            let classification = self.types.get(*classification);
            for property in classification.properties() {
                let name = property.attribute.name();
                names.push(name_of_classified(classification.name(), name));
            }
        }
        names
    }

    fn resolved(&self, label: PresentedLabel) -> Option<&ResolvedType> {
        let index = match label {
            PresentedLabel::Vertex(label) => self.entities.get(&label.0),
            PresentedLabel::Edge(label) => self.relationships.get(&label.0),
        };
        index.map(|index| self.types.get(*index))
    }

    /// Gives the properties of an instance of a type.
    fn give_properties(
        of: Option<&ResolvedType>,
        stored: &Datum,
        give: &mut dyn FnMut(&str, Value),
    ) {
        header::give_effectivity(stored, give);
        for (name, stored) in values_of(stored) {
            let attribute = of.and_then(|of| of.property(name));
            let def = attribute.and_then(|property| property.attribute.type_def());
            if let Some(value) = values::value(stored, def.map(|def| &**def)) {
                give(&name_of_property(name), value);
            }
        }
    }

    /// Gives the names of classifications, and their properties.
    fn give_classifications(&self, stored: &[Datum], give: &mut dyn FnMut(&str, Value)) {
        let mut names = Vec::with_capacity(stored.len());
        for classification in stored {
            let Some(Datum::Text(name)) = classification.get("n") else {
                continue;
            };
            names.push(Value::Text(name.clone()));
            let Some(properties) = classification.get("pp") else {
                continue;
            };
            let of = self.types.by_name(name).map(|of| self.types.get(of));
            for (property, stored) in values_of(properties) {
                let attribute = of.and_then(|of| of.property(property));
                let def = attribute.and_then(|property| property.attribute.type_def());
                if let Some(value) = values::value(stored, def.map(|def| &**def)) {
                    give(&name_of_classified(name, property), value);
                }
            }
        }
        if !names.is_empty() {
            give(header::CLASSIFICATIONS, Value::List(names));
        }
    }
}

impl Presenter for InstancePresenter {
    fn names(&self) -> PresentedNames {
        PresentedNames {
            vertices: self.types_of(&self.entities, VertexLabelId),
            edges: self.types_of(&self.relationships, EdgeLabelId),
        }
    }

    fn stored_keys(&self, contents: bool) -> &[PropertyKeyId] {
        match contents {
            true => &self.parts,
            false => &self.header,
        }
    }

    fn present(
        &self,
        element: &PresentedElement<'_>,
        contents: bool,
        give: &mut dyn FnMut(&str, Value),
    ) -> Result<bool, GraphError> {
        let part = |key: u32| match element.stored.get(PropertyKeyId(key)) {
            Some(Value::Object(part)) => Some(&**part),
            _ => None,
        };
        let Some(header) = part(self.keys.header) else {
            // It is no instance: another door has written it.
            return Ok(true);
        };
        if header::is_deleted(header) {
            return Ok(false);
        }
        if !contents {
            return Ok(true);
        }
        header::give(header, give);
        let guid = match (element.id)()? {
            ElementId::Vertex(id) => guid_of(&id)?.to_owned(),
            ElementId::Edge(id) => id.sort_values.to_string(),
        };
        give(header::GUID, Value::Text(guid));
        if let Some(properties) = part(self.keys.properties) {
            Self::give_properties(self.resolved(element.label), properties, give);
        }
        if let Some(Datum::List(all)) = part(self.keys.classifications) {
            self.give_classifications(all, give);
        }
        Ok(true)
    }

    fn entries(
        &self,
        labels: &[PresentedLabel],
        is_vertices: bool,
        name: &str,
        condition: &Condition,
    ) -> Option<Vec<Entries>> {
        let Predicate::Eq(wanted) = &condition.predicate else {
            return None;
        };
        let is_present = self.is_complete.load(Ordering::Acquire) && self.rules.form == FORM;
        is_present
            .then(|| self.entries_equal(labels, is_vertices, name, wanted))
            .flatten()
    }
}
