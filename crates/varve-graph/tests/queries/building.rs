//! Indexes that are built over what is there, rebuilt and removed, also while others write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use varve_graph::Graph;
use varve_graph::query::{VertexQuery, collect_vertices};
use varve_graph::schema::{BaseType, SchemaKind};
use varve_graph::tasks::TaskStatus;
use varve_graph::write::{Missing, Mutation, WriteRequest};
use varve_kv::MemoryEngine;
use varve_model::schema::IndexType;
use varve_model::{ElementId, TemporalScope, Value, Vertex};
use varve_testkit::{Random, WatchedEngine};

use crate::world::*;

const NOTHING: [&str; 0] = [];

#[test]
fn an_index_made_later_finds_what_was_written_before() {
    let world = World::new();
    let born = world.put("a", 20, "X");
    world.put("a", 30, "Y");
    world.put("b", 25, "Y");
    world.edge("a", "b", 5);
    let edged = world.edge("b", "a", 6);
    world.delete("a");
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(
        world.index(
            "by_age",
            (BaseType::EdgeLabel, "knows"),
            IndexType::Range,
            &["age"]
        ),
        TaskStatus::Success
    );
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
    assert_eq!(
        world.find_edges(TemporalScope::NOW, &older_than(0)),
        NOTHING
    );
    assert_eq!(
        world.find_edges(as_of(edged), &older_than(0)),
        ["S1:a>1>1>>S1:b", "S1:b>1>1>>S1:a"]
    );
    let again = world
        .graph
        .catalogue()
        .owned_by(None)
        .rebuild(SchemaKind::VertexLabel, "person")
        .expect("rebuild");
    assert_eq!(world.done(again), TaskStatus::Success);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
}

/// On a cluster each question takes a round trip, however many rows it asks for.
#[test]
fn building_asks_for_rows_together_and_only_of_elements_with_the_value() {
    const PEOPLE: usize = 1_200;
    const IN_A_CITY: usize = 30;
    let (engine, reads) = WatchedEngine::new(Arc::new(MemoryEngine::new()));
    let world = World::on(engine);
    let people = (0..PEOPLE).map(|number| {
        let mut vertex = person(&number.to_string(), 20, "X");
        if number >= IN_A_CITY {
            vertex.properties.remove(CITY);
        }
        let fresh = false;
        Mutation::PutVertex { vertex, fresh }
    });
    let request = WriteRequest::now(people.collect());
    world.graph.write_now(&request).expect("stored");

    reads.forget();
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    let counted = reads.counted();
    // The rows come from a scan; rows that lie far apart would be asked for together.
    assert!(counted.batched_gets <= 1, "{counted:?}");
    assert!(counted.gets < 2 * IN_A_CITY as u64, "{counted:?}");
    assert_eq!(
        world.find(TemporalScope::NOW, &in_city("X")).len(),
        IN_A_CITY
    );

    reads.forget();
    assert_eq!(
        world.person_index(IndexType::Secondary, "age"),
        TaskStatus::Success
    );
    let counted = reads.counted();
    assert!(counted.batched_gets <= 1, "chunks of 2,000: {counted:?}");
    assert!(counted.gets < PEOPLE as u64 + 50, "{counted:?}");
}

#[test]
fn a_unique_index_over_equal_values_is_refused() {
    let world = World::new();
    world.put("a", 20, "X");
    world.put("b", 20, "Y");
    assert_eq!(
        world.person_index(IndexType::Unique, "age"),
        TaskStatus::Failed
    );
    assert_eq!(
        world.person_index(IndexType::Unique, "city"),
        TaskStatus::Success
    );
    let second = Mutation::PutVertex {
        vertex: person("c", 1, "X"),
        fresh: false,
    };
    let error = world
        .graph
        .write_now(&WriteRequest::now(vec![second]))
        .expect_err("taken");
    assert_eq!(
        error.message,
        "Unique constraint by_city(id=2) conflict is found for v[1:c]: city=X belongs to v[1:a]"
    );
}

#[test]
fn a_unique_index_over_values_that_will_be_equal_is_refused() {
    let later = |after: i64| Some(START + 1_000_000_000 + after);
    // What "a" is from 10 to 20, what "b" is in some period, and whether that meets.
    for (from, to, meets) in [
        (20, 30, false),
        (5, 10, false),
        (15, 17, true),
        (0, 99, true),
    ] {
        let world = World::new();
        world.put("a", 20, "X");
        world.put("b", 20, "Y");
        world.put_during("a", 20, "Z", later(10), later(20));
        world.put_during("b", 20, "Z", later(from), later(to));
        let expected = if meets {
            TaskStatus::Failed
        } else {
            TaskStatus::Success
        };
        let made = world.person_index(IndexType::Unique, "city");
        assert_eq!(made, expected, "{from} to {to}");
    }
    let world = World::new();
    world.put("a", 20, "X");
    world.put_during("b", 20, "X", later(0), None);
    assert_eq!(
        world.person_index(IndexType::Unique, "city"),
        TaskStatus::Failed,
        "the one holds it for ever, the other from some day on"
    );
    let world = World::new();
    world.put_during("a", 20, "X", None, later(5));
    world.put_during("b", 20, "X", later(5), None);
    world.put_during("c", 20, "X", Some(1), Some(2));
    assert_eq!(
        world.person_index(IndexType::Unique, "city"),
        TaskStatus::Success,
        "one after the other, and one in the past"
    );
}

#[test]
fn a_removed_index_leaves_nothing_behind() {
    let world = World::new();
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    let born = world.put("a", 20, "X");
    world.put("a", 20, "Y");
    let task = world
        .graph
        .catalogue()
        .owned_by(None)
        .remove(SchemaKind::IndexLabel, "by_city")
        .expect("removal");
    assert_eq!(world.done(task), TaskStatus::Success);
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:a"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
}

/// Writes and deletes people until stopped; refused writes are part of it.
fn keep_writing(graph: &Arc<Graph>, seed: u64, cities: usize, stop: &AtomicBool) {
    let mut random = Random::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let name = format!("v{}", random.below(40));
        let mutation = if random.one_in(4) {
            Mutation::Delete {
                id: ElementId::Vertex(id(&name)),
                missing: Missing::Ignore,
            }
        } else {
            let city = format!("c{}", random.below(cities));
            Mutation::PutVertex {
                vertex: person(&name, 1, &city),
                fresh: false,
            }
        };
        let _ = graph.write_now(&WriteRequest::now(vec![mutation]));
    }
}

/// The cities of everybody, by a walk over all vertices.
fn cities(world: &World) -> Vec<(String, String)> {
    let query = VertexQuery {
        limit: -1,
        ..VertexQuery::default()
    };
    let view = world.graph.view(TemporalScope::NOW).expect("view");
    let (everybody, _) = collect_vertices(&view, view.schema(), &query).expect("walked");
    let city = |vertex: &Vertex| match vertex.properties.get(CITY) {
        Some(Value::Text(city)) => city.clone(),
        other => panic!("{other:?}"),
    };
    everybody
        .iter()
        .map(|vertex| (city(vertex), vertex.id.to_string()))
        .collect()
}

/// Builds an index while others write; returns how the task ended.
fn build_under_writes(world: &World, index_type: IndexType, round: u64) -> TaskStatus {
    let cities = if index_type == IndexType::Unique {
        500
    } else {
        60
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (graph, stop) = (&world.graph, &stop);
            scope.spawn(move || keep_writing(graph, round * 3 + thread, cities, stop));
        }
        let status = world.person_index(index_type, "city");
        stop.store(true, Ordering::Relaxed);
        status
    })
}

#[test]
fn an_index_built_under_writes_misses_nothing() {
    for round in 0..40 {
        let world = World::new();
        for at in 0..40 {
            world.put(&format!("v{at}"), 1, &format!("c{at}"));
        }
        assert_eq!(
            build_under_writes(&world, IndexType::Secondary, round),
            TaskStatus::Success
        );
        let everybody = cities(&world);
        for at in 0..60 {
            let city = format!("c{at}");
            let mut found = world.find(TemporalScope::NOW, &in_city(&city));
            let mut expected: Vec<String> = everybody
                .iter()
                .filter(|(of, _)| *of == city)
                .map(|(_, id)| id.clone())
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "round {round}, {city}");
        }
    }
}

#[test]
fn a_unique_index_built_under_writes_holds_or_fails() {
    let mut built = 0;
    for round in 0..40 {
        let world = World::new();
        for at in 0..40 {
            world.put(&format!("v{at}"), 1, &format!("c{at}"));
        }
        if build_under_writes(&world, IndexType::Unique, 100 + round) == TaskStatus::Success {
            built += 1;
            let mut taken: Vec<String> = cities(&world).into_iter().map(|(city, _)| city).collect();
            let all = taken.len();
            taken.sort();
            taken.dedup();
            assert_eq!(taken.len(), all, "round {round}: a value is held twice");
        }
    }
    // Whether a round meets equal values from before the index is a matter of luck; either end is
    // right.
    eprintln!("{built} of 40 rounds built the index");
}
