//! Adds, changes and removes the classifications of entities.
//!
//! A classification has a header of its own. The header of the entity does not change, and neither
//! does its version.

use super::headers::{self, Author, Origin};
use super::target::{CLASSIFY, LIVE, Target};
use super::{Repository, checks};
use crate::error::{Exception, Message, OmrsError};
use crate::graph_store::GraphTransaction;
use crate::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceProperties,
};
use crate::requests::{
    ClassificationProxyRequest, ClassificationRequest, InstancePropertiesRequest,
};
use crate::store::StoredEntity;
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};
use crate::validate::{
    classification, classification_allowed, classification_given, classification_lock,
    initial_status,
};

/// The classification that a call names: its type, and its new properties.
struct Named<'a> {
    name: &'a str,
    index: TypeIndex,
    properties: Option<InstanceProperties>,
}

impl Repository {
    /// Classifies an entity.
    ///
    /// # Errors
    /// Those of the contract for `classifyEntity`.
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

    /// Classifies an entity, with the home and origin in the request.
    ///
    /// # Errors
    /// Those of the contract for `classifyEntity`.
    pub fn classify_entity_detailed(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: ClassificationRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CLASSIFY)?;
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, request.properties.as_ref())?;
            let mut entity = StoredEntity::Detail(target.entity(self, transaction)?);
            let author = Author::of(user, transaction);
            self.classify(types, &mut entity, named, &request, author)?;
            put_known(transaction, entity)
        })
    }

    /// Removes a classification from an entity.
    ///
    /// # Errors
    /// Those of the contract for `declassifyEntity`.
    pub fn declassify_entity(
        &self,
        user: &str,
        guid: &str,
        name: &str,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CLASSIFY)?;
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, None)?;
            let mut entity = StoredEntity::Detail(target.entity(self, transaction)?);
            self.declassify(&mut entity, &named)?;
            put_known(transaction, entity)
        })
    }

    /// Replaces the properties of a classification.
    ///
    /// # Errors
    /// Those of the contract for `updateEntityClassification`.
    pub fn update_entity_classification(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CLASSIFY)?;
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, request.properties.as_ref())?;
            let mut entity = StoredEntity::Detail(target.entity(self, transaction)?);
            let author = Author::of(user, transaction);
            self.reclassify(&mut entity, named, author)?;
            put_known(transaction, entity)
        })
    }

    /// As [`Self::classify_entity`], for an entity that may be known here only as a proxy, or not
    /// at all.
    ///
    /// # Errors
    /// Those of the contract for `classifyEntity`.
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

    /// As [`Self::classify_entity_detailed`], for an entity that may be known here only as a proxy,
    /// or not at all.
    ///
    /// # Errors
    /// Those of the contract for `classifyEntity`.
    pub fn classify_entity_proxy_detailed(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let proxy = checks::proxy(request.entity.as_ref())?;
        let (guid, request) = (proxy.header.guid(), &request.classification);
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, request.properties.as_ref())?;
            let known = transaction.entity(guid)?;
            let known = Target::of(guid, LIVE).resolve_known(self, known)?;
            let mut entity = match known {
                Some(known) => known,
                None => self.unknown_entity(types, proxy)?,
            };
            let author = Author::of(user, transaction);
            let put = self.classify(types, &mut entity, named, request, author)?;
            transaction.put_entity(entity, None)?;
            Ok(put)
        })
    }

    /// As [`Self::declassify_entity`], for a proxy. Returns the removed classification.
    ///
    /// # Errors
    /// Those of the contract for `declassifyEntity`.
    pub fn declassify_entity_proxy(
        &self,
        user: &str,
        name: &str,
        proxy: EntityProxy,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let guid = checks::proxy(Some(&proxy))?.header.guid();
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, None)?;
            let known = transaction.entity(guid)?;
            let mut entity = Target::of(guid, LIVE).resolve(self, known)?;
            let taken = self.declassify(&mut entity, &named)?;
            transaction.put_entity(entity, None)?;
            Ok(taken)
        })
    }

    /// As [`Self::update_entity_classification`], for a proxy.
    ///
    /// # Errors
    /// Those of the contract for `updateEntityClassification`.
    pub fn update_entity_proxy_classification(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        checks::user(user)?;
        let guid = checks::proxy(request.entity.as_ref())?.header.guid();
        let properties = request.classification.properties.as_ref();
        self.write(&[guid], |transaction, types| {
            let named = Named::new(types, name, properties)?;
            let known = transaction.entity(guid)?;
            let mut entity = Target::of(guid, LIVE).resolve(self, known)?;
            let author = Author::of(user, transaction);
            let changed = self.reclassify(&mut entity, named, author)?;
            transaction.put_entity(entity, None)?;
            Ok(changed)
        })
    }

    fn classify(
        &self,
        types: &Catalogue,
        entity: &mut StoredEntity,
        named: Named<'_>,
        request: &ClassificationRequest,
        author: Author<'_>,
    ) -> Result<Classification, OmrsError> {
        let of = checks::type_of(types, entity.header(), TypeDefCategory::Entity)?;
        classification_allowed(types, of, named.index)?;
        let source = request.metadata_collection_id.as_deref();
        let source = source.filter(|id| !id.is_empty() && *id != self.metadata_collection_id);
        let origin = match source {
            Some(_) => self.external_origin(source, request.metadata_collection_name.as_deref())?,
            None => self.own_origin(),
        };
        let content = Classification {
            name: Some(named.name.to_owned()),
            properties: named.properties,
            origin: request.origin,
            origin_guid: request.origin_guid.clone(),
            ..Classification::default()
        };
        let new = with_header(types, named.index, content, author, &origin)?;
        put_new(entity, new.clone())?;
        Ok(new)
    }

    fn declassify(
        &self,
        entity: &mut StoredEntity,
        named: &Named<'_>,
    ) -> Result<Classification, OmrsError> {
        let at = self.changeable(entity, named.name)?;
        Ok(entity.classifications_mut().remove(at))
    }

    fn reclassify(
        &self,
        entity: &mut StoredEntity,
        named: Named<'_>,
        author: Author<'_>,
    ) -> Result<Classification, OmrsError> {
        // A changed classification moves to the end of the list, where new ones are added.
        let mut carried = self.declassify(entity, &named)?;
        headers::change(&mut carried.audit, author);
        carried.properties = named.properties;
        entity.classifications_mut().push(carried.clone());
        Ok(carried)
    }

    /// The position of a classification that this repository may change.
    fn changeable(&self, entity: &StoredEntity, name: &str) -> Result<usize, OmrsError> {
        let guid = entity.header().guid();
        let at = position(entity, name);
        let at = at.ok_or_else(|| OmrsError::new(Message::NotClassified, &[guid, name]))?;
        let carried = &entity.classifications()[at];
        classification_lock(guid, carried, &self.metadata_collection_id)?;
        Ok(at)
    }
}

impl<'a> Named<'a> {
    /// # Errors
    /// `InvalidParameterException` when there is no such classification, `PropertyErrorException`.
    fn new(
        types: &Catalogue,
        name: &'a str,
        properties: Option<&InstanceProperties>,
    ) -> Result<Self, OmrsError> {
        let given = classification_given(types, name, properties.cloned());
        let (index, properties) = given.map_err(|error| match error.exception {
            Exception::ClassificationError => {
                OmrsError::of_parameter(error.message, "classificationName", &[name])
            }
            _ => error,
        })?;
        Ok(Self {
            name,
            index,
            properties,
        })
    }
}

fn put_known(
    transaction: &mut GraphTransaction<'_, '_>,
    entity: StoredEntity,
) -> Result<EntityDetail, OmrsError> {
    transaction.put_entity(entity.clone(), None)?;
    checks::detail(entity)
}

/// The position of the classification with this name in the entity's list.
pub(super) fn position(entity: &StoredEntity, name: &str) -> Option<usize> {
    let mut carried = entity.classifications().iter();
    carried.position(|carried| carried.name() == name)
}

/// A new classification for an entity of the type `of`, with the name, properties and origin of
/// `given`.
pub(super) fn new_classification(
    types: &Catalogue,
    of: TypeIndex,
    given: &Classification,
    author: Author<'_>,
    origin: &Origin,
) -> Result<Classification, OmrsError> {
    let (index, properties) = classification(types, of, given.name(), given.properties.clone())?;
    let content = Classification {
        name: given.name.clone(),
        properties,
        origin: given.origin,
        origin_guid: given.origin_guid.clone(),
        ..Classification::default()
    };
    with_header(types, index, content, author, origin)
}

fn with_header(
    types: &Catalogue,
    index: TypeIndex,
    content: Classification,
    author: Author<'_>,
    origin: &Origin,
) -> Result<Classification, OmrsError> {
    let status = initial_status(types, index, None)?;
    Ok(Classification {
        audit: headers::new_audit(author, origin, types.get(index), status),
        origin: content.origin.or(Some(ClassificationOrigin::Assigned)),
        ..content
    })
}

/// Adds a classification to an entity that does not carry it.
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
