//! Splits the tables into parts, which threads read in parallel.

use varve_kv::{Reader, Row, TableId};

use super::unreadable::{RowKey, look};

/// A range of one table in the order of [`Reader::scan_table`].
#[derive(Debug)]
pub(super) struct Part {
    pub(super) table: TableId,
    /// The key after which the part begins; it need not exist. `None` for the first part of the
    /// table.
    pub(super) after: Option<RowKey>,
    /// `None` for the last part of the table.
    end: Option<Cut>,
}

/// The boundary between a part and the next one.
#[derive(Debug)]
struct Cut {
    partition: Vec<u8>,
    /// Its [`Reader::partition_order`].
    order: Vec<u8>,
    /// The first row after the cut.
    next: RowKey,
}

/// The most cuts of a table.
const CUTS_MAX: usize = 256;

/// Returns the parts of a table in order. The first row after each cut is readable, so an
/// unreadable range never spans two parts, and is reported once.
pub(super) fn of(reader: &dyn Reader, table: TableId) -> Vec<Part> {
    let order = |cut: Vec<u8>| (reader.partition_order(table, &cut), cut);
    let mut cuts: Vec<_> = reader.cuts(table).into_iter().map(order).collect();
    cuts.sort_unstable();
    // Each cut costs a search, before the threads begin.
    let apart = cuts.len().div_ceil(CUTS_MAX).max(1);
    let mut parts = Vec::new();
    let (mut after, mut newest) = (None, None);
    for (order, partition) in cuts.into_iter().step_by(apart) {
        let Ok(Some(next)) = look(reader, table, (&partition, &[])) else {
            continue;
        };
        if newest.as_ref() == Some(&next) {
            continue;
        }
        newest = Some(next.clone());
        let begin = (partition.clone(), Vec::new());
        let end = Some(Cut {
            partition,
            order,
            next,
        });
        let after = after.replace(begin);
        parts.push(Part { table, after, end });
    }
    let end = None;
    parts.push(Part { table, after, end });
    parts
}

impl Part {
    /// Whether the part contains a row that is after its beginning. `follows` says that the
    /// previous row is in the part and has the same partition.
    pub(super) fn holds(&self, reader: &dyn Reader, row: &Row<'_>, follows: bool) -> bool {
        let Some(end) = &self.end else { return true };
        if row.partition == end.partition {
            // The next part begins after the row with an empty clustering key.
            return row.clustering.is_empty();
        }
        follows || reader.partition_order(self.table, row.partition) <= end.order
    }

    /// The first row of the next part.
    pub(super) fn next(&self) -> Option<&RowKey> {
        self.end.as_ref().map(|end| &end.next)
    }
}
