//! Walking from entity to entity.

use super::InstanceGraph;
use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::EntityDetail;
use crate::requests::{EntityNeighborhoodFindRequest, FindRequest, RelatedEntitiesFindRequest};

impl Repository {
    /// What lies on the paths between two entities.
    ///
    /// # Errors
    /// The contract's for `getLinkingEntities`.
    pub fn get_linking_entities(
        &self,
        start: &str,
        end: &str,
        request: &FindRequest,
    ) -> Result<InstanceGraph, OmrsError> {
        let _ = (start, end, request);
        Err(not_supported("getLinkingEntities"))
    }

    /// What is at most `level` relationships away from an entity; negative = no limit.
    ///
    /// # Errors
    /// The contract's for `getEntityNeighborhood`.
    pub fn get_entity_neighborhood(
        &self,
        start: &str,
        level: i32,
        request: &EntityNeighborhoodFindRequest,
    ) -> Result<InstanceGraph, OmrsError> {
        let _ = (start, level, request);
        Err(not_supported("getEntityNeighborhood"))
    }

    /// All entities connected to one, at whatever distance, itself included.
    ///
    /// # Errors
    /// The contract's for `getRelatedEntities`.
    pub fn get_related_entities(
        &self,
        start: &str,
        request: &RelatedEntitiesFindRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        let _ = (start, request);
        Err(not_supported("getRelatedEntities"))
    }
}
