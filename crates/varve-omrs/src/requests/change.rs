//! Bodies of calls that write.

use crate::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceProperties,
    Relationship,
};
use crate::json::json_object;
use crate::types::InstanceStatus;

json_object! {
    /// `addEntity` and `addExternalEntity`.
    pub struct EntityCreateRequest {
        @class "EntityCreateRequest";
        /// The type; mandatory.
        type_guid: Option<String> = "entityTypeGUID",
        /// The properties.
        properties: Option<InstanceProperties> = "initialProperties",
        /// The classifications. Only their name, properties and origin are used.
        classifications: Vec<Classification> = "initialClassifications",
        /// The status; absent = the type's initial status.
        status: Option<InstanceStatus> = "initialStatus",
        /// The id of the external source; absent = this repository.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The external source's name.
        metadata_collection_name: Option<String> = "metadataCollectionName",
    }
}

json_object! {
    /// `addRelationship` and `addExternalRelationship`.
    pub struct RelationshipCreateRequest {
        @class "RelationshipCreateRequest";
        /// The type; mandatory.
        type_guid: Option<String> = "relationshipTypeGUID",
        /// The properties.
        properties: Option<InstanceProperties> = "initialProperties",
        /// The entity at the first end; mandatory.
        entity_one_guid: Option<String> = "entityOneGUID",
        /// The entity at the second end; mandatory.
        entity_two_guid: Option<String> = "entityTwoGUID",
        /// The status; absent = the type's initial status.
        status: Option<InstanceStatus> = "initialStatus",
        /// The id of the external source; absent = this repository.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The external source's name.
        metadata_collection_name: Option<String> = "metadataCollectionName",
    }
}

json_object! {
    /// New properties, which replace all present ones.
    pub struct InstancePropertiesRequest {
        @class "InstancePropertiesRequest";
        /// The properties.
        properties: Option<InstanceProperties> = "instanceProperties",
    }
}

json_object! {
    /// `classifyEntity` with home and origin.
    pub struct ClassificationRequest {
        @class "ClassificationRequest";
        /// The id of the external source; absent = this repository.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The external source's name.
        metadata_collection_name: Option<String> = "metadataCollectionName",
        /// Whether it is assigned or propagated.
        origin: Option<ClassificationOrigin> = "classificationOrigin",
        /// The GUID of the entity from which it is propagated.
        origin_guid: Option<String> = "classificationOriginGUID",
        /// The classification's properties.
        properties: Option<InstanceProperties> = "classificationProperties",
    }
}

json_object! {
    /// `classifyEntity` with home and origin, for an entity given as a proxy.
    pub struct ClassificationProxyRequest {
        @class "ClassificationProxyRequest";
        @base
        /// The classification.
        classification: ClassificationRequest;
        /// The entity.
        entity: Option<EntityProxy> = "entityProxy",
    }
}

json_object! {
    /// A classification's properties, for an entity given as a proxy.
    pub struct ProxyClassificationRequest {
        @class "ProxyClassificationRequest";
        @base
        /// The properties.
        classification: InstancePropertiesRequest;
        /// The entity.
        entity: Option<EntityProxy> = "entityProxy",
    }
}

impl From<ProxyClassificationRequest> for ClassificationProxyRequest {
    fn from(request: ProxyClassificationRequest) -> Self {
        Self {
            classification: ClassificationRequest {
                properties: request.classification.properties,
                ..ClassificationRequest::default()
            },
            entity: request.entity,
        }
    }
}

json_object! {
    /// An entity given as a proxy.
    pub struct EntityProxyRequest {
        @class "EntityProxyRequest" | "OMRSAPIRequest";
        /// The entity.
        entity: Option<EntityProxy> = "entityProxy",
    }
}

json_object! {
    /// A reference copy of a classification.
    pub struct ClassificationWithEntityRequest {
        @class "ClassificationWithEntityRequest";
        /// The classification.
        classification: Option<Classification> = "classification",
        /// The entity that carries it.
        entity: Option<EntityDetail> = "entity",
        /// A proxy of the entity, if the caller has no more; since Egeria 4.0.
        proxy: Option<EntityProxy> = "entityProxy",
    }
}

impl ClassificationWithEntityRequest {
    /// The GUID of the classified entity; `None` if neither entity nor proxy is given.
    #[must_use]
    pub fn entity_guid(&self) -> Option<&str> {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.header.guid());
        let entity = self.entity.as_ref();
        entity.map_or(proxy, |entity| Some(entity.header.guid()))
    }
}

json_object! {
    /// Reference copies of many instances.
    pub struct InstanceGraphRequest {
        @class "InstanceGraphRequest";
        /// The entities.
        entities: Vec<EntityDetail> = "entityElementList",
        /// The relationships.
        relationships: Vec<Relationship> = "relationshipElementList",
    }
}
