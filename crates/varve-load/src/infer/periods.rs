//! The periods of the rows of a file.

use std::collections::HashMap;

use serde_json::Value as Json;
use varve_files::{DateFormat, millis_of};

use super::GoesOn;
use super::table::Table;

/// Start and end of each row that was read, in milliseconds since 1970.
pub(super) struct Periods(Vec<(i64, i64)>);

impl Periods {
    /// Reads the rows of a table again, which has these columns of times.
    ///
    /// # Errors
    /// When the file cannot be read again, or the reason to stop.
    pub(super) fn read(
        table: &Table,
        times: (Option<usize>, Option<usize>),
        goes_on: GoesOn,
    ) -> Result<Self, String> {
        let formats = |at: Option<usize>| -> Vec<DateFormat> {
            let chosen = at.and_then(|at| table.column(at).formats());
            let names = chosen.map_or(Vec::new(), |chosen| chosen.formats);
            names.iter().filter_map(|name| name.parse().ok()).collect()
        };
        let formats = (formats(times.0), formats(times.1));
        let mut periods = Vec::with_capacity(table.rows);
        let mut source = table.source.clone();
        source.ignores_unread = true;
        for row in source.rows()? {
            if periods.len() == table.rows {
                break;
            }
            goes_on()?;
            let Ok(fields) = row?.fields else { continue };
            let instant = |at: Option<usize>, formats: &[DateFormat]| {
                let name = at.map(|at| &table.names[at])?;
                let mut values = fields.iter();
                let (_, value): (_, &Json) = values.find(|(column, _)| *column == name)?;
                millis_of(value, formats).ok()
            };
            let from = instant(times.0, &formats.0).unwrap_or(i64::MIN);
            let to = instant(times.1, &formats.1).unwrap_or(i64::MAX);
            periods.push((from, to));
        }
        periods.resize(table.rows, (i64::MAX, i64::MAX));
        Ok(Self(periods))
    }

    /// The number of rows that overlap an earlier one with the same values in these columns.
    pub(super) fn overlaps(&self, table: &Table, columns: &[usize]) -> usize {
        let mut groups: HashMap<Vec<u64>, Vec<(i64, i64)>> = HashMap::new();
        for row in table.distinct() {
            let cells: Vec<u64> = columns
                .iter()
                .map(|at| table.column(*at).cell(row))
                .collect();
            if cells.iter().all(|cell| *cell != 0) {
                groups.entry(cells).or_default().push(self.0[row]);
            }
        }
        let overlaps = groups.into_values().map(|mut periods| {
            periods.sort_unstable();
            let mut end = i64::MIN;
            let mut overlaps = 0;
            for (from, to) in periods {
                overlaps += usize::from(from < end);
                end = end.max(to);
            }
            overlaps
        });
        overlaps.sum()
    }
}
