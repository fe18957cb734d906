//! Long histories: a page costs what it holds, and looking for it has an end.

use std::sync::Arc;
use std::time::Duration;

use varve_kv::{Engine, MemoryEngine};
use varve_omrs::OmrsError;
use varve_omrs::error::{Exception, Message};
use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::search::Limits;

use crate::world::*;

const USER: &str = "ada";
const STATES: usize = 300;
/// Bytes of each state: all are more than are kept while a history is looked at.
const STATE_BYTES: usize = 8 << 10;

/// An entity, and a relationship at it, with long histories.
struct Long {
    world: World,
    engine: Arc<dyn Engine>,
    entity: String,
    relationship: String,
}

impl Long {
    fn new() -> Self {
        let mut long = Self {
            world: World::new(),
            engine: Arc::new(MemoryEngine::new()),
            entity: String::new(),
            relationship: String::new(),
        };
        let repository = long.repository(Limits::default());
        let ends = [long.term(&repository), long.term(&repository)];
        let link = RelationshipCreateRequest {
            type_guid: Some(long.type_guid("SemanticAssignment")),
            entity_one_guid: Some(ends[0].clone()),
            entity_two_guid: Some(ends[1].clone()),
            ..RelationshipCreateRequest::default()
        };
        let link = repository.add_relationship(USER, link).expect("made");
        [long.entity, _] = ends;
        long.relationship = link.header.guid().to_owned();
        for number in 1..STATES {
            long.world.clock.advance(5_000);
            let of = |name| properties(name, number);
            repository
                .update_entity_properties(USER, &long.entity, of("qualifiedName"))
                .expect("changed");
            repository
                .update_relationship_properties(USER, &long.relationship, of("description"))
                .expect("changed");
        }
        long
    }

    fn repository(&self, limits: Limits) -> Repository {
        let store = open(&self.engine, &self.world.clock);
        store
            .set_types(Arc::clone(&self.world.types))
            .expect("types");
        let options = Options {
            metadata_collection_id: Some("home".to_owned()),
            metadata_collection_name: "varve".to_owned(),
            base_url: "http://here.example".to_owned(),
        };
        let repository = Repository::open(Arc::new(store), options).expect("a repository");
        repository.with_limits(limits)
    }

    fn type_guid(&self, name: &str) -> String {
        let types = &self.world.types;
        types
            .get(types.by_name(name).expect("a type"))
            .guid()
            .to_owned()
    }

    fn term(&self, repository: &Repository) -> String {
        let request = EntityCreateRequest {
            type_guid: Some(self.type_guid("GlossaryTerm")),
            properties: properties("qualifiedName", 0).properties,
            ..EntityCreateRequest::default()
        };
        let made = repository.add_entity(USER, request).expect("made");
        made.header.guid().to_owned()
    }

    /// The versions that the pages of both histories hold, which are alike.
    fn versions(
        &self,
        repository: &Repository,
        request: &HistoryRangeRequest,
    ) -> Result<Vec<i64>, OmrsError> {
        let entities = repository.get_entity_detail_history(&self.entity, request);
        let links = repository.get_relationship_history(&self.relationship, request);
        let entities = entities?.into_iter().map(|of| of.header.audit.version);
        let entities: Vec<i64> = entities.collect();
        let links = links?.into_iter().map(|of| of.header.audit.version);
        assert_eq!(entities, links.collect::<Vec<i64>>());
        Ok(entities)
    }
}

fn properties(name: &str, number: usize) -> InstancePropertiesRequest {
    let text = format!("{number} {}", "x".repeat(STATE_BYTES));
    let value = InstancePropertyValue::string(&text);
    InstancePropertiesRequest {
        properties: Some(InstanceProperties::default().with(name, value)),
    }
}

fn page(order: HistorySequencingOrder, offset: i32, page_size: i32) -> HistoryRangeRequest {
    HistoryRangeRequest {
        order: Some(order),
        offset,
        page_size,
        ..HistoryRangeRequest::default()
    }
}

#[test]
fn a_page_costs_what_it_holds_and_looking_for_it_has_an_end() {
    use HistorySequencingOrder::{Backwards, Forwards};
    let long = Long::new();
    let limits = Limits {
        held_bytes_max: 20 * 3 * STATE_BYTES,
        ..Limits::default()
    };
    let mut repository = long.repository(limits);
    let all: Vec<i64> = (1..=STATES as i64).collect();
    let mut paged = Vec::new();
    for offset in (0..STATES as i32).step_by(10) {
        let some = long.versions(&repository, &page(Forwards, offset, 10));
        let some = some.expect("a page");
        let mut last = long
            .versions(
                &repository,
                &page(Backwards, STATES as i32 - 10 - offset, 10),
            )
            .expect("a page");
        last.reverse();
        assert_eq!(some, last);
        paged.extend(some);
    }
    assert_eq!(paged, all);
    let beyond = long.versions(&repository, &page(Forwards, STATES as i32, 10));
    assert_eq!(beyond, Ok(Vec::new()));
    let whole = long.versions(&repository, &page(Forwards, 0, 0));
    assert_eq!(whole.unwrap_err().message, Message::TooMuchHeld);
    // The states of a time.
    let from = Millis(START / 1000 + 5 * 100);
    let range = HistoryRangeRequest {
        from_time: Some(from),
        to_time: Some(Millis(from.0 + 5 * 4)),
        ..page(Forwards, 0, 0)
    };
    let some = long.versions(&repository, &range).expect("a range");
    assert_eq!(some, all[100..104]);

    drop(repository);
    repository = long.repository(Limits {
        time_max: Duration::ZERO,
        ..Limits::default()
    });
    let late = long.versions(&repository, &page(Forwards, 0, 1));
    assert_eq!(late.unwrap_err().message, Message::TookTooLong);

    drop(repository);
    repository = long.repository(Limits::default());
    assert_eq!(long.versions(&repository, &page(Forwards, 0, 0)), Ok(all));
}

#[test]
fn looking_for_a_page_has_a_bound_of_memory_which_the_page_does_not_share() {
    let long = Long::new();
    let held = |held_bytes_max| {
        long.repository(Limits {
            held_bytes_max,
            ..Limits::default()
        })
    };
    let first = |size| page(HistorySequencingOrder::Forwards, 0, size);
    // A state of the page with its ends takes less than this, all that are looked at take more.
    let little = 40 << 10;
    let repository = held(little);
    let entity = repository.get_entity_detail_history(&long.entity, &first(1));
    let link = repository.get_relationship_history(&long.relationship, &first(1));
    for refused in [entity.unwrap_err(), link.unwrap_err()] {
        assert_eq!(refused.message, Message::TooMuchHeld);
        assert_eq!(refused.exception, Exception::RepositoryError);
    }
    drop(repository);
    // Room for either, and not for both at a time.
    let repository = held(2 * little);
    let page = repository.get_entity_detail_history(&long.entity, &first(4));
    assert_eq!(page.expect("a page").len(), 4);
}
