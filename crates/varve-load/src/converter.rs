//! Converts rows to the JSON of vertices or edges, in the form of the batch resources.
//!
//! The plan for the columns of a file is made once for all rows with the same columns.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
use varve_files::{Fields, instant_of};
use varve_model::DataType;
use varve_model::time::parse_instant;
use xxhash_rust::xxh3::xxh3_64;

use crate::batches::BatchKind;
use crate::catalogue::{Catalogue, Key, VertexLabel};
use crate::element::{Action, Element, Period};
use crate::exported;
use crate::known::Owners;
use crate::mapping::{Source, When};
use crate::values::{custom_id, key_id, key_value, property, scalar};

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

/// What the columns of a file are.
#[derive(Debug)]
struct Plan {
    /// The JSON of the label's name.
    label: String,
    head: Head,
    /// In the order of the properties' names.
    properties: Vec<Property>,
    /// The columns that are no property: a row must have no value in them.
    refused: Vec<(usize, String)>,
    /// The properties that an element must have, with the columns that may have them.
    required: Vec<(String, Vec<usize>)>,
    /// The properties that identify an element.
    keys: Vec<String>,
    has_identity: bool,
    /// The start and the end of the valid time.
    times: [Option<Time>; 2],
}

/// The parts of an element before its properties.
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
    key: Result<Key, String>,
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
        fields: Fields,
        source: &Source,
        catalogue: &Catalogue,
        owners: &mut Owners,
    ) -> Result<Option<Element>, String> {
        if source.label.is_empty() {
            let columns = fields.into_map();
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
        if self.kind == BatchKind::Edges && source.skip_empty && plan.lacks_end(&fields) {
            return Ok(None);
        }
        let element = plan.element(&fields, source)?;
        if self.kind == BatchKind::Vertices {
            owners.claim(&source.label, element.identity)?;
        } else if element.ends {
            owners.end(&source.label, element.identity)?;
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

impl Time {
    fn of(when: &When, names: &[String]) -> Self {
        match when {
            When::Constant(at) => Self::Constant(at.to_string()),
            When::Column(name) => Self::Column(Column::of(name, names)),
        }
    }

    /// Whether it is written without a time of day.
    fn is_day(&self, fields: &Fields) -> bool {
        match self {
            Self::Constant(text) => !text.contains(':'),
            Self::Column(column) => {
                let text = column.value(fields).and_then(Json::as_str);
                text.is_some_and(|text| !text.contains(':'))
            }
        }
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
        write(&key_id(*label, &values), out)
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
        let (head, of_label, nullable, keys, has_identity) = match kind {
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
                let nullable = &label.nullable_keys;
                (
                    Head::Vertex(id),
                    &label.properties,
                    nullable,
                    keys,
                    has_identity,
                )
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
                    &label.nullable_keys,
                    &*label.sort_keys,
                    has_identity,
                )
            }
        };
        let (properties, refused) = properties(names, source, catalogue, of_label);
        let time = |when: &Option<When>| when.as_ref().map(|when| Time::of(when, names));
        let required = of_label.iter().filter(|name| {
            let is_set = catalogue.key(name).is_ok_and(|key| key.has_default);
            // What an update does not name may be stored.
            !is_set && !nullable.contains(name) && (!source.update || keys.contains(name))
        });
        let required = required.map(|name| (name.clone(), columns_of(name, &properties)));
        let required = required.collect();
        Ok(Self {
            label: json_text(&source.label)?,
            head,
            required,
            keys: keys.to_vec(),
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
            ends: source.valid_to_ends_edge && period.to.is_some(),
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
        if let Some((_, column)) = self.refused.iter().find(|(at, _)| has_value(fields, *at)) {
            return Err(format!(
                "column '{column}' is not a property of label '{}'; name it in `rename` or `ignore`",
                source.label
            ));
        }
        out.extend_from_slice(b",\"properties\":{");
        let mut written: Option<&str> = None;
        let mut keys = vec![0..0; self.keys.len()];
        for property in &self.properties {
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
            for (key, of) in keys.iter_mut().zip(&self.keys) {
                if of == name {
                    *key = start..out.len();
                }
            }
        }
        let is_missing = |columns: &[usize]| columns.iter().all(|at| !has_value(fields, *at));
        let mut required = self.required.iter();
        if let Some((name, _)) = required.find(|(_, columns)| is_missing(columns)) {
            return Err(format!(
                "no value for '{name}', which each element of label '{}' has",
                source.label
            ));
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
        let (from, end) = (instant(from)?, instant(to)?);
        let is_day = source.valid_to_inclusive && to.as_ref().is_some_and(|it| it.is_day(fields));
        let to = match is_day {
            true => end.map(|text| after_day(&text).unwrap_or(text)),
            false => end,
        };
        let at = |text: &Option<String>| text.as_deref().and_then(parse_instant);
        let wrong = match (at(&from), at(&to)) {
            (Some(start), Some(end)) if end <= start => {
                "the valid time ends before it begins, or at its beginning"
            }
            (None, Some(end)) if end.0 <= jiff::Timestamp::now().as_microsecond() => {
                "the valid time has no beginning, so it begins now, but it ends before"
            }
            _ => return Ok(Period { from, to }),
        };
        Err(wrong.to_owned())
    }
}

impl Property {
    fn write(&self, value: &Json, source: &Source, out: &mut Vec<u8>) -> Result<(), String> {
        let of = (source, &*self.column);
        let wrong = |why: String| format!("column '{}': {why}", self.column);
        let key = self.key.clone()?;
        match key.is_list() {
            true => write(&property(value, key, of).map_err(wrong)?, out),
            false => write(&*scalar(value, key.data_type, of).map_err(wrong)?, out),
        }
    }
}

/// The end of the day that begins at an instant.
fn after_day(text: &str) -> Option<String> {
    let end = parse_instant(text)?.0.checked_add(DAY)?;
    Some(jiff::Timestamp::from_microsecond(end).ok()?.to_string())
}

/// The columns that may have values of a property.
fn columns_of(name: &str, properties: &[Property]) -> Vec<usize> {
    let columns = properties.iter().filter(|it| it.name == name);
    columns.map(|it| it.at).collect()
}

/// The columns that are properties, and those of which a row must have no value.
fn properties(
    names: &[String],
    source: &Source,
    catalogue: &Catalogue,
    of_label: &[String],
) -> (Vec<Property>, Vec<(usize, String)>) {
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
                key: catalogue.key(name),
            });
        } else if !source.is_structure(column) {
            refused.push((at, column.clone()));
        }
    }
    properties.sort_by(|one, other| (&one.name, &one.column).cmp(&(&other.name, &other.column)));
    (properties, refused)
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
mod tests;
