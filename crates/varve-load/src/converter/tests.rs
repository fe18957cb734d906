//! Rows of texts and of JSON as elements.

use serde_json::{Map, json};
use varve_model::value::Value;

use super::*;

const READING: &str = include_str!("../../../varve-files/tests/reading.json");
const SCHEMA: &str = r#"{
    "propertykeys": [
        {"name": "name", "data_type": "TEXT", "cardinality": "SINGLE"},
        {"name": "age", "data_type": "INT", "cardinality": "SINGLE"},
        {"name": "score", "data_type": "DOUBLE", "cardinality": "SINGLE"},
        {"name": "born", "data_type": "DATE", "cardinality": "SINGLE"},
        {"name": "tags", "data_type": "TEXT", "cardinality": "SET"}],
    "vertexlabels": [
        {"name": "person", "id": 7, "id_strategy": "PRIMARY_KEY", "primary_keys": ["name", "age"],
         "properties": ["name", "age", "score", "born", "tags"], "nullable_keys": ["score", "born", "tags"]},
        {"name": "city", "id": 8, "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["name"], "nullable_keys": ["name"]}],
    "edgelabels": [
        {"name": "lives", "source_label": "person", "target_label": "city",
         "properties": ["score"], "nullable_keys": ["score"]}]
}"#;

fn source(text: &str) -> Source {
    toml::from_str(&format!("file = \"x.csv\"\n{text}")).expect("a source")
}

fn converted(
    kind: BatchKind,
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    let mut owners = Owners::default();
    let fields = Fields::from(columns.clone());
    let element = Converter::new(kind).element(fields, source, catalogue, &mut owners)?;
    Ok(element.expect("an element"))
}

fn vertex(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    converted(BatchKind::Vertices, columns, source, catalogue)
}

fn edge(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    converted(BatchKind::Edges, columns, source, catalogue)
}

fn row(text: &str) -> Map<String, Json> {
    serde_json::from_str(text).expect("a row")
}

#[test]
fn csv_texts_become_what_the_schema_asks_for() {
    let columns = row(
        r#"{"Name": "ann", "age": " 5", "score": "1.5", "born": "1970-01-02", "tags": "a; b"}"#,
    );
    let source = source("label = \"person\"\nrename = { Name = \"name\" }\n");
    let vertex = vertex(&columns, &source, &Catalogue::from_text(SCHEMA)).unwrap();
    let json: Json = serde_json::from_str(&vertex.json).unwrap();
    let properties =
        row(r#"{"name": "ann", "age": 5, "score": 1.5, "born": 86400000, "tags": ["a", "b"]}"#);
    assert_eq!(json["properties"], Json::Object(properties));
    assert!(json.get("id").is_none());
}

/// A schema with one property key `k`, which is also a primary key.
fn of_type(case: &Json) -> Catalogue {
    let list = case["list"].as_bool().unwrap_or(false);
    let cardinality = if list { "LIST" } else { "SINGLE" };
    let schema = json!({
        "propertykeys": [{"name": "k", "data_type": case["type"], "cardinality": cardinality}],
        "vertexlabels": [
            {"name": "v", "id": 7, "primary_keys": ["k"], "properties": ["k"]},
            {"name": "plain", "properties": ["k"], "nullable_keys": ["k"]}],
        "edgelabels": [{"name": "e", "source_label": "v", "target_label": "v"}]
    });
    Catalogue::from_text(&schema.to_string())
}

#[test]
fn the_table_of_values_holds() {
    let table: Json = serde_json::from_str(READING).expect("a table");
    for case in table["values"].as_array().expect("values") {
        let columns = Map::from_iter([("k".to_owned(), case["of"].clone())]);
        let read = vertex(&columns, &source("label = \"plain\""), &of_type(case));
        let read = read.map(|vertex| {
            let vertex: Json = serde_json::from_str(&vertex.json).expect("JSON");
            vertex["properties"]["k"].to_string()
        });
        let expected = case["json"].as_str().map(str::to_owned);
        assert_eq!(read.as_ref().ok(), expected.as_ref(), "{case} {read:?}");
    }
}

#[test]
fn the_table_of_ends_holds() {
    let table: Json = serde_json::from_str(READING).expect("a table");
    for case in table["ends"].as_array().expect("ends") {
        let columns = Map::from_iter([("a".to_owned(), case["of"].clone())]);
        let source = source("label = \"e\"\nsource = \"a\"\ntarget = \"a\"");
        let edge = edge(&columns, &source, &of_type(case)).expect("an edge");
        let edge: Json = serde_json::from_str(&edge.json).expect("JSON");
        assert_eq!(edge["outV"], case["id"], "{case}");
    }
}

#[test]
fn a_valid_time_begins_before_it_ends() {
    let source = source("label = \"plain\"\nvalid_from = \"a\"\nvalid_to = \"b\"");
    let catalogue = of_type(&json!({"type": "TEXT"}));
    let of = |text: &str| vertex(&row(text), &source, &catalogue).map(|it| it.period);
    assert!(of(r#"{"a": "2020-01-01", "b": "2020-01-02"}"#).is_ok());
    for text in [
        r#"{"a": "2020-01-02", "b": "2020-01-01"}"#,
        r#"{"a": "2020-01-02", "b": "2020-01-02"}"#,
    ] {
        assert!(of(text).unwrap_err().contains("ends before it begins"));
    }
    let refused = of(r#"{"b": "2020-01-02"}"#).unwrap_err();
    assert!(refused.contains("has no beginning"), "{refused}");
    assert!(of(r#"{"b": "9000-01-02"}"#).is_ok());
}

#[test]
fn a_last_day_may_belong_to_the_period() {
    let text = "label = \"plain\"\nvalid_from = \"a\"\nvalid_to = \"b\"";
    let catalogue = of_type(&json!({"type": "TEXT"}));
    let of = |options: &str, columns: &str| {
        let source = source(&format!("{text}\n{options}"));
        let period = vertex(&row(columns), &source, &catalogue)?.period;
        Ok::<_, String>(period.to.as_deref().and_then(parse_instant))
    };
    let day = r#"{"a": "2020-01-02", "b": "2020-01-02"}"#;
    assert!(of("", day).is_err());
    let included = of("valid_to_inclusive = true", day);
    assert_eq!(included, Ok(parse_instant("2020-01-03")));
    let instant = r#"{"a": "2020-01-02", "b": "2020-01-02T08:00:00Z"}"#;
    let kept = of("valid_to_inclusive = true", instant);
    assert_eq!(kept, Ok(parse_instant("2020-01-02T08:00:00Z")));
}

#[test]
fn columns_have_formats_of_their_own() {
    let source = source(
        "label = \"person\"\ndecimal = \",\"\ndate_format = \"month_day_year\"\n\
         valid_from = \"since\"\ndate_formats = { since = [\"dd.MM.yyyy\", \"auto\"] }",
    );
    let catalogue = Catalogue::from_text(SCHEMA);
    let of = |text: &str| vertex(&row(text), &source, &catalogue);
    for since in ["03.01.1970", "1970-01-03"] {
        let read = of(&format!(
            r#"{{"name": "ann", "age": 3, "score": "-1,5", "born": "01/02/1970", "since": "{since}"}}"#
        ));
        let read = read.expect("a vertex");
        let json: Json = serde_json::from_str(&read.json).expect("JSON");
        assert_eq!(json["properties"]["score"], -1.5);
        assert_eq!(json["properties"]["born"], 86_400_000);
        let from = read.period.from.as_deref().and_then(parse_instant);
        assert_eq!(from, parse_instant("1970-01-03"), "{since}");
    }
    for (text, fault) in [
        (
            r#"{"score": "1.5"}"#,
            "'1.5' is not a number with a decimal comma",
        ),
        (
            r#"{"born": "1970-01-02"}"#,
            "'1970-01-02' is not a date of the form MM/dd/yyyy",
        ),
        (
            r#"{"name": "ann", "age": 3, "since": "1/2/1970"}"#,
            "is not a date of the form dd.MM.yyyy or yyyy-MM-dd",
        ),
    ] {
        let refused = of(text).unwrap_err();
        assert!(refused.contains(fault), "{refused}");
    }
}

#[test]
fn two_columns_are_not_one_property() {
    let source = source("label = \"person\"\nrename = { a = \"name\" }");
    let columns = row(r#"{"a": "ann", "name": "bob", "age": "5"}"#);
    let refused = vertex(&columns, &source, &Catalogue::from_text(SCHEMA)).unwrap_err();
    assert!(refused.contains("so is another column"), "{refused}");
}

#[test]
fn an_edge_finds_its_vertices() {
    let columns = row(
        r#"{"who": "a!b:c", "years": "5", "where": "-3", "score": "NaN", "since": "2020-01-01T00:00:00Z"}"#,
    );
    let source = source(
        "label = \"lives\"\nsource = [\"who\", \"years\"]\ntarget = \"where\"\nvalid_from = \"since\"\n",
    );
    let edge = edge(&columns, &source, &Catalogue::from_text(SCHEMA)).unwrap();
    let json: Json = serde_json::from_str(&edge.json).unwrap();
    assert_eq!(json["outV"], "7:a`!b`:c!15");
    assert_eq!(
        (&json["inV"], &json["inVLabel"]),
        (&Json::from(-3), &Json::from("city"))
    );
    assert_eq!(json["properties"]["score"], "NaN");
    assert_eq!(edge.period.from.as_deref(), Some("2020-01-01T00:00:00Z"));
}

#[test]
fn what_is_wrong_is_named() {
    let catalogue = Catalogue::from_text(SCHEMA);
    let refused = |text: &str, columns: &str, part: &str| {
        let error = vertex(&row(columns), &source(text), &catalogue).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    refused(
        "label = \"person\"",
        r#"{"age": "x"}"#,
        "column 'age': 'x' is not a whole number",
    );
    refused(
        "label = \"person\"",
        r#"{"height": "1"}"#,
        "column 'height' is not a property of label 'person'",
    );
    refused(
        "label = \"person\"\nid = \"n\"",
        r#"{"n": "1"}"#,
        "come from its primary keys",
    );
    refused(
        "label = \"city\"\nid = \"n\"",
        r#"{"n": "one"}"#,
        "'one' is not a whole number",
    );
    refused(
        "label = \"city\"\nid = \"n\"",
        r#"{"name": "x"}"#,
        "column 'n' is empty or missing",
    );
    refused("label = \"town\"", "{}", "there is no vertex label 'town'");
}

#[test]
fn numbers_of_json_lines_and_dumps_keep_every_bit() {
    for number in [
        1.400_000_000_000_000_1,
        9_722.800_000_000_001,
        5e-324,
        0.1 * 3.0,
    ] {
        let text = format!("{number:?}");
        let json: Json = serde_json::from_str(&text).expect("a number");
        assert_eq!(json.to_string().parse(), Ok(number), "it is sent unchanged");
        let value = key_value(&json, DataType::Double).expect("a double");
        assert_eq!(value, Value::Double(number));
    }
    let json: Json = serde_json::from_str("7.038531e-26").expect("a number");
    let value = key_value(&json, DataType::Float).expect("a float");
    assert_eq!(value, Value::Float(7.038531e-26));
}

#[test]
fn what_no_element_may_be_is_refused_before_it_is_sent() {
    let source = source("label = \"person\"");
    let catalogue = Catalogue::from_text(SCHEMA);
    let refused = |text: &str| vertex(&row(text), &source, &catalogue).unwrap_err();
    assert_eq!(
        refused(r#"{"name": "ann", "score": 1}"#),
        "no value for 'age', which each element of label 'person' has"
    );
    for age in ["3000000000", "\"-3000000000\""] {
        let refused = refused(&format!(r#"{{"name": "ann", "age": {age}}}"#));
        assert!(
            refused.ends_with("000 is no INT, which has 32 bits"),
            "{refused}"
        );
    }
    assert!(
        vertex(
            &row(r#"{"name": "ann", "age": -2147483648}"#),
            &source,
            &catalogue
        )
        .is_ok()
    );
}

#[test]
fn ids_of_a_kind_have_one_form() {
    let catalogue = Catalogue::from_text(
        r#"{"vertexlabels": [{"name": "n", "id_strategy": "CUSTOMIZE_NUMBER"},
                             {"name": "u", "id_strategy": "CUSTOMIZE_UUID"}]}"#,
    );
    let made = |label: &str, id: &str| {
        let source = source(&format!("label = \"{label}\"\nid = \"id\"\n"));
        vertex(&row(&format!(r#"{{"id": {id}}}"#)), &source, &catalogue)
    };
    for (label, id, reason) in [
        (
            "n",
            "1.5",
            "column 'id': 1.5 is not a whole number of 64 bits",
        ),
        (
            "n",
            "true",
            "column 'id': true is not a whole number of 64 bits",
        ),
        (
            "n",
            "9223372036854775808",
            "column 'id': 9223372036854775808 is not a whole number of 64 bits",
        ),
        ("n", "\"1.5\"", "column 'id': '1.5' is not a whole number"),
        ("u", "7", "column 'id': 7 is not a UUID"),
        ("u", "\"7\"", "column 'id': \"7\" is not a UUID"),
    ] {
        assert_eq!(made(label, id), Err(reason.to_owned()));
    }
    assert_eq!(made("n", "-5"), made("n", "\" -5\""));
    let (plain, dashed) = (
        "\"835E1153928149578691CF79258E90EB\"",
        "\"835e1153-9281-4957-8691-cf79258e90eb\"",
    );
    let uuid = made("u", plain).expect("a vertex");
    assert!(uuid.json.contains(dashed), "{}", uuid.json);
    assert_eq!(Ok(uuid), made("u", dashed));
}
