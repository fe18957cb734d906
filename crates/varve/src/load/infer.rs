//! `varve load --infer`: drafts a mapping and a schema from the first rows of the files.
//!
//! A file with two columns that are named like the ends of an edge is a file of edges; any other is
//! a file of vertices. The id of a vertex file is a column without repeated values. Each end of an
//! edge file has the label of the vertex file that shares most ids with the end's column.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use varve_server::parse_instant;

use super::mapping::{Mapping, Source};
use super::rows::Rows;

/// Rows that are read of each file.
const ROWS_MAX: usize = 10_000;
/// The name of the mapping file in the current folder.
const MAPPING: &str = "mapping.toml";
/// The name of the schema file in the current folder.
const SCHEMA: &str = "schema.json";
/// Names of the columns for the ends of an edge, in lower case, without `_`, `-`, `:` and a final
/// `id`.
const ENDS: [(&str, &str); 6] = [
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("start", "end"),
    ("outv", "inv"),
    ("a", "b"),
];
/// Names of the columns for the start and the end of the valid time.
const TIMES: [(&str, &str); 2] = [("valid_from", "valid_to"), ("since", "until")];

/// The type of a column's values, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnKind {
    Boolean,
    Date,
    Int,
    Long,
    Double,
    Text,
    /// A JSON object, which no property can hold.
    Nested,
}

impl ColumnKind {
    /// The kind of a text. A number or a truth value is recognized only if `numbers` is set, as for
    /// CSV.
    fn of_text(text: &str, numbers: bool) -> Self {
        if numbers
            && let Ok(number) = text.parse::<i64>()
            && number.to_string() == text
        {
            return Self::of_integer(number);
        }
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        if numbers && is_number && text.contains('.') {
            return Self::Double;
        }
        match text {
            "true" | "false" if numbers => Self::Boolean,
            _ if text.contains('-') && parse_instant(text).is_some() => Self::Date,
            _ => Self::Text,
        }
    }

    fn of_integer(number: i64) -> Self {
        match i32::try_from(number) {
            Ok(_) => Self::Int,
            Err(_) => Self::Long,
        }
    }

    /// The narrowest kind that can hold the values of both.
    fn with(self, other: Self) -> Self {
        let is_number = |kind| matches!(kind, Self::Int | Self::Long | Self::Double);
        match self == other || (is_number(self) && is_number(other)) {
            true => self.max(other),
            false => self.max(other).max(Self::Text),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Date => "DATE",
            Self::Int => "INT",
            Self::Long => "LONG",
            Self::Double => "DOUBLE",
            Self::Text | Self::Nested => "TEXT",
        }
    }
}

/// The values and the type of a column in the rows read so far.
#[derive(Debug, Default)]
struct Column {
    kind: Option<ColumnKind>,
    is_list: bool,
    values: HashSet<String>,
    count: usize,
}

impl Column {
    fn add(&mut self, value: &Json, of_csv: bool) {
        let kind = match value {
            Json::Null => return,
            Json::Array(members) => {
                self.is_list = true;
                members.iter().for_each(|member| self.add(member, of_csv));
                return;
            }
            Json::Object(_) => ColumnKind::Nested,
            Json::Bool(_) => ColumnKind::Boolean,
            Json::Number(number) => number
                .as_i64()
                .map_or(ColumnKind::Double, ColumnKind::of_integer),
            Json::String(text) => ColumnKind::of_text(text, of_csv),
        };
        self.kind = Some(self.kind.map_or(kind, |known| known.with(kind)));
        self.count += 1;
        self.values.insert(text_of(value));
    }

    fn kind(&self) -> ColumnKind {
        self.kind.unwrap_or(ColumnKind::Text)
    }
}

fn text_of(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A file and its inferred columns.
struct Table {
    file: PathBuf,
    label: String,
    rows: usize,
    columns: Vec<(String, Column)>,
}

/// The columns of the source and of the target of an edge.
type Ends = (String, String);

impl Table {
    fn read(source: &Source) -> Result<Self, String> {
        let rows = Rows::open(source)?;
        let header = rows.header().map(<[String]>::to_vec);
        let mut table = Self {
            file: source.file.clone(),
            label: source.label.clone(),
            rows: 0,
            columns: Vec::new(),
        };
        for name in header.iter().flatten() {
            table.columns.push((name.clone(), Column::default()));
        }
        for row in rows.take(ROWS_MAX) {
            let row = row.map_err(|error| format!("{}: {error}", source.file.display()))?;
            // A row that cannot be read is reported when it is loaded.
            let Ok(columns) = row.columns else { continue };
            table.rows += 1;
            for (name, value) in columns {
                table.column(&name).add(&value, header.is_some());
            }
        }
        if table.columns.is_empty() {
            return Err(format!("{}: no rows", source.file.display()));
        }
        Ok(table)
    }

    fn column(&mut self, name: &str) -> &mut Column {
        let known = self.columns.iter().position(|(known, _)| known == name);
        let place = known.unwrap_or(self.columns.len());
        if known.is_none() {
            self.columns.push((name.to_owned(), Column::default()));
        }
        &mut self.columns[place].1
    }

    fn find(&self, name: &str) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns
            .find(|(known, _)| known == name)
            .map(|(_, column)| column)
    }

    /// The columns that are named like the ends of an edge.
    fn ends(&self) -> Option<Ends> {
        let plain = |name: &str| {
            let name = name.to_lowercase().replace(['_', '-', ':'], "");
            name.strip_suffix("id").map_or(name.clone(), str::to_owned)
        };
        let called = |wanted: &str| {
            let mut names = self.columns.iter().map(|(name, _)| name);
            names.find(|name| plain(name) == wanted).cloned()
        };
        ENDS.iter()
            .find_map(|(source, target)| Some((called(source)?, called(target)?)))
    }

    /// The column that identifies the rows. It has a different whole number or text in every row.
    /// Of several such columns, it is the first that is named like an id, else the first of all.
    fn id(&self) -> Option<&str> {
        let label = self.label.to_lowercase();
        let is_called_so = |name: &str| {
            let name = name.to_lowercase();
            ["id", "code", "key", "uuid"].contains(&&*name)
                || name == format!("{label}_id")
                || name == format!("{label}id")
        };
        let usable = |column: &Column| {
            column.count == self.rows
                && column.values.len() == self.rows
                && !column.is_list
                && matches!(
                    column.kind(),
                    ColumnKind::Int | ColumnKind::Long | ColumnKind::Text
                )
        };
        let distinct = self.columns.iter().filter(|(_, column)| usable(column));
        let names: Vec<&str> = distinct.map(|(name, _)| name.as_str()).collect();
        let called = names.iter().find(|name| is_called_so(name));
        called.or(names.first()).copied()
    }

    /// The columns of the valid time.
    fn times(&self) -> (Option<&str>, Option<&str>) {
        let is_time = |name: &str| {
            self.find(name)
                .is_some_and(|column| column.kind() == ColumnKind::Date)
        };
        let found = TIMES.iter().map(|(from, to)| {
            (
                Some(*from).filter(|it| is_time(it)),
                Some(*to).filter(|it| is_time(it)),
            )
        });
        found
            .into_iter()
            .find(|(from, to)| from.is_some() || to.is_some())
            .unwrap_or_default()
    }
}

/// Writes a mapping and a schema for these files into the current folder.
///
/// # Errors
/// When an input cannot be read, or one of the two files exists.
pub(super) fn run(files: &[PathBuf]) -> Result<(), String> {
    let tables: Result<Vec<Table>, String> = files
        .iter()
        .map(|file| Table::read(&source_of(file)?))
        .collect();
    let (mapping, schema) = guess(&tables?)?;
    // Write both files or none.
    for name in [MAPPING, SCHEMA] {
        if Path::new(name).exists() {
            return Err(format!(
                "{name}: it exists; remove or rename it, then start again"
            ));
        }
    }
    write_new(MAPPING, &mapping)?;
    write_new(SCHEMA, &schema)?;
    println!("wrote {MAPPING} and {SCHEMA}: check them, then run");
    println!("  varve load {MAPPING} --schema {SCHEMA} --dry-run");
    Ok(())
}

/// The source that a minimal mapping has for this file, with the label from the file's name.
fn source_of(file: &Path) -> Result<Source, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let label = name.split('.').next().unwrap_or_default();
    if label.is_empty() {
        return Err(format!("{}: its name gives no label", file.display()));
    }
    Mapping::of_file(file, label)
}

fn write_new(name: &str, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).open(name);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| format!("{name}: {error}"))
}

/// The mapping and the schema.
fn guess(tables: &[Table]) -> Result<(String, String), String> {
    let mut mapping = String::from(
        "# Guessed by `varve load --infer`: look at labels, ids, ends and times, and at the types in schema.json.\n",
    );
    let vertices: Vec<&Table> = tables.iter().filter(|it| it.ends().is_none()).collect();
    let mut keys: BTreeMap<String, (ColumnKind, bool)> = BTreeMap::new();
    let (mut vertex_labels, mut edge_labels) = (Vec::new(), Vec::new());
    for table in &vertices {
        let id = table.id();
        source(&mut mapping, "vertex", table);
        id.iter().for_each(|id| setting(&mut mapping, "id", id));
        let properties = properties(&mut mapping, table, id.as_slice(), &mut keys);
        let strategy = match id.and_then(|id| table.find(id)).map(Column::kind) {
            None => "AUTOMATIC",
            Some(ColumnKind::Int | ColumnKind::Long) => "CUSTOMIZE_NUMBER",
            Some(_) => "CUSTOMIZE_STRING",
        };
        vertex_labels.push(json!({
            "name": table.label, "id_strategy": strategy, "properties": properties, "nullable_keys": properties,
        }));
    }
    for table in tables {
        let Some((from, to)) = table.ends() else {
            continue;
        };
        source(&mut mapping, "edge", table);
        setting(&mut mapping, "source", &from);
        setting(&mut mapping, "target", &to);
        let properties = properties(&mut mapping, table, &[&from, &to], &mut keys);
        edge_labels.push(json!({
            "name": table.label, "source_label": owner(&vertices, table, &from)?,
            "target_label": owner(&vertices, table, &to)?, "properties": properties, "nullable_keys": properties,
        }));
    }
    let keys: Vec<Json> = keys
        .iter()
        .map(|(name, (kind, is_list))| {
            let cardinality = if *is_list { "LIST" } else { "SINGLE" };
            json!({ "name": name, "data_type": kind.name(), "cardinality": cardinality })
        })
        .collect();
    let schema =
        json!({ "propertykeys": keys, "vertexlabels": vertex_labels, "edgelabels": edge_labels });
    let schema = serde_json::to_string_pretty(&schema).map_err(|error| error.to_string())?;
    Ok((mapping, schema + "\n"))
}

fn source(mapping: &mut String, kind: &str, table: &Table) {
    let _ = write!(mapping, "\n[[{kind}]]\n");
    setting(mapping, "file", &table.file.to_string_lossy());
    setting(mapping, "label", &table.label);
}

fn setting(mapping: &mut String, name: &str, value: &str) {
    let _ = writeln!(mapping, "{name} = {}", toml::Value::from(value));
}

/// Adds the columns of the valid time and the ignored columns to the mapping. Adds the columns of
/// properties to `keys`, and returns their names. The columns in `structure`, an id or ends, are
/// none of these.
fn properties(
    mapping: &mut String,
    table: &Table,
    structure: &[&str],
    keys: &mut BTreeMap<String, (ColumnKind, bool)>,
) -> Vec<String> {
    let (from, to) = table.times();
    for (name, column) in [("valid_from", from), ("valid_to", to)] {
        column
            .iter()
            .for_each(|column| setting(mapping, name, column));
    }
    let (mut names, mut ignored) = (Vec::new(), Vec::new());
    for (name, column) in &table.columns {
        let name_text = Some(name.as_str());
        if structure.contains(&name.as_str()) || from == name_text || to == name_text {
            continue;
        }
        if column.kind() == ColumnKind::Nested || name.is_empty() {
            ignored.push(name.as_str());
            continue;
        }
        let here = (column.kind(), column.is_list);
        keys.entry(name.clone())
            .and_modify(|(kind, is_list)| {
                *kind = kind.with(here.0);
                *is_list |= here.1;
            })
            .or_insert(here);
        names.push(name.clone());
    }
    if !ignored.is_empty() {
        let _ = writeln!(mapping, "ignore = {}", toml::Value::from(ignored));
    }
    names
}

/// The label of the vertex file that shares most ids with this column of an edge file.
fn owner<'a>(vertices: &[&'a Table], edges: &Table, column: &str) -> Result<&'a str, String> {
    let ends = edges.find(column).map(|column| &column.values);
    let shared = |table: &Table| {
        let ids = table.id().and_then(|id| table.find(id));
        let (Some(ids), Some(ends)) = (ids, ends) else {
            return 0;
        };
        ends.intersection(&ids.values).count()
    };
    // `max_by_key` returns the last maximum. So the files are reversed, and the first one wins a
    // tie.
    let found = vertices.iter().rev().max_by_key(|table| shared(table));
    found.map(|table| table.label.as_str()).ok_or_else(|| {
        format!(
            "{}: a file of edges; name the files of their vertices, too",
            edges.file.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_guessed_from_texts() {
        for (text, kind) in [
            ("5", ColumnKind::Int),
            ("-5", ColumnKind::Int),
            ("5000000000", ColumnKind::Long),
            ("007", ColumnKind::Text),
            ("1.5", ColumnKind::Double),
            ("1e5", ColumnKind::Text),
            ("inf", ColumnKind::Text),
            ("true", ColumnKind::Boolean),
            ("2020-05-01", ColumnKind::Date),
            ("20200501", ColumnKind::Int),
            ("a-b", ColumnKind::Text),
        ] {
            assert_eq!(ColumnKind::of_text(text, true), kind, "{text}");
        }
        assert_eq!(
            ColumnKind::of_text("5", false),
            ColumnKind::Text,
            "a text of JSON is one"
        );
    }

    #[test]
    fn a_column_is_as_wide_as_its_values() {
        assert_eq!(ColumnKind::Int.with(ColumnKind::Double), ColumnKind::Double);
        assert_eq!(ColumnKind::Int.with(ColumnKind::Boolean), ColumnKind::Text);
        assert_eq!(ColumnKind::Date.with(ColumnKind::Date), ColumnKind::Date);
        assert_eq!(
            ColumnKind::Date.with(ColumnKind::Nested),
            ColumnKind::Nested
        );
    }
}
