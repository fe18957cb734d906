//! Answers that are longer than they may be: no more of them is made than it takes to know.

use std::sync::atomic::Ordering;

use varve_omrs::OmrsError;
use varve_omrs::error::{Exception, Message};
use varve_omrs::instances::Primitive;
use varve_omrs::json::{Encode, encode};
use varve_omrs::requests::*;
use varve_omrs::search::Limits;

use crate::costs::counting;
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

#[test]
fn what_is_found_is_rendered_only_up_to_the_limit_of_the_answer() {
    let (repository, _, rendered) = counting(filled());
    let (entities, relationships) = (EntityFindRequest::default(), InstanceFindRequest::default());
    let found = repository.find_entities(&entities).unwrap();
    assert_eq!(found.len(), COUNT + 1);
    let of_entities = lengths(&found);
    let found = repository.find_relationships(&relationships).unwrap();
    assert_eq!(found.len(), COUNT);
    let of_relationships = lengths(&found);

    let within = |repository: varve_omrs::repository::Repository, answer_bytes_max| {
        repository.with_limits(Limits {
            answer_bytes_max,
            ..Limits::default()
        })
    };
    let count = || rendered.swap(0, Ordering::Relaxed);
    let tenth = of_entities / 10;
    let repository = within(repository, tenth);
    count();
    is_too_long(repository.find_entities(&entities), tenth);
    let entities_rendered = count();
    assert!(entities_rendered > COUNT / 20, "{entities_rendered}");
    assert!(entities_rendered < COUNT / 5, "{entities_rendered}");

    let tenth = of_relationships / 10;
    let repository = within(repository, tenth);
    is_too_long(repository.find_relationships(&relationships), tenth);
    let relationships_rendered = count();
    assert!(
        relationships_rendered > COUNT / 20,
        "{relationships_rendered}"
    );
    assert!(
        relationships_rendered < COUNT / 4,
        "{relationships_rendered}"
    );
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
    let (repository, ..) = counting(filled());
    let (entities, relationships) = (EntityFindRequest::default(), InstanceFindRequest::default());
    let of_entities = lengths(&repository.find_entities(&entities).unwrap());
    let of_relationships = lengths(&repository.find_relationships(&relationships).unwrap());
    let mut repository = repository;
    for (less, is_long) in [(0, false), (1, true)] {
        let within = |bytes: usize| Limits {
            answer_bytes_max: bytes - less,
            ..Limits::default()
        };
        repository = repository.with_limits(within(of_entities));
        assert_eq!(repository.find_entities(&entities).is_err(), is_long);
        repository = repository.with_limits(within(of_relationships));
        let found = repository.find_relationships(&relationships);
        assert_eq!(found.is_err(), is_long);
    }
}
