//! What each operation answers in each state of its instance: copy, proxy, deleted, unknown.

use std::collections::BTreeSet;

use super::*;
use Exception::*;
use varve_omrs::types::{TypeDefCategory, TypeDefLink, TypeDefSummary};

/// What an operation answers: the exception, or none.
type Answer = Option<Exception>;

/// The states of an instance, in the order of a row's answers.
const STATES: [&str; 5] = ["copy", "proxy", "own, deleted", "own, live", "unknown"];

const OK: Answer = None;
const IP: Answer = Some(InvalidParameter);
const EN: Answer = Some(EntityNotKnown);
const RN: Answer = Some(RelationshipNotKnown);
const PX: Answer = Some(EntityProxyOnly);
const ED: Answer = Some(EntityNotDeleted);
const RD: Answer = Some(RelationshipNotDeleted);
const HE: Answer = Some(HomeEntity);
const HR: Answer = Some(HomeRelationship);
const EC: Answer = Some(EntityConflict);
const RC: Answer = Some(RelationshipConflict);
const ST: Answer = Some(StatusNotSupported);
const PE: Answer = Some(PropertyError);
const CE: Answer = Some(ClassificationError);

/// A new repository with an instance in each state.
struct World<'a> {
    f: &'a Fixture,
    home: String,
}

/// One call about the instance with this GUID.
type Call = fn(&World<'_>, &str) -> Result<(), OmrsError>;

fn done<T>(answer: Result<T, OmrsError>) -> Result<(), OmrsError> {
    answer.map(|_| ())
}

impl<'a> World<'a> {
    /// The GUIDs that [`STATES`] name, as entities or as relationships.
    fn entities(f: &'a Fixture, number: usize) -> (Self, [String; 5]) {
        let r = &f.repository;
        let [copy, proxy, unknown] =
            ["copy", "proxy", "unknown"].map(|of| format!("{of} {number}"));
        r.save_entity_reference_copy("eve", foreign_entity(f, "Asset", &copy))
            .unwrap();
        r.add_entity_proxy("eve", foreign_proxy(f, "Asset", &proxy))
            .unwrap();
        let deleted = f.entity("Asset", "deleted");
        let of = expected(&deleted.header);
        r.delete_entity("ada", deleted.header.guid(), &of).unwrap();
        let live = f.entity("Asset", "live");
        let guids = [
            &copy,
            &proxy,
            deleted.header.guid(),
            live.header.guid(),
            &unknown,
        ];
        (Self::of(f), guids.map(str::to_owned))
    }

    fn relationships(f: &'a Fixture, number: usize) -> (Self, [String; 5]) {
        let r = &f.repository;
        let [copy, unknown] = ["copy", "unknown"].map(|of| format!("{of} {number}"));
        r.save_relationship_reference_copy("eve", foreign_relationship(f, &copy, ["one", "two"]))
            .unwrap();
        let (_, _, deleted) = f.meaning();
        let of = expected(&deleted.header);
        r.delete_relationship("ada", deleted.header.guid(), &of)
            .unwrap();
        let (_, _, live) = f.meaning();
        let guids = [
            &copy,
            "",
            deleted.header.guid(),
            live.header.guid(),
            &unknown,
        ];
        (Self::of(f), guids.map(str::to_owned))
    }

    fn of(f: &'a Fixture) -> Self {
        let home = f.repository.get_metadata_collection_id().to_owned();
        Self { f, home }
    }

    fn r(&self) -> &Repository {
        &self.f.repository
    }

    fn of_type(&self, name: &str) -> TypeDefValidationForRequest {
        some_type(name, &self.f.type_guid(name))
    }

    /// From the type that the instance has to the same.
    fn same_type(&self, name: &str) -> TypeDefChangeRequest {
        let summary = || TypeDefSummary {
            link: TypeDefLink {
                guid: Some(self.f.type_guid(name)),
                name: Some(name.to_owned()),
                ..TypeDefLink::default()
            },
            ..TypeDefSummary::default()
        };
        TypeDefChangeRequest {
            current: Some(summary()),
            new: Some(summary()),
        }
    }

    fn entity_status(&self, guid: &str, status: InstanceStatus) -> Result<(), OmrsError> {
        done(self.r().update_entity_status("bob", guid, Some(status)))
    }

    fn link_status(&self, guid: &str, status: InstanceStatus) -> Result<(), OmrsError> {
        done(
            self.r()
                .update_relationship_status("bob", guid, Some(status)),
        )
    }

    fn sent(&self, guid: &str) -> EntityDetail {
        foreign_entity(self.f, "Asset", guid)
    }

    fn sent_link(&self, guid: &str) -> Relationship {
        foreign_relationship(self.f, guid, ["one", "two"])
    }
}

/// The rows for entities: operation, the call, its answers in the order of [`STATES`].
#[rustfmt::skip]
const ENTITIES: &[(&str, Call, [Answer; 5])] = &[
    ("isEntityKnown", |w, g| done(w.r().is_entity_known(g)), [OK, OK, OK, OK, OK]),
    ("getEntitySummary", |w, g| done(w.r().get_entity_summary(g)), [OK, OK, EN, OK, EN]),
    ("getEntityDetail", |w, g| done(w.r().get_entity_detail(g, None)), [OK, PX, EN, OK, EN]),
    ("getEntityDetail asOf", |w, g| done(w.r().get_entity_detail(g, Some(&at(w.f.store.now())))), [OK, PX, EN, OK, EN]),
    ("getEntityDetailHistory", |w, g| done(w.r().get_entity_detail_history(g, &Default::default())), [OK, PX, OK, OK, EN]),
    ("getRelationshipsForEntity", |w, g| done(w.r().get_relationships_for_entity(g, &Default::default())), [OK, OK, EN, OK, EN]),
    ("updateEntityStatus ACTIVE", |w, g| w.entity_status(g, InstanceStatus::Active), [IP, IP, EN, OK, EN]),
    ("updateEntityStatus, a status that the type lacks", |w, g| w.entity_status(g, InstanceStatus::Draft), [IP, IP, EN, ST, EN]),
    ("updateEntityStatus DELETED", |w, g| w.entity_status(g, InstanceStatus::Deleted), [IP, IP, EN, ST, EN]),
    ("updateEntityStatus without a status", |w, g| done(w.r().update_entity_status("bob", g, None)), [IP, IP, IP, IP, IP]),
    ("updateEntityProperties", |w, g| done(w.r().update_entity_properties("bob", g, as_request(strings(&[])))), [IP, IP, EN, OK, EN]),
    ("updateEntityProperties without properties", |w, g| done(w.r().update_entity_properties("bob", g, Default::default())), [IP, IP, EN, PE, EN]),
    ("updateEntityProperties, an unknown property", |w, g| done(w.r().update_entity_properties("bob", g, as_request(strings(&[("colour", "red")])))), [IP, IP, EN, PE, EN]),
    ("reTypeEntity to the type it has", |w, g| done(w.r().re_type_entity("bob", g, &w.same_type("Asset"))), [IP, IP, EN, OK, EN]),
    ("reTypeEntity to a type that lacks its properties", |w, g| done(w.r().re_type_entity("bob", g, &w.same_type("Like"))), [IP, IP, EN, PE, EN]),
    ("reIdentifyEntity", |w, g| done(w.r().re_identify_entity("bob", g, &format!("new {g}"), &w.of_type("Asset"))), [IP, IP, EN, OK, EN]),
    ("reIdentifyEntity of another type", |w, g| done(w.r().re_identify_entity("bob", g, &format!("new {g}"), &w.of_type("Glossary"))), [IP, IP, EN, IP, EN]),
    ("undoEntityUpdate", |w, g| done(w.r().undo_entity_update("bob", g)), [IP, IP, EN, OK, EN]),
    ("deleteEntity", |w, g| done(w.r().delete_entity("bob", g, &w.of_type("Asset"))), [IP, IP, EN, OK, EN]),
    ("deleteEntity of another type", |w, g| done(w.r().delete_entity("bob", g, &w.of_type("Glossary"))), [IP, IP, EN, IP, EN]),
    ("purgeEntity", |w, g| done(w.r().purge_entity("bob", g, &w.of_type("Asset"))), [IP, EN, OK, ED, EN]),
    ("purgeEntity of another type", |w, g| done(w.r().purge_entity("bob", g, &w.of_type("Glossary"))), [IP, EN, IP, IP, EN]),
    ("restoreEntity", |w, g| done(w.r().restore_entity("bob", g)), [ED, EN, OK, ED, EN]),
    ("reHomeEntity", |w, g| done(w.r().re_home_entity("bob", g, "elsewhere", &w.home, None, &w.of_type("Asset"))), [OK, IP, EN, IP, EN]),
    ("reHomeEntity, another home named", |w, g| done(w.r().re_home_entity("bob", g, "made up", &w.home, None, &w.of_type("Asset"))), [OK, IP, EN, IP, EN]),
    ("reHomeEntity to another repository", |w, g| done(w.r().re_home_entity("bob", g, "elsewhere", "there", None, &w.of_type("Asset"))), [IP, IP, IP, IP, IP]),
    ("classifyEntity", |w, g| done(w.r().classify_entity("bob", g, "Confidentiality", Default::default())), [OK, IP, EN, OK, EN]),
    ("classifyEntity, no such classification", |w, g| done(w.r().classify_entity("bob", g, "Nonsense", Default::default())), [IP, IP, IP, IP, IP]),
    ("classifyEntity, an unknown property", |w, g| done(w.r().classify_entity("bob", g, "Confidentiality", as_request(strings(&[("colour", "red")])))), [PE, PE, PE, PE, PE]),
    ("classifyEntity, not valid for the type", |w, g| done(w.r().classify_entity("bob", g, "SpineObject", Default::default())), [CE, IP, EN, CE, EN]),
    ("updateEntityClassification, absent", |w, g| done(w.r().update_entity_classification("bob", g, "Confidentiality", Default::default())), [CE, IP, EN, CE, EN]),
    ("declassifyEntity, absent", |w, g| done(w.r().declassify_entity("bob", g, "Confidentiality")), [CE, IP, EN, CE, EN]),
    ("addRelationship, it as an end", |w, g| {
        let term = w.f.entity("GlossaryTerm", "t");
        done(w.r().add_relationship("bob", w.f.link_request("SemanticAssignment", g, term.header.guid())))
    }, [OK, OK, EN, OK, EN]),
    ("addEntityProxy", |w, g| done(w.r().add_entity_proxy("eve", foreign_proxy(w.f, "Asset", g))), [OK, OK, OK, OK, OK]),
    ("saveEntityReferenceCopy", |w, g| w.r().save_entity_reference_copy("eve", w.sent(g)), [OK, OK, EC, EC, OK]),
    ("deleteEntityReferenceCopy", |w, g| w.r().delete_entity_reference_copy("eve", w.sent(g)), [OK, OK, HE, HE, OK]),
    ("purgeEntityReferenceCopy", |w, g| w.r().purge_entity_reference_copy("eve", w.sent(g)), [OK, OK, HE, HE, OK]),
    ("purgeEntityReferenceCopy by id", |w, g| w.r().purge_entity_reference_copy_by_id("eve", g, "elsewhere", &w.of_type("Asset")), [OK, EN, OK, HE, EN]),
    ("purgeEntityReferenceCopy by id, our home named", |w, g| w.r().purge_entity_reference_copy_by_id("eve", g, &w.home, &w.of_type("Asset")), [OK, EN, OK, HE, EN]),
    ("refreshEntityReferenceCopy", |w, g| w.r().refresh_entity_reference_copy("eve", g, "elsewhere", &w.of_type("Asset")), [OK, OK, HE, HE, OK]),
    ("saveClassificationReferenceCopy", |w, g| w.r().save_classification_reference_copy("eve", with_classification(w, g, "Confidentiality")), [OK, OK, OK, OK, OK]),
    ("saveClassificationReferenceCopy, not valid for the type", |w, g| w.r().save_classification_reference_copy("eve", with_classification(w, g, "SpineObject")), [Some(TypeError); 5]),
];

/// The rows for relationships, which have no proxies.
#[rustfmt::skip]
const RELATIONSHIPS: &[(&str, Call, [Answer; 5])] = &[
    ("isRelationshipKnown", |w, g| done(w.r().is_relationship_known(g)), [OK, OK, OK, OK, OK]),
    ("getRelationship", |w, g| done(w.r().get_relationship(g, None)), [OK, OK, RN, OK, RN]),
    ("getRelationship asOf", |w, g| done(w.r().get_relationship(g, Some(&at(w.f.store.now())))), [OK, OK, RN, OK, RN]),
    ("getRelationshipHistory", |w, g| done(w.r().get_relationship_history(g, &Default::default())), [OK, OK, OK, OK, RN]),
    ("updateRelationshipStatus ACTIVE", |w, g| w.link_status(g, InstanceStatus::Active), [IP, OK, RN, OK, RN]),
    ("updateRelationshipStatus, a status that the type lacks", |w, g| w.link_status(g, InstanceStatus::Prepared), [IP, OK, RN, ST, RN]),
    ("updateRelationshipStatus DELETED", |w, g| w.link_status(g, InstanceStatus::Deleted), [IP, OK, RN, ST, RN]),
    ("updateRelationshipProperties", |w, g| done(w.r().update_relationship_properties("bob", g, as_request(strings(&[])))), [IP, OK, RN, OK, RN]),
    ("updateRelationshipProperties without properties", |w, g| done(w.r().update_relationship_properties("bob", g, Default::default())), [IP, OK, RN, PE, RN]),
    ("reTypeRelationship to the type it has", |w, g| done(w.r().re_type_relationship("bob", g, &w.same_type("SemanticAssignment"))), [IP, OK, RN, OK, RN]),
    ("reIdentifyRelationship", |w, g| done(w.r().re_identify_relationship("bob", g, &format!("new {g}"), &w.of_type("SemanticAssignment"))), [IP, OK, RN, OK, RN]),
    ("undoRelationshipUpdate", |w, g| done(w.r().undo_relationship_update("bob", g)), [IP, OK, RN, OK, RN]),
    ("deleteRelationship", |w, g| done(w.r().delete_relationship("bob", g, &w.of_type("SemanticAssignment"))), [IP, OK, RN, OK, RN]),
    ("purgeRelationship", |w, g| done(w.r().purge_relationship("bob", g, &w.of_type("SemanticAssignment"))), [IP, OK, OK, RD, RN]),
    ("restoreRelationship", |w, g| done(w.r().restore_relationship("bob", g)), [RD, OK, OK, RD, RN]),
    ("reHomeRelationship, another home named", |w, g| done(w.r().re_home_relationship("bob", g, "made up", &w.home, None, &w.of_type("SemanticAssignment"))), [OK, OK, RN, IP, RN]),
    ("saveRelationshipReferenceCopy", |w, g| w.r().save_relationship_reference_copy("eve", w.sent_link(g)), [OK, OK, RC, RC, OK]),
    ("deleteRelationshipReferenceCopy", |w, g| w.r().delete_relationship_reference_copy("eve", w.sent_link(g)), [OK, OK, HR, HR, OK]),
    ("purgeRelationshipReferenceCopy", |w, g| w.r().purge_relationship_reference_copy("eve", w.sent_link(g)), [OK, OK, HR, HR, OK]),
    ("purgeRelationshipReferenceCopy by id, our home named", |w, g| w.r().purge_relationship_reference_copy_by_id("eve", g, &w.home, &w.of_type("SemanticAssignment")), [OK, OK, OK, HR, RN]),
    ("refreshRelationshipReferenceCopy", |w, g| w.r().refresh_relationship_reference_copy("eve", g, "elsewhere", &w.of_type("SemanticAssignment")), [OK, OK, HR, HR, OK]),
];

fn with_classification(w: &World<'_>, guid: &str, name: &str) -> ClassificationWithEntityRequest {
    ClassificationWithEntityRequest {
        classification: Some(foreign_classification(w.f, name)),
        entity: Some(w.sent(guid)),
        proxy: None,
    }
}

/// Makes each call of a table in each state, on instances of its own; gives the cases that answer
/// otherwise.
fn wrong(
    table: &[(&str, Call, [Answer; 5])],
    world: fn(&Fixture, usize) -> (World<'_>, [String; 5]),
) -> Vec<String> {
    let f = &Fixture::on(below::store());
    let mut wrong = Vec::new();
    let (mut seen, mut cases) = (BTreeSet::new(), 0);
    for (operation, call, answers) in table {
        assert!(seen.insert(operation), "{operation} comes twice");
        for (at, wanted) in answers.iter().enumerate() {
            cases += 1;
            let (world, guids) = world(f, cases);
            if guids[at].is_empty() {
                continue;
            }
            let found = call(&world, &guids[at]).err().map(|error| error.exception);
            if found != *wanted {
                let state = STATES[at];
                wrong.push(format!("{operation}, {state}: {found:?}, not {wanted:?}"));
            }
        }
    }
    wrong
}

#[test]
fn every_operation_answers_each_state_of_an_entity_as_the_contract_says() {
    assert_eq!(
        wrong(ENTITIES, |f, number| World::entities(f, number)),
        Vec::<String>::new()
    );
}

#[test]
fn every_operation_answers_each_state_of_a_relationship_as_the_contract_says() {
    assert_eq!(
        wrong(RELATIONSHIPS, |f, number| World::relationships(f, number)),
        Vec::<String>::new()
    );
}

#[test]
fn purging_a_sent_copy_leaves_a_proxy() {
    on_new_store(|f| {
        let (w, [_, proxy, ..]) = World::entities(f, 1);
        w.r()
            .purge_entity_reference_copy("eve", w.sent(&proxy))
            .unwrap();
        assert!(w.r().get_entity_summary(&proxy).is_ok());
        w.r()
            .delete_entity_reference_copy("eve", w.sent(&proxy))
            .unwrap();
        let gone = failure(w.r().get_entity_summary(&proxy));
        assert_eq!(gone.0, EntityNotKnown);
    });
}

#[test]
fn a_deleted_own_instance_is_purged_by_its_id_as_a_copy_is() {
    on_new_store(|f| {
        let (w, [_, _, deleted, ..]) = World::relationships(f, 1);
        let of = w.of_type("SemanticAssignment");
        w.r()
            .purge_relationship_reference_copy_by_id("eve", &deleted, &w.home, &of)
            .unwrap();
        assert_eq!(w.r().is_relationship_known(&deleted).unwrap(), None);
        let (w, [_, _, deleted, ..]) = World::entities(f, 2);
        let of = w.of_type("Asset");
        w.r()
            .purge_entity_reference_copy_by_id("eve", &deleted, &w.home, &of)
            .unwrap();
        assert_eq!(w.r().is_entity_known(&deleted).unwrap(), None);
    });
}

#[test]
fn a_copy_of_a_classification_brings_an_unknown_entity_but_changes_no_deleted_one() {
    on_new_store(|f| {
        let (w, [_, _, deleted, _, unknown]) = World::entities(f, 1);
        let save = |guid: &str| {
            let request = with_classification(&w, guid, "Confidentiality");
            w.r()
                .save_classification_reference_copy("eve", request)
                .unwrap();
            w.r().is_entity_known(guid).unwrap().unwrap()
        };
        assert_eq!(save(&unknown).classifications.len(), 1);
        assert_eq!(*save(&deleted).classifications, []);
        // An entity that says to be ours, and is not here, is not kept.
        let mut request = with_classification(&w, "lost", "Confidentiality");
        let header = &mut request.entity.as_mut().unwrap().header;
        header.audit.metadata_collection_id = Some(w.home.clone());
        w.r()
            .save_classification_reference_copy("eve", request)
            .unwrap();
        assert_eq!(w.r().is_entity_known("lost").unwrap(), None);
    });
}

#[test]
fn types_are_listed_by_name() {
    on_new_store(|f| {
        let r = &f.repository;
        let category = Some(TypeDefCategory::Relationship);
        let listed = r.find_type_defs_by_category(category).unwrap();
        assert!(listed.is_sorted_by_key(|def| def.name().to_owned()));
        let all = r.get_all_types().unwrap();
        assert!(all.types.is_sorted_by_key(|def| def.name().to_owned()));
        let attributes = all.attribute_types;
        assert!(attributes.is_sorted_by_key(|def| def.name().to_owned()));
    });
}
