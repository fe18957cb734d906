//! A store whose entries an older build made is brought up to date when it is opened; what a newer one made is refused.

use std::sync::Arc;

use varve_encoding::datum;
use varve_encoding::index::{IndexId, partition_prefix};
use varve_encoding::tables::{EVENT_INDEX, INDEX, TABLES};
use varve_graph::{Graph, GraphOptions};
use varve_kv::{Batch, Durability};
use varve_model::{Clock, Datum};
use varve_omrs::graph_store::InstanceDerivers;
use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::types::InstanceStatus;

use crate::world::*;

const RULES: &str = "open-metadata rules";
/// The indexes that the first form had not.
const ADDED: [u32; 8] = [12, 13, 28, 33, 34, 35, 36, 37];

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

/// Makes the store what a build of the first form would have made it.
fn make_older(world: &World) {
    let space = world.store.graph().space();
    let prefixes = ADDED.map(|number| partition_prefix(IndexId::Derived(number)));
    let mut batch = Batch::new();
    let mut stripped = [0; 2];
    for (table, count) in [INDEX, EVENT_INDEX].into_iter().zip(&mut stripped) {
        space
            .scan_table(table, None, &mut |row| {
                let mut of = prefixes.iter();
                if of.any(|prefix| row.partition.starts_with(prefix)) {
                    batch.delete(table, row.partition, row.clustering);
                    *count += 1;
                }
                std::ops::ControlFlow::Continue(())
            })
            .expect("read");
    }
    assert!(stripped.iter().all(|count| *count > 0), "{stripped:?}");
    space.write(&batch, Durability::Buffered).expect("written");
    change_rules(world, |members| {
        set_form(members, 1);
        members.retain(|(name, _)| name != "classifications");
    });
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
    make_older(&world);
    let names = ["Confidentiality".to_owned()];
    let by_creation = all(
        Subject::Entities,
        WalkBy::Classified(&names, Listing::CreateTime),
    );
    assert!(world.guids(None, &by_creation).is_empty());
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
        let by = WalkBy::Status(InstanceStatus::Deleted, Listing::CreateTime);
        assert_eq!(world.guids(None, &all(Subject::Entities, by)), ["b"]);
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
