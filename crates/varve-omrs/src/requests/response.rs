//! Responses: an envelope with success or failure, and the content.

use std::collections::BTreeMap;

use crate::error::OmrsError;
use crate::instances::{Classification, EntityDetail, EntitySummary, Relationship};
use crate::json::{Decode, Encode, RawJson, Shared, json_object};
use crate::types::{AttributeTypeDef, TypeDef};

/// `relatedHTTPCode` of a successful call.
const OK: i32 = 200;
/// The property of a failure with its stable code, the same as in the other APIs.
const CODE: &str = "varveCode";

json_object! {
    /// The members of every response. The HTTP status is 200 in any case.
    pub struct ResponseEnvelope {
        /// 200, or the code that an HTTP status would have for the failure.
        related_http_code: i32 = "relatedHTTPCode",
        /// The Java class of the exception that the client throws; absent after success.
        exception_class_name: Option<String> = "exceptionClassName",
        /// The class of the exception that caused it.
        caused_by: Option<String> = "exceptionCausedBy",
        /// The method that failed.
        action_description: Option<String> = "actionDescription",
        /// The message of the failure.
        message: Option<String> = "exceptionErrorMessage",
        /// The message's identifier.
        message_id: Option<String> = "exceptionErrorMessageId",
        /// The parameters of the message.
        message_parameters: Vec<String> = "exceptionErrorMessageParameters",
        /// The action of the repository.
        system_action: Option<String> = "exceptionSystemAction",
        /// The action that the user can take.
        user_action: Option<String> = "exceptionUserAction",
        /// Further values for programs.
        properties: BTreeMap<String, RawJson> = "exceptionProperties",
    }
}

impl ResponseEnvelope {
    /// The envelope of a successful call.
    #[must_use]
    pub fn ok() -> Self {
        Self {
            related_http_code: OK,
            ..Self::default()
        }
    }

    /// The envelope of a failed call of `method` of `repository`. Both are added to the parameters
    /// of the message.
    #[must_use]
    pub fn failed(error: &OmrsError, method: &str, repository: &str) -> Self {
        let mut parameters = error.parameters.clone();
        parameters.extend([method.to_owned(), repository.to_owned()]);
        let said = error.message.text(&error.parameters);
        let mut properties: BTreeMap<_, _> = error
            .properties
            .iter()
            .map(|(name, value)| (name.clone(), RawJson::from_string(value)))
            .collect();
        let code = RawJson::from_string(error.message.code());
        properties.insert(CODE.to_owned(), code);
        Self {
            related_http_code: i32::from(error.related_http_code()),
            exception_class_name: Some(error.exception.class_name()),
            caused_by: None,
            action_description: Some(method.to_owned()),
            message: Some(format!("{said} (call {method} of repository {repository})")),
            message_id: Some(error.message.id().to_owned()),
            message_parameters: parameters,
            system_action: Some(error.message.system_action().to_owned()),
            user_action: Some(error.message.user_action().to_owned()),
            properties,
        }
    }
}

/// A response of a given class. A client accepts only this class for a call, even for a failure.
pub trait Response: Default + Encode + Decode {
    /// The response of a failed call of `method` of `repository`.
    #[must_use]
    fn failed(error: &OmrsError, method: &str, repository: &str) -> Self;
}

/// Declares a response, with a constructor from its content.
macro_rules! response {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $class:literal {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal,)*
        }
    ) => {
        json_object! {
            $(#[$meta])*
            pub struct $name {
                @class $class;
                @base
                /// Success or failure.
                envelope: ResponseEnvelope;
                $($(#[$field_meta])* $field: $type = $key,)*
            }
        }

        impl $name {
            /// The response of a successful call.
            #[must_use]
            pub fn ok($($field: $type),*) -> Self {
                Self { envelope: ResponseEnvelope::ok(), $($field),* }
            }
        }

        impl Response for $name {
            fn failed(error: &OmrsError, method: &str, repository: &str) -> Self {
                Self {
                    envelope: ResponseEnvelope::failed(error, method, repository),
                    $($field: Default::default(),)*
                }
            }
        }
    };
}

response! {
    /// Success or failure, without content.
    pub struct VoidResponse "VoidResponse" {}
}

response! {
    /// A truth value.
    pub struct BooleanResponse "BooleanResponse" {
        /// The answer.
        flag: bool = "flag",
    }
}

response! {
    /// The id of the repository's metadata collection.
    pub struct MetadataCollectionIdResponse "MetadataCollectionIdResponse" {
        /// The GUID.
        metadata_collection_id: Option<String> = "metadataCollectionId",
    }
}

response! {
    /// A type.
    pub struct TypeDefResponse "TypeDefResponse" {
        /// The definition.
        type_def: Option<TypeDef> = "typeDef",
    }
}

response! {
    /// An attribute type.
    pub struct AttributeTypeDefResponse "AttributeTypeDefResponse" {
        /// The definition.
        attribute_type: Option<AttributeTypeDef> = "attributeTypeDef",
    }
}

response! {
    /// Some types.
    pub struct TypeDefListResponse "TypeDefListResponse" {
        /// The definitions.
        types: Vec<TypeDef> = "typeDefs",
    }
}

response! {
    /// Some attribute types.
    pub struct AttributeTypeDefListResponse "AttributeTypeDefListResponse" {
        /// The definitions.
        attribute_types: Vec<AttributeTypeDef> = "attributeTypeDefs",
    }
}

response! {
    /// Types and attribute types.
    pub struct TypeDefGalleryResponse "TypeDefGalleryResponse" {
        /// The attribute types.
        attribute_types: Vec<AttributeTypeDef> = "attributeTypeDefs",
        /// The types.
        types: Vec<TypeDef> = "typeDefs",
    }
}

response! {
    /// An entity; absent if the call allows an unknown one.
    pub struct EntityDetailResponse "EntityDetailResponse" {
        /// The entity.
        entity: Option<EntityDetail> = "entity",
    }
}

response! {
    /// An entity without its properties.
    pub struct EntitySummaryResponse "EntitySummaryResponse" {
        /// The entity.
        entity: Option<EntitySummary> = "entity",
    }
}

response! {
    /// Some entities.
    pub struct EntityListResponse "EntityListResponse" {
        /// The position of the first entity.
        offset: i32 = "offset",
        /// The most entities in the list; 0 = all.
        page_size: i32 = "pageSize",
        /// The URL of the next page.
        next_page_url: Option<String> = "nextPageURL",
        /// The entities.
        entities: Vec<Shared<EntityDetail>> = "entities",
    }
}

response! {
    /// A relationship; absent if the call allows an unknown one.
    pub struct RelationshipResponse "RelationshipResponse" {
        /// The relationship.
        relationship: Option<Relationship> = "relationship",
    }
}

response! {
    /// Some relationships.
    pub struct RelationshipListResponse "RelationshipListResponse" {
        /// The position of the first relationship.
        offset: i32 = "offset",
        /// The most relationships in the list; 0 = all.
        page_size: i32 = "pageSize",
        /// The URL of the next page.
        next_page_url: Option<String> = "nextPageURL",
        /// The relationships.
        relationships: Vec<Shared<Relationship>> = "relationships",
    }
}

response! {
    /// A subgraph.
    pub struct InstanceGraphResponse "InstanceGraphResponse" {
        /// The entities.
        entities: Vec<Shared<EntityDetail>> = "entityElementList",
        /// The relationships.
        relationships: Vec<Shared<Relationship>> = "relationshipElementList",
    }
}

response! {
    /// Some classifications.
    pub struct ClassificationListResponse "ClassificationListResponse" {
        /// The classifications.
        classifications: Vec<Classification> = "classifications",
    }
}

response! {
    /// A classification.
    pub struct ClassificationResponse "ClassificationResponse" {
        /// The classification.
        classification: Option<Classification> = "classification",
    }
}
