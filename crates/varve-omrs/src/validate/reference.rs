//! Validates copies of instances whose home is another repository. Copies are stored unchanged: the
//! checks add nothing to them.

use super::{classification, completed_properties, instance_type, relationship_ends};
use crate::error::{Exception, Message, OmrsError};
use crate::instances::{
    Classification, EntityDetail, EntityProxy, InstanceHeader, InstanceProperties, Relationship,
};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};

/// Checks a copy of an entity. Returns its type. `local` is the metadata collection of this
/// repository.
///
/// # Errors
/// `InvalidEntityException` when it has no GUID or no home, `InvalidParameterException` when its
/// home is this repository. Those of [`instance_type`], [`completed_properties`] and
/// [`classification_copy`] when its type, properties or classifications are invalid.
pub fn entity_copy(
    types: &Catalogue,
    entity: &EntityDetail,
    local: &str,
) -> Result<TypeIndex, OmrsError> {
    foreign(&entity.header, local, Message::InvalidEntity, "entity")?;
    let index = instance_type(types, &entity.header.audit, TypeDefCategory::Entity)?;
    check_properties(types, index, entity.properties.as_ref())?;
    check_classifications(types, index, &entity.classifications)?;
    Ok(index)
}

/// Checks the home, type, unique properties and classifications of a proxy, but not its GUID.
/// Returns its type. `local` is the metadata collection of this repository.
///
/// # Errors
/// Always `InvalidParameterException`, since the contract of calls with proxies has no other.
pub fn entity_proxy(
    types: &Catalogue,
    proxy: &EntityProxy,
    local: &str,
) -> Result<TypeIndex, OmrsError> {
    let home = proxy.header.audit.metadata_collection_id.as_deref();
    if home.unwrap_or_default().is_empty() {
        let (message, parameter) = (Message::MissingParameter, "metadataCollectionId");
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    let as_parameter = |error: OmrsError| {
        let words: Vec<&str> = error.parameters.iter().map(String::as_str).collect();
        OmrsError::of_parameter(error.message, "entityProxy", &words)
    };
    if home == Some(local) {
        let error = OmrsError::new(Message::LocalProxy, &[proxy.header.guid()]);
        return Err(as_parameter(error));
    }
    proxy_content(types, proxy).map_err(as_parameter)
}

fn proxy_content(types: &Catalogue, proxy: &EntityProxy) -> Result<TypeIndex, OmrsError> {
    let index = instance_type(types, &proxy.header.audit, TypeDefCategory::Entity)?;
    check_properties(types, index, proxy.unique_properties.as_ref())?;
    check_classifications(types, index, &proxy.classifications)?;
    Ok(index)
}

/// Checks a copy of a relationship. Returns its type. Of its ends it checks only GUIDs and types:
/// [`entity_proxy`] checks the rest when an unknown end is stored. `local` is the metadata
/// collection of this repository.
///
/// # Errors
/// `InvalidRelationshipException` when it has no GUID or no home, or when an end is missing or has
/// no GUID. `InvalidParameterException` when its home is this repository, or the type of an end
/// does not fit. Those of [`instance_type`], also for its ends, and of [`completed_properties`].
pub fn relationship_copy(
    types: &Catalogue,
    relationship: &Relationship,
    local: &str,
) -> Result<TypeIndex, OmrsError> {
    let invalid = |fault: &str| OmrsError::new(Message::InvalidRelationship, &[fault]);
    let header = &relationship.header;
    foreign(header, local, Message::InvalidRelationship, "relationship")?;
    let index = instance_type(types, &header.audit, TypeDefCategory::Relationship)?;
    check_properties(types, index, relationship.properties.as_ref())?;
    let (Some(one), Some(two)) = (&relationship.entity_one, &relationship.entity_two) else {
        return Err(invalid("it does not have two ends"));
    };
    if one.header.guid().is_empty() || two.header.guid().is_empty() {
        return Err(invalid("an end has no GUID"));
    }
    let end =
        |header: &InstanceHeader| instance_type(types, &header.audit, TypeDefCategory::Entity);
    relationship_ends(types, index, [end(&one.header)?, end(&two.header)?])?;
    Ok(index)
}

fn foreign(
    header: &InstanceHeader,
    local: &str,
    invalid: Message,
    parameter: &str,
) -> Result<(), OmrsError> {
    if header.guid().is_empty() {
        return Err(OmrsError::new(invalid, &["it has no GUID"]));
    }
    match header.audit.metadata_collection_id.as_deref() {
        None | Some("") => Err(OmrsError::new(invalid, &["it names no home"])),
        Some(home) if home == local => {
            let words = [header.guid()];
            let message = Message::LocalReferenceInstance;
            Err(OmrsError::of_parameter(message, parameter, &words))
        }
        Some(_) => Ok(()),
    }
}

fn check_properties(
    types: &Catalogue,
    index: TypeIndex,
    properties: Option<&InstanceProperties>,
) -> Result<(), OmrsError> {
    properties.map_or(Ok(()), |properties| {
        completed_properties(types, index, properties.clone()).map(|_| ())
    })
}

fn check_classifications(
    types: &Catalogue,
    index: TypeIndex,
    carried: &[Classification],
) -> Result<(), OmrsError> {
    let mut carried = carried.iter();
    carried.try_for_each(|carried| classification_copy(types, index, carried))
}

/// Checks a copy of a classification of an entity of type `index`.
///
/// # Errors
/// `InvalidParameterException` when it has no name. `TypeErrorException` when no classification has
/// this name, or an entity of this type may not have it: the contract of calls with copies has no
/// `ClassificationErrorException`. `PropertyErrorException` when its properties are invalid.
pub fn classification_copy(
    types: &Catalogue,
    index: TypeIndex,
    carried: &Classification,
) -> Result<(), OmrsError> {
    let checked = classification(types, index, carried.name(), carried.properties.clone());
    let of_copy = |mut error: OmrsError| {
        if error.exception == Exception::ClassificationError {
            error.exception = Exception::TypeError;
        }
        error
    };
    checked.map(|_| ()).map_err(of_copy)
}
