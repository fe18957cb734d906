//! Checks of a call's values. The instance that the call names is checked in
//! [`target`](super::target).

use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy, InstanceHeader, InstanceProperties};
use crate::requests::TypeDefValidationForRequest;
use crate::store::StoredEntity;
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use crate::validate::instance_type;

/// Checks that a GUID was given in `parameter`.
pub(super) fn guid(guid: &str, parameter: &str) -> Result<(), OmrsError> {
    if guid.is_empty() {
        let message = Message::NoGuid;
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

/// Checks that a user was named.
pub(super) fn user(user: &str) -> Result<(), OmrsError> {
    if user.is_empty() {
        return Err(OmrsError::new(Message::NullUser, &[]));
    }
    Ok(())
}

/// Checks that the GUID of a type is given.
pub(super) fn type_guid<'a>(guid: Option<&'a str>, parameter: &str) -> Result<&'a str, OmrsError> {
    let missing = || OmrsError::of_parameter(Message::NoTypeGuid, parameter, &[parameter]);
    guid.filter(|guid| !guid.is_empty()).ok_or_else(missing)
}

/// Checks that the caller names the expected type of an instance.
pub(super) fn type_named(expected: &TypeDefValidationForRequest) -> Result<(), OmrsError> {
    type_guid(expected.type_guid.as_deref(), "typeDefGUID")?;
    if expected.type_name.as_deref().unwrap_or_default().is_empty() {
        let (message, parameter) = (Message::NoTypeName, "typeDefName");
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

/// The whole entity; an error if only a proxy is known.
pub(super) fn detail(found: StoredEntity) -> Result<EntityDetail, OmrsError> {
    match found {
        StoredEntity::Detail(entity) => Ok(entity),
        StoredEntity::Proxy(proxy) => {
            let words = [proxy.header.guid()];
            Err(OmrsError::new(Message::ProxyOnly, &words))
        }
    }
}

/// The type of a stored instance.
pub(super) fn type_of(
    types: &Catalogue,
    header: &InstanceHeader,
    category: TypeDefCategory,
) -> Result<TypeIndex, OmrsError> {
    instance_type(types, &header.audit, category)
}

/// Checks that a proxy is given, with a GUID.
pub(super) fn proxy(given: Option<&EntityProxy>) -> Result<&EntityProxy, OmrsError> {
    let parameter = "entityProxy";
    let missing = || OmrsError::of_parameter(Message::NullProxy, parameter, &[parameter]);
    let given = given.ok_or_else(missing)?;
    guid(given.header.guid(), parameter)?;
    Ok(given)
}

/// Checks that a status was given. Whether the instance may have it depends on its type.
pub(super) fn status_given(status: Option<InstanceStatus>) -> Result<(), OmrsError> {
    let parameter = "newStatus";
    let missing = || OmrsError::of_parameter(Message::NoStatus, parameter, &[parameter]);
    status.map(|_| ()).ok_or_else(missing)
}

/// Checks that the new properties of an instance are given.
pub(super) fn properties_given(
    guid: &str,
    given: Option<InstanceProperties>,
) -> Result<InstanceProperties, OmrsError> {
    given.ok_or_else(|| OmrsError::new(Message::NoNewProperties, &[guid]))
}
