//! The common interface of entities and relationships, so that a profile is written once for both.

use varve_omrs::json::Encode;
use varve_omrs::requests::{MatchCriteria, SearchProperties};

use super::super::answer::{
    Answer, EntitiesAnswer, EntityAnswer, Listing, RelationshipAnswer, RelationshipsAnswer,
};
use super::super::profile::{Profile as P, Row};
use super::request::Search;
use varve_omrs::instances::InstanceProperties;

/// The rows of the changes of both families.
pub(crate) struct Rows {
    pub(crate) undo: Row,
    pub(crate) re_home: Row,
    pub(crate) re_identify: Row,
    pub(crate) delete: Row,
    pub(crate) restore: Row,
    pub(crate) purge: Row,
    pub(crate) purge_copy: Row,
}

/// The rows of the searches of both families.
pub(crate) struct SearchRows {
    pub(crate) find: Row,
    pub(crate) by_property: Row,
    pub(crate) by_value: Row,
}

/// Entities or relationships.
pub(crate) trait Family {
    /// The answer with one.
    type One: Answer;
    /// The answer with a list of them.
    type Many: Listing;
    /// The path segment of one instance.
    const ONE: &'static str;
    /// The path segment of several instances.
    const MANY: &'static str;
    /// The name of the parameter with a new GUID.
    const NEW_GUID: &'static str;
    const ROWS: Rows;
    const SEARCHES: SearchRows;
    const PAST_SEARCHES: SearchRows;

    /// The body of a search with conditions.
    fn find(search: &Search<'_>, conditions: Option<SearchProperties>) -> Box<dyn Encode>;

    /// The body of a search by properties.
    fn by_property(
        search: &Search<'_>,
        properties: Option<InstanceProperties>,
        criteria: Option<MatchCriteria>,
    ) -> Box<dyn Encode>;

    /// The body of a search for a value of any property.
    fn by_value(search: &Search<'_>) -> Box<dyn Encode>;

    /// The rows of searches in the present, or in the past.
    fn searches(past: bool) -> SearchRows {
        match past {
            true => Self::PAST_SEARCHES,
            false => Self::SEARCHES,
        }
    }
}

/// Entities.
pub(crate) struct Entities;
/// Relationships.
pub(crate) struct Relationships;

impl Family for Entities {
    type One = EntityAnswer;
    type Many = EntitiesAnswer;
    const ONE: &'static str = "entity";
    const MANY: &'static str = "entities";
    const NEW_GUID: &'static str = "newEntityGUID";
    const ROWS: Rows = Rows {
        undo: Row::new(P::EntityUndo, "undoEntityUpdate"),
        re_home: Row::new(P::EntityReHome, "reHomeEntity"),
        re_identify: Row::new(P::EntityReIdentify, "reIdentifyEntity"),
        delete: Row::new(P::EntityDelete, "deleteEntity"),
        restore: Row::new(P::EntityRestore, "restoreEntity"),
        purge: Row::new(P::EntityPurge, "purgeEntity"),
        purge_copy: Row::new(P::EntityPurge, "purgeEntityReferenceCopy"),
    };
    const SEARCHES: SearchRows = SearchRows {
        find: Row::new(P::EntitySearch, "findEntities"),
        by_property: Row::new(P::EntitySearch, "findEntitiesByProperty"),
        by_value: Row::new(P::EntitySearch, "findEntitiesByPropertyValue"),
    };
    const PAST_SEARCHES: SearchRows = SearchRows {
        find: Row::new(P::EntityHistorySearch, "findEntities"),
        by_property: Row::new(P::EntityHistorySearch, "findEntitiesByProperty"),
        by_value: Row::new(P::EntityHistorySearch, "findEntitiesByPropertyValue"),
    };

    fn find(search: &Search<'_>, conditions: Option<SearchProperties>) -> Box<dyn Encode> {
        Box::new(search.entities(conditions))
    }

    fn by_property(
        search: &Search<'_>,
        properties: Option<InstanceProperties>,
        criteria: Option<MatchCriteria>,
    ) -> Box<dyn Encode> {
        Box::new(search.entity_properties(properties, criteria))
    }

    fn by_value(search: &Search<'_>) -> Box<dyn Encode> {
        Box::new(search.entity_properties(None, None))
    }
}

impl Family for Relationships {
    type One = RelationshipAnswer;
    type Many = RelationshipsAnswer;
    const ONE: &'static str = "relationship";
    const MANY: &'static str = "relationships";
    const NEW_GUID: &'static str = "newRelationshipGUID";
    const ROWS: Rows = Rows {
        undo: Row::new(P::RelationshipUndo, "undoRelationshipUpdate"),
        re_home: Row::new(P::RelationshipReHome, "reHomeRelationship"),
        re_identify: Row::new(P::RelationshipReIdentify, "reIdentifyRelationship"),
        delete: Row::new(P::RelationshipDelete, "deleteRelationship"),
        restore: Row::new(P::RelationshipRestore, "restoreRelationship"),
        purge: Row::new(P::RelationshipPurge, "purgeRelationship"),
        purge_copy: Row::new(P::RelationshipPurge, "purgeRelationshipReferenceCopy"),
    };
    const SEARCHES: SearchRows = SearchRows {
        find: Row::new(P::RelationshipSearch, "findRelationships"),
        by_property: Row::new(P::RelationshipSearch, "findRelationshipsByProperty"),
        by_value: Row::new(P::RelationshipSearch, "findRelationshipsByPropertyValue"),
    };
    const PAST_SEARCHES: SearchRows = SearchRows {
        find: Row::new(P::RelationshipHistorySearch, "findRelationships"),
        by_property: Row::new(P::RelationshipHistorySearch, "findRelationshipsByProperty"),
        by_value: Row::new(
            P::RelationshipHistorySearch,
            "findRelationshipsByPropertyValue",
        ),
    };

    fn find(search: &Search<'_>, conditions: Option<SearchProperties>) -> Box<dyn Encode> {
        Box::new(search.instances(conditions))
    }

    fn by_property(
        search: &Search<'_>,
        properties: Option<InstanceProperties>,
        criteria: Option<MatchCriteria>,
    ) -> Box<dyn Encode> {
        Box::new(search.matching(properties, criteria))
    }

    fn by_value(search: &Search<'_>) -> Box<dyn Encode> {
        Box::new(search.of_type())
    }
}
