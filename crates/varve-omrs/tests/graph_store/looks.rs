//! Which looks into the engine below each call takes: in a large store each costs more than what is
//! done with it.
//!
//! Few things vary: every entity and relationship has a past, and every relationship its own two
//! ends. What a call does not need to look at is not to be looked at, and nothing twice.

use std::sync::Arc;

use varve_kv::{Engine, MemoryEngine};
use varve_omrs::OmrsError;
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::types::InstanceStatus;
use varve_testkit::{Looks, NotedEngine};

use crate::world::*;

const USER: &str = "ada";
const HERE: &str = "home";
const AWAY: &str = "away";
const CLASSIFICATION: &str = "Confidentiality";
const TERM: &str = "GlossaryTerm";
const LINK: &str = "SemanticAssignment";

/// A repository, and the looks into what it is kept in.
struct Looked {
    repository: Repository,
    looks: Arc<Looks>,
    /// Has the clock, and makes instances for requests.
    world: World,
}

impl Looked {
    fn new() -> Self {
        let world = World::new();
        let (engine, looks) = NotedEngine::new(Arc::new(MemoryEngine::new()));
        let store = open(&(Arc::new(engine) as Arc<dyn Engine>), &world.clock);
        store.set_types(Arc::clone(&world.types)).expect("types");
        assert!(store.read_texts());
        let options = Options {
            metadata_collection_id: Some(HERE.to_owned()),
            metadata_collection_name: "varve".to_owned(),
            base_url: "http://here.example".to_owned(),
        };
        let repository = Repository::open(Arc::new(store), options).expect("a repository");
        Self {
            repository,
            looks,
            world,
        }
    }

    fn type_guid(&self, name: &str) -> String {
        let types = &self.world.types;
        let index = types.by_name(name).expect("a type");
        types.get(index).guid().to_owned()
    }

    fn expected(&self, name: &str) -> TypeDefValidationForRequest {
        TypeDefValidationForRequest {
            type_guid: Some(self.type_guid(name)),
            type_name: Some(name.to_owned()),
        }
    }

    /// Time passes before each call, so that none has to be made twice.
    fn at(&self) -> &Repository {
        self.world.clock.advance(5_000);
        &self.repository
    }

    /// The looks that a call takes.
    #[track_caller]
    fn takes<T>(
        &self,
        call: &str,
        expected: &[&str],
        run: impl FnOnce(&Repository) -> Result<T, OmrsError>,
    ) -> T {
        let repository = self.at();
        self.looks.take();
        let done = run(repository).expect(call);
        assert_eq!(self.looks.take(), expected, "{call}");
        done
    }

    fn entity(&self) -> String {
        let request = EntityCreateRequest {
            type_guid: Some(self.type_guid(TERM)),
            properties: Some(named("first")),
            status: Some(InstanceStatus::Active),
            ..EntityCreateRequest::default()
        };
        let made = self.at().add_entity(USER, request).expect("made");
        made.header.guid().to_owned()
    }

    /// An entity with a former state.
    fn changed_entity(&self) -> String {
        let guid = self.entity();
        let request = properties("second");
        let changed = self.at().update_entity_properties(USER, &guid, request);
        changed.expect("changed");
        guid
    }

    fn relationship(&self) -> (String, [String; 2]) {
        let ends = [self.changed_entity(), self.changed_entity()];
        let request = self.relationship_request(&ends);
        let made = self.at().add_relationship(USER, request).expect("made");
        (made.header.guid().to_owned(), ends)
    }

    fn relationship_request(&self, ends: &[String; 2]) -> RelationshipCreateRequest {
        RelationshipCreateRequest {
            type_guid: Some(self.type_guid(LINK)),
            entity_one_guid: Some(ends[0].clone()),
            entity_two_guid: Some(ends[1].clone()),
            status: Some(InstanceStatus::Active),
            ..RelationshipCreateRequest::default()
        }
    }

    fn changed_relationship(&self) -> (String, [String; 2]) {
        let (guid, ends) = self.relationship();
        let repository = self.at();
        let changed = repository.update_relationship_properties(USER, &guid, described("second"));
        changed.expect("changed");
        (guid, ends)
    }

    fn foreign_classification(&self, guid: &str, version: i64) -> ClassificationWithEntityRequest {
        let mut audit = self.world.header(CLASSIFICATION, "").audit;
        audit.metadata_collection_id = Some(AWAY.to_owned());
        audit.version = version;
        let now = self.world.store.now();
        audit.update_time = Some(Millis(now.0 + 4));
        ClassificationWithEntityRequest {
            classification: Some(Classification {
                audit,
                name: Some(CLASSIFICATION.to_owned()),
                ..Classification::default()
            }),
            entity: Some(EntityDetail {
                classifications: Shared::default(),
                ..self.world.entity(TERM, guid, &[])
            }),
            proxy: None,
        }
    }
}

fn string(name: &str, value: &str) -> InstanceProperties {
    InstanceProperties::default().with(name, InstancePropertyValue::string(value))
}

fn named(value: &str) -> InstanceProperties {
    string("qualifiedName", value)
}

fn properties(value: &str) -> InstancePropertiesRequest {
    InstancePropertiesRequest {
        properties: Some(named(value)),
    }
}

fn described(value: &str) -> InstancePropertiesRequest {
    InstancePropertiesRequest {
        properties: Some(string("description", value)),
    }
}

#[test]
fn entities() {
    let all = Looked::new();
    let guid = all.changed_entity();
    all.takes("getEntityDetail", &["get vertex"], |it| {
        it.get_entity_detail(&guid, None)
    });
    all.takes("updateEntityProperties", &["get vertex"], |it| {
        it.update_entity_properties(USER, &guid, properties("third"))
    });
    all.takes("undoEntityUpdate", &["get vertex", "scan event"], |it| {
        it.undo_entity_update(USER, &guid)
    });
    all.takes("classifyEntity", &["get vertex"], |it| {
        it.classify_entity(
            USER,
            &guid,
            CLASSIFICATION,
            InstancePropertiesRequest::default(),
        )
    });
    all.takes("updateEntityClassification", &["get vertex"], |it| {
        it.update_entity_classification(
            USER,
            &guid,
            CLASSIFICATION,
            InstancePropertiesRequest::default(),
        )
    });
    all.takes("declassifyEntity", &["get vertex"], |it| {
        it.declassify_entity(USER, &guid, CLASSIFICATION)
    });
    for version in 1..3 {
        let copy = all.foreign_classification(&guid, version);
        all.takes("saveClassificationReferenceCopy", &["get vertex"], |it| {
            it.save_classification_reference_copy(USER, copy)
        });
    }
    let copy = all.foreign_classification(&guid, 3);
    all.takes("purgeClassificationReferenceCopy", &["get vertex"], |it| {
        it.purge_classification_reference_copy(USER, copy)
    });
    all.takes(
        "getEntityDetailHistory",
        &["get vertex", "scan event"],
        |it| it.get_entity_detail_history(&guid, &HistoryRangeRequest::default()),
    );
    let expected = all.expected(TERM);
    all.takes("deleteEntity", &["get vertex", "scan edge"], |it| {
        it.delete_entity(USER, &guid, &expected)
    });
    all.takes("restoreEntity", &["get vertex"], |it| {
        it.restore_entity(USER, &guid)
    });
    all.at()
        .delete_entity(USER, &guid, &expected)
        .expect("deleted");
    all.takes(
        "purgeEntity",
        &["get vertex", "scan edge", "scan event"],
        |it| it.purge_entity(USER, &guid, &expected),
    );
    let (_, [hub, _]) = all.changed_relationship();
    all.takes(
        "deleteEntity, with a relationship",
        &["get vertex", "scan edge", "scan index", "get vertex"],
        |it| it.delete_entity(USER, &hub, &expected),
    );
    all.takes(
        "purgeEntity, with a relationship",
        &[
            "get vertex",
            "scan edge",
            "scan event",
            "scan index",
            "scan event_index",
            "scan event",
            "scan event",
        ],
        |it| it.purge_entity(USER, &hub, &expected),
    );
}

#[test]
fn relationships() {
    let all = Looked::new();
    let (guid, ends) = all.relationship();
    all.takes(
        "addRelationship",
        &["get vertex", "get vertex", "scan index", "get edge"],
        |it| it.add_relationship(USER, all.relationship_request(&ends)),
    );
    all.takes(
        "getRelationship",
        &["scan index", "get edge", "get vertex", "get vertex"],
        |it| it.get_relationship(&guid, None),
    );
    all.takes(
        "updateRelationshipProperties",
        &["scan index", "get edge", "get vertex", "get vertex"],
        |it| it.update_relationship_properties(USER, &guid, described("second")),
    );
    all.takes(
        "updateRelationshipStatus",
        &["scan index", "get edge", "get vertex", "get vertex"],
        |it| it.update_relationship_status(USER, &guid, Some(InstanceStatus::Active)),
    );
    all.takes(
        "undoRelationshipUpdate",
        &[
            "scan index",
            "get edge",
            "scan event",
            "get vertex",
            "get vertex",
        ],
        |it| it.undo_relationship_update(USER, &guid),
    );
    let range = HistoryRangeRequest::default();
    all.takes(
        "getRelationshipHistory",
        &[
            "scan index",
            "scan event_index",
            "get edge",
            "scan event",
            "get vertex",
            "get vertex",
        ],
        |it| it.get_relationship_history(&guid, &range),
    );
    let at = all
        .repository
        .get_entity_detail(&ends[0], None)
        .expect("there");
    all.at()
        .update_entity_properties(USER, at.header.guid(), properties("later"))
        .expect("changed");
    all.takes(
        "getRelationshipHistory, an end changed since",
        &[
            "scan index",
            "scan event_index",
            "get edge",
            "scan event",
            "get vertex",
            "get vertex",
            "scan 1 event",
        ],
        |it| it.get_relationship_history(&guid, &range),
    );
    let expected = all.expected(LINK);
    all.takes(
        "deleteRelationship",
        &["scan index", "get edge", "get vertex", "get vertex"],
        |it| it.delete_relationship(USER, &guid, &expected),
    );
    all.takes(
        "restoreRelationship",
        &["scan index", "get edge", "get vertex", "get vertex"],
        |it| it.restore_relationship(USER, &guid),
    );
    all.at()
        .delete_relationship(USER, &guid, &expected)
        .expect("deleted");
    all.takes(
        "purgeRelationship",
        &[
            "scan index",
            "get edge",
            "scan event_index",
            "scan event",
            "scan event",
        ],
        |it| it.purge_relationship(USER, &guid, &expected),
    );
}
