//! Instances as they are told: relationships with what is known of their ends.

use crate::error::{Message, OmrsError};
use crate::instances::{EntityProxy, Relationship};
use crate::store::{Read, StoredEntity, StoredRelationship};
use crate::types::{Catalogue, TypeDefCategory};
use crate::validate::{instance_type, unique_properties};

/// A relationship with the proxies of its ends as they are at the reader's point of time.
///
/// # Errors
/// When the store fails, or lost an end.
pub(crate) fn rendered(
    read: &dyn Read,
    types: &Catalogue,
    stored: StoredRelationship,
) -> Result<Relationship, OmrsError> {
    let end = |guid: &str| -> Result<EntityProxy, OmrsError> {
        let entity = read.entity(guid)?.ok_or_else(|| {
            let words = format!("relationship {} lost its end {guid}", stored.header.guid());
            OmrsError::new(Message::LogicError, &[&words])
        })?;
        Ok(proxy(types, &entity))
    };
    let entity_one = Some(end(&stored.ends[0])?);
    let entity_two = Some(end(&stored.ends[1])?);
    Ok(Relationship {
        header: stored.header,
        properties: stored.properties,
        entity_one,
        entity_two,
    })
}

/// What stands for an entity at the end of a relationship.
pub(super) fn proxy(types: &Catalogue, entity: &StoredEntity) -> EntityProxy {
    let entity = match entity {
        StoredEntity::Proxy(proxy) => return proxy.clone(),
        StoredEntity::Detail(entity) => entity,
    };
    let header = &entity.header;
    // A type that was removed since cannot be asked which of its properties are unique.
    let of = instance_type(types, &header.audit, TypeDefCategory::Entity).ok();
    let unique = of
        .zip(entity.properties.as_ref())
        .map(|(of, properties)| unique_properties(types, of, properties))
        .filter(|unique| !unique.values.is_empty());
    EntityProxy {
        header: header.clone(),
        classifications: entity.classifications.clone(),
        unique_properties: unique,
    }
}
