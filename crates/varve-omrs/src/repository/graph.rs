//! Walking from entity to entity.

use std::collections::HashMap;

use super::rendering::proxy;
use super::{InstanceGraph, Repository, checks, rendered};
use crate::error::{Message, OmrsError};
use crate::graph_queries::{RelatedQuery, SubGraph, WalkLimits, linking, neighbourhood, related};
use crate::instances::{EntityDetail, Relationship};
use crate::requests::{EntityNeighborhoodFindRequest, FindRequest, RelatedEntitiesFindRequest};
use crate::search::Order;
use crate::store::{Read, StoredEntity};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};

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
        checks::guid(start, "startEntityGUID")?;
        checks::guid(end, "endEntityGUID")?;
        let at = request.checked_time(self.store.now())?;
        let read = self.reader(at)?;
        let types = read.types();
        let ends = [known(&*read, start)?, known(&*read, end)?];
        let limits = self.searcher.limits();
        let found = linking(&*read, &types, ends, request, limits)?;
        told(&*read, &types, found)
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
        let start = known(&*read, start)?;
        let levels = usize::try_from(level).ok();
        let limits = self.searcher.limits();
        let found = neighbourhood(&*read, &types, start, levels, &walked, limits)?;
        told(&*read, &types, found)
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
        let start = known(&*read, start)?;
        related(&*read, &types, start, &query, self.searcher.limits())
    }
}

/// The entity that a walk begins or ends at. One of which only a proxy is known has nothing to be told.
fn known(read: &dyn Read, guid: &str) -> Result<EntityDetail, OmrsError> {
    match read.entity(guid)? {
        Some(StoredEntity::Detail(entity)) if entity.header.audit.is_deleted() => {
            Err(OmrsError::new(Message::EntityDeleted, &[guid]))
        }
        Some(StoredEntity::Detail(entity)) => Ok(entity),
        Some(StoredEntity::Proxy(_)) | None => Err(OmrsError::new(Message::UnknownEntity, &[guid])),
    }
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

/// A part of the graph, its relationships with proxies of their ends, which were found too.
fn told(read: &dyn Read, types: &Catalogue, found: SubGraph) -> Result<InstanceGraph, OmrsError> {
    let entities: Vec<StoredEntity> = found
        .entities
        .into_iter()
        .map(StoredEntity::Detail)
        .collect();
    let by_guid: HashMap<&str, &StoredEntity> = entities
        .iter()
        .map(|entity| (entity.header().guid(), entity))
        .collect();
    let mut relationships = Vec::with_capacity(found.relationships.len());
    for relationship in found.relationships {
        let ends = relationship.ends.each_ref().map(String::as_str);
        let known = ends.map(|end| by_guid.get(end).map(|entity| proxy(types, entity)));
        relationships.push(match known {
            [Some(one), Some(two)] => Relationship {
                header: relationship.header,
                properties: relationship.properties,
                entity_one: Some(one),
                entity_two: Some(two),
            },
            _ => rendered(read, types, relationship)?,
        });
    }
    let details = entities.into_iter().filter_map(|entity| match entity {
        StoredEntity::Detail(entity) => Some(entity),
        StoredEntity::Proxy(_) => None,
    });
    Ok(InstanceGraph {
        entities: details.collect(),
        relationships,
    })
}
