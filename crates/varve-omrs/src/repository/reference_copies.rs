//! Copies of instances whose home is elsewhere.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::{EntityDetail, Relationship};
use crate::requests::{
    ClassificationWithEntityRequest, InstanceGraphRequest, TypeDefValidationForRequest,
};

impl Repository {
    /// Keeps a copy of an entity as it comes.
    ///
    /// # Errors
    /// The contract's for `saveEntityReferenceCopy`.
    pub fn save_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        let _ = (user, entity);
        Err(not_supported("saveEntityReferenceCopy"))
    }

    /// Removes a copy whose original was deleted.
    ///
    /// # Errors
    /// The contract's for `deleteEntityReferenceCopy`.
    pub fn delete_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        let _ = (user, entity);
        Err(not_supported("deleteEntityReferenceCopy"))
    }

    /// Removes a copy.
    ///
    /// # Errors
    /// The contract's for `purgeEntityReferenceCopy`.
    pub fn purge_entity_reference_copy(
        &self,
        user: &str,
        entity: EntityDetail,
    ) -> Result<(), OmrsError> {
        let _ = (user, entity);
        Err(not_supported("purgeEntityReferenceCopy"))
    }

    /// Removes the copy with this GUID.
    ///
    /// # Errors
    /// The contract's for `purgeEntityReferenceCopy`.
    pub fn purge_entity_reference_copy_by_id(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, home, expected);
        Err(not_supported("purgeEntityReferenceCopy"))
    }

    /// Asks the home to send the entity again.
    ///
    /// # Errors
    /// The contract's for `refreshEntityReferenceCopy`.
    pub fn refresh_entity_reference_copy(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, home, expected);
        Err(not_supported("refreshEntityReferenceCopy"))
    }

    /// Keeps a copy of a classification.
    ///
    /// # Errors
    /// The contract's for `saveClassificationReferenceCopy`.
    pub fn save_classification_reference_copy(
        &self,
        user: &str,
        request: ClassificationWithEntityRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, request);
        Err(not_supported("saveClassificationReferenceCopy"))
    }

    /// Removes a copy of a classification.
    ///
    /// # Errors
    /// The contract's for `purgeClassificationReferenceCopy`.
    pub fn purge_classification_reference_copy(
        &self,
        user: &str,
        request: ClassificationWithEntityRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, request);
        Err(not_supported("purgeClassificationReferenceCopy"))
    }

    /// Keeps a copy of a relationship as it comes; of ends that are not known, proxies.
    ///
    /// # Errors
    /// The contract's for `saveRelationshipReferenceCopy`.
    pub fn save_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        let _ = (user, relationship);
        Err(not_supported("saveRelationshipReferenceCopy"))
    }

    /// Removes a copy whose original was deleted.
    ///
    /// # Errors
    /// The contract's for `deleteRelationshipReferenceCopy`.
    pub fn delete_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        let _ = (user, relationship);
        Err(not_supported("deleteRelationshipReferenceCopy"))
    }

    /// Removes a copy.
    ///
    /// # Errors
    /// The contract's for `purgeRelationshipReferenceCopy`.
    pub fn purge_relationship_reference_copy(
        &self,
        user: &str,
        relationship: Relationship,
    ) -> Result<(), OmrsError> {
        let _ = (user, relationship);
        Err(not_supported("purgeRelationshipReferenceCopy"))
    }

    /// Removes the copy with this GUID.
    ///
    /// # Errors
    /// The contract's for `purgeRelationshipReferenceCopy`.
    pub fn purge_relationship_reference_copy_by_id(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, home, expected);
        Err(not_supported("purgeRelationshipReferenceCopy"))
    }

    /// Asks the home to send the relationship again.
    ///
    /// # Errors
    /// The contract's for `refreshRelationshipReferenceCopy`.
    pub fn refresh_relationship_reference_copy(
        &self,
        user: &str,
        guid: &str,
        home: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, home, expected);
        Err(not_supported("refreshRelationshipReferenceCopy"))
    }

    /// Keeps copies of many instances.
    ///
    /// # Errors
    /// The contract's for `saveInstanceReferenceCopies`.
    pub fn save_instance_reference_copies(
        &self,
        user: &str,
        request: InstanceGraphRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, request);
        Err(not_supported("saveInstanceReferenceCopies"))
    }
}
