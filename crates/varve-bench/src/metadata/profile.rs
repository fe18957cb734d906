//! The profiles of the suite and the rows of its table.

use super::result::Limit;

/// Declares the profiles with their number and their name.
macro_rules! profiles {
    ($($variant:ident = $id:literal $name:literal,)*) => {
        /// A profile: a part of the suite that times one kind of work.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Profile {
            $($variant = $id,)*
        }

        impl Profile {
            /// All of them, in the order in which they run.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What tables and options call it.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Its number.
            pub(crate) const fn id(self) -> u16 {
                self as u16
            }
        }
    };
}

profiles! {
    EntityCreation = 1 "Entity creation",
    EntitySearch = 2 "Entity search",
    RelationshipCreation = 3 "Relationship creation",
    RelationshipSearch = 4 "Relationship search",
    EntityClassification = 5 "Entity classification",
    ClassificationSearch = 6 "Classification search",
    EntityUpdate = 7 "Entity update",
    RelationshipUpdate = 8 "Relationship update",
    ClassificationUpdate = 9 "Classification update",
    EntityUndo = 10 "Entity undo",
    RelationshipUndo = 11 "Relationship undo",
    EntityRetrieval = 12 "Entity retrieval",
    EntityHistoryRetrieval = 13 "Entity history retrieval",
    RelationshipRetrieval = 14 "Relationship retrieval",
    RelationshipHistoryRetrieval = 15 "Relationship history retrieval",
    EntityHistorySearch = 16 "Entity history search",
    RelationshipHistorySearch = 17 "Relationship history search",
    GraphQueries = 18 "Graph queries",
    GraphHistoryQueries = 19 "Graph history queries",
    EntityReHome = 20 "Entity re-home",
    RelationshipReHome = 21 "Relationship re-home",
    EntityDeclassify = 22 "Entity declassify",
    EntityRetype = 23 "Entity retype",
    RelationshipRetype = 24 "Relationship retype",
    EntityReIdentify = 25 "Entity re-identify",
    RelationshipReIdentify = 26 "Relationship re-identify",
    RelationshipDelete = 27 "Relationship delete",
    EntityDelete = 28 "Entity delete",
    EntityRestore = 29 "Entity restore",
    RelationshipRestore = 30 "Relationship restore",
    RelationshipPurge = 31 "Relationship purge",
    EntityPurge = 32 "Entity purge",
    Environment = 999 "Environment",
}

impl Profile {
    /// The profile that `text` names: by its number or its name, in any case.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        let number: Option<u16> = text.parse().ok();
        let is_it = |it: &&Self| number == Some(it.id()) || it.name().eq_ignore_ascii_case(text);
        Self::ALL.iter().find(is_it).copied()
    }

    /// What begins the identifiers of its test cases.
    pub(crate) fn case_id(self) -> String {
        let name = self.name().to_ascii_lowercase().replace(' ', "-");
        format!("repository-{name}-performance")
    }
}

/// A row of the table: a method in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) profile: Profile,
    pub(crate) method: &'static str,
}

/// A row with what is known of it beforehand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowInfo {
    pub(crate) row: Row,
    /// Timed calls of the published XTDB run at 0005-02.
    pub(crate) calls_published: u64,
    /// What its median may be at most.
    pub(crate) limit: Limit,
}

const fn info(
    profile: Profile,
    method: &'static str,
    calls_published: u64,
    limit: Limit,
) -> RowInfo {
    RowInfo {
        row: Row { profile, method },
        calls_published,
        limit,
    }
}

use Limit::{Read, Search, Write};
use Profile as P;

/// Every row: those of the published table in its order, then the two that it leaves out.
#[rustfmt::skip]
pub(crate) const ROWS: &[RowInfo] = &[
    info(P::EntityCreation, "addEntity", 1370, Write),
    info(P::EntityCreation, "saveEntityReferenceCopy", 1370, Write),
    info(P::EntitySearch, "findEntities", 7520, Search),
    info(P::EntitySearch, "findEntitiesByProperty", 3174, Search),
    info(P::EntitySearch, "findEntitiesByPropertyValue", 1219, Search),
    info(P::RelationshipCreation, "addRelationship", 1090, Write),
    info(P::RelationshipCreation, "saveRelationshipReferenceCopy", 1090, Write),
    info(P::RelationshipSearch, "findRelationships", 1406, Search),
    info(P::RelationshipSearch, "findRelationshipsByProperty", 1825, Search),
    info(P::RelationshipSearch, "findRelationshipsByPropertyValue", 405, Search),
    info(P::EntityClassification, "classifyEntity", 540, Write),
    info(P::EntityClassification, "saveClassificationReferenceCopy", 540, Write),
    info(P::ClassificationSearch, "findEntitiesByClassification", 411, Search),
    info(P::EntityUpdate, "nullPropertiesForEntities", 315, Write),
    info(P::EntityUpdate, "updateEntityProperties", 1360, Write),
    info(P::RelationshipUpdate, "updateRelationshipProperties", 490, Write),
    info(P::ClassificationUpdate, "updateEntityClassification", 265, Write),
    info(P::EntityUndo, "undoEntityUpdate", 1365, Write),
    info(P::RelationshipUndo, "undoRelationshipUpdate", 490, Write),
    info(P::EntityRetrieval, "getEntityDetail", 1370, Read),
    info(P::EntityRetrieval, "getEntitySummary", 1370, Read),
    info(P::EntityRetrieval, "isEntityKnown", 1370, Read),
    info(P::EntityHistoryRetrieval, "getEntityDetail", 1370, Read),
    info(P::EntityHistoryRetrieval, "getEntityDetailHistory", 1370, Read),
    info(P::RelationshipRetrieval, "getRelationship", 1090, Read),
    info(P::RelationshipRetrieval, "isRelationshipKnown", 1090, Read),
    info(P::RelationshipHistoryRetrieval, "getRelationship", 1090, Read),
    info(P::RelationshipHistoryRetrieval, "getRelationshipHistory", 1090, Read),
    info(P::EntityHistorySearch, "findEntities", 6703, Search),
    info(P::EntityHistorySearch, "findEntitiesByProperty", 878, Search),
    info(P::EntityHistorySearch, "findEntitiesByPropertyValue", 1261, Search),
    info(P::RelationshipHistorySearch, "findRelationships", 1308, Search),
    info(P::RelationshipHistorySearch, "findRelationshipsByProperty", 201, Search),
    info(P::RelationshipHistorySearch, "findRelationshipsByPropertyValue", 405, Search),
    info(P::GraphQueries, "getEntityNeighborhood", 4110, Search),
    info(P::GraphQueries, "getLinkingEntities", 2161, Search),
    info(P::GraphQueries, "getRelatedEntities", 1370, Search),
    info(P::GraphQueries, "getRelationshipsForEntity", 800, Search),
    info(P::GraphHistoryQueries, "getEntityNeighborhood", 4110, Search),
    info(P::GraphHistoryQueries, "getLinkingEntities", 2161, Search),
    info(P::GraphHistoryQueries, "getRelatedEntities", 1370, Search),
    info(P::GraphHistoryQueries, "getRelationshipsForEntity", 800, Search),
    info(P::EntityReHome, "reHomeEntity", 548, Write),
    info(P::RelationshipReHome, "reHomeRelationship", 436, Write),
    info(P::EntityDeclassify, "declassifyEntity", 48, Write),
    info(P::EntityDeclassify, "purgeClassificationReferenceCopy", 106, Write),
    info(P::EntityReIdentify, "reIdentifyEntity", 1365, Write),
    info(P::RelationshipReIdentify, "reIdentifyRelationship", 1090, Write),
    info(P::RelationshipDelete, "deleteRelationship", 2180, Write),
    info(P::EntityDelete, "deleteEntity", 2724, Write),
    info(P::EntityRestore, "restoreEntity", 1370, Write),
    info(P::RelationshipRestore, "restoreRelationship", 1090, Write),
    info(P::RelationshipPurge, "purgeRelationship", 1090, Write),
    info(P::RelationshipPurge, "purgeRelationshipReferenceCopy", 654, Write),
    info(P::EntityPurge, "purgeEntity", 1370, Write),
    info(P::EntityPurge, "purgeEntityReferenceCopy", 706, Write),
    info(P::EntityRetype, "reTypeEntitySub", 315, Write),
    info(P::EntityRetype, "reTypeEntitySuper", 1365, Write),
];

/// Rows of the published table: the first ones of [`ROWS`].
pub(crate) const PUBLISHED_ROWS: usize = 56;

impl Row {
    pub(crate) const fn new(profile: Profile, method: &'static str) -> Self {
        Self { profile, method }
    }

    /// Its position in [`ROWS`].
    pub(crate) fn position(self) -> usize {
        let position = ROWS.iter().position(|info| info.row == self);
        position.expect("every row that a profile times is in the list, as a test checks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_found_by_number_and_name() {
        assert_eq!(Profile::named("18"), Some(Profile::GraphQueries));
        assert_eq!(Profile::named("graph QUERIES"), Some(Profile::GraphQueries));
        assert_eq!(Profile::named("999"), Some(Profile::Environment));
        assert_eq!(Profile::named("33"), None);
        assert_eq!(Profile::ALL.len(), 33);
    }

    #[test]
    fn the_published_run_had_81550_timed_calls() {
        let calls: u64 = ROWS.iter().map(|info| info.calls_published).sum();
        assert_eq!(calls, 81_550);
    }

    #[test]
    fn no_row_is_listed_twice() {
        for (at, info) in ROWS.iter().enumerate() {
            assert_eq!(info.row.position(), at, "{:?}", info.row);
        }
    }
}
