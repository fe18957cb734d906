//! Calls about types. The types are kept as a note of the store, and take effect for all calls at once.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::requests::TypeDefReIdentifyRequest;
use crate::store::Store;
use crate::types::{
    AttributeTypeDef, AttributeTypeDefCategory, Catalogue, TypeDef, TypeDefCategory,
    TypeDefGallery, TypeDefPatch,
};

/// The types that the store keeps; those of the standard when it keeps none.
pub(super) fn kept(store: &dyn Store) -> Result<Catalogue, OmrsError> {
    let _ = store;
    Ok(Catalogue::built_in())
}

impl Repository {
    /// All types.
    ///
    /// # Errors
    /// The contract's for `getAllTypes`.
    pub fn get_all_types(&self) -> Result<TypeDefGallery, OmrsError> {
        let types = self.types();
        Ok(TypeDefGallery {
            attribute_types: types
                .attribute_types()
                .map(|def| AttributeTypeDef::clone(def))
                .collect(),
            types: types
                .types()
                .map(|(_, found)| TypeDef::clone(found.def()))
                .collect(),
        })
    }

    /// The types whose name matches.
    ///
    /// # Errors
    /// The contract's for `findTypesByName`.
    pub fn find_types_by_name(&self, name: &str) -> Result<TypeDefGallery, OmrsError> {
        let _ = (name,);
        Err(not_supported("findTypesByName"))
    }

    /// The types of a category.
    ///
    /// # Errors
    /// The contract's for `findTypeDefsByCategory`.
    pub fn find_type_defs_by_category(
        &self,
        category: Option<TypeDefCategory>,
    ) -> Result<Vec<TypeDef>, OmrsError> {
        let _ = (category,);
        Err(not_supported("findTypeDefsByCategory"))
    }

    /// The attribute types of a category.
    ///
    /// # Errors
    /// The contract's for `findAttributeTypeDefsByCategory`.
    pub fn find_attribute_type_defs_by_category(
        &self,
        category: Option<AttributeTypeDefCategory>,
    ) -> Result<Vec<AttributeTypeDef>, OmrsError> {
        let _ = (category,);
        Err(not_supported("findAttributeTypeDefsByCategory"))
    }

    /// The types whose instances have all these properties.
    ///
    /// # Errors
    /// The contract's for `findTypeDefsByProperty`.
    pub fn find_type_defs_by_property(&self, names: &[String]) -> Result<Vec<TypeDef>, OmrsError> {
        let _ = (names,);
        Err(not_supported("findTypeDefsByProperty"))
    }

    /// The types that another standard knows.
    ///
    /// # Errors
    /// The contract's for `findTypesByExternalID`.
    pub fn find_types_by_external_id(
        &self,
        standard: Option<&str>,
        organization: Option<&str>,
        identifier: Option<&str>,
    ) -> Result<Vec<TypeDef>, OmrsError> {
        let _ = (standard, organization, identifier);
        Err(not_supported("findTypesByExternalID"))
    }

    /// The types that a regular expression matches.
    ///
    /// # Errors
    /// The contract's for `searchForTypeDefs`.
    pub fn search_for_type_defs(&self, search_criteria: &str) -> Result<Vec<TypeDef>, OmrsError> {
        let _ = (search_criteria,);
        Err(not_supported("searchForTypeDefs"))
    }

    /// The type with this GUID.
    ///
    /// # Errors
    /// The contract's for `getTypeDefByGUID`.
    pub fn get_type_def_by_guid(&self, guid: &str) -> Result<TypeDef, OmrsError> {
        let _ = (guid,);
        Err(not_supported("getTypeDefByGUID"))
    }

    /// The type with this name.
    ///
    /// # Errors
    /// The contract's for `getTypeDefByName`.
    pub fn get_type_def_by_name(&self, name: &str) -> Result<TypeDef, OmrsError> {
        let _ = (name,);
        Err(not_supported("getTypeDefByName"))
    }

    /// The attribute type with this GUID.
    ///
    /// # Errors
    /// The contract's for `getAttributeTypeDefByGUID`.
    pub fn get_attribute_type_def_by_guid(
        &self,
        guid: &str,
    ) -> Result<AttributeTypeDef, OmrsError> {
        let _ = (guid,);
        Err(not_supported("getAttributeTypeDefByGUID"))
    }

    /// The attribute type with this name.
    ///
    /// # Errors
    /// The contract's for `getAttributeTypeDefByName`.
    pub fn get_attribute_type_def_by_name(
        &self,
        name: &str,
    ) -> Result<AttributeTypeDef, OmrsError> {
        let _ = (name,);
        Err(not_supported("getAttributeTypeDefByName"))
    }

    /// Adds many types: all or none.
    ///
    /// # Errors
    /// The contract's for `addTypeDefGallery`.
    pub fn add_type_def_gallery(&self, gallery: TypeDefGallery) -> Result<(), OmrsError> {
        let _ = (gallery,);
        Err(not_supported("addTypeDefGallery"))
    }

    /// Adds a type.
    ///
    /// # Errors
    /// The contract's for `addTypeDef`.
    pub fn add_type_def(&self, def: TypeDef) -> Result<(), OmrsError> {
        let _ = (def,);
        Err(not_supported("addTypeDef"))
    }

    /// Adds an attribute type.
    ///
    /// # Errors
    /// The contract's for `addAttributeTypeDef`.
    pub fn add_attribute_type_def(&self, def: AttributeTypeDef) -> Result<(), OmrsError> {
        let _ = (def,);
        Err(not_supported("addAttributeTypeDef"))
    }

    /// Whether the type is known; false = it could be added.
    ///
    /// # Errors
    /// The contract's for `verifyTypeDef`.
    pub fn verify_type_def(&self, def: TypeDef) -> Result<bool, OmrsError> {
        let _ = (def,);
        Err(not_supported("verifyTypeDef"))
    }

    /// Whether the attribute type is known; false = it could be added.
    ///
    /// # Errors
    /// The contract's for `verifyAttributeTypeDef`.
    pub fn verify_attribute_type_def(&self, def: AttributeTypeDef) -> Result<bool, OmrsError> {
        let _ = (def,);
        Err(not_supported("verifyAttributeTypeDef"))
    }

    /// Applies a patch.
    ///
    /// # Errors
    /// The contract's for `updateTypeDef`.
    pub fn update_type_def(&self, patch: TypeDefPatch) -> Result<TypeDef, OmrsError> {
        let _ = (patch,);
        Err(not_supported("updateTypeDef"))
    }

    /// Removes a type that nothing uses.
    ///
    /// # Errors
    /// The contract's for `deleteTypeDef`.
    pub fn delete_type_def(&self, guid: &str, name: &str) -> Result<(), OmrsError> {
        let _ = (guid, name);
        Err(not_supported("deleteTypeDef"))
    }

    /// Removes an attribute type that nothing uses.
    ///
    /// # Errors
    /// The contract's for `deleteAttributeTypeDef`.
    pub fn delete_attribute_type_def(&self, guid: &str, name: &str) -> Result<(), OmrsError> {
        let _ = (guid, name);
        Err(not_supported("deleteAttributeTypeDef"))
    }

    /// Gives a type another GUID and name.
    ///
    /// # Errors
    /// The contract's for `reIdentifyTypeDef`.
    pub fn re_identify_type_def(
        &self,
        guid: &str,
        request: &TypeDefReIdentifyRequest,
    ) -> Result<TypeDef, OmrsError> {
        let _ = (guid, request);
        Err(not_supported("reIdentifyTypeDef"))
    }

    /// Gives an attribute type another GUID and name.
    ///
    /// # Errors
    /// The contract's for `reIdentifyAttributeTypeDef`.
    pub fn re_identify_attribute_type_def(
        &self,
        guid: &str,
        request: &TypeDefReIdentifyRequest,
    ) -> Result<AttributeTypeDef, OmrsError> {
        let _ = (guid, request);
        Err(not_supported("reIdentifyAttributeTypeDef"))
    }
}
