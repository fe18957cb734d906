//! Going over to other types while instances are read and written.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use varve_kv::deadline;
use varve_omrs::instances::{
    Classification, EntityDetail, InstanceProperties, InstancePropertyValue,
};
use varve_omrs::store::*;
use varve_omrs::types::*;
use varve_omrs::validate;

use crate::world::*;

/// The types with one more property of the type called `name`.
fn patched(types: &Catalogue, name: &str) -> Arc<Catalogue> {
    let mut types = types.clone();
    let def = types.type_by_name(name).unwrap();
    let patch = TypeDefPatch {
        type_guid: Some(def.guid().to_owned()),
        type_name: Some(name.to_owned()),
        apply_to_version: def.version(),
        update_to_version: def.version() + 1,
        property_definitions: vec![TypeDefAttribute {
            name: Some("colour".to_owned()),
            attribute_type: Some(AttributeType::Named("string".to_owned())),
            ..TypeDefAttribute::default()
        }],
        ..TypeDefPatch::default()
    };
    types.patch_type(patch).unwrap();
    Arc::new(types)
}

fn carrying(world: &World, guid: &str, name: &str) -> EntityDetail {
    let mut entity = world.entity("Database", guid, &[("name", text(guid))]);
    entity.classifications = vec![Classification {
        audit: world.header(name, "").audit,
        name: Some(name.to_owned()),
        ..Classification::default()
    }]
    .into();
    entity
}

fn by_colour(types: &Catalogue) -> Walk<'static> {
    Walk {
        of: types.by_name("Database"),
        ..all(Subject::Entities, WalkBy::Property("colour"))
    }
}

#[test]
fn nobody_searches_by_what_is_not_there_in_full() {
    let mut world = World::new();
    world.put(&world.entity("Database", "a", &[("name", text("one"))]));
    let newer = patched(&world.types, "Database");
    assert!(world.store.begin_types(Arc::clone(&newer)).unwrap());
    let by_colour = by_colour(&newer);
    assert!(!world.reader(None).can_walk(&by_colour));
    // Who writes meanwhile does by the types until now.
    world.put(&world.entity("Database", "b", &[("name", text("two"))]));
    world.store.complete_types().unwrap();
    assert!(!world.reader(None).can_walk(&by_colour));
    world.put(&world.entity("Database", "c", &[("name", text("three"))]));
    world.store.set_types(Arc::clone(&newer)).unwrap();
    world.types = newer;
    let coloured = world.entity("Database", "d", &[("colour", text("red"))]);
    world.put(&coloured);
    for _ in 0..2 {
        assert_eq!(world.guids(None, &by_colour), ["a", "b", "c", "d"]);
        world.restart();
    }
}

#[test]
fn a_change_that_is_given_up_leaves_everything_as_it_was() {
    let mut world = World::new();
    world.put(&world.entity("Database", "a", &[("name", text("one"))]));
    let newer = patched(&world.types, "Database");
    assert!(world.store.begin_types(Arc::clone(&newer)).unwrap());
    world.store.complete_types().unwrap();
    world.set_types();
    assert_eq!(world.guids(None, &by_colour(&newer)), [""; 0]);
    let by_name = all(Subject::Entities, WalkBy::Text("one"));
    assert_eq!(world.guids(None, &by_name), ["a"]);
    // Nor does one that was never ended.
    assert!(world.store.begin_types(newer).unwrap());
    world.put(&world.entity("Database", "b", &[("name", text("one"))]));
    world.reopen();
    world.set_types();
    assert_eq!(world.guids(None, &by_name), ["a", "b"]);
    world.restart();
}

#[test]
fn a_change_is_completed_whatever_the_time_of_the_request() {
    let mut world = World::new();
    let guids = ["a", "b", "c"];
    for guid in guids {
        world.put(&world.entity("Database", guid, &[]));
    }
    let newer = patched(&world.types, "Database");
    assert!(world.store.begin_types(Arc::clone(&newer)).unwrap());
    let (began, has_begun) = mpsc::channel();
    std::thread::scope(|threads| {
        // What is being changed is waited for.
        threads.spawn(|| {
            let changed = world.store.transact(&["b"], &mut |_| {
                began.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(300));
                Ok(())
            });
            changed.unwrap();
        });
        has_begun.recv().unwrap();
        let completed = deadline::until(Instant::now(), || world.store.complete_types());
        completed.unwrap();
    });
    deadline::until(Instant::now(), || {
        world.store.set_types(Arc::clone(&newer)).unwrap();
    });
    world.types = Arc::clone(&newer);
    let by_colour = by_colour(&newer);
    assert_eq!(world.guids(None, &by_colour), guids);
    // What was begun and not ended is completed as it is opened.
    let newest = patched(&newer, "Asset");
    assert!(world.store.begin_types(newest).unwrap());
    world.reopen();
    deadline::until(Instant::now(), || world.set_types());
    assert_eq!(world.guids(None, &by_colour), guids);
}

#[test]
fn a_type_without_instances_is_changed_at_once() {
    let world = World::new();
    let mut database = world.entity("Database", "a", &[("name", text("one"))]);
    world.put(&database);
    world.put(&carrying(&world, "b", "Confidentiality"));
    let begins = |name: &str| {
        let newer = patched(&world.types, name);
        let is_to_be_completed = world.store.begin_types(newer).unwrap();
        world.set_types();
        is_to_be_completed
    };
    for unused in ["Person", "DataContentForDataSet", "Retention"] {
        assert!(!begins(unused), "{unused}");
    }
    for used in ["Asset", "Database", "Confidentiality"] {
        assert!(begins(used), "{used}");
    }
    // What was, counts.
    world.clock.advance(5_000);
    database.header.audit.instance_type = world.header("DataStore", "a").audit.instance_type;
    let guids = ["a", "b"];
    for guid in guids {
        database.header.guid = Some(guid.to_owned());
        world.put(&database);
    }
    assert!(begins("Database") && begins("Confidentiality"));
    world.verify();
}

#[test]
fn of_a_changed_classification_those_are_brought_into_line_who_carry_it() {
    let mut world = World::new();
    world.put(&world.entity("Database", "a", &[("name", text("a"))]));
    world.put(&carrying(&world, "b", "Retention"));
    let newer = patched(&world.types, "Confidentiality");
    // It says more of the classification than the types know.
    let mut carrying = carrying(&world, "c", "Confidentiality");
    let of = newer.by_name("Confidentiality").unwrap();
    let red = text("red");
    let colour =
        InstanceProperties::default().with("colour", InstancePropertyValue::primitive(red.clone()));
    let colour = validate::completed_properties(&newer, of, colour).unwrap();
    let mut classification = carrying.classifications[0].clone();
    classification.properties = Some(colour);
    carrying.classifications = vec![classification].into();
    world.put(&carrying);
    world.store.set_types(Arc::clone(&newer)).unwrap();
    world.types = newer;
    let by = WalkBy::ClassifiedWith("Confidentiality", "colour", &red);
    assert_eq!(world.guids(None, &all(Subject::Entities, by)), ["c"]);
    world.restart();
}
