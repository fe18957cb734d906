//! Finding instances by type, properties, classifications, text, and at the other end of an entity.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::{EntityDetail, Relationship};
use crate::requests::{
    EntityFindRequest, EntityPropertyFindRequest, InstanceFindRequest, PropertyMatchFindRequest,
    TypeLimitedFindRequest,
};

impl Repository {
    /// Entities by trees of conditions on properties and classifications.
    ///
    /// # Errors
    /// The contract's for `findEntities`.
    pub fn find_entities(
        &self,
        request: &EntityFindRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        let _ = (request,);
        Err(not_supported("findEntities"))
    }

    /// Entities by properties.
    ///
    /// # Errors
    /// The contract's for `findEntitiesByProperty`.
    pub fn find_entities_by_property(
        &self,
        request: &EntityPropertyFindRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        let _ = (request,);
        Err(not_supported("findEntitiesByProperty"))
    }

    /// Entities that carry the classification `name`, by its properties.
    ///
    /// # Errors
    /// The contract's for `findEntitiesByClassification`.
    pub fn find_entities_by_classification(
        &self,
        name: &str,
        request: &PropertyMatchFindRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        let _ = (name, request);
        Err(not_supported("findEntitiesByClassification"))
    }

    /// Entities with a text that matches a regular expression.
    ///
    /// # Errors
    /// The contract's for `findEntitiesByPropertyValue`.
    pub fn find_entities_by_property_value(
        &self,
        search_criteria: &str,
        request: &EntityPropertyFindRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        let _ = (search_criteria, request);
        Err(not_supported("findEntitiesByPropertyValue"))
    }

    /// Relationships by a tree of conditions on properties.
    ///
    /// # Errors
    /// The contract's for `findRelationships`.
    pub fn find_relationships(
        &self,
        request: &InstanceFindRequest,
    ) -> Result<Vec<Relationship>, OmrsError> {
        let _ = (request,);
        Err(not_supported("findRelationships"))
    }

    /// Relationships by properties.
    ///
    /// # Errors
    /// The contract's for `findRelationshipsByProperty`.
    pub fn find_relationships_by_property(
        &self,
        request: &PropertyMatchFindRequest,
    ) -> Result<Vec<Relationship>, OmrsError> {
        let _ = (request,);
        Err(not_supported("findRelationshipsByProperty"))
    }

    /// Relationships with a text that matches a regular expression.
    ///
    /// # Errors
    /// The contract's for `findRelationshipsByPropertyValue`.
    pub fn find_relationships_by_property_value(
        &self,
        search_criteria: &str,
        request: &TypeLimitedFindRequest,
    ) -> Result<Vec<Relationship>, OmrsError> {
        let _ = (search_criteria, request);
        Err(not_supported("findRelationshipsByPropertyValue"))
    }

    /// The relationships with an entity at either end.
    ///
    /// # Errors
    /// The contract's for `getRelationshipsForEntity`.
    pub fn get_relationships_for_entity(
        &self,
        guid: &str,
        request: &TypeLimitedFindRequest,
    ) -> Result<Vec<Relationship>, OmrsError> {
        let _ = (guid, request);
        Err(not_supported("getRelationshipsForEntity"))
    }
}
