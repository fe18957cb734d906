//! Copies of instances whose home is another repository. A copy is stored unchanged, valid from its
//! own time of change. If that would hide a stored state, it is valid from now on.

use super::headers::{self, Author};
use super::target::{PURGE_COPY, REFRESH_COPY, REMOVE_COPY, SAVE_COPY, Target};
use super::{Repository, checks, classifying};
use crate::error::{Message, OmrsError};
use crate::graph_store::GraphTransaction;
use crate::instances::{
    Classification, EntityDetail, EntityProxy, InstanceAuditHeader, InstanceHeader, Relationship,
};
use crate::json::Millis;
use crate::requests::{ClassificationWithEntityRequest, TypeDefValidationForRequest};
use crate::store::{StoredEntity, StoredRelationship};
use crate::types::{Catalogue, TypeDefCategory};
use crate::validate::{classification_copy, entity_copy, instance_lock, relationship_copy};

/// The parameter that names the home of a copy.
const HOME: &str = "homeMetadataCollectionId";

impl Repository {
    /// Stores a copy of an entity unchanged, except for classifications whose home is this
    /// repository: those keep their stored content. A copy older than the stored one changes
    /// nothing.
    ///
    /// # Errors
    /// Those of the contract for `saveEntityReferenceCopy`.
    pub fn save_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        self.write(&[entity.header.guid()], |transaction, types| {
            self.save_entity(transaction, types, &entity)
        })
    }

    /// Removes a copy whose original was deleted, with its history and its relationships. If
    /// something of this repository is attached to it, the copy is only marked as deleted: its
    /// history stays, and its relationships whose home is here are marked as deleted too.
    ///
    /// # Errors
    /// Those of the contract for `deleteEntityReferenceCopy`.
    pub fn delete_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let guid = entity.header.guid();
        self.write(&[guid], |transaction, types| {
            entity_copy(types, &entity, &self.metadata_collection_id)?;
            let known = transaction.entity(guid)?;
            let Some(known) = Target::of(guid, REMOVE_COPY).resolve_known(self, known)? else {
                return Ok(());
            };
            let mut carried = known.classifications().iter();
            let is_used = carried.any(|carried| self.is_own(&carried.audit))
                || self.has_own_relationship(transaction, guid)?;
            if !is_used {
                return transaction.purge_entity(guid);
            }
            let author = Author::of(user, transaction);
            self.delete_relationships_of(transaction, guid, author)?;
            put_deleted(transaction, known, &entity.header.audit)
        })
    }

    /// Removes a copy, its history and its relationships. If the entity is unknown, or only a proxy
    /// of it is known, nothing changes.
    ///
    /// # Errors
    /// Those of the contract for `purgeEntityReferenceCopy`.
    pub fn purge_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let guid = entity.header.guid();
        self.write(&[guid], |transaction, types| {
            entity_copy(types, &entity, &self.metadata_collection_id)?;
            let known = transaction.entity_head(guid)?;
            match Target::of(guid, REMOVE_COPY).resolve_known(self, known)? {
                Some(StoredEntity::Detail(_)) => transaction.purge_entity(guid),
                Some(StoredEntity::Proxy(_)) | None => Ok(()),
            }
        })
    }

    /// Removes the copy with this GUID, its history and its relationships. Also removes a deleted
    /// entity of this repository, which may have been a copy earlier. The caller must name a home,
    /// but any home will do.
    ///
    /// # Errors
    /// Those of the contract for `purgeEntityReferenceCopy`.
    pub fn purge_entity_reference_copy_by_id(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, PURGE_COPY)?.of_type(expected)?;
        checks::guid(home, HOME)?;
        self.write(&[guid], |transaction, _| {
            target.resolve(self, transaction.entity_head(guid)?)?;
            transaction.purge_entity(guid)
        })
    }

    /// Requests a new copy of the entity from its home. Has no effect: a repository by itself
    /// belongs to no cohort.
    ///
    /// # Errors
    /// Those of the contract for `refreshEntityReferenceCopy`.
    pub fn refresh_entity_reference_copy(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        _expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, REFRESH_COPY)?;
        checks::guid(home, HOME)?;
        let known = self.reader(None)?.entity(guid)?;
        target.resolve_known(self, known).map(|_| ())
    }

    /// Stores a copy of a classification. If the entity is unknown, the entity in the request is
    /// stored, unless its home is this repository. A deleted entity is not changed.
    ///
    /// # Errors
    /// Those of the contract for `saveClassificationReferenceCopy`.
    pub fn save_classification_reference_copy(
        &self,
        user: &str,
        request: ClassificationWithEntityRequest,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let (guid, given) = self.foreign_classification(&request)?;
        self.write(&[guid], |transaction, types| {
            let known = transaction.entity(guid)?;
            let is_known = known.is_some();
            let Some(mut entity) =
                known.map_or_else(|| self.sent(types, &request), |it| Ok(Some(it)))?
            else {
                return Ok(());
            };
            if self.is_ours_to_classify(types, &entity, given)?
                || entity.header().audit.is_deleted()
            {
                return Ok(());
            }
            let at = classifying::position(&entity, given.name());
            let carried = entity.classifications_mut();
            if at.is_none_or(|at| carried[at].audit.version < given.audit.version) {
                at.map(|at| carried.remove(at));
                carried.push(given.clone());
            } else if is_known {
                return Ok(());
            }
            let since = entity_since(&entity, transaction)?;
            transaction.put_entity(entity, since)
        })
    }

    /// Removes a copy of a classification. If there is none, nothing happens.
    ///
    /// # Errors
    /// Those of the contract for `purgeClassificationReferenceCopy`.
    pub fn purge_classification_reference_copy(
        &self,
        user: &str,
        request: ClassificationWithEntityRequest,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let (guid, given) = self.foreign_classification(&request)?;
        self.write(&[guid], |transaction, types| {
            let Some(mut entity) = transaction.entity(guid)? else {
                return Ok(());
            };
            let is_ours = self.is_ours_to_classify(types, &entity, given)?;
            let at = classifying::position(&entity, given.name());
            let Some(at) = at.filter(|_| !is_ours) else {
                return Ok(());
            };
            entity.classifications_mut().remove(at);
            transaction.put_entity(entity, None)
        })
    }

    /// Stores a copy of a relationship unchanged, and proxies of unknown ends. A copy older than
    /// the stored one changes nothing.
    ///
    /// # Errors
    /// Those of the contract for `saveRelationshipReferenceCopy`.
    pub fn save_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let guids = guids_of(&relationship);
        self.write(&guids, |transaction, types| {
            self.save_relationship(transaction, types, &relationship)
        })
    }

    /// Removes a copy whose original was deleted.
    ///
    /// # Errors
    /// Those of the contract for `deleteRelationshipReferenceCopy`.
    pub fn delete_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        self.purge_relationship_reference_copy(user, relationship)
    }

    /// Removes a copy and its history. If there is none, nothing happens.
    ///
    /// # Errors
    /// Those of the contract for `purgeRelationshipReferenceCopy`.
    pub fn purge_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let guid = relationship.header.guid();
        self.write(&[guid], |transaction, types| {
            relationship_copy(types, &relationship, &self.metadata_collection_id)?;
            let known = transaction.relationship_head(guid)?;
            match Target::of(guid, REMOVE_COPY).resolve_known(self, known)? {
                Some(_) => transaction.purge_relationship(guid),
                None => Ok(()),
            }
        })
    }

    /// Removes the copy with this GUID and its history, or a deleted relationship of this
    /// repository: as [`Self::purge_entity_reference_copy_by_id`] does an entity.
    ///
    /// # Errors
    /// Those of the contract for `purgeRelationshipReferenceCopy`.
    pub fn purge_relationship_reference_copy_by_id(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, PURGE_COPY)?.of_type(expected)?;
        checks::guid(home, HOME)?;
        self.write(&[guid], |transaction, _| {
            target.resolve(self, transaction.relationship_head(guid)?)?;
            transaction.purge_relationship(guid)
        })
    }

    /// Requests a new copy of the relationship from its home. Has no effect, as for entities.
    ///
    /// # Errors
    /// Those of the contract for `refreshRelationshipReferenceCopy`.
    pub fn refresh_relationship_reference_copy(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        _expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, REFRESH_COPY)?;
        checks::guid(home, HOME)?;
        let known = self.reader(None)?.relationship(guid)?;
        target.resolve_known(self, known).map(|_| ())
    }

    pub(super) fn save_entity(
        &self,
        transaction: &mut GraphTransaction<'_, '_>,
        types: &Catalogue,
        given: &EntityDetail,
    ) -> Result<(), OmrsError> {
        entity_copy(types, given, &self.metadata_collection_id)?;
        let guid = given.header.guid();
        let mut entity = StoredEntity::Detail(given.clone());
        let known = transaction.entity(guid)?;
        let known = Target::of(guid, SAVE_COPY).resolve_known(self, known)?;
        self.keep_own_classifications(&mut entity, known.as_ref());
        if let Some(known) = known {
            let is_older = given.header.audit.version < known.header().audit.version;
            if is_older && matches!(known, StoredEntity::Detail(_)) {
                return Ok(());
            }
            if let (StoredEntity::Detail(known), StoredEntity::Detail(entity)) = (&known, &entity)
                && is_same(known, entity)
            {
                return Ok(());
            }
        }
        let since = entity_since(&entity, transaction)?;
        transaction.put_entity(entity, since)
    }

    /// Replaces those classifications of a copy whose home is this repository by the stored ones:
    /// only this repository changes them.
    pub(super) fn keep_own_classifications(
        &self,
        copy: &mut StoredEntity,
        known: Option<&StoredEntity>,
    ) {
        let is_own = |carried: &&Classification| self.is_own(&carried.audit);
        let known = known.map_or(&[][..], StoredEntity::classifications);
        let own: Vec<Classification> = known.iter().filter(is_own).cloned().collect();
        if own.is_empty() && !copy.classifications().iter().any(|of| is_own(&of)) {
            return;
        }
        let carried = copy.classifications_mut();
        carried.retain(|of| !is_own(&of) && own.iter().all(|own| own.name() != of.name()));
        carried.extend(own);
    }

    pub(super) fn save_relationship(
        &self,
        transaction: &mut GraphTransaction<'_, '_>,
        types: &Catalogue,
        given: &Relationship,
    ) -> Result<(), OmrsError> {
        relationship_copy(types, given, &self.metadata_collection_id)?;
        let guid = given.header.guid();
        let ends = [&given.entity_one, &given.entity_two].map(|end| {
            let guid = end.as_ref().and_then(|end| end.header.guid.clone());
            guid.unwrap_or_default()
        });
        let relationship = StoredRelationship {
            header: given.header.clone(),
            properties: given.properties.clone(),
            ends,
        };
        let known = transaction.relationship(guid)?;
        if let Some(known) = Target::of(guid, SAVE_COPY).resolve_known(self, known)? {
            let is_older = given.header.audit.version < known.header.audit.version;
            if is_older || known == relationship {
                return Ok(());
            }
        }
        let time = state_time(&given.header.audit, &[]);
        let start = transaction.relationship_start(guid)?;
        let mut since = past(time, transaction.now(), start);
        for end in [&given.entity_one, &given.entity_two].into_iter().flatten() {
            if !self.had_end(transaction, types, end, since)? {
                since = None;
            }
        }
        transaction.put_relationship(relationship, since)
    }

    /// Stores a proxy of the entity at an end if the entity is unknown. Returns whether the entity
    /// was known at the time `at`.
    fn had_end(
        &self,
        transaction: &mut GraphTransaction<'_, '_>,
        types: &Catalogue,
        end: &EntityProxy,
        at: Option<Millis>,
    ) -> Result<bool, OmrsError> {
        let guid = end.header.guid();
        if let Some(start) = transaction.entity_start(guid)? {
            let Some(time) = at else {
                return Ok(false);
            };
            // Readers do not see this transaction's writes, so its own start is compared first.
            return Ok(start <= time || self.reader(at)?.entity(guid)?.is_some());
        }
        let proxy = self.unknown_entity(types, end)?;
        let since = entity_since(&proxy, transaction)?;
        transaction.put_entity(proxy, since)?;
        Ok(since.is_some_and(|since| at.is_some_and(|at| since <= at)))
    }

    /// The copied classification of a request, and its entity's GUID. The home must be another
    /// repository.
    fn foreign_classification<'a>(
        &self,
        request: &'a ClassificationWithEntityRequest,
    ) -> Result<(&'a str, &'a Classification), OmrsError> {
        let null = |parameter: &str| {
            OmrsError::of_parameter(Message::NullReferenceInstance, parameter, &[parameter])
        };
        let guid = request.entity_guid().ok_or_else(|| null("entity"))?;
        let given = request.classification.as_ref();
        let given = given.ok_or_else(|| null("classification"))?;
        checks::guid(guid, "entity")?;
        let home = given.audit.metadata_collection_id.as_deref();
        checks::guid(
            home.unwrap_or_default(),
            "classification.metadataCollectionId",
        )?;
        if home == Some(&self.metadata_collection_id) {
            let message = Message::LocalReferenceInstance;
            let words = [given.name()];
            return Err(OmrsError::of_parameter(message, "classification", &words));
        }
        Ok((guid, given))
    }

    /// The entity in a request with a copied classification; `None` if its home is this repository.
    fn sent(
        &self,
        types: &Catalogue,
        request: &ClassificationWithEntityRequest,
    ) -> Result<Option<StoredEntity>, OmrsError> {
        let is_local = |header: &InstanceHeader| {
            header.audit.metadata_collection_id.as_ref() == Some(&self.metadata_collection_id)
        };
        match (&request.entity, &request.proxy) {
            (Some(entity), _) if !is_local(&entity.header) => {
                entity_copy(types, entity, &self.metadata_collection_id)?;
                let mut entity = StoredEntity::Detail(entity.clone());
                self.keep_own_classifications(&mut entity, None);
                Ok(Some(entity))
            }
            (None, Some(proxy)) if !is_local(&proxy.header) => {
                self.foreign_proxy(types, proxy).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether the entity's classification is this repository's own, which no copy changes.
    ///
    /// # Errors
    /// Those of a copy that the entity cannot carry.
    fn is_ours_to_classify(
        &self,
        types: &Catalogue,
        entity: &StoredEntity,
        given: &Classification,
    ) -> Result<bool, OmrsError> {
        let of = checks::type_of(types, entity.header(), TypeDefCategory::Entity)?;
        classification_copy(types, of, given)?;
        let at = classifying::position(entity, given.name());
        Ok(at.is_some_and(|at| self.is_own(&entity.classifications()[at].audit)))
    }

    /// Whether this repository may change an instance: it is its home, or replicates it for an
    /// external source.
    pub(super) fn is_own(&self, audit: &InstanceAuditHeader) -> bool {
        instance_lock(audit, "", &self.metadata_collection_id).is_ok()
    }
}

/// The GUIDs of a relationship and of its ends.
pub(super) fn guids_of(relationship: &Relationship) -> [&str; 3] {
    let [one, two] = [&relationship.entity_one, &relationship.entity_two]
        .map(|end| end.as_ref().map_or("", |end| end.header.guid()));
    [relationship.header.guid(), one, two]
}

/// Marks as deleted, from now on, a copy that this repository's own instances need. It takes over
/// the version, author and time of the sent header, unless that is older, so that the deletion can
/// be distinguished from a later copy.
fn put_deleted(
    transaction: &mut GraphTransaction<'_, '_>,
    mut known: StoredEntity,
    sent: &InstanceAuditHeader,
) -> Result<(), OmrsError> {
    let audit = &mut known.header_mut().audit;
    if audit.is_deleted() {
        return Ok(());
    }
    if sent.version >= audit.version {
        audit.version = sent.version;
        audit.updated_by.clone_from(&sent.updated_by);
        audit.update_time = sent.update_time;
    }
    headers::mark_deleted(audit);
    transaction.put_entity(known, None)
}

/// Whether two states of an entity are equal, apart from the order of classifications.
fn is_same(one: &EntityDetail, other: &EntityDetail) -> bool {
    let (carried, others) = (&one.classifications, &other.classifications);
    one.header == other.header
        && one.properties == other.properties
        && carried.len() == others.len()
        && carried.iter().all(|carried| others.contains(carried))
}

/// The start of a new state of an entity: the time of its latest change, including those of its
/// classifications. `None` = now.
pub(super) fn entity_since(
    entity: &StoredEntity,
    transaction: &GraphTransaction<'_, '_>,
) -> Result<Option<Millis>, OmrsError> {
    let time = state_time(&entity.header().audit, entity.classifications());
    let start = transaction.entity_start(entity.header().guid())?;
    Ok(past(time, transaction.now(), start))
}

fn state_time(audit: &InstanceAuditHeader, carried: &[Classification]) -> Option<Millis> {
    let changed = |audit: &InstanceAuditHeader| audit.update_time.or(audit.create_time);
    let classified = carried.iter().filter_map(|carried| changed(&carried.audit));
    changed(audit).into_iter().chain(classified).max()
}

/// The time of a copy's change; `None` if it is in the future, or if it would hide a state that
/// starts at that time or later.
fn past(time: Option<Millis>, now: Millis, start: Option<Millis>) -> Option<Millis> {
    time.filter(|time| *time <= now && start.is_none_or(|start| start < *time))
}
