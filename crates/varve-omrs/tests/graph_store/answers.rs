//! Answers that are longer than they may be: no more of them is made than it takes to know.

use varve_omrs::OmrsError;
use varve_omrs::error::{Exception, Message};
use varve_omrs::instances::Primitive;
use varve_omrs::json::{Encode, encode};
use varve_omrs::repository::Repository;
use varve_omrs::requests::*;
use varve_omrs::search::Limits;

use crate::costs::repository;
use crate::world::*;

const COUNT: usize = 400;

fn filled() -> World {
    let world = World::new();
    let named = |guid: &str| {
        let name = Primitive::String(format!("name of {guid}"));
        world.entity("GlossaryTerm", guid, &[("qualifiedName", name)])
    };
    world.put(&named("hub"));
    for number in 0..COUNT {
        let guid = format!("end-{number:04}");
        world.put(&named(&guid));
        let ends = ["hub", guid.as_str()];
        let link = world.relationship("SemanticAssignment", &format!("link-{number:04}"), ends);
        world.put_relationship(&link);
    }
    world
}

fn lengths<T: Encode>(rendered: &[T]) -> usize {
    rendered.iter().map(|of| encode(of).len()).sum()
}

fn is_too_long<T: std::fmt::Debug>(answer: Result<T, OmrsError>, most: usize) {
    let error = answer.expect_err("it is too long");
    assert_eq!(error.exception, Exception::RepositoryError);
    assert_eq!(error.message, Message::AnswerTooLong);
    assert!(error.to_string().contains(&most.to_string()), "{error}");
}

/// A repository whose answers may be so long.
fn within(repository: Repository, answer_bytes_max: usize) -> Repository {
    repository.with_limits(Limits {
        answer_bytes_max,
        ..Limits::default()
    })
}

/// The answer of a search when an instance cannot be rendered, and the answer may have so many
/// bytes.
fn answer<T>(
    damaged: impl Fn(&World),
    most: usize,
    search: impl Fn(&Repository) -> Result<T, OmrsError>,
) -> Result<T, OmrsError> {
    let world = filled();
    damaged(&world);
    search(&within(repository(world), most))
}

#[test]
fn what_is_found_is_rendered_only_up_to_the_limit_of_the_answer() {
    let whole = repository(filled());
    let (entities, relationships) = (EntityFindRequest::default(), InstanceFindRequest::default());
    let found = whole.find_entities(&entities).unwrap();
    assert_eq!(found.len(), COUNT + 1);
    let guids = found.iter().map(|of| of.header.guid().to_owned());
    assert!(guids.collect::<Vec<_>>().is_sorted());
    let tenth = lengths(&found) / 10;
    let find = |of: &Repository| of.find_entities(&entities);
    let damaged = |number: usize| {
        move |world: &World| {
            damage_entity(&world.store, &world.clock, &format!("end-{number:04}"));
        }
    };
    is_too_long(answer(damaged(COUNT / 5), tenth, find), tenth);
    let refused = answer(damaged(COUNT / 20), tenth, find).unwrap_err();
    assert_eq!(refused.message, Message::StoreFailed);

    let found = whole.find_relationships(&relationships).unwrap();
    assert_eq!(found.len(), COUNT);
    let tenth = lengths(&found) / 10;
    let find = |of: &Repository| of.find_relationships(&relationships);
    let damaged = |number: usize| {
        move |world: &World| {
            let (guid, end) = (format!("link-{number:04}"), format!("end-{number:04}"));
            let link = world.relationship("SemanticAssignment", &guid, ["hub", &end]);
            damage_relationship(&world.store, &world.clock, &link);
        }
    };
    is_too_long(answer(damaged(COUNT / 4), tenth, find), tenth);
    let refused = answer(damaged(COUNT / 20), tenth, find).unwrap_err();
    assert_eq!(refused.message, Message::StoreFailed);

    let repository = within(whole, tenth);
    let of_one = TypeLimitedFindRequest::default();
    is_too_long(
        repository.get_relationships_for_entity("hub", &of_one),
        tenth,
    );
    let around = EntityNeighborhoodFindRequest::default();
    is_too_long(repository.get_entity_neighborhood("hub", 1, &around), tenth);
}

#[test]
fn an_answer_may_be_as_long_as_is_allowed() {
    let mut repository = repository(filled());
    let (entities, relationships) = (EntityFindRequest::default(), InstanceFindRequest::default());
    let of_entities = lengths(&repository.find_entities(&entities).unwrap());
    let of_relationships = lengths(&repository.find_relationships(&relationships).unwrap());
    for (less, is_long) in [(0, false), (1, true)] {
        repository = within(repository, of_entities - less);
        assert_eq!(repository.find_entities(&entities).is_err(), is_long);
        repository = within(repository, of_relationships - less);
        let found = repository.find_relationships(&relationships);
        assert_eq!(found.is_err(), is_long);
    }
}
