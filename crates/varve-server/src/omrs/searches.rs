//! Calls for searches and graph queries. Each has a second path for the past, on which the time is
//! mandatory.

use varve_omrs::OmrsError;
use varve_omrs::instances::{EntityDetail, Relationship};
use varve_omrs::json::Shared;
use varve_omrs::repository::InstanceGraph;
use varve_omrs::requests::{
    EntityFindRequest, EntityListResponse, EntityNeighborhoodFindRequest,
    EntityPropertyFindRequest, FindRequest, InstanceFindRequest, InstanceGraphResponse,
    PagedFindRequest, PropertyMatchFindRequest, RelatedEntitiesFindRequest,
    RelationshipListResponse, TypeLimitedFindRequest,
};

use super::call::{Call, call};
use crate::route::{Parameter, Route};

const CRITERIA: &[Parameter] = &[Parameter::text("searchCriteria")];
const END: &[Parameter] = &[Parameter::text("endEntityGUID")];
const LEVEL: &[Parameter] = &[Parameter::new("level", "int", "")];

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("findEntities", post "instances/entities", Search, EntityListResponse, entities),
    call!("findEntities", post "instances/entities/history", Past, EntityListResponse, entities),
    call!("findEntitiesByProperty", post "instances/entities/by-property", Search, EntityListResponse, entities_by_property),
    call!("findEntitiesByProperty", post "instances/entities/by-property/history", Past, EntityListResponse, entities_by_property),
    call!("findEntitiesByClassification", post "instances/entities/by-classification/{name}", Search, EntityListResponse, entities_by_classification),
    call!("findEntitiesByClassification", post "instances/entities/by-classification/{name}/history", Past, EntityListResponse, entities_by_classification),
    call!("findEntitiesByPropertyValue", post "instances/entities/by-property-value", Search, EntityListResponse, entities_by_value).with(CRITERIA),
    call!("findEntitiesByPropertyValue", post "instances/entities/by-property-value/history", Past, EntityListResponse, entities_by_value).with(CRITERIA),
    call!("findRelationships", post "instances/relationships", Search, RelationshipListResponse, relationships),
    call!("findRelationships", post "instances/relationships/history", Past, RelationshipListResponse, relationships),
    call!("findRelationshipsByProperty", post "instances/relationships/by-property", Search, RelationshipListResponse, relationships_by_property),
    call!("findRelationshipsByProperty", post "instances/relationships/by-property/history", Past, RelationshipListResponse, relationships_by_property),
    call!("findRelationshipsByPropertyValue", post "instances/relationships/by-property-value", Search, RelationshipListResponse, relationships_by_value).with(CRITERIA),
    call!("findRelationshipsByPropertyValue", post "instances/relationships/by-property-value/history", Past, RelationshipListResponse, relationships_by_value).with(CRITERIA),
    call!("getRelationshipsForEntity", post "instances/entity/{guid}/relationships", Search, RelationshipListResponse, relationships_of),
    call!("getRelationshipsForEntity", post "instances/entity/{guid}/relationships/history", Past, RelationshipListResponse, relationships_of),
    call!("getLinkingEntities", post "instances/entities/from-entity/{guid}/by-linkage", Search, InstanceGraphResponse, linking).with(END),
    call!("getLinkingEntities", post "instances/entities/from-entity/{guid}/by-linkage/history", Past, InstanceGraphResponse, linking).with(END),
    call!("getEntityNeighborhood", post "instances/entities/from-entity/{guid}/by-neighborhood", Search, InstanceGraphResponse, neighborhood).with(LEVEL),
    call!("getEntityNeighborhood", post "instances/entities/from-entity/{guid}/by-neighborhood/history", Past, InstanceGraphResponse, neighborhood).with(LEVEL),
    call!("getRelatedEntities", post "instances/entities/from-entity/{guid}/by-relationship", Search, EntityListResponse, related),
    call!("getRelatedEntities", post "instances/entities/from-entity/{guid}/by-relationship/history", Past, EntityListResponse, related),
];

type Entities = Result<EntityListResponse, OmrsError>;
type Relationships = Result<RelationshipListResponse, OmrsError>;
type Graph = Result<InstanceGraphResponse, OmrsError>;

fn page_of_entities<E>(page: &PagedFindRequest, found: Vec<E>) -> Entities
where
    Shared<EntityDetail>: From<E>,
{
    Ok(EntityListResponse::ok(
        page.offset,
        page.page_size,
        None,
        found.into_iter().map(Shared::from).collect(),
    ))
}

fn page_of_relationships<R>(page: &PagedFindRequest, found: Vec<R>) -> Relationships
where
    Shared<Relationship>: From<R>,
{
    Ok(RelationshipListResponse::ok(
        page.offset,
        page.page_size,
        None,
        found.into_iter().map(Shared::from).collect(),
    ))
}

fn graph(found: InstanceGraph) -> Graph {
    Ok(InstanceGraphResponse::ok(
        found.entities,
        found.relationships,
    ))
}

fn entities(call: &Call<'_>) -> Entities {
    let request = call.search::<EntityFindRequest>()?;
    let found = call.repository().find_entities(&request)?;
    page_of_entities(&request.instances.of_subtypes.of_type.paged, found)
}

fn entities_by_property(call: &Call<'_>) -> Entities {
    let request = call.search::<EntityPropertyFindRequest>()?;
    let found = call.repository().find_entities_by_property(&request)?;
    page_of_entities(&request.matching.of_type.paged, found)
}

fn entities_by_classification(call: &Call<'_>) -> Entities {
    let request = call.search::<PropertyMatchFindRequest>()?;
    let name = call.path("name");
    let found = call
        .repository()
        .find_entities_by_classification(name, &request)?;
    page_of_entities(&request.of_type.paged, found)
}

fn entities_by_value(call: &Call<'_>) -> Entities {
    let request = call.search::<EntityPropertyFindRequest>()?;
    let criteria = call.text("searchCriteria")?;
    let found = call
        .repository()
        .find_entities_by_property_value(criteria, &request)?;
    page_of_entities(&request.matching.of_type.paged, found)
}

fn relationships(call: &Call<'_>) -> Relationships {
    let request = call.search::<InstanceFindRequest>()?;
    let found = call.repository().find_relationships(&request)?;
    page_of_relationships(&request.of_subtypes.of_type.paged, found)
}

fn relationships_by_property(call: &Call<'_>) -> Relationships {
    let request = call.search::<PropertyMatchFindRequest>()?;
    let found = call.repository().find_relationships_by_property(&request)?;
    page_of_relationships(&request.of_type.paged, found)
}

fn relationships_by_value(call: &Call<'_>) -> Relationships {
    let request = call.search::<TypeLimitedFindRequest>()?;
    let criteria = call.text("searchCriteria")?;
    let found = call
        .repository()
        .find_relationships_by_property_value(criteria, &request)?;
    page_of_relationships(&request.paged, found)
}

fn relationships_of(call: &Call<'_>) -> Relationships {
    let request = call.search::<TypeLimitedFindRequest>()?;
    let found = call
        .repository()
        .get_relationships_for_entity(call.guid(), &request)?;
    page_of_relationships(&request.paged, found)
}

fn linking(call: &Call<'_>) -> Graph {
    let request = call.search::<FindRequest>()?;
    let end = call.text("endEntityGUID")?;
    graph(
        call.repository()
            .get_linking_entities(call.guid(), end, &request)?,
    )
}

fn neighborhood(call: &Call<'_>) -> Graph {
    let request = call.search::<EntityNeighborhoodFindRequest>()?;
    let level = call.integer("level")?;
    graph(
        call.repository()
            .get_entity_neighborhood(call.guid(), level, &request)?,
    )
}

/// The time is used on the path of the present too, since clients send it there.
fn related(call: &Call<'_>) -> Entities {
    let request = call.search::<RelatedEntitiesFindRequest>()?;
    let found = call
        .repository()
        .get_related_entities(call.guid(), &request)?;
    page_of_entities(&request.paged, found)
}
