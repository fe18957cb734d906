//! What is found by its values, in the present and in the past.

use varve_graph::maintenance::tidy;
use varve_graph::query::{VertexQuery, collect_vertices};
use varve_graph::tasks::TaskStatus;
use varve_model::schema::IndexType;
use varve_model::{Instant, TemporalScope};

use crate::world::*;

const NOTHING: [&str; 0] = [];

#[test]
fn the_present_and_the_past_are_found_by_their_values() {
    let world = World::new();
    assert_eq!(
        world.person_index(IndexType::Secondary, "city"),
        TaskStatus::Success
    );
    assert_eq!(
        world.person_index(IndexType::Range, "age"),
        TaskStatus::Success
    );
    let born = world.put("a", 20, "X");
    let moved = world.put("a", 30, "Y");
    world.put("b", 25, "Y");
    let gone = world.delete("a");
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:b"]);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("X")), NOTHING);
    assert_eq!(world.find(TemporalScope::NOW, &older_than(10)), ["1:b"]);
    assert_eq!(world.find(as_of(born), &in_city("X")), ["1:a"]);
    assert_eq!(world.find(as_of(born), &older_than(10)), ["1:a"]);
    assert_eq!(world.find(as_of(moved), &in_city("X")), NOTHING);
    assert_eq!(world.find(as_of(moved), &older_than(25)), ["1:a"]);
    assert_eq!(world.find(as_of(gone), &older_than(10)), ["1:b"]);
    assert_eq!(world.find(as_of(moved), &[]), ["1:a"]);
    assert_eq!(
        world.find(valid_at(moved.instant().0), &in_city("Y")),
        ["1:a"]
    );
}

/// A state that is written ahead, or comes back when another ends, is found once it holds, tidied
/// or not, whether the index was there when it was written or not.
fn what_becomes_present_is_found(index_first: bool) {
    let world = World::new();
    if index_first {
        assert_eq!(
            world.person_index(IndexType::Secondary, "city"),
            TaskStatus::Success
        );
    }
    world.put_during("ahead", 1, "X", Some(START + 1_000_000), None);
    world.put("back", 1, "X");
    world.put_during("back", 1, "Y", None, Some(START + 1_000_000));
    world.put_during(
        "brief",
        1,
        "X",
        Some(START + 1_000_000),
        Some(START + 2_000_000),
    );
    if !index_first {
        assert_eq!(
            world.person_index(IndexType::Secondary, "city"),
            TaskStatus::Success
        );
    }
    assert_eq!(world.find(TemporalScope::NOW, &in_city("X")), NOTHING);
    assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), ["1:back"]);
    assert_eq!(
        world.find(valid_at(START + 1_500_000), &in_city("X")),
        ["1:back", "1:ahead", "1:brief"]
    );
    world.clock.set(Instant(START + 1_500_000));
    for _ in 0..2 {
        assert_eq!(
            world.find(TemporalScope::NOW, &in_city("X")),
            ["1:back", "1:ahead", "1:brief"]
        );
        assert_eq!(world.find(TemporalScope::NOW, &in_city("Y")), NOTHING);
        tidy(&world.graph, 100).expect("tidied");
    }
    world.clock.set(Instant(START + 2_500_000));
    for _ in 0..2 {
        assert_eq!(
            world.find(TemporalScope::NOW, &in_city("X")),
            ["1:back", "1:ahead"]
        );
        assert_eq!(world.find(TemporalScope::NOW, &[]), ["1:back", "1:ahead"]);
        tidy(&world.graph, 100).expect("tidied");
    }
    assert_eq!(
        world.find(valid_at(START + 1_500_000), &in_city("X")),
        ["1:back", "1:ahead", "1:brief"]
    );
    assert_eq!(
        world.find(valid_at(START + 10_000), &in_city("Y")),
        ["1:back"]
    );
}

#[test]
fn what_becomes_present_is_found_by_an_index_from_before() {
    what_becomes_present_is_found(true);
}

#[test]
fn what_becomes_present_is_found_by_an_index_made_between() {
    what_becomes_present_is_found(false);
}

#[test]
fn pages_of_the_past_do_not_move() {
    let world = World::new();
    for at in 0..30 {
        world.put(&format!("v{at}"), at, "X");
    }
    let full = world.graph.published();
    let query = |page| VertexQuery {
        limit: 7,
        page: Some(page),
        ..VertexQuery::default()
    };
    let mut found = Vec::new();
    let mut token = Some(String::new());
    let mut pages = 0;
    while let Some(page) = token {
        let view = world.graph.view(as_of(full)).expect("view");
        let (part, next) = collect_vertices(&view, view.schema(), &query(page)).expect("page");
        found.extend(part.iter().map(|vertex| vertex.id.to_string()));
        token = next;
        world.put(&format!("later{pages}"), 0, "Y");
        world.put(&format!("v{}", 10 + pages), 99, "Z");
        pages += 1;
        assert!(pages < 10, "pages end");
    }
    let mut expected: Vec<String> = (0..30)
        .map(|at| id(&format!("v{at}")).to_string())
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}
