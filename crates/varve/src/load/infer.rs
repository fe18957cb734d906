//! `varve load --infer`: drafts a mapping and a schema from the first rows of the files.
//!
//! A file with two columns that are named like the ends of an edge is a file of edges; any other is
//! a file of vertices. The id of a vertex file is a column without repeated values. It is a primary
//! key if another file may have the same ids, since ids of the writer's choice are unique in the
//! graph. Each end of an edge file has the label of the vertex file that shares most ids with the
//! end's column.

mod column;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use varve_files::{Options, likely_charset};

use self::column::{Column, ColumnKind};
use super::mapping::{Mapping, Source};

/// Rows that are read of each file.
const ROWS_MAX: usize = 10_000;
/// The name of the mapping file in the current folder.
const MAPPING: &str = "mapping.toml";
/// The name of the schema file in the current folder.
const SCHEMA: &str = "schema.json";
/// Texts that mean "no value" in many CSV files.
const NULLS: [&str; 4] = ["NULL", "null", "N/A", "\\N"];
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

/// A file and its inferred columns.
struct Table {
    file: PathBuf,
    label: String,
    rows: usize,
    /// Whether the file has more rows than were read.
    is_cut: bool,
    columns: Vec<(String, Column)>,
    /// The charset of a text that is not UTF-8, as its bytes suggest.
    charset: Option<&'static str>,
    /// The delimiter of a CSV file, if it is not the usual one.
    delimiter: Option<char>,
    /// Texts of the file that mean "no value".
    nulls: BTreeSet<&'static str>,
}

/// The columns of the source and of the target of an edge.
type Ends = (String, String);

impl Table {
    fn read(source: &Source) -> Result<Self, String> {
        let mut source = source.clone();
        let failed = |error: String| format!("{}: {error}", source.file.display());
        let charset = likely_charset(&source.file).map_err(failed)?;
        source.charset = charset.map(str::to_owned);
        let mut rows = source.rows()?;
        let of_csv = !rows.found().format.is_typed();
        let header = rows.header().map(<[String]>::to_vec);
        let failed = |error: String| format!("{}: {error}", source.file.display());
        if let Some(header) = header.as_ref().filter(|_| of_csv) {
            check_header(header).map_err(failed)?;
        }
        let usual = char::from(Options::usual_delimiter(&source.file));
        let mut table = Self {
            file: source.file.clone(),
            label: source.label.clone(),
            rows: 0,
            is_cut: false,
            columns: Vec::new(),
            charset,
            delimiter: rows.delimiter().filter(|delimiter| *delimiter != usual),
            nulls: BTreeSet::new(),
        };
        for name in header.iter().flatten() {
            table.columns.push((name.clone(), Column::default()));
        }
        for row in rows.by_ref().take(ROWS_MAX) {
            // A row that cannot be read is reported when it is loaded.
            let Ok(columns) = row.map_err(failed)?.columns else {
                continue;
            };
            table.rows += 1;
            for (name, value) in columns {
                table.add(&name, &value, of_csv);
            }
        }
        table.is_cut = rows.next().is_some();
        if let Some([only]) = header.as_deref() {
            check_single(only, &table).map_err(failed)?;
        }
        if table.columns.is_empty() {
            return Err(format!("{}: no rows", source.file.display()));
        }
        Ok(table)
    }

    fn add(&mut self, column: &str, value: &Json, of_csv: bool) {
        let mut nulls = NULLS.into_iter();
        match nulls.find(|null| of_csv && *value == **null) {
            Some(null) => _ = self.nulls.insert(null),
            None => self.column(column).add(value, of_csv),
        }
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

    /// The column that identifies the rows, and its values.
    fn ids(&self) -> Option<(&str, &Column)> {
        let id = self.id()?;
        Some((id, self.find(id)?))
    }

    /// Whether a vertex of another of these files may have the same id as one of this file.
    fn may_share_ids(&self, tables: &[&Self]) -> bool {
        let Some((_, own)) = self.ids() else {
            return false;
        };
        let mut others = tables.iter().filter(|other| other.label != self.label);
        others.any(|other| {
            other.ids().is_some_and(|(_, ids)| {
                let is_unknown = self.is_cut || other.is_cut;
                id_strategy(own.kind()) == id_strategy(ids.kind())
                    && (is_unknown || !own.values.is_disjoint(&ids.values))
            })
        })
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

/// Refuses a header that is a row of values.
fn check_header(header: &[String]) -> Result<(), String> {
    let is_value = |name: &&String| !matches!(ColumnKind::of_text(name, true), ColumnKind::Text);
    match header.iter().find(is_value) {
        None => Ok(()),
        Some(value) => Err(format!(
            "its first row should name the columns, but has the value '{value}'; add a row of \
             names, or write a mapping with `header`"
        )),
    }
}

/// Refuses a file with one column if all its rows can be split in the same way: then the delimiter
/// is not one that is recognized.
fn check_single(name: &str, table: &Table) -> Result<(), String> {
    let values = table.columns.iter().flat_map(|(_, column)| &column.values);
    let values: Vec<&String> = values.collect();
    let count = |text: &str, mark: char| text.matches(mark).count();
    let mut marks = name
        .chars()
        .filter(|it| !it.is_alphanumeric() && !matches!(it, '_' | '-'));
    let splits = |mark: &char| {
        let all = count(name, *mark);
        !values.is_empty() && values.iter().all(|value| count(value, *mark) == all)
    };
    match marks.find(splits) {
        None => Ok(()),
        Some(mark) => Err(format!(
            "it has one column, '{name}', unless {mark:?} separates the columns; then write a \
             mapping with `delimiter = {mark:?}`"
        )),
    }
}

/// The strategy of a label whose ids are values of this kind.
fn id_strategy(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Int | ColumnKind::Long => "CUSTOMIZE_NUMBER",
        _ => "CUSTOMIZE_STRING",
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
        vertex_labels.push(vertex_label(&mut mapping, table, &vertices, &mut keys));
    }
    for table in tables {
        let Some((from, to)) = table.ends() else {
            continue;
        };
        source(&mut mapping, "edge", table);
        setting(&mut mapping, "source", &from);
        setting(&mut mapping, "target", &to);
        for column in [&from, &to] {
            warn_of_ends(&mut mapping, &vertices, table, column);
        }
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

/// Adds a file of vertices to the mapping; returns its label for the schema.
fn vertex_label(
    mapping: &mut String,
    table: &Table,
    vertices: &[&Table],
    keys: &mut BTreeMap<String, (ColumnKind, bool)>,
) -> Json {
    source(mapping, "vertex", table);
    let id = table.id();
    if let (Some(id), true) = (id, table.may_share_ids(vertices)) {
        let properties = properties(mapping, table, &[], keys);
        let nullable: Vec<&String> = properties.iter().filter(|name| *name != id).collect();
        return json!({
            "name": table.label, "id_strategy": "PRIMARY_KEY", "primary_keys": [id],
            "properties": properties, "nullable_keys": nullable,
        });
    }
    id.iter().for_each(|id| setting(mapping, "id", id));
    let properties = properties(mapping, table, id.as_slice(), keys);
    let strategy = match table.ids() {
        None => "AUTOMATIC",
        Some((_, ids)) => id_strategy(ids.kind()),
    };
    json!({
        "name": table.label, "id_strategy": strategy, "properties": properties, "nullable_keys": properties,
    })
}

fn source(mapping: &mut String, kind: &str, table: &Table) {
    let _ = write!(mapping, "\n[[{kind}]]\n");
    setting(mapping, "file", &table.file.to_string_lossy());
    setting(mapping, "label", &table.label);
    if let Some(charset) = table.charset {
        mapping.push_str("# guessed from bytes that are not UTF-8: look at the names\n");
        setting(mapping, "charset", charset);
    }
    if let Some(delimiter) = table.delimiter {
        setting(mapping, "delimiter", &delimiter.to_string());
    }
    if !table.nulls.is_empty() {
        let nulls: Vec<&str> = [""]
            .into_iter()
            .chain(table.nulls.iter().copied())
            .collect();
        let _ = writeln!(mapping, "null = {}", toml::Value::from(nulls));
    }
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

/// The number of values that this column of an edge file shares with the ids of a vertex file.
fn shared(vertices: &Table, edges: &Table, column: &str) -> usize {
    let ends = edges.find(column).map(|column| &column.values);
    let (Some((_, ids)), Some(ends)) = (vertices.ids(), ends) else {
        return 0;
    };
    ends.intersection(&ids.values).count()
}

/// The label of the vertex file that shares most ids with this column of an edge file.
fn owner<'a>(vertices: &[&'a Table], edges: &Table, column: &str) -> Result<&'a str, String> {
    // `max_by_key` returns the last maximum. So the files are reversed, and the first one wins a
    // tie.
    let found = vertices
        .iter()
        .rev()
        .max_by_key(|table| shared(table, edges, column));
    found.map(|table| table.label.as_str()).ok_or_else(|| {
        format!(
            "{}: a file of edges; name the files of their vertices, too",
            edges.file.display()
        )
    })
}

/// Notes in the mapping that an end of an edge may have the label of several files.
fn warn_of_ends(mapping: &mut String, vertices: &[&Table], edges: &Table, column: &str) {
    let counts = vertices.iter().map(|table| shared(table, edges, column));
    let most = counts.max().unwrap_or_default();
    let equal = vertices
        .iter()
        .filter(|table| shared(table, edges, column) == most);
    let labels: Vec<&str> = equal.map(|table| table.label.as_str()).collect();
    if labels.len() > 1 {
        let _ = writeln!(
            mapping,
            "# column '{column}' may have ids of any of {labels:?}: correct the label in {SCHEMA}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guessed schema and the mapping of these files.
    fn guessed(files: &[(&str, &str)]) -> Result<(Json, String), String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut tables = Vec::new();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            tables.push(Table::read(&source_of(&path)?)?);
        }
        let (mapping, schema) = guess(&tables)?;
        Ok((serde_json::from_str(&schema).expect("JSON"), mapping))
    }

    fn strategies(files: &[(&str, &str)]) -> Vec<String> {
        let (schema, _) = guessed(files).expect("guessed");
        let labels = schema["vertexlabels"].as_array().expect("labels");
        let strategy = |label: &Json| label["id_strategy"].as_str().unwrap_or_default().to_owned();
        labels.iter().map(strategy).collect()
    }

    #[test]
    fn labels_whose_ids_meet_have_primary_keys() {
        let a = ("a.csv", "id,x\n1,p\n2,r\n");
        let meeting = strategies(&[a, ("b.csv", "id,y\n1,q\n"), ("c.csv", "id,z\n7,q\n")]);
        assert_eq!(meeting, ["PRIMARY_KEY", "PRIMARY_KEY", "CUSTOMIZE_NUMBER"]);
        let apart = strategies(&[a, ("b.csv", "code,y\nk1,q\n")]);
        assert_eq!(apart, ["CUSTOMIZE_NUMBER", "CUSTOMIZE_STRING"]);
        // The rows that are not read may have the same ids.
        let many: String = (10..20_000).map(|id| format!("{id},q\n")).collect();
        let unknown = strategies(&[a, ("b.csv", &format!("id,y\n{many}"))]);
        assert_eq!(unknown, ["PRIMARY_KEY", "PRIMARY_KEY"]);
        let (schema, mapping) = guessed(&[a, ("b.csv", "id,y\n1,q\n")]).unwrap();
        let label = &schema["vertexlabels"][0];
        assert_eq!(label["primary_keys"], json!(["id"]));
        assert_eq!(label["properties"], json!(["id", "x"]));
        assert_eq!(label["nullable_keys"], json!(["x"]));
        assert!(!mapping.contains("\nid ="), "{mapping}");
    }

    #[test]
    fn a_delimiter_is_recognized_or_refused() {
        let (_, mapping) = guessed(&[("a.csv", "id;x\n1;p,q\n2;r\n")]).unwrap();
        assert!(mapping.contains("delimiter = \";\""), "{mapping}");
        for text in ["id^x\n1^p\n2^q\n", "id x\n1 p\n", "a:b:c\n1:2:3\n"] {
            let refused = guessed(&[("a.csv", text)]).unwrap_err();
            assert!(refused.contains("separates the columns"), "{refused}");
        }
        assert!(guessed(&[("a.csv", "first name\nann\n")]).is_ok());
    }

    #[test]
    fn a_charset_is_guessed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a.csv");
        std::fs::write(&path, b"id,n\nx,M\xfcller\ny,Zo\xeb\n").expect("written");
        let table = Table::read(&source_of(&path).expect("a source")).expect("read");
        assert!(table.columns[1].1.values.contains("Müller"));
        let (mapping, _) = guess(&[table]).expect("guessed");
        assert!(mapping.contains("charset = \"windows-1252\""), "{mapping}");
    }

    #[test]
    fn a_row_of_values_is_no_header() {
        for text in ["1,Ann\n2,Bob\n", "Ann,1970-01-02\nBob,1970-01-03\n"] {
            let refused = guessed(&[("a.csv", text)]).unwrap_err();
            assert!(refused.contains("should name the columns"), "{refused}");
        }
    }

    #[test]
    fn texts_for_no_value_are_proposed() {
        let (schema, mapping) = guessed(&[("a.csv", "id,age\nx,NULL\ny,5\n")]).unwrap();
        assert!(mapping.contains("null = [\"\", \"NULL\"]"), "{mapping}");
        assert_eq!(schema["propertykeys"][0]["data_type"], "INT");
    }
}
