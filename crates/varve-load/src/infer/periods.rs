//! The periods of the rows of a file.

use std::collections::HashMap;

use varve_files::{DateFormat, millis_of};

use super::GoesOn;
use super::table::Table;

/// Start and end of each row that was read, in milliseconds since 1970; `None` for a row that will
/// be refused.
pub(super) struct Periods(Vec<Option<(i64, i64)>>);

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
            let instant = |at: Option<usize>, formats: &[DateFormat], open: i64| {
                let Some(at) = at else { return Some(open) };
                let mut values = fields.iter();
                let value = values.find(|(column, _)| **column == table.names[at]);
                match value.filter(|(_, value)| !table.column(at).is_none(value)) {
                    Some((_, value)) => millis_of(value, formats).ok(),
                    None => Some(open),
                }
            };
            let from = instant(times.0, &formats.0, i64::MIN);
            let period = from.zip(instant(times.1, &formats.1, i64::MAX));
            periods.push(period.filter(|(from, to)| from < to));
        }
        periods.resize(table.rows, None);
        Ok(Self(periods))
    }

    /// The number of rows that have a start and an end.
    pub(super) fn closed(&self) -> usize {
        let both = self.0.iter().flatten();
        both.filter(|(from, to)| *from != i64::MIN && *to != i64::MAX)
            .count()
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
                groups.entry(cells).or_default().extend(self.0[row]);
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
