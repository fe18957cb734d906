//! The formats of exports: CSV, lines of JSON, Parquet, Arrow IPC, GraphML and GEXF.

use bytes::Bytes;
use varve_files::TableFormat;
use varve_graph::schema::Schema;
use varve_model::value::{Cardinality, DataType};
use varve_model::{Element, Instant, PropertyKeyId, Value};
use varve_view::{ErrorKind, ViewError};

use super::super::output::{self, edge_ref, element_ref, vertex_ref};
use super::super::read_request::Snapshot;
use super::super::state::State;
use super::table::Table;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::respond::ContentType;
use crate::wire::output as plain;
use crate::wire::time::instant_text;

/// How elements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    JsonLines,
    GraphMl,
    Gexf,
    Parquet,
    Arrow,
}

/// Whether vertices, and whether edges are written.
pub(super) type Kinds = (bool, bool);

impl Format {
    pub(super) fn named(name: &str) -> Result<Self, ApiError> {
        Ok(match name {
            "csv" => Self::Csv,
            "jsonl" => Self::JsonLines,
            "graphml" => Self::GraphMl,
            "gexf" => Self::Gexf,
            "parquet" => Self::Parquet,
            "arrow" => Self::Arrow,
            _ => {
                return Err(ApiError::illegal_argument(format!(
                    "The format must be csv, jsonl, parquet, arrow, graphml or gexf, but got '{name}'"
                )));
            }
        })
    }

    /// The kinds that the parameter `elements` names. A table has rows of one kind.
    pub(super) fn kinds(self, asked: Option<&str>) -> Result<Kinds, ApiError> {
        match asked {
            Some("vertices") => Ok((true, false)),
            Some("edges") => Ok((false, true)),
            None if self.is_table() => Ok((true, false)),
            None => Ok((true, true)),
            Some(other) => Err(ApiError::illegal_argument(format!(
                "The elements must be vertices or edges, but got '{other}'"
            ))),
        }
    }

    /// Whether all rows have the same columns.
    const fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Parquet | Self::Arrow)
    }

    /// The end of the file's name.
    pub(super) const fn ending(self, (vertices, _): Kinds) -> &'static str {
        match self {
            Self::Csv if vertices => "-vertices.csv",
            Self::Csv => "-edges.csv",
            Self::Parquet if vertices => "-vertices.parquet",
            Self::Parquet => "-edges.parquet",
            Self::Arrow if vertices => "-vertices.arrow",
            Self::Arrow => "-edges.arrow",
            Self::JsonLines => ".jsonl",
            Self::GraphMl => ".graphml",
            Self::Gexf => ".gexf",
        }
    }

    pub(super) const fn content_type(self) -> ContentType {
        ContentType::Other(match self {
            Self::Csv => "text/csv;charset=UTF-8",
            Self::JsonLines => "application/x-ndjson",
            Self::GraphMl | Self::Gexf => "application/xml;charset=UTF-8",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Arrow => "application/vnd.apache.arrow.file",
        })
    }
}

/// The columns of a table for every element, beside its properties.
pub(super) const COLUMNS: [&str; 6] = [
    "~id",
    "~label",
    "~valid_from",
    "~valid_to",
    "~version",
    "~recorded_at",
];
/// The columns for edges only.
pub(super) const EDGE_COLUMNS: [&str; 4] = ["~from", "~from_label", "~to", "~to_label"];

/// The column of a property.
struct Column {
    key: PropertyKeyId,
    name: String,
    /// The type of its values in GraphML and in GEXF.
    types: (&'static str, &'static str),
}

/// The type of a property's values in GraphML and in GEXF; those without a type there are texts.
fn types(schema: &Schema, key: PropertyKeyId) -> (&'static str, &'static str) {
    let definition = schema.property_key(key);
    let single = definition.filter(|it| it.cardinality == Cardinality::Single);
    match single.map(|it| it.data_type) {
        Some(DataType::Boolean) => ("boolean", "boolean"),
        Some(DataType::Byte | DataType::Int) => ("int", "integer"),
        Some(DataType::Long) => ("long", "long"),
        Some(DataType::Float) => ("float", "float"),
        Some(DataType::Double) => ("double", "double"),
        _ => ("string", "string"),
    }
}

/// Writes elements one after another.
pub(super) struct Writer {
    format: Format,
    kinds: Kinds,
    columns: Vec<Column>,
    /// The times of the export, as an object.
    times: String,
    text: String,
    has_begun: bool,
    /// Whether the list of edges has begun.
    in_edges: bool,
    /// The table, of formats that are not texts.
    table: Option<Table>,
    /// Why the table could not be written.
    failure: Option<String>,
}

impl Writer {
    /// `keys` are the properties that have columns.
    pub(super) fn new(
        format: Format,
        kinds: Kinds,
        snapshot: &Snapshot,
        keys: &[PropertyKeyId],
    ) -> Result<Self, ApiError> {
        let schema = snapshot.schema();
        let table_format = match format {
            Format::Parquet => Some(TableFormat::Parquet),
            Format::Arrow => Some(TableFormat::Arrow),
            _ => None,
        };
        let table = table_format.map(|format| Table::new(format, kinds.1, schema, keys));
        let columns = keys.iter().map(|key| Column {
            key: *key,
            name: schema.property_key_name(*key).to_owned(),
            types: types(schema, *key),
        });
        let mut times = JsonWriter::default();
        snapshot.write(&mut times);
        Ok(Self {
            format,
            kinds,
            columns: columns.collect(),
            times: String::from_utf8(times.finish()).unwrap_or_default(),
            text: String::new(),
            has_begun: false,
            in_edges: false,
            table: table.transpose()?,
            failure: None,
        })
    }

    /// Takes what was written since the last call.
    ///
    /// # Errors
    /// When the table could not be written.
    pub(super) fn take(&mut self) -> Result<Bytes, ViewError> {
        if let Some(failure) = self.failure.take() {
            return Err(ViewError::failed(ErrorKind::Internal, failure));
        }
        Ok(match &mut self.table {
            Some(table) => Bytes::from(table.take()),
            None => Bytes::from(std::mem::take(&mut self.text)),
        })
    }

    fn note(&mut self, written: Option<Result<(), String>>) {
        if let Some(Err(failure)) = written {
            self.failure.get_or_insert(failure);
        }
    }

    /// Writes the head of the document, once.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        match self.format {
            Format::Csv => self.header(),
            Format::JsonLines => {
                let line = format!("{{\"times\":{}}}\n", self.times);
                self.text.push_str(&line);
            }
            Format::GraphMl => self.graphml_head(),
            Format::Gexf => self.gexf_head(),
            Format::Parquet | Format::Arrow => {}
        }
    }

    /// Writes the end of the document.
    pub(super) fn end(&mut self) {
        match self.format {
            Format::Csv | Format::JsonLines => {}
            Format::Parquet | Format::Arrow => {
                let ended = self.table.as_mut().map(Table::end);
                self.note(ended);
            }
            Format::GraphMl => self.text.push_str("</graph>\n</graphml>\n"),
            Format::Gexf => {
                if !self.in_edges {
                    self.text.push_str("</nodes>\n<edges>\n");
                }
                self.text.push_str("</edges>\n</graph>\n</gexf>\n");
            }
        }
    }

    pub(super) fn element(&mut self, schema: &Schema, state: &State) {
        match self.format {
            Format::Csv => self.row(schema, state),
            Format::Parquet | Format::Arrow => {
                let written = self.table.as_mut().map(|table| table.row(schema, state));
                self.note(written);
            }
            Format::JsonLines => {
                let mut json = JsonWriter::default();
                output::state(&mut json, schema, state);
                let line = String::from_utf8(json.finish()).unwrap_or_default();
                self.text.push_str(&line);
                self.text.push('\n');
            }
            Format::GraphMl => self.graphml(schema, state),
            Format::Gexf => self.gexf(schema, state),
        }
    }

    fn header(&mut self) {
        let edges: &[&str] = match self.kinds {
            (_, true) => &EDGE_COLUMNS,
            _ => &[],
        };
        let fixed = COLUMNS.iter().chain(edges).map(|name| (*name).to_owned());
        let own = self.columns.iter().map(|column| column.name.clone());
        let names: Vec<String> = fixed.chain(own).collect();
        self.cells(names.iter().map(|name| (name.as_str(), true)));
    }

    fn row(&mut self, schema: &Schema, state: &State) {
        let bound = |instant: Instant| instant_text(instant).unwrap_or_default();
        let mut cells = vec![
            (element_ref(&state.element.id()), true),
            (output::label_name(schema, &state.element).to_owned(), true),
            (bound(state.period.from), false),
            (bound(state.period.to), false),
            (state.version.to_string(), false),
            (bound(state.version.instant()), false),
        ];
        if let Element::Edge(edge) = &state.element {
            let label = |id| (schema.vertex_label_name(id).to_owned(), true);
            cells.push((vertex_ref(&edge.id.source), true));
            cells.push(label(edge.source_label));
            cells.push((vertex_ref(&edge.id.target), true));
            cells.push(label(edge.target_label));
        }
        for column in &self.columns {
            cells.push(match state.element.properties().get(column.key) {
                None => (String::new(), false),
                Some(value) => (value_text(value), is_text(value)),
            });
        }
        let cells: Vec<(&str, bool)> = cells.iter().map(|(cell, text)| (&**cell, *text)).collect();
        self.cells(cells.into_iter());
    }

    /// Writes a row. A text that a spreadsheet would take for a formula gets an apostrophe, and one
    /// that looks as if it had got one gets another, so that `varve load` can take it back.
    fn cells<'a>(&mut self, cells: impl Iterator<Item = (&'a str, bool)>) {
        for (at, (cell, is_text)) in cells.enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            let plain = cell.trim_start_matches('\'');
            let is_formula = is_text && plain.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let quotes = is_formula || cell.contains(['"', ',', '\n', '\r']);
            if !quotes {
                self.text.push_str(cell);
                continue;
            }
            self.text.push('"');
            if is_formula {
                self.text.push('\'');
            }
            self.text.push_str(&cell.replace('"', "\"\""));
            self.text.push('"');
        }
        self.text.push_str("\r\n");
    }

    fn graphml_head(&mut self) {
        self.text.push_str(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n<desc>",
        );
        self.text.push_str(&xml(&self.times));
        self.text.push_str("</desc>\n");
        let fixed = ["label", "valid_from", "valid_to", "version", "recorded_at"];
        for name in fixed {
            let line = format!(
                "<key id=\"_{name}\" for=\"all\" attr.name=\"_{name}\" attr.type=\"string\"/>\n"
            );
            self.text.push_str(&line);
        }
        for column in &self.columns {
            let (id, name, (kind, _)) = (column.key.0, xml(&column.name), column.types);
            let line = format!(
                "<key id=\"p{id}\" for=\"all\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n"
            );
            self.text.push_str(&line);
        }
        self.text
            .push_str("<graph id=\"G\" edgedefault=\"directed\">\n");
    }

    fn graphml(&mut self, schema: &Schema, state: &State) {
        let closing = match &state.element {
            Element::Vertex(vertex) => {
                let id = xml(&vertex_ref(&vertex.id));
                self.text.push_str(&format!("<node id=\"{id}\">"));
                "</node>\n"
            }
            Element::Edge(edge) => {
                let (id, source, target) = edge_parts(edge);
                self.text.push_str(&format!(
                    "<edge id=\"{id}\" source=\"{source}\" target=\"{target}\">"
                ));
                "</edge>\n"
            }
        };
        let bound = |instant: Instant| instant_text(instant).unwrap_or_default();
        let label = output::label_name(schema, &state.element);
        for (name, value) in [
            ("_label", label.to_owned()),
            ("_valid_from", bound(state.period.from)),
            ("_valid_to", bound(state.period.to)),
            ("_version", state.version.to_string()),
            ("_recorded_at", bound(state.version.instant())),
        ] {
            self.datum(name, &value);
        }
        for (key, value) in state.element.properties().iter() {
            if self.columns.iter().any(|column| column.key == key) {
                self.datum(&format!("p{}", key.0), &value_text(value));
            }
        }
        self.text.push_str(closing);
    }

    fn datum(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            let value = xml(value);
            self.text
                .push_str(&format!("<data key=\"{key}\">{value}</data>"));
        }
    }

    fn gexf_head(&mut self) {
        self.text.push_str(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n<meta><description>",
        );
        self.text.push_str(&xml(&self.times));
        // Of the formats for dates, NetworkX knows this one alone; Gephi reads instants in it, too.
        self.text.push_str(
            "</description></meta>\n<graph mode=\"dynamic\" timeformat=\"date\" \
             defaultedgetype=\"directed\">\n",
        );
        for class in ["node", "edge"] {
            self.text
                .push_str(&format!("<attributes class=\"{class}\">\n"));
            self.text
                .push_str("<attribute id=\"_label\" title=\"_label\" type=\"string\"/>\n");
            for column in &self.columns {
                let (id, name, (_, kind)) = (column.key.0, xml(&column.name), column.types);
                self.text.push_str(&format!(
                    "<attribute id=\"p{id}\" title=\"{name}\" type=\"{kind}\"/>\n"
                ));
            }
            self.text.push_str("</attributes>\n");
        }
        self.text.push_str("<nodes>\n");
    }

    fn gexf(&mut self, schema: &Schema, state: &State) {
        let label = xml(output::label_name(schema, &state.element));
        let mut times = String::new();
        for (name, instant) in [("start", state.period.from), ("end", state.period.to)] {
            if let Some(instant) = instant_text(instant) {
                times.push_str(&format!(" {name}=\"{instant}\""));
            }
        }
        let closing = match &state.element {
            Element::Vertex(vertex) => {
                let id = xml(&vertex_ref(&vertex.id));
                self.text
                    .push_str(&format!("<node id=\"{id}\" label=\"{id}\"{times}>"));
                "</node>\n"
            }
            Element::Edge(edge) => {
                if !std::mem::replace(&mut self.in_edges, true) {
                    self.text.push_str("</nodes>\n<edges>\n");
                }
                let (id, source, target) = edge_parts(edge);
                self.text.push_str(&format!(
                    "<edge id=\"{id}\" source=\"{source}\" target=\"{target}\" \
                     label=\"{label}\"{times}>"
                ));
                "</edge>\n"
            }
        };
        self.text.push_str(&format!(
            "<attvalues><attvalue for=\"_label\" value=\"{label}\"/>"
        ));
        for (key, value) in state.element.properties().iter() {
            if self.columns.iter().any(|column| column.key == key) {
                let value = xml(&value_text(value));
                self.text
                    .push_str(&format!("<attvalue for=\"p{}\" value=\"{value}\"/>", key.0));
            }
        }
        self.text.push_str("</attvalues>");
        self.text.push_str(closing);
    }
}

/// The ids of an edge and its ends, for an attribute.
fn edge_parts(edge: &varve_model::Edge) -> (String, String, String) {
    (
        xml(&edge_ref(&edge.id)),
        xml(&vertex_ref(&edge.id.source)),
        xml(&vertex_ref(&edge.id.target)),
    )
}

const fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

/// A value as a text: as in JSON, without the quotes of a text.
pub(super) fn value_text(value: &Value) -> String {
    if let Value::Text(text) = value {
        return text.to_string();
    }
    let mut json = JsonWriter::default();
    plain::value(&mut json, value);
    let json = json.finish();
    match json.first() {
        Some(b'"') => serde_json::from_slice(&json).unwrap_or_default(),
        _ => String::from_utf8(json).unwrap_or_default(),
    }
}

/// Escapes a text for XML; characters that XML does not allow become U+FFFD.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for each in text.chars() {
        match each {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_has_no_markup_of_values() {
        assert_eq!(
            xml("<a b=\"&\">\u{1}\n"),
            "&lt;a b=&quot;&amp;&quot;&gt;\u{fffd}&#10;"
        );
    }
}
