//! Types with all that they inherit.

use std::sync::{Arc, OnceLock};

use super::{
    Catalogue, RelationshipKind, TypeDef, TypeDefAttribute, TypeDefCategory, TypeDefKind,
    TypeDefLink, TypeIndex,
};
use crate::instances::InstanceType;
use crate::json::Shared;

/// A type with everything that follows from it and its supertypes.
#[derive(Debug, Clone)]
pub struct ResolvedType {
    def: Arc<TypeDef>,
    /// From the root to the type itself.
    lineage: Vec<TypeIndex>,
    direct_subtypes: Vec<TypeIndex>,
    /// Ordered by name.
    properties: Vec<DefinedProperty>,
    instance_type: Shared<InstanceType>,
    /// Sorted; for entity types only.
    valid_classifications: Vec<TypeIndex>,
    /// For relationship types only.
    ends: Option<[TypeIndex; 2]>,
}

/// A property of a type: its own or inherited.
#[derive(Debug, Clone)]
pub struct DefinedProperty {
    /// The definition.
    pub attribute: Arc<TypeDefAttribute>,
    /// The type that defines it.
    pub defined_by: TypeIndex,
    /// JSON that follows from the definition. Types that inherit the property share it.
    json: Arc<OnceLock<String>>,
}

impl DefinedProperty {
    /// JSON that follows from the definition. `make` is called for the first request only, and must
    /// always return the same.
    pub(crate) fn json(&self, make: impl FnOnce() -> String) -> &str {
        self.json.get_or_init(make)
    }
}

impl ResolvedType {
    /// The definition, as it was given.
    #[must_use]
    pub fn def(&self) -> &Arc<TypeDef> {
        &self.def
    }

    /// The type's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.def.name()
    }

    /// The type's GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.def.guid()
    }

    /// The number of its supertypes: 0 for a root.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.lineage.len() - 1
    }

    /// The types from the root to this one, which is the last.
    #[must_use]
    pub fn lineage(&self) -> &[TypeIndex] {
        &self.lineage
    }

    /// The types that have this one as their direct supertype.
    #[must_use]
    pub fn direct_subtypes(&self) -> &[TypeIndex] {
        &self.direct_subtypes
    }

    /// The properties of its instances, its own and inherited, sorted by name. A property that the
    /// type redefines has the type's own definition.
    #[must_use]
    pub fn properties(&self) -> &[DefinedProperty] {
        &self.properties
    }

    /// The property `name`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&DefinedProperty> {
        let at = position(&self.properties, name).ok()?;
        Some(&self.properties[at])
    }

    /// The type as each instance's header has it.
    #[must_use]
    pub fn instance_type(&self) -> &Shared<InstanceType> {
        &self.instance_type
    }

    /// The classifications that entities of this type may carry, in the catalogue's order. Empty
    /// for other types.
    #[must_use]
    pub fn valid_classifications(&self) -> &[TypeIndex] {
        &self.valid_classifications
    }

    /// The entity types at the two ends of a relationship type.
    #[must_use]
    pub fn ends(&self) -> Option<[TypeIndex; 2]> {
        self.ends
    }
}

fn position(properties: &[DefinedProperty], name: &str) -> Result<usize, usize> {
    properties.binary_search_by(|property| property.attribute.name().cmp(name))
}

impl Catalogue {
    /// The type to which `link` refers: by GUID, or by name if it has no GUID.
    pub(super) fn linked(&self, link: &TypeDefLink) -> Option<TypeIndex> {
        match link.guid() {
            "" => self.by_name(link.name()),
            guid => self.by_guid(guid),
        }
    }

    /// Resolves all types. All definitions must have passed their checks: links refer to known
    /// types of the right category, and there is no cycle of supertypes.
    pub(super) fn resolve(&mut self) {
        let defs: Vec<Arc<TypeDef>> = self.types.list().to_vec();
        let supers: Vec<Option<TypeIndex>> = defs
            .iter()
            .map(|def| {
                def.body
                    .super_type
                    .as_ref()
                    .and_then(|link| self.linked(link))
            })
            .collect();
        let lineages: Vec<Vec<TypeIndex>> = (0..defs.len())
            .map(|index| lineage(&supers, TypeIndex::of(index)))
            .collect();
        let mut order: Vec<usize> = (0..defs.len()).collect();
        order.sort_by_key(|index| lineages[*index].len());
        let mut properties: Vec<Vec<DefinedProperty>> = vec![Vec::new(); defs.len()];
        for index in order {
            let inherited = supers[index].map_or_else(Vec::new, |of| properties[of.at()].clone());
            properties[index] = with_own(inherited, &defs[index], TypeIndex::of(index));
        }
        let is_changed = |index: &usize, property: &&DefinedProperty| {
            let inherited = supers[*index].and_then(|of| {
                let inherited = &properties[of.at()];
                let at = position(inherited, property.attribute.name()).ok()?;
                Some(&inherited[at])
            });
            let kind =
                |of: &DefinedProperty| of.attribute.type_def().map(|def| def.name().to_owned());
            inherited.is_some_and(|inherited| kind(inherited) != kind(property))
        };
        let all = (0..defs.len()).flat_map(|index| {
            let own = properties[index].iter();
            own.filter(move |property| property.defined_by == TypeIndex::of(index))
                .map(move |property| (index, property))
        });
        self.redefined = all
            .filter(|(index, property)| is_changed(index, property))
            .map(|(_, property)| property.attribute.name().to_owned())
            .collect();
        self.resolved.clear();
        for (def, (lineage, properties)) in defs.iter().zip(lineages.iter().zip(properties)) {
            let ends = self.ends_of(def);
            self.resolved.push(ResolvedType {
                instance_type: Shared::new(instance_type(&defs, lineage)),
                def: Arc::clone(def),
                lineage: lineage.clone(),
                direct_subtypes: Vec::new(),
                properties,
                valid_classifications: Vec::new(),
                ends,
            });
        }
        for (index, supertype) in supers.iter().enumerate() {
            if let Some(supertype) = supertype {
                let subtypes = &mut self.resolved[supertype.at()].direct_subtypes;
                subtypes.push(TypeIndex::of(index));
            }
        }
        self.resolve_classifications(&defs);
    }

    fn ends_of(&self, def: &TypeDef) -> Option<[TypeIndex; 2]> {
        let TypeDefKind::Relationship(kind) = &def.kind else {
            return None;
        };
        let RelationshipKind { end_1, end_2, .. } = &**kind;
        let end = |end: &Option<super::RelationshipEndDef>| {
            self.linked(end.as_ref()?.entity_type.as_ref()?)
        };
        Some([end(end_1)?, end(end_2)?])
    }

    fn resolve_classifications(&mut self, defs: &[Arc<TypeDef>]) {
        for (index, def) in defs.iter().enumerate() {
            let TypeDefKind::Classification(kind) = &def.kind else {
                continue;
            };
            let roots: Vec<TypeIndex> = kind
                .valid_entity_types
                .iter()
                .filter_map(|link| self.linked(link))
                .collect();
            for entity in (0..defs.len()).map(TypeIndex::of) {
                let is_entity = defs[entity.at()].category() == TypeDefCategory::Entity;
                let is_valid = kind.valid_entity_types.is_empty()
                    || roots.iter().any(|root| self.is_a(entity, *root));
                if is_entity && is_valid {
                    let valid = &mut self.resolved[entity.at()].valid_classifications;
                    valid.push(TypeIndex::of(index));
                }
            }
        }
    }
}

fn lineage(supers: &[Option<TypeIndex>], index: TypeIndex) -> Vec<TypeIndex> {
    let mut lineage = vec![index];
    let mut of = supers[index.at()];
    while let Some(supertype) = of {
        lineage.push(supertype);
        of = supers[supertype.at()];
    }
    lineage.reverse();
    lineage
}

fn with_own(
    mut properties: Vec<DefinedProperty>,
    def: &TypeDef,
    defined_by: TypeIndex,
) -> Vec<DefinedProperty> {
    for attribute in &def.body.attributes {
        let property = DefinedProperty {
            attribute: Arc::new(attribute.clone()),
            defined_by,
            json: Arc::default(),
        };
        match position(&properties, attribute.name()) {
            Ok(at) => properties[at] = property,
            Err(at) => properties.insert(at, property),
        }
    }
    properties
}

/// Supertypes are listed nearest first, and the type's own properties before inherited ones.
fn instance_type(defs: &[Arc<TypeDef>], lineage: &[TypeIndex]) -> InstanceType {
    let nearest_first = || lineage.iter().rev().map(|index| &defs[index.at()]);
    let def = &defs[lineage[lineage.len() - 1].at()];
    let mut valid_properties: Vec<String> = Vec::new();
    for attribute in nearest_first().flat_map(|def| &def.body.attributes) {
        if !valid_properties.iter().any(|name| name == attribute.name()) {
            valid_properties.push(attribute.name().to_owned());
        }
    }
    InstanceType {
        header_version: Some(1),
        category: Some(def.category()),
        guid: Some(def.guid().to_owned()),
        name: Some(def.name().to_owned()),
        version: def.version(),
        description: def.body.description.clone(),
        description_guid: def.body.description_guid.clone(),
        super_types: nearest_first()
            .skip(1)
            .map(|def| def.body.summary.link.clone())
            .collect(),
        valid_statuses: def.body.valid_statuses.clone(),
        valid_properties,
    }
}
