//! Entities, relationships and classifications.

use super::{ClassificationOrigin, InstanceAuditHeader, InstanceHeader, InstanceProperties};
use crate::json::{Shared, json_object};

json_object! {
    /// An entity without its properties.
    pub struct EntitySummary {
        @class "EntitySummary" | "EntityDetail" | "EntityProxy";
        @base
        /// What is known of it.
        header: InstanceHeader;
        /// The classifications it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
    }
}

json_object! {
    /// An entity.
    pub struct EntityDetail {
        @class "EntityDetail";
        @base
        /// What is known of it.
        header: InstanceHeader;
        /// The classifications it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
        /// Its properties.
        properties: Option<InstanceProperties> = "properties",
    }
}

json_object! {
    /// What stands for an entity at the end of a relationship, and where only a relationship to it
    /// is known.
    pub struct EntityProxy {
        @class "EntityProxy";
        @base
        /// What is known of it.
        header: InstanceHeader;
        /// The classifications it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
        /// Those of its properties that are unique.
        unique_properties: Option<InstanceProperties> = "uniqueProperties",
    }
}

json_object! {
    /// A relationship between two entities.
    pub struct Relationship {
        @class "Relationship";
        @base
        /// What is known of it.
        header: InstanceHeader;
        /// Its properties.
        properties: Option<InstanceProperties> = "properties",
        /// The entity at the first end.
        entity_one: Option<Shared<EntityProxy>> = "entityOneProxy",
        /// The entity at the second end.
        entity_two: Option<Shared<EntityProxy>> = "entityTwoProxy",
    }
}

json_object! {
    /// A classification of an entity. It has no GUID: the entity and the name identify it.
    pub struct Classification {
        @class "Classification";
        @base
        /// What is known of it.
        audit: InstanceAuditHeader;
        /// The name of its type.
        name: Option<String> = "name",
        /// Its properties.
        properties: Option<InstanceProperties> = "properties",
        /// How it came to its entity.
        origin: Option<ClassificationOrigin> = "classificationOrigin",
        /// The entity it spread from.
        origin_guid: Option<String> = "classificationOriginGUID",
    }
}

impl Classification {
    /// The name of its type; empty where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

impl EntityDetail {
    /// The classification with this name.
    #[must_use]
    pub fn classification(&self, name: &str) -> Option<&Classification> {
        self.classifications.iter().find(|of| of.name() == name)
    }
}
