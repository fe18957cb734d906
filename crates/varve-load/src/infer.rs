//! Drafts a mapping from the first rows of files.
//!
//! Ids are matched between files by their values and their names. A file whose rows name two
//! vertices is a file of edges; any other is one of vertices, and its references to other files
//! are edges, too. A file of a label that the graph has is mapped as that label is. The draft says
//! in comments what is uncertain, and why a column became a text.

mod column;
mod dates;
mod draft;
mod known;
mod names;
mod order;
mod periods;
mod relate;
mod table;
mod unknown;
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use self::table::Table;
use crate::catalogue::Catalogue;
use crate::mapping::{Mapping, Source};

/// A drafted mapping.
#[derive(Debug, Serialize)]
pub struct Inferred {
    /// The mapping, with comments and the schema.
    pub mapping: String,
    /// The schema that the mapping has.
    pub schema: Json,
    /// The files.
    pub files: Vec<Preview>,
    /// What is uncertain.
    pub unsure: Vec<Note>,
}

/// Something uncertain.
#[derive(Debug, Clone, Serialize)]
pub struct Note {
    /// The file.
    pub file: String,
    /// The column, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What it is.
    pub text: String,
}

/// What was read of a file.
#[derive(Debug, Serialize)]
pub struct Preview {
    /// The file.
    pub file: String,
    /// Format, packing, charset and separator.
    pub found: Vec<String>,
    /// The number of rows that were read.
    pub rows_read: usize,
    /// Whether the file has more rows.
    pub has_more: bool,
    /// The number of rows that cannot be read, and the first of them.
    pub rows_refused: usize,
    /// The first rows that cannot be read.
    pub refused: Vec<RefusedRow>,
    /// The columns.
    pub columns: Vec<ColumnPreview>,
    /// The first rows.
    pub rows: Vec<RowPreview>,
}

/// A row as it was read.
#[derive(Debug, Serialize)]
pub struct RowPreview {
    /// Its line.
    pub line: u64,
    /// Its cells as texts; null without a value.
    pub cells: Vec<Option<String>>,
}

/// A row that cannot be read.
#[derive(Debug, Serialize)]
pub struct RefusedRow {
    /// Its line.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// A column.
#[derive(Debug, Serialize)]
pub struct ColumnPreview {
    /// Its name.
    pub name: String,
    /// The data type of its values.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The formats of its dates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub date_formats: Vec<&'static str>,
    /// The number of rows without a value.
    pub empty: usize,
    /// The texts that mean "no value", with the number of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nulls: BTreeMap<String, u64>,
    /// Why it is a text, if most of its values are something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_text: Option<String>,
}

impl Note {
    fn of(table: &Table, column: usize, text: String) -> Self {
        Self {
            column: Some(table.names[column].clone()),
            ..Self::of_table(table, text)
        }
    }

    fn of_table(table: &Table, text: String) -> Self {
        Self {
            file: table.file(),
            column: None,
            text,
        }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.column {
            Some(column) => write!(formatter, "column '{column}': {}", self.text),
            None => formatter.write_str(&self.text),
        }
    }
}

/// Says whether a draft goes on, or why not.
type GoesOn<'a> = &'a dyn Fn() -> Result<(), String>;

/// The most columns of all files.
const COLUMNS_OF_ALL_MAX: usize = 20_000;

/// Drafts a mapping for these files, each with options of its own, as long as `goes_on`.
/// `catalogue` has the labels of the graph.
///
/// # Errors
/// A message that begins with the path of the file that cannot be read, or the reason to stop.
pub fn infer(
    sources: &[Source],
    catalogue: &Catalogue,
    goes_on: &dyn Fn() -> Result<(), String>,
) -> Result<Inferred, String> {
    let mut tables = Vec::new();
    let mut columns = 0;
    for source in sources {
        let table = Table::read(source, sources.len(), goes_on)?;
        columns += table.names.len();
        if columns > COLUMNS_OF_ALL_MAX {
            return Err(format!(
                "the files have more than {COLUMNS_OF_ALL_MAX} columns together: draft a mapping \
                 for some of them at a time"
            ));
        }
        tables.push(table);
    }
    let (mut notes, mut of_relations) = (Vec::new(), Vec::new());
    order::decide(&mut tables, &mut notes);
    let known = known::labels(&mut tables, catalogue, &mut notes);
    let mut related = relate::relate(&tables, &mut of_relations, goes_on)?;
    known::set_times(&known, &mut related);
    for (table, related) in tables.iter().zip(&related) {
        note_columns(table, related.times.1, &mut notes);
    }
    let is_known = |note: &Note| {
        let mut all = tables.iter().zip(&known);
        all.any(|(table, known)| known.is_some() && table.file() == note.file)
    };
    notes.extend(of_relations.into_iter().filter(|note| !is_known(note)));
    known::check_references(&tables, &known, &mut related, &mut notes);
    let of = (&*tables, &*related, &*known);
    let (mapping, schema) = draft::draft(of, catalogue, &mut notes, goes_on)?;
    Ok(Inferred {
        mapping,
        schema,
        files: tables.iter().map(preview).collect(),
        unsure: notes,
    })
}

/// The source that a minimal mapping has for this file, with the label from the file's name.
///
/// # Errors
/// When the name gives no label, or no format.
pub fn source_of(file: &Path) -> Result<Source, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with('.') {
        return Err(format!("{}: its name gives no label", file.display()));
    }
    Mapping::of_file(file, &names::label_of(&name))
}

/// Adds what is uncertain about the columns of a table, of which one may have the ends of rows.
fn note_columns(table: &Table, end: Option<usize>, notes: &mut Vec<Note>) {
    for at in 0..table.names.len() {
        let column = table.column(at);
        if let Some(why) = table.why_text(at) {
            notes.push(Note::of(table, at, why));
        }
        if column.kind() == column::ColumnKind::Nested {
            let text = "ignored: its values are of a type that no property has";
            notes.push(Note::of(table, at, text.to_owned()));
        }
        for (null, count) in &column.nulls {
            notes.push(Note::of(
                table,
                at,
                format!("'{null}' ({count} times) is no value, in all columns of the file"),
            ));
        }
        if !column.none.is_empty() {
            let words = column.none.iter();
            let words: Vec<String> = words
                .map(|(word, rows)| format!("'{word}' ({rows} rows)"))
                .collect();
            let words = words.join(", ");
            let of = match table.kind(at) {
                column::ColumnKind::Date => "dates",
                column::ColumnKind::Boolean => "true or false",
                _ => "numbers",
            };
            let what = match end == Some(at) {
                true => "no end",
                false => "no value",
            };
            let text = format!("{words}: taken for {what}, since the others are {of}. Check this");
            notes.push(Note::of(table, at, text));
        }
        if let Some((count, first)) = column.no_dates() {
            let text = format!(
                "line {} has '{}', which is no date: {count} rows with such values will be refused",
                first.line, first.value
            );
            notes.push(Note::of(table, at, text));
        }
        if column.has_decimal_comma() && table.kind(at) == column::ColumnKind::Double {
            let text = "its numbers have a decimal comma";
            notes.push(Note::of(table, at, text.to_owned()));
        }
    }
    if table.is_odd() {
        let text = "it does not look like a table: leave it out, if it is none";
        notes.push(Note::of_table(table, text.to_owned()));
    }
    if table.faulty > 0 {
        let (line, reason) = table.faults.first().cloned().unwrap_or_default();
        let text = format!(
            "{} rows cannot be read; line {line}: {reason}",
            table.faulty
        );
        notes.push(Note::of_table(table, text));
    }
}

fn preview(table: &Table) -> Preview {
    let column = |at: usize| {
        let column = table.column(at);
        ColumnPreview {
            name: table.names[at].clone(),
            kind: table.kind(at).name(),
            date_formats: column.formats().map_or(Vec::new(), |chosen| chosen.formats),
            empty: table.empty(at),
            nulls: column.all_nulls(),
            why_text: table.why_text(at),
        }
    };
    let rows = table.preview.iter().map(|(line, cells)| {
        let (line, mut cells) = (*line, cells.clone());
        cells.resize(table.names.len(), None);
        RowPreview { line, cells }
    });
    let refused = table.faults.iter().cloned();
    Preview {
        file: table.file(),
        found: table.found.clone(),
        rows_read: table.rows,
        has_more: table.is_cut,
        rows_refused: table.faulty,
        refused: refused
            .map(|(line, reason)| RefusedRow { line, reason })
            .collect(),
        columns: (0..table.names.len()).map(column).collect(),
        rows: rows.collect(),
    }
}
