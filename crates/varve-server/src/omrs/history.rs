//! Calls that read the whole history of an instance.

use varve_omrs::json::Shared;
use varve_omrs::requests::{EntityListResponse, HistoryRangeRequest, RelationshipListResponse};

use super::call::call;
use crate::route::Route;

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("getEntityDetailHistory", post "instances/entity/{guid}/history/all", Search, EntityListResponse, |call| {
        let range = call.body::<HistoryRangeRequest>()?;
        let found = call.repository().get_entity_detail_history(call.guid(), &range)?;
        let found = found.into_iter().map(Shared::from).collect();
        Ok(EntityListResponse::ok(range.offset, range.page_size, None, found))
    }),
    call!("getRelationshipHistory", post "instances/relationship/{guid}/history/all", Search, RelationshipListResponse, |call| {
        let range = call.body::<HistoryRangeRequest>()?;
        let found = call.repository().get_relationship_history(call.guid(), &range)?;
        let found = found.into_iter().map(Shared::from).collect();
        Ok(RelationshipListResponse::ok(range.offset, range.page_size, None, found))
    }),
];
