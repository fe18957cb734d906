//! Instances come back as they were put, now and as of then, and walks find them.

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;

use crate::world::*;

#[test]
fn an_entity_comes_back_as_it_was_put() {
    let world = World::new();
    let entity = world.entity(
        "Database",
        "guid-1",
        &[("qualifiedName", text("db.1")), ("name", text("one"))],
    );
    world.put(&entity);
    let reader = world.reader(None);
    let found = reader.entity("guid-1").expect("read").expect("there");
    assert_eq!(found, StoredEntity::Detail(entity));
    assert!(reader.entity("guid-2").expect("read").is_none());
    world.verify();
}

#[test]
fn the_past_keeps_what_was() {
    let world = World::new();
    let mut entity = world.entity("Database", "a", &[("name", text("one"))]);
    world.put(&entity);
    let first = world.store.now();
    world.clock.advance(5_000);
    let changed = world.store.now();
    entity.properties = Some(world.properties("Database", &[("name", text("two"))]));
    entity.header.audit.version = 2;
    entity.header.audit.update_time = Some(changed);
    world.put(&entity);
    world.clock.advance(5_000);
    let name_at = |at: Millis| -> Option<i64> {
        let found = world.reader(Some(at)).entity("a").expect("read")?;
        Some(found.header().audit.version)
    };
    assert_eq!(name_at(Millis(first.0 - 1)), None);
    assert_eq!(name_at(first), Some(1));
    assert_eq!(name_at(Millis(changed.0 - 1)), Some(1));
    assert_eq!(name_at(changed), Some(2));
    assert_eq!(name_at(Millis(changed.0 + 1_000_000)), Some(2));
    let state = world.reader(None).state();
    assert_eq!(
        (state.is_some(), state),
        (true, world.reader(Some(first)).state())
    );
    let history = world.entity_history("a");
    let periods: Vec<(Millis, Option<Millis>)> = history
        .iter()
        .map(|version| (version.from, version.to))
        .collect();
    assert_eq!(periods, [(first, Some(changed)), (changed, None)]);
    assert_eq!(history[1].state, StoredEntity::Detail(entity));
    let by = |name| all(Subject::Entities, WalkBy::Text(name));
    assert_eq!(world.guids(None, &by("two")), ["a"]);
    assert_eq!(world.guids(None, &by("one")), [""; 0]);
    assert_eq!(world.guids(Some(first), &by("one")), ["a"]);
    assert_eq!(world.guids(Some(first), &by("two")), [""; 0]);
    world.verify();
}

#[test]
fn relationships_are_found_by_guid_and_from_both_ends() {
    let world = World::new();
    for guid in ["a", "b"] {
        world.put(&world.entity("Database", guid, &[]));
    }
    let of = "DataContentForDataSet";
    let one = world.relationship(of, "r1", ["a", "b"]);
    let two = world.relationship(of, "r2", ["a", "b"]);
    world.put_relationship(&one);
    world.put_relationship(&two);
    let reader = world.reader(None);
    assert_eq!(reader.relationship("r1").expect("read"), Some(one.clone()));
    for end in ["a", "b"] {
        let mut found = Vec::new();
        reader
            .relationships_of(end, None, &mut |relationship| {
                found.push(relationship);
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .expect("read");
        found.sort_by(|a, b| a.header.guid.cmp(&b.header.guid));
        assert_eq!(found, [one.clone(), two.clone()]);
    }
    let walk = all(Subject::Relationships, WalkBy::Guid);
    assert_eq!(world.guids(None, &walk), ["r1", "r2"]);
    world.verify();
}

#[test]
fn walks_stand_in_their_order() {
    let world = World::new();
    for (guid, name) in [("e2", "x"), ("e10", "y"), ("e1", "x"), ("f", "z")] {
        world.put(&world.entity("Database", guid, &[("name", text(name))]));
        world.clock.advance(1_000);
    }
    world.put(&world.entity("Person", "p", &[("name", text("x"))]));
    let of = world.types.by_name("Database");
    let walk = |by, reverse| Walk {
        of,
        reverse,
        ..all(Subject::Entities, by)
    };
    let guids = |by, reverse| world.guids(None, &walk(by, reverse));
    assert_eq!(guids(WalkBy::Guid, false), ["e1", "e10", "e2", "f"]);
    assert_eq!(guids(WalkBy::Guid, true), ["f", "e2", "e10", "e1"]);
    assert_eq!(guids(WalkBy::CreateTime, false), ["e2", "e10", "e1", "f"]);
    assert_eq!(guids(WalkBy::CreateTime, true), ["f", "e1", "e10", "e2"]);
    assert_eq!(guids(WalkBy::UpdateTime, true), ["e1", "e10", "e2", "f"]);
    let by_name = || WalkBy::Property("name");
    assert_eq!(guids(by_name(), false), ["e1", "e2", "e10", "f"]);
    assert_eq!(guids(by_name(), true), ["f", "e10", "e1", "e2"]);
    let x = text("x");
    assert_eq!(guids(WalkBy::PropertyIs("name", &x), false), ["e1", "e2"]);
    assert_eq!(
        guids(WalkBy::PropertyStarts("name", "x"), false),
        ["e1", "e2"]
    );
    assert_eq!(guids(WalkBy::Home("home"), false).len(), 4);
    let everywhere = all(Subject::Entities, WalkBy::PropertyIs("name", &x));
    assert_eq!(world.guids(None, &everywhere), ["e1", "e2", "p"]);
}

#[test]
fn walks_do_not_pass_by_proxies_but_types_know_of_them() {
    let mut world = World::new();
    world.put(&world.entity("Database", "a", &[("name", text("one"))]));
    let names = ["Confidentiality".to_owned()];
    let proxy = StoredEntity::Proxy(EntityProxy {
        header: world.header("GlossaryTerm", "p"),
        classifications: vec![Classification {
            audit: world.header("Confidentiality", "").audit,
            name: Some("Confidentiality".to_owned()),
            ..Classification::default()
        }]
        .into(),
        unique_properties: Some(
            world.properties("GlossaryTerm", &[("qualifiedName", text("one"))]),
        ),
    });
    world
        .store
        .transact(&["p"], &mut |transaction| {
            transaction.put_entity(proxy.clone(), None)
        })
        .expect("stored");
    let has_ever = |world: &World, name: &str| {
        let of = world.types.by_name(name).expect("a type");
        world.store.has_ever(of).expect("an answer")
    };
    for _ in 0..2 {
        assert_eq!(
            world.reader(None).entity("p").expect("read"),
            Some(proxy.clone())
        );
        for by in [
            WalkBy::Guid,
            WalkBy::CreateTime,
            WalkBy::UpdateTime,
            WalkBy::Home("home"),
            WalkBy::Text("one"),
        ] {
            assert_eq!(world.guids(None, &all(Subject::Entities, by)), ["a"]);
        }
        for (name, expected) in [
            ("GlossaryTerm", true),
            ("Referenceable", true),
            ("Confidentiality", true),
            ("Person", false),
        ] {
            assert_eq!(has_ever(&world, name), expected, "{name}");
        }
        world.restart();
    }
    world.clock.advance(5_000);
    let entity = world.entity("GlossaryTerm", "p", &[("qualifiedName", text("one"))]);
    world.put(&entity);
    let by_text = all(Subject::Entities, WalkBy::Text("one"));
    assert_eq!(world.guids(None, &by_text), ["a", "p"]);
    let classified = all(
        Subject::Entities,
        WalkBy::Classified(&names, Listing::CreateTime),
    );
    assert_eq!(world.guids(None, &classified), [""; 0]);
    world.verify();
}
