//! The schema after a restart and after a crash.

use std::sync::Arc;

use varve_kv::{Batch, Durability};
use varve_model::schema::{IndexType, SchemaStatus};
use varve_model::{Datum, PropertyKey};
use varve_testkit::Fault;

use super::bench::*;
use crate::ErrorKind;
use crate::schema::*;
use crate::tasks::TaskQuery;

/// Everything in a schema, including removed elements.
fn dump(schema: &Schema) -> String {
    let mut lines = Vec::new();
    for id in 0..64 {
        lines.push(format!(
            "{:?}",
            schema.property_key(varve_model::PropertyKeyId(id))
        ));
        lines.push(format!(
            "{:?}",
            schema.vertex_label(varve_model::VertexLabelId(id))
        ));
        lines.push(format!(
            "{:?}",
            schema.edge_label(varve_model::EdgeLabelId(id))
        ));
        lines.push(format!(
            "{:?}",
            schema.index_label(varve_model::IndexLabelId(id))
        ));
    }
    lines.join("\n")
}

fn index(name: &str, fields: &[&str]) -> NewIndexLabel {
    NewIndexLabel::on(
        name,
        BaseType::VertexLabel,
        "person",
        IndexType::Secondary,
        fields,
    )
}

#[test]
fn everything_is_there_after_reopening() {
    let mut bench = Bench::with_labels();
    let given = NewVertexLabel {
        history: Some("30d".to_owned()),
        ttl: 86_400_000,
        ttl_start_time: Some("date".to_owned()),
        properties: texts(&["date"]),
        enable_label_index: false,
        user_data: data(&[(
            "icon",
            Datum::List(vec![Datum::Float(0.5), Datum::Bool(true)]),
        )]),
        ..NewVertexLabel::named("given")
    };
    bench.create_vertex_label(given).expect("created");
    bench
        .create_index_label(index("byCity", &["city"]))
        .expect("byCity");
    bench
        .owned_by(None)
        .remove(SchemaKind::PropertyKey, "nums")
        .expect("unused");
    bench.set_mode(GraphMode::Restoring);
    bench
        .create_property_key(NewPropertyKey {
            id: Some(i64::from(i32::MAX)),
            ..NewPropertyKey::named("far")
        })
        .expect("far");
    let before = (
        dump(&bench.current()),
        bench.current().property_key_by_name("far").cloned(),
    );
    bench.reopen();
    let after = (
        dump(&bench.current()),
        bench.current().property_key_by_name("far").cloned(),
    );
    assert_eq!(before, after);
    assert_eq!(bench.mode(), GraphMode::None);
    assert_eq!(bench.tasks().unfinished_count(), 1);
    let key = NewVertexLabel::named("next");
    assert_eq!(bench.create_vertex_label(key).expect("next").id.0, 4);
}

#[test]
fn ids_are_not_given_again_even_when_their_record_is_gone() {
    let mut bench = Bench::new();
    bench
        .create_property_key(NewPropertyKey::named("a"))
        .expect("a");
    bench.close();
    let space = bench.space();
    let mut batch = Batch::new();
    let partition = [SchemaKind::PropertyKey.byte()];
    batch.delete(
        varve_encoding::tables::SCHEMA,
        &partition,
        &1_u32.to_be_bytes(),
    );
    space
        .write(&batch, Durability::Sync)
        .expect("as a purge would");
    drop(space);
    bench.reopen();
    let next = bench.create_property_key(NewPropertyKey::named("a"));
    assert_eq!(next.expect("a").element.id.0, 2);
}

#[test]
fn members_of_a_newer_version_are_ignored_and_damage_is_named() {
    let mut bench = Bench::new();
    let key = bench
        .create_property_key(NewPropertyKey::named("a"))
        .expect("a")
        .element;
    bench.close();
    let write = |bench: &Bench, datum: &Datum| {
        let space = bench.space();
        let mut batch = Batch::new();
        let bytes = varve_encoding::datum::to_bytes(datum);
        let partition = [SchemaKind::PropertyKey.byte()];
        let id = 1_u32.to_be_bytes();
        batch.put(varve_encoding::tables::SCHEMA, &partition, &id, &bytes);
        space.write(&batch, Durability::Sync).expect("written");
    };
    let mut members = crate::schema::record::Record::members(&*key);
    members.push(("from_the_future".to_owned(), Datum::Int(7)));
    write(&bench, &Datum::Map(members.clone()));
    bench.reopen();
    assert_eq!(bench.current().property_key_by_name("a"), Some(&key));
    bench.close();
    members.retain(|(name, _)| name != "data_type");
    write(&bench, &Datum::Map(members));
    let space = bench.space();
    let clock: Arc<dyn varve_model::Clock> = Arc::new(StoppedClock);
    let tables = crate::tasks::TaskTables::default();
    let tasks = crate::tasks::Tasks::open(Arc::clone(&space), tables, Arc::clone(&clock));
    let tasks = Arc::new(tasks.expect("the tasks"));
    let opened = Catalogue::open(space, SchemaTables::default(), "g", clock, tasks);
    refused(
        opened,
        ErrorKind::Storage,
        "Stored data is damaged: member 'data_type' of the record of property key 1",
    );
}

#[test]
fn a_change_that_cannot_be_stored_never_shows() {
    let bench = Bench::with_labels();
    let before = dump(&bench.current());
    let version = bench.current().version();
    bench.faults.fail_write(1, Fault::DiskFull);
    let outcome = bench.create_index_label(index("byCity", &["city"]));
    assert_eq!(outcome.expect_err("disk full").kind, ErrorKind::Unwritable);
    assert_eq!(dump(&bench.current()), before);
    assert_eq!(bench.current().version(), version);
    assert_eq!(bench.tasks().unfinished_count(), 0);
    let created = bench
        .create_index_label(index("byCity", &["city"]))
        .expect("room again");
    assert_eq!(
        (created.element.id.0, created.task.0),
        (1, 1),
        "ids of the failed change are free"
    );
}

#[test]
fn a_crash_between_storing_and_publishing_keeps_element_and_task() {
    for (fault, stored) in [(Fault::IoStored, true), (Fault::IoLost, false)] {
        let mut bench = Bench::with_labels();
        bench
            .create_index_label(index("byCity", &["city"]))
            .expect("byCity");
        bench.faults.fail_write(1, fault);
        let owned = bench.owned_by(Some("ann".to_owned()));
        let outcome = owned.create_index_label(index("both", &["city", "age"]));
        assert_eq!(outcome.expect_err("io").kind, ErrorKind::Storage);
        assert_eq!(bench.current().index_label_by_name("both"), None);
        bench.reopen();
        let listed = bench
            .tasks()
            .list(TaskQuery::default())
            .expect("tasks")
            .tasks;
        let names: Vec<&str> = listed.iter().map(|task| task.name.as_str()).collect();
        if stored {
            // The removal of the old index label and the build of the new one are stored with the
            // element, or not at all.
            assert_eq!(
                names,
                [
                    "INDEX_LABEL:1:byCity",
                    "INDEX_LABEL:1:byCity",
                    "INDEX_LABEL:2:both"
                ]
            );
            let owners = listed.iter().map(|task| task.owner.as_deref());
            assert_eq!(owners.collect::<Vec<_>>(), [None, Some("ann"), Some("ann")]);
            bench.start_easy();
            bench.succeeds(listed[2].id);
            assert_eq!(
                bench.indexes(),
                [("both".to_owned(), SchemaStatus::Created)]
            );
        } else {
            assert_eq!(names, ["INDEX_LABEL:1:byCity"]);
            assert_eq!(
                bench.indexes(),
                [("byCity".to_owned(), SchemaStatus::Creating)]
            );
        }
    }
}

#[test]
fn a_crash_at_any_write_leaves_a_schema_that_completes_itself() {
    for crash_at in 1..24 {
        let mut bench = Bench::with_labels();
        bench.faults.fail_writes_from(crash_at, Fault::IoLost);
        bench.start_easy();
        let tasks = [
            bench
                .create_index_label(index("byCity", &["city"]))
                .map(|created| created.task),
            bench
                .create_index_label(index("both", &["city", "age"]))
                .map(|created| created.task),
            bench.owned_by(None).remove(SchemaKind::EdgeLabel, "knows"),
            bench
                .owned_by(None)
                .remove(SchemaKind::EdgeLabel, "created"),
            bench
                .owned_by(None)
                .remove(SchemaKind::VertexLabel, "person"),
        ];
        let accepted: Vec<_> = tasks.into_iter().flatten().collect();
        bench.close();
        bench.faults.heal();
        bench.reopen();
        bench.start_easy();
        for task in accepted {
            let (status, result) = bench.end_of(task);
            assert!(
                status.is_final(),
                "crash at {crash_at}: {task} {status:?} {result}"
            );
        }
        let listed = bench
            .tasks()
            .list(TaskQuery::default())
            .expect("tasks")
            .tasks;
        for task in listed {
            bench.end_of(task.id);
        }
        let settled = |status| {
            matches!(
                status,
                SchemaStatus::Created | SchemaStatus::Invalid | SchemaStatus::Undeleted
            )
        };
        let schema = bench.current();
        for (name, status) in bench.indexes() {
            assert!(settled(status), "crash at {crash_at}: {name} is {status}");
        }
        for label in schema.all_vertex_labels() {
            assert!(settled(label.status), "crash at {crash_at}: {}", label.name);
        }
        for label in schema.all_edge_labels() {
            assert!(settled(label.status), "crash at {crash_at}: {}", label.name);
        }
    }
}

#[test]
fn concurrent_changes_all_count_and_ids_are_distinct() {
    let bench = Bench::new();
    const THREADS: usize = 4;
    const EACH: usize = 25;
    let catalogue: &Catalogue = &bench;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for at in 0..EACH {
                    let name = format!("key{thread}_{at}");
                    let created = catalogue.create_property_key(NewPropertyKey::named(&name));
                    let created = created.expect("a free name").element;
                    let schema = catalogue.current();
                    assert_eq!(schema.property_key_by_name(&name), Some(&created));
                    let shared = NewPropertyKey {
                        check_exist: false,
                        ..NewPropertyKey::named(&format!("shared{at}"))
                    };
                    catalogue.create_property_key(shared).expect("soft");
                }
            });
        }
    });
    let schema = bench.current();
    let keys: Vec<&Arc<PropertyKey>> = schema.all_property_keys().collect();
    assert_eq!(keys.len(), THREADS * EACH + EACH);
    let ids: Vec<u32> = keys.iter().map(|key| key.id.0).collect();
    let all: Vec<u32> = (1..=u32::try_from(keys.len()).expect("few")).collect();
    assert_eq!(ids, all);
}
