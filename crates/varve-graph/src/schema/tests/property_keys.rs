//! Property keys: creation, sameness, user data.

use varve_model::Datum;
use varve_model::schema::{AggregateType, IndexBase, SchemaStatus, WriteType};
use varve_model::value::{Cardinality, DataType, Value};

use super::bench::*;
use crate::ErrorKind;
use crate::schema::*;
use crate::tasks::TaskId;

fn key(name: &str) -> NewPropertyKey {
    NewPropertyKey::named(name)
}

#[test]
fn ids_count_from_one_and_defaults_hold() {
    let bench = Bench::new();
    let first = bench.create_property_key(key("name")).expect("name");
    assert_eq!((first.element.id.0, first.task), (1, TaskId::NONE));
    assert_eq!(first.element.data_type, DataType::Text);
    assert_eq!(
        first.element.user_data,
        Datum::Map(data(&[("~create_time", text("2026-11-21 19:22:53.380"))]))
    );
    let second = bench.create_property_key(key("age")).expect("age");
    assert_eq!(second.element.id.0, 2);
    let schema = bench.current();
    assert_eq!(
        schema.property_key(second.element.id),
        Some(&second.element)
    );
    assert_eq!(schema.property_key_by_name("age"), Some(&second.element));
}

#[test]
fn an_existing_name_is_refused_unless_the_same_is_asked_for_softly() {
    let bench = Bench::with_keys();
    let message = "The property key 'name' has existed";
    refused(
        bench.create_property_key(key("name")),
        ErrorKind::Existed,
        message,
    );
    let soft = NewPropertyKey {
        check_exist: false,
        ..key("name")
    };
    let found = bench.create_property_key(soft.clone()).expect("the same");
    assert_eq!((found.element.id.0, found.task), (1, TaskId::NONE));
    let other = NewPropertyKey {
        data_type: DataType::Int,
        ..soft
    };
    refused(
        bench.create_property_key(other),
        ErrorKind::Existed,
        message,
    );
}

#[test]
fn names_nulls_and_aggregates_are_checked() {
    let bench = Bench::new();
    invalid(
        bench.create_property_key(key("~bad")),
        "Illegal schema name '~bad'",
    );
    let nulls = NewPropertyKey {
        user_data: data(&[("min", Datum::Int(0)), ("k", Datum::Null)]),
        ..key("ud")
    };
    not_allowed(
        bench.create_property_key(nulls),
        "Not allowed to pass null userdata value when create or append schema",
    );
    use AggregateType as A;
    use Cardinality as C;
    use DataType as D;
    for (aggregate, data_type, cardinality, problem) in [
        (A::Sum, D::Text, C::Single, Some("data type 'TEXT'")),
        (A::Sum, D::Date, C::Single, Some("data type 'DATE'")),
        (A::Max, D::Boolean, C::Single, Some("data type 'BOOLEAN'")),
        (A::Max, D::Int, C::List, Some("cardinality 'LIST'")),
        (A::Set, D::Int, C::Single, Some("cardinality 'SINGLE'")),
        (A::Set, D::Int, C::List, Some("cardinality 'LIST'")),
        (A::Set, D::Int, C::Set, None),
        (A::List, D::Text, C::List, None),
        (A::Min, D::Date, C::Single, None),
        (A::Sum, D::Float, C::Single, None),
        (A::Old, D::Text, C::Single, None),
    ] {
        let name = format!("{aggregate}{data_type}{cardinality}");
        let outcome = bench.create_property_key(NewPropertyKey {
            aggregate_type: aggregate,
            data_type,
            cardinality,
            ..key(&name)
        });
        match problem {
            None => drop(outcome.expect(&name)),
            Some(problem) => not_allowed(
                outcome,
                &format!(
                    "Not allowed to set aggregate type '{aggregate}' for property key '{name}' with {problem}"
                ),
            ),
        }
    }
}

#[test]
fn ids_are_given_only_and_always_in_mode_restoring() {
    let bench = Bench::new();
    let with_id = |name: &str, id: i64| NewPropertyKey {
        id: Some(id),
        ..key(name)
    };
    invalid(
        bench.create_property_key(with_id("idd", 77)),
        "Only accept property key id when graph in RESTORING mode, but 'standardhugegraph[hugegraph]' is in mode 'NONE'",
    );
    bench.set_mode(GraphMode::Restoring);
    invalid(
        bench.create_property_key(key("noid")),
        "Must provide schema id if in RESTORING mode",
    );
    invalid(
        bench.create_property_key(with_id("neg", -1)),
        "Only positive number can be assign as property key id",
    );
    let created = bench
        .create_property_key(with_id("withid", 5000))
        .expect("withid");
    assert_eq!(created.element.id.0, 5000);
    refused(
        bench.create_property_key(with_id("other", 5000)),
        ErrorKind::Existed,
        "The property key id '5000' has existed",
    );
    bench.set_mode(GraphMode::Merging);
    let message = "Only accept property key id when graph in RESTORING mode, but 'standardhugegraph[hugegraph]' is in mode 'MERGING'";
    invalid(bench.create_property_key(with_id("withid2", 501)), message);
    let next = bench.create_property_key(key("next")).expect("next");
    assert_eq!(next.element.id.0, 5001, "never an id that was given before");
    let schema = bench.current();
    let ids: Vec<u32> = schema.all_property_keys().map(|key| key.id.0).collect();
    assert_eq!(ids, [5000, 5001]);
}

#[test]
fn only_user_data_changes() {
    let bench = Bench::with_keys();
    let change = |members: &[(&str, Datum)]| PropertyKeyChange {
        name: "age".to_owned(),
        data_type: Some(DataType::Text),
        cardinality: Some(Cardinality::Single),
        user_data: data(members),
    };
    let appended = bench
        .change_property_key(
            Action::Append,
            change(&[("min", Datum::Int(1)), ("s", text("t"))]),
        )
        .expect("append");
    assert_eq!(
        member_names(&appended.user_data),
        ["~create_time", "min", "s"]
    );
    let eliminated = bench
        .change_property_key(Action::Eliminate, change(&[("min", Datum::Null)]))
        .expect("eliminate");
    assert_eq!(member_names(&eliminated.user_data), ["~create_time", "s"]);
    assert_eq!(
        bench.current().property_key_by_name("age"),
        Some(&eliminated)
    );
    let refuse = |change, message| {
        not_allowed(bench.change_property_key(Action::Append, change), message);
    };
    refuse(
        PropertyKeyChange {
            data_type: Some(DataType::Long),
            ..change(&[])
        },
        "Not allowed to update data type for property key 'age'",
    );
    refuse(
        PropertyKeyChange {
            cardinality: Some(Cardinality::Set),
            ..change(&[])
        },
        "Not allowed to update cardinality for property key 'age'",
    );
    refuse(
        change(&[("x", Datum::Null)]),
        "Not allowed to pass null userdata value when create or append schema",
    );
    let unknown = PropertyKeyChange {
        name: "none".to_owned(),
        ..PropertyKeyChange::default()
    };
    refused(
        bench.change_property_key(Action::Append, unknown),
        ErrorKind::NotFound,
        "Can't update property key 'none' since it doesn't exist",
    );
    invalid(
        bench.owned_by(None).clear_property_key("age"),
        "Only olap property key can do action clear, but got 'age(id=2)'",
    );
}

#[test]
fn a_default_value_must_fit() {
    let bench = Bench::new();
    let with_default = |name: &str, data_type, cardinality, value: Datum| NewPropertyKey {
        data_type,
        cardinality,
        user_data: data(&[("~default_value", value)]),
        ..key(name)
    };
    let texts = Datum::List(vec![text("a"), text("a")]);
    for (at, (data_type, cardinality, given, value)) in [
        (
            DataType::Text,
            Cardinality::Single,
            text("dd"),
            Value::Text("dd".into()),
        ),
        (
            DataType::Byte,
            Cardinality::Single,
            Datum::Int(-128),
            Value::Byte(-128),
        ),
        (
            DataType::Double,
            Cardinality::Single,
            Datum::Int(1),
            Value::Double(1.0),
        ),
        (
            DataType::Date,
            Cardinality::Single,
            text("1970-01-02"),
            Value::Date(86_400_000),
        ),
        (
            DataType::Text,
            Cardinality::Set,
            texts,
            Value::Set(vec![Value::Text("a".into())]),
        ),
        (
            DataType::Int,
            Cardinality::List,
            Datum::Int(3),
            Value::List(vec![Value::Int(3)]),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let new = with_default(&format!("good{at}"), data_type, cardinality, given);
        let created = bench.create_property_key(new).expect("a fitting default");
        assert_eq!(default_value(&created.element).expect("fits"), Some(value));
    }
    invalid(
        bench.create_property_key(with_default(
            "bad",
            DataType::Int,
            Cardinality::Single,
            text("x"),
        )),
        "Invalid user data '~default_value' of property key 'bad': it does not fit SINGLE INT",
    );
    assert_eq!(bench.current().property_key_by_name("bad"), None);
}

#[test]
fn a_removed_key_is_hidden_but_its_id_still_names_it() {
    let bench = Bench::with_labels();
    not_allowed(
        bench.owned_by(None).remove(SchemaKind::PropertyKey, "name"),
        "Not allowed to remove property key: 'name(id=1)' because the vertex label 'person' is still using it.",
    );
    not_allowed(
        bench.owned_by(None).remove(SchemaKind::PropertyKey, "date"),
        "Not allowed to remove property key: 'date(id=5)' because the edge label 'knows' is still using it.",
    );
    refused(
        bench.owned_by(None).remove(SchemaKind::PropertyKey, "none"),
        ErrorKind::NotFound,
        "property key with name 'none' does not exist",
    );
    let id = bench
        .current()
        .property_key_by_name("nums")
        .expect("nums")
        .id;
    assert_eq!(
        bench
            .owned_by(None)
            .remove(SchemaKind::PropertyKey, "nums")
            .expect("unused"),
        TaskId::NONE
    );
    let schema = bench.current();
    assert_eq!(schema.property_key_by_name("nums"), None);
    assert!(schema.all_property_keys().all(|key| key.name != "nums"));
    let kept = schema.property_key(id).expect("kept for history");
    assert_eq!(
        (kept.name.as_str(), kept.status),
        ("nums", SchemaStatus::Removed)
    );
    let again = bench
        .create_property_key(key("nums"))
        .expect("the name is free");
    assert!(again.element.id > id);
    assert_eq!(
        bench.current().property_key(id).map(|key| key.status),
        Some(SchemaStatus::Removed)
    );
}

#[test]
fn keys_of_offline_analysis_come_with_a_hidden_index_and_a_task() {
    let bench = Bench::new();
    bench.start_easy();
    let olap = |name: &str, data_type, write_type| NewPropertyKey {
        data_type,
        write_type,
        ..key(name)
    };
    let created = bench
        .create_property_key(olap("olap1", DataType::Double, WriteType::OlapRange))
        .expect("olap1");
    assert_eq!(bench.task(created.task).name, "PROPERTY_KEY:1:olap1");
    bench.succeeds(created.task);
    assert_eq!(
        bench.indexes(),
        [("*olap_by_olap1".to_owned(), SchemaStatus::Created)]
    );
    assert_eq!(bench.current().indexes_on(IndexBase::Olap).len(), 1);
    let cleared = bench
        .owned_by(None)
        .clear_property_key("olap1")
        .expect("clear");
    bench.succeeds(cleared.task);
    let removal = bench
        .owned_by(None)
        .remove(SchemaKind::PropertyKey, "olap1")
        .expect("remove");
    bench.succeeds(removal);
    assert_eq!(bench.indexes(), []);
    assert_eq!(bench.current().property_key_by_name("olap1"), None);
    not_allowed(
        bench.create_property_key(olap("bad", DataType::Text, WriteType::OlapRange)),
        "Not allowed to set write type to OLAP_RANGE for property key 'bad' with data type 'TEXT'",
    );
    let summed = NewPropertyKey {
        aggregate_type: AggregateType::Sum,
        ..olap("bad", DataType::Int, WriteType::OlapCommon)
    };
    not_allowed(
        bench.create_property_key(summed),
        "Not allowed to set aggregate type 'SUM' for olap property key 'bad'",
    );
}
