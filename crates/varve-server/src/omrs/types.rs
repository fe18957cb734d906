//! Calls about types, and the id of the metadata collection.

use varve_omrs::OmrsError;
use varve_omrs::requests::{
    AttributeTypeDefListResponse, AttributeTypeDefResponse, BooleanResponse,
    MetadataCollectionIdResponse, TypeDefDeleteRequest, TypeDefGalleryResponse,
    TypeDefListResponse, TypeDefProperties, TypeDefReIdentifyRequest, TypeDefResponse,
    VoidResponse,
};
use varve_omrs::types::{TypeDefGallery, TypeDefPatch};

use super::call::{Call, call};
use crate::route::{Parameter, Route};

/// The calls of this module.
pub(super) static ROUTES: &[Route] = &[
    call!("getMetadataCollectionId", get "metadata-collection-id", Read, MetadataCollectionIdResponse, collection_id),
    call!(anonymous "getMetadataCollectionId", get "metadata-collection-id", Read, MetadataCollectionIdResponse, collection_id),
    call!("getAllTypes", get "types/all", Search, TypeDefGalleryResponse, |call| {
        Ok(gallery(call.repository().get_all_types()?))
    }),
    call!("findTypesByName", get "types/by-name", Search, TypeDefGalleryResponse, |call| {
        Ok(gallery(call.repository().find_types_by_name(call.text("name")?)?))
    })
    .with(&[Parameter::text("name")]),
    call!("findTypeDefsByCategory", post "types/typedefs/by-category", Search, TypeDefListResponse, |call| {
        let found = call.repository().find_type_defs_by_category(call.optional_body()?)?;
        Ok(TypeDefListResponse::ok(found))
    }),
    call!("findAttributeTypeDefsByCategory", post "types/attribute-typedefs/by-category", Search, AttributeTypeDefListResponse, |call| {
        let found = call.repository().find_attribute_type_defs_by_category(call.optional_body()?)?;
        Ok(AttributeTypeDefListResponse::ok(found))
    }),
    call!("findTypeDefsByProperty", get "types/typedefs/by-property", Search, TypeDefListResponse, by_property),
    call!("findTypeDefsByProperty", post "types/typedefs/by-property", Search, TypeDefListResponse, by_property),
    call!("findTypesByExternalID", get "types/typedefs/by-external-id", Search, TypeDefListResponse, |call| {
        let given = |name| Ok::<_, OmrsError>(call.query(name)?.filter(|text| !text.is_empty()));
        let (standard, organization) = (given("standard")?, given("organization")?);
        let identifier = given("identifier")?;
        let found = call.repository().find_types_by_external_id(standard, organization, identifier)?;
        Ok(TypeDefListResponse::ok(found))
    })
    .with(&[Parameter::text("standard"), Parameter::text("organization"), Parameter::text("identifier")]),
    call!("searchForTypeDefs", get "types/typedefs/by-property-value", Search, TypeDefListResponse, |call| {
        let found = call.repository().search_for_type_defs(call.text("searchCriteria")?)?;
        Ok(TypeDefListResponse::ok(found))
    })
    .with(&[Parameter::text("searchCriteria")]),
    call!("getTypeDefByGUID", get "types/typedef/{guid}", Read, TypeDefResponse, |call| {
        Ok(TypeDefResponse::ok(Some(call.repository().get_type_def_by_guid(call.guid())?)))
    }),
    call!("getTypeDefByName", get "types/typedef/name/{name}", Read, TypeDefResponse, |call| {
        Ok(TypeDefResponse::ok(Some(call.repository().get_type_def_by_name(call.path("name"))?)))
    }),
    call!("getAttributeTypeDefByGUID", get "types/attribute-typedef/{guid}", Read, AttributeTypeDefResponse, |call| {
        let found = call.repository().get_attribute_type_def_by_guid(call.guid())?;
        Ok(AttributeTypeDefResponse::ok(Some(found)))
    }),
    call!("getAttributeTypeDefByName", get "types/attribute-typedef/name/{name}", Read, AttributeTypeDefResponse, |call| {
        let found = call.repository().get_attribute_type_def_by_name(call.path("name"))?;
        Ok(AttributeTypeDefResponse::ok(Some(found)))
    }),
    call!("addTypeDefGallery", post "types", Types, VoidResponse, |call| {
        call.repository().add_type_def_gallery(call.needed_body("newTypes")?)?;
        Ok(VoidResponse::ok())
    })
    .batch(),
    call!("addTypeDef", post "types/typedef", Types, VoidResponse, |call| {
        call.repository().add_type_def(call.needed_body("newTypeDef")?)?;
        Ok(VoidResponse::ok())
    }),
    call!("addAttributeTypeDef", post "types/attribute-typedef", Types, VoidResponse, |call| {
        call.repository().add_attribute_type_def(call.needed_body("newAttributeTypeDef")?)?;
        Ok(VoidResponse::ok())
    }),
    call!("verifyTypeDef", post "types/typedef/compatibility", Types, BooleanResponse, |call| {
        Ok(BooleanResponse::ok(call.repository().verify_type_def(call.needed_body("typeDef")?)?))
    }),
    call!("verifyAttributeTypeDef", post "types/attribute-typedef/compatibility", Types, BooleanResponse, |call| {
        let def = call.needed_body("attributeTypeDef")?;
        Ok(BooleanResponse::ok(call.repository().verify_attribute_type_def(def)?))
    }),
    call!("updateTypeDef", post "types/typedef/update", Types, TypeDefResponse, |call| {
        let patch = call.needed_body::<TypeDefPatch>("typeDefPatch")?;
        Ok(TypeDefResponse::ok(Some(call.repository().update_type_def(patch)?)))
    }),
    call!("deleteTypeDef", post "types/typedef/{guid}/delete", Types, VoidResponse, |call| {
        call.repository().delete_type_def(call.guid(), &obsolete_name(call)?)?;
        Ok(VoidResponse::ok())
    })
    .with(&[Parameter::text("name")]),
    call!("deleteAttributeTypeDef", post "types/attribute-typedef/{guid}/delete", Types, VoidResponse, |call| {
        call.repository().delete_attribute_type_def(call.guid(), &obsolete_name(call)?)?;
        Ok(VoidResponse::ok())
    })
    .with(&[Parameter::text("name")]),
    call!("reIdentifyTypeDef", post "types/typedef/{guid}/identifier", Types, TypeDefResponse, |call| {
        let request = call.body::<TypeDefReIdentifyRequest>()?;
        let def = call.repository().re_identify_type_def(call.guid(), &request)?;
        Ok(TypeDefResponse::ok(Some(def)))
    }),
    call!("reIdentifyAttributeTypeDef", post "types/attribute-typedef/{guid}/identifier", Types, AttributeTypeDefResponse, |call| {
        let request = call.body::<TypeDefReIdentifyRequest>()?;
        let def = call.repository().re_identify_attribute_type_def(call.guid(), &request)?;
        Ok(AttributeTypeDefResponse::ok(Some(def)))
    }),
];

fn collection_id(call: &Call<'_>) -> Result<MetadataCollectionIdResponse, OmrsError> {
    let id = call.repository().get_metadata_collection_id();
    Ok(MetadataCollectionIdResponse::ok(Some(id.to_owned())))
}

fn gallery(found: TypeDefGallery) -> TypeDefGalleryResponse {
    TypeDefGalleryResponse::ok(found.attribute_types, found.types)
}

/// Egeria's servers take this call as a GET with a body. Not every client can send that, so POST is
/// accepted too.
fn by_property(call: &Call<'_>) -> Result<TypeDefListResponse, OmrsError> {
    let request = call.body::<TypeDefProperties>()?;
    let names: Vec<String> = request.properties.into_keys().collect();
    let found = call.repository().find_type_defs_by_property(&names)?;
    Ok(TypeDefListResponse::ok(found))
}

/// The name of the type to delete: clients send it in the body, Egeria's servers take it from the
/// query.
fn obsolete_name(call: &Call<'_>) -> Result<String, OmrsError> {
    let in_body = call.optional_body::<TypeDefDeleteRequest>()?;
    match in_body.and_then(|request| request.name) {
        Some(name) => Ok(name),
        None => call.text("name").map(str::to_owned),
    }
}
