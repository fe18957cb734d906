//! Changing what an instance is: its GUID, its type, its home.

use super::entities::Time;
use super::headers::{self, Author, Kind};
use super::{Repository, checks, entities, relationships};
use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, InstanceHeader, InstanceProvenanceType, Relationship};
use crate::requests::{TypeDefChangeRequest, TypeDefValidationForRequest};
use crate::store::StoredRelationship;
use crate::types::{Catalogue, TypeDefCategory, TypeDefSummary, TypeIndex};
use crate::validate::{
    classification, completed_properties, new_status, relationship_ends, update_lock,
};

/// What an instance is to have as its home.
struct NewHome<'a> {
    /// The home that the caller takes it to have.
    current: &'a str,
    id: &'a str,
    name: Option<&'a str>,
}

impl Repository {
    /// Gives an entity another GUID. Its relationships follow it; the old GUID is that of a deleted entity from now on.
    ///
    /// # Errors
    /// The contract's for `reIdentifyEntity`.
    pub fn re_identify_entity(
        &self,
        user: &str,
        guid: &str,
        new_guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        checks::type_named(expected)?;
        checks::guid(new_guid, "newEntityGUID")?;
        self.write(&[guid, new_guid], |transaction, _| {
            let found = checks::present_entity(transaction, guid)?;
            let mut old = checks::known_detail(found)?;
            self.check_home(&old)?;
            checks::type_expected(&old.header, expected)?;
            if transaction.entity(new_guid)?.is_some() {
                return Err(taken("newEntityGUID", new_guid));
            }
            let author = Author::of(user, transaction);
            let mut new = old.clone();
            self.re_identify(&mut new.header, Kind::Entity, new_guid, author);
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

    /// Gives an entity another type, which must have its properties and allow its classifications.
    ///
    /// # Errors
    /// The contract's for `reTypeEntity`.
    pub fn re_type_entity(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        self.write(&[guid], |transaction, types| {
            let new = new_type(types, TypeDefCategory::Entity, request)?;
            let found = checks::present_entity(transaction, guid)?;
            let mut entity = checks::known_detail(found)?;
            self.check_home(&entity)?;
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

    /// Makes another metadata collection the home of a copy, so of this repository's one an instance that is changed here.
    ///
    /// # Errors
    /// The contract's for `reHomeEntity`.
    pub fn re_home_entity(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        new_home: &str,
        new_home_name: Option<&str>,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        checks::user_and_guid(user, guid)?;
        checks::type_named(expected)?;
        let new_home = NewHome::checked(home, new_home, new_home_name)?;
        self.write(&[guid], |transaction, _| {
            let found = checks::present_entity(transaction, guid)?;
            let mut entity = checks::known_detail(found)?;
            checks::type_expected(&entity.header, expected)?;
            let author = Author::of(user, transaction);
            self.re_home(&mut entity.header, &new_home, author)?;
            entities::put(transaction, entity)
        })
    }

    /// Gives a relationship another GUID.
    ///
    /// # Errors
    /// The contract's for `reIdentifyRelationship`.
    pub fn re_identify_relationship(
        &self,
        user: &str,
        guid: &str,
        new_guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        checks::user_and_guid(user, guid)?;
        checks::type_named(expected)?;
        checks::guid(new_guid, "newRelationshipGUID")?;
        self.write(&[guid, new_guid], |transaction, _| {
            let mut old = checks::present_relationship(transaction, guid)?;
            self.check_relationship_home(&old)?;
            checks::type_expected(&old.header, expected)?;
            if transaction.relationship(new_guid)?.is_some() {
                return Err(taken("newRelationshipGUID", new_guid));
            }
            let author = Author::of(user, transaction);
            let mut new = old.clone();
            self.re_identify(&mut new.header, Kind::Relationship, new_guid, author);
            headers::delete(&mut old.header.audit, author);
            transaction.put_relationship(old, None)?;
            relationships::put(transaction, new)
        })
    }

    /// Gives a relationship another type, which must have its properties and fit its ends.
    ///
    /// # Errors
    /// The contract's for `reTypeRelationship`.
    pub fn re_type_relationship(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<Relationship, OmrsError> {
        checks::user_and_guid(user, guid)?;
        self.write(&[guid], |transaction, types| {
            let category = TypeDefCategory::Relationship;
            let new = new_type(types, category, request)?;
            let mut relationship = checks::present_relationship(transaction, guid)?;
            self.check_relationship_home(&relationship)?;
            if let Some(properties) = &relationship.properties {
                let properties = completed_properties(types, new, properties.clone())?;
                relationship.properties = Some(properties);
            }
            let end = |guid: &str| {
                let entity = checks::entity(transaction, guid)?;
                checks::type_of(types, entity.header(), TypeDefCategory::Entity)
            };
            let [one, two] = &relationship.ends;
            relationship_ends(types, new, [end(one)?, end(two)?])?;
            let author = Author::of(user, transaction);
            re_type(types, &mut relationship.header, new, author);
            relationships::put(transaction, relationship)
        })
    }

    /// Makes another metadata collection the home of a copy.
    ///
    /// # Errors
    /// The contract's for `reHomeRelationship`.
    pub fn re_home_relationship(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        new_home: &str,
        new_home_name: Option<&str>,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        checks::user_and_guid(user, guid)?;
        checks::type_named(expected)?;
        let new_home = NewHome::checked(home, new_home, new_home_name)?;
        self.write(&[guid], |transaction, _| {
            let mut relationship = checks::present_relationship(transaction, guid)?;
            checks::type_expected(&relationship.header, expected)?;
            let author = Author::of(user, transaction);
            self.re_home(&mut relationship.header, &new_home, author)?;
            relationships::put(transaction, relationship)
        })
    }

    fn re_identify(
        &self,
        header: &mut InstanceHeader,
        kind: Kind,
        new_guid: &str,
        author: Author<'_>,
    ) {
        header.re_identified_from_guid = header.guid.replace(new_guid.to_owned());
        header.instance_url = Some(self.instance_url(kind, new_guid));
        headers::change(&mut header.audit, author);
    }

    fn re_home(
        &self,
        header: &mut InstanceHeader,
        new: &NewHome<'_>,
        author: Author<'_>,
    ) -> Result<(), OmrsError> {
        let audit = &mut header.audit;
        let moves = matches!(
            audit.provenance,
            Some(InstanceProvenanceType::LocalCohort | InstanceProvenanceType::ExternalSource)
        );
        let home = audit.metadata_collection_id.as_deref();
        let is_named = home == Some(new.current);
        let home = home.unwrap_or("unknown").to_owned();
        if !moves || !is_named || update_lock(header, &self.metadata_collection_id).is_ok() {
            let parameter = "homeMetadataCollectionId";
            let words = [header.guid(), &home];
            let message = Message::NotReHomed;
            return Err(OmrsError::of_parameter(message, parameter, &words));
        }
        let audit = &mut header.audit;
        audit.provenance = Some(InstanceProvenanceType::LocalCohort);
        audit.metadata_collection_id = Some(new.id.to_owned());
        audit.metadata_collection_name = new.name.map(str::to_owned);
        headers::change(audit, author);
        Ok(())
    }
}

impl<'a> NewHome<'a> {
    fn checked(current: &'a str, id: &'a str, name: Option<&'a str>) -> Result<Self, OmrsError> {
        for (value, parameter) in [
            (current, "homeMetadataCollectionId"),
            (id, "newHomeMetadataCollectionId"),
        ] {
            checks::guid(value, parameter)?;
        }
        Ok(Self { current, id, name })
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

/// The type that an instance is to have. The one that it is said to have must be a type of the same category.
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

/// Gives an instance its new type. A status that the new type does not have becomes that type's first one.
fn re_type(types: &Catalogue, header: &mut InstanceHeader, new: TypeIndex, author: Author<'_>) {
    if new_status(types, new, header.audit.status).is_err() {
        header.audit.status = types.get(new).def().body.initial_status;
    }
    header.audit.instance_type = Some(types.get(new).instance_type().clone());
    headers::change(&mut header.audit, author);
}
