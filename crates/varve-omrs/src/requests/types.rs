//! Bodies that refer to types.

use std::collections::BTreeMap;

use crate::json::{RawJson, json_object};
use crate::types::TypeDefSummary;

json_object! {
    /// The type that the caller expects an instance to have.
    pub struct TypeDefValidationForRequest {
        @class "TypeDefValidationForRequest";
        /// The type's GUID.
        type_guid: Option<String> = "typeDefGUID",
        /// The type's name.
        type_name: Option<String> = "typeDefName",
    }
}

json_object! {
    /// `reTypeEntity` and `reTypeRelationship`.
    pub struct TypeDefChangeRequest {
        @class "TypeDefChangeRequest";
        /// The present type.
        current: Option<TypeDefSummary> = "currentTypeDef",
        /// The new type.
        new: Option<TypeDefSummary> = "newTypeDef",
    }
}

json_object! {
    /// `reIdentifyTypeDef` and `reIdentifyAttributeTypeDef`.
    pub struct TypeDefReIdentifyRequest {
        @class "TypeDefReIdentifyRequest";
        /// The present name.
        original_name: Option<String> = "originalTypeDefName",
        /// The new GUID.
        new_guid: Option<String> = "newTypeDefGUID",
        /// The new name.
        new_name: Option<String> = "newTypeDefName",
    }
}

json_object! {
    /// `deleteTypeDef` and `deleteAttributeTypeDef`.
    pub struct TypeDefDeleteRequest {
        @class "TypeDefDeleteRequest";
        /// The type's name.
        name: Option<String> = "obsoleteTypeDefName",
    }
}

json_object! {
    /// `findTypeDefsByProperty`. Only the names are used, not the values.
    pub struct TypeDefProperties {
        @class "TypeDefProperties";
        /// The properties that a type must have.
        properties: BTreeMap<String, RawJson> = "typeDefProperties",
    }
}
