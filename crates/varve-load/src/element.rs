//! Converts a row to the JSON of a vertex or an edge, in the form of the batch resources.

use std::hash::{Hash, Hasher as _};

use serde_json::{Map, Value as Json};
use varve_files::{Decimal, instant_of, millis_of};
use varve_model::DataType;
use varve_model::id::escape_into;
use varve_model::sortable::join_key_values;
use varve_model::time::parse_instant;
use varve_model::value::{Uuid, Value, nearest_float};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::catalogue::{Catalogue, Key, VertexLabel};
use crate::mapping::{Source, When};

/// The valid time of an element, as texts for the server; `None` = from now, or for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Period {
    /// Its start.
    pub from: Option<String>,
    /// Its end.
    pub to: Option<String>,
}

impl Period {
    /// Writes the period into the JSON of an element to store.
    pub fn write_to(&self, element: &mut Map<String, Json>) {
        for (name, instant) in [("valid_from", &self.from), ("valid_to", &self.to)] {
            if let Some(text) = instant {
                element.insert(name.to_owned(), Json::from(text.as_str()));
            }
        }
    }
}

/// An element ready to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    /// The action.
    pub action: Action,
    /// The JSON with the valid time; for a deletion, the part of the path after the resource.
    pub json: String,
    /// A hash of the element's identity; `None` for an element that is new in any case: a vertex
    /// that gets its id when it is stored, or an edge with a hidden sort value.
    pub identity: Option<u64>,
    /// The valid time.
    pub period: Period,
}

/// A hash of the parts that identify an element.
#[must_use]
pub fn identity(parts: &[&Json]) -> u64 {
    let mut text = String::new();
    for part in parts {
        text.push_str(&part.to_string());
        text.push('\n');
    }
    xxh3_64(text.as_bytes())
}

/// A hash of a value.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = Xxh3Default::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The action for an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Action {
    /// Store the whole element.
    #[default]
    Put,
    /// Delete the element: only in dumps with history.
    Delete,
}

/// Converts a row to a vertex.
///
/// # Errors
/// A message that names the wrong column and the reason.
pub(crate) fn vertex(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    let label = catalogue.vertex_label(&source.label)?;
    let mut vertex = Map::new();
    vertex.insert("label".to_owned(), Json::from(source.label.as_str()));
    if let Some(column) = &source.id {
        let value = present(columns, column)?;
        vertex.insert(
            "id".to_owned(),
            custom_id(value, &label.id_strategy, column)?,
        );
    }
    let properties = properties(columns, source, catalogue, &label.properties)?;
    let identity = match (vertex.get("id"), label.primary_keys.is_empty()) {
        (Some(id), _) => Some(identity(&[id])),
        (None, true) => None,
        (None, false) => {
            let mut known_by = of_keys(&properties, &label.primary_keys);
            known_by.push(&vertex["label"]);
            Some(identity(&known_by))
        }
    };
    vertex.insert("properties".to_owned(), properties);
    let period = period(columns, source)?;
    period.write_to(&mut vertex);
    Ok(Element {
        action: Action::Put,
        json: Json::Object(vertex).to_string(),
        identity,
        period,
    })
}

/// Converts a row to an edge.
///
/// # Errors
/// As [`vertex`].
pub(crate) fn edge(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    let label = catalogue.edge_label(&source.label)?;
    let mut edge = Map::new();
    edge.insert("label".to_owned(), Json::from(source.label.as_str()));
    for (id, end, end_label, names) in [
        (
            "outV",
            "outVLabel",
            &label.source_label,
            source.source.names(),
        ),
        (
            "inV",
            "inVLabel",
            &label.target_label,
            source.target.names(),
        ),
    ] {
        let vertex_label = catalogue.vertex_label(end_label)?;
        edge.insert(
            id.to_owned(),
            end_id(columns, names, source, vertex_label, catalogue)?,
        );
        edge.insert(end.to_owned(), Json::from(end_label.as_str()));
    }
    let properties = properties(columns, source, catalogue, &label.properties)?;
    let mut known_by = of_keys(&properties, &label.sort_keys);
    known_by.extend([&edge["label"], &edge["outV"], &edge["inV"]]);
    let identity = (!label.has_hidden_sort()).then(|| identity(&known_by));
    edge.insert("properties".to_owned(), properties);
    let period = period(columns, source)?;
    period.write_to(&mut edge);
    Ok(Element {
        action: Action::Put,
        json: Json::Object(edge).to_string(),
        identity,
        period,
    })
}

fn of_keys<'a>(properties: &'a Json, keys: &[String]) -> Vec<&'a Json> {
    keys.iter().map(|key| &properties[key.as_str()]).collect()
}

fn present<'a>(columns: &'a Map<String, Json>, column: &str) -> Result<&'a Json, String> {
    match columns.get(column) {
        None | Some(Json::Null) => Err(format!("column '{column}' is empty or missing")),
        Some(value) => Ok(value),
    }
}

fn properties(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
    of_label: &[String],
) -> Result<Json, String> {
    let mut properties = Map::new();
    for (column, value) in columns {
        if value.is_null() || source.ignore.contains(column) {
            continue;
        }
        let name = source.rename.get(column).unwrap_or(column);
        if !of_label.contains(name) {
            if source.is_structure(column) {
                continue;
            }
            return Err(format!(
                "column '{column}' is not a property of label '{}'; name it in `rename` or `ignore`",
                source.label
            ));
        }
        let key = catalogue.key(name)?;
        let value = property(value, key, (source, column))
            .map_err(|why| format!("column '{column}': {why}"))?;
        if properties.insert(name.clone(), value).is_some() {
            return Err(format!(
                "column '{column}' is property '{name}', and so is another column; name one of \
                 them in `ignore`"
            ));
        }
    }
    Ok(Json::Object(properties))
}

/// A property's value as JSON. Texts of CSV are converted to the type of the property key.
pub(crate) fn property(
    value: &Json,
    key: Key,
    (source, column): (&Source, &str),
) -> Result<Json, String> {
    if !key.is_list() {
        return scalar(value, key.data_type, (source, column));
    }
    let members: Vec<Json> = match value {
        Json::Array(members) => members.clone(),
        Json::String(text) => {
            let inner = text
                .strip_prefix('[')
                .and_then(|text| text.strip_suffix(']'));
            let parts = inner.unwrap_or(text).split(&source.list_separator);
            parts.map(|part| Json::from(part.trim())).collect()
        }
        other => vec![other.clone()],
    };
    let members: Result<Vec<Json>, String> = members
        .iter()
        .map(|member| scalar(member, key.data_type, (source, column)))
        .collect();
    members.map(Json::Array)
}

/// A value of this column as JSON.
fn scalar(
    value: &Json,
    data_type: DataType,
    (source, column): (&Source, &str),
) -> Result<Json, String> {
    if data_type == DataType::Date {
        return millis_of(value, source.dates(column)).map(Json::from);
    }
    let Json::String(text) = value else {
        let is_text = data_type == DataType::Text && (value.is_number() || value.is_boolean());
        return Ok(match is_text {
            true => Json::from(value.to_string()),
            false => value.clone(),
        });
    };
    let wrong = |expected: &str| format!("'{text}' is not {expected}");
    match data_type {
        DataType::Byte | DataType::Int | DataType::Long => text
            .trim()
            .parse::<i64>()
            .map(Json::from)
            .map_err(|_| wrong("a whole number")),
        DataType::Float | DataType::Double => {
            let number = source.decimal.real(text);
            number.ok_or_else(|| match source.decimal {
                Decimal::Point => wrong("a number"),
                Decimal::Comma => wrong("a number with a decimal comma"),
            })
        }
        DataType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            _ => Err(wrong("true or false")),
        },
        DataType::Object => serde_json::from_str(text).map_err(|_| wrong("JSON")),
        DataType::Text | DataType::Blob | DataType::Date | DataType::Uuid => Ok(value.clone()),
    }
}

/// The id of a vertex of a label with custom ids.
fn custom_id(value: &Json, strategy: &str, column: &str) -> Result<Json, String> {
    match strategy {
        "CUSTOMIZE_STRING" | "CUSTOMIZE_UUID" => match value {
            Json::String(_) => Ok(value.clone()),
            other => Ok(Json::from(other.to_string())),
        },
        "PRIMARY_KEY" => Err(format!(
            "the label's ids come from its primary keys; take `id = \"{column}\"` out of the mapping"
        )),
        _ => match value {
            Json::String(text) => text
                .trim()
                .parse::<i64>()
                .map(Json::from)
                .map_err(|_| format!("column '{column}': '{text}' is not a whole number")),
            other => Ok(other.clone()),
        },
    }
}

/// The id of an edge's vertex.
fn end_id(
    columns: &Map<String, Json>,
    names: &[String],
    source: &Source,
    label: &VertexLabel,
    catalogue: &Catalogue,
) -> Result<Json, String> {
    if label.id_strategy != "PRIMARY_KEY" {
        let [column] = names else {
            return Err(format!(
                "one column names the vertex, but the mapping gives {}",
                names.len()
            ));
        };
        return custom_id(present(columns, column)?, &label.id_strategy, column);
    }
    if names.len() != label.primary_keys.len() {
        return Err(format!(
            "the vertex has the primary keys {:?}, but the mapping gives {} columns for it",
            label.primary_keys,
            names.len()
        ));
    }
    let mut values = Vec::with_capacity(names.len());
    for (column, key) in names.iter().zip(&label.primary_keys) {
        let data_type = catalogue.key(key)?.data_type;
        let value = scalar(present(columns, column)?, data_type, (source, column))
            .and_then(|value| key_value(&value, data_type))
            .map_err(|why| format!("column '{column}': {why}"))?;
        values.push(value);
    }
    let mut id = format!("{}:", label.id);
    escape_into(&join_key_values(&values), ':', &mut id);
    Ok(Json::String(id))
}

fn key_value(value: &Json, data_type: DataType) -> Result<Value, String> {
    let wrong = || format!("{value} is not a value of a {data_type:?} key");
    let whole = || value.as_i64().ok_or_else(wrong);
    let real = || value.as_f64().ok_or_else(wrong);
    let text = || value.as_str().ok_or_else(wrong);
    Ok(match data_type {
        DataType::Byte | DataType::Int | DataType::Long => Value::Long(whole()?),
        DataType::Date => Value::Date(whole()?),
        DataType::Float => Value::Float(nearest_float(real()?)),
        DataType::Double => Value::Double(real()?),
        DataType::Boolean => Value::Boolean(value.as_bool().ok_or_else(wrong)?),
        DataType::Uuid => Value::Uuid(Uuid::parse(text()?).ok_or_else(wrong)?.0),
        DataType::Text => Value::Text(text()?.to_owned()),
        DataType::Blob | DataType::Object => return Err(wrong()),
    })
}

fn period(columns: &Map<String, Json>, source: &Source) -> Result<Period, String> {
    let instant = |when: &Option<When>| match when {
        None => Ok(None),
        Some(When::Constant(at)) => Ok(Some(at.to_string())),
        Some(When::Column(name)) => match columns.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => instant_of(value, source.dates(name))
                .map(Some)
                .map_err(|why| format!("column '{name}': {why}")),
        },
    };
    let (from, to) = (instant(&source.valid_from)?, instant(&source.valid_to)?);
    let at = |text: &Option<String>| text.as_deref().and_then(parse_instant);
    if let (Some(start), Some(end)) = (at(&from), at(&to))
        && end <= start
    {
        return Err("the valid time ends before it begins, or at its beginning".to_owned());
    }
    Ok(Period { from, to })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const READING: &str = include_str!("../../varve-files/tests/reading.json");
    const SCHEMA: &str = r#"{
        "propertykeys": [
            {"name": "name", "data_type": "TEXT", "cardinality": "SINGLE"},
            {"name": "age", "data_type": "INT", "cardinality": "SINGLE"},
            {"name": "score", "data_type": "DOUBLE", "cardinality": "SINGLE"},
            {"name": "born", "data_type": "DATE", "cardinality": "SINGLE"},
            {"name": "tags", "data_type": "TEXT", "cardinality": "SET"}],
        "vertexlabels": [
            {"name": "person", "id": 7, "id_strategy": "PRIMARY_KEY", "primary_keys": ["name", "age"],
             "properties": ["name", "age", "score", "born", "tags"]},
            {"name": "city", "id": 8, "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["name"]}],
        "edgelabels": [
            {"name": "lives", "source_label": "person", "target_label": "city", "properties": ["score"]}]
    }"#;

    fn source(text: &str) -> Source {
        toml::from_str(&format!("file = \"x.csv\"\n{text}")).expect("a source")
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
                {"name": "plain", "properties": ["k"]}],
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
                r#"{{"name": "ann", "score": "-1,5", "born": "01/02/1970", "since": "{since}"}}"#
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
                r#"{"since": "1/2/1970"}"#,
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
}
