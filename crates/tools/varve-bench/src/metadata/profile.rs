//! The profiles of the suite and the rows of its table.

use crate::result::Row as ResultRow;

/// Declares the profiles with their numbers and names.
macro_rules! profiles {
    ($($variant:ident = $id:literal $name:literal,)*) => {
        /// A profile: a part of the suite that times one kind of work.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Profile {
            $($variant = $id,)*
        }

        impl Profile {
            /// All profiles, in their order of execution.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

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
    /// The profile with this number or name, in any case.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        let number: Option<u16> = text.parse().ok();
        let is_it = |it: &&Self| number == Some(it.id()) || it.name().eq_ignore_ascii_case(text);
        Self::ALL.iter().find(is_it).copied()
    }

    /// Whether the profile changes nothing, so that it can be repeated.
    pub(crate) const fn only_reads(self) -> bool {
        use Profile as P;
        let is_search = matches!(
            self,
            P::EntitySearch | P::RelationshipSearch | P::ClassificationSearch
        );
        let is_of_the_middle =
            self.id() >= P::EntityRetrieval.id() && self.id() <= P::GraphHistoryQueries.id();
        is_search || is_of_the_middle || matches!(self, P::RelationshipRetype)
    }

    /// The prefix of the identifiers of its test cases.
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

/// A row and its expected values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowInfo {
    pub(crate) row: Row,
    /// Timed calls of the published XTDB run at volume 0005-02.
    pub(crate) calls_published: u64,
    /// How the number of calls follows from the volume.
    pub(crate) calls: Calls,
}

/// The limit of the 99th percentile of any row, in microseconds.
pub(crate) const LINE99_MAX_US: f64 = 10_000.0;
/// The greatest ratio of a row's median at the largest volume to that at the smallest.
pub(crate) const GROWTH_MAX: f64 = 2.0;

/// How the number of calls follows from the volume. Except for [`Calls::Chosen`], the number is the
/// same for every repository that supports the whole suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All instances of a fixed number of types.
    All,
    /// Half of the instances of each type, rounded down: the reference copies that get another
    /// home.
    Half,
    /// The other half, rounded up.
    Rest,
    /// Instances that a search found, or for which an earlier answer was not empty. The number
    /// depends on the order in which the repository returns instances.
    Chosen,
}

impl RowInfo {
    /// The limit of the median in microseconds: of reads by GUID and of history, of searches and
    /// graph walks, and of changes.
    pub(crate) fn median_max_us(&self) -> f64 {
        match self.row.profile {
            P::EntityRetrieval
            | P::EntityHistoryRetrieval
            | P::RelationshipRetrieval
            | P::RelationshipHistoryRetrieval => 200.0,
            profile if profile.only_reads() => 1_000.0,
            _ => 500.0,
        }
    }

    /// Whether `row` is the result of this row.
    pub(crate) fn is(&self, row: &ResultRow) -> bool {
        row.profile == self.row.profile.name() && row.label == self.row.method
    }

    /// The number of calls with `instances` instances of each type; `None` for [`Calls::Chosen`].
    pub(crate) fn calls_expected(&self, instances: u64) -> Option<u64> {
        let share = |instances: u64| match self.calls {
            Calls::All => Some(instances),
            Calls::Half => Some(instances / 2),
            Calls::Rest => Some(instances.div_ceil(2)),
            Calls::Chosen => None,
        };
        Some(self.calls_published / share(PUBLISHED_INSTANCES)? * share(instances)?)
    }
}

const fn info(
    profile: Profile,
    method: &'static str,
    calls_published: u64,
    calls: Calls,
) -> RowInfo {
    RowInfo {
        row: Row { profile, method },
        calls_published,
        calls,
    }
}

use Calls::{All, Chosen, Half, Rest};
use Profile as P;

/// All rows: those of the published table in its order, then two that it lacks.
#[rustfmt::skip]
pub(crate) const ROWS: &[RowInfo] = &[
    info(P::EntityCreation, "addEntity", 1370, All),
    info(P::EntityCreation, "saveEntityReferenceCopy", 1370, All),
    info(P::EntitySearch, "findEntities", 7520, Chosen),
    info(P::EntitySearch, "findEntitiesByProperty", 3174, Chosen),
    info(P::EntitySearch, "findEntitiesByPropertyValue", 1219, Chosen),
    info(P::RelationshipCreation, "addRelationship", 1090, All),
    info(P::RelationshipCreation, "saveRelationshipReferenceCopy", 1090, All),
    info(P::RelationshipSearch, "findRelationships", 1406, Chosen),
    info(P::RelationshipSearch, "findRelationshipsByProperty", 1825, Chosen),
    info(P::RelationshipSearch, "findRelationshipsByPropertyValue", 405, Chosen),
    info(P::EntityClassification, "classifyEntity", 540, All),
    info(P::EntityClassification, "saveClassificationReferenceCopy", 540, All),
    info(P::ClassificationSearch, "findEntitiesByClassification", 411, Chosen),
    info(P::EntityUpdate, "nullPropertiesForEntities", 315, All),
    info(P::EntityUpdate, "updateEntityProperties", 1360, All),
    info(P::RelationshipUpdate, "updateRelationshipProperties", 490, All),
    info(P::ClassificationUpdate, "updateEntityClassification", 265, Chosen),
    info(P::EntityUndo, "undoEntityUpdate", 1365, Chosen),
    info(P::RelationshipUndo, "undoRelationshipUpdate", 490, Chosen),
    info(P::EntityRetrieval, "getEntityDetail", 1370, All),
    info(P::EntityRetrieval, "getEntitySummary", 1370, All),
    info(P::EntityRetrieval, "isEntityKnown", 1370, All),
    info(P::EntityHistoryRetrieval, "getEntityDetail", 1370, All),
    info(P::EntityHistoryRetrieval, "getEntityDetailHistory", 1370, All),
    info(P::RelationshipRetrieval, "getRelationship", 1090, All),
    info(P::RelationshipRetrieval, "isRelationshipKnown", 1090, All),
    info(P::RelationshipHistoryRetrieval, "getRelationship", 1090, All),
    info(P::RelationshipHistoryRetrieval, "getRelationshipHistory", 1090, All),
    info(P::EntityHistorySearch, "findEntities", 6703, Chosen),
    info(P::EntityHistorySearch, "findEntitiesByProperty", 878, Chosen),
    info(P::EntityHistorySearch, "findEntitiesByPropertyValue", 1261, Chosen),
    info(P::RelationshipHistorySearch, "findRelationships", 1308, Chosen),
    info(P::RelationshipHistorySearch, "findRelationshipsByProperty", 201, Chosen),
    info(P::RelationshipHistorySearch, "findRelationshipsByPropertyValue", 405, Chosen),
    info(P::GraphQueries, "getEntityNeighborhood", 4110, All),
    info(P::GraphQueries, "getLinkingEntities", 2161, Chosen),
    info(P::GraphQueries, "getRelatedEntities", 1370, All),
    info(P::GraphQueries, "getRelationshipsForEntity", 800, Chosen),
    info(P::GraphHistoryQueries, "getEntityNeighborhood", 4110, All),
    info(P::GraphHistoryQueries, "getLinkingEntities", 2161, Chosen),
    info(P::GraphHistoryQueries, "getRelatedEntities", 1370, All),
    info(P::GraphHistoryQueries, "getRelationshipsForEntity", 800, Chosen),
    info(P::EntityReHome, "reHomeEntity", 548, Half),
    info(P::RelationshipReHome, "reHomeRelationship", 436, Half),
    info(P::EntityDeclassify, "declassifyEntity", 48, Chosen),
    info(P::EntityDeclassify, "purgeClassificationReferenceCopy", 106, Chosen),
    info(P::EntityReIdentify, "reIdentifyEntity", 1365, Chosen),
    info(P::RelationshipReIdentify, "reIdentifyRelationship", 1090, All),
    info(P::RelationshipDelete, "deleteRelationship", 2180, All),
    info(P::EntityDelete, "deleteEntity", 2724, Chosen),
    info(P::EntityRestore, "restoreEntity", 1370, Chosen),
    info(P::RelationshipRestore, "restoreRelationship", 1090, All),
    info(P::RelationshipPurge, "purgeRelationship", 1090, All),
    info(P::RelationshipPurge, "purgeRelationshipReferenceCopy", 654, Rest),
    info(P::EntityPurge, "purgeEntity", 1370, Chosen),
    info(P::EntityPurge, "purgeEntityReferenceCopy", 706, Chosen),
    info(P::EntityRetype, "reTypeEntitySub", 315, All),
    info(P::EntityRetype, "reTypeEntitySuper", 1365, All),
];

/// Instances of each type in the published run whose numbers of calls are known.
const PUBLISHED_INSTANCES: u64 = 5;
/// The number of rows in the published table: the first ones of [`ROWS`].
pub(crate) const PUBLISHED_ROWS: usize = 56;

impl Row {
    pub(crate) const fn new(profile: Profile, method: &'static str) -> Self {
        Self { profile, method }
    }

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
    fn profiles_that_read_have_no_row_of_changes() {
        let reading = Profile::ALL.iter().filter(|it| it.only_reads());
        let ids: Vec<u16> = reading.map(|it| it.id()).collect();
        assert_eq!(ids, [2, 4, 6, 12, 13, 14, 15, 16, 17, 18, 19, 24]);
    }

    #[test]
    fn limits_follow_from_the_profile() {
        let limit = |method: &str| {
            let info = ROWS.iter().find(|info| info.row.method == method);
            info.expect("a row").median_max_us()
        };
        assert_eq!(limit("getEntityDetailHistory"), 200.0);
        assert_eq!(limit("getLinkingEntities"), 1_000.0);
        assert_eq!(limit("findEntitiesByClassification"), 1_000.0);
        assert_eq!(limit("reTypeEntitySub"), 500.0);
    }

    #[test]
    fn the_published_run_had_81550_timed_calls() {
        let calls: u64 = ROWS.iter().map(|info| info.calls_published).sum();
        assert_eq!(calls, 81_550);
    }

    /// The calls that the suite itself determines, for any repository: of 274 entity types, 218
    /// relationship types and 108 classification types.
    #[test]
    fn calls_follow_from_the_volume() {
        let calls = |method: &str, instances| {
            let mut rows = ROWS.iter().filter(|info| info.row.method == method);
            rows.next().expect("a row").calls_expected(instances)
        };
        for (method, of_five, of_seven) in [
            ("addEntity", 1370, 274 * 7),
            ("saveRelationshipReferenceCopy", 1090, 218 * 7),
            ("classifyEntity", 540, 108 * 7),
            ("reHomeEntity", 548, 274 * 3),
            ("reHomeRelationship", 436, 218 * 3),
            ("purgeRelationshipReferenceCopy", 654, 218 * 4),
            ("restoreRelationship", 1090, 218 * 7),
            ("getEntityNeighborhood", 4110, 274 * 7 * 3),
            ("deleteRelationship", 2180, 218 * 7 * 2),
        ] {
            assert_eq!(calls(method, 5), Some(of_five), "{method}");
            assert_eq!(calls(method, 7), Some(of_seven), "{method}");
        }
        assert_eq!(calls("reHomeEntity", 1), Some(0));
        assert_eq!(calls("findEntities", 5), None);
        for info in ROWS {
            let expected = info.calls_expected(PUBLISHED_INSTANCES);
            assert_eq!(
                expected.unwrap_or(info.calls_published),
                info.calls_published
            );
        }
    }

    #[test]
    fn no_row_is_listed_twice() {
        for (at, info) in ROWS.iter().enumerate() {
            assert_eq!(info.row.position(), at, "{:?}", info.row);
        }
    }
}
