//! Graph queries from an entity.

use super::answer::AnswerBytes;
use super::rendering::Ends;
use super::target::InstanceKind;
use super::{InstanceGraph, Repository, checks};
use crate::error::OmrsError;
use crate::graph_queries::{RelatedQuery, SubGraph, WalkLimits, linking, neighbourhood, related};
use crate::graph_store::GraphReader;
use crate::instances::EntityDetail;
use crate::json::Shared;
use crate::requests::{EntityNeighborhoodFindRequest, FindRequest, RelatedEntitiesFindRequest};
use crate::search::{Limits, Order};
use crate::store::RenderedEntity;
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};

impl Repository {
    /// Finds the subgraph on the paths between two entities.
    ///
    /// # Errors
    /// Those of the contract for `getLinkingEntities`.
    pub fn get_linking_entities(
        &self,
        start: &str,
        end: &str,
        request: &FindRequest,
    ) -> Result<InstanceGraph, OmrsError> {
        checks::guid(start, "startEntityGUID")?;
        checks::guid(end, "endEntityGUID")?;
        let at = request.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let ends = [known(&read, start)?, known(&read, end)?];
        let limits = self.searcher.limits();
        let found = linking(&read, &types, ends, request, limits)?;
        rendered(&read, found, limits)
    }

    /// Finds the subgraph within `level` relationships of an entity; negative = no limit.
    ///
    /// # Errors
    /// Those of the contract for `getEntityNeighborhood`.
    pub fn get_entity_neighborhood(
        &self,
        start: &str,
        level: i32,
        request: &EntityNeighborhoodFindRequest,
    ) -> Result<InstanceGraph, OmrsError> {
        checks::guid(start, "entityGUID")?;
        let at = request.find.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let (entity, relationship) = (TypeDefCategory::Entity, TypeDefCategory::Relationship);
        let of = |category, guids, parameter| named(&types, category, guids, parameter);
        let walked = WalkLimits {
            find: request.find.clone(),
            entity_types: of(entity, &request.entity_type_guids, "entityTypeGUIDs")?,
            relationship_types: of(
                relationship,
                &request.relationship_type_guids,
                "relationshipTypeGUIDs",
            )?,
            classifications: request.classifications.clone(),
        };
        let start = known(&read, start)?;
        let levels = usize::try_from(level).ok();
        let limits = self.searcher.limits();
        let found = neighbourhood(&read, &types, start, levels, &walked, limits)?;
        rendered(&read, found, limits)
    }

    /// Finds all entities connected to an entity, at any distance, itself included.
    ///
    /// # Errors
    /// Those of the contract for `getRelatedEntities`.
    pub fn get_related_entities(
        &self,
        start: &str,
        request: &RelatedEntitiesFindRequest,
    ) -> Result<Vec<Shared<EntityDetail>>, OmrsError> {
        checks::guid(start, "startEntityGUID")?;
        let find = &request.paged.find;
        let at = find.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let guids = &request.entity_type_guids;
        let query = RelatedQuery {
            page: request.paged.checked_page()?,
            order: Order::from(&request.paged),
            wanted: WalkLimits {
                find: find.clone(),
                entity_types: named(&types, TypeDefCategory::Entity, guids, "entityTypeGUIDs")?,
                relationship_types: Vec::new(),
                classifications: request.classifications.clone(),
            },
        };
        let start = known(&read, start)?;
        let found = related(&read, &types, start, &query, self.searcher.limits())?;
        Ok(details(&found))
    }
}

/// Reads the entity at which a graph query starts or ends. A proxy is not enough, since it cannot
/// be rendered as an entity.
fn known(read: &GraphReader, guid: &str) -> Result<RenderedEntity, OmrsError> {
    let entity = read.rendered_entity(guid)?;
    let entity = entity.filter(|entity| entity.detail().is_some());
    let entity = entity.ok_or_else(|| InstanceKind::Entity.unknown(guid))?;
    InstanceKind::Entity.live(guid, Some(entity.life_status()))?;
    Ok(entity)
}

fn named(
    types: &Catalogue,
    category: TypeDefCategory,
    guids: &[String],
    parameter: &str,
) -> Result<Vec<TypeIndex>, OmrsError> {
    let of = |guid: &String| types.instance_type_by_guid(category, guid, parameter);
    guids.iter().map(of).collect()
}

/// Renders a subgraph. The ends of its relationships are among its entities.
fn rendered(
    read: &GraphReader,
    found: SubGraph,
    limits: &Limits,
) -> Result<InstanceGraph, OmrsError> {
    let mut ends = Ends::new(read, limits);
    found.entities.iter().for_each(|entity| ends.take(entity));
    let relationships = found.relationships.into_iter();
    let relationships = relationships.map(|found| ends.rendered(found));
    Ok(InstanceGraph {
        relationships: AnswerBytes::new(limits).all(relationships)?,
        entities: details(&found.entities),
    })
}

fn details(entities: &[RenderedEntity]) -> Vec<Shared<EntityDetail>> {
    let details = entities.iter().filter_map(RenderedEntity::detail);
    details.cloned().collect()
}
