//! Calls that change the GUID, type or home of an instance.

use varve_omrs::OmrsError;

use super::call::{Call, call};
use super::{entities, relationships};
use crate::route::{Parameter, Route};

const NEW_ENTITY: &[Parameter] = &[Parameter::text("newEntityGUID")];
const NEW_RELATIONSHIP: &[Parameter] = &[Parameter::text("newRelationshipGUID")];
const NEW_HOME: &[Parameter] = &[
    Parameter::text("newHomeMetadataCollectionId"),
    Parameter::text("newHomeMetadataCollectionName"),
];

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("reIdentifyEntity", post "instances/entity/{guid}/identity", Write, EntityDetailResponse, |call| {
        let new = call.text("newEntityGUID")?;
        let expected = call.body()?;
        entities::respond(call.repository().re_identify_entity(call.user(), call.guid(), new, &expected))
    })
    .with(NEW_ENTITY),
    call!("reTypeEntity", post "instances/entity/{guid}/type", Write, EntityDetailResponse, |call| {
        entities::respond(call.repository().re_type_entity(call.user(), call.guid(), &call.body()?))
    }),
    call!("reHomeEntity", post "instances/entity/{guid}/home/{homeId}", Write, EntityDetailResponse, |call| {
        let (home, (new, name)) = (call.path("homeId"), new_home(call)?);
        let expected = call.body()?;
        let user = call.user();
        entities::respond(call.repository().re_home_entity(user, call.guid(), home, new, name, &expected))
    })
    .with(NEW_HOME),
    call!("reIdentifyRelationship", post "instances/relationship/{guid}/identity", Write, RelationshipResponse, |call| {
        let new = call.text("newRelationshipGUID")?;
        let expected = call.body()?;
        let user = call.user();
        relationships::respond(call.repository().re_identify_relationship(user, call.guid(), new, &expected))
    })
    .with(NEW_RELATIONSHIP),
    call!("reTypeRelationship", post "instances/relationship/{guid}/type", Write, RelationshipResponse, |call| {
        relationships::respond(call.repository().re_type_relationship(call.user(), call.guid(), &call.body()?))
    }),
    call!("reHomeRelationship", post "instances/relationship/{guid}/home/{homeId}", Write, RelationshipResponse, |call| {
        let (home, (new, name)) = (call.path("homeId"), new_home(call)?);
        let expected = call.body()?;
        let user = call.user();
        relationships::respond(call.repository().re_home_relationship(user, call.guid(), home, new, name, &expected))
    })
    .with(NEW_HOME),
];

/// The id and the name of the new home.
fn new_home<'a>(call: &Call<'a>) -> Result<(&'a str, Option<&'a str>), OmrsError> {
    let name = call.query("newHomeMetadataCollectionName")?;
    let id = call.text("newHomeMetadataCollectionId")?;
    Ok((id, name.filter(|name| !name.is_empty())))
}
