//! Checks the oracle with examples that can be verified by hand: those of `docs/time.md`.

use varve_model::{
    CommitVersion, Direction, Edge, EdgeId, Element, ElementId, Instant, Properties, Value, Vertex,
    VertexId,
};
use varve_testkit::Random;
use varve_testkit::generate::labels::{AGE, HAS, ITEM, PERSON};
use varve_testkit::generate::{self, Operation};
use varve_testkit::model::{Change, Model, Point, Refusal, Request};

fn person(age: i32) -> Element {
    let properties = [(AGE, Value::Int(age))].into_iter().collect();
    Element::Vertex(Vertex {
        id: VertexId::text("1:a"),
        label: PERSON,
        properties,
    })
}

fn item() -> Element {
    let properties = Properties::new();
    Element::Vertex(Vertex {
        id: VertexId::text("x"),
        label: ITEM,
        properties,
    })
}

fn has() -> Element {
    let id = EdgeId {
        source: VertexId::text("1:a"),
        parent: HAS,
        label: HAS,
        sort_values: "".into(),
        target: VertexId::text("x"),
    };
    let properties = Properties::new();
    Element::Edge(Edge {
        id,
        source_label: PERSON,
        target_label: ITEM,
        properties,
    })
}

fn put(element: Element) -> Change {
    Change::Put {
        element,
        check_ends: true,
    }
}

fn delete(element: &Element) -> Change {
    Change::Delete {
        id: element.id(),
        refuse_missing: true,
    }
}

struct Story {
    model: Model,
}

impl Story {
    fn new() -> Self {
        Self {
            model: Model::new(generate::plan(&mut Random::new(1)).model),
        }
    }

    /// Writes at the instant `now`, which is also the instant of the commit.
    fn at(
        &mut self,
        now: i64,
        changes: Vec<Change>,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Result<(), Refusal> {
        let request = Request {
            changes,
            from: from.map(Instant),
            to: to.map(Instant),
            skip_unchanged: false,
        };
        let plan = self.model.plan(&request, Instant(now))?;
        self.model
            .commit(&plan, CommitVersion::first_at(Instant(now)));
        Ok(())
    }

    fn age(&self, valid: i64, transaction: i64) -> Option<i32> {
        let version = CommitVersion::last_at(Instant(transaction));
        let state = self.model.state(
            &person(0).id(),
            Point {
                valid: Instant(valid),
                version,
            },
        )?;
        match state.properties().get(AGE) {
            Some(Value::Int(age)) => Some(*age),
            _ => None,
        }
    }
}

#[test]
fn a_correction_changes_the_past_but_not_what_was_known_then() {
    let mut story = Story::new();
    story
        .at(100, vec![put(person(30))], None, None)
        .expect("written");
    story
        .at(200, vec![put(person(31))], Some(50), Some(150))
        .expect("corrected");
    assert_eq!(story.age(120, 150), Some(30));
    assert_eq!(story.age(120, 250), Some(31));
    assert_eq!(story.age(60, 150), None);
    assert_eq!(story.age(60, 250), Some(31));
    assert_eq!(story.age(150, 250), Some(30));
}

#[test]
fn a_future_state_begins_and_ends_by_itself() {
    let mut story = Story::new();
    story
        .at(100, vec![put(person(30))], None, None)
        .expect("written");
    story
        .at(110, vec![put(person(40))], Some(200), Some(300))
        .expect("planned");
    let seen = [199, 200, 299, 300].map(|valid| story.age(valid, 1_000));
    assert_eq!(seen, [Some(30), Some(40), Some(40), Some(30)]);
}

#[test]
fn deleting_a_vertex_for_a_while_takes_its_edges_for_that_while() {
    let mut story = Story::new();
    story
        .at(
            100,
            vec![put(person(30)), put(item()), put(has())],
            None,
            None,
        )
        .expect("written");
    story
        .at(200, vec![delete(&person(0))], Some(300), Some(400))
        .expect("deleted");
    let edges = |valid| {
        let at = Point {
            valid: Instant(valid),
            version: CommitVersion::MAX,
        };
        story
            .model
            .adjacent(&VertexId::text("x"), Direction::In, at)
            .len()
    };
    assert_eq!([299, 300, 399, 400].map(edges), [1, 0, 0, 1]);
}

#[test]
fn refusals_change_nothing() {
    let mut story = Story::new();
    assert_eq!(
        story.at(100, vec![put(person(1)), put(has())], None, None),
        Err(Refusal::Ends)
    );
    assert_eq!(
        story.at(100, vec![delete(&person(1))], None, None),
        Err(Refusal::Missing)
    );
    assert_eq!(
        story.at(100, vec![put(person(1))], Some(5), Some(5)),
        Err(Refusal::EmptyPeriod)
    );
    assert!(story.model.events.is_empty());
}

#[test]
fn the_newest_event_that_covers_the_instant_decides() {
    let mut story = Story::new();
    story
        .at(100, vec![put(person(1))], Some(0), Some(1_000))
        .expect("written");
    story
        .at(200, vec![put(person(2))], Some(0), Some(500))
        .expect("written");
    story
        .at(300, vec![delete(&person(0))], Some(0), Some(100))
        .expect("written");
    let seen = [0, 99, 100, 499, 500, 999, 1_000].map(|valid| story.age(valid, 300));
    assert_eq!(seen, [None, None, Some(2), Some(2), Some(1), Some(1), None]);
    let history = story.model.history(&person(0).id(), CommitVersion::MAX);
    assert_eq!(history.len(), 3);
    assert!(history[0].state.is_none() && history[2].state == Some(person(1)));
}

#[test]
fn a_seed_gives_the_same_case_and_a_case_shrinks_to_what_fails() {
    assert_eq!(generate::case(7).operations, generate::case(7).operations);
    assert_ne!(generate::case(7).operations, generate::case(8).operations);
    let reopens = |case: &generate::Case| {
        case.operations
            .iter()
            .filter(|operation| **operation == Operation::Reopen)
            .count()
            >= 2
    };
    let case = (0..)
        .map(generate::case)
        .find(|case| reopens(case))
        .expect("some seed");
    let small = generate::shrink(case, &reopens);
    assert_eq!(small.operations, [Operation::Reopen, Operation::Reopen]);
}

#[test]
fn ids_are_listed_once() {
    let case = generate::case(3);
    let ids: Vec<ElementId> = case.ids();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
}
