//! Entities, relationships and classifications.

use super::{ClassificationOrigin, InstanceAuditHeader, InstanceHeader, InstanceProperties};
use crate::json::{Shared, json_object};

json_object! {
    /// An entity without its properties.
    pub struct EntitySummary {
        @class "EntitySummary" | "EntityDetail" | "EntityProxy";
        @base
        /// The header.
        header: InstanceHeader;
        /// The classifications that it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
    }
}

json_object! {
    /// An entity.
    pub struct EntityDetail {
        @class "EntityDetail";
        @base
        /// The header.
        header: InstanceHeader;
        /// The classifications that it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
        /// Its properties.
        properties: Option<InstanceProperties> = "properties",
    }
}

json_object! {
    /// The part of an entity that a relationship needs, for the ends of relationships. For an
    /// entity of another repository it may be all that is known.
    pub struct EntityProxy {
        @class "EntityProxy";
        @base
        /// The header.
        header: InstanceHeader;
        /// The classifications that it carries.
        classifications: Shared<Vec<Classification>> = "classifications",
        /// Its unique properties.
        unique_properties: Option<InstanceProperties> = "uniqueProperties",
    }
}

json_object! {
    /// A relationship between two entities.
    pub struct Relationship {
        @class "Relationship";
        @base
        /// The header.
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
        /// The audit header.
        audit: InstanceAuditHeader;
        /// The name of its type.
        name: Option<String> = "name",
        /// Its properties.
        properties: Option<InstanceProperties> = "properties",
        /// Whether it was assigned or propagated.
        origin: Option<ClassificationOrigin> = "classificationOrigin",
        /// The GUID of the entity from which it was propagated.
        origin_guid: Option<String> = "classificationOriginGUID",
    }
}

impl Classification {
    /// The name of its type; empty if there is none.
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
