//! Runs every parser of this module on damaged and hostile input. None may panic. If the answer to
//! an accepted element is sent as a request again, its answer must be the same.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of inputs, `VARVE_FUZZ_SEED` the seed. A failure prints the
//! seed and the round.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeSeed as _, IgnoredAny};
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

use super::input::{
    EachOf, EdgeJson, EdgeUpdateJson, ElementJson, GraphBatchJson, Input, Listed, UpdateJson,
    VertexJson, VertexUpdateJson,
};
use super::periods::Given;
use crate::JsonWriter;
use crate::json::quick;
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::predicate::{Reading, conditions};
use crate::wire::{output, time};

/// A vertex as JSON, and whether its id was generated.
type Row = (Vec<u8>, bool);

const ROUNDS_DEFAULT: u64 = 20_000;

/// The inputs that are mutated.
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

/// Checks that the quick reader, unless it declines, reads the same as `serde_json`. `shown` makes
/// the values to compare.
fn read_alike<'a, T, R>(bytes: &'a [u8], shown: impl Fn(T) -> R) -> Read
where
    T: Deserialize<'a>,
    R: PartialEq + Debug,
{
    let exact = serde_json::from_slice::<T>(bytes).ok().map(&shown);
    let quick = quick::read(bytes, PhantomData::<T>).map(&shown);
    let read = Read {
        taken: exact.is_some(),
        declined: exact.is_some() && quick.is_none(),
    };
    if quick.is_some() {
        assert_eq!(quick, exact);
    }
    read
}

/// Whether `serde_json` read a document, and whether the quick reader declined it nevertheless.
#[derive(Clone, Copy)]
struct Read {
    taken: bool,
    declined: bool,
}

/// All that is read of an element.
type Element<'a, I> = (I, Given<'a>);

fn element<'a, I>(json: ElementJson<'a, I>) -> Element<'a, I> {
    (json.input, json.given)
}

/// All that is read of a list of elements.
fn elements<'a, I>(
    listed: Option<Listed<ElementJson<'a, I>>>,
) -> Option<(Vec<Option<Element<'a, I>>>, usize)> {
    let of = |items: Vec<Option<_>>| items.into_iter().map(|item| item.map(element)).collect();
    listed.map(|listed| (of(listed.items), listed.count))
}

/// All that is read of a batch update.
fn update<'a, I: PartialEq + Debug + 'a>(
    json: UpdateJson<'a, ElementJson<'a, I>>,
) -> impl PartialEq + Debug + use<'a, I> {
    (
        elements(json.elements),
        json.strategies,
        json.create_if_not_exist,
        json.check_vertex,
    )
}

/// Reads every kind of body by both readers.
fn read_all_alike(bytes: &[u8]) -> [Read; 6] {
    [
        read_alike(bytes, element::<VertexInput<'_>>),
        read_alike(bytes, element::<EdgeInput<'_>>),
        read_alike(bytes, |json: VertexUpdateJson<'_>| update(json.0)),
        read_alike(bytes, |json: EdgeUpdateJson<'_>| update(json.0)),
        read_alike(bytes, |json: GraphBatchJson<'_>| {
            (elements(json.vertices), elements(json.edges))
        }),
        read_alike(bytes, |json: Listed<VertexJson<'_>>| elements(Some(json))),
    ]
}

/// The elements of an array as [`EachOf`] reads them into one reused value, by one of the readers.
fn in_one_memory<'a, I>(array: &'a [u8], is_quick: bool) -> Option<Vec<Option<Element<'a, I>>>>
where
    I: Input<'a> + Clone,
{
    let mut read = Vec::new();
    let each = EachOf::new(usize::MAX, |item: Option<&mut ElementJson<'a, I>>| {
        read.push(item.map(|item| (item.input.clone(), item.given.clone())));
    });
    let count = match is_quick {
        true => quick::read(array, each),
        false => each
            .deserialize(&mut serde_json::Deserializer::from_slice(array))
            .ok(),
    }?;
    assert_eq!(count, read.len());
    Some(read)
}

/// Checks that each element of an array is read as if it were alone, with nothing of the element
/// before.
fn reads_as_one_by_one<'a, I>(parts: &'a [Vec<u8>], array: &'a [u8])
where
    I: Input<'a> + Clone + PartialEq + Debug,
{
    let alone: Option<Vec<_>> = parts
        .iter()
        .map(|part| serde_json::from_slice::<Option<ElementJson<'a, I>>>(part).ok())
        .map(|read| read.map(|json| json.map(element)))
        .collect();
    let exact = in_one_memory::<I>(array, false);
    assert_eq!(exact, alone);
    if let Some(quick) = in_one_memory::<I>(array, true) {
        assert_eq!(Some(quick), exact);
    }
}

/// The row of a vertex, or the error. It is made by way of an element if `by_rules`, else directly.
fn row_of(graph: &Graph, vertex: VertexInput<'_>, by_rules: bool) -> Result<Row, String> {
    let schema = graph.schema();
    let rules = Rules {
        schema: &schema,
        mode: GraphMode::None,
        next_vertex_id: &|| 1,
        next_edge_number: &|| 1,
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

/// The answer to `input`, if it is a vertex that is accepted.
fn answer(graph: &Graph, input: &str) -> Option<String> {
    let VertexJson { input: vertex, .. } = serde_json::from_str(input).ok()?;
    let schema = graph.schema();
    let next = || 1;
    let rules = Rules {
        schema: &schema,
        mode: GraphMode::None,
        next_vertex_id: &next,
        next_edge_number: &next,
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
            next_edge_number: &next,
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

/// Whole elements, parts of elements, and values that are not elements.
const PARTS: &[&str] = &[
    r#"{"label":"all","id":"a1","properties":{"name":"n","age":1},"valid_from":"2020","valid_to":1}"#,
    r#"{"id":"e","label":"knows","outV":1,"outVLabel":"person","inV":2,"inVLabel":"person","properties":{"date":"2013-02-20","name":"\n"},"valid_from":null}"#,
    r#"{"label":"all"}"#,
    r#"{"id":5}"#,
    r#"{"properties":{}}"#,
    r#"{"properties":null,"label":"num"}"#,
    r#"{"properties":{"a":1},"properties":null}"#,
    r#"{"properties":{"a":[1,{"b":null}]},"properties":{"c":2}}"#,
    r#"{"outV":"x","inV":null}"#,
    r#"{"valid_to":"x","type":"vertex"}"#,
    "{}",
    "null",
];

#[test]
fn elements_of_an_array_inherit_nothing() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let mut random = Random::new(seed);
    let mut whole = 0;
    for round in 0..rounds {
        let mut parts = Vec::new();
        for _ in 0..random.below(5) {
            let part = match random.one_in(10) {
                true => input(&mut random),
                false => random.pick(PARTS).as_bytes().to_vec(),
            };
            // Input that is not JSON alone, as `1,2`, may be valid within an array.
            if serde_json::from_slice::<IgnoredAny>(&part).is_ok() {
                parts.push(part);
            }
        }
        let array = [b"[", &*parts.join(&b","[..]), b"]"].concat();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            reads_as_one_by_one::<VertexInput<'_>>(&parts, &array);
            reads_as_one_by_one::<EdgeInput<'_>>(&parts, &array);
        }));
        assert!(
            outcome.is_ok(),
            "VARVE_FUZZ_SEED={seed}, round {round}, input {:?}",
            String::from_utf8_lossy(&array)
        );
        let quick = in_one_memory::<VertexInput<'_>>(&array, true);
        whole += u64::from(quick.is_some_and(|read| read.len() > 1));
    }
    assert!(whole > rounds / 20, "too few arrays are whole: {whole}");
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
    let mut accepted = 0;
    let (mut taken, mut declined) = ([0; 6], [0; 6]);
    for round in 0..rounds {
        let bytes = input(&mut random);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            try_all(&graph, &bytes);
            read_all_alike(&bytes)
        }));
        let Ok(read) = outcome else {
            panic!(
                "VARVE_FUZZ_SEED={seed}, round {round}, input {:?}",
                String::from_utf8_lossy(&bytes)
            )
        };
        for (at, read) in read.into_iter().enumerate() {
            taken[at] += u64::from(read.taken);
            declined[at] += u64::from(read.declined);
        }
        let text = std::str::from_utf8(&bytes).ok();
        accepted += u64::from(text.and_then(|text| answer(&graph, text)).is_some());
    }
    assert!(
        accepted > rounds / 100,
        "the inputs are too damaged to test anything: {accepted}"
    );
    let is_read =
        |(taken, declined): (&u64, &u64)| *taken > rounds / 1000 && declined * 10 < *taken;
    assert!(
        taken.iter().zip(&declined).all(is_read),
        "the quick reader declines what is right: {declined:?} of {taken:?}"
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
