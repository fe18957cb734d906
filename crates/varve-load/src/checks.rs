//! Checks a mapping against its files and the graph's schema before any row is sent.

use std::collections::{BTreeMap, BTreeSet};

use varve_files::{Fields, Format, Rows};

use crate::batches::BatchKind;
use crate::catalogue::{Catalogue, nearest};
use crate::exported;
use crate::mapping::{Source, When};
use crate::requests::changing;

/// Checks that the file has all columns that its mapping names; returns the file's columns.
///
/// # Errors
/// A message that names the column and the file.
pub fn columns(source: &Source, kind: BatchKind) -> Result<Vec<String>, String> {
    let file = source.file.display();
    let rows = source.rows()?;
    let (columns, place) = match rows.header() {
        Some(header) => (header.to_vec(), "in the header"),
        None => (keys(rows, source)?, "in any row"),
    };
    let known: BTreeSet<&String> = columns.iter().collect();
    // An empty JSON Lines file has no known columns.
    let says_nothing = columns.is_empty();
    if source.label.is_empty() {
        let is_flat = source.format() != Some(Format::Jsonl);
        if !is_flat && !says_nothing && !exported::may_begin(&columns) {
            return Err(format!(
                "{file}: say `label`, the label of its elements; it is no export, as its first \
                 row has no 'type'"
            ));
        }
        let expected = exported::columns(kind).iter();
        let mut expected = expected.filter(|_| is_flat && !says_nothing);
        return match expected.find(|name| !columns.iter().any(|known| known == **name)) {
            None => Ok(columns),
            Some(name) => Err(format!(
                "{file}: say `label`, the label of its elements; it is no export, as it has no \
                 column '{name}'"
            )),
        };
    }
    let missing = named(source).find(|name| !says_nothing && !known.contains(name));
    if let Some(name) = missing {
        let hint = nearest(name, columns.iter());
        return Err(format!("column '{name}' of {file}: not {place}{hint}"));
    }
    Ok(columns)
}

/// Checks that the schema has the label of `source` and a property for each of its columns.
///
/// # Errors
/// A message that names the missing label or property.
pub fn schema(
    source: &Source,
    columns: &[String],
    kind: BatchKind,
    catalogue: &Catalogue,
) -> Result<(), String> {
    if source.label.is_empty() {
        // Each row of an export names its label.
        return Ok(());
    }
    let file = source.file.display();
    let in_file = |error: String| format!("{file}: {error}");
    let properties = match kind {
        BatchKind::Vertices => {
            let label = catalogue.vertex_label(&source.label).map_err(in_file)?;
            &label.properties
        }
        BatchKind::Edges => {
            let label = catalogue.edge_label(&source.label).map_err(in_file)?;
            for end in [&label.source_label, &label.target_label] {
                catalogue.vertex_label(end).map_err(in_file)?;
            }
            &label.properties
        }
    };
    if source.update && changing(source, kind, catalogue).is_empty() {
        return Err(format!(
            "{file}: `update` changes properties, but label '{}' has none beside its keys",
            source.label
        ));
    }
    let mut columns_of = BTreeMap::new();
    for column in columns.iter().filter(|name| !source.ignore.contains(name)) {
        let name = source.rename.get(column).unwrap_or(column);
        if properties.contains(name)
            && let Some(other) = columns_of.insert(name, column)
        {
            return Err(format!(
                "columns '{other}' and '{column}' of {file} are both property '{name}'; name one \
                 of them in `ignore`"
            ));
        }
        if !properties.contains(name) && !source.is_structure(column) {
            return Err(format!(
                "column '{column}' of {file}: '{name}' is not a property of label '{}'{}; \
                 name it in `rename` or `ignore`",
                source.label,
                nearest(name, properties.iter())
            ));
        }
    }
    Ok(())
}

/// The columns that the mapping names.
fn named(source: &Source) -> impl Iterator<Item = &String> {
    let times = [&source.valid_from, &source.valid_to];
    let times = times.into_iter().flatten().filter_map(|when| match when {
        When::Column(name) => Some(name),
        When::Constant(_) => None,
    });
    let ends = source.source.names().iter().chain(source.target.names());
    let others = source.rename.keys().chain(&source.ignore);
    let others = others
        .chain(source.date_formats.keys())
        .chain(source.nulls.keys());
    source.id.iter().chain(ends).chain(times).chain(others)
}

/// The keys in a file of JSON objects. Reads rows until all columns that the mapping names were
/// seen.
fn keys(rows: Rows, source: &Source) -> Result<Vec<String>, String> {
    let mut keys = BTreeSet::new();
    for row in rows {
        let row = row.map_err(|error| format!("{}: {error}", source.file.display()))?;
        let fields = row.fields.iter().flat_map(Fields::iter);
        keys.extend(fields.map(|(name, _)| name.clone()));
        if !keys.is_empty() && named(source).all(|name| keys.contains(name)) {
            break;
        }
    }
    Ok(keys.into_iter().collect())
}
