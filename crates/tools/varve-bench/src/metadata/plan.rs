//! The plan of the suite: the types in order, their attributes with values, and the attributes that
//! are searched.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_omrs::instances::InstanceType;
use varve_omrs::json::Shared;
use varve_omrs::types::{
    Catalogue, InstanceStatus, PrimitiveDefCategory, ResolvedType, TypeDefAttribute,
    TypeDefAttributeStatus, TypeDefCategory, TypeDefKind, TypeDefSummary, TypeIndex,
};

use super::family::{ENTITIES, Family, RELATIONSHIPS};

/// The shortest name of a string attribute that is searched, in characters: a search for the middle
/// leaves out both ends.
const NAME_CHARACTERS_MIN: usize = 3;

/// An attribute that has primitive values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) category: PrimitiveDefCategory,
    pub(crate) unique: bool,
}

/// A type and the facts about it that the suite uses.
#[derive(Debug, Clone)]
pub(crate) struct PlannedType {
    /// Its instances; of a classification those that it classifies.
    pub(crate) family: &'static Family,
    pub(crate) name: String,
    pub(crate) guid: String,
    pub(crate) summary: TypeDefSummary,
    /// The type in the headers of instances.
    pub(crate) instance_type: Shared<InstanceType>,
    pub(crate) initial_status: InstanceStatus,
    /// The attributes with values: primitive, not deprecated, inherited ones included.
    pub(crate) set: Vec<Attribute>,
    /// The primitive attributes in search order: the type's own first, then those of each
    /// supertype. Includes deprecated ones, although no instance has them.
    pub(crate) searched: Vec<Attribute>,
    /// Whether the type or a supertype declares an attribute of any kind.
    pub(crate) declares_attributes: bool,
    /// The supertype of an entity type.
    pub(crate) super_type: Option<TypeDefSummary>,
    /// The first direct subtype of an entity type.
    pub(crate) sub_type: Option<TypeDefSummary>,
    /// The two end types of a relationship, or the last entity type that a classification may
    /// classify.
    pub(crate) entity_types: Vec<EndType>,
}

/// An entity type as relationships and classifications name it.
#[derive(Debug, Clone)]
pub(crate) struct EndType {
    pub(crate) guid: String,
    pub(crate) instance_type: Shared<InstanceType>,
}

/// Every type, by category, each list in the order of names.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) entities: Vec<Arc<PlannedType>>,
    pub(crate) relationships: Vec<Arc<PlannedType>>,
    pub(crate) classifications: Vec<Arc<PlannedType>>,
}

impl Plan {
    /// The plan for the types of the open metadata standard, or for the first `limit` of each
    /// category.
    pub(crate) fn new(limit: Option<usize>) -> Self {
        let types = Catalogue::built_in();
        let of = |category: TypeDefCategory| {
            let mut list: Vec<Arc<PlannedType>> = types
                .types()
                .filter(|(_, found)| found.def().category() == category)
                .map(|(index, _)| Arc::new(PlannedType::new(&types, index)))
                .collect();
            list.sort_by(|a, b| a.name.cmp(&b.name));
            list.truncate(limit.unwrap_or(usize::MAX));
            list
        };
        Self {
            entities: of(TypeDefCategory::Entity),
            relationships: of(TypeDefCategory::Relationship),
            classifications: of(TypeDefCategory::Classification),
        }
    }
}

impl PlannedType {
    fn new(types: &Catalogue, index: TypeIndex) -> Self {
        let resolved = types.get(index);
        let def = resolved.def();
        let lineage = || resolved.lineage().iter().map(|of| types.get(*of));
        let nearest_first = || lineage().rev().flat_map(|of| &of.def().body.attributes);
        let super_type = lineage().rev().nth(1);
        let sub_type = resolved.direct_subtypes().first().map(|of| types.get(*of));
        let summary = |of: &ResolvedType| of.def().body.summary.clone();
        Self {
            family: match def.category() {
                TypeDefCategory::Relationship => &RELATIONSHIPS,
                _ => &ENTITIES,
            },
            name: def.name().to_owned(),
            guid: def.guid().to_owned(),
            summary: summary(resolved),
            instance_type: resolved.instance_type().clone(),
            initial_status: def.body.initial_status.unwrap_or(InstanceStatus::Active),
            set: set(lineage()),
            searched: nearest_first().filter_map(primitive).collect(),
            declares_attributes: nearest_first().next().is_some(),
            super_type: super_type.map(summary),
            sub_type: sub_type.map(summary),
            entity_types: entity_types(types, resolved),
        }
    }

    /// The string attribute of searches by value: its name is its value in every second instance.
    pub(crate) fn searched_string(&self) -> Option<&Attribute> {
        self.searched
            .iter()
            .filter(|of| of.category == PrimitiveDefCategory::String)
            .find(|of| of.name.chars().count() >= NAME_CHARACTERS_MIN)
    }

    /// The two attributes of searches by property: the first two that are no strings, filled up
    /// with strings.
    pub(crate) fn searched_pair(&self) -> [Option<&Attribute>; 2] {
        let is_string = |of: &&Attribute| of.category == PrimitiveDefCategory::String;
        let mut strings = self.searched.iter().filter(is_string);
        let mut others = self.searched.iter().filter(|of| !is_string(of));
        let strings = [strings.next(), strings.next()];
        let others = [others.next(), others.next()];
        [others[0].or(strings[0]), others[1].or(strings[1])]
    }

    /// The two attributes of searches by classification: the first two.
    pub(crate) fn first_pair(&self) -> [Option<&Attribute>; 2] {
        [self.searched.first(), self.searched.get(1)]
    }
}

fn primitive(attribute: &TypeDefAttribute) -> Option<Attribute> {
    Some(Attribute {
        name: attribute.name().to_owned(),
        category: attribute.type_def()?.primitive()?,
        unique: attribute.unique,
    })
}

/// The attributes with values, for the types from the root down. A redefinition in a subtype
/// replaces the inherited one.
fn set<'a>(lineage: impl Iterator<Item = &'a ResolvedType>) -> Vec<Attribute> {
    let mut found: BTreeMap<String, Attribute> = BTreeMap::new();
    for attribute in lineage.flat_map(|of| &of.def().body.attributes) {
        if attribute.status == Some(TypeDefAttributeStatus::Deprecated) {
            continue;
        }
        if let Some(attribute) = primitive(attribute)
            && attribute.category != PrimitiveDefCategory::Unknown
        {
            found.insert(attribute.name.clone(), attribute);
        }
    }
    found.into_values().collect()
}

fn entity_types(types: &Catalogue, resolved: &ResolvedType) -> Vec<EndType> {
    let end = |index: TypeIndex| EndType {
        guid: types.get(index).guid().to_owned(),
        instance_type: types.get(index).instance_type().clone(),
    };
    match &resolved.def().kind {
        TypeDefKind::Entity => Vec::new(),
        TypeDefKind::Relationship(_) => {
            let ends = resolved.ends().into_iter().flatten();
            ends.map(end).collect()
        }
        TypeDefKind::Classification(kind) => {
            let known = kind.valid_entity_types.iter().rev();
            let mut known = known.filter_map(|link| types.by_name(link.name()));
            known.next().map(end).into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(list: &[Arc<PlannedType>], has: impl Fn(&PlannedType) -> bool) -> usize {
        list.iter().filter(|of| has(of)).count()
    }

    /// The published counts of calls are these counts times the instances of a type.
    #[test]
    fn the_types_are_those_of_the_published_run() {
        let plan = Plan::new(None);
        let Plan {
            entities,
            relationships,
            classifications,
        } = &plan;
        assert_eq!(entities.len() * 5, 1370);
        assert_eq!(relationships.len() * 5, 1090);
        assert_eq!(classifications.len() * 5, 540);
        // updateEntityProperties and updateRelationshipProperties
        assert_eq!(count(entities, |of| !of.set.is_empty()) * 5, 1360);
        assert_eq!(count(relationships, |of| !of.set.is_empty()) * 5, 490);
        // nullPropertiesForEntities and reTypeEntitySub, then reTypeEntitySuper
        assert_eq!(count(entities, |of| of.sub_type.is_some()) * 5, 315);
        assert_eq!(count(entities, |of| of.super_type.is_some()) * 5, 1365);
        // findRelationshipsByPropertyValue, each of five searches
        let with_string = count(relationships, |of| of.searched_string().is_some());
        assert_eq!(with_string * 5, 405);
        // Searches for relationships to update, besides seven others in every type and 195 of
        // profile 4
        let declaring = count(relationships, |of| of.declares_attributes);
        assert_eq!(declaring + 7 * relationships.len() + 195, 1825);
        let ends = |of: &PlannedType| of.entity_types.len();
        assert_eq!(count(relationships, |of| ends(of) == 2), 218);
        assert_eq!(count(classifications, |of| ends(of) == 1), 108);
    }

    #[test]
    fn types_come_in_the_order_of_their_names() {
        let plan = Plan::new(None);
        for list in [&plan.entities, &plan.relationships, &plan.classifications] {
            assert!(list.windows(2).all(|pair| pair[0].name < pair[1].name));
        }
        assert_eq!(Plan::new(Some(3)).entities.len(), 3);
    }

    #[test]
    fn deprecated_and_complex_attributes_have_no_values() {
        let plan = Plan::new(None);
        let all = plan.entities.iter().chain(&plan.relationships);
        let mut deprecated = 0;
        for of in all.chain(&plan.classifications) {
            let set: Vec<&str> = of.set.iter().map(|of| of.name.as_str()).collect();
            assert!(!set.contains(&"additionalProperties"), "{}", of.name);
            let unset = |of: &&Attribute| !set.contains(&of.name.as_str());
            deprecated += of.searched.iter().filter(unset).count();
        }
        assert!(deprecated > 0, "searches take deprecated attributes too");
    }

    fn attribute(name: &str, category: PrimitiveDefCategory) -> Attribute {
        Attribute {
            name: name.to_owned(),
            category,
            unique: false,
        }
    }

    #[test]
    fn searches_compare_numbers_first_and_strings_in_their_place() {
        use PrimitiveDefCategory::{Date, Int, String as Text};
        let names = |searched: &[(&str, PrimitiveDefCategory)]| {
            let mut of = PlannedType::clone(&Plan::new(Some(1)).entities[0]);
            of.searched = searched.iter().map(|(n, c)| attribute(n, *c)).collect();
            of.searched_pair()
                .map(|of| of.map(|of| of.name.clone()).unwrap_or_default())
        };
        assert_eq!(
            names(&[("a", Text), ("b", Int), ("c", Date)]),
            ["b".to_owned(), "c".to_owned()]
        );
        // The second attribute is a string, whichever the first is.
        assert_eq!(names(&[("a", Text), ("b", Int), ("c", Text)]), ["b", "c"]);
        assert_eq!(names(&[("a", Text), ("b", Int)]), ["b", ""]);
        assert_eq!(names(&[("a", Text), ("b", Text)]), ["a", "b"]);
        assert_eq!(names(&[]), ["", ""]);
    }

    #[test]
    fn a_string_to_search_for_has_a_middle() {
        use PrimitiveDefCategory::String as Text;
        let mut of = PlannedType::clone(&Plan::new(Some(1)).entities[0]);
        of.searched = vec![attribute("id", Text), attribute("name", Text)];
        assert_eq!(
            of.searched_string().map(|of| of.name.as_str()),
            Some("name")
        );
    }
}
