//! The life of entities: adding, changing, deleting, purging, restoring.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::{EntityDetail, EntityProxy};
use crate::requests::{
    EntityCreateRequest, InstancePropertiesRequest, TypeDefValidationForRequest,
};
use crate::types::InstanceStatus;

impl Repository {
    /// A new entity whose home is this repository.
    ///
    /// # Errors
    /// The contract's for `addEntity`.
    pub fn add_entity(
        &self,
        user: &str,
        request: EntityCreateRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, request);
        Err(not_supported("addEntity"))
    }

    /// A new entity that this repository replicates for an external source.
    ///
    /// # Errors
    /// The contract's for `addExternalEntity`.
    pub fn add_external_entity(
        &self,
        user: &str,
        request: EntityCreateRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, request);
        Err(not_supported("addExternalEntity"))
    }

    /// Keeps a proxy of an entity whose home is elsewhere.
    ///
    /// # Errors
    /// The contract's for `addEntityProxy`.
    pub fn add_entity_proxy(&self, user: &str, proxy: EntityProxy) -> Result<(), OmrsError> {
        let _ = (user, proxy);
        Err(not_supported("addEntityProxy"))
    }

    /// Gives an entity another status.
    ///
    /// # Errors
    /// The contract's for `updateEntityStatus`.
    pub fn update_entity_status(
        &self,
        user: &str,
        guid: &str,
        status: Option<InstanceStatus>,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, status);
        Err(not_supported("updateEntityStatus"))
    }

    /// Puts new properties in the place of all old ones.
    ///
    /// # Errors
    /// The contract's for `updateEntityProperties`.
    pub fn update_entity_properties(
        &self,
        user: &str,
        guid: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, request);
        Err(not_supported("updateEntityProperties"))
    }

    /// Takes the latest change back.
    ///
    /// # Errors
    /// The contract's for `undoEntityUpdate`.
    pub fn undo_entity_update(&self, user: &str, guid: &str) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid);
        Err(not_supported("undoEntityUpdate"))
    }

    /// Deletes an entity with its relationships; it can be restored.
    ///
    /// # Errors
    /// The contract's for `deleteEntity`.
    pub fn delete_entity(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, expected);
        Err(not_supported("deleteEntity"))
    }

    /// Destroys a deleted entity with its history.
    ///
    /// # Errors
    /// The contract's for `purgeEntity`.
    pub fn purge_entity(
        &self,
        user: &str,
        guid: &str,
        expected: &TypeDefValidationForRequest,
    ) -> Result<(), OmrsError> {
        let _ = (user, guid, expected);
        Err(not_supported("purgeEntity"))
    }

    /// Takes the deletion back.
    ///
    /// # Errors
    /// The contract's for `restoreEntity`.
    pub fn restore_entity(&self, user: &str, guid: &str) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid);
        Err(not_supported("restoreEntity"))
    }
}
