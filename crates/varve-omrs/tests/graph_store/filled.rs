//! A graph whose instances came without entries, as from a dump, has them once the types are set.

use std::sync::Arc;

use varve_encoding::index::{IndexId, partition_prefix};
use varve_encoding::tables::{EVENT_INDEX, INDEX, META};
use varve_kv::{Batch, Durability};
use varve_omrs::instances::Classification;
use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::types::{Catalogue, TypeDef};

use crate::world::*;

/// The numbers of the store's indexes are lower.
const INDEXES_END: u32 = 64;

/// Takes away what a dump does not hold: notes, and the entries of the store's indexes.
fn strip(world: &World) {
    let space = world.store.graph().space();
    let prefixes: Vec<[u8; 5]> = (0..INDEXES_END)
        .map(|number| partition_prefix(IndexId::Derived(number)))
        .collect();
    let mut batch = Batch::new();
    let mut stripped = [0; 3];
    for (table, count) in [META, INDEX, EVENT_INDEX].into_iter().zip(&mut stripped) {
        space
            .scan_table(table, None, &mut |row| {
                let is_note = table == META && row.partition == b"n";
                let mut of = prefixes.iter();
                if is_note || table != META && of.any(|prefix| row.partition.starts_with(prefix)) {
                    batch.delete(table, row.partition, row.clustering);
                    *count += 1;
                }
                std::ops::ControlFlow::Continue(())
            })
            .expect("read");
    }
    assert!(stripped.iter().all(|count| *count > 0), "{stripped:?}");
    space.write(&batch, Durability::Buffered).expect("written");
}

#[test]
fn what_came_without_entries_is_found() {
    let mut world = World::new();
    let mut entity = world.entity("Database", "a", &[("name", text("one"))]);
    world.put(&entity);
    let first = world.store.now();
    world.put(&world.entity("Person", "b", &[]));
    world.put_relationship(&world.relationship("DataContentForDataSet", "r", ["a", "b"]));
    world.clock.advance(5_000);
    entity.properties = Some(world.properties("Database", &[("name", text("two"))]));
    entity.header.audit.version = 2;
    world.put(&entity);
    strip(&world);
    world.restart();
    world.verify();
    let walk = |subject| all(subject, WalkBy::Guid);
    assert_eq!(world.guids(None, &walk(Subject::Entities)), ["a", "b"]);
    assert_eq!(world.guids(None, &walk(Subject::Relationships)), ["r"]);
    let by = |name| all(Subject::Entities, WalkBy::Text(name));
    assert_eq!(world.guids(None, &by("two")), ["a"]);
    assert_eq!(world.guids(Some(first), &by("one")), ["a"]);
    let found = world.reader(None).relationship("r").expect("read");
    assert!(found.is_some());
    assert!(
        world
            .store
            .has_ever(world.types.by_name("Person").expect("a type"))
            .expect("an answer")
    );
}

/// The types, and copies of some by other names.
fn with_copies(types: &Catalogue, copies: &[(&str, &str)]) -> Arc<Catalogue> {
    let mut types = types.clone();
    for (name, of) in copies {
        let mut def = TypeDef::clone(types.type_by_name(of).unwrap());
        let link = &mut def.body.summary.link;
        link.guid = Some(format!("guid of {name}"));
        link.name = Some((*name).to_owned());
        types.add_type(def).unwrap();
    }
    Arc::new(types)
}

/// A store with instances that came without entries, given the standard's types only, while some
/// are of types that were added where they came from; and all types. `Idle` is one that no instance
/// is of.
fn filled_before_its_types() -> (World, Arc<Catalogue>) {
    let mut world = World::new();
    let standard = Arc::clone(&world.types);
    let copies = [
        ("Thing", "Database"),
        ("Idle", "Database"),
        ("Link", "DataContentForDataSet"),
        ("IdleLink", "DataContentForDataSet"),
        ("Mark", "Confidentiality"),
    ];
    world.types = with_copies(&standard, &copies);
    world.set_types();
    let mut thing = world.entity("Thing", "a", &[("name", text("one"))]);
    let mut former = world.entity("Thing", "c", &[]);
    world.put(&thing);
    world.put(&former);
    let mut marked = world.entity("Database", "b", &[]);
    marked.classifications = vec![Classification {
        audit: world.header("Mark", "").audit,
        name: Some("Mark".to_owned()),
        properties: Some(world.properties("Mark", &[("notes", text("red"))])),
        ..Classification::default()
    }]
    .into();
    world.put(&marked);
    world.put_relationship(&world.relationship("Link", "r", ["a", "b"]));
    world.clock.advance(5_000);
    thing.properties = Some(world.properties("Thing", &[("name", text("two"))]));
    thing.header.audit.version = 2;
    world.put(&thing);
    former.header.audit.instance_type = world.header("Database", "c").audit.instance_type;
    former.header.audit.version = 2;
    world.put(&former);
    strip(&world);
    let all = std::mem::replace(&mut world.types, standard);
    world.restart();
    world.verify();
    (world, all)
}

fn assert_all_is_found(world: &mut World) {
    let red = text("red");
    for _ in 0..2 {
        let found = |at, name: &str, subject| {
            let of = world.types.by_name(name);
            let by = WalkBy::Guid;
            world.guids(
                at,
                &Walk {
                    of,
                    ..all(subject, by)
                },
            )
        };
        let first = Some(Millis(START / 1_000));
        assert_eq!(found(None, "Thing", Subject::Entities), ["a"]);
        assert_eq!(found(first, "Thing", Subject::Entities), ["a", "c"]);
        assert_eq!(found(None, "Asset", Subject::Entities), ["a", "b", "c"]);
        assert_eq!(found(None, "Link", Subject::Relationships), ["r"]);
        let relationship = world.reader(None).relationship("r").expect("read");
        assert!(relationship.is_some());
        let by = |at, by| world.guids(at, &all(Subject::Entities, by));
        assert_eq!(by(None, WalkBy::Text("two")), ["a"]);
        assert_eq!(by(first, WalkBy::Text("one")), ["a"]);
        let marked = WalkBy::ClassifiedWith("Mark", "notes", &red);
        assert_eq!(by(None, marked), ["b"]);
        for (name, was_ever) in [
            ("Thing", true),
            ("Link", true),
            ("Mark", true),
            ("Idle", false),
        ] {
            let of = world.types.by_name(name).unwrap();
            assert_eq!(world.store.has_ever(of).unwrap(), was_ever, "{name}");
        }
        world.restart();
    }
}

#[test]
fn what_came_of_types_that_are_added_later_is_found() {
    let (mut world, types) = filled_before_its_types();
    assert!(world.store.begin_types(Arc::clone(&types)).unwrap());
    world.types = types;
    world.set_types();
    assert_all_is_found(&mut world);
}

#[test]
fn it_is_found_when_the_types_are_added_one_by_one() {
    let (mut world, types) = filled_before_its_types();
    for name in ["Mark", "Link", "Thing", "Idle"] {
        let mut more = Catalogue::clone(&world.types);
        let def = types.type_by_name(name).unwrap();
        more.add_type(TypeDef::clone(def)).unwrap();
        world.types = Arc::new(more);
        world.set_types();
        world.verify();
    }
    assert_all_is_found(&mut world);
}

#[test]
fn it_is_found_after_an_addition_that_was_interrupted() {
    let (mut world, types) = filled_before_its_types();
    assert!(world.store.begin_types(Arc::clone(&types)).unwrap());
    world.reopen();
    world.set_types();
    world.verify();
    world.types = types;
    world.set_types();
    assert_all_is_found(&mut world);
}

#[test]
fn a_type_that_nothing_came_of_is_added_at_once() {
    let (world, _) = filled_before_its_types();
    let copies = [
        ("Idle", "Database"),
        ("IdleLink", "DataContentForDataSet"),
        ("New", "Database"),
        ("NewMark", "Confidentiality"),
    ];
    for copy in copies {
        let types = with_copies(&world.types, &[copy]);
        assert!(!world.store.begin_types(types).unwrap(), "{copy:?}");
        world.set_types();
    }
}
