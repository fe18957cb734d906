//! Bodies of the calls that write.

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
        /// The classifications, of which name, properties and origin count.
        classifications: Vec<Classification> = "initialClassifications",
        /// The status; absent = the type's.
        status: Option<InstanceStatus> = "initialStatus",
        /// The external source; absent = this repository.
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
        /// The status; absent = the type's.
        status: Option<InstanceStatus> = "initialStatus",
        /// The external source; absent = this repository.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The external source's name.
        metadata_collection_name: Option<String> = "metadataCollectionName",
    }
}

json_object! {
    /// New properties, in the place of all old ones.
    pub struct InstancePropertiesRequest {
        @class "InstancePropertiesRequest";
        /// The properties.
        properties: Option<InstanceProperties> = "instanceProperties",
    }
}

json_object! {
    /// `classifyEntity` in full.
    pub struct ClassificationRequest {
        @class "ClassificationRequest";
        /// The external source; absent = this repository.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The external source's name.
        metadata_collection_name: Option<String> = "metadataCollectionName",
        /// How it comes to the entity.
        origin: Option<ClassificationOrigin> = "classificationOrigin",
        /// The entity it spreads from.
        origin_guid: Option<String> = "classificationOriginGUID",
        /// The classification's properties.
        properties: Option<InstanceProperties> = "classificationProperties",
    }
}

json_object! {
    /// `classifyEntity` in full, of an entity of which the caller has a proxy.
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
    /// A classification's properties, for an entity of which the caller has a proxy.
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
    /// An entity of which the caller has a proxy.
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
        /// What stands for the entity where no more is at hand: since Egeria 4.0.
        proxy: Option<EntityProxy> = "entityProxy",
    }
}

impl ClassificationWithEntityRequest {
    /// The GUID of the entity that the classification is for, if one was given at all.
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
