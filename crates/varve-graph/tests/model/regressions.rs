//! Lists that once failed, each named by what was wrong.

use varve_model::{
    Edge, EdgeId, EdgeLabelId, Element, Properties, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::generate::labels::{AGE, CODE, GHOST, HAS, ITEM, PERSON, SHADOWS};
use varve_testkit::generate::{Case, Operation, UNIT, plan};
use varve_testkit::model::Change;

fn vertex(label: VertexLabelId, id: &str, properties: &[(PropertyKeyId, Value)]) -> Element {
    let properties: Properties = properties.iter().cloned().collect();
    let id = VertexId::text(id);
    Element::Vertex(Vertex {
        id,
        label,
        properties,
    })
}

fn item(id: &str, code: i64) -> Element {
    vertex(ITEM, id, &[(CODE, Value::Long(code))])
}

fn edge(label: EdgeLabelId, source: &str, target: &str, target_label: VertexLabelId) -> Element {
    let id = EdgeId {
        source: VertexId::text(source),
        parent: label,
        label,
        sort_values: "".into(),
        target: VertexId::text(target),
    };
    let properties = Properties::new();
    Element::Edge(Edge {
        id,
        source_label: PERSON,
        target_label,
        properties,
    })
}

fn put(element: Element) -> Change {
    Change::Put {
        element,
        check_ends: false,
    }
}

fn delete(element: &Element) -> Change {
    Change::Delete {
        id: element.id(),
        refuse_missing: false,
    }
}

fn write(change: Change, from: Option<i64>, to: Option<i64>) -> Operation {
    let micros = |units: i64| units * UNIT;
    Operation::Write {
        changes: vec![change],
        from: from.map(micros),
        to: to.map(micros),
        skip_unchanged: false,
    }
}

fn now(change: Change) -> Operation {
    write(change, None, None)
}

/// Runs the operations under schemas of several seeds.
fn check(operations: Vec<Operation>) {
    for seed in 0..4 {
        let schema = plan(&mut Random::new(seed));
        let case = Case {
            schema,
            operations: operations.clone(),
        };
        if let Err(wrong) = super::run(&case, super::engines::Below::Memory) {
            panic!("schema {seed}: {wrong}");
        }
    }
}

/// A future holder's entry took the place of the present one's, whose value was then free for a
/// third.
#[test]
fn a_unique_value_has_a_holder_now_and_another_later() {
    check(vec![
        write(put(item("x", 1)), None, Some(10)),
        write(put(item("yy", 1)), Some(10), None),
        now(put(item("1", 1))),
        Operation::Clock(12 * UNIT),
        now(put(item("x", 1))),
    ]);
}

/// The end of an element's time removed the claim of the one that had taken its value over.
#[test]
fn a_unique_value_taken_over_stays_with_its_new_holder() {
    check(vec![
        write(put(item("x", 1)), None, Some(4)),
        Operation::Clock(5 * UNIT),
        now(put(item("yy", 1))),
        Operation::Tidy,
        now(put(item("x", 2))),
        now(put(item("1", 1))),
    ]);
}

/// Only the start of the period was checked, so two holders met when it had begun.
#[test]
fn a_unique_value_is_free_for_the_whole_period_or_not_at_all() {
    check(vec![
        write(put(item("x", 1)), Some(8), None),
        now(put(item("yy", 1))),
        write(put(item("yy", 1)), None, Some(8)),
        Operation::Clock(9 * UNIT),
    ]);
}

/// What had superseded the last events of a page was known to the page before only.
#[test]
fn a_page_of_history_tells_what_superseded_its_events() {
    check(vec![
        write(put(item("x", 1)), Some(9), None),
        write(put(item("x", 2)), None, Some(1)),
        write(put(item("x", 3)), Some(6), None),
    ]);
}

/// Without history the state was gone that a bounded deletion only suspends.
#[test]
fn what_keeps_no_history_comes_back_after_a_bounded_deletion() {
    let ghost = vertex(GHOST, "x", &[(AGE, Value::Int(7))]);
    check(vec![
        now(put(ghost.clone())),
        write(delete(&ghost), None, Some(3)),
        Operation::Tidy,
        Operation::Clock(4 * UNIT),
        Operation::Tidy,
        now(delete(&ghost)),
    ]);
}

/// The same, of an edge whose vertex is away for a while; retention must not forget it meanwhile.
#[test]
fn an_edge_without_history_comes_back_with_its_vertex() {
    let person = vertex(PERSON, "1:a", &[]);
    check(vec![
        now(put(person.clone())),
        now(put(edge(SHADOWS, "1:a", "1:a", PERSON))),
        write(delete(&person), Some(2), Some(4)),
        Operation::Clock(3 * UNIT),
        Operation::Tidy,
        Operation::Clock(2 * UNIT),
        Operation::Tidy,
    ]);
}

/// The deletion of what keeps no history left no mark, so an older event of another label showed
/// again.
#[test]
fn a_deletion_covers_older_events_of_another_label() {
    let ghost = vertex(GHOST, "x", &[]);
    check(vec![
        now(put(item("x", 1))),
        now(put(ghost.clone())),
        now(delete(&ghost)),
        write(put(item("x", 2)), Some(5), None),
        Operation::Clock(2 * UNIT),
    ]);
}

/// A built index knew of the present and the past only.
#[test]
fn a_built_index_finds_what_is_yet_to_come() {
    let person = |age| vertex(PERSON, "1:a", &[(AGE, Value::Int(age))]);
    check(vec![
        Operation::ToggleIndex(1),
        now(put(person(7))),
        write(put(person(40)), Some(3), Some(6)),
        Operation::ToggleIndex(1),
        Operation::Clock(4 * UNIT),
        Operation::Clock(4 * UNIT),
    ]);
}

/// Deleting a vertex for the past reaches edges that have no row any more.
#[test]
fn a_vertex_deleted_for_the_past_takes_the_edges_it_had_then() {
    let has = edge(HAS, "1:a", "x", ITEM);
    check(vec![
        now(put(vertex(PERSON, "1:a", &[]))),
        now(put(has.clone())),
        Operation::Clock(4 * UNIT),
        now(delete(&has)),
        write(delete(&vertex(PERSON, "1:a", &[])), Some(-3), Some(-1)),
    ]);
}

/// A row that decides no more, or a planned state that was replaced, was taken for the state of the
/// vertex.
#[test]
fn a_vertex_that_has_changed_its_label_survives_the_removal_of_the_old_one() {
    check(vec![
        now(put(vertex(GHOST, "x", &[]))),
        write(put(item("x", 1)), Some(1), None),
        Operation::Clock(3 * UNIT),
        Operation::RemoveVertexLabel(GHOST),
    ]);
    check(vec![
        now(put(item("x", 1))),
        write(put(vertex(GHOST, "x", &[])), Some(4), None),
        write(put(item("x", 1)), Some(2), None),
        Operation::RemoveVertexLabel(GHOST),
    ]);
}
