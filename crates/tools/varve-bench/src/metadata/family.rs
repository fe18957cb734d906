//! Entities and relationships: what differs between them, so that a profile is written once for
//! both.

use varve_omrs::instances::InstanceProperties;
use varve_omrs::json::Encode;
use varve_omrs::requests::{MatchCriteria, SearchProperties};

use super::answer::{self, Form};
use super::profile::{Profile as P, Row};
use super::profiles::Search;

#[derive(Debug)]
pub(crate) struct SearchRows {
    pub(crate) find: Row,
    pub(crate) by_property: Row,
    pub(crate) by_value: Row,
}

#[derive(Debug)]
pub(crate) struct Family {
    /// The path segment of one instance.
    pub(crate) one: &'static str,
    /// The path segment of several instances.
    pub(crate) many: &'static str,
    /// The name of the parameter with a new GUID.
    pub(crate) new_guid: &'static str,
    /// The answer with one instance.
    pub(crate) answer: Form,
    /// The answer with a list of them.
    pub(crate) list: Form,
    pub(crate) update: Row,
    pub(crate) undo: Row,
    /// Reading as of an earlier time, and all versions.
    pub(crate) history: [Row; 2],
    pub(crate) re_home: Row,
    pub(crate) re_identify: Row,
    pub(crate) delete: Row,
    pub(crate) restore: Row,
    pub(crate) purge: Row,
    pub(crate) purge_copy: Row,
    pub(crate) searches: SearchRows,
    pub(crate) past_searches: SearchRows,
    /// The body of a search with conditions.
    pub(crate) find: fn(&Search<'_>, Option<SearchProperties>) -> Box<dyn Encode>,
    /// The body of a search by properties.
    pub(crate) by_property: fn(&Search<'_>, Option<Properties>) -> Box<dyn Encode>,
    /// The body of a search for a value of any property.
    pub(crate) by_value: fn(&Search<'_>) -> Box<dyn Encode>,
}

/// The properties to search for, and how they are combined.
pub(crate) type Properties = (InstanceProperties, MatchCriteria);

pub(crate) static ENTITIES: Family = Family {
    one: "entity",
    many: "entities",
    new_guid: "newEntityGUID",
    answer: answer::ENTITY,
    list: answer::ENTITIES,
    update: Row::new(P::EntityUpdate, "updateEntityProperties"),
    undo: Row::new(P::EntityUndo, "undoEntityUpdate"),
    history: [
        Row::new(P::EntityHistoryRetrieval, "getEntityDetail"),
        Row::new(P::EntityHistoryRetrieval, "getEntityDetailHistory"),
    ],
    re_home: Row::new(P::EntityReHome, "reHomeEntity"),
    re_identify: Row::new(P::EntityReIdentify, "reIdentifyEntity"),
    delete: Row::new(P::EntityDelete, "deleteEntity"),
    restore: Row::new(P::EntityRestore, "restoreEntity"),
    purge: Row::new(P::EntityPurge, "purgeEntity"),
    purge_copy: Row::new(P::EntityPurge, "purgeEntityReferenceCopy"),
    searches: entity_searches(P::EntitySearch),
    past_searches: entity_searches(P::EntityHistorySearch),
    find: |search, conditions| Box::new(search.entities(conditions)),
    by_property: |search, properties| Box::new(search.entity_properties(properties)),
    by_value: |search| Box::new(search.entity_properties(None)),
};

pub(crate) static RELATIONSHIPS: Family = Family {
    one: "relationship",
    many: "relationships",
    new_guid: "newRelationshipGUID",
    answer: answer::RELATIONSHIP,
    list: answer::RELATIONSHIPS,
    update: Row::new(P::RelationshipUpdate, "updateRelationshipProperties"),
    undo: Row::new(P::RelationshipUndo, "undoRelationshipUpdate"),
    history: [
        Row::new(P::RelationshipHistoryRetrieval, "getRelationship"),
        Row::new(P::RelationshipHistoryRetrieval, "getRelationshipHistory"),
    ],
    re_home: Row::new(P::RelationshipReHome, "reHomeRelationship"),
    re_identify: Row::new(P::RelationshipReIdentify, "reIdentifyRelationship"),
    delete: Row::new(P::RelationshipDelete, "deleteRelationship"),
    restore: Row::new(P::RelationshipRestore, "restoreRelationship"),
    purge: Row::new(P::RelationshipPurge, "purgeRelationship"),
    purge_copy: Row::new(P::RelationshipPurge, "purgeRelationshipReferenceCopy"),
    searches: relationship_searches(P::RelationshipSearch),
    past_searches: relationship_searches(P::RelationshipHistorySearch),
    find: |search, conditions| Box::new(search.instances(conditions)),
    by_property: |search, properties| Box::new(search.matching(properties)),
    by_value: |search| Box::new(search.of_type()),
};

const fn entity_searches(profile: P) -> SearchRows {
    SearchRows {
        find: Row::new(profile, "findEntities"),
        by_property: Row::new(profile, "findEntitiesByProperty"),
        by_value: Row::new(profile, "findEntitiesByPropertyValue"),
    }
}

const fn relationship_searches(profile: P) -> SearchRows {
    SearchRows {
        find: Row::new(profile, "findRelationships"),
        by_property: Row::new(profile, "findRelationshipsByProperty"),
        by_value: Row::new(profile, "findRelationshipsByPropertyValue"),
    }
}

impl Family {
    /// The rows of searches in the present, or in the past.
    pub(crate) fn searches(&self, is_past: bool) -> &SearchRows {
        match is_past {
            true => &self.past_searches,
            false => &self.searches,
        }
    }
}
