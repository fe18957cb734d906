//! Entities with very many relationships, or very large ones, are deleted as far as there is room
//! for what changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_kv::{Engine, MemoryEngine, deadline};
use varve_omrs::error::{Exception, Message};
use varve_omrs::graph_store::GraphStore;
use varve_omrs::instances::InstancePropertyValue;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::TypeDefValidationForRequest;
use varve_omrs::store::{StoredEntity, StoredRelationship};
use varve_omrs::types::InstanceStatus;

use crate::world::*;

const USER: &str = "ada";
const TERM: &str = "GlossaryTerm";
const LINK: &str = "SemanticAssignment";

struct Crowded {
    world: World,
    store: Arc<GraphStore>,
    repository: Repository,
}

impl Crowded {
    /// With the entities `a` and `b`.
    fn new() -> Self {
        let world = World::new();
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let store = open(&engine, &world.clock);
        store.set_types(Arc::clone(&world.types)).expect("types");
        for guid in ["a", "b"] {
            let entity = StoredEntity::Detail(world.entity(TERM, guid, &[]));
            let put = store.transact(&[guid], &mut |transaction| {
                transaction.put_entity(entity.clone(), None)
            });
            put.expect("stored");
        }
        let options = Options {
            metadata_collection_id: Some("home".to_owned()),
            metadata_collection_name: "varve".to_owned(),
            base_url: "http://here.example".to_owned(),
        };
        let store = Arc::new(store);
        Self {
            repository: Repository::open(Arc::clone(&store), options).expect("a repository"),
            store,
            world,
        }
    }

    fn link(&self, number: usize) -> StoredRelationship {
        let guid = format!("link {number}");
        self.world.relationship(LINK, &guid, ["a", "b"])
    }

    fn deleted_link(&self, number: usize) -> StoredRelationship {
        let mut link = self.link(number);
        link.header.audit.status = Some(InstanceStatus::Deleted);
        link
    }

    /// Gives a link that is there a mapping property that is no JSON, so that it cannot be read as
    /// a whole.
    fn damage(&self, number: usize) {
        let of = self.link(number);
        damage_relationship(&self.store, &self.world.clock, &of);
    }

    fn put(&self, links: &[StoredRelationship]) {
        let put = self.repository.store().transact(&[], &mut |transaction| {
            let mut links = links.iter();
            links.try_for_each(|link| transaction.put_relationship(link.clone(), None))
        });
        put.expect("stored");
    }

    /// Deletes the entity, and with it the first relationship.
    fn delete(&self) {
        let expected = self.expected();
        let deleted = self.repository.delete_entity(USER, "a", &expected);
        deleted.expect("deleted");
        let gone = self.repository.get_relationship("link 0", None);
        assert_eq!(gone.unwrap_err().message, Message::RelationshipDeleted);
    }

    fn expected(&self) -> TypeDefValidationForRequest {
        let index = self.world.types.by_name(TERM).expect("a type");
        TypeDefValidationForRequest {
            type_guid: Some(self.world.types.get(index).guid().to_owned()),
            type_name: Some(TERM.to_owned()),
        }
    }
}

#[test]
fn deleted_relationships_do_not_keep_an_entity_from_being_deleted() {
    let crowded = Crowded::new();
    crowded.put(&[crowded.link(0)]);
    for some in 0..21 {
        let deleted = (1..=5_000).map(|number| crowded.deleted_link(5_000 * some + number));
        crowded.put(&deleted.collect::<Vec<_>>());
    }
    let repository = &crowded.repository;
    crowded.delete();
    // Those that were deleted before are as they were.
    let before = repository.is_relationship_known("link 1").expect("read");
    assert_eq!(before.expect("known").header.audit.version, 1);
}

#[test]
fn no_more_than_the_heads_of_deleted_relationships_are_read() {
    let crowded = Crowded::new();
    let repository = &crowded.repository;
    crowded.put(&[crowded.link(0), crowded.deleted_link(1)]);
    crowded.damage(1);
    let damaged = repository.is_relationship_known("link 1").unwrap_err();
    assert_eq!(damaged.message, Message::StoreFailed);
    crowded.delete();
}

#[test]
fn going_through_relationships_ends_with_the_time_of_the_request() {
    let crowded = Crowded::new();
    let repository = &crowded.repository;
    let deleted = (1..=200).map(|number| crowded.deleted_link(number));
    crowded.put(&deleted.collect::<Vec<_>>());
    let expected = crowded.expected();
    let delete = || repository.delete_entity(USER, "a", &expected);
    let re_identify = || repository.re_identify_entity(USER, "a", "c", &expected);
    for call in [&delete as &dyn Fn() -> _, &re_identify] {
        let late = deadline::until(Instant::now(), call).unwrap_err();
        assert_eq!(late.message, Message::StoreBusy);
        let rendered = &late.parameters[0];
        assert!(rendered.contains("the relationships of a"), "{late}");
    }
    assert!(repository.get_entity_detail("a", None).is_ok());
    assert!(repository.get_entity_detail("c", None).is_err());
    let long = Instant::now() + Duration::from_secs(600);
    deadline::until(long, || repository.delete_entity(USER, "a", &expected)).expect("deleted");
}

#[test]
fn giving_relationships_another_end_ends_with_the_time_of_the_request() {
    let crowded = Crowded::new();
    let repository = &crowded.repository;
    // The clock is looked at after 64, so that is not before the first of them is given its new
    // end.
    let links = (1..64).map(|number| crowded.link(number));
    crowded.put(&links.collect::<Vec<_>>());
    let expected = crowded.expected();
    let late = deadline::until(Instant::now(), || {
        repository.re_identify_entity(USER, "a", "c", &expected)
    });
    let late = late.unwrap_err();
    assert_eq!(late.message, Message::StoreBusy);
    let rendered = &late.parameters[0];
    assert!(rendered.contains("the relationships of a"), "{late}");
    assert!(repository.get_entity_detail("c", None).is_err());
}

#[test]
fn relationships_that_change_with_an_entity_have_a_bound_of_bytes() {
    let crowded = Crowded::new();
    let text = "x".repeat(2 << 20);
    for number in 0..33 {
        let mut link = crowded.link(number);
        let value = InstancePropertyValue::string(&text);
        link.properties = Some(Default::default());
        link.properties = link.properties.map(|of| of.with("description", value));
        crowded.put(&[link]);
    }
    let repository = &crowded.repository;
    let expected = crowded.expected();
    let refused = repository.delete_entity(USER, "a", &expected).unwrap_err();
    assert_eq!(refused.message, Message::TooManyRelationships);
    assert_eq!(refused.exception, Exception::RepositoryError);
    let refused = repository.re_identify_entity(USER, "a", "c", &expected);
    assert_eq!(refused.unwrap_err().message, Message::TooManyRelationships);
    assert!(repository.get_entity_detail("a", None).is_ok());
    // One less is not too much.
    let mut link = crowded.deleted_link(0);
    link.header.audit.version = 2;
    crowded.put(&[link]);
    crowded.put(&[crowded.link(1)]);
    repository
        .delete_entity(USER, "a", &expected)
        .expect("deleted");
}
