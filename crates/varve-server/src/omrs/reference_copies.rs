//! Calls about copies of instances whose home is another repository. The bodies of most calls are
//! bare instances.

use varve_omrs::OmrsError;
use varve_omrs::error::Message::NullReferenceInstance;
use varve_omrs::requests::VoidResponse;

use super::call::call;
use crate::route::{Parameter, Route};

const HOME: &[Parameter] = &[Parameter::text("homeMetadataCollectionId")];

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("saveEntityReferenceCopy", post "instances/entities/reference-copy", Write, VoidResponse, |call| {
        let entity = call.instance(NullReferenceInstance)?;
        done(call.repository().save_entity_reference_copy(call.user(), entity))
    }),
    call!("deleteEntityReferenceCopy", post "instances/entities/reference-copy/delete", Write, VoidResponse, |call| {
        let entity = call.instance(NullReferenceInstance)?;
        done(call.repository().delete_entity_reference_copy(call.user(), entity))
    }),
    call!("purgeEntityReferenceCopy", post "instances/entities/reference-copy/purge", Write, VoidResponse, |call| {
        let entity = call.instance(NullReferenceInstance)?;
        done(call.repository().purge_entity_reference_copy(call.user(), entity))
    }),
    call!("purgeEntityReferenceCopy", post "instances/entities/reference-copy/{guid}/purge", Write, VoidResponse, |call| {
        let (home, expected) = (call.text("homeMetadataCollectionId")?, call.body()?);
        done(call.repository().purge_entity_reference_copy_by_id(call.user(), call.guid(), home, &expected))
    })
    .with(HOME),
    call!("refreshEntityReferenceCopy", post "instances/entities/reference-copy/{guid}/refresh", Write, VoidResponse, |call| {
        let (home, expected) = (call.text("homeMetadataCollectionId")?, call.body()?);
        done(call.repository().refresh_entity_reference_copy(call.user(), call.guid(), home, &expected))
    })
    .with(HOME),
    call!("saveClassificationReferenceCopy", post "instances/entities/classifications/reference-copy", Write, VoidResponse, |call| {
        done(call.repository().save_classification_reference_copy(call.user(), call.body()?))
    }),
    call!("purgeClassificationReferenceCopy", post "instances/entities/classifications/reference-copy/purge", Write, VoidResponse, |call| {
        done(call.repository().purge_classification_reference_copy(call.user(), call.body()?))
    }),
    call!("saveRelationshipReferenceCopy", post "instances/relationships/reference-copy", Write, VoidResponse, |call| {
        let relationship = call.instance(NullReferenceInstance)?;
        done(call.repository().save_relationship_reference_copy(call.user(), relationship))
    }),
    call!("deleteRelationshipReferenceCopy", post "instances/relationships/reference-copy/delete", Write, VoidResponse, |call| {
        let relationship = call.instance(NullReferenceInstance)?;
        done(call.repository().delete_relationship_reference_copy(call.user(), relationship))
    }),
    call!("purgeRelationshipReferenceCopy", post "instances/relationships/reference-copy/purge", Write, VoidResponse, |call| {
        let relationship = call.instance(NullReferenceInstance)?;
        done(call.repository().purge_relationship_reference_copy(call.user(), relationship))
    }),
    call!("purgeRelationshipReferenceCopy", post "instances/relationships/reference-copy/{guid}/purge", Write, VoidResponse, |call| {
        let (home, expected) = (call.text("homeMetadataCollectionId")?, call.body()?);
        let user = call.user();
        done(call.repository().purge_relationship_reference_copy_by_id(user, call.guid(), home, &expected))
    })
    .with(HOME),
    call!("refreshRelationshipReferenceCopy", post "instances/relationships/reference-copy/{guid}/refresh", Write, VoidResponse, |call| {
        let (home, expected) = (call.text("homeMetadataCollectionId")?, call.body()?);
        let user = call.user();
        done(call.repository().refresh_relationship_reference_copy(user, call.guid(), home, &expected))
    })
    .with(HOME),
    call!("saveInstanceReferenceCopies", post "instances", Write, VoidResponse, |call| {
        done(call.repository().save_instance_reference_copies(call.user(), call.body()?))
    })
    .batch(),
];

fn done(result: Result<(), OmrsError>) -> Result<VoidResponse, OmrsError> {
    result.map(|()| VoidResponse::ok())
}
