//! Calls that read, create, change, delete, purge and restore single entities.

use varve_omrs::OmrsError;
use varve_omrs::error::Message::NullProxy;
use varve_omrs::instances::EntityDetail;
use varve_omrs::requests::{
    EntityDetailResponse, EntitySummaryResponse, HistoryRequest, VoidResponse,
};

use super::call::{Call, call};
use crate::route::Route;

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("isEntityKnown", get "instances/entity/{guid}/existence", Read, EntityDetailResponse, |call| {
        Ok(EntityDetailResponse::ok(call.repository().is_entity_known(call.guid())?))
    }),
    call!("getEntitySummary", get "instances/entity/{guid}/summary", Read, EntitySummaryResponse, |call| {
        let entity = call.repository().get_entity_summary(call.guid())?;
        Ok(EntitySummaryResponse::ok(Some(entity)))
    }),
    call!("getEntityDetail", get "instances/entity/{guid}", Read, EntityDetailResponse, detail),
    call!(anonymous "getEntityDetail", get "instances/entity/{guid}", Read, EntityDetailResponse, detail),
    call!("getEntityDetail", post "instances/entity/{guid}/history", Search, EntityDetailResponse, |call| {
        let history = call.body::<HistoryRequest>()?;
        respond(call.repository().get_entity_detail(call.guid(), Some(&history)))
    }),
    call!("addEntity", post "instances/entity", Write, EntityDetailResponse, |call| {
        respond(call.repository().add_entity(call.user(), call.body()?))
    }),
    call!("addExternalEntity", post "instances/entity/external", Write, EntityDetailResponse, |call| {
        respond(call.repository().add_external_entity(call.user(), call.body()?))
    }),
    call!("addEntityProxy", post "instances/entity-proxy", Write, VoidResponse, |call| {
        call.repository().add_entity_proxy(call.user(), call.instance(NullProxy)?)?;
        Ok(VoidResponse::ok())
    }),
    call!("updateEntityStatus", post "instances/entity/{guid}/status", Write, EntityDetailResponse, |call| {
        let status = call.optional_body()?;
        respond(call.repository().update_entity_status(call.user(), call.guid(), status))
    }),
    call!("updateEntityProperties", post "instances/entity/{guid}/properties", Write, EntityDetailResponse, |call| {
        respond(call.repository().update_entity_properties(call.user(), call.guid(), call.body()?))
    }),
    call!("undoEntityUpdate", get "instances/entity/{guid}/previous", Write, EntityDetailResponse, |call| {
        respond(call.repository().undo_entity_update(call.user(), call.guid()))
    }),
    call!("deleteEntity", post "instances/entity/{guid}/delete", Write, EntityDetailResponse, |call| {
        respond(call.repository().delete_entity(call.user(), call.guid(), &call.body()?))
    }),
    call!("purgeEntity", post "instances/entity/{guid}/purge", Write, VoidResponse, |call| {
        call.repository().purge_entity(call.user(), call.guid(), &call.body()?)?;
        Ok(VoidResponse::ok())
    }),
    call!("restoreEntity", get "instances/entity/{guid}/restore", Write, EntityDetailResponse, |call| {
        respond(call.repository().restore_entity(call.user(), call.guid()))
    }),
];

fn detail(call: &Call<'_>) -> Result<EntityDetailResponse, OmrsError> {
    respond(call.repository().get_entity_detail(call.guid(), None))
}

/// The answer to a call that returns one entity.
pub(super) fn respond(
    entity: Result<EntityDetail, OmrsError>,
) -> Result<EntityDetailResponse, OmrsError> {
    Ok(EntityDetailResponse::ok(Some(entity?)))
}
