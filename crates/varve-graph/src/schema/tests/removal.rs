//! Removing labels, keys and indexes.

use std::sync::mpsc;

use varve_model::schema::{EdgeLabelType, IndexType, SchemaStatus};

use super::bench::*;
use crate::schema::*;
use crate::tasks::{TaskId, TaskStatus};
use crate::{ErrorKind, GraphError};

fn by_city(bench: &Bench) -> TaskId {
    let index = NewIndexLabel::on(
        "byCity",
        BaseType::VertexLabel,
        "person",
        IndexType::Secondary,
        &["city"],
    );
    bench.create_index_label(index).expect("byCity").task
}

fn failing() -> Result<String, GraphError> {
    Err(GraphError::new(ErrorKind::Storage, "the disk broke"))
}

#[test]
fn a_linked_vertex_label_stays_and_its_task_fails() {
    let bench = Bench::with_labels();
    let elements = bench.start_easy();
    let task = bench
        .owned_by(None)
        .remove(SchemaKind::VertexLabel, "software")
        .expect("accepted");
    assert_eq!(
        bench.end_of(task),
        (
            TaskStatus::Failed,
            "Not allowed to remove vertex label 'software' because the edge label 'created' still link with it".to_owned()
        )
    );
    assert_eq!(bench.task(task).name, "VERTEX_LABEL:2:software");
    let schema = bench.current();
    let software = schema
        .require_vertex_label("software")
        .expect("still usable");
    assert_eq!(software.status, SchemaStatus::Created);
    assert_eq!(*elements.seen.lock(), Vec::<String>::new());
}

#[test]
fn a_removed_label_takes_its_index_labels_along() {
    let bench = Bench::with_labels();
    bench.start_easy();
    bench.succeeds(by_city(&bench));
    for name in ["knows", "created"] {
        bench.succeeds(
            bench
                .owned_by(None)
                .remove(SchemaKind::EdgeLabel, name)
                .expect(name),
        );
    }
    let person = bench
        .current()
        .vertex_label_by_name("person")
        .expect("person")
        .id;
    bench.succeeds(
        bench
            .owned_by(None)
            .remove(SchemaKind::VertexLabel, "person")
            .expect("person"),
    );
    let schema = bench.current();
    assert_eq!(schema.vertex_label_by_name("person"), None);
    assert_eq!(schema.all_edge_labels().count(), 0);
    assert_eq!(bench.indexes(), []);
    assert_eq!(schema.indexes_of_vertex_label(person), []);
    let kept = schema.vertex_label(person).expect("kept for history");
    assert_eq!(kept.status, SchemaStatus::Removed);
    assert_eq!(schema.vertex_label_name(person), "person");
    for (outcome, kind) in [
        (
            bench
                .owned_by(None)
                .remove(SchemaKind::VertexLabel, "person"),
            "vertex label",
        ),
        (
            bench.owned_by(None).remove(SchemaKind::EdgeLabel, "person"),
            "edge label",
        ),
        (
            bench
                .owned_by(None)
                .remove(SchemaKind::IndexLabel, "person"),
            "index label",
        ),
        (
            bench
                .owned_by(None)
                .rebuild(SchemaKind::IndexLabel, "person"),
            "index label",
        ),
    ] {
        let message = format!("{kind} with name 'person' does not exist");
        refused(outcome, ErrorKind::NotFound, &message);
    }
    let again = bench
        .create_vertex_label(person_again())
        .expect("name is free");
    assert!(again.id > person);
}

fn person_again() -> NewVertexLabel {
    person()
}

#[test]
fn while_it_is_removed_a_label_cannot_be_used() {
    let bench = Bench::with_labels();
    let (entered, at_work) = mpsc::sync_channel(1);
    let (go_on, wait) = mpsc::sync_channel::<()>(1);
    let wait = parking_lot::Mutex::new(wait);
    bench.start(move |_, _| {
        entered.send(()).expect("the test listens");
        wait.lock().recv().expect("the test answers");
        Ok(String::new())
    });
    let task = bench
        .owned_by(None)
        .remove(SchemaKind::EdgeLabel, "knows")
        .expect("accepted");
    at_work.recv().expect("the body runs");
    let schema = bench.current();
    let knows = schema.edge_label_by_name("knows").expect("still shown");
    assert_eq!(knows.status, SchemaStatus::Deleting);
    refused(
        schema.require_edge_label("knows").map(|_| ()),
        ErrorKind::InvalidArgument,
        "Undefined edge label: 'knows'",
    );
    assert_eq!(bench.task(task).status, TaskStatus::Running);
    go_on.send(()).expect("the body waits");
    bench.succeeds(task);
}

#[test]
fn a_parent_stays_while_it_has_sub_labels() {
    let bench = Bench::with_labels();
    bench.start_easy();
    let parent = NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::named("par")
    };
    bench.create_edge_label(parent).expect("par");
    let sub = NewEdgeLabel {
        label_type: EdgeLabelType::Sub,
        parent: Some("par".to_owned()),
        ..NewEdgeLabel::between("sub", "person", "person")
    };
    bench.create_edge_label(sub).expect("sub");
    let task = bench
        .owned_by(None)
        .remove(SchemaKind::EdgeLabel, "par")
        .expect("accepted");
    let message = "Not allowed to remove a parent edge label: 'par' because the sub edge label 'sub' is still existing";
    assert_eq!(bench.end_of(task), (TaskStatus::Failed, message.to_owned()));
    bench.succeeds(
        bench
            .owned_by(None)
            .remove(SchemaKind::EdgeLabel, "sub")
            .expect("sub"),
    );
    bench.succeeds(
        bench
            .owned_by(None)
            .remove(SchemaKind::EdgeLabel, "par")
            .expect("par"),
    );
    assert_eq!(bench.current().edge_label_by_name("par"), None);
}

#[test]
fn failed_work_is_reported_by_the_status_and_can_be_tried_again() {
    let mut bench = Bench::with_labels();
    let status = |bench: &Bench| bench.indexes()[0].1;
    bench.start(|_, _| failing());
    let task = by_city(&bench);
    assert_eq!(
        bench.end_of(task),
        (TaskStatus::Failed, "the disk broke".to_owned())
    );
    assert_eq!(status(&bench), SchemaStatus::Invalid);
    let person = bench
        .current()
        .vertex_label_by_name("person")
        .expect("person")
        .id;
    assert_eq!(bench.current().indexes_of_vertex_label(person), []);
    let removal = bench
        .owned_by(None)
        .remove(SchemaKind::IndexLabel, "byCity")
        .expect("accepted");
    assert_eq!(bench.end_of(removal).0, TaskStatus::Failed);
    assert_eq!(status(&bench), SchemaStatus::Undeleted);
    bench.reopen();
    bench.start_easy();
    bench.succeeds(
        bench
            .owned_by(None)
            .remove(SchemaKind::IndexLabel, "byCity")
            .expect("again"),
    );
    assert_eq!(bench.indexes(), []);
    bench.succeeds(by_city(&bench));
    bench.succeeds(
        bench
            .owned_by(None)
            .rebuild(SchemaKind::VertexLabel, "person")
            .expect("rebuild"),
    );
    assert_eq!(status(&bench), SchemaStatus::Created);
}

#[test]
fn a_cancelled_rebuild_leaves_the_index_unusable() {
    let bench = Bench::with_labels();
    let waiting = by_city(&bench);
    let detail = bench.tasks().cancel(waiting).expect("it waits");
    assert_eq!(detail.task.status, TaskStatus::Cancelled);
    assert_eq!(
        bench.indexes()[0].1,
        SchemaStatus::Creating,
        "nobody was there to tell"
    );
    bench.start_easy();
    let rebuild = bench
        .owned_by(None)
        .rebuild(SchemaKind::IndexLabel, "byCity")
        .expect("rebuild");
    bench.succeeds(rebuild);
    assert_eq!(bench.indexes()[0].1, SchemaStatus::Created);
    bench.tasks().set_paused(true);
    let paused = bench
        .owned_by(None)
        .rebuild(SchemaKind::IndexLabel, "byCity")
        .expect("accepted");
    bench.tasks().cancel(paused).expect("it waits");
    assert_eq!(
        bench.indexes()[0].1,
        SchemaStatus::Created,
        "it never began"
    );
    bench.tasks().set_paused(false);
}

#[test]
fn a_rebuild_of_a_label_without_indexes_has_nothing_to_do() {
    let bench = Bench::with_labels();
    let elements = bench.start_easy();
    bench.succeeds(
        bench
            .owned_by(None)
            .rebuild(SchemaKind::EdgeLabel, "knows")
            .expect("accepted"),
    );
    assert_eq!(*elements.seen.lock(), Vec::<String>::new());
}
