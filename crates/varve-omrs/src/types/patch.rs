//! Patches: changes of a type from one version to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Catalogue, ExternalStandardMapping, InstanceStatus, RelationshipEndDef, TypeDef,
    TypeDefAttribute, TypeDefKind, TypeDefLink, TypeDefStatus, TypeIndex, check,
};
use crate::error::{Message, OmrsError};
use crate::json::{Millis, json_object};

json_object! {
    /// A change of a type. Absent members do not change.
    pub struct TypeDefPatch {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The GUID of the type.
        type_guid: Option<String> = "typeDefGUID",
        /// The name of the type.
        type_name: Option<String> = "typeDefName",
        /// Whether the type is current, renamed or deprecated.
        type_status: Option<TypeDefStatus> = "typeDefStatus",
        /// The highest version to which it applies.
        apply_to_version: i64 = "applyToVersion",
        /// The new version.
        update_to_version: i64 = "updateToVersion",
        /// The new version for people, such as `1.1`.
        new_version_name: Option<String> = "newVersionName",
        /// The user who made the change.
        updated_by: Option<String> = "updatedBy",
        /// When the change was made.
        update_time: Option<Millis> = "updateTime",
        /// Prose.
        description: Option<String> = "description",
        /// The glossary term that describes the type.
        description_guid: Option<String> = "descriptionGUID",
        /// The supertype.
        super_type: Option<TypeDefLink> = "superType",
        /// Attributes to add, or to replace those with the same names.
        property_definitions: Vec<TypeDefAttribute> = "propertyDefinitions",
        /// Properties of the definition itself.
        type_options: BTreeMap<String, String> = "typeDefOptions",
        /// Its names in other standards.
        external_standard_mappings: Vec<ExternalStandardMapping> = "externalStandardMappings",
        /// The statuses that its instances may have.
        valid_statuses: Vec<InstanceStatus> = "validInstanceStatusList",
        /// The initial status of its instances.
        initial_status: Option<InstanceStatus> = "initialStatus",
        /// The entity types that may carry it; for classification types only.
        valid_entity_types: Vec<TypeDefLink> = "validEntityDefs",
        /// The first end; for relationship types only.
        end_1: Option<RelationshipEndDef> = "endDef1",
        /// The second end; for relationship types only.
        end_2: Option<RelationshipEndDef> = "endDef2",
        /// Whether to change `multiLink`.
        update_multi_link: bool = "updateMultiLink",
        /// Whether two entities may have several such relationships; for relationship types only.
        multi_link: bool = "multiLink",
    }
}

impl Catalogue {
    /// Applies a patch and returns the resulting type. If the type already has the patch's version,
    /// nothing changes.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`; `PatchErrorException` when the patch lowers the version, applies
    /// to an older version than the present one, changes or removes a property that the type or a
    /// subtype has or inherits, has members of another category, or leads to an invalid definition.
    pub fn patch_type(&mut self, patch: TypeDefPatch) -> Result<Arc<TypeDef>, OmrsError> {
        let guid = patch.type_guid.as_deref().unwrap_or_default();
        let name = patch.type_name.as_deref().unwrap_or_default();
        let index = self.known_type(guid, name)?;
        let old = Arc::clone(&self.types.list()[index]);
        if is_applied(&old, &patch)? {
            return Ok(old);
        }
        let def = self
            .with_attribute_types(patched(&old, patch)?)
            .map_err(|error| refused(&old, &error))?;
        let mut next = self.clone();
        next.types.replace(index, Arc::new(def));
        let def = Arc::clone(&next.types.list()[index]);
        check::type_shape(&def)
            .and_then(|()| next.check_links(&def))
            .map_err(|error| refused(&old, &error))?;
        next.resolve();
        next.check_properties_stay(TypeIndex::of(index), self)?;
        *self = next;
        Ok(def)
    }

    /// Checks that the type at `index` and its subtypes keep all their properties, with their
    /// attribute types, since stored instances are read by them.
    fn check_properties_stay(&self, index: TypeIndex, before: &Self) -> Result<(), OmrsError> {
        for of in before.with_subtypes(index) {
            let now = self.get(of);
            for had in before.get(of).properties() {
                let name = had.attribute.name();
                let types = [Some(had), now.property(name)]
                    .map(|property| property.and_then(|property| property.attribute.type_def()));
                let stays = matches!(types, [Some(had), Some(has)] if had.has_same_values(has));
                if !stays {
                    let words = [now.name(), name];
                    return Err(OmrsError::new(Message::PatchChangesPropertyType, &words));
                }
            }
        }
        Ok(())
    }
}

fn refused(old: &TypeDef, error: &OmrsError) -> OmrsError {
    let fault = error.parameters.last().map_or("", String::as_str);
    OmrsError::new(Message::InvalidPatch, &[old.name(), fault])
}

fn is_applied(old: &TypeDef, patch: &TypeDefPatch) -> Result<bool, OmrsError> {
    let (from, to) = (patch.apply_to_version, patch.update_to_version);
    if to < from {
        let words = [old.name(), &from.to_string(), &to.to_string()];
        return Err(OmrsError::new(Message::PatchGoesBack, &words));
    }
    if old.version() > from && old.version() < to {
        let words = [old.name(), &from.to_string(), &old.version().to_string()];
        return Err(OmrsError::new(Message::PatchOfOtherVersion, &words));
    }
    Ok(old.version() > from)
}

fn patched(old: &TypeDef, patch: TypeDefPatch) -> Result<TypeDef, OmrsError> {
    let mut def = old.clone();
    let body = &mut def.body;
    body.summary.version = patch.update_to_version;
    replace(&mut body.summary.version_name, patch.new_version_name);
    replace(&mut body.summary.link.status, patch.type_status);
    replace(&mut body.updated_by, patch.updated_by);
    replace(&mut body.update_time, patch.update_time);
    replace(&mut body.description, patch.description);
    replace(&mut body.description_guid, patch.description_guid);
    replace(&mut body.super_type, patch.super_type);
    replace(&mut body.initial_status, patch.initial_status);
    replace_list(&mut body.valid_statuses, patch.valid_statuses);
    let mappings = patch.external_standard_mappings;
    replace_list(&mut body.external_standard_mappings, mappings);
    if !patch.type_options.is_empty() {
        body.options = patch.type_options;
    }
    for attribute in patch.property_definitions {
        put_attribute(&mut def, attribute);
    }
    let has_ends = patch.end_1.is_some() || patch.end_2.is_some() || patch.update_multi_link;
    let has_entity_types = !patch.valid_entity_types.is_empty();
    let fits = match &mut def.kind {
        TypeDefKind::Entity => !has_ends && !has_entity_types,
        TypeDefKind::Relationship(kind) => {
            replace(&mut kind.end_1, patch.end_1);
            replace(&mut kind.end_2, patch.end_2);
            if patch.update_multi_link {
                kind.multi_link = patch.multi_link;
            }
            !has_entity_types
        }
        TypeDefKind::Classification(kind) => {
            replace_list(&mut kind.valid_entity_types, patch.valid_entity_types);
            !has_ends
        }
    };
    if fits {
        return Ok(def);
    }
    let fault = format!("it has parts that no {} has", def.class());
    Err(OmrsError::new(Message::InvalidPatch, &[old.name(), &fault]))
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

fn replace_list<T>(old: &mut Vec<T>, new: Vec<T>) {
    if !new.is_empty() {
        *old = new;
    }
}

fn put_attribute(def: &mut TypeDef, attribute: TypeDefAttribute) {
    let attributes = &mut def.body.attributes;
    let same = |old: &&mut TypeDefAttribute| old.name() == attribute.name();
    match attributes.iter_mut().find(same) {
        Some(old) => *old = attribute,
        None => attributes.push(attribute),
    }
}
