//! The values of a column that refer to no row of another file.

use std::collections::BTreeSet;

use super::GoesOn;
use super::column::{Column, hash_of, shown};
use super::table::Table;

/// Values that are named.
const EXAMPLES_MAX: usize = 3;

/// The first values of a column that these columns do not have, each with its line, in words.
///
/// # Errors
/// When the file cannot be read again, or the reason to stop.
pub(super) fn examples(
    table: &Table,
    column: usize,
    known: &[&Column],
    goes_on: GoesOn,
) -> Result<String, String> {
    let (own, name) = (table.column(column), &table.names[column]);
    let mut found: Vec<String> = Vec::new();
    let mut hashes = BTreeSet::new();
    let mut source = table.source.clone();
    source.ignores_unread = true;
    for row in source.rows()?.take(table.rows + table.faulty) {
        goes_on()?;
        let row = row?;
        let Ok(fields) = row.fields else { continue };
        let mut fields = fields.iter();
        let Some((_, value)) = fields.find(|(it, _)| *it == name) else {
            continue;
        };
        let hash = hash_of(value);
        let is_known = known.iter().any(|column| column.values.contains(&hash));
        if own.is_none(value) || is_known || !hashes.insert(hash) {
            continue;
        }
        if found.len() == EXAMPLES_MAX {
            found.push("…".to_owned());
            break;
        }
        found.push(format!("'{}' in line {}", shown(value), row.line));
    }
    Ok(found.join(", "))
}
