//! Converts rows to the JSON of vertices or edges, in the form of the batch resources.
//!
//! What the columns of a file are is found out once for all rows with the same columns.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
use varve_files::{Fields, instant_of};
use varve_model::DataType;
use varve_model::id::escape_into;
use varve_model::sortable::join_key_values;
use varve_model::time::parse_instant;
use xxhash_rust::xxh3::xxh3_64;

use crate::batches::BatchKind;
use crate::catalogue::{Catalogue, Key, VertexLabel};
use crate::element::{Action, Element, Period};
use crate::exported;
use crate::known::Owners;
use crate::mapping::{Source, When};
use crate::values::{custom_id, key_value, property, scalar};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Converts the rows of one file.
#[derive(Debug)]
pub struct Converter {
    kind: BatchKind,
    plan: Option<Planned>,
}

/// The names of the columns, and what they are, or why no row can be converted.
type Planned = (Arc<[String]>, Result<Plan, String>);

/// A column, and the message for a row with a value in it.
type RefusedColumn = (usize, String);

/// What the columns of a file are.
#[derive(Debug)]
struct Plan {
    /// The JSON of the label's name.
    label: String,
    head: Head,
    /// In the order of the properties' names.
    properties: Vec<Property>,
    /// The columns that are no property.
    refused: Vec<RefusedColumn>,
    /// The properties that identify an element, `None` for one that no column has.
    keys: Vec<Option<usize>>,
    has_identity: bool,
    /// The start and the end of the valid time.
    times: [Option<Time>; 2],
}

/// What an element begins with.
#[derive(Debug)]
enum Head {
    /// A vertex, and the column of its id.
    Vertex(Option<IdColumn>),
    /// An edge from one vertex to another.
    Edge([End; 2]),
}

/// A column that the mapping names.
#[derive(Debug)]
struct Column {
    name: String,
    /// `None` if the file has no such column.
    at: Option<usize>,
}

/// An instant of the valid time.
#[derive(Debug)]
enum Time {
    Constant(String),
    Column(Column),
}

/// A column of ids that the writer chooses.
#[derive(Debug)]
struct IdColumn {
    column: Column,
    strategy: String,
}

/// An end of an edge.
#[derive(Debug)]
struct End {
    label: String,
    id: EndId,
}

/// How an end's id is found.
#[derive(Debug)]
enum EndId {
    Column(IdColumn),
    /// By the number of the label, and the columns of its primary keys.
    Keys(i64, Vec<(Column, DataType)>),
}

/// A column that is a property.
#[derive(Debug)]
struct Property {
    at: usize,
    column: String,
    name: String,
    key: Key,
}

impl Converter {
    /// For rows of this kind.
    #[must_use]
    pub fn new(kind: BatchKind) -> Self {
        Self { kind, plan: None }
    }

    /// The element of a row, whose id is noted; `None` if the row is no edge for lack of an end.
    ///
    /// # Errors
    /// A message that names the wrong column and the reason.
    pub fn element(
        &mut self,
        fields: &Fields,
        source: &Source,
        catalogue: &Catalogue,
        owners: &mut Owners,
    ) -> Result<Option<Element>, String> {
        if source.label.is_empty() {
            let columns = fields.clone().into_map();
            return exported::element(&columns, self.kind, source, catalogue);
        }
        let names = fields.names();
        let is_known = matches!(&self.plan, Some((known, _)) if Arc::ptr_eq(known, names));
        if !is_known {
            let plan = Plan::of(names, self.kind, source, catalogue);
            self.plan = Some((Arc::clone(names), plan));
        }
        let Some((_, Ok(plan))) = &self.plan else {
            let failed = self.plan.as_ref().and_then(|(_, plan)| plan.as_ref().err());
            return Err(failed.cloned().unwrap_or_default());
        };
        if self.kind == BatchKind::Edges && source.skip_empty && plan.lacks_end(fields) {
            return Ok(None);
        }
        let element = plan.element(fields, source)?;
        if self.kind == BatchKind::Vertices {
            owners.claim(&source.label, element.identity)?;
        }
        Ok(Some(element))
    }
}

impl Column {
    fn of(name: &str, names: &[String]) -> Self {
        Self {
            name: name.to_owned(),
            at: names.iter().position(|column| column == name),
        }
    }

    fn value<'a>(&self, fields: &'a Fields) -> Option<&'a Json> {
        fields.at(self.at?).filter(|value| !value.is_null())
    }

    fn present<'a>(&self, fields: &'a Fields) -> Result<&'a Json, String> {
        let value = self.value(fields);
        value.ok_or_else(|| format!("column '{}' is empty or missing", self.name))
    }
}

impl IdColumn {
    fn write(&self, fields: &Fields, out: &mut Vec<u8>) -> Result<(), String> {
        let value = self.column.present(fields)?;
        let id = custom_id(value, &self.strategy, &self.column.name)?;
        write(&*id, out)
    }
}

impl EndId {
    fn of(
        columns: &[String],
        names: &[String],
        label: &VertexLabel,
        catalogue: &Catalogue,
    ) -> Result<Self, String> {
        if label.id_strategy != "PRIMARY_KEY" {
            let [column] = columns else {
                return Err(format!(
                    "one column names the vertex, but the mapping gives {}",
                    columns.len()
                ));
            };
            return Ok(Self::Column(IdColumn {
                column: Column::of(column, names),
                strategy: label.id_strategy.clone(),
            }));
        }
        if columns.len() != label.primary_keys.len() {
            return Err(format!(
                "the vertex has the primary keys {:?}, but the mapping gives {} columns for it",
                label.primary_keys,
                columns.len()
            ));
        }
        let keys = columns.iter().zip(&label.primary_keys);
        let keys = keys.map(|(column, key)| {
            let data_type = catalogue.key(key)?.data_type;
            Ok((Column::of(column, names), data_type))
        });
        let keys: Result<Vec<_>, String> = keys.collect();
        Ok(Self::Keys(label.id, keys?))
    }

    fn write(&self, fields: &Fields, source: &Source, out: &mut Vec<u8>) -> Result<(), String> {
        let (label, columns) = match self {
            Self::Column(id) => return id.write(fields, out),
            Self::Keys(label, columns) => (label, columns),
        };
        let mut values = Vec::with_capacity(columns.len());
        for (column, data_type) in columns {
            let value = scalar(column.present(fields)?, *data_type, (source, &column.name))
                .and_then(|value| key_value(&value, *data_type))
                .map_err(|why| format!("column '{}': {why}", column.name))?;
            values.push(value);
        }
        let mut id = format!("{label}:");
        escape_into(&join_key_values(&values), ':', &mut id);
        write(&id, out)
    }

    fn is_empty(&self, fields: &Fields) -> bool {
        match self {
            Self::Column(id) => id.column.value(fields).is_none(),
            Self::Keys(_, columns) => {
                let mut columns = columns.iter();
                columns.any(|(column, _)| column.value(fields).is_none())
            }
        }
    }
}

impl Plan {
    fn of(
        names: &[String],
        kind: BatchKind,
        source: &Source,
        catalogue: &Catalogue,
    ) -> Result<Self, String> {
        let (head, of_label, keys, has_identity) = match kind {
            BatchKind::Vertices => {
                let label = catalogue.vertex_label(&source.label)?;
                let id = source.id.as_ref().map(|column| IdColumn {
                    column: Column::of(column, names),
                    strategy: label.id_strategy.clone(),
                });
                let has_identity = id.is_some() || !label.primary_keys.is_empty();
                let keys = match id {
                    Some(_) => &[],
                    None => &*label.primary_keys,
                };
                (Head::Vertex(id), &label.properties, keys, has_identity)
            }
            BatchKind::Edges => {
                let label = catalogue.edge_label(&source.label)?;
                let end = |label: &str, columns: &[String]| {
                    let of = catalogue.vertex_label(label)?;
                    let id = EndId::of(columns, names, of, catalogue)?;
                    let label = json_text(label)?;
                    Ok::<_, String>(End { label, id })
                };
                let ends = [
                    end(&label.source_label, source.source.names())?,
                    end(&label.target_label, source.target.names())?,
                ];
                let has_identity = !label.has_hidden_sort();
                (
                    Head::Edge(ends),
                    &label.properties,
                    &*label.sort_keys,
                    has_identity,
                )
            }
        };
        let (properties, refused) = properties(names, source, catalogue, of_label)?;
        let place = |key: &String| properties.iter().position(|property| property.name == *key);
        let time = |when: &Option<When>| {
            when.as_ref().map(|when| match when {
                When::Constant(at) => Time::Constant(at.to_string()),
                When::Column(name) => Time::Column(Column::of(name, names)),
            })
        };
        Ok(Self {
            label: json_text(&source.label)?,
            head,
            keys: keys.iter().map(place).collect(),
            properties,
            refused,
            has_identity,
            times: [time(&source.valid_from), time(&source.valid_to)],
        })
    }

    fn lacks_end(&self, fields: &Fields) -> bool {
        match &self.head {
            Head::Vertex(_) => false,
            Head::Edge(ends) => ends.iter().any(|end| end.id.is_empty(fields)),
        }
    }

    fn element(&self, fields: &Fields, source: &Source) -> Result<Element, String> {
        let mut out = Vec::with_capacity(128);
        let mut identity = Identity::default();
        out.extend_from_slice(b"{\"label\":");
        out.extend_from_slice(self.label.as_bytes());
        match &self.head {
            Head::Vertex(None) => {}
            Head::Vertex(Some(id)) => {
                out.extend_from_slice(b",\"id\":");
                let start = out.len();
                id.write(fields, &mut out)?;
                identity.add(&out[start..]);
            }
            Head::Edge(ends) => {
                for (end, (id, label)) in ends
                    .iter()
                    .zip([("outV", "outVLabel"), ("inV", "inVLabel")])
                {
                    out.extend_from_slice(
                        format!(",\"{label}\":{},\"{id}\":", end.label).as_bytes(),
                    );
                    let start = out.len();
                    end.id.write(fields, source, &mut out)?;
                    identity.add(&out[start..]);
                }
            }
        }
        self.write_properties(fields, source, &mut identity, &mut out)?;
        if !matches!(self.head, Head::Vertex(Some(_))) {
            identity.add(self.label.as_bytes());
        }
        let period = self.period(fields, source)?;
        for (name, instant) in [("valid_from", &period.from), ("valid_to", &period.to)] {
            if let Some(instant) = instant {
                out.extend_from_slice(format!(",\"{name}\":").as_bytes());
                write(instant, &mut out)?;
            }
        }
        out.push(b'}');
        Ok(Element {
            action: Action::Put,
            json: String::from_utf8(out).map_err(|error| error.to_string())?,
            identity: self.has_identity.then(|| xxh3_64(&identity.0)),
            ends_at: period.to.clone().filter(|_| source.valid_to_ends_element),
            period,
        })
    }

    fn write_properties(
        &self,
        fields: &Fields,
        source: &Source,
        identity: &mut Identity,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if let Some((_, why)) = self.refused.iter().find(|(at, _)| has_value(fields, *at)) {
            return Err(why.clone());
        }
        out.extend_from_slice(b",\"properties\":{");
        let mut written: Option<&str> = None;
        let mut keys = vec![0..0; self.keys.len()];
        for (number, property) in self.properties.iter().enumerate() {
            let Some(value) = fields.at(property.at).filter(|value| !value.is_null()) else {
                continue;
            };
            let (column, name) = (&property.column, &property.name);
            if written == Some(name) {
                return Err(format!(
                    "column '{column}' is property '{name}', and so is another column; name one of \
                     them in `ignore`"
                ));
            }
            if written.is_some() {
                out.push(b',');
            }
            written = Some(name);
            write(name, out)?;
            out.push(b':');
            let start = out.len();
            property.write(value, source, out)?;
            for (key, place) in keys.iter_mut().zip(&self.keys) {
                if *place == Some(number) {
                    *key = start..out.len();
                }
            }
        }
        for key in keys {
            identity.add(&out[key]);
        }
        out.push(b'}');
        Ok(())
    }

    fn period(&self, fields: &Fields, source: &Source) -> Result<Period, String> {
        let instant = |when: &Option<Time>| match when {
            None => Ok(None),
            Some(Time::Constant(at)) => Ok(Some(at.clone())),
            Some(Time::Column(column)) => match column.value(fields) {
                None => Ok(None),
                Some(value) => instant_of(value, source.dates(&column.name))
                    .map(Some)
                    .map_err(|why| format!("column '{}': {why}", column.name)),
            },
        };
        let [from, to] = &self.times;
        let (from, mut to) = (instant(from)?, instant(to)?);
        if source.valid_to_inclusive {
            to = to.map(|text| after_day(&text).unwrap_or(text));
        }
        let at = |text: &Option<String>| text.as_deref().and_then(parse_instant);
        if let (Some(start), Some(end)) = (at(&from), at(&to))
            && end <= start
        {
            return Err("the valid time ends before it begins, or at its beginning".to_owned());
        }
        Ok(Period { from, to })
    }
}

impl Property {
    fn write(&self, value: &Json, source: &Source, out: &mut Vec<u8>) -> Result<(), String> {
        let of = (source, &*self.column);
        let wrong = |why: String| format!("column '{}': {why}", self.column);
        match self.key.is_list() {
            true => write(&property(value, self.key, of).map_err(wrong)?, out),
            false => write(&*scalar(value, self.key.data_type, of).map_err(wrong)?, out),
        }
    }
}

/// The end of the day, if the text is a day.
fn after_day(text: &str) -> Option<String> {
    let start = parse_instant(text)?.0;
    let end = start.checked_add(DAY).filter(|_| start % DAY == 0)?;
    Some(jiff::Timestamp::from_microsecond(end).ok()?.to_string())
}

/// The columns that are properties, and those of which a row must have no value.
fn properties(
    names: &[String],
    source: &Source,
    catalogue: &Catalogue,
    of_label: &[String],
) -> Result<(Vec<Property>, Vec<RefusedColumn>), String> {
    let (mut properties, mut refused) = (Vec::new(), Vec::new());
    for (at, column) in names.iter().enumerate() {
        if source.ignore.contains(column) {
            continue;
        }
        let name = source.rename.get(column).unwrap_or(column);
        if of_label.contains(name) {
            properties.push(Property {
                at,
                column: column.clone(),
                name: name.clone(),
                key: catalogue.key(name)?,
            });
        } else if !source.is_structure(column) {
            refused.push((
                at,
                format!(
                    "column '{column}' is not a property of label '{}'; name it in `rename` or \
                     `ignore`",
                    source.label
                ),
            ));
        }
    }
    properties.sort_by(|one, other| (&one.name, &one.column).cmp(&(&other.name, &other.column)));
    Ok((properties, refused))
}

/// The parts that identify an element, as JSON.
#[derive(Default)]
struct Identity(Vec<u8>);

impl Identity {
    fn add(&mut self, part: &[u8]) {
        self.0.extend_from_slice(part);
        self.0.push(b'\n');
    }
}

fn has_value(fields: &Fields, at: usize) -> bool {
    fields.at(at).is_some_and(|value| !value.is_null())
}

fn json_text(text: &str) -> Result<String, String> {
    serde_json::to_string(text).map_err(|error| error.to_string())
}

fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), String> {
    serde_json::to_writer(out, value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use varve_model::value::Value;

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

    fn converted(
        kind: BatchKind,
        columns: &Map<String, Json>,
        source: &Source,
        catalogue: &Catalogue,
    ) -> Result<Element, String> {
        let mut owners = Owners::default();
        let fields = Fields::from(columns.clone());
        let element = Converter::new(kind).element(&fields, source, catalogue, &mut owners)?;
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
