//! Calls that classify entities, by GUID and by proxy.

use varve_omrs::OmrsError;
use varve_omrs::instances::{Classification, EntityProxy};
use varve_omrs::json::{Decode, JsonError, Reader};
use varve_omrs::requests::{
    ClassificationListResponse, ClassificationProxyRequest, ClassificationResponse,
    EntityProxyRequest, HistoryRequest, ProxyClassificationRequest,
};

use super::call::{Call, call};
use super::entities::respond;
use crate::route::Route;

/// The calls of this module. Those without a GUID in the path exist since release 4.0.
pub(super) static ROUTES: &[Route] = &[
    call!("classifyEntity", post "instances/entity/{guid}/classification/{name}", Write, EntityDetailResponse, |call| {
        let name = call.path("name");
        respond(call.repository().classify_entity(call.user(), call.guid(), name, call.body()?))
    }),
    call!("classifyEntity", post "instances/entity/{guid}/classification/{name}/detailed", Write, EntityDetailResponse, |call| {
        let name = call.path("name");
        respond(call.repository().classify_entity_detailed(call.user(), call.guid(), name, call.body()?))
    }),
    // A body is ignored.
    call!("declassifyEntity", post "instances/entity/{guid}/classification/{name}/delete", Write, EntityDetailResponse, |call| {
        respond(call.repository().declassify_entity(call.user(), call.guid(), call.path("name")))
    }),
    call!("updateEntityClassification", post "instances/entity/{guid}/classification/{name}/properties", Write, EntityDetailResponse, |call| {
        let name = call.path("name");
        respond(call.repository().update_entity_classification(call.user(), call.guid(), name, call.body()?))
    }),
    call!("classifyEntity", post "instances/entity/classification/{name}", Write, ClassificationResponse, |call| {
        let request = by_proxy(call)?;
        alone(call.repository().classify_entity_proxy(call.user(), call.path("name"), request))
    }),
    call!("classifyEntity", post "instances/entity/classification/{name}/detailed", Write, ClassificationResponse, |call| {
        let name = call.path("name");
        alone(call.repository().classify_entity_proxy_detailed(call.user(), name, call.body()?))
    }),
    call!("declassifyEntity", post "instances/entity/classification/{name}/delete", Write, ClassificationResponse, |call| {
        let EntityBody(proxy) = call.body()?;
        alone(call.repository().declassify_entity_proxy(call.user(), call.path("name"), proxy))
    }),
    call!("updateEntityClassification", post "instances/entity/classification/{name}/properties", Write, ClassificationResponse, |call| {
        let request = by_proxy(call)?;
        alone(call.repository().update_entity_proxy_classification(call.user(), call.path("name"), request))
    }),
    call!("getHomeClassifications", get "instances/entity/{guid}/home-classifications", Read, ClassificationListResponse, |call| {
        let found = call.repository().get_home_classifications(call.guid(), None)?;
        Ok(ClassificationListResponse::ok(found))
    }),
    call!("getHomeClassifications", post "instances/entity/{guid}/home-classifications/history", Search, ClassificationListResponse, |call| {
        let history = call.body::<HistoryRequest>()?;
        let found = call.repository().get_home_classifications(call.guid(), Some(&history))?;
        Ok(ClassificationListResponse::ok(found))
    }),
];

fn alone(
    classification: Result<Classification, OmrsError>,
) -> Result<ClassificationResponse, OmrsError> {
    Ok(ClassificationResponse::ok(Some(classification?)))
}

fn by_proxy(call: &Call<'_>) -> Result<ClassificationProxyRequest, OmrsError> {
    Ok(call.body::<ProxyClassificationRequest>()?.into())
}

/// A proxy as the whole body, or as a property of a request, depending on the release.
#[derive(Default)]
struct EntityBody(EntityProxy);

impl Decode for EntityBody {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        if reader.class()?.as_deref() == Some("EntityProxy") {
            return EntityProxy::decode(reader).map(Self);
        }
        let request = EntityProxyRequest::decode(reader)?;
        Ok(Self(request.entity.unwrap_or_default()))
    }
}
