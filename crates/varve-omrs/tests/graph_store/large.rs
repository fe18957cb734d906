//! What was taken is read, rendered, found and purged again, however large or deep it is.

use std::sync::Arc;

use varve_kv::{Engine, MemoryEngine};
use varve_omrs::instances::*;
use varve_omrs::json::{Limits, RawJson, decode};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::{EntityFindRequest, TypeDefValidationForRequest};

use crate::world::*;

const USER: &str = "ada";
const AWAY: &str = "away";
const MIB: usize = 1 << 20;

/// JSON that is over each of the limits that requests are read with unless they are raised.
fn beyond_defaults() -> Vec<RawJson> {
    let long = format!("\"{}\"", "x".repeat(5 * MIB));
    let texts = vec![format!("\"{}\"", "x".repeat(3 * MIB)); 6];
    let large = format!("[{}]", texts.join(","));
    let many = format!("[{}]", vec!["0"; Limits::DEFAULT.values + 1].join(","));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    [long, large, many, deep].map(|json| raw(&json)).into()
}

fn raw(json: &str) -> RawJson {
    let limits = Limits {
        bytes: 64 * MIB,
        depth: 1024,
        values: usize::MAX,
        string_bytes: 64 * MIB,
    };
    decode(json.as_bytes(), limits).expect("JSON")
}

fn repository(world: &World) -> Repository {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let store = open(&engine, &world.clock);
    store.set_types(Arc::clone(&world.types)).expect("types");
    let options = Options {
        metadata_collection_id: Some("home".to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    Repository::open(Arc::new(store), options).expect("a repository")
}

fn copy(world: &World, of: &str, guid: &str) -> EntityDetail {
    let mut copy = world.entity(of, guid, &[("name", text(guid))]);
    copy.header.audit.metadata_collection_id = Some(AWAY.to_owned());
    copy
}

fn expected(world: &World, of: &str) -> TypeDefValidationForRequest {
    let index = world.types.by_name(of).expect("a type");
    TypeDefValidationForRequest {
        type_guid: Some(world.types.get(index).guid().to_owned()),
        type_name: Some(of.to_owned()),
    }
}

/// Keeps a copy of something large, has it rendered, searches past it, and purges it.
#[track_caller]
fn lives(world: &World, repository: &Repository, copy: &EntityDetail) {
    let guid = copy.header.guid();
    repository
        .save_entity_reference_copy(USER, copy.clone())
        .expect("taken");
    let rendered = repository.get_entity_detail(guid, None).expect("rendered");
    assert!(rendered == *copy, "another entity");
    let found = repository.find_entities(&EntityFindRequest::default());
    let found = found.expect("found");
    assert_eq!(found.len(), 2);
    assert!(found.iter().any(|entity| **entity == *copy));
    repository
        .purge_entity_reference_copy_by_id(USER, guid, AWAY, &expected(world, "Database"))
        .expect("purged");
    let found = repository.find_entities(&EntityFindRequest::default());
    assert_eq!(found.expect("found").len(), 1);
}

#[test]
fn mapping_properties_of_any_size() {
    let world = World::new();
    let repository = repository(&world);
    let other = copy(&world, "Database", "other");
    repository.save_entity_reference_copy(USER, other).unwrap();
    for json in beyond_defaults() {
        let mut copy = copy(&world, "Database", "far");
        copy.header.audit.mapping_properties = [("key".to_owned(), json.clone())].into();
        lives(&world, &repository, &copy);
        let mut audit = world.header("Confidentiality", "").audit;
        audit.metadata_collection_id = Some(AWAY.to_owned());
        audit.mapping_properties = [("key".to_owned(), json)].into();
        copy.header.audit.mapping_properties.clear();
        copy.classifications = vec![Classification {
            audit,
            name: Some("Confidentiality".to_owned()),
            ..Classification::default()
        }]
        .into();
        lives(&world, &repository, &copy);
    }
}

#[test]
fn types_that_say_more_than_the_catalogue() {
    let world = World::new();
    let repository = repository(&world);
    let other = copy(&world, "Database", "other");
    repository.save_entity_reference_copy(USER, other).unwrap();
    let mut copy = copy(&world, "Database", "far");
    let said = copy.header.audit.instance_type.clone().expect("a type");
    copy.header.audit.instance_type = Some(
        InstanceType {
            description: Some("x".repeat(20 * MIB)),
            ..InstanceType::clone(&said)
        }
        .into(),
    );
    lives(&world, &repository, &copy);
}

#[test]
fn values_of_type_object() {
    let world = World::new();
    for json in beyond_defaults() {
        let mut entity = world.entity("Database", "a", &[]);
        let object = InstancePropertyValue::primitive(Primitive::Object(json));
        entity.properties = Some(InstanceProperties::default().with("name", object));
        world.put(&entity);
        let reader = world.reader(None);
        let found = reader.entity("a").expect("read").expect("there");
        assert!(found.properties() == entity.properties.as_ref(), "another");
        assert!(reader.rendered_entity("a").expect("read").is_some());
    }
}
