//! Bodies that name types.

use std::collections::BTreeMap;

use crate::json::{RawJson, json_object};
use crate::types::TypeDefSummary;

json_object! {
    /// Which type the caller takes an instance to be of.
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
        /// The type it has.
        current: Option<TypeDefSummary> = "currentTypeDef",
        /// The type it is to have.
        new: Option<TypeDefSummary> = "newTypeDef",
    }
}

json_object! {
    /// `reIdentifyTypeDef` and `reIdentifyAttributeTypeDef`.
    pub struct TypeDefReIdentifyRequest {
        @class "TypeDefReIdentifyRequest";
        /// The name it has.
        original_name: Option<String> = "originalTypeDefName",
        /// The GUID it is to have.
        new_guid: Option<String> = "newTypeDefGUID",
        /// The name it is to have.
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
    /// `findTypeDefsByProperty`: the names count, whatever stands for values.
    pub struct TypeDefProperties {
        @class "TypeDefProperties";
        /// The properties that a type must have.
        properties: BTreeMap<String, RawJson> = "typeDefProperties",
    }
}
