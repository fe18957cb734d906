//! Checks definitions before they enter a catalogue.

use std::collections::HashSet;
use std::sync::Arc;

use varve_graph::schema::check_name;

use super::{
    AttributeType, AttributeTypeDef, AttributeTypeKind, Catalogue, CollectionDef,
    CollectionDefCategory, EnumDef, RelationshipEndDef, TypeDef, TypeDefCategory, TypeDefKind,
    TypeDefLink,
};
use crate::error::{Message, OmrsError};

/// The longest chain of supertypes. The standard's longest has 8.
const LINEAGE_MAX: usize = 100;

/// The fault as text; the caller adds the name of the definition.
type Fault = Result<(), String>;

fn ensure(is_fine: bool, fault: impl FnOnce() -> String) -> Fault {
    if is_fine { Ok(()) } else { Err(fault()) }
}

/// Checks an attribute type on its own.
pub(super) fn attribute_type(def: &AttributeTypeDef) -> Result<(), OmrsError> {
    attribute_type_fault(def)
        .map_err(|fault| OmrsError::new(Message::InvalidAttributeTypeDef, &[def.name(), &fault]))
}

fn attribute_type_fault(def: &AttributeTypeDef) -> Fault {
    ensure(!def.guid().is_empty(), || "it has no GUID".to_owned())?;
    ensure(!def.name().is_empty(), || "it has no name".to_owned())?;
    match &def.kind {
        AttributeTypeKind::Primitive(_) => Ok(()),
        AttributeTypeKind::Collection(kind) => collection_fault(kind),
        AttributeTypeKind::Enum(kind) => enum_fault(kind),
    }
}

fn collection_fault(kind: &CollectionDef) -> Fault {
    let wanted = match kind.category {
        Some(CollectionDefCategory::Map) => 2,
        Some(CollectionDefCategory::Array) => 1,
        Some(CollectionDefCategory::Struct) => return Ok(()),
        _ => return Err("it has no collectionDefCategory".to_owned()),
    };
    let found = kind.argument_types.len();
    ensure(found == wanted, || {
        format!("it has {found} argument types, {wanted} are needed")
    })
}

/// Ordinals may repeat: the standard's own ActivityType has two elements with the ordinal 3.
fn enum_fault(kind: &EnumDef) -> Fault {
    let mut names = HashSet::new();
    for element in &kind.elements {
        let name = element.value.as_deref().unwrap_or_default();
        ensure(!name.is_empty(), || "an element has no value".to_owned())?;
        ensure(names.insert(name), || {
            format!("two elements have the value {name}")
        })?;
    }
    Ok(())
}

/// Checks a definition without the types to which it refers.
pub(super) fn type_shape(def: &TypeDef) -> Result<(), OmrsError> {
    shape_fault(def).map_err(|fault| invalid(def, &fault))
}

fn invalid(def: &TypeDef, fault: &str) -> OmrsError {
    OmrsError::new(Message::InvalidTypeDef, &[def.name(), fault])
}

/// Checks the name of a type. Entities and relationships are stored under labels with the names of
/// their types, so the graph must take these.
pub(super) fn type_name(category: TypeDefCategory, name: &str) -> Fault {
    match category {
        TypeDefCategory::Entity | TypeDefCategory::Relationship => {
            check_name(name).map_err(|error| error.message)
        }
        _ => Ok(()),
    }
}

fn shape_fault(def: &TypeDef) -> Fault {
    ensure(!def.guid().is_empty(), || "it has no GUID".to_owned())?;
    ensure(!def.name().is_empty(), || "it has no name".to_owned())?;
    type_name(def.category(), def.name())?;
    let body = &def.body;
    if let Some(status) = body.initial_status {
        ensure(body.valid_statuses.contains(&status), || {
            format!("initialStatus {} is not in its list", status.name())
        })?;
    }
    let mut names = HashSet::new();
    for attribute in &body.attributes {
        let name = attribute.name();
        ensure(!name.is_empty(), || "an attribute has no name".to_owned())?;
        ensure(names.insert(name), || {
            format!("the attribute {name} is there twice")
        })?;
        ensure(attribute.attribute_type.is_some(), || {
            format!("the attribute {name} has no type")
        })?;
    }
    let TypeDefKind::Relationship(kind) = &def.kind else {
        return Ok(());
    };
    for (end, name) in [(&kind.end_1, "endDef1"), (&kind.end_2, "endDef2")] {
        let is_named = end.as_ref().is_some_and(|end| end.entity_type.is_some());
        ensure(is_named, || format!("{name} names no entity type"))?;
    }
    Ok(())
}

impl Catalogue {
    /// Replaces the names of attribute types by the known definitions.
    pub(super) fn with_attribute_types(&self, mut def: TypeDef) -> Result<TypeDef, OmrsError> {
        let mut fault = None;
        for attribute in &mut def.body.attributes {
            let Some(AttributeType::Named(name)) = &attribute.attribute_type else {
                continue;
            };
            match self.attribute_type_by_name(name) {
                Some(known) => {
                    attribute.attribute_type = Some(AttributeType::Whole(Arc::clone(known)));
                }
                None => fault = Some(format!("the attribute type {name} is not known")),
            }
        }
        fault.map_or_else(|| Ok(def.clone()), |fault| Err(invalid(&def, &fault)))
    }

    /// Checks a definition's references to other types. All of them, and the definition itself,
    /// must be in the catalogue.
    pub(super) fn check_links(&self, def: &TypeDef) -> Result<(), OmrsError> {
        self.link_fault(def).map_err(|fault| invalid(def, &fault))?;
        self.lineage_ends(def)
    }

    fn link_fault(&self, def: &TypeDef) -> Fault {
        for attribute in &def.body.attributes {
            let Some(of) = attribute.type_def() else {
                continue;
            };
            let known = self.attribute_types.identified(of.guid(), of.name())?;
            ensure(known.is_some(), || {
                format!("the attribute type {} is not known", of.name())
            })?;
        }
        if let Some(link) = &def.body.super_type {
            self.link_to(link, def.category())?;
        }
        match &def.kind {
            TypeDefKind::Entity => Ok(()),
            TypeDefKind::Relationship(kind) => {
                let end = |end: &Option<RelationshipEndDef>| end.as_ref()?.entity_type.clone();
                for link in [end(&kind.end_1), end(&kind.end_2)].iter().flatten() {
                    self.link_to(link, TypeDefCategory::Entity)?;
                }
                Ok(())
            }
            TypeDefKind::Classification(kind) => kind
                .valid_entity_types
                .iter()
                .try_for_each(|link| self.link_to(link, TypeDefCategory::Entity)),
        }
    }

    fn link_to(&self, link: &TypeDefLink, category: TypeDefCategory) -> Fault {
        let words = || format!("{} ({})", link.name(), link.guid());
        let index = self
            .linked(link)
            .ok_or_else(|| format!("the type {} is not known", words()))?;
        let found = &self.types.list()[index.at()];
        ensure(found.category() == category, || {
            format!(
                "the type {} is not of category {}",
                words(),
                category.name()
            )
        })?;
        let is_named_so = link.name().is_empty() || link.name() == found.name();
        ensure(is_named_so, || {
            format!("the type {} is called {}", words(), found.name())
        })
    }

    /// Checks that the chain of supertypes has no cycle and is not too long.
    fn lineage_ends(&self, def: &TypeDef) -> Result<(), OmrsError> {
        let mut seen = HashSet::from([def.guid()]);
        let mut link = def.body.super_type.as_ref();
        while let Some(index) = link.and_then(|link| self.linked(link)) {
            let found = &self.types.list()[index.at()];
            if !seen.insert(found.guid()) {
                return Err(invalid(def, "its supertypes form a circle"));
            }
            if seen.len() > LINEAGE_MAX + 1 {
                let fault = format!("it has more than {LINEAGE_MAX} supertypes");
                return Err(OmrsError::new(
                    Message::TypeNotImplemented,
                    &[def.name(), &fault],
                ));
            }
            link = found.body.super_type.as_ref();
        }
        Ok(())
    }
}
