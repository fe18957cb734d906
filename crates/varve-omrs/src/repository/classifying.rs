//! Classifications: giving them to entities, changing them, taking them away.
//!
//! A classification has a header of its own; the entity's stays as it is, its version too.

use super::headers::{self, Author, Origin};
use super::{Repository, checks};
use crate::error::{Message, OmrsError};
use crate::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceProperties,
};
use crate::requests::{
    ClassificationProxyRequest, ClassificationRequest, InstancePropertiesRequest,
};
use crate::store::{StoredEntity, Transaction};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};
use crate::validate::{classification, classification_lock, completed_properties, initial_status};

impl Repository {
    /// Gives an entity a classification.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let request = ClassificationRequest {
            properties: request.properties,
            ..ClassificationRequest::default()
        };
        self.classify_entity_detailed(user, guid, name, request)
    }

    /// Gives an entity a classification of which the caller knows home and origin.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_detailed(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: ClassificationRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        check_name(name)?;
        self.write(&[guid], |transaction, types| {
            let mut entity = known_entity(transaction, guid)?;
            let author = Author::of(user, transaction);
            self.classify(types, &mut entity, name, &request, author)?;
            put_known(transaction, entity)
        })
    }

    /// Takes a classification away.
    ///
    /// # Errors
    /// The contract's for `declassifyEntity`.
    pub fn declassify_entity(
        &self,
        user: &str,
        guid: &str,
        name: &str,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        check_name(name)?;
        self.write(&[guid], |transaction, types| {
            let mut entity = known_entity(transaction, guid)?;
            self.declassify(types, &mut entity, name)?;
            put_known(transaction, entity)
        })
    }

    /// Gives a classification other properties.
    ///
    /// # Errors
    /// The contract's for `updateEntityClassification`.
    pub fn update_entity_classification(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        check_name(name)?;
        self.write(&[guid], |transaction, types| {
            let mut entity = known_entity(transaction, guid)?;
            let author = Author::of(user, transaction);
            let properties = request.properties.as_ref();
            self.reclassify(types, &mut entity, name, properties, author)?;
            put_known(transaction, entity)
        })
    }

    /// As [`Self::classify_entity`], of an entity that may be known here as a proxy only, or not at all.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_proxy(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        let request = ClassificationProxyRequest {
            classification: ClassificationRequest {
                properties: request.classification.properties,
                ..ClassificationRequest::default()
            },
            entity: request.entity,
        };
        self.classify_entity_proxy_detailed(user, name, request)
    }

    /// As [`Self::classify_entity_detailed`], of an entity that may be known here as a proxy only, or not at all.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_proxy_detailed(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let proxy = checks::proxy(request.entity.as_ref())?;
        check_name(name)?;
        let guid = proxy.header.guid();
        self.write(&[guid], |transaction, types| {
            let mut entity = match transaction.entity(guid)? {
                Some(_) => checks::present_entity(transaction, guid)?,
                None => self.unknown_entity(types, proxy)?,
            };
            let author = Author::of(user, transaction);
            let put = self.classify(types, &mut entity, name, &request.classification, author)?;
            transaction.put_entity(entity, None)?;
            Ok(put)
        })
    }

    /// As [`Self::declassify_entity`]; gives the classification that was taken away.
    ///
    /// # Errors
    /// The contract's for `declassifyEntity`.
    pub fn declassify_entity_proxy(
        &self,
        user: &str,
        name: &str,
        proxy: EntityProxy,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let guid = checks::proxy(Some(&proxy))?.header.guid();
        check_name(name)?;
        self.write(&[guid], |transaction, types| {
            let mut entity = checks::present_entity(transaction, guid)?;
            let taken = self.declassify(types, &mut entity, name)?;
            transaction.put_entity(entity, None)?;
            Ok(taken)
        })
    }

    /// As [`Self::update_entity_classification`].
    ///
    /// # Errors
    /// The contract's for `updateEntityClassification`.
    pub fn update_entity_proxy_classification(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let guid = checks::proxy(request.entity.as_ref())?.header.guid();
        check_name(name)?;
        let properties = request.classification.properties.as_ref();
        self.write(&[guid], |transaction, types| {
            let mut entity = checks::present_entity(transaction, guid)?;
            let author = Author::of(user, transaction);
            let changed = self.reclassify(types, &mut entity, name, properties, author)?;
            transaction.put_entity(entity, None)?;
            Ok(changed)
        })
    }

    fn classify(
        &self,
        types: &Catalogue,
        entity: &mut StoredEntity,
        name: &str,
        request: &ClassificationRequest,
        author: Author<'_>,
    ) -> Result<Classification, OmrsError> {
        let of = checks::type_of(types, entity.header(), TypeDefCategory::Entity)?;
        let source = request.metadata_collection_id.as_deref();
        let source = source.filter(|id| !id.is_empty() && *id != self.metadata_collection_id);
        let origin = match source {
            Some(_) => self.external_origin(source, request.metadata_collection_name.as_deref())?,
            None => self.own_origin(),
        };
        let given = Classification {
            name: Some(name.to_owned()),
            properties: request.properties.clone(),
            origin: request.origin,
            origin_guid: request.origin_guid.clone(),
            ..Classification::default()
        };
        let new = new_classification(types, of, &given, author, &origin)?;
        put_new(entity, new.clone())?;
        Ok(new)
    }

    fn declassify(
        &self,
        types: &Catalogue,
        entity: &mut StoredEntity,
        name: &str,
    ) -> Result<Classification, OmrsError> {
        types.classification_by_name(name)?;
        let at = self.changeable(entity, name)?;
        Ok(entity.classifications_mut().remove(at))
    }

    fn reclassify(
        &self,
        types: &Catalogue,
        entity: &mut StoredEntity,
        name: &str,
        properties: Option<&InstanceProperties>,
        author: Author<'_>,
    ) -> Result<Classification, OmrsError> {
        let index = types.classification_by_name(name)?;
        let at = self.changeable(entity, name)?;
        let properties = properties.cloned();
        let properties = properties
            .map(|properties| completed_properties(types, index, properties))
            .transpose()?;
        // The one changed last comes last, as a new one does.
        let mut carried = entity.classifications_mut().remove(at);
        headers::change(&mut carried.audit, author);
        carried.properties = properties;
        entity.classifications_mut().push(carried.clone());
        Ok(carried)
    }

    /// Where the classification stands, which may be changed here.
    fn changeable(&self, entity: &StoredEntity, name: &str) -> Result<usize, OmrsError> {
        let guid = entity.header().guid();
        let at = position(entity, name);
        let at = at.ok_or_else(|| OmrsError::new(Message::NotClassified, &[guid, name]))?;
        let carried = &entity.classifications()[at];
        classification_lock(guid, carried, &self.metadata_collection_id)?;
        Ok(at)
    }
}

/// An entity that is here, not deleted, and known in full.
fn known_entity(transaction: &dyn Transaction, guid: &str) -> Result<StoredEntity, OmrsError> {
    let found = checks::present_entity(transaction, guid)?;
    Ok(StoredEntity::Detail(checks::known_detail(found)?))
}

fn put_known(
    transaction: &mut dyn Transaction,
    entity: StoredEntity,
) -> Result<EntityDetail, OmrsError> {
    transaction.put_entity(entity.clone(), None)?;
    checks::known_detail(entity)
}

fn check_name(name: &str) -> Result<(), OmrsError> {
    if name.is_empty() {
        let (message, parameter) = (Message::NoClassificationName, "classificationName");
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

/// Where the classification of this name stands among those of the entity.
pub(super) fn position(entity: &StoredEntity, name: &str) -> Option<usize> {
    let mut carried = entity.classifications().iter();
    carried.position(|carried| carried.name() == name)
}

/// A classification of an entity of type `of`, made now, with the name, properties and origin of the given one.
pub(super) fn new_classification(
    types: &Catalogue,
    of: TypeIndex,
    given: &Classification,
    author: Author<'_>,
    origin: &Origin,
) -> Result<Classification, OmrsError> {
    let (index, properties) = classification(types, of, given.name(), given.properties.clone())?;
    let status = initial_status(types, index, None)?;
    Ok(Classification {
        audit: headers::new_audit(author, origin, types.get(index), status),
        name: Some(given.name().to_owned()),
        properties,
        origin: given.origin.or(Some(ClassificationOrigin::Assigned)),
        origin_guid: given.origin_guid.clone(),
    })
}

/// Gives an entity a classification that it must not have yet.
pub(super) fn put_new(
    entity: &mut StoredEntity,
    classification: Classification,
) -> Result<(), OmrsError> {
    if position(entity, classification.name()).is_some() {
        let words = [entity.header().guid(), classification.name()];
        return Err(OmrsError::new(Message::AlreadyClassified, &words));
    }
    entity.classifications_mut().push(classification);
    Ok(())
}
