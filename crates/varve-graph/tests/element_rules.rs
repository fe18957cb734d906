//! The rules for vertices and edges, with the sentences that HugeGraph 1.5.0 was recorded to answer.

use std::borrow::Cow;
use std::sync::Arc;

use varve_encoding::row;
use varve_encoding::tables::TABLES;
use varve_graph::element::{
    EdgeForm, EdgeInput, RawValue, Rules, Strategies, UpdateAction, UpdateStrategy, VertexInput,
    change,
};
use varve_graph::schema::{GraphMode, NewEdgeLabel, NewPropertyKey, NewVertexLabel, Schema};
use varve_graph::write::{EndCheck, IdRef, Mutation, WriteRequest};
use varve_graph::{Graph, GraphError, GraphOptions};
use varve_kv::Engine;
use varve_kv::memory::MemoryEngine;
use varve_model::schema::{AggregateType, EdgeLabelType, Frequency, IdStrategy};
use varve_model::time::SystemClock;
use varve_model::value::{Cardinality, DataType};
use varve_model::{Datum, EdgeId, ElementId, TemporalScope, Value, Vertex, VertexId};

struct Fixture {
    _engine: MemoryEngine,
    graph: Arc<Graph>,
    schema: Arc<Schema>,
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// The property keys and labels of the recording.
fn fixture() -> Fixture {
    let engine = MemoryEngine::new();
    let space = engine.open("g", TABLES, true).expect("space");
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graph = Graph::open("g", space, &options).expect("graph");
    let catalogue = graph.catalogue();
    for (name, data_type, cardinality) in [
        ("name", DataType::Text, Cardinality::Single),
        ("age", DataType::Int, Cardinality::Single),
        ("city", DataType::Text, Cardinality::Single),
        ("lang", DataType::Text, Cardinality::Single),
        ("date", DataType::Date, Cardinality::Single),
        ("price", DataType::Int, Cardinality::Single),
        ("weight", DataType::Double, Cardinality::Single),
        ("hobby", DataType::Text, Cardinality::Set),
        ("tags", DataType::Text, Cardinality::List),
        ("u", DataType::Uuid, Cardinality::Single),
        ("blob", DataType::Blob, Cardinality::Single),
        ("flag", DataType::Boolean, Cardinality::Single),
        ("b", DataType::Byte, Cardinality::Single),
        ("l", DataType::Long, Cardinality::Single),
        ("f", DataType::Float, Cardinality::Single),
        ("obj", DataType::Object, Cardinality::Single),
        ("cnt", DataType::Int, Cardinality::Single),
        ("def", DataType::Text, Cardinality::Single),
    ] {
        let mut key = NewPropertyKey {
            data_type,
            cardinality,
            ..NewPropertyKey::named(name)
        };
        if name == "cnt" {
            key.aggregate_type = AggregateType::Sum;
        }
        if name == "def" {
            key.user_data = vec![("~default_value".to_owned(), Datum::Text("dd".to_owned()))];
        }
        catalogue.create_property_key(key).expect(name);
    }
    let all = [
        "name", "age", "city", "date", "weight", "hobby", "tags", "u", "blob", "flag", "b", "l",
        "f", "obj", "cnt", "def",
    ];
    for (name, strategy, properties, primary, nullable) in [
        (
            "person",
            Some(IdStrategy::PrimaryKey),
            &["name", "age", "city"][..],
            &["name"][..],
            &["city"][..],
        ),
        (
            "software",
            None,
            &["name", "lang", "price"],
            &["name"],
            &["price"],
        ),
        (
            "book",
            Some(IdStrategy::CustomizeString),
            &["name", "price"],
            &[],
            &["price"],
        ),
        (
            "num",
            Some(IdStrategy::CustomizeNumber),
            &["name"],
            &[],
            &["name"],
        ),
        (
            "uu",
            Some(IdStrategy::CustomizeUuid),
            &["name"],
            &[],
            &["name"],
        ),
        ("auto", None, &["name"], &[], &["name"]),
        (
            "multi",
            None,
            &["name", "age", "date"],
            &["name", "age", "date"],
            &[],
        ),
        ("all", Some(IdStrategy::CustomizeString), &all, &[], &all),
        (
            "strict",
            Some(IdStrategy::CustomizeString),
            &["def", "age"],
            &[],
            &[],
        ),
    ] {
        let label = NewVertexLabel {
            id_strategy: strategy,
            properties: names(properties),
            primary_keys: names(primary),
            nullable_keys: names(nullable),
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).expect(name);
    }
    create_edge_labels(&graph);
    let schema = graph.schema();
    Fixture {
        _engine: engine,
        graph,
        schema,
    }
}

fn create_edge_labels(graph: &Graph) {
    let knows = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        properties: names(&["date", "city", "weight"]),
        sort_keys: names(&["date"]),
        nullable_keys: names(&["city", "weight"]),
        ..NewEdgeLabel::between("knows", "person", "person")
    };
    let created = NewEdgeLabel {
        properties: names(&["date", "city", "weight"]),
        nullable_keys: names(&["city", "weight"]),
        ..NewEdgeLabel::between("created", "person", "software")
    };
    let parent = NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::named("par")
    };
    let sub = NewEdgeLabel {
        label_type: EdgeLabelType::Sub,
        parent: Some("par".to_owned()),
        ..NewEdgeLabel::between("sub1", "person", "software")
    };
    let ids = NewEdgeLabel::between("ids", "uu", "num");
    for label in [knows, created, parent, sub, ids] {
        graph
            .catalogue()
            .create_edge_label(label)
            .expect("edge label");
    }
}

type Pairs<'a> = Vec<(Cow<'a, str>, RawValue<'a>)>;

fn text(value: &str) -> RawValue<'_> {
    RawValue::Text(Cow::Borrowed(value))
}

fn int(value: i64) -> RawValue<'static> {
    RawValue::Integer(value)
}

fn texts<'a>(values: &[&'a str]) -> RawValue<'a> {
    RawValue::List(values.iter().map(|value| text(value)).collect())
}

fn pairs<'a>(properties: &[(&'a str, RawValue<'a>)]) -> Pairs<'a> {
    properties
        .iter()
        .map(|(name, value)| (Cow::Borrowed(*name), value.clone()))
        .collect()
}

fn vertex_input<'a>(
    label: &'a str,
    id: Option<RawValue<'a>>,
    properties: &[(&'a str, RawValue<'a>)],
) -> VertexInput<'a> {
    VertexInput {
        label: Some(Cow::Borrowed(label)),
        id,
        properties: Some(pairs(properties)),
    }
}

impl Fixture {
    fn vertex(&self, mode: GraphMode, input: VertexInput<'_>) -> Result<Vertex, GraphError> {
        let next = || 77;
        let rules = Rules {
            schema: &self.schema,
            mode,
            next_vertex_id: &next,
        };
        rules.vertex(input).map(|new| new.vertex)
    }

    fn edge(&self, input: EdgeInput<'_>, form: EdgeForm) -> Result<EdgeId, GraphError> {
        let next = || 77;
        let rules = Rules {
            schema: &self.schema,
            mode: GraphMode::None,
            next_vertex_id: &next,
        };
        rules.edge(input, form).map(|new| new.edge.id)
    }

    fn value(&self, vertex: &Vertex, name: &str) -> Option<Value> {
        let key = self.schema.property_key_by_name(name).expect(name).id;
        vertex.properties.get(key).cloned()
    }
}

#[test]
fn vertices_that_are_refused() {
    let fixture = fixture();
    let longest = "x".repeat(16 * 1024);
    let too_long = "x".repeat(16 * 1024 + 1);
    let cases: Vec<(VertexInput<'_>, &str)> = vec![
        (
            vertex_input("person", None, &[("age", int(29))]),
            "The primary keys: [name] of vertex label 'person' must be set when using 'PRIMARY_KEY' id strategy",
        ),
        (
            vertex_input("person", None, &[("name", text("x"))]),
            "All non-null property keys [name, age] of vertex label 'person' must be set, missed keys [age]",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", RawValue::Null)],
            ),
            "Not allowed to set value of property 'age' to null for vertex 'null'",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", int(1)), ("price", int(3))],
            ),
            "Invalid property 'price' for vertex label 'person(id=1)'",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", int(1)), ("nope", int(3))],
            ),
            "Undefined property key: 'nope'",
        ),
        (
            vertex_input("nope", None, &[]),
            "Undefined vertex label: 'nope'",
        ),
        (
            VertexInput {
                label: None,
                ..vertex_input("", None, &[])
            },
            "Undefined vertex label: 'vertex'",
        ),
        (
            VertexInput {
                properties: None,
                ..vertex_input("person", None, &[])
            },
            "The properties of vertex can't be null",
        ),
        (
            vertex_input(
                "person",
                Some(text("1:zz")),
                &[("name", text("zz")), ("age", int(1))],
            ),
            "Can't customize vertex id when id strategy is 'PRIMARY_KEY' for vertex label 'person'",
        ),
        (
            vertex_input("person", None, &[("name", text("")), ("age", int(1))]),
            "The value of primary key can't be empty",
        ),
        (
            vertex_input("book", None, &[("name", text("b1"))]),
            "Must customize vertex string id when id strategy is 'CUSTOMIZE_STRING' for vertex label 'book'",
        ),
        (
            vertex_input("book", Some(int(5)), &[("name", text("b1"))]),
            "Must customize vertex string id when id strategy is 'CUSTOMIZE_STRING' for vertex label 'book'",
        ),
        (
            vertex_input("num", Some(text("124")), &[]),
            "Must customize vertex number id when id strategy is 'CUSTOMIZE_NUMBER' for vertex label 'num'",
        ),
        (
            vertex_input("uu", Some(text("notuuid")), &[]),
            "Invalid UUID string: notuuid",
        ),
        (
            vertex_input("auto", Some(int(7)), &[]),
            "Can't customize vertex id when id strategy is 'AUTOMATIC' for vertex label 'auto'",
        ),
        (
            vertex_input("all", Some(text("a1")), &[("cnt", int(3))]),
            "The rocksdb store does not support aggregate property",
        ),
        (
            vertex_input("all", Some(text(&too_long)), &[]),
            "The max length of vertex id is 16384, but got 16385",
        ),
        (
            vertex_input("all", Some(text("")), &[]),
            "The id can't be null or empty",
        ),
        (
            vertex_input("strict", Some(text("s")), &[]),
            "All non-null property keys [age, def] of vertex label 'strict' must be set, missed keys [age]",
        ),
    ];
    for (input, message) in cases {
        let error = fixture.vertex(GraphMode::None, input).expect_err(message);
        assert_eq!(error.message, message);
    }
    let restored = fixture.vertex(GraphMode::Restoring, vertex_input("auto", None, &[]));
    assert_eq!(
        restored.expect_err("an id is wanted").message,
        "Must customize vertex number id when id strategy is 'AUTOMATIC' for vertex label 'auto' in restoring mode"
    );
    let fits = vertex_input("all", Some(text(&longest)), &[]);
    assert!(fixture.vertex(GraphMode::None, fits).is_ok());
}

#[test]
fn values_that_are_refused() {
    let fixture = fixture();
    let dates = "Expected date format is: [yyyy-MM-dd, yyyy-MM-dd HH:mm:ss, yyyy-MM-dd HH:mm:ss.SSS], but got";
    for (key, value, message) in [
        (
            "age",
            text("abc"),
            "Invalid property value 'abc' for key 'age', expect a value of type Integer, actual type String",
        ),
        (
            "age",
            RawValue::Double(1.5),
            "Invalid property value '1.5' for key 'age': Can't read '1.5' as int: For input string: \"1.5\"",
        ),
        (
            "age",
            int(3_000_000_000),
            "Invalid property value '3000000000' for key 'age': Can't read '3000000000' as int: For input string: \"3000000000\"",
        ),
        (
            "age",
            RawValue::Unsigned(u64::MAX),
            "Invalid property value '18446744073709551615' for key 'age': Can't read '18446744073709551615' as int: For input string: \"18446744073709551615\"",
        ),
        (
            "b",
            int(300),
            "Invalid property value '300' for key 'b': Can't read '300' as byte: Value out of range. Value:\"300\" Radix:10",
        ),
        (
            "l",
            RawValue::Double(1e20),
            "Invalid property value '1.0E20' for key 'l': Can't read '1.0E20' as long: For input string: \"1.0E20\"",
        ),
        (
            "flag",
            text("true"),
            "Invalid property value 'true' for key 'flag', expect a value of type Boolean, actual type String",
        ),
        (
            "name",
            int(5),
            "Invalid property value '5' for key 'name', expect a value of type String, actual type Integer",
        ),
        (
            "name",
            texts(&["x"]),
            "Invalid property value '[x]' for key 'name', expect a value of type String, actual type ArrayList",
        ),
        (
            "weight",
            text("1.0"),
            "Invalid property value '1.0' for key 'weight', expect a value of type Double, actual type String",
        ),
        (
            "u",
            text("x"),
            "Invalid property value 'x' for key 'u': Invalid UUID string: x",
        ),
        (
            "blob",
            RawValue::List(vec![int(1), int(300)]),
            "Invalid property value '[1, 300]' for key 'blob': expect byte or int value, but got '300'",
        ),
        (
            "tags",
            RawValue::List(vec![text("a"), int(1)]),
            "Invalid property value '1' for key 'tags', expect a value of type String, actual type Integer",
        ),
    ] {
        let input = vertex_input("all", Some(text("d")), &[(key, value)]);
        let error = fixture.vertex(GraphMode::None, input).expect_err(message);
        assert_eq!(error.message, message);
    }
    for bad in [
        "2020-01-02T03:04:05",
        "2020-01-02T03:04:05Z",
        "2020-01-02 03:04",
        "2020-01",
        "2020",
        "20200102",
        "x",
    ] {
        let input = vertex_input("all", Some(text("d")), &[("date", text(bad))]);
        let error = fixture.vertex(GraphMode::None, input).expect_err(bad);
        assert_eq!(
            error.message,
            format!("Invalid property value '{bad}' for key 'date': {dates} '{bad}'")
        );
    }
}

#[test]
fn values_that_are_taken() {
    let fixture = fixture();
    for (key, value, stored) in [
        (
            "date",
            int(1_577_934_245_000),
            Value::Date(1_577_934_245_000),
        ),
        ("date", text("1970-01-01 00:00:01"), Value::Date(1_000)),
        ("weight", int(1), Value::Double(1.0)),
        ("weight", text("Infinity"), Value::Double(f64::INFINITY)),
        ("f", RawValue::Double(1.5), Value::Float(1.5)),
        ("b", int(-128), Value::Byte(-128)),
        ("l", int(i64::MIN), Value::Long(i64::MIN)),
        (
            "hobby",
            text("x"),
            Value::Set(vec![Value::Text("x".into())]),
        ),
        (
            "hobby",
            texts(&["x", "y", "x"]),
            Value::Set(vec![Value::Text("x".into()), Value::Text("y".into())]),
        ),
        (
            "tags",
            texts(&["t", "t"]),
            Value::List(vec![Value::Text("t".into()), Value::Text("t".into())]),
        ),
        (
            "u",
            text("835E1153928149578691CF79258E90EC"),
            Value::Uuid(0x835e_1153_9281_4957_8691_cf79_258e_90ec),
        ),
        ("blob", text("aGVsbG8="), Value::Blob(b"hello".to_vec())),
        ("blob", text("0x6869"), Value::Blob(b"hi".to_vec())),
        (
            "blob",
            RawValue::List(vec![int(104), int(-1)]),
            Value::Blob(vec![104, 255]),
        ),
        (
            "obj",
            RawValue::Map(vec![(Cow::Borrowed("a"), int(1))]),
            Value::Object(Box::new(Datum::Map(vec![("a".into(), Datum::Int(1))]))),
        ),
    ] {
        let input = vertex_input("all", Some(text("d")), &[(key, value)]);
        let vertex = fixture.vertex(GraphMode::None, input).expect(key);
        assert_eq!(fixture.value(&vertex, key), Some(stored), "{key}");
    }
    let twice = vertex_input(
        "num",
        Some(int(1)),
        &[("name", int(5)), ("name", text("last"))],
    );
    let vertex = fixture
        .vertex(GraphMode::None, twice)
        .expect("the last counts");
    assert_eq!(
        fixture.value(&vertex, "name"),
        Some(Value::Text("last".into()))
    );
}

#[test]
fn ids_that_are_made() {
    let fixture = fixture();
    let person =
        |name: &'static str| vertex_input("person", None, &[("name", text(name)), ("age", int(1))]);
    let multi = |name: &'static str, age: i64, date: RawValue<'static>| {
        vertex_input(
            "multi",
            None,
            &[("name", text(name)), ("age", int(age)), ("date", date)],
        )
    };
    for (input, id) in [
        (person("a:b>c!d`e"), VertexId::text("1:a`:b>c`!d`e")),
        (person("中文 空格"), VertexId::text("1:中文 空格")),
        (
            multi("m", 5, text("2020-01-02")),
            VertexId::text("7:m!15!7MyZZKG0"),
        ),
        (
            multi("m!n", -5, text("2020-01-02 03:04:05.678")),
            VertexId::text("7:m`!n!0B7~~~~~~~~~w!7My_DSxj"),
        ),
        (
            multi("m", 1_000_000, int(0)),
            VertexId::text("7:m!43p90!10"),
        ),
        (
            vertex_input("book", Some(text("123")), &[("name", text("b"))]),
            VertexId::text("123"),
        ),
        (
            vertex_input("num", Some(int(-5)), &[]),
            VertexId::Number(-5),
        ),
        (
            vertex_input("uu", Some(text("835e1153928149578691cf79258e90eb")), &[]),
            VertexId::Uuid(0x835e_1153_9281_4957_8691_cf79_258e_90eb),
        ),
        (vertex_input("auto", None, &[]), VertexId::Number(77)),
    ] {
        assert_eq!(
            fixture.vertex(GraphMode::None, input).expect("accepted").id,
            id
        );
    }
    let given = vertex_input("auto", Some(int(5)), &[]);
    let vertex = fixture
        .vertex(GraphMode::Merging, given)
        .expect("ids are given");
    assert_eq!(vertex.id, VertexId::Number(5));
}

const SINGLE: EdgeForm = EdgeForm {
    labels_required: false,
    ends_checked: true,
};
const BATCH: EdgeForm = EdgeForm {
    labels_required: true,
    ends_checked: true,
};
const UNCHECKED: EdgeForm = EdgeForm {
    labels_required: true,
    ends_checked: false,
};

fn edge_input<'a>(
    label: &'a str,
    ends: (&'a str, &'a str),
    labels: (Option<&'a str>, Option<&'a str>),
    properties: &[(&'a str, RawValue<'a>)],
) -> EdgeInput<'a> {
    EdgeInput {
        id: None,
        label: Some(Cow::Borrowed(label)),
        source: Some(text(ends.0)),
        source_label: labels.0.map(Cow::Borrowed),
        target: Some(text(ends.1)),
        target_label: labels.1.map(Cow::Borrowed),
        properties: Some(pairs(properties)),
    }
}

#[test]
fn edges_that_are_refused() {
    let fixture = fixture();
    let none = (None, None);
    let people = ("1:marko", "1:josh");
    let both = (Some("person"), Some("person"));
    let date = || ("date", text("2020-05-06"));
    let cases = vec![
        (
            edge_input("knows", people, (Some("person"), None), &[date()]),
            SINGLE,
            "The both source and target vertex label are either passed in, or not passed in",
        ),
        (
            edge_input("knows", people, none, &[]),
            SINGLE,
            "The sort key(s) must be set for the edge with label: 'knows'",
        ),
        (
            edge_input("nope", people, none, &[]),
            SINGLE,
            "Undefined edge label: 'nope'",
        ),
        (
            EdgeInput {
                label: None,
                ..edge_input("", people, none, &[])
            },
            SINGLE,
            "Expect the label of edge",
        ),
        (
            EdgeInput {
                source: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "Expect source vertex id",
        ),
        (
            EdgeInput {
                target: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "Expect target vertex id",
        ),
        (
            EdgeInput {
                properties: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "The properties of edge can't be null",
        ),
        (
            edge_input(
                "created",
                ("1:marko", "2:lop"),
                none,
                &[("weight", RawValue::Double(0.4))],
            ),
            SINGLE,
            "All non-null property keys: [date] of edge label 'created' must be set, but missed keys: [date]",
        ),
        (
            edge_input("knows", people, none, &[date()]),
            BATCH,
            "Expect source vertex label",
        ),
        (
            edge_input("knows", people, (Some("person"), None), &[date()]),
            BATCH,
            "Expect target vertex label",
        ),
        (
            edge_input("knows", people, (Some("nope"), Some("person")), &[date()]),
            UNCHECKED,
            "Invalid vertex label 'nope'",
        ),
        (
            edge_input(
                "knows",
                people,
                (Some("person"), Some("software")),
                &[date()],
            ),
            UNCHECKED,
            "Undefined link of edge label 'knows': 'person' -> 'software'",
        ),
        (
            edge_input("knows", people, both, &[date(), ("price", int(1))]),
            BATCH,
            "Invalid property 'price' for edge label 'knows(id=1)'",
        ),
    ];
    for (input, form, message) in cases {
        let error = fixture.edge(input, form).expect_err(message);
        assert_eq!(error.message, message);
    }
}

#[test]
fn edge_ids_that_are_made() {
    let fixture = fixture();
    let none = (None, None);
    let knows = edge_input(
        "knows",
        ("1:marko", "1:josh"),
        none,
        &[("date", text("2013-02-20"))],
    );
    let sub = edge_input("sub1", ("1:marko", "b>3"), none, &[]);
    let uuid = EdgeInput {
        target: Some(int(-5)),
        ..edge_input("ids", ("835e1153928149578691cf79258e90eb", ""), none, &[])
    };
    for (input, id) in [
        (knows, "S1:marko>1>1>7Jopua00>S1:josh"),
        (sub, "S1:marko>3>4>>Sb`>3"),
        (uuid, "U835e1153-9281-4957-8691-cf79258e90eb>5>5>>L-5"),
    ] {
        assert_eq!(fixture.edge(input, SINGLE).expect(id).to_string(), id);
    }
}

#[test]
fn strategies_combine_values() {
    let fixture = fixture();
    let key = |name: &str| Arc::clone(fixture.schema.property_key_by_name(name).expect(name));
    let list =
        |items: &[&str]| Value::List(items.iter().map(|t| Value::Text((*t).into())).collect());
    let set = |items: &[&str]| Value::Set(items.iter().map(|t| Value::Text((*t).into())).collect());
    for (name, key, old, new, combined) in [
        (
            "SUM",
            key("age"),
            Value::Int(29),
            Value::Int(3),
            Value::Int(32),
        ),
        (
            "SUM",
            key("weight"),
            Value::Double(0.5),
            Value::Double(0.25),
            Value::Double(0.75),
        ),
        (
            "BIGGER",
            key("age"),
            Value::Int(1),
            Value::Int(2),
            Value::Int(2),
        ),
        (
            "SMALLER",
            key("date"),
            Value::Date(1),
            Value::Date(2),
            Value::Date(1),
        ),
        (
            "UNION",
            key("hobby"),
            set(&["x", "y"]),
            set(&["z", "x"]),
            set(&["x", "y", "z"]),
        ),
        (
            "INTERSECTION",
            key("hobby"),
            set(&["x", "k"]),
            set(&["k", "z"]),
            set(&["k"]),
        ),
        (
            "APPEND",
            key("tags"),
            list(&["t"]),
            list(&["t", "q"]),
            list(&["t", "t", "q"]),
        ),
        (
            "ELIMINATE",
            key("tags"),
            list(&["t", "w", "t"]),
            list(&["t"]),
            list(&["w"]),
        ),
        (
            "OVERRIDE",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            Value::Text("b".into()),
        ),
    ] {
        let strategy = UpdateStrategy::from_name(name).expect(name);
        assert_eq!(
            strategy.combine(&key, &old, &new).expect(name),
            combined,
            "{name}"
        );
    }
    for (name, key, old, new, message) in [
        (
            "SUM",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            "Property type must be Number for strategy SUM, but got type String, String",
        ),
        (
            "BIGGER",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            "Property type must be Date or Number for strategy BIGGER, but got type String, String",
        ),
        (
            "UNION",
            key("age"),
            Value::Int(1),
            Value::Int(2),
            "Property type must be Set or List for strategy UNION, but got type Integer, Integer",
        ),
        (
            "SUM",
            key("age"),
            Value::Int(i32::MAX),
            Value::Int(1),
            "Invalid property value '2147483648' for key 'age': Can't read '2147483648' as int: For input string: \"2147483648\"",
        ),
    ] {
        let strategy = UpdateStrategy::from_name(name).expect(name);
        assert_eq!(
            strategy.combine(&key, &old, &new).expect_err(name).message,
            message
        );
    }
}

impl Fixture {
    fn store(&self, mutation: Mutation) -> Result<(), GraphError> {
        self.graph
            .write_now(&WriteRequest::now(vec![mutation]))
            .map(drop)
    }

    fn put(&self, input: VertexInput<'_>) {
        let vertex = self.vertex(GraphMode::None, input).expect("accepted");
        self.store(Mutation::PutVertex {
            vertex,
            fresh: false,
        })
        .expect("stored");
    }

    fn change(
        &self,
        id: ElementId,
        action: UpdateAction,
        properties: &[(&str, RawValue<'_>)],
    ) -> Result<(), GraphError> {
        let properties = properties
            .iter()
            .map(|(name, value)| (Cow::Owned((*name).to_owned()), value.clone()))
            .collect();
        self.store(change(&self.schema, id, Some(properties), action)?)
    }

    fn stored(&self, id: &str) -> Vertex {
        let found = self.graph.vertex(&VertexId::text(id), TemporalScope::NOW);
        found.expect("read").expect("there")
    }
}

#[test]
fn append_and_eliminate() {
    let fixture = fixture();
    fixture.put(vertex_input(
        "person",
        None,
        &[
            ("name", text("marko")),
            ("age", int(29)),
            ("city", text("B")),
        ],
    ));
    let marko = || ElementId::Vertex(VertexId::text("1:marko"));
    fixture
        .change(marko(), UpdateAction::Append, &[("age", int(30))])
        .expect("set");
    assert_eq!(
        fixture.value(&fixture.stored("1:marko"), "age"),
        Some(Value::Int(30))
    );
    fixture
        .change(marko(), UpdateAction::Eliminate, &[("city", text("other"))])
        .expect("removed");
    assert_eq!(fixture.value(&fixture.stored("1:marko"), "city"), None);
    for (action, name, value, message) in [
        (
            UpdateAction::Append,
            "name",
            text("x"),
            "Can't update primary key: 'name'",
        ),
        (
            UpdateAction::Append,
            "price",
            int(1),
            "Can't update property for vertex '1:marko' because there is no property key 'price' in its vertex label",
        ),
        (
            UpdateAction::Append,
            "nope",
            int(1),
            "Undefined property key: 'nope'",
        ),
        (
            UpdateAction::Eliminate,
            "age",
            int(30),
            "Can't remove non-null vertex property 'vp[age->30]'",
        ),
        (
            UpdateAction::Append,
            "age",
            text("x"),
            "Invalid property value 'x' for key 'age', expect a value of type Integer, actual type String",
        ),
    ] {
        let error = fixture
            .change(marko(), action, &[(name, value)])
            .expect_err(message);
        assert_eq!(error.message, message);
    }
    let nobody = ElementId::Vertex(VertexId::text("1:none"));
    let error = fixture
        .change(nobody, UpdateAction::Append, &[("nope", int(1))])
        .expect_err("404");
    assert_eq!(error.message, "Vertex '1:none' does not exist");

    let lists = [("hobby", texts(&["x", "y"])), ("tags", texts(&["t"]))];
    fixture.put(vertex_input("all", Some(text("a")), &lists));
    let a = || ElementId::Vertex(VertexId::text("a"));
    let more = [("hobby", texts(&["z", "x"])), ("tags", texts(&["t", "q"]))];
    fixture
        .change(a(), UpdateAction::Append, &more)
        .expect("appended");
    let stored = fixture.stored("a");
    let members = |name: &str| fixture.value(&stored, name).expect(name).members().to_vec();
    let owned = |items: &[&str]| {
        items
            .iter()
            .map(|t| Value::Text((*t).into()))
            .collect::<Vec<_>>()
    };
    assert_eq!(members("hobby"), owned(&["x", "y", "z"]));
    assert_eq!(members("tags"), owned(&["t", "t", "q"]));
}

#[test]
fn batch_updates_combine_and_keep_what_is_not_named() {
    let fixture = fixture();
    fixture.put(vertex_input(
        "person",
        None,
        &[
            ("name", text("marko")),
            ("age", int(29)),
            ("city", text("B")),
        ],
    ));
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::None,
        next_vertex_id: &next,
    };
    let strategies = Arc::new(Strategies::resolve(
        &fixture.schema,
        [("age", UpdateStrategy::Sum), ("nope", UpdateStrategy::Sum)],
    ));
    let person = |name: &'static str, age: i64| {
        vertex_input("person", None, &[("name", text(name)), ("age", int(age))])
    };
    let inputs = vec![person("marko", 1), person("new", 5), person("marko", 2)];
    let mutations = rules
        .vertex_updates(&fixture.schema, inputs, &strategies)
        .expect("accepted");
    assert_eq!(mutations.len(), 2);
    let request = WriteRequest::now(mutations);
    let written = fixture
        .graph
        .write(&request, varve_graph::write::Contention::Wait)
        .expect("written")
        .expect("nobody else writes");
    let ages: Vec<_> = written
        .contents(&request)
        .map(|element| match element {
            (IdRef::Vertex(id), Some(content)) => {
                let vertex = row::decode_vertex(id.clone(), content).expect("a vertex");
                fixture.value(&vertex, "age")
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ages, [Some(Value::Int(32)), Some(Value::Int(5))]);
    written.ticket.wait().expect("stored");
    let city = fixture.value(&fixture.stored("1:marko"), "city");
    assert_eq!(city, Some(Value::Text("B".into())));
    let auto = rules.vertex_updates(
        &fixture.schema,
        vec![vertex_input("auto", None, &[])],
        &strategies,
    );
    assert_eq!(
        auto.err().map(|e| e.message).as_deref(),
        Some("Automatic Id strategy is not supported now")
    );
}

#[test]
fn ends_are_checked_where_the_edge_is_stored() {
    let fixture = fixture();
    for name in ["marko", "josh"] {
        fixture.put(vertex_input(
            "person",
            None,
            &[("name", text(name)), ("age", int(1))],
        ));
    }
    fixture.put(vertex_input(
        "software",
        None,
        &[("name", text("lop")), ("lang", text("java"))],
    ));
    let put = |input: EdgeInput<'_>| {
        let next = || 77;
        let rules = Rules {
            schema: &fixture.schema,
            mode: GraphMode::None,
            next_vertex_id: &next,
        };
        let new = rules.edge(input, SINGLE)?;
        let ends = EndCheck::Exist {
            labels_given: new.labels_given,
        };
        fixture.store(Mutation::PutEdge {
            edge: new.edge,
            ends,
        })
    };
    let none = (None, None);
    let date = || ("date", text("2020-05-06"));
    for (input, message) in [
        (
            edge_input("knows", ("1:none", "1:josh"), none, &[date()]),
            "Invalid vertex id '1:none'",
        ),
        (
            edge_input(
                "knows",
                ("1:marko", "1:josh"),
                (Some("software"), Some("person")),
                &[date()],
            ),
            "The label of vertex '1:marko' is unmatched, users expect label 'software', actual label stored is 'person'",
        ),
        (
            edge_input("knows", ("1:marko", "2:lop"), none, &[date()]),
            "Undefined link of edge label 'knows': 'person' -> 'software'",
        ),
        (
            edge_input("par", ("1:marko", "1:josh"), none, &[]),
            "Undefined link of edge label 'par': 'person' -> 'person'",
        ),
    ] {
        assert_eq!(put(input).expect_err(message).message, message);
    }
    put(edge_input("par", ("1:marko", "2:lop"), none, &[])).expect("a link of its SUB label");
    let id = EdgeId::parse("S1:marko>3>3>>S2:lop").expect("id");
    let edge = fixture
        .graph
        .edge(&id, TemporalScope::NOW)
        .expect("read")
        .expect("there");
    assert_eq!(
        fixture.schema.vertex_label_name(edge.target_label),
        "software"
    );
}

/// Property lists of which some suit some labels.
fn property_lists<'a>() -> Vec<Vec<(&'a str, RawValue<'a>)>> {
    let double = RawValue::Double;
    let values = [
        text("x"),
        text("2020-01-02"),
        text("2020-01-32"),
        text(""),
        int(1),
        int(-200),
        int(i64::MAX),
        double(1.5),
        RawValue::Boolean(true),
        RawValue::Null,
        texts(&["a"]),
    ];
    let names = [
        "name", "age", "city", "date", "weight", "hobby", "tags", "u", "blob", "flag", "b", "l",
        "f", "obj", "cnt", "def", "price", "nope",
    ];
    let mut lists = vec![
        vec![],
        vec![("name", text("n")), ("age", int(2))],
        vec![("age", int(2)), ("name", text("n"))],
        vec![("name", text("n")), ("price", int(2))],
        vec![("price", int(2)), ("name", text("n"))],
        vec![("name", text("n")), ("name", text("m"))],
        vec![
            ("weight", double(0.5)),
            ("date", text("2020-02-29")),
            ("city", text("c")),
        ],
        vec![
            ("def", text("d")),
            ("age", int(3)),
            ("flag", RawValue::Boolean(false)),
        ],
        vec![
            ("f", double(0.1)),
            ("l", int(-5)),
            ("b", int(7)),
            ("date", int(0)),
        ],
    ];
    for name in names {
        lists.extend(values.iter().map(|value| vec![(name, value.clone())]));
    }
    lists
}

/// Whatever the short way takes, it takes as the rules do; one `Direct` for all, since it remembers.
#[test]
fn the_short_way_takes_only_what_the_rules_take() {
    let fixture = fixture();
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::default(),
        next_vertex_id: &next,
    };
    let mut direct = varve_graph::element::Direct::new(&fixture.schema);
    let (lists, long) = (property_lists(), "x".repeat(17_000));
    let ids = [
        None,
        Some(RawValue::Null),
        Some(text("i")),
        Some(text("")),
        Some(text(&long)),
        Some(int(5)),
        Some(texts(&["i"])),
    ];
    let mut taken = 0;
    for label in [
        "person", "book", "num", "uu", "auto", "multi", "all", "strict", "nope", "book",
    ] {
        for (id, list) in ids
            .iter()
            .flat_map(|id| lists.iter().map(move |list| (id, list)))
        {
            let input = vertex_input(label, id.clone(), list);
            let Some(Mutation::PutRow {
                id, content, fresh, ..
            }) = direct.vertex(&input)
            else {
                continue;
            };
            let new = rules.vertex(input).expect("the rules take it too");
            let mut expected = Vec::new();
            row::put_vertex_content(&new.vertex, &mut expected);
            assert_eq!(
                (id, content.bytes(), fresh),
                (
                    ElementId::Vertex(new.vertex.id),
                    expected.as_slice(),
                    new.fresh
                )
            );
            taken += 1;
        }
    }
    assert!(taken > 20, "{taken} vertices");
    taken = 0;
    let labels = [
        None,
        Some("person"),
        Some("software"),
        Some("uu"),
        Some("num"),
        Some("nope"),
    ];
    for (label, form_bits) in ["knows", "created", "par", "sub1", "ids", "nope", "created"]
        .iter()
        .flat_map(|label| (0..4).map(move |bits| (label, bits)))
    {
        let form = EdgeForm {
            labels_required: form_bits & 1 == 1,
            ends_checked: form_bits & 2 == 2,
        };
        for (source, target) in labels
            .iter()
            .flat_map(|source| labels.iter().map(move |target| (source, target)))
        {
            for (at, list) in lists.iter().enumerate() {
                let mut input = EdgeInput {
                    label: Some(Cow::Borrowed(label)),
                    source_label: source.map(Cow::Borrowed),
                    target_label: target.map(Cow::Borrowed),
                    properties: Some(pairs(list)),
                    ..EdgeInput::default()
                };
                (input.source, input.target) = (
                    ids[at % ids.len()].clone(),
                    ids[(at + 3) % ids.len()].clone(),
                );
                if at < 9 {
                    (input.source, input.target) = (Some(text("1:a")), Some(int(3)));
                }
                let Some(Mutation::PutRow {
                    id, content, ends, ..
                }) = direct.edge(&input, form)
                else {
                    continue;
                };
                let new = rules.edge(input, form).expect("the rules take it too");
                let expected_ends = if form.ends_checked {
                    EndCheck::Exist {
                        labels_given: new.labels_given,
                    }
                } else {
                    EndCheck::Skip
                };
                let mut expected = Vec::new();
                row::put_edge_content(&new.edge, &mut expected);
                assert_eq!(
                    (id, content.bytes(), ends),
                    (
                        ElementId::Edge(new.edge.id),
                        expected.as_slice(),
                        expected_ends
                    )
                );
                taken += 1;
            }
        }
    }
    assert!(taken > 20, "{taken} edges");
}
