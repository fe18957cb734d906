//! Changes the identity of instances: their GUID, type and home.

use super::entities::Time;
use super::headers::{self, Author};
use super::target::{CHANGE, InstanceKind, RE_HOME, Target};
use super::{Repository, checks, entities, relationships};
use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, InstanceHeader, InstanceProvenanceType, Relationship};
use crate::requests::{TypeDefChangeRequest, TypeDefValidationForRequest};
use crate::store::StoredRelationship;
use crate::types::{Catalogue, TypeDefCategory, TypeDefSummary, TypeIndex};
use crate::validate::{classification, completed_properties, new_status, relationship_ends};

impl Repository {
    /// Changes the GUID of an entity, and moves its relationships to the new GUID. From now on the
    /// old GUID is that of a deleted entity.
    ///
    /// # Errors
    /// Those of the contract for `reIdentifyEntity`.
    pub fn re_identify_entity(
        &self,
        user: &str,
        guid: &str,
        new_guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?.of_type(expected)?;
        checks::guid(new_guid, "newEntityGUID")?;
        self.write(&[guid, new_guid], |transaction, _| {
            let mut old = target.entity(self, transaction)?;
            if transaction.entity(new_guid)?.is_some() {
                return Err(taken("newEntityGUID", new_guid));
            }
            let author = Author::of(user, transaction);
            let mut new = old.clone();
            self.re_identify(&mut new.header, InstanceKind::Entity, new_guid, author);
            let new = entities::put(transaction, new)?;
            let mut time = Time::of(guid);
            for relationship in entities::relationships_of(transaction, guid, &mut time)? {
                time.pass()?;
                let moved = re_pointed(relationship, guid, new_guid);
                transaction.put_relationship(moved, None)?;
            }
            headers::delete(&mut old.header.audit, author);
            entities::put(transaction, old)?;
            Ok(new)
        })
    }

    /// Changes the type of an entity. The new type must have the entity's properties and allow its
    /// classifications.
    ///
    /// # Errors
    /// Those of the contract for `reTypeEntity`.
    pub fn re_type_entity(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.write(&[guid], |transaction, types| {
            let new = new_type(types, TypeDefCategory::Entity, request)?;
            let mut entity = target.entity(self, transaction)?;
            if let Some(properties) = &entity.properties {
                entity.properties = Some(completed_properties(types, new, properties.clone())?);
            }
            for carried in &entity.classifications {
                classification(types, new, carried.name(), carried.properties.clone())?;
            }
            let author = Author::of(user, transaction);
            re_type(types, &mut entity.header, new, author);
            entities::put(transaction, entity)
        })
    }

    /// Makes this repository the home of a copy. The caller must name an old home, but need not
    /// name the right one.
    ///
    /// # Errors
    /// Those of the contract for `reHomeEntity`.
    pub fn re_home_entity(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        new_home: &str,
        new_home_name: Option<&str>,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let target = Target::new(user, guid, RE_HOME)?.of_type(expected)?;
        self.check_new_home(guid, home, new_home)?;
        self.write(&[guid], |transaction, _| {
            let mut entity = target.entity(self, transaction)?;
            let author = Author::of(user, transaction);
            self.re_home(&mut entity.header, new_home_name, author);
            entities::put(transaction, entity)
        })
    }

    /// Changes the GUID of a relationship.
    ///
    /// # Errors
    /// Those of the contract for `reIdentifyRelationship`.
    pub fn re_identify_relationship(
        &self,
        user: &str,
        guid: &str,
        new_guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?.of_type(expected)?;
        checks::guid(new_guid, "newRelationshipGUID")?;
        self.write(&[guid, new_guid], |transaction, _| {
            let mut old = target.relationship(self, transaction)?;
            if transaction.relationship(new_guid)?.is_some() {
                return Err(taken("newRelationshipGUID", new_guid));
            }
            let author = Author::of(user, transaction);
            let mut new = old.clone();
            self.re_identify(
                &mut new.header,
                InstanceKind::Relationship,
                new_guid,
                author,
            );
            headers::delete(&mut old.header.audit, author);
            transaction.put_relationship(old, None)?;
            relationships::put(transaction, new)
        })
    }

    /// Changes the type of a relationship. The new type must have the relationship's properties and
    /// fit its ends.
    ///
    /// # Errors
    /// Those of the contract for `reTypeRelationship`.
    pub fn re_type_relationship(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.write(&[guid], |transaction, types| {
            let category = TypeDefCategory::Relationship;
            let new = new_type(types, category, request)?;
            let mut relationship = target.relationship(self, transaction)?;
            if let Some(properties) = &relationship.properties {
                let properties = completed_properties(types, new, properties.clone())?;
                relationship.properties = Some(properties);
            }
            let end = |guid: &str| {
                let found = transaction.entity(guid)?;
                let entity = found.ok_or_else(|| InstanceKind::Entity.unknown(guid))?;
                checks::type_of(types, entity.header(), TypeDefCategory::Entity)
            };
            let [one, two] = &relationship.ends;
            relationship_ends(types, new, [end(one)?, end(two)?])?;
            let author = Author::of(user, transaction);
            re_type(types, &mut relationship.header, new, author);
            relationships::put(transaction, relationship)
        })
    }

    /// Makes this repository the home of a copy, as [`Self::re_home_entity`] does.
    ///
    /// # Errors
    /// Those of the contract for `reHomeRelationship`.
    pub fn re_home_relationship(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        new_home: &str,
        new_home_name: Option<&str>,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, RE_HOME)?.of_type(expected)?;
        self.check_new_home(guid, home, new_home)?;
        self.write(&[guid], |transaction, _| {
            let mut relationship = target.relationship(self, transaction)?;
            let author = Author::of(user, transaction);
            self.re_home(&mut relationship.header, new_home_name, author);
            relationships::put(transaction, relationship)
        })
    }

    fn re_identify(
        &self,
        header: &mut InstanceHeader,
        kind: InstanceKind,
        new_guid: &str,
        author: Author<'_>,
    ) {
        header.re_identified_from_guid = header.guid.replace(new_guid.to_owned());
        header.instance_url = Some(self.instance_url(kind, new_guid));
        headers::change(&mut header.audit, author);
    }

    /// Checks that an old home is named, and that the new home is this repository.
    fn check_new_home(&self, guid: &str, home: &str, new_home: &str) -> Result<(), OmrsError> {
        checks::guid(home, "homeMetadataCollectionId")?;
        let parameter = "newHomeMetadataCollectionId";
        checks::guid(new_home, parameter)?;
        let local = self.get_metadata_collection_id();
        if new_home != local {
            let words = [guid, new_home, local];
            let message = Message::ForeignNewHome;
            return Err(OmrsError::of_parameter(message, parameter, &words));
        }
        Ok(())
    }

    fn re_home(&self, header: &mut InstanceHeader, name: Option<&str>, author: Author<'_>) {
        let audit = &mut header.audit;
        audit.provenance = Some(InstanceProvenanceType::LocalCohort);
        audit.metadata_collection_id = Some(self.metadata_collection_id.clone());
        audit.metadata_collection_name = Some(name.unwrap_or(self.name()).to_owned());
        headers::change(audit, author);
    }
}

fn taken(parameter: &str, guid: &str) -> OmrsError {
    OmrsError::of_parameter(Message::GuidTaken, parameter, &[guid])
}

fn re_pointed(mut relationship: StoredRelationship, old: &str, new: &str) -> StoredRelationship {
    for end in relationship.ends.iter_mut().filter(|end| *end == old) {
        new.clone_into(end);
    }
    relationship
}

/// The new type of an instance. The current type in the request must exist in the same category.
fn new_type(
    types: &Catalogue,
    category: TypeDefCategory,
    request: &TypeDefChangeRequest,
) -> Result<TypeIndex, OmrsError> {
    let known = |given: Option<&TypeDefSummary>, parameter: &str| {
        let guid = given.and_then(|given| given.link.guid.as_deref());
        let guid = checks::type_guid(guid, parameter)?;
        types.instance_type_by_guid(category, guid, parameter)
    };
    known(request.current.as_ref(), "currentTypeDefSummary")?;
    known(request.new.as_ref(), "newTypeDefSummary")
}

/// Changes the type of an instance. A status that the new type does not have becomes the new type's
/// initial status.
fn re_type(types: &Catalogue, header: &mut InstanceHeader, new: TypeIndex, author: Author<'_>) {
    if new_status(types, new, header.audit.status).is_err() {
        header.audit.status = types.get(new).def().body.initial_status;
    }
    header.audit.instance_type = Some(types.get(new).instance_type().clone());
    headers::change(&mut header.audit, author);
}
