//! The calls of the profiles, and their order of execution. Each group of profiles has a module.

mod classification;
mod creation;
mod graph;
mod life;
mod request;
mod retrieval;
mod retype;
mod search;
mod update;

pub(crate) use request::Search;

use super::client::Failure;
use super::plan::PlannedType;
use super::profile::Profile;
use super::suite::Suite;

/// The types over which a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    Entities,
    Relationships,
    Classifications,
}

/// A test case: the calls of a profile for one type.
type Case = fn(&mut Suite, &PlannedType) -> Result<(), Failure>;

/// The test case of a profile, which a stage runs for each type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) profile: Profile,
    pub(crate) case: Case,
}

/// Test cases that run type by type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) over: Types,
    /// For each type, all passes run before those of the next type.
    pub(crate) passes: &'static [Pass],
    /// Whether the keys that earlier stages left are discarded before this stage.
    pub(crate) begins: bool,
}

const fn stage(over: Types, passes: &'static [Pass]) -> Stage {
    Stage {
        over,
        passes,
        begins: true,
    }
}

/// A further stage of the profile before it.
const fn further(over: Types, passes: &'static [Pass]) -> Stage {
    Stage {
        over,
        passes,
        begins: false,
    }
}

const fn pass(profile: Profile, case: Case) -> Pass {
    Pass { profile, case }
}

use Profile as P;
use Types::{Classifications as C, Entities as E, Relationships as R};

#[rustfmt::skip]
pub(crate) const STAGES: &[Stage] = &[
    stage(E, &[pass(P::EntityCreation, creation::entities)]),
    stage(E, &[pass(P::EntitySearch, search::now)]),
    stage(R, &[pass(P::RelationshipCreation, creation::relationships)]),
    stage(R, &[pass(P::RelationshipSearch, search::now)]),
    stage(C, &[pass(P::EntityClassification, classification::classify)]),
    stage(C, &[pass(P::ClassificationSearch, classification::search)]),
    stage(E, &[pass(P::EntityUpdate, update::properties)]),
    stage(R, &[pass(P::RelationshipUpdate, update::properties)]),
    stage(C, &[pass(P::ClassificationUpdate, classification::update)]),
    stage(E, &[pass(P::EntityUndo, update::undo)]),
    stage(R, &[pass(P::RelationshipUndo, update::undo)]),
    stage(E, &[
        pass(P::EntityRetrieval, retrieval::entities),
        pass(P::EntityHistoryRetrieval, retrieval::history),
    ]),
    stage(R, &[
        pass(P::RelationshipRetrieval, retrieval::relationships),
        pass(P::RelationshipHistoryRetrieval, retrieval::history),
    ]),
    stage(E, &[pass(P::EntityHistorySearch, search::history)]),
    stage(R, &[pass(P::RelationshipHistorySearch, search::history)]),
    stage(E, &[pass(P::GraphQueries, graph::now)]),
    stage(E, &[pass(P::GraphHistoryQueries, graph::history)]),
    stage(E, &[pass(P::EntityReHome, life::re_home)]),
    stage(R, &[pass(P::RelationshipReHome, life::re_home)]),
    stage(C, &[pass(P::EntityDeclassify, classification::declassify)]),
    stage(E, &[pass(P::EntityRetype, retype::without_properties)]),
    further(E, &[pass(P::EntityRetype, retype::to_sub_type)]),
    further(E, &[pass(P::EntityRetype, retype::from_super_type)]),
    stage(R, &[pass(P::RelationshipRetype, retype::relationships)]),
    stage(E, &[pass(P::EntityReIdentify, life::re_identify)]),
    stage(R, &[pass(P::RelationshipReIdentify, life::re_identify)]),
    stage(R, &[pass(P::RelationshipDelete, life::delete)]),
    stage(E, &[pass(P::EntityDelete, life::delete)]),
    stage(E, &[pass(P::EntityRestore, life::restore)]),
    stage(R, &[pass(P::RelationshipRestore, life::restore)]),
    stage(R, &[pass(P::RelationshipPurge, life::delete_all)]),
    further(R, &[pass(P::RelationshipPurge, life::purge)]),
    stage(E, &[pass(P::EntityPurge, life::delete_all)]),
    further(E, &[pass(P::EntityPurge, life::purge)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_run_in_the_order_of_their_numbers() {
        let mut ids: Vec<u16> = STAGES
            .iter()
            .flat_map(|stage| stage.passes)
            .map(|pass| pass.profile.id())
            .collect();
        assert!(ids.is_sorted(), "{ids:?}");
        ids.dedup();
        assert_eq!(ids, (1..=32).collect::<Vec<u16>>());
    }
}
