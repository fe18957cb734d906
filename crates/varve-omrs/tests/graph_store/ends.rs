//! Ends of relationships whose entities are much longer than what stands for them.

use std::sync::Arc;

use varve_omrs::instances::Primitive;
use varve_omrs::json::{Encode, encode};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::search::Limits;

use crate::world::*;

const ENDS: usize = 30;
const LONG: usize = 100_000;

fn repository() -> Repository {
    let world = World::new();
    let name = |guid: &str| {
        (
            "qualifiedName",
            Primitive::String(format!("name of {guid}")),
        )
    };
    let long = || ("description", Primitive::String("long ".repeat(LONG / 5)));
    world.put(&world.entity("GlossaryTerm", "hub", &[name("hub")]));
    for number in 0..ENDS {
        let guid = format!("end-{number}");
        world.put(&world.entity("GlossaryTerm", &guid, &[name(&guid), long()]));
        let ends = ["hub", guid.as_str()];
        let link = world.relationship("SemanticAssignment", &format!("link-{number}"), ends);
        world.put_relationship(&link);
    }
    let options = Options {
        metadata_collection_id: Some("home".to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let repository = Repository::open(Arc::new(world.store), options).expect("a repository");
    repository.with_limits(Limits {
        held_bytes_max: ENDS * LONG / 8,
        ..Limits::default()
    })
}

fn length<T: Encode>(relationships: &[T]) -> usize {
    relationships.iter().map(|of| encode(of).len()).sum()
}

#[test]
fn what_is_long_of_ends_is_not_held() {
    let repository = repository();
    let request = TypeLimitedFindRequest::default();
    let found = repository.get_relationships_for_entity("hub", &request);
    let found = found.expect("it is little");
    assert_eq!(found.len(), ENDS);
    assert!(length(&found) < LONG);
    let found = repository.find_relationships(&InstanceFindRequest::default());
    let found = found.expect("it is little");
    assert_eq!(found.len(), ENDS);
    assert!(length(&found) < LONG);
    // Where the entities themselves are rendered, they are held.
    let request = EntityNeighborhoodFindRequest::default();
    let refused = repository.get_entity_neighborhood("hub", 1, &request);
    assert!(refused.is_err());
}
