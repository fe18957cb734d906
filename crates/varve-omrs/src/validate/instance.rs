//! Validates types, statuses, classifications and relationship ends, and the right to change an
//! instance.

use super::completed_properties;
use crate::error::{Message, OmrsError};
use crate::instances::{
    Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties, InstanceProvenanceType,
};
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};

/// The type that an instance states.
///
/// # Errors
/// `TypeErrorException` when it states none, or an unknown type, or one of another category.
pub fn instance_type(
    types: &Catalogue,
    header: &InstanceAuditHeader,
    category: TypeDefCategory,
) -> Result<TypeIndex, OmrsError> {
    let said = header.instance_type.as_deref();
    let (guid, name) = said.map_or(("", ""), |said| (said.guid(), said.name()));
    let index = types.instance_type_by_guid(category, guid, "type")?;
    if name != types.get(index).name() {
        return Err(OmrsError::new(Message::BadTypeGuid, &[guid, name]));
    }
    Ok(index)
}

/// Checks that an instance has the type that the caller expects, or a subtype: callers find
/// instances by a type, and get those of its subtypes too.
///
/// # Errors
/// `InvalidParameterException` when the type's GUID or name is missing or is that of another type.
pub fn expected_type(
    header: &InstanceHeader,
    guid: Option<&str>,
    name: Option<&str>,
) -> Result<(), OmrsError> {
    let guid = guid.unwrap_or_default();
    let name = name.unwrap_or_default();
    if guid.is_empty() {
        let parameter = "typeDefGUID";
        return Err(OmrsError::of_parameter(
            Message::NoTypeGuid,
            parameter,
            &[parameter],
        ));
    }
    if name.is_empty() {
        let parameter = "typeDefName";
        return Err(OmrsError::of_parameter(
            Message::NoTypeName,
            parameter,
            &[parameter],
        ));
    }
    let is = header.audit.instance_type.as_deref();
    let is_it = is.is_some_and(|is| {
        let mut supers = is.super_types.iter();
        (is.guid() == guid && is.name() == name)
            || supers.any(|of| of.guid() == guid && of.name() == name)
    });
    if is_it {
        return Ok(());
    }
    let words = [header.guid(), header.audit.type_name(), name];
    Err(OmrsError::of_parameter(
        Message::InstanceOfOtherType,
        "typeDefGUID",
        &words,
    ))
}

/// The status of a new instance: the requested one, otherwise the type's initial status.
///
/// # Errors
/// `StatusNotSupportedException` when the type does not have the requested status, or it is
/// DELETED.
pub fn initial_status(
    types: &Catalogue,
    index: TypeIndex,
    asked: Option<InstanceStatus>,
) -> Result<InstanceStatus, OmrsError> {
    match asked {
        Some(_) => new_status(types, index, asked),
        None => {
            let initial = types.get(index).def().body.initial_status;
            Ok(initial.unwrap_or(InstanceStatus::Active))
        }
    }
}

/// Checks the new status of an instance.
///
/// # Errors
/// `StatusNotSupportedException` when it is missing, is DELETED, or the type does not have it.
pub fn new_status(
    types: &Catalogue,
    index: TypeIndex,
    status: Option<InstanceStatus>,
) -> Result<InstanceStatus, OmrsError> {
    let status = status.ok_or_else(|| OmrsError::new(Message::NoStatus, &["newStatus"]))?;
    if status == InstanceStatus::Deleted {
        return Err(OmrsError::new(Message::StatusDeleted, &[]));
    }
    let of = types.get(index);
    if !of.def().body.valid_statuses.contains(&status) {
        let words = [status.name(), of.name()];
        return Err(OmrsError::new(Message::StatusNotInType, &words));
    }
    Ok(status)
}

/// Checks a classification of an entity of type `entity`. Returns its type, and its properties as
/// completed by [`completed_properties`].
///
/// # Errors
/// Those of [`classification_given`] and [`classification_allowed`].
pub fn classification(
    types: &Catalogue,
    entity: TypeIndex,
    name: &str,
    properties: Option<InstanceProperties>,
) -> Result<(TypeIndex, Option<InstanceProperties>), OmrsError> {
    let (index, properties) = classification_given(types, name, properties)?;
    classification_allowed(types, entity, index)?;
    Ok((index, properties))
}

/// Checks a classification. Returns its type, and its properties as completed by
/// [`completed_properties`].
///
/// # Errors
/// `ClassificationErrorException` when there is no such classification, `PropertyErrorException`,
/// and `InvalidParameterException` when the name is empty.
pub fn classification_given(
    types: &Catalogue,
    name: &str,
    properties: Option<InstanceProperties>,
) -> Result<(TypeIndex, Option<InstanceProperties>), OmrsError> {
    if name.is_empty() {
        let parameter = "classificationName";
        let message = Message::NoClassificationName;
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    let index = types.classification_by_name(name)?;
    let properties = properties
        .map(|properties| completed_properties(types, index, properties))
        .transpose()?;
    Ok((index, properties))
}

/// Checks that an entity of type `entity` may carry a classification.
///
/// # Errors
/// `ClassificationErrorException`.
pub fn classification_allowed(
    types: &Catalogue,
    entity: TypeIndex,
    classification: TypeIndex,
) -> Result<(), OmrsError> {
    if types.allows(entity, classification) {
        return Ok(());
    }
    let words = [types.get(classification).name(), types.get(entity).name()];
    Err(OmrsError::new(Message::ClassificationNotAllowed, &words))
}

/// Checks the types of the entities at the ends of a relationship.
///
/// # Errors
/// `InvalidParameterException` when the type of one of them does not fit.
pub fn relationship_ends(
    types: &Catalogue,
    relationship: TypeIndex,
    entities: [TypeIndex; 2],
) -> Result<(), OmrsError> {
    let of = types.get(relationship);
    let ends = of.ends().ok_or_else(|| {
        OmrsError::new(
            Message::UnknownInstanceType,
            &[of.guid(), "relationshipTypeGUID"],
        )
    })?;
    for (number, (end, entity)) in ["1", "2"].iter().zip(ends.iter().zip(entities)) {
        if !types.is_a(entity, *end) {
            let (wanted, found) = (types.get(*end).name(), types.get(entity).name());
            let parameter = if *number == "1" {
                "entityOneGUID"
            } else {
                "entityTwoGUID"
            };
            let words = [*number, of.name(), wanted, found];
            return Err(OmrsError::of_parameter(
                Message::WrongRelationshipEnd,
                parameter,
                &words,
            ));
        }
    }
    Ok(())
}

/// Checks that the repository with the metadata collection `local` may change an instance: it is
/// the instance's home, or replicates it for an external source. Applies to changes of status,
/// properties, type and identity, and to undo, delete, restore and purge.
///
/// # Errors
/// `InvalidParameterException`.
pub fn update_lock(header: &InstanceHeader, local: &str) -> Result<(), OmrsError> {
    instance_lock(&header.audit, header.guid(), local)
}

/// Checks that the repository with the metadata collection `local` may change a classification of
/// an entity. The entity itself may have another home.
///
/// # Errors
/// `InvalidParameterException`.
pub fn classification_lock(
    entity: &str,
    classification: &Classification,
    local: &str,
) -> Result<(), OmrsError> {
    let name = format!("{entity} ({})", classification.name());
    instance_lock(&classification.audit, &name, local)
}

/// As [`update_lock`], for any instance. `instance` is its name in the error.
///
/// # Errors
/// `InvalidParameterException`.
pub fn instance_lock(
    audit: &InstanceAuditHeader,
    instance: &str,
    local: &str,
) -> Result<(), OmrsError> {
    let master = match audit.provenance {
        Some(InstanceProvenanceType::LocalCohort) => &audit.metadata_collection_id,
        Some(InstanceProvenanceType::ExternalSource) => &audit.replicated_by,
        _ => &None,
    };
    if master.as_deref() == Some(local) {
        return Ok(());
    }
    let home = audit.metadata_collection_id.as_deref().unwrap_or("unknown");
    Err(OmrsError::of_parameter(
        Message::NotHome,
        "guid",
        &[instance, home],
    ))
}
