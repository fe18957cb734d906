//! Results in HugeGraph's plain JSON, as a HugeGraph 1.5.0 server returned them.

use varve_graphson::*;

fn string(text: &str) -> Value {
    Value::String(text.into())
}

fn json(value: &Value) -> String {
    let mut out = Vec::new();
    flat::write(value, &mut out).expect("JSON");
    String::from_utf8(out).expect("UTF-8")
}

fn marko() -> Value {
    let property = |key: &str, value| VertexProperty {
        id: string(&format!("1:marko>{key}")),
        label: key.into(),
        value,
        properties: Vec::new(),
    };
    Value::Vertex(Box::new(Vertex {
        id: string("1:marko"),
        label: "person".into(),
        properties: vec![
            property("name", string("marko")),
            property("age", Value::Int(29)),
        ],
    }))
}

const MARKO: &str =
    r#"{"id":"1:marko","label":"person","type":"vertex","properties":{"name":"marko","age":29}}"#;

#[test]
fn elements_have_flat_properties_and_a_type() {
    assert_eq!(json(&marko()), MARKO);
    let edge = Edge {
        id: string("S1:josh>2>2>>S2:lop"),
        label: "created".into(),
        in_id: string("2:lop"),
        in_label: "software".into(),
        out_id: string("1:josh"),
        out_label: "person".into(),
        properties: vec![
            Property {
                key: "date".into(),
                value: Value::Date(1_452_384_000_000),
            },
            Property {
                key: "weight".into(),
                value: Value::Double(0.4),
            },
        ],
    };
    assert_eq!(
        json(&Value::Edge(Box::new(edge))),
        r#"{"id":"S1:josh>2>2>>S2:lop","label":"created","type":"edge","outV":"1:josh","outVLabel":"person","inV":"2:lop","inVLabel":"software","properties":{"date":"2016-01-10 00:00:00.000","weight":0.4}}"#
    );
}

#[test]
fn paths_properties_and_trees_have_the_recorded_form() {
    let path = Path {
        labels: vec![vec![], vec!["a".into()]],
        objects: vec![marko(), string("josh")],
    };
    assert_eq!(
        json(&Value::Path(path)),
        format!(r#"{{"labels":[[],["a"]],"objects":[{MARKO},"josh"]}}"#)
    );
    let Value::Vertex(vertex) = marko() else {
        unreachable!("marko is a vertex")
    };
    let age = Value::VertexProperty(Box::new(vertex.properties[1].clone()));
    assert_eq!(
        json(&age),
        r#"{"id":"1:marko>age","value":29,"label":"age"}"#
    );
    let tree = Tree {
        branches: vec![(string("a"), Tree::default())],
    };
    assert_eq!(json(&Value::Tree(tree)), r#"[{"key":"a","value":[]}]"#);
}

#[test]
fn maps_are_objects_and_a_null_key_is_an_error() {
    let token = Value::Token {
        class: TokenClass::T,
        name: "id".into(),
    };
    let map = Value::Map(vec![
        (token, string("1:marko")),
        (
            Value::Int(1),
            Value::List(vec![Value::Long(2), Value::Null]),
        ),
        (marko(), Value::Bool(true)),
        (Value::List(vec![Value::Int(1)]), Value::Double(f64::NAN)),
    ]);
    assert_eq!(
        json(&map),
        r#"{"id":"1:marko","1":[2,null],"1:marko":true,"[1]":"NaN"}"#
    );
    let null = Value::Map(vec![(Value::Null, Value::Int(1))]);
    let error = flat::write(&null, &mut Vec::new()).expect_err("a null key");
    assert!(
        error
            .to_string()
            .contains("Null key for a Map not allowed in JSON"),
        "{error}"
    );
}
