//! Reads back what the server exports (`…/explore/export`): CSV, Parquet and Arrow with rows of
//! vertices or of edges, and JSON Lines with both. The columns name the label, the id, the ends and
//! the valid time.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};
use varve_files::Format;

use crate::batches::BatchKind;
use crate::catalogue::{Catalogue, VertexLabel};
use crate::element::{Action, Element, Period, identity};
use crate::mapping::Source;
use crate::values::property;

/// The columns that an export has.
pub(crate) fn columns(kind: BatchKind) -> &'static [&'static str] {
    match kind {
        BatchKind::Vertices => &["~id", "~label"],
        BatchKind::Edges => &["~id", "~label", "~from", "~from_label", "~to", "~to_label"],
    }
}

/// Whether a file of JSON Lines with these columns in its first row may be an export.
pub(crate) fn may_begin(columns: &[String]) -> bool {
    let has = |name: &str| columns.iter().any(|column| column == name);
    has("times") || has("type")
}

/// Whether a row of JSON Lines is of this kind; an export has its times in the first row.
///
/// # Errors
/// When it is no row of an export.
fn is_of(row: &Map<String, Json>, kind: BatchKind) -> Result<bool, String> {
    match row.get("type").map(Json::as_str) {
        Some(Some("vertex")) => Ok(kind == BatchKind::Vertices),
        Some(Some("edge")) => Ok(kind == BatchKind::Edges),
        None if row.len() == 1 && row.contains_key("times") => Ok(false),
        _ => Err(
            "neither a vertex nor an edge of an export (`type`): say `label`, the label of the \
             file's elements"
                .to_owned(),
        ),
    }
}

/// A row of JSON Lines with the columns of the tables.
fn flat(row: &Map<String, Json>) -> Map<String, Json> {
    let named = [
        ("ref", "~id"),
        ("label", "~label"),
        ("valid_from", "~valid_from"),
        ("valid_to", "~valid_to"),
        ("source", "~from"),
        ("source_label", "~from_label"),
        ("target", "~to"),
        ("target_label", "~to_label"),
    ];
    let fixed = named.iter().filter_map(|(name, column)| {
        let value = row.get(*name)?.clone();
        Some(((*column).to_owned(), value))
    });
    let properties = row.get("properties").and_then(Json::as_object);
    let properties = properties.into_iter().flatten();
    let properties = properties.map(|(name, value)| (name.clone(), value.clone()));
    fixed.chain(properties).collect()
}

/// The element of a row; `None` if the row has none of this kind.
///
/// # Errors
/// A message that names the wrong column and the reason.
pub(crate) fn element(
    columns: &Map<String, Json>,
    kind: BatchKind,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Option<Element>, String> {
    let columns = match source.format() {
        Some(Format::Jsonl) if is_of(columns, kind)? => Cow::Owned(flat(columns)),
        Some(Format::Jsonl) => return Ok(None),
        _ => Cow::Borrowed(columns),
    };
    of_table(&columns, kind, source, catalogue).map(Some)
}

fn of_table(
    columns: &Map<String, Json>,
    kind: BatchKind,
    source: &Source,
    catalogue: &Catalogue,
) -> Result<Element, String> {
    let of_csv = source.format() == Some(Format::Csv);
    let cell = |name: &str| {
        let cell = columns.get(name).and_then(Json::as_str);
        let cell = cell.map(|cell| if of_csv { plain(cell) } else { cell });
        cell.ok_or_else(|| format!("column '{name}' is empty or missing"))
    };
    let label = cell("~label")?;
    let mut element = Map::new();
    element.insert("label".to_owned(), Json::from(label));
    let of_label = match kind {
        BatchKind::Vertices => {
            let label = catalogue.vertex_label(label)?;
            if label.id_strategy != "PRIMARY_KEY" {
                element.insert("id".to_owned(), id(cell("~id")?, label)?);
            }
            &label.properties
        }
        BatchKind::Edges => {
            for (end, column) in [("outV", "~from"), ("inV", "~to")] {
                let label = cell(&format!("{column}_label"))?;
                let id = id(cell(column)?, catalogue.vertex_label(label)?)?;
                element.insert(end.to_owned(), id);
                element.insert(format!("{end}Label"), Json::from(label));
            }
            &catalogue.edge_label(label)?.properties
        }
    };
    let properties = properties(columns, source, catalogue, of_label)?;
    element.insert("properties".to_owned(), properties);
    let instant = |name: &str| cell(name).ok().map(str::to_owned);
    let period = Period {
        from: instant("~valid_from"),
        to: instant("~valid_to"),
    };
    period.write_to(&mut element);
    Ok(Element {
        action: Action::Put,
        json: Json::Object(element).to_string(),
        identity: Some(identity(&[&Json::from(cell("~id")?)])),
        period,
        ends: false,
    })
}

/// A cell without the apostrophe that keeps a text from being a formula.
fn plain(cell: &str) -> &str {
    let is_formula = |text: &str| {
        let text = text.trim_start_matches('\'');
        text.starts_with(['=', '+', '-', '@', '\t', '\r'])
    };
    cell.strip_prefix('\'')
        .filter(|rest| is_formula(rest))
        .unwrap_or(cell)
}

/// The id of a vertex from its form in paths. An id of primary keys gets the label's number in this
/// graph.
fn id(text: &str, label: &VertexLabel) -> Result<Json, String> {
    let wrong = || format!("'{text}' is not an id in the form of an export");
    let id: Json = serde_json::from_str(text.trim_start_matches('U')).map_err(|_| wrong())?;
    match (&id, label.id_strategy.as_str()) {
        (Json::String(id), "PRIMARY_KEY") => {
            let (_, keys) = id.split_once(':').ok_or_else(wrong)?;
            Ok(Json::from(format!("{}:{keys}", label.id)))
        }
        (Json::String(_) | Json::Number(_), _) => Ok(id),
        _ => Err(wrong()),
    }
}

fn properties(
    columns: &Map<String, Json>,
    source: &Source,
    catalogue: &Catalogue,
    of_label: &[String],
) -> Result<Json, String> {
    let mut properties = Map::new();
    let of_csv = source.format() == Some(Format::Csv);
    for (column, value) in columns.iter().filter(|(name, _)| !name.starts_with('~')) {
        if !of_csv {
            if !of_label.contains(column) {
                return Err(format!("column '{column}' is not a property of the label"));
            }
            let value = property(value, catalogue.key(column)?, (source, column));
            let value = value.map_err(|why| format!("column '{column}': {why}"))?;
            properties.insert(column.clone(), value);
            continue;
        }
        let (name, text) = (plain(column), value.as_str().map_or("", plain));
        if !of_label.iter().any(|known| known == name) {
            return Err(format!("column '{name}' is not a property of the label"));
        }
        // Several values are a list of JSON.
        let list = text.starts_with('[').then(|| serde_json::from_str(text));
        let value = match list {
            Some(Ok(list @ Json::Array(_))) if catalogue.key(name)?.is_list() => list,
            _ => Json::from(text),
        };
        let value = property(&value, catalogue.key(name)?, (source, column));
        let value = value.map_err(|why| format!("column '{name}': {why}"))?;
        properties.insert(name.to_owned(), value);
    }
    Ok(Json::Object(properties))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_before_formulas_are_taken_back() {
        for (cell, text) in [
            ("'=1", "=1"),
            ("''=1", "'=1"),
            ("'tis", "'tis"),
            ("-5", "-5"),
            ("'", "'"),
        ] {
            assert_eq!(plain(cell), text);
        }
    }
}
