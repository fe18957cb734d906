//! A buffer of consecutive rows of one table.

use varve_kv::Row;

#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// For each row, the ends of its partition key, its clustering key and its value.
    ends: Vec<[usize; 3]>,
}

/// Partition key, clustering key and value.
pub(super) type RowOf<'a> = (&'a [u8], &'a [u8], &'a [u8]);

impl Rows {
    pub(super) fn push(&mut self, row: &Row<'_>) {
        let parts = [row.partition, row.clustering, row.value];
        self.ends.push(parts.map(|part| {
            self.bytes.extend_from_slice(part);
            self.bytes.len()
        }));
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn first(&self) -> Option<RowOf<'_>> {
        self.iter().next()
    }

    pub(super) fn last(&self) -> Option<RowOf<'_>> {
        self.len().checked_sub(1).map(|last| self.at(last))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = RowOf<'_>> {
        (0..self.len()).map(|at| self.at(at))
    }

    pub(super) fn at(&self, at: usize) -> RowOf<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before][2]);
        let [partition, clustering, value] = self.ends[at];
        let part = |from: usize, to: usize| &self.bytes[from..to];
        (
            part(start, partition),
            part(partition, clustering),
            part(clustering, value),
        )
    }
}
