//! Index labels: the properties that they may index, and which new index label replaces an older
//! one.

use varve_model::IndexLabel;
use varve_model::schema::{IndexBase, IndexType, SchemaStatus};

use super::bench::*;
use crate::schema::*;
use crate::tasks::{TaskId, TaskType};
use crate::{ErrorKind, GraphError};

use IndexType::{Range, Search, Secondary, Shard, Unique};

fn on_vertices(name: &str, label: &str, kind: IndexType, fields: &[&str]) -> NewIndexLabel {
    NewIndexLabel::on(name, BaseType::VertexLabel, label, kind, fields)
}

fn create(
    bench: &Bench,
    name: &str,
    kind: IndexType,
    fields: &[&str],
) -> Result<WithTask<IndexLabel>, GraphError> {
    bench.create_index_label(on_vertices(name, "person", kind, fields))
}

/// Person with every property that the tests index.
fn bench() -> Bench {
    let bench = Bench::with_labels();
    let more = texts(&["weight", "lang", "date", "price", "hobby", "nums", "obj"]);
    let change = VertexLabelChange {
        name: "person".to_owned(),
        label: LabelChange {
            properties: more.clone(),
            nullable_keys: more,
            ..LabelChange::default()
        },
        ..VertexLabelChange::default()
    };
    bench
        .change_vertex_label(Action::Append, change)
        .expect("more properties");
    bench
}

#[test]
fn a_new_index_is_creating_until_its_task_has_run() {
    let bench = bench();
    let created = create(&bench, "personByCity", Secondary, &["city"]).expect("created");
    assert_eq!(created.element.status, SchemaStatus::Creating);
    assert_eq!(created.element.id.0, 1);
    assert!(!is_queryable(&created.element));
    let person = bench.current().vertex_label_by_name("person").map(|l| l.id);
    let person = person.expect("person");
    assert_eq!(bench.current().indexes_of_vertex_label(person).len(), 1);
    let task = bench.task(created.task);
    assert_eq!(task.name, "INDEX_LABEL:1:personByCity");
    assert_eq!(task.task_type, TaskType::RebuildIndex);
    let elements = bench.start_easy();
    bench.succeeds(created.task);
    assert_eq!(
        *elements.seen.lock(),
        ["rebuild_index INDEX_LABEL:1:personByCity"]
    );
    assert_eq!(
        bench.indexes(),
        [("personByCity".to_owned(), SchemaStatus::Created)]
    );
    let unbuilt = NewIndexLabel {
        rebuild: false,
        ..on_vertices("softwareByLang", "software", Search, &["lang"])
    };
    let unbuilt = bench.create_index_label(unbuilt).expect("not rebuilt");
    assert_eq!(
        (unbuilt.element.status, unbuilt.task),
        (SchemaStatus::Created, TaskId::NONE)
    );
    let edges = NewIndexLabel::on(
        "knowsByDate",
        BaseType::EdgeLabel,
        "knows",
        Secondary,
        &["date"],
    );
    let edges = bench.create_index_label(edges).expect("on edges");
    let knows = bench.current().edge_label_by_name("knows").map(|l| l.id);
    let knows = knows.expect("knows");
    assert_eq!(edges.element.base, IndexBase::Edge(knows));
    assert_eq!(bench.current().indexes_of_edge_label(knows).len(), 1);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn fields_are_checked() {
    let bench = bench();
    for (kind, fields, message) in [
        (
            Secondary,
            &["name"][..],
            "No need to build index on properties [name], because they contains all primary keys [name] for vertex label 'person'",
        ),
        (
            Unique,
            &["city", "name"],
            "No need to build index on properties [city, name], because they contains all primary keys [name] for vertex label 'person'",
        ),
        (
            Range,
            &["city"],
            "Range index can only build on numeric or date property, but got TEXT(city)",
        ),
        (
            Range,
            &["age", "price"],
            "Range index can only build on one field, but got 2 fields: '[age, price]'",
        ),
        (
            Range,
            &["nums"],
            "Not allowed to build range index on property 'nums' whose cardinality is multiple",
        ),
        (
            Search,
            &["age"],
            "Search index can only build on text property, but got INT(age)",
        ),
        (
            Search,
            &["city", "lang"],
            "Search index can only build on one field, but got 2 fields: '[city, lang]'",
        ),
        (
            Secondary,
            &["hobby", "city"],
            "Not allowed to build union index on property key 'hobby' whose cardinality is multiple",
        ),
        (
            Secondary,
            &["obj"],
            "Not allowed to build index on property key 'obj' whose data type is OBJECT",
        ),
        (
            Secondary,
            &["city", "city"],
            "Invalid index fields [city, city], which contains some duplicate properties",
        ),
        (Secondary, &[], "The 'index fields' of 'bad' can't be empty"),
        (
            Secondary,
            &["none"],
            "Can't build index on undefined property key 'none' for 'vertex label': 'person'",
        ),
    ] {
        invalid(create(&bench, "bad", kind, fields), message);
    }
    invalid(
        bench.create_index_label(on_vertices("bad", "none", Secondary, &["name"])),
        "Undefined vertex label: 'none'",
    );
    invalid(
        bench.create_index_label(on_vertices("bad", "software", Secondary, &["city"])),
        "Not all index fields '[city]' are contained in schema properties '[name, lang, price]'",
    );
    create(&bench, "names", Search, &["name"]).expect("words of a primary key");
    create(&bench, "ranged", Shard, &["name", "age"]).expect("a range beside the primary key");
}

#[test]
fn an_index_that_extends_an_old_one_removes_it() {
    let bench = bench();
    let city = create(&bench, "personByCity", Secondary, &["city"]).expect("city");
    let age = create(&bench, "personByAge", Range, &["age"]).expect("age");
    let both = create(&bench, "personByAgeCity", Shard, &["city", "age"]).expect("both");
    let ids = [city.task.0, age.task.0, both.task.0];
    assert_eq!(ids, [1, 2, 4], "task 3 removes the old one");
    let removal = bench.task(TaskId(3));
    assert_eq!(removal.name, "INDEX_LABEL:1:personByCity");
    assert_eq!(removal.task_type, TaskType::RemoveSchema);
    assert_eq!(bench.task(both.task).dependencies, [TaskId(3)]);
    assert_eq!(
        bench
            .current()
            .index_label_by_name("personByCity")
            .map(|i| i.status),
        Some(SchemaStatus::Deleting)
    );
    let elements = bench.start_easy();
    bench.succeeds(both.task);
    bench.succeeds(TaskId(3));
    let statuses = [
        ("personByAge".to_owned(), SchemaStatus::Created),
        ("personByAgeCity".to_owned(), SchemaStatus::Created),
    ];
    assert_eq!(bench.indexes(), statuses);
    let seen = elements.seen.lock().clone();
    assert!(
        !seen.contains(&"rebuild_index INDEX_LABEL:1:personByCity".to_owned()),
        "an index that is being removed is not built: {seen:?}"
    );
    let repeated = "due to existed index label personByAgeCity(SHARD) with fields [3, 2]";
    invalid(
        create(&bench, "bad", Secondary, &["city"]),
        &format!("Repeated new index label bad(SECONDARY) with fields [city] {repeated}"),
    );
    invalid(
        create(&bench, "personByCity", Secondary, &["city"]),
        &format!("Repeated new index label personByCity(SECONDARY) with fields [city] {repeated}"),
    );
    let soft = NewIndexLabel {
        check_exist: false,
        ..on_vertices("personByAge", "person", Range, &["age"])
    };
    let found = bench.create_index_label(soft.clone()).expect("the same");
    assert_eq!((found.element.id.0, found.task), (2, TaskId::NONE));
    let message = "The index label 'personByAge' has existed";
    let other = NewIndexLabel {
        fields: texts(&["price"]),
        ..soft
    };
    refused(bench.create_index_label(other), ErrorKind::Existed, message);
    refused(
        create(&bench, "personByAge", Range, &["age"]),
        ErrorKind::Existed,
        message,
    );
}

/// The effect of creating a second index label when one exists already.
#[derive(Debug, PartialEq)]
enum Outcome {
    Beside,
    Repeated,
    Replaces,
}

#[test]
fn which_index_answers_for_which() {
    use Outcome::{Beside, Repeated, Replaces};
    type Index<'a> = (IndexType, &'a [&'a str]);
    let cases: &[(Index<'_>, Index<'_>, Outcome)] = &[
        ((Range, &["age"]), (Range, &["age"]), Repeated),
        ((Range, &["age"]), (Secondary, &["age"]), Repeated),
        ((Range, &["age"]), (Shard, &["age"]), Repeated),
        ((Range, &["age"]), (Shard, &["age", "city"]), Beside),
        ((Secondary, &["age"]), (Range, &["age"]), Replaces),
        ((Shard, &["age"]), (Range, &["age"]), Replaces),
        ((Secondary, &["city"]), (Search, &["city"]), Beside),
        ((Search, &["city"]), (Search, &["city"]), Repeated),
        ((Search, &["city"]), (Secondary, &["city"]), Beside),
        (
            (Secondary, &["city"]),
            (Secondary, &["city", "age"]),
            Replaces,
        ),
        (
            (Secondary, &["city", "age"]),
            (Secondary, &["city"]),
            Repeated,
        ),
        ((Secondary, &["city", "age"]), (Secondary, &["age"]), Beside),
        ((Secondary, &["city"]), (Shard, &["city", "age"]), Replaces),
        ((Secondary, &["city"]), (Shard, &["city"]), Repeated),
        ((Shard, &["city"]), (Secondary, &["city", "lang"]), Replaces),
        (
            (Shard, &["city", "age"]),
            (Secondary, &["city", "age"]),
            Repeated,
        ),
        (
            (Unique, &["city", "lang"]),
            (Unique, &["lang", "city", "age"]),
            Repeated,
        ),
        ((Unique, &["city", "lang"]), (Unique, &["lang"]), Replaces),
        ((Unique, &["city"]), (Secondary, &["city"]), Beside),
        ((Secondary, &["city"]), (Unique, &["city"]), Beside),
    ];
    for (first, second, expected) in cases {
        let bench = bench();
        create(&bench, "first", first.0, first.1).expect("first");
        let outcome = match create(&bench, "second", second.0, second.1) {
            Err(error) => {
                assert!(
                    error
                        .message
                        .starts_with("Repeated new index label second(")
                );
                Repeated
            }
            Ok(_) => match bench.current().index_label_by_name("first") {
                Some(first) if first.status == SchemaStatus::Deleting => Replaces,
                _ => Beside,
            },
        };
        assert_eq!(outcome, *expected, "{first:?} then {second:?}");
    }
}

#[test]
fn messages_tell_range_types_apart() {
    let bench = bench();
    create(&bench, "byWeight", Range, &["weight"]).expect("byWeight");
    invalid(
        create(&bench, "bad", Range, &["weight"]),
        "Repeated new index label bad(RANGE_DOUBLE) with fields [weight] due to existed index label byWeight(RANGE_DOUBLE) with fields [7]",
    );
}

#[test]
fn only_user_data_changes() {
    let bench = bench();
    create(&bench, "byAge", Range, &["age"]).expect("byAge");
    let change = |user_data| IndexLabelChange {
        name: "byAge".to_owned(),
        user_data,
        ..IndexLabelChange::default()
    };
    let members = data(&[("a", varve_model::Datum::Int(1))]);
    let index = bench
        .change_index_label(Action::Append, change(members.clone()))
        .expect("append");
    assert_eq!(member_names(&index.user_data), ["~create_time", "a"]);
    let index = bench
        .change_index_label(Action::Eliminate, change(members))
        .expect("eliminate");
    assert_eq!(member_names(&index.user_data), ["~create_time"]);
    let fields = IndexLabelChange {
        fields: texts(&["age"]),
        ..change(Vec::new())
    };
    not_allowed(
        bench.change_index_label(Action::Append, fields),
        "Not allowed to update index fields for index label 'byAge'",
    );
}
