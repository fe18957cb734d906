//! The life of relationships: adding, changing, deleting, purging, restoring.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::Relationship;
use crate::requests::{
    InstancePropertiesRequest, RelationshipCreateRequest, TypeDefValidationForRequest,
};
use crate::types::InstanceStatus;

impl Repository {
    /// A new relationship whose home is this repository.
    ///
    /// # Errors
    /// The contract's for `addRelationship`.
    pub fn add_relationship(
        &self,
        user: &str,
        request: RelationshipCreateRequest,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, request);
        Err(not_supported("addRelationship"))
    }

    /// A new relationship that this repository replicates for an external source.
    ///
    /// # Errors
    /// The contract's for `addExternalRelationship`.
    pub fn add_external_relationship(
        &self,
        user: &str,
        request: RelationshipCreateRequest,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, request);
        Err(not_supported("addExternalRelationship"))
    }

    /// Gives a relationship another status.
    ///
    /// # Errors
    /// The contract's for `updateRelationshipStatus`.
    pub fn update_relationship_status(
        &self,
        user: &str,
        guid: &str,
        status: Option<InstanceStatus>,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, guid, status);
        Err(not_supported("updateRelationshipStatus"))
    }

    /// Puts new properties in the place of all old ones.
    ///
    /// # Errors
    /// The contract's for `updateRelationshipProperties`.
    pub fn update_relationship_properties(
        &self,
        user: &str,
        guid: &str,
        request: InstancePropertiesRequest,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, guid, request);
        Err(not_supported("updateRelationshipProperties"))
    }

    /// Takes the latest change back.
    ///
    /// # Errors
    /// The contract's for `undoRelationshipUpdate`.
    pub fn undo_relationship_update(
        &self,
        user: &str,
        guid: &str,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, guid);
        Err(not_supported("undoRelationshipUpdate"))
    }

    /// Deletes a relationship; it can be restored.
    ///
    /// # Errors
    /// The contract's for `deleteRelationship`.
    pub fn delete_relationship(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, guid, expected);
        Err(not_supported("deleteRelationship"))
    }

    /// Destroys a deleted relationship with its history.
    ///
    /// # Errors
    /// The contract's for `purgeRelationship`.
    pub fn purge_relationship(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, expected);
        Err(not_supported("purgeRelationship"))
    }

    /// Takes the deletion back.
    ///
    /// # Errors
    /// The contract's for `restoreRelationship`.
    pub fn restore_relationship(&self, user: &str, guid: &str) -> Result<Relationship, OmrsError> {
        let _ = (user, guid);
        Err(not_supported("restoreRelationship"))
    }
}
