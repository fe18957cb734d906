//! Labels and keys that are created on first use.

use varve_model::schema::{Frequency, IdStrategy, IndexType};
use varve_model::value::DataType;

use super::bench::*;
use crate::ErrorKind;
use crate::schema::*;

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.close();
    put_mode(&*bench.space(), SchemaMode::Open).expect("the mode is stored");
    bench.reopen();
    bench
}

fn person() -> FirstUse<'static> {
    FirstUse {
        property_keys: vec![("since", DataType::Int)],
        vertex_labels: vec![LabelUse {
            name: "person",
            ids: Some(IdStrategy::CustomizeNumber),
            keys: vec![("name", DataType::Text), ("age", DataType::Int)],
        }],
        edge_labels: vec![LabelUse {
            name: "name",
            ids: None,
            keys: vec![("weight", DataType::Double)],
        }],
    }
}

fn key<'a>(name: &'a str, data_type: DataType) -> FirstUse<'a> {
    FirstUse {
        property_keys: vec![(name, data_type)],
        ..FirstUse::default()
    }
}

#[test]
fn what_is_missing_is_made_once_and_stored_before_it_is_shown() {
    let mut bench = bench();
    let schema = bench.ensure(&person()).expect("made");
    let again = bench.ensure(&person()).expect("there");
    assert_eq!(schema.version(), again.version(), "nothing changed");
    bench.reopen();
    let schema = bench.current();
    assert!(schema.is_open());
    let label = schema.vertex_label_by_name("person").expect("stored");
    assert_eq!(label.id_strategy, IdStrategy::CustomizeNumber);
    assert_eq!(
        schema.property_key_names(&label.properties),
        ["name", "age"]
    );
    assert_eq!(label.nullable_keys, label.properties);
    // A label and a key may have the same name.
    let edges = schema.edge_label_by_name("name").expect("stored");
    assert_eq!((edges.link, edges.frequency), (None, Frequency::Multiple));
    assert!(edges.sort_keys.is_empty());
    assert_eq!(schema.property_key_names(&edges.nullable_keys), ["weight"]);
    assert!(schema.property_key_by_name("since").is_some());
}

#[test]
fn a_label_grows_by_the_keys_that_are_used() {
    let bench = bench();
    bench.ensure(&person()).expect("made");
    let grown = FirstUse {
        vertex_labels: vec![LabelUse {
            name: "person",
            ids: Some(IdStrategy::CustomizeString),
            keys: vec![("since", DataType::Int)],
        }],
        ..FirstUse::default()
    };
    let schema = bench.ensure(&grown).expect("grown");
    let label = schema.vertex_label_by_name("person").expect("there");
    let names = schema.property_key_names(&label.properties);
    assert_eq!(names, ["since", "name", "age"]);
    assert_eq!(label.nullable_keys, label.properties);
    assert_eq!(
        label.id_strategy,
        IdStrategy::CustomizeNumber,
        "the first one's"
    );
}

#[test]
fn a_key_takes_any_value_once_it_had_two_types_unless_an_index_needs_one() {
    let bench = bench();
    bench.ensure(&person()).expect("made");
    let schema = bench.ensure(&key("age", DataType::Text)).expect("retyped");
    let age = schema.property_key_by_name("age").expect("there");
    assert_eq!(age.data_type, DataType::Object);
    let again = bench.ensure(&key("age", DataType::Int)).expect("any");
    assert_eq!(again.version(), schema.version());
    bench
        .create_index_label(NewIndexLabel::on(
            "personByName",
            BaseType::VertexLabel,
            "person",
            IndexType::Secondary,
            &["name"],
        ))
        .expect("the index");
    let refused = bench
        .ensure(&key("name", DataType::Int))
        .expect_err("typed");
    assert_eq!(refused.kind, ErrorKind::NotAllowed);
    assert_eq!(
        refused.message,
        "Property key 'name' takes values of type TEXT only, since index label 'personByName' uses it"
    );
}

#[test]
fn over_the_limit_nothing_more_is_made() {
    let bench = bench();
    bench.ensure(&person()).expect("made");
    // Two labels and four keys.
    bench.set_open_schema_max(7);
    bench.ensure(&key("one", DataType::Int)).expect("the last");
    let refused = bench.ensure(&key("two", DataType::Int)).expect_err("full");
    assert_eq!(refused.kind, ErrorKind::LimitExceeded);
    assert_eq!(
        refused.message,
        "Graph 'hugegraph' would have 8 labels and keys; gremlin.open_schema_max is 7"
    );
    assert!(bench.current().property_key_by_name("two").is_none());
    bench
        .ensure(&key("age", DataType::Text))
        .expect("no more of them");
}

#[test]
fn a_declared_schema_stays_declared() {
    let bench = Bench::with_labels();
    let refused = bench
        .ensure(&key("age", DataType::Int))
        .expect_err("declared");
    assert_eq!(refused.kind, ErrorKind::NotAllowed);
    assert!(!bench.current().is_open());
}
