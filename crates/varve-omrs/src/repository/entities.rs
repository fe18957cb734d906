//! Adds, changes, deletes, purges and restores entities.

use std::ops::ControlFlow;
use std::time::Instant;

use varve_kv::deadline;

use super::headers::{self, Author, Origin};
use super::reference_copies::entity_since;
use super::target::{CHANGE, InstanceKind, PURGE, RESTORE, Target};
use super::{Repository, checks, classifying};
use crate::error::{Message, OmrsError};
use crate::graph_store::GraphTransaction;
use crate::instances::{EntityDetail, EntityProxy};
use crate::requests::{
    EntityCreateRequest, InstancePropertiesRequest, TypeDefValidationForRequest,
};
use crate::search::{guid_bytes, relationship_bytes};
use crate::store::{StoredEntity, StoredRelationship};
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use crate::validate::{completed_properties, entity_proxy, initial_status, new_status};

impl Repository {
    /// Adds an entity whose home is this repository.
    ///
    /// # Errors
    /// Those of the contract for `addEntity`.
    pub fn add_entity(
        &self,
        user: &str,
        request: EntityCreateRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user(user)?;
        self.add_entity_of(user, request, self.own_origin())
    }

    /// Adds an entity that this repository replicates for an external source.
    ///
    /// # Errors
    /// Those of the contract for `addExternalEntity`.
    pub fn add_external_entity(
        &self,
        user: &str,
        request: EntityCreateRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user(user)?;
        let id = request.metadata_collection_id.as_deref();
        let origin = self.external_origin(id, request.metadata_collection_name.as_deref())?;
        self.add_entity_of(user, request, origin)
    }

    fn add_entity_of(
        &self,
        user: &str,
        request: EntityCreateRequest,
        origin: Origin,
    ) -> Result<EntityDetail, OmrsError> {
        let guid = checks::type_guid(request.type_guid.as_deref(), "entityTypeGUID")?.to_owned();
        self.write(&[], |transaction, types| {
            let of =
                types.instance_type_by_guid(TypeDefCategory::Entity, &guid, "entityTypeGUID")?;
            let properties = request.properties.clone();
            let properties = properties
                .map(|properties| completed_properties(types, of, properties))
                .transpose()?;
            let author = Author::of(user, transaction);
            let given = request.classifications.iter();
            let classifications = given
                .map(|given| classifying::new_classification(types, of, given, author, &origin))
                .collect::<Result<Vec<_>, OmrsError>>()?;
            let status = initial_status(types, of, request.status)?;
            let audit = headers::new_audit(author, &origin, types.get(of), status);
            let mut entity = StoredEntity::Detail(EntityDetail {
                header: self.new_header(InstanceKind::Entity, audit),
                classifications: Vec::with_capacity(classifications.len()).into(),
                properties,
            });
            for classification in classifications {
                classifying::put_new(&mut entity, classification)?;
            }
            transaction.put_entity(entity.clone(), None)?;
            checks::detail(entity)
        })
    }

    /// Stores a proxy of an entity of another repository. If the whole entity, or a proxy of at
    /// least the same version, is known, nothing changes. Classifications whose home is this
    /// repository stay.
    ///
    /// # Errors
    /// Those of the contract for `addEntityProxy`.
    pub fn add_entity_proxy(&self, user: &str, proxy: EntityProxy) -> Result<(), OmrsError> {
        checks::user(user)?;
        let proxy = checks::proxy(Some(&proxy))?;
        let guid = proxy.header.guid();
        self.write(&[guid], |transaction, types| {
            let mut new = self.foreign_proxy(types, proxy)?;
            let version = proxy.header.audit.version;
            let known = transaction.entity(guid)?;
            match &known {
                Some(StoredEntity::Detail(_)) => return Ok(()),
                Some(known) if known.header().audit.version >= version => return Ok(()),
                _ => self.keep_own_classifications(&mut new, known.as_ref()),
            }
            let since = entity_since(&new, transaction)?;
            transaction.put_entity(new, since)
        })
    }

    /// Changes the status of an entity.
    ///
    /// # Errors
    /// Those of the contract for `updateEntityStatus`.
    pub fn update_entity_status(
        &self,
        user: &str,
        guid: &str,
        status: Option<InstanceStatus>,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        checks::status_given(status)?;
        self.change_entity(user, guid, target, |entity, types, of, author| {
            let status = new_status(types, of, status)?;
            headers::change(&mut entity.header.audit, author);
            entity.header.audit.status = Some(status);
            Ok(())
        })
    }

    /// Replaces all properties of an entity.
    ///
    /// # Errors
    /// Those of the contract for `updateEntityProperties`.
    pub fn update_entity_properties(
        &self,
        user: &str,
        guid: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.change_entity(user, guid, target, |entity, types, of, author| {
            let properties = checks::properties_given(guid, request.properties.clone())?;
            let properties = completed_properties(types, of, properties)?;
            headers::change(&mut entity.header.audit, author);
            entity.properties = Some(properties);
            Ok(())
        })
    }

    /// Reverts the latest change of status or properties, as one more change. Classifications stay.
    /// A restored deletion does not count as a change. An entity that was never changed is returned
    /// unchanged.
    ///
    /// # Errors
    /// Those of the contract for `undoEntityUpdate`.
    pub fn undo_entity_update(&self, user: &str, guid: &str) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.write(&[guid], |transaction, types| {
            let mut entity = target.entity(self, transaction)?;
            let version = entity.header.audit.version;
            let Some(earlier) = transaction.earlier_entity(guid, version)? else {
                return Ok(entity);
            };
            let of = checks::type_of(types, &entity.header, TypeDefCategory::Entity)?;
            let (audit, earlier_audit) = (&mut entity.header.audit, &earlier.header.audit);
            let author = Author::of(user, transaction);
            headers::revert(audit, earlier_audit, (types, of), author);
            entity.properties = earlier.properties;
            put(transaction, entity)
        })
    }

    /// Deletes an entity with its relationships. The entity can be restored. Copies of
    /// relationships of other repositories are removed.
    ///
    /// # Errors
    /// Those of the contract for `deleteEntity`.
    pub fn delete_entity(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?.of_type(expected)?;
        self.write(&[guid], |transaction, _| {
            let mut entity = target.entity(self, transaction)?;
            let author = Author::of(user, transaction);
            self.delete_relationships_of(transaction, guid, author)?;
            headers::delete(&mut entity.header.audit, author);
            put(transaction, entity)
        })
    }

    /// Destroys a deleted entity with its history and its relationships.
    ///
    /// # Errors
    /// Those of the contract for `purgeEntity`.
    pub fn purge_entity(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, PURGE)?.of_type(expected)?;
        self.write(&[guid], |transaction, _| {
            target.resolve(self, transaction.entity_head(guid)?)?;
            transaction.purge_entity(guid)
        })
    }

    /// Restores a deleted entity. The relationships that were deleted with it stay deleted.
    ///
    /// # Errors
    /// Those of the contract for `restoreEntity`.
    pub fn restore_entity(&self, user: &str, guid: &str) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, RESTORE)?;
        self.write(&[guid], |transaction, _| {
            let mut entity = target.entity(self, transaction)?;
            let author = Author::of(user, transaction);
            headers::restore(&mut entity.header.audit, author);
            put(transaction, entity)
        })
    }

    /// Validates a proxy: its home must be another repository, and its type must be known and have
    /// its properties. Returns it without classifications whose home is this repository, since only
    /// the stored ones are true.
    ///
    /// # Errors
    /// `InvalidParameterException`, which every call with proxies may return, whatever is wrong.
    pub(super) fn foreign_proxy(
        &self,
        types: &Catalogue,
        proxy: &EntityProxy,
    ) -> Result<StoredEntity, OmrsError> {
        entity_proxy(types, proxy, &self.metadata_collection_id)?;
        let mut proxy = StoredEntity::Proxy(proxy.clone());
        self.keep_own_classifications(&mut proxy, None);
        Ok(proxy)
    }

    /// The proxy to store for an entity that is not known here.
    ///
    /// # Errors
    /// `EntityNotKnownException` when the proxy names this repository as its home; those of
    /// [`Self::foreign_proxy`].
    pub(super) fn unknown_entity(
        &self,
        types: &Catalogue,
        proxy: &EntityProxy,
    ) -> Result<StoredEntity, OmrsError> {
        let home = proxy.header.audit.metadata_collection_id.as_deref();
        if home == Some(&self.metadata_collection_id) {
            return Err(InstanceKind::Entity.unknown(proxy.header.guid()));
        }
        self.foreign_proxy(types, proxy)
    }

    /// Changes the entity that a call names.
    fn change_entity(
        &self,
        user: &str,
        guid: &str,
        target: Target<'_>,
        mut work: impl FnMut(
            &mut EntityDetail,
            &Catalogue,
            TypeIndex,
            Author<'_>,
        ) -> Result<(), OmrsError>,
    ) -> Result<EntityDetail, OmrsError> {
        self.write(&[guid], |transaction, types| {
            let mut entity = target.entity(self, transaction)?;
            let of = checks::type_of(types, &entity.header, TypeDefCategory::Entity)?;
            let author = Author::of(user, transaction);
            work(&mut entity, types, of, author)?;
            put(transaction, entity)
        })
    }

    /// Whether an entity has a relationship whose home is this repository, deleted or not.
    pub(super) fn has_own_relationship(
        &self,
        transaction: &GraphTransaction<'_, '_>,
        guid: &str,
    ) -> Result<bool, OmrsError> {
        let mut found = false;
        let mut time = Time::of(guid);
        transaction.relationship_heads_of(guid, &mut |head, _| {
            time.pass()?;
            found = self.is_own(&head.header.audit);
            Ok(if found {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(found)
    }

    /// Deletes the relationships of an entity whose home is this repository, and removes copies of
    /// others. Skips relationships that are already deleted, any number of them within the
    /// deadline.
    pub(super) fn delete_relationships_of(
        &self,
        transaction: &mut GraphTransaction<'_, '_>,
        guid: &str,
        author: Author<'_>,
    ) -> Result<(), OmrsError> {
        let mut room = Room::of(guid);
        let mut time = Time::of(guid);
        let (mut own, mut foreign) = (Vec::new(), Vec::new());
        transaction.relationship_heads_of(guid, &mut |head, whole| {
            time.pass()?;
            let header = &head.header;
            if !self.is_own(&header.audit) {
                room.take(guid_bytes(header.guid()))?;
                foreign.push(header.guid().to_owned());
            } else if !header.audit.is_deleted() {
                let relationship = whole()?;
                room.take(relationship_bytes(&relationship))?;
                own.push(relationship);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for copy in foreign {
            time.pass()?;
            transaction.purge_relationship(&copy)?;
        }
        for mut relationship in own {
            time.pass()?;
            headers::delete(&mut relationship.header.audit, author);
            transaction.put_relationship(relationship, None)?;
        }
        Ok(())
    }
}

/// Stores a new state of an entity, from now on.
pub(super) fn put(
    transaction: &mut GraphTransaction<'_, '_>,
    entity: EntityDetail,
) -> Result<EntityDetail, OmrsError> {
    transaction.put_entity(StoredEntity::Detail(entity.clone()), None)?;
    Ok(entity)
}

/// The most relationships of one entity that one call changes or removes with it.
const RELATIONSHIPS_CHANGED_MAX: usize = 100_000;
/// The most memory for them, in bytes, about.
const RELATIONSHIPS_BYTES_MAX: usize = 64 << 20;

/// The budget for the relationships of an entity that one call changes with it.
struct Room<'a> {
    entity: &'a str,
    left: usize,
    bytes_left: usize,
}

impl<'a> Room<'a> {
    fn of(entity: &'a str) -> Self {
        Self {
            entity,
            left: RELATIONSHIPS_CHANGED_MAX,
            bytes_left: RELATIONSHIPS_BYTES_MAX,
        }
    }

    /// Charges one relationship of this size, in bytes.
    fn take(&mut self, bytes: usize) -> Result<(), OmrsError> {
        let too_many = |most: &str| {
            let words = [self.entity, most];
            OmrsError::new(Message::TooManyRelationships, &words)
        };
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return Err(too_many(&RELATIONSHIPS_CHANGED_MAX.to_string())),
        };
        self.bytes_left = match self.bytes_left.checked_sub(bytes) {
            Some(left) => left,
            None => return Err(too_many(&format!("{RELATIONSHIPS_BYTES_MAX} bytes of"))),
        };
        Ok(())
    }
}

/// The number of relationships between two checks of the deadline.
const CLOCK_EVERY: usize = 64;

/// The deadline of a call that visits the relationships of an entity.
pub(super) struct Time<'a> {
    entity: &'a str,
    passed: usize,
}

impl<'a> Time<'a> {
    pub(super) fn of(entity: &'a str) -> Self {
        Self { entity, passed: 0 }
    }

    /// Counts a relationship, and checks the deadline at times.
    pub(super) fn pass(&mut self) -> Result<(), OmrsError> {
        self.passed += 1;
        let is_over = || deadline::current().is_some_and(|end| Instant::now() >= end);
        if self.passed.is_multiple_of(CLOCK_EVERY) && is_over() {
            let entity = self.entity;
            let words = format!("the deadline passed within the relationships of {entity}");
            return Err(OmrsError::new(Message::StoreBusy, &[&words]));
        }
        Ok(())
    }
}

/// All relationships of an entity, deleted ones included, within the budget and the deadline.
pub(super) fn relationships_of(
    transaction: &GraphTransaction<'_, '_>,
    guid: &str,
    time: &mut Time<'_>,
) -> Result<Vec<StoredRelationship>, OmrsError> {
    let mut room = Room::of(guid);
    let mut found = Vec::new();
    transaction.relationships_of(guid, &mut |relationship| {
        time.pass()?;
        room.take(relationship_bytes(&relationship))?;
        found.push(relationship);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
