//! Every parser of this room against damaged and hostile input: none may panic, and what is
//! accepted must come back the same when its answer is sent again.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of inputs, `VARVE_FUZZ_SEED` the seed; both are printed when
//! it fails.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use varve_graph::Graph;
use varve_graph::element::{
    EdgeForm, EdgeInput, Inserts, Rules, UpdateAction, VertexInput, change,
};
use varve_graph::schema::{GraphMode, NewEdgeLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::write::{IdRef, Mutation};
use varve_model::ElementId;
use varve_model::schema::{Frequency, IdStrategy};
use varve_model::value::{Cardinality, DataType};
use varve_testkit::random::Random;

use super::ids::{OldForm, parse_edge_id, parse_vertex_id};
use super::input::{
    EachOf, EdgeJson, EdgeUpdateJson, ElementJson, GraphBatchJson, Input, VertexJson,
    VertexUpdateJson,
};
use super::predicate::{Reading, conditions};
use super::{output, time};
use crate::JsonWriter;
use crate::json::quick;

/// A vertex as JSON, and whether its id was generated.
type Row = (Vec<u8>, bool);

const ROUNDS_DEFAULT: u64 = 20_000;

/// What inputs are made from.
const CORPUS: &[&str] = &[
    r#"{"label":"all","id":"a1","properties":{"name":"n","age":1,"date":"2020-01-02 03:04:05","weight":1.5,"hobby":["x","y","x"],"tags":["t","t"],"u":"835e1153-9281-4957-8691-cf79258e90ec","blob":"aGVsbG8=","flag":true,"b":5,"l":1234567890123,"f":1.5,"obj":{"a":[1,null,{"b":1.5}]}}}"#,
    r#"{"label":"person","type":"vertex","properties":{"name":"a:b>c!d`e","age":-2147483648}}"#,
    r#"{"label":"num","id":-5,"properties":{"name":"\u00e9\ud83d\ude00\\\""}}"#,
    r#"{"label":"uu","id":"835e1153928149578691cf79258e90eb","properties":{}}"#,
    r#"{"label":"all","id":"d","properties":{"weight":"NaN","f":"-Infinity","l":9223372036854775808,"blob":[1,-128,255]}}"#,
    r#"{"label":"knows","outV":"1:marko","outVLabel":"person","inV":"1:josh","inVLabel":"person","properties":{"date":"2013-02-20","weight":1e308}}"#,
    r#"[{"label":"num","id":1,"properties":{}},null,{"label":"num","id":2,"properties":{}}]"#,
    r#"{"vertices":[{"label":"num","id":1,"properties":{"name":"x"}}],"update_strategies":{"name":"OVERRIDE"},"create_if_not_exist":true}"#,
    r#"{"edges":[{"label":"knows","outV":1,"inV":2,"properties":{}}],"update_strategies":{"weight":"SUM"},"check_vertex":false}"#,
    r#"{"vertices":[],"edges":[]}"#,
    r#"{"age":"P.between(27,32)","date":"P.gt(\"2014-01-01\")","name":"P.within(\"a\",\"b\")","hobby":"P.contains(\"x\")"}"#,
    r#"{"name":"P.textcontains(\"java\")","weight":"P.outside(1.5,2014-01-01)","l":"P.neq(99999999999999999999)"}"#,
    "\"1:marko\"",
    "U\"835e1153-9281-4957-8691-cf79258e90eb\"",
    "-9223372036854775808",
    "S1:marko>1>1>7Jopua00>S1:josh",
    "S1:a`>b>3>4>>L-5",
    "2024-05-01T12:00:00.000001+02:00",
    "0001-01-01 00:00:00 05:30",
];

/// Pieces that are put into inputs.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "1e999",
    "-",
    "0",
    "99999999999999999999",
    "P.",
    "P.gt(",
    ")",
    ">",
    "`",
    "!",
    "\u{0}",
    "\u{1}",
    "é",
    "😀",
    "\"properties\":",
    "\"name\":",
    "\"id\":",
    "\"label\":\"all\",",
    "[[[[[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
];

fn input(random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(CORPUS).as_bytes().to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.bits() as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            3 => {
                let other = random.pick(CORPUS).as_bytes();
                let from = random.below(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let piece = random.pick(PIECES).as_bytes();
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}

fn graph() -> Arc<Graph> {
    let registry = crate::in_memory().expect("graphs in memory");
    let graph = registry.create("fuzz").expect("a new graph");
    let catalogue = graph.catalogue();
    let one = Cardinality::Single;
    let keys = [
        ("name", DataType::Text, one),
        ("age", DataType::Int, one),
        ("date", DataType::Date, one),
        ("weight", DataType::Double, one),
        ("hobby", DataType::Text, Cardinality::Set),
        ("tags", DataType::Text, Cardinality::List),
        ("u", DataType::Uuid, one),
        ("blob", DataType::Blob, one),
        ("flag", DataType::Boolean, one),
        ("b", DataType::Byte, one),
        ("l", DataType::Long, one),
        ("f", DataType::Float, one),
        ("obj", DataType::Object, one),
    ];
    for (name, data_type, cardinality) in keys {
        let key = NewPropertyKey {
            data_type,
            cardinality,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).expect(name);
    }
    let all: Vec<String> = keys.iter().map(|key| key.0.to_owned()).collect();
    for (name, strategy) in [
        ("all", IdStrategy::CustomizeString),
        ("num", IdStrategy::CustomizeNumber),
        ("uu", IdStrategy::CustomizeUuid),
    ] {
        let label = NewVertexLabel {
            id_strategy: Some(strategy),
            properties: all.clone(),
            nullable_keys: all.clone(),
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).expect(name);
    }
    let person = NewVertexLabel {
        properties: vec!["name".to_owned(), "age".to_owned()],
        primary_keys: vec!["name".to_owned()],
        ..NewVertexLabel::named("person")
    };
    catalogue.create_vertex_label(person).expect("person");
    let knows = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        properties: vec!["date".to_owned(), "weight".to_owned()],
        nullable_keys: vec!["weight".to_owned()],
        sort_keys: vec!["date".to_owned()],
        ..NewEdgeLabel::between("knows", "person", "person")
    };
    catalogue.create_edge_label(knows).expect("knows");
    graph
}

/// What the quick reader reads, if it does, is what `serde_json` reads.
fn read_alike<'a, I>(bytes: &'a [u8], is_declined: &mut bool)
where
    I: Input<'a> + PartialEq + std::fmt::Debug,
{
    let exact = serde_json::from_slice::<ElementJson<'a, I>>(bytes).ok();
    let quick: Option<ElementJson<'a, I>> = quick::read(bytes, PhantomData);
    *is_declined |= exact.is_some() && quick.is_none();
    let Some(quick) = quick else { return };
    let exact = exact.expect("serde_json reads it, too");
    assert_eq!((quick.input, quick.given), (exact.input, exact.given));
}

/// The row that a vertex is written as, or the error; as it is made of an element if `by_rules`.
fn row_of(graph: &Graph, vertex: VertexInput<'_>, by_rules: bool) -> Result<Row, String> {
    let schema = graph.schema();
    let rules = Rules {
        schema: &schema,
        mode: GraphMode::None,
        next_vertex_id: &|| 1,
    };
    let made = match by_rules {
        true => rules.put_vertex(&schema, vertex),
        false => Inserts::new(&rules, &schema).vertex(&mut { vertex }),
    };
    let mut json = JsonWriter::default();
    let fresh = match made.map_err(|error| error.message)? {
        Mutation::PutVertex { vertex, fresh } => {
            output::vertex(&mut json, &schema, &vertex);
            fresh
        }
        Mutation::PutRow {
            id: ElementId::Vertex(id),
            content,
            fresh,
            ..
        } => {
            let id = IdRef::Vertex(&id);
            output::content(&mut json, &schema, id, content.bytes()).expect("content");
            fresh
        }
        _ => unreachable!("a vertex is put, and no value of an offline analysis"),
    };
    Ok((json.finish(), fresh))
}

/// What `input` is answered with when it is a vertex that is accepted.
fn answer(graph: &Graph, input: &str) -> Option<String> {
    let VertexJson { input: vertex, .. } = serde_json::from_str(input).ok()?;
    let schema = graph.schema();
    let next = || 1;
    let rules = Rules {
        schema: &schema,
        mode: GraphMode::None,
        next_vertex_id: &next,
    };
    let new = rules.vertex(vertex).ok()?;
    let mut json = JsonWriter::default();
    output::vertex(&mut json, &schema, &new.vertex);
    Some(String::from_utf8(json.finish()).expect("answers are UTF-8"))
}

fn try_all(graph: &Graph, bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        try_texts(graph, text);
    }
    let _ = serde_json::from_slice::<VertexUpdateJson<'_>>(bytes);
    let _ = serde_json::from_slice::<EdgeUpdateJson<'_>>(bytes);
    let _ = serde_json::from_slice::<GraphBatchJson<'_>>(bytes);
    let mut read = 0;
    let each = EachOf::new(2, |_: Option<&mut VertexJson<'_>>| read += 1);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    if serde::de::DeserializeSeed::deserialize(each, &mut reader).is_ok() {
        assert!(read <= 2, "more than the limit was kept");
    }
}

fn try_texts(graph: &Graph, text: &str) {
    let schema = graph.schema();
    if let Some(first) = answer(graph, text) {
        let value: serde_json::Value = serde_json::from_str(&first).expect("answers are JSON");
        let again = if value["label"] == "person" {
            first.replacen(&format!("\"id\":{},", value["id"]), "", 1)
        } else {
            first.clone()
        };
        assert_eq!(answer(graph, &again).as_deref(), Some(first.as_str()));
    }
    if let Ok(EdgeJson { input: edge, .. }) = serde_json::from_str(text) {
        let next = || 1;
        let rules = Rules {
            schema: &schema,
            mode: GraphMode::None,
            next_vertex_id: &next,
        };
        let form = EdgeForm {
            labels_required: false,
            ends_checked: true,
        };
        if let Ok(new) = rules.edge(edge, form) {
            let id = new.edge.id.to_string();
            let read = parse_edge_id(&id, OldForm::Refused).expect("an id that was made");
            assert_eq!(read, new.edge.id);
        }
    }
    if let Ok(VertexJson { input: vertex, .. }) = serde_json::from_str(text) {
        let by_rules = row_of(graph, vertex.clone(), true);
        assert_eq!(row_of(graph, vertex.clone(), false), by_rules);
        let id = ElementId::Vertex(varve_model::VertexId::Number(1));
        let _ = change(&schema, id, vertex.properties, UpdateAction::Append);
    }
    let reading = Reading {
        keep_start_p: false,
        indexed: false,
    };
    let _ = conditions(&schema, text, reading);
    let _ = parse_vertex_id(text);
    let _ = parse_edge_id(text, OldForm::Accepted);
    if let Some(instant) = time::parse_instant(text)
        && let Some(written) = time::instant_text(instant)
    {
        assert_eq!(time::parse_instant(&written), Some(instant));
    }
}

fn number_from(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_input_breaks_a_parser() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let graph = graph();
    let mut random = Random::new(seed);
    let (mut accepted, mut declined) = (0, 0);
    for round in 0..rounds {
        let bytes = input(&mut random);
        let mut is_declined = false;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            try_all(&graph, &bytes);
            read_alike::<VertexInput<'_>>(&bytes, &mut is_declined);
            read_alike::<EdgeInput<'_>>(&bytes, &mut is_declined);
        }));
        declined += u64::from(is_declined);
        assert!(
            outcome.is_ok(),
            "VARVE_FUZZ_SEED={seed}, round {round}, input {:?}",
            String::from_utf8_lossy(&bytes)
        );
        let text = std::str::from_utf8(&bytes).ok();
        accepted += u64::from(text.and_then(|text| answer(&graph, text)).is_some());
    }
    assert!(
        accepted > rounds / 100,
        "the inputs are too damaged to test anything: {accepted}"
    );
    assert!(
        declined < accepted / 10,
        "the quick reader declines what is right: {declined}"
    );
}

#[test]
fn deep_nesting_is_refused() {
    let graph = graph();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let body = format!(r#"{{"label":"all","id":"x","properties":{{"obj":{deep}}}}}"#);
        assert_eq!(answer(&graph, &body), None);
        try_texts(&graph, &body);
        try_texts(&graph, &deep);
    }
}
