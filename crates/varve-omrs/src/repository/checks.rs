//! Checks that come before the effect of a call: that what must be there is.

use crate::error::{Exception, Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy, InstanceHeader, InstanceProperties};
use crate::requests::TypeDefValidationForRequest;
use crate::store::{Read, StoredEntity, StoredRelationship};
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use crate::validate::{expected_type, instance_type};

/// Checks that a GUID was given in `parameter`.
pub(super) fn guid(guid: &str, parameter: &str) -> Result<(), OmrsError> {
    if guid.is_empty() {
        let message = Message::NoGuid;
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

/// Checks that a user and a GUID were given.
pub(super) fn user_and_guid(user_id: &str, instance: &str) -> Result<(), OmrsError> {
    user(user_id)?;
    guid(instance, "guid")
}

/// Checks that a user was named.
pub(super) fn user(user: &str) -> Result<(), OmrsError> {
    if user.is_empty() {
        return Err(OmrsError::new(Message::NullUser, &[]));
    }
    Ok(())
}

/// The GUID of a type that a new instance is to have.
pub(super) fn type_guid<'a>(guid: Option<&'a str>, parameter: &str) -> Result<&'a str, OmrsError> {
    let missing = || OmrsError::of_parameter(Message::NoTypeGuid, parameter, &[parameter]);
    guid.filter(|guid| !guid.is_empty()).ok_or_else(missing)
}

/// Checks that the caller says which type it takes an instance for.
pub(super) fn type_named(expected: &TypeDefValidationForRequest) -> Result<(), OmrsError> {
    type_guid(expected.type_guid.as_deref(), "typeDefGUID")?;
    if expected.type_name.as_deref().unwrap_or_default().is_empty() {
        let (message, parameter) = (Message::NoTypeName, "typeDefName");
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

/// Checks that an instance is of the type that the caller takes it for.
pub(super) fn type_expected(
    header: &InstanceHeader,
    expected: &TypeDefValidationForRequest,
) -> Result<(), OmrsError> {
    let (guid, name) = (&expected.type_guid, &expected.type_name);
    expected_type(header, guid.as_deref(), name.as_deref())
}

/// The entity, a proxy included, which may be deleted.
pub(super) fn entity(read: &dyn Read, guid: &str) -> Result<StoredEntity, OmrsError> {
    let found = read.entity(guid)?;
    found.ok_or_else(|| OmrsError::new(Message::UnknownEntity, &[guid]))
}

/// The same, of which no more than the header need be there.
pub(super) fn entity_head(read: &dyn Read, guid: &str) -> Result<StoredEntity, OmrsError> {
    let found = read.entity_head(guid)?;
    found.ok_or_else(|| OmrsError::new(Message::UnknownEntity, &[guid]))
}

/// The entity, a proxy included, which is not deleted.
pub(super) fn present_entity(read: &dyn Read, guid: &str) -> Result<StoredEntity, OmrsError> {
    let found = entity(read, guid)?;
    if found.header().audit.is_deleted() {
        return Err(OmrsError::new(Message::EntityDeleted, &[guid]));
    }
    Ok(found)
}

/// The entity, all of which is known, and which is not deleted.
pub(super) fn present_detail(read: &dyn Read, guid: &str) -> Result<EntityDetail, OmrsError> {
    detail(present_entity(read, guid)?)
}

/// The entity, all of which is known.
pub(super) fn detail(found: StoredEntity) -> Result<EntityDetail, OmrsError> {
    match found {
        StoredEntity::Detail(entity) => Ok(entity),
        StoredEntity::Proxy(proxy) => {
            let words = [proxy.header.guid()];
            Err(OmrsError::new(Message::ProxyOnly, &words))
        }
    }
}

/// The entity, for a call that changes it: one that is known as a proxy only counts as not known.
pub(super) fn known_detail(found: StoredEntity) -> Result<EntityDetail, OmrsError> {
    match found {
        StoredEntity::Detail(entity) => Ok(entity),
        StoredEntity::Proxy(proxy) => {
            let words = [proxy.header.guid()];
            let exception = Exception::EntityNotKnown;
            Err(OmrsError::with_exception(
                exception,
                Message::ProxyOnly,
                &words,
            ))
        }
    }
}

/// The relationship, which may be deleted.
pub(super) fn relationship(read: &dyn Read, guid: &str) -> Result<StoredRelationship, OmrsError> {
    let found = read.relationship(guid)?;
    found.ok_or_else(|| OmrsError::new(Message::UnknownRelationship, &[guid]))
}

/// The same, of which no more than the header need be there.
pub(super) fn relationship_head(
    read: &dyn Read,
    guid: &str,
) -> Result<StoredRelationship, OmrsError> {
    let found = read.relationship_head(guid)?;
    found.ok_or_else(|| OmrsError::new(Message::UnknownRelationship, &[guid]))
}

/// The relationship, which is not deleted.
pub(super) fn present_relationship(
    read: &dyn Read,
    guid: &str,
) -> Result<StoredRelationship, OmrsError> {
    let found = relationship(read, guid)?;
    if found.header.audit.is_deleted() {
        return Err(OmrsError::new(Message::RelationshipDeleted, &[guid]));
    }
    Ok(found)
}

/// The type of an instance that is kept.
pub(super) fn type_of(
    types: &Catalogue,
    header: &InstanceHeader,
    category: TypeDefCategory,
) -> Result<TypeIndex, OmrsError> {
    instance_type(types, &header.audit, category)
}

/// Checks that a deleted instance is not deleted again.
pub(super) fn not_deleted_yet(header: &InstanceHeader) -> Result<(), OmrsError> {
    if header.audit.is_deleted() {
        let message = Message::AlreadyDeleted;
        return Err(OmrsError::of_parameter(message, "guid", &[header.guid()]));
    }
    Ok(())
}

/// Checks that an instance is deleted before it is purged or restored.
pub(super) fn deleted(header: &InstanceHeader, otherwise: Exception) -> Result<(), OmrsError> {
    if header.audit.is_deleted() {
        return Ok(());
    }
    let words = [header.guid()];
    Err(OmrsError::with_exception(
        otherwise,
        Message::NotDeleted,
        &words,
    ))
}

/// The proxy that was given, which has a GUID.
pub(super) fn proxy(given: Option<&EntityProxy>) -> Result<&EntityProxy, OmrsError> {
    let parameter = "entityProxy";
    let missing = || OmrsError::of_parameter(Message::NullProxy, parameter, &[parameter]);
    let given = given.ok_or_else(missing)?;
    guid(given.header.guid(), parameter)?;
    Ok(given)
}

/// Checks that a status was given, and not the one that deleting gives.
pub(super) fn status_given(status: Option<InstanceStatus>) -> Result<(), OmrsError> {
    match status {
        None => Err(OmrsError::new(Message::NoStatus, &["newStatus"])),
        Some(InstanceStatus::Deleted) => Err(OmrsError::new(Message::StatusDeleted, &[])),
        Some(_) => Ok(()),
    }
}

/// The properties that an instance is to have.
pub(super) fn properties_given(
    guid: &str,
    given: Option<InstanceProperties>,
) -> Result<InstanceProperties, OmrsError> {
    given.ok_or_else(|| OmrsError::new(Message::NoNewProperties, &[guid]))
}
