//! Searches for instances by type, properties, classifications and text, and for the relationships
//! of an entity.

use std::sync::Arc;

use super::answer::AnswerBytes;
use super::rendering::Ends;
use super::target::InstanceKind;
use super::{Repository, checks};
use crate::error::{Message, OmrsError};
use crate::graph_queries::relationships_of_entity;
use crate::instances::{EntityDetail, Relationship};
use crate::json::Shared;
use crate::matching::{
    Condition, Effort, classification_condition, classifications_condition, property_condition,
    search_condition, text_condition,
};
use crate::requests::{
    EntityFindRequest, EntityPropertyFindRequest, InstanceFindRequest, MatchCriteria,
    PagedFindRequest, PropertyMatchFindRequest, TypeLimitedFindRequest,
};
use crate::search::{Limits, Query, TypeLimit};
use crate::store::Subject;
use crate::types::{Catalogue, TypeDefCategory};

/// The parameter with conditions on properties.
const MATCH_PROPERTIES: &str = "matchProperties";

impl Repository {
    /// Sets the cost limits of searches and graph queries.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.searcher = crate::search::Searcher::new(limits);
        self
    }

    /// The cost limits of searches and graph queries.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.searcher.limits()
    }

    /// Finds entities by trees of conditions on properties and classifications.
    ///
    /// # Errors
    /// Those of the contract for `findEntities`.
    pub fn find_entities(
        &self,
        request: &EntityFindRequest,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        let of_subtypes = &request.instances.of_subtypes;
        let of_type = &of_subtypes.of_type;
        self.entities_found(&of_type.paged, |types, effort| {
            let limit = type_limit(
                types,
                Subject::Entities,
                of_type,
                &of_subtypes.subtype_guids,
            )?;
            let mut query = Query::new(Subject::Entities, limit, &of_type.paged)?;
            let properties = request.instances.match_properties.as_ref();
            let properties =
                properties.map(|search| search_condition(search, MATCH_PROPERTIES, effort));
            let classifications = request.match_classifications.as_ref();
            let classifications = classifications
                .map(|search| classifications_condition(search, "matchClassifications", effort));
            let conditions = [properties.transpose()?, classifications.transpose()?];
            let conditions = conditions.into_iter().flatten().flatten().collect();
            query.condition = Condition::combined(MatchCriteria::All, conditions);
            Ok(query)
        })
    }

    /// Finds entities by properties.
    ///
    /// # Errors
    /// Those of the contract for `findEntitiesByProperty`.
    pub fn find_entities_by_property(
        &self,
        request: &EntityPropertyFindRequest,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        let matching = &request.matching;
        self.entities_found(&matching.of_type.paged, |types, effort| {
            let mut query = query_of(types, Subject::Entities, &matching.of_type)?;
            query.classifications.clone_from(&request.classifications);
            query.condition = property_condition(
                matching.match_properties.as_ref(),
                matching.match_criteria,
                MATCH_PROPERTIES,
                effort,
            )?;
            Ok(query)
        })
    }

    /// Finds entities that carry the classification `name`, by its properties.
    ///
    /// # Errors
    /// Those of the contract for `findEntitiesByClassification`.
    pub fn find_entities_by_classification(
        &self,
        name: &str,
        request: &PropertyMatchFindRequest,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        self.entities_found(&request.of_type.paged, |types, effort| {
            if name.is_empty() {
                let parameter = "classificationName";
                let words = [parameter];
                return Err(OmrsError::of_parameter(
                    Message::NoClassificationName,
                    parameter,
                    &words,
                ));
            }
            types.classification_by_name(name)?;
            let mut query = query_of(types, Subject::Entities, &request.of_type)?;
            let properties = request.match_properties.as_ref();
            query.condition = Some(classification_condition(
                name,
                properties,
                request.match_criteria,
                effort,
            )?);
            Ok(query)
        })
    }

    /// Finds entities with a text that matches a regular expression.
    ///
    /// # Errors
    /// Those of the contract for `findEntitiesByPropertyValue`.
    pub fn find_entities_by_property_value(
        &self,
        search_criteria: &str,
        request: &EntityPropertyFindRequest,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        let of_type = &request.matching.of_type;
        self.entities_found(&of_type.paged, |types, effort| {
            let condition = text_condition(Some(search_criteria), effort)?;
            let mut query = query_of(types, Subject::Entities, of_type)?;
            query.classifications.clone_from(&request.classifications);
            query.condition = Some(condition);
            Ok(query)
        })
    }

    /// Finds relationships by a tree of conditions on properties.
    ///
    /// # Errors
    /// Those of the contract for `findRelationships`.
    pub fn find_relationships(
        &self,
        request: &InstanceFindRequest,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        let of_type = &request.of_subtypes.of_type;
        let subtypes = &request.of_subtypes.subtype_guids;
        self.relationships_found(&of_type.paged, |types, effort| {
            let limit = type_limit(types, Subject::Relationships, of_type, subtypes)?;
            let mut query = Query::new(Subject::Relationships, limit, &of_type.paged)?;
            if let Some(search) = &request.match_properties {
                query.condition = search_condition(search, MATCH_PROPERTIES, effort)?;
            }
            Ok(query)
        })
    }

    /// Finds relationships by properties.
    ///
    /// # Errors
    /// Those of the contract for `findRelationshipsByProperty`.
    pub fn find_relationships_by_property(
        &self,
        request: &PropertyMatchFindRequest,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        self.relationships_found(&request.of_type.paged, |types, effort| {
            let mut query = query_of(types, Subject::Relationships, &request.of_type)?;
            query.condition = property_condition(
                request.match_properties.as_ref(),
                request.match_criteria,
                MATCH_PROPERTIES,
                effort,
            )?;
            Ok(query)
        })
    }

    /// Finds relationships with a text that matches a regular expression.
    ///
    /// # Errors
    /// Those of the contract for `findRelationshipsByPropertyValue`.
    pub fn find_relationships_by_property_value(
        &self,
        search_criteria: &str,
        request: &TypeLimitedFindRequest,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        self.relationships_found(&request.paged, |types, effort| {
            let condition = text_condition(Some(search_criteria), effort)?;
            let mut query = query_of(types, Subject::Relationships, request)?;
            query.condition = Some(condition);
            Ok(query)
        })
    }

    /// Lists the relationships with an entity at either end.
    ///
    /// # Errors
    /// Those of the contract for `getRelationshipsForEntity`.
    pub fn get_relationships_for_entity(
        &self,
        guid: &str,
        request: &TypeLimitedFindRequest,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        checks::guid(guid, "entityGUID")?;
        let at = request.paged.find.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let query = query_of(&types, Subject::Relationships, request)?;
        InstanceKind::Entity.live(guid, read.life_status(guid)?)?;
        let found = relationships_of_entity(&read, &query, guid, self.searcher.limits())?;
        let limits = self.searcher.limits();
        Ends::new(&read, limits).all_rendered(found.into_iter().map(Ok), limits)
    }

    /// Makes a query with a budget for its regular expressions.
    fn made(
        &self,
        types: &Catalogue,
        query: impl FnOnce(&Catalogue, &Arc<Effort>) -> Result<Query, OmrsError>,
    ) -> Result<Query, OmrsError> {
        let effort = Effort::new(self.searcher.limits().time_max);
        let query = query(types, &effort)?;
        Ok(Query {
            effort: Some(effort),
            ..query
        })
    }

    /// Runs a query for entities. `query` makes it from the types that the reader sees.
    fn entities_found(
        &self,
        request: &PagedFindRequest,
        query: impl FnOnce(&Catalogue, &Arc<Effort>) -> Result<Query, OmrsError>,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        let at = request.find.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let query = self.made(&types, query)?;
        let found = self.searcher.find(&read, &types, &query, at)?;
        let rendered = found.into_iter().map(|kept| read.candidate_entity(&kept));
        AnswerBytes::new(self.searcher.limits()).all(rendered.filter_map(Result::transpose))
    }

    /// Runs a query for relationships. `query` makes it from the types that the reader sees.
    fn relationships_found(
        &self,
        request: &PagedFindRequest,
        query: impl FnOnce(&Catalogue, &Arc<Effort>) -> Result<Query, OmrsError>,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        let at = request.find.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let query = self.made(&types, query)?;
        let found = self.searcher.find(&read, &types, &query, at)?;
        let found = found
            .into_iter()
            .map(|kept| read.candidate_relationship(kept));
        let found = found.filter_map(Result::transpose);
        let limits = self.searcher.limits();
        Ends::new(&read, limits).all_rendered(found, limits)
    }
}

fn query_of(
    types: &Catalogue,
    subject: Subject,
    request: &TypeLimitedFindRequest,
) -> Result<Query, OmrsError> {
    Query::new(
        subject,
        type_limit(types, subject, request, &[])?,
        &request.paged,
    )
}

fn type_limit(
    types: &Catalogue,
    subject: Subject,
    request: &TypeLimitedFindRequest,
    subtypes: &[String],
) -> Result<TypeLimit, OmrsError> {
    let category = match subject {
        Subject::Entities => TypeDefCategory::Entity,
        Subject::Relationships => TypeDefCategory::Relationship,
    };
    TypeLimit::new(types, category, request.type_guid.as_deref(), subtypes)
}
