//! Changing what an instance is: its GUID, its type, its home.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::{EntityDetail, Relationship};
use crate::requests::{TypeDefChangeRequest, TypeDefValidationForRequest};

impl Repository {
    /// Gives an entity another GUID.
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
        let _ = (user, guid, new_guid, expected);
        Err(not_supported("reIdentifyEntity"))
    }

    /// Gives an entity another type.
    ///
    /// # Errors
    /// The contract's for `reTypeEntity`.
    pub fn re_type_entity(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, request);
        Err(not_supported("reTypeEntity"))
    }

    /// Makes another metadata collection the home of a copy.
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
        let _ = (user, guid, home, new_home, new_home_name, expected);
        Err(not_supported("reHomeEntity"))
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
        let _ = (user, guid, new_guid, expected);
        Err(not_supported("reIdentifyRelationship"))
    }

    /// Gives a relationship another type.
    ///
    /// # Errors
    /// The contract's for `reTypeRelationship`.
    pub fn re_type_relationship(
        &self,
        user: &str,
        guid: &str,
        request: &TypeDefChangeRequest,
    ) -> Result<Relationship, OmrsError> {
        let _ = (user, guid, request);
        Err(not_supported("reTypeRelationship"))
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
        let _ = (user, guid, home, new_home, new_home_name, expected);
        Err(not_supported("reHomeRelationship"))
    }
}
