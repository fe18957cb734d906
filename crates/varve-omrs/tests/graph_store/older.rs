//! A store whose entries an older build made is brought up to date when it is opened; what a newer
//! one made is refused.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use varve_encoding::datum;
use varve_encoding::index::{IndexId, partition_prefix, put_ordered_text};
use varve_encoding::key::put_ordered_element;
use varve_encoding::tables::{EVENT_INDEX, INDEX, TABLES};
use varve_graph::index::{DeriverSource, rebuild_derived};
use varve_graph::{Graph, GraphOptions};
use varve_kv::{Batch, Durability, MemoryEngine, TableId};
use varve_model::{Clock, Datum, ElementId, VertexId};
use varve_omrs::graph_store::GraphTransaction;
use varve_omrs::graph_store::InstanceDerivers;
use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::types::InstanceStatus;
use varve_testkit::{Fault, FaultyEngine};

use crate::world::*;

const RULES: &str = "open-metadata rules";
/// The greatest number of an index.
const INDEXES: u32 = 37;

fn change_rules(world: &World, change: impl FnOnce(&mut Vec<(String, Datum)>)) {
    let notes = world.store.graph().notes();
    let bytes = notes.get(RULES).expect("read").expect("rules");
    let Datum::Map(mut members) = datum::decode(&bytes).expect("rules") else {
        panic!("rules are a map");
    };
    change(&mut members);
    let bytes = datum::to_bytes(&Datum::Map(members));
    notes.put(RULES, &bytes).expect("written");
}

fn set_form(members: &mut [(String, Datum)], form: i64) {
    let version = members.iter_mut().find(|member| member.0 == "version");
    version.expect("a version").1 = Datum::Int(form);
}

/// All entries that are stored, by table, partition and clustering key.
fn entries(world: &World) -> Vec<(TableId, Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    for table in [INDEX, EVENT_INDEX] {
        let visited = world
            .store
            .graph()
            .space()
            .scan_table(table, None, &mut |row| {
                all.push((table, row.partition.to_vec(), row.clustering.to_vec()));
                ControlFlow::Continue(())
            });
        visited.expect("read");
    }
    all
}

fn is_of(partition: &[u8], indexes: &[u32]) -> bool {
    let mut of = indexes.iter();
    of.any(|number| partition.starts_with(&partition_prefix(IndexId::Derived(*number))))
}

fn set_older(world: &World, form: i64) {
    change_rules(world, |members| {
        set_form(members, form);
        if form == 1 {
            members.retain(|(name, _)| name != "classifications");
        }
    });
}

/// Lets what is written from now on have the entries of an earlier form, put and moved as a build
/// of then did.
fn write_older(world: &World, form: i64) {
    set_older(world, form);
    let graph = world.store.graph();
    let deriver = InstanceDerivers.deriver("metadata", &**graph.space());
    graph.set_deriver(deriver.expect("rules"));
}

/// Makes the store one with the entries of an earlier form and no others, of each state of the past
/// all.
fn make_older(world: &mut World, form: i64) {
    let all: Vec<u32> = (1..=INDEXES).collect();
    let mut batch = Batch::new();
    let mut stripped = 0;
    for (table, partition, clustering) in entries(world) {
        if is_of(&partition, &all) {
            batch.delete(table, &partition, &clustering);
            stripped += 1;
        }
    }
    assert!(stripped > 0);
    let space = world.store.graph().space();
    space.write(&batch, Durability::Buffered).expect("written");
    set_older(world, form);
    // Without the types, the graph is kept by the rules that it has.
    world.reopen();
    rebuild_derived(world.store.graph(), None, &|_, _| true).expect("entries");
    world.verify();
}

/// The numbers of the indexes that lead to an entity, now or in the past.
fn listed_in(world: &World, guid: &str) -> BTreeSet<u32> {
    let mut element = Vec::new();
    let id = ElementId::Vertex(VertexId::text(guid));
    put_ordered_element(&id, &mut element);
    let mut found = BTreeSet::new();
    for (_, partition, clustering) in entries(world) {
        if clustering.ends_with(&element) {
            found.extend((1..=INDEXES).filter(|number| is_of(&partition, &[*number])));
        }
    }
    found
}

fn put(world: &World, guid: &str, entity: StoredEntity) {
    world
        .store
        .transact(&[guid], &mut |transaction| {
            transaction.put_entity(entity.clone(), None)
        })
        .expect("stored");
}

fn proxy(world: &World, of: &str, guid: &str, name: &str) -> StoredEntity {
    StoredEntity::Proxy(EntityProxy {
        header: world.header(of, guid),
        classifications: classified(world, guid, 7).classifications,
        unique_properties: Some(world.properties(of, &[("qualifiedName", text(name))])),
    })
}

fn classified(world: &World, guid: &str, confidence: i32) -> EntityDetail {
    let mut entity = world.entity("Database", guid, &[]);
    entity.classifications = vec![Classification {
        audit: world.header("Confidentiality", "").audit,
        name: Some("Confidentiality".to_owned()),
        properties: Some(world.properties(
            "Confidentiality",
            &[("confidence", Primitive::Int(confidence))],
        )),
        ..Classification::default()
    }]
    .into();
    entity
}

#[test]
fn an_older_store_has_all_entries_after_it_is_opened() {
    let mut world = World::new();
    let mut entity = classified(&world, "b", 1);
    world.put(&entity);
    let first = world.store.now();
    world.clock.advance(5_000);
    world.put(&classified(&world, "a", 2));
    entity.classifications.clear();
    entity.header.audit.status = Some(InstanceStatus::Deleted);
    entity.header.audit.version = 2;
    world.put(&entity);
    make_older(&mut world, 1);
    let names = ["Confidentiality".to_owned()];
    let by_creation = all(
        Subject::Entities,
        WalkBy::Classified(&names, Listing::CreateTime),
    );
    assert!(!listed_in(&world, "a").contains(&33));
    for _ in 0..2 {
        world.restart();
        world.verify();
        assert_eq!(world.guids(None, &by_creation), ["a"]);
        assert_eq!(world.guids(Some(first), &by_creation), ["b"]);
        let with = |at: Option<Millis>, confidence: i32| {
            let value = Primitive::Int(confidence);
            let by = WalkBy::ClassifiedWith("Confidentiality", "confidence", &value);
            world.guids(at, &all(Subject::Entities, by))
        };
        assert_eq!(with(None, 2), ["a"]);
        assert_eq!(with(None, 1), [""; 0]);
        assert_eq!(with(Some(first), 1), ["b"]);
        let by = WalkBy::Deleted(Listing::CreateTime);
        assert_eq!(world.guids(None, &all(Subject::Entities, by)), ["b"]);
    }
}

/// A store of an earlier form with a proxy, `p`, of a type that nothing else is of, and with what
/// became a proxy, `q`. Returns it with a time at which `q` was none.
fn older_with_proxies(form: i64) -> (World, Millis) {
    let mut world = World::new();
    put(
        &world,
        "p",
        proxy(&world, "GlossaryTerm", "p", "known there"),
    );
    world.put(&world.entity("Database", "q", &[("qualifiedName", text("known here"))]));
    let mut deleted = classified(&world, "d", 7);
    deleted.header.audit.status = Some(InstanceStatus::Deleted);
    world.put(&deleted);
    let first = world.store.now();
    world.clock.advance(5_000);
    put(
        &world,
        "p",
        proxy(&world, "GlossaryTerm", "p", "known elsewhere"),
    );
    put(&world, "q", proxy(&world, "Database", "q", "no more here"));
    world.clock.advance(5_000);
    put(
        &world,
        "p",
        proxy(&world, "GlossaryTerm", "p", "known still"),
    );
    make_older(&mut world, form);
    let of_parts: &[u32] = if form == 1 { &[] } else { &[33, 34, 37] };
    let listed = BTreeSet::from_iter([&[1, 2, 3, 4, 5, 6, 7], of_parts].concat());
    assert_eq!(listed_in(&world, "p"), listed);
    assert_eq!(listed_in(&world, "q"), listed);
    for text in TEXTS_OF_PROXIES {
        assert!(is_text_kept(&world, text), "{text}");
    }
    (world, first)
}

const TEXTS_OF_PROXIES: [&str; 4] = [
    "known there",
    "known elsewhere",
    "no more here",
    "known still",
];

fn is_text_kept(world: &World, text: &str) -> bool {
    let mut values = Vec::new();
    put_ordered_text(text, &mut values);
    let all = entries(world);
    all.iter()
        .any(|(_, _, clustering)| clustering.starts_with(&values))
}

/// Proxies have left the lists of entities, and what an entity was before it was but a proxy has
/// not.
fn check_proxies(world: &World, first: Millis) {
    world.verify();
    let own = [6, 13, 33, 34, 37];
    assert_eq!(listed_in(world, "p"), BTreeSet::from(own));
    let both = [&[1, 2, 3, 4, 5, 7], &own[..]].concat();
    assert_eq!(listed_in(world, "q"), BTreeSet::from_iter(both));
    for text in TEXTS_OF_PROXIES {
        assert!(!is_text_kept(world, text), "{text}");
    }
    assert!(is_text_kept(world, "known here"));
    for (name, expected) in [
        ("GlossaryTerm", true),
        ("Database", true),
        ("Person", false),
    ] {
        let of = world.types.by_name(name).expect("a type");
        let has_ever = world.store.has_ever(of).expect("an answer");
        assert_eq!(has_ever, expected, "{name}");
    }
    let guids = |at: Option<Millis>, by| world.guids(at, &all(Subject::Entities, by));
    assert_eq!(guids(None, WalkBy::Guid), ["d"]);
    assert_eq!(guids(Some(first), WalkBy::Guid), ["d", "q"]);
    assert_eq!(guids(Some(first), WalkBy::Text("known here")), ["q"]);
    let by = WalkBy::Deleted(Listing::CreateTime);
    assert_eq!(guids(None, by), ["d"]);
}

#[test]
fn proxies_of_an_older_store_leave_the_lists_of_entities() {
    for form in [1, 2] {
        let (mut world, first) = older_with_proxies(form);
        for _ in 0..2 {
            world.restart();
            check_proxies(&world, first);
        }
        let purge = |transaction: &mut GraphTransaction<'_, '_>| transaction.purge_entity("p");
        let purged = world.store.transact(&["p"], &mut { purge });
        purged.expect("purged");
        assert_eq!(listed_in(&world, "p"), BTreeSet::new());
    }
}

#[test]
fn what_was_not_renewed_to_the_end_is_renewed_when_it_is_opened() {
    let (mut world, first) = older_with_proxies(2);
    change_rules(&world, |members| {
        set_form(members, 4);
        let labels = |name: &str| {
            let of = members.iter().find(|member| member.0 == name);
            let Some((_, Datum::List(rules))) = of else {
                panic!("no {name}");
            };
            let label = |rule: &Datum| match rule {
                Datum::List(parts) => parts[0].clone(),
                _ => panic!("a rule is a list"),
            };
            Datum::List(rules.iter().map(label).collect())
        };
        let pending = Datum::List(vec![labels("entities"), labels("relationships")]);
        let of = members.iter_mut().find(|member| member.0 == "pending");
        of.expect("labels").1 = pending;
    });
    world.reopen();
    world.set_types();
    check_proxies(&world, first);
    world.restart();
    check_proxies(&world, first);
}

/// Instances that were never deleted, are, were, and were again; one that is a proxy now. With the
/// times between the changes.
fn fill_with_deleted(world: &World) -> Vec<Millis> {
    let mut times = Vec::new();
    for (guid, deletions) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] {
        let mut entity = classified(world, guid, 3);
        let mut link = world.relationship("SemanticAssignment", &format!("{guid}-link"), [guid; 2]);
        for version in 1..=deletions + 1 {
            world.clock.advance(5_000);
            let status = match version % 2 {
                0 => InstanceStatus::Deleted,
                _ => InstanceStatus::Active,
            };
            for audit in [&mut entity.header.audit, &mut link.header.audit] {
                audit.status = Some(status);
                audit.version = version;
                audit.update_time = (version > 1).then(|| world.store.now());
            }
            world.put(&entity);
            world.put_relationship(&link);
            times.push(world.store.now());
        }
    }
    world.clock.advance(5_000);
    world.put(&classified(world, "e", 3));
    times.push(world.store.now());
    world.clock.advance(5_000);
    put(world, "e", proxy(world, "Database", "e", "known here"));
    world.clock.advance(5_000);
    times
}

/// What every walk of all instances finds now and at `times`.
fn found_by_walks(world: &World, times: &[Millis]) -> Vec<String> {
    let names = ["Confidentiality".to_owned()];
    let mut found = Vec::new();
    let times = times.iter().copied().map(Some);
    for at in times.chain([None]) {
        for listing in [Listing::Guid, Listing::CreateTime, Listing::UpdateTime] {
            let everywhere = match listing {
                Listing::Guid => WalkBy::Guid,
                Listing::CreateTime => WalkBy::CreateTime,
                Listing::UpdateTime => WalkBy::UpdateTime,
            };
            let deleted = WalkBy::Deleted(listing);
            for subject in [Subject::Entities, Subject::Relationships] {
                for by in [everywhere.clone(), WalkBy::Live(listing), deleted.clone()] {
                    let guids = world.guids(at, &all(subject, by.clone()));
                    found.push(format!("{at:?} {subject:?} {by:?}: {guids:?}"));
                }
            }
            let by = WalkBy::Classified(&names, listing);
            let guids = world.guids(at, &all(Subject::Entities, by));
            found.push(format!("{at:?} classified {listing:?}: {guids:?}"));
        }
    }
    found
}

fn in_table(world: &World, table: TableId) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
    let entries = entries(world).into_iter();
    let of_table = entries.filter(|entry| entry.0 == table);
    of_table.map(|(_, p, c)| (p, c)).collect()
}

/// Whatever a store was, it finds the same as a new one now and then, and keeps no more entries for
/// the present.
fn check_renewed(world: &World, new: &World, times: &[Millis], what: &str) {
    world.verify();
    assert_eq!(in_table(world, INDEX), in_table(new, INDEX), "{what}");
    // Reads of the past look at both; entries made anew are of whole states, also those that the
    // next state has too.
    let mut past = in_table(world, EVENT_INDEX);
    past.extend(in_table(world, INDEX));
    let missing: Vec<_> = in_table(new, EVENT_INDEX)
        .difference(&past)
        .cloned()
        .collect();
    assert!(missing.is_empty(), "{what}: {missing:?}");
    let (found, wanted) = (found_by_walks(world, times), found_by_walks(new, times));
    assert_eq!(found, wanted, "{what}");
}

#[test]
fn what_is_deleted_leaves_the_lists_of_an_older_store() {
    let new = World::new();
    let times = fill_with_deleted(&new);
    for form in 1..=3 {
        for is_made_over in [false, true] {
            let what = format!("form {form}, {is_made_over}");
            let mut world = World::new();
            if !is_made_over {
                write_older(&world, form);
            }
            assert_eq!(fill_with_deleted(&world), times);
            if is_made_over {
                make_older(&mut world, form);
            }
            assert!(in_table(&world, INDEX) != in_table(&new, INDEX), "{what}");
            for _ in 0..2 {
                world.restart();
                check_renewed(&world, &new, &times, &what);
            }
            let purge = |transaction: &mut GraphTransaction<'_, '_>| transaction.purge_entity("d");
            let purged = world.store.transact(&["d"], &mut { purge });
            purged.expect("purged");
            assert_eq!(listed_in(&world, "d"), BTreeSet::new());
        }
    }
}

/// The server dies after each of the writes that bring a store up to date.
#[test]
fn what_is_interrupted_is_brought_up_to_date_the_next_time() {
    let new = World::new();
    let times = fill_with_deleted(&new);
    for form in 1..=3 {
        for writes in 1.. {
            let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
            let mut world = World::on(Arc::new(engine));
            write_older(&world, form);
            fill_with_deleted(&world);
            world.reopen();
            faults.fail_writes_from(writes, Fault::IoLost);
            let is_done = world.store.set_types(Arc::clone(&world.types)).is_ok();
            faults.heal();
            world.reopen();
            world.set_types();
            check_renewed(
                &world,
                &new,
                &times,
                &format!("form {form}, {writes} writes"),
            );
            if is_done {
                assert!(writes > 3, "form {form}: {writes} writes");
                break;
            }
        }
    }
}

#[test]
fn a_newer_store_is_refused_in_words() {
    let world = World::new();
    change_rules(&world, |members| set_form(members, 99));
    let (engine, clock) = (Arc::clone(&world.engine), Arc::clone(&world.clock));
    drop(world);
    let space = engine.open("metadata", TABLES, true).expect("a space");
    let mut options = GraphOptions::new(clock as Arc<dyn Clock>);
    options.derivers = Some(Arc::new(InstanceDerivers));
    let Err(error) = Graph::open("metadata", space, &options) else {
        panic!("a newer store was opened");
    };
    assert!(error.message.contains("form 99"), "{error:?}");
}
