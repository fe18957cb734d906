//! Reads instances by GUID, now or in the past.

use super::rendering::rendered_states;
use super::target::{LIVE, Target};
use super::{Repository, checks, with_ends};
use crate::error::OmrsError;
use crate::instances::{Classification, EntityDetail, EntitySummary, Relationship};
use crate::json::{Millis, Shared};
use crate::requests::{HistoryRangeRequest, HistoryRequest};
use crate::store::StoredEntity;

/// A subgraph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InstanceGraph {
    /// The entities.
    pub entities: Vec<Shared<EntityDetail>>,
    /// The relationships.
    pub relationships: Vec<Shared<Relationship>>,
}

impl Repository {
    /// Reads the entity, deleted or not; `None` when it is unknown, or only a proxy of it is known.
    ///
    /// # Errors
    /// Those of the contract for `isEntityKnown`.
    pub fn is_entity_known(&self, guid: &str) -> Result<Option<EntityDetail>, OmrsError> {
        checks::guid(guid, "guid")?;
        match self.reader(None)?.entity(guid)? {
            Some(StoredEntity::Detail(entity)) => Ok(Some(entity)),
            Some(StoredEntity::Proxy(_)) | None => Ok(None),
        }
    }

    /// Reads the entity without its properties. Works for proxies.
    ///
    /// # Errors
    /// Those of the contract for `getEntitySummary`.
    pub fn get_entity_summary(&self, guid: &str) -> Result<EntitySummary, OmrsError> {
        checks::guid(guid, "guid")?;
        let found = self.reader(None)?.entity(guid)?;
        Ok(match Target::of(guid, LIVE).resolve(self, found)? {
            StoredEntity::Detail(entity) => EntitySummary {
                header: entity.header,
                classifications: entity.classifications,
            },
            StoredEntity::Proxy(proxy) => EntitySummary {
                header: proxy.header,
                classifications: proxy.classifications,
            },
        })
    }

    /// Reads the entity.
    ///
    /// # Errors
    /// Those of the contract for `getEntityDetail`.
    pub fn get_entity_detail(
        &self,
        guid: &str,
        history: Option<&HistoryRequest>,
    ) -> Result<EntityDetail, OmrsError> {
        checks::guid(guid, "guid")?;
        let at = self.time_asked(history)?;
        let found = self.reader(at)?.entity(guid)?;
        checks::detail(Target::of(guid, LIVE).resolve(self, found)?)
    }

    /// Reads states of the entity's history.
    ///
    /// # Errors
    /// Those of the contract for `getEntityDetailHistory`.
    pub fn get_entity_detail_history(
        &self,
        guid: &str,
        request: &HistoryRangeRequest,
    ) -> Result<Vec<EntityDetail>, OmrsError> {
        checks::guid(guid, "guid")?;
        let mut asked = self.asked_of_entity(guid, request)?;
        let states = self.store.entity_states(guid, &mut asked)?;
        let states = states.into_iter().map(|version| version.state);
        states.map(checks::detail).collect()
    }

    /// Reads the entity's classifications whose home is this repository, or which it replicates for
    /// an external source.
    ///
    /// # Errors
    /// Those of the contract for `getHomeClassifications`.
    pub fn get_home_classifications(
        &self,
        guid: &str,
        history: Option<&HistoryRequest>,
    ) -> Result<Vec<Classification>, OmrsError> {
        checks::guid(guid, "guid")?;
        let at = self.time_asked(history)?;
        let found = self.reader(at)?.entity(guid)?;
        let mut entity = Target::of(guid, LIVE).resolve(self, found)?;
        let mut classifications = std::mem::take(entity.classifications_mut());
        classifications.retain(|carried| self.is_own(&carried.audit));
        Ok(classifications)
    }

    /// Reads the relationship, deleted or not; `None` when it is unknown.
    ///
    /// # Errors
    /// Those of the contract for `isRelationshipKnown`.
    pub fn is_relationship_known(&self, guid: &str) -> Result<Option<Relationship>, OmrsError> {
        checks::guid(guid, "guid")?;
        let read = self.reader(None)?;
        let found = read.relationship(guid)?;
        let proxy = |end: &str| read.rendered_proxy(end);
        found.map(|found| with_ends(found, proxy)).transpose()
    }

    /// Reads the relationship.
    ///
    /// # Errors
    /// Those of the contract for `getRelationship`.
    pub fn get_relationship(
        &self,
        guid: &str,
        history: Option<&HistoryRequest>,
    ) -> Result<Relationship, OmrsError> {
        checks::guid(guid, "guid")?;
        let read = self.reader(self.time_asked(history)?)?;
        let found = read.relationship(guid)?;
        let found = Target::of(guid, LIVE).resolve(self, found)?;
        with_ends(found, |end| read.rendered_proxy(end))
    }

    /// Reads states of the relationship's history, each with its ends at the start of the state.
    ///
    /// # Errors
    /// Those of the contract for `getRelationshipHistory`.
    pub fn get_relationship_history(
        &self,
        guid: &str,
        request: &HistoryRangeRequest,
    ) -> Result<Vec<Relationship>, OmrsError> {
        checks::guid(guid, "guid")?;
        let mut asked = self.asked_of_relationship(guid, request)?;
        let states = self.store.relationship_states(guid, &mut asked)?;
        rendered_states(&self.store, states, &mut asked)
    }

    fn time_asked(&self, history: Option<&HistoryRequest>) -> Result<Option<Millis>, OmrsError> {
        let now = || self.store.now();
        history.map(|request| request.checked(now())).transpose()
    }
}
