//! Adds, changes, deletes, purges and restores relationships.

use super::headers::{self, Author, Origin};
use super::target::{CHANGE, InstanceKind, LIVE, PURGE, RESTORE, Target};
use super::{Repository, checks, with_ends};
use crate::error::OmrsError;
use crate::graph_store::GraphTransaction;
use crate::instances::Relationship;
use crate::requests::{
    InstancePropertiesRequest, RelationshipCreateRequest, TypeDefValidationForRequest,
};
use crate::store::StoredRelationship;
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use crate::validate::{completed_properties, initial_status, new_status, relationship_ends};

impl Repository {
    /// Adds a relationship whose home is this repository.
    ///
    /// # Errors
    /// Those of the contract for `addRelationship`.
    pub fn add_relationship(
        &self,
        user: &str,
        request: RelationshipCreateRequest,
    ) -> Result<Relationship, OmrsError> {
        checks::user(user)?;
        self.add_relationship_of(user, &request, &self.own_origin())
    }

    /// Adds a relationship that this repository replicates for an external source.
    ///
    /// # Errors
    /// Those of the contract for `addExternalRelationship`.
    pub fn add_external_relationship(
        &self,
        user: &str,
        request: RelationshipCreateRequest,
    ) -> Result<Relationship, OmrsError> {
        checks::user(user)?;
        let id = request.metadata_collection_id.as_deref();
        let origin = self.external_origin(id, request.metadata_collection_name.as_deref())?;
        self.add_relationship_of(user, &request, &origin)
    }

    fn add_relationship_of(
        &self,
        user: &str,
        request: &RelationshipCreateRequest,
        origin: &Origin,
    ) -> Result<Relationship, OmrsError> {
        let parameter = "relationshipTypeGUID";
        let type_guid = checks::type_guid(request.type_guid.as_deref(), parameter)?;
        let ends = [&request.entity_one_guid, &request.entity_two_guid];
        let [one, two] = ends.map(|guid| guid.as_deref().unwrap_or_default());
        checks::guid(one, "entityOneGUID")?;
        checks::guid(two, "entityTwoGUID")?;
        self.write(&[one, two], |transaction, types| {
            let of =
                types.instance_type_by_guid(TypeDefCategory::Relationship, type_guid, parameter)?;
            let properties = request.properties.clone();
            let properties = properties
                .map(|properties| completed_properties(types, of, properties))
                .transpose()?;
            let status = initial_status(types, of, request.status)?;
            let end = |guid: &str| {
                let target = Target::of(guid, LIVE);
                let entity = target.resolve(self, transaction.entity(guid)?)?;
                checks::type_of(types, entity.header(), TypeDefCategory::Entity)
            };
            relationship_ends(types, of, [end(one)?, end(two)?])?;
            let author = Author::of(user, transaction);
            let audit = headers::new_audit(author, origin, types.get(of), status);
            let relationship = StoredRelationship {
                header: self.new_header(InstanceKind::Relationship, audit),
                properties,
                ends: [one.to_owned(), two.to_owned()],
            };
            put(transaction, relationship)
        })
    }

    /// Changes the status of a relationship.
    ///
    /// # Errors
    /// Those of the contract for `updateRelationshipStatus`.
    pub fn update_relationship_status(
        &self,
        user: &str,
        guid: &str,
        status: Option<InstanceStatus>,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        checks::status_given(status)?;
        self.change_relationship(user, guid, target, |relationship, types, of, author| {
            let status = new_status(types, of, status)?;
            headers::change(&mut relationship.header.audit, author);
            relationship.header.audit.status = Some(status);
            Ok(())
        })
    }

    /// Replaces all properties of a relationship.
    ///
    /// # Errors
    /// Those of the contract for `updateRelationshipProperties`.
    pub fn update_relationship_properties(
        &self,
        user: &str,
        guid: &str,
        request: InstancePropertiesRequest,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.change_relationship(user, guid, target, |relationship, types, of, author| {
            let properties = checks::properties_given(guid, request.properties.clone())?;
            let properties = completed_properties(types, of, properties)?;
            headers::change(&mut relationship.header.audit, author);
            relationship.properties = Some(properties);
            Ok(())
        })
    }

    /// Reverts the latest change of status or properties, as one more change. A restored deletion
    /// does not count as a change. A relationship that was never changed is returned unchanged.
    ///
    /// # Errors
    /// Those of the contract for `undoRelationshipUpdate`.
    pub fn undo_relationship_update(
        &self,
        user: &str,
        guid: &str,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?;
        self.write(&[guid], |transaction, types| {
            let mut relationship = target.relationship(self, transaction)?;
            let version = relationship.header.audit.version;
            let Some(earlier) = transaction.earlier_relationship(guid, version)? else {
                return with_ends(relationship, |end| transaction.rendered_proxy(end));
            };
            let category = TypeDefCategory::Relationship;
            let of = checks::type_of(types, &relationship.header, category)?;
            let author = Author::of(user, transaction);
            let audit = &mut relationship.header.audit;
            headers::revert(audit, &earlier.header.audit, (types, of), author);
            relationship.properties = earlier.properties;
            put(transaction, relationship)
        })
    }

    /// Deletes a relationship. It can be restored.
    ///
    /// # Errors
    /// Those of the contract for `deleteRelationship`.
    pub fn delete_relationship(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, CHANGE)?.of_type(expected)?;
        self.write(&[guid], |transaction, _| {
            let mut relationship = target.relationship(self, transaction)?;
            let author = Author::of(user, transaction);
            headers::delete(&mut relationship.header.audit, author);
            put(transaction, relationship)
        })
    }

    /// Destroys a deleted relationship with its history.
    ///
    /// # Errors
    /// Those of the contract for `purgeRelationship`.
    pub fn purge_relationship(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let target = Target::new(user, guid, PURGE)?.of_type(expected)?;
        self.write(&[guid], |transaction, _| {
            target.resolve(self, transaction.relationship_head(guid)?)?;
            transaction.purge_relationship(guid)
        })
    }

    /// Restores a deleted relationship.
    ///
    /// # Errors
    /// Those of the contract for `restoreRelationship`.
    pub fn restore_relationship(&self, user: &str, guid: &str) -> Result<Relationship, OmrsError> {
        let target = Target::new(user, guid, RESTORE)?;
        self.write(&[guid], |transaction, _| {
            let mut relationship = target.relationship(self, transaction)?;
            let author = Author::of(user, transaction);
            headers::restore(&mut relationship.header.audit, author);
            put(transaction, relationship)
        })
    }

    /// Changes the relationship that a call names.
    fn change_relationship(
        &self,
        user: &str,
        guid: &str,
        target: Target<'_>,
        mut work: impl FnMut(
            &mut StoredRelationship,
            &Catalogue,
            TypeIndex,
            Author<'_>,
        ) -> Result<(), OmrsError>,
    ) -> Result<Relationship, OmrsError> {
        self.write(&[guid], |transaction, types| {
            let mut relationship = target.relationship(self, transaction)?;
            let category = TypeDefCategory::Relationship;
            let of = checks::type_of(types, &relationship.header, category)?;
            let author = Author::of(user, transaction);
            work(&mut relationship, types, of, author)?;
            put(transaction, relationship)
        })
    }
}

/// Stores a new state of a relationship, from now on. Returns the relationship with its ends.
pub(super) fn put(
    transaction: &mut GraphTransaction<'_, '_>,
    relationship: StoredRelationship,
) -> Result<Relationship, OmrsError> {
    transaction.put_relationship(relationship.clone(), None)?;
    with_ends(relationship, |end| transaction.rendered_proxy(end))
}
