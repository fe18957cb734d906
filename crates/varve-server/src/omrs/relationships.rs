//! Calls that read, create and change single relationships.

use varve_omrs::OmrsError;
use varve_omrs::instances::Relationship;
use varve_omrs::requests::{HistoryRequest, RelationshipResponse, VoidResponse};

use super::call::{Call, call};
use crate::route::Route;

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("isRelationshipKnown", get "instances/relationship/{guid}/existence", Read, RelationshipResponse, |call| {
        Ok(RelationshipResponse::ok(call.repository().is_relationship_known(call.guid())?))
    }),
    call!("getRelationship", get "instances/relationship/{guid}", Read, RelationshipResponse, present),
    call!(anonymous "getRelationship", get "instances/relationship/{guid}", Read, RelationshipResponse, present),
    call!("getRelationship", post "instances/relationship/{guid}/history", Search, RelationshipResponse, |call| {
        let history = call.body::<HistoryRequest>()?;
        respond(call.repository().get_relationship(call.guid(), Some(&history)))
    }),
    call!("addRelationship", post "instances/relationship", Write, RelationshipResponse, |call| {
        respond(call.repository().add_relationship(call.user(), call.body()?))
    }),
    call!("addExternalRelationship", post "instances/relationship/external", Write, RelationshipResponse, |call| {
        respond(call.repository().add_external_relationship(call.user(), call.body()?))
    }),
    call!("updateRelationshipStatus", post "instances/relationship/{guid}/status", Write, RelationshipResponse, |call| {
        let status = call.optional_body()?;
        respond(call.repository().update_relationship_status(call.user(), call.guid(), status))
    }),
    call!("updateRelationshipProperties", post "instances/relationship/{guid}/properties", Write, RelationshipResponse, |call| {
        respond(call.repository().update_relationship_properties(call.user(), call.guid(), call.body()?))
    }),
    call!("undoRelationshipUpdate", get "instances/relationship/{guid}/previous", Write, RelationshipResponse, |call| {
        respond(call.repository().undo_relationship_update(call.user(), call.guid()))
    }),
    call!("deleteRelationship", post "instances/relationship/{guid}/delete", Write, RelationshipResponse, |call| {
        respond(call.repository().delete_relationship(call.user(), call.guid(), &call.body()?))
    }),
    call!("purgeRelationship", post "instances/relationship/{guid}/purge", Write, VoidResponse, |call| {
        call.repository().purge_relationship(call.user(), call.guid(), &call.body()?)?;
        Ok(VoidResponse::ok())
    }),
    call!("restoreRelationship", get "instances/relationship/{guid}/restore", Write, RelationshipResponse, |call| {
        respond(call.repository().restore_relationship(call.user(), call.guid()))
    }),
];

fn present(call: &Call<'_>) -> Result<RelationshipResponse, OmrsError> {
    respond(call.repository().get_relationship(call.guid(), None))
}

/// The answer with the relationship of a call.
pub(super) fn respond(
    relationship: Result<Relationship, OmrsError>,
) -> Result<RelationshipResponse, OmrsError> {
    Ok(RelationshipResponse::ok(Some(relationship?)))
}
