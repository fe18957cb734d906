//! A scan of a whole table that visits a partition in parts as one partition.
//!
//! The engine below has epoch 0 and each part at positions of their own. The scan skips these, and
//! visits the rows of all of them together, at the position that the partition would have if it
//! were not in parts ([`Reader::partition_order`]). So a caller can resume a scan after any row,
//! even if further partitions were divided into parts meanwhile.

use varve_kv::{ClusteringRange, Flow, KvError, Reader, Row, ScanRequest, TableId};

use crate::directory::Directory;
use crate::merge;

/// To skip a partition, a scan continues after this clustering key, or after that of the row that
/// it has met if that is greater. So each step passes at least one row.
const BEHIND: &[u8] = &[0xFF; 64];

/// The partition key and the clustering key of a row.
type RowPlace = (Vec<u8>, Vec<u8>);

/// Why a scan of the engine below was interrupted.
enum Met {
    /// It has reached this row of a partition to skip: a part, or epoch 0 of the partition in parts
    /// that was visited last.
    Part(RowPlace),
    /// It has reached or passed the position of the next partition in parts.
    Turn,
}

struct Full<'a> {
    directory: &'a Directory,
    reader: &'a dyn Reader,
    table: TableId,
    /// The partitions in parts: (sort key, partition key), ascending by sort key.
    parted: Vec<(Vec<u8>, Vec<u8>)>,
    /// The index in `parted` of the first partition that was not visited yet.
    next: usize,
}

/// Visits the rows of a table after the row `after`, or all rows, until `visit` breaks.
pub(crate) fn scan_table(
    directory: &Directory,
    reader: &dyn Reader,
    table: TableId,
    after: Option<(&[u8], &[u8])>,
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<(), KvError> {
    if !directory.any() || !directory.may_part(table) {
        return reader.scan_table(table, after, visit);
    }
    let order = |parted: Vec<u8>| (reader.partition_order(table, &parted), parted);
    let mut parted: Vec<_> = directory.all().into_iter().map(order).collect();
    parted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let mut full = Full {
        directory,
        reader,
        table,
        parted,
        next: 0,
    };
    full.run(after, visit)
}

impl Full<'_> {
    fn run(
        &mut self,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let mut at: Option<RowPlace> = None;
        if let Some((partition, clustering)) = after {
            at = Some((partition.to_vec(), clustering.to_vec()));
            let order = self.reader.partition_order(self.table, partition);
            self.next = self.parted.partition_point(|(of, _)| *of < order);
            if self.is_next(partition) {
                let from = [clustering, &[0]].concat();
                if self.show_next(from, visit)?.is_break() {
                    return Ok(());
                }
                at = Some((partition.to_vec(), BEHIND.to_vec()));
            }
        }
        loop {
            let mut met = None;
            let mut last: Option<RowPlace> = None;
            let flow = self.go_on(&at, &mut met, &mut last, visit)?;
            at = last.or(at);
            match met {
                Some(Met::Part((partition, clustering))) => {
                    at = Some((partition, clustering.max(BEHIND.to_vec())));
                }
                Some(Met::Turn) => {
                    if self.show_next(Vec::new(), visit)?.is_break() {
                        return Ok(());
                    }
                }
                None if flow.is_break() => return Ok(()),
                None => break,
            }
        }
        while self.next < self.parted.len() {
            if self.show_next(Vec::new(), visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn is_next(&self, partition: &[u8]) -> bool {
        let next = self.parted.get(self.next);
        next.is_some_and(|(_, parted)| parted == partition)
    }

    /// Visits the engine's rows after `at`, until the scan is interrupted (then sets `met`) or
    /// `visit` breaks. Sets `last` to the last visited row.
    fn go_on(
        &self,
        at: &Option<RowPlace>,
        met: &mut Option<Met>,
        last: &mut Option<RowPlace>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        let mut flow = Flow::Continue(());
        let after = at
            .as_ref()
            .map(|(partition, clustering)| (partition.as_slice(), clustering.as_slice()));
        // The partition of the last visited row. It was checked at its first row.
        let mut known: Option<Vec<u8>> = None;
        self.reader.scan_table(self.table, after, &mut |row| {
            if known.as_deref() != Some(row.partition) {
                *met = self.look_at(&row);
                if met.is_some() {
                    return Flow::Break(());
                }
                known = Some(row.partition.to_vec());
            }
            flow = visit(row);
            let place = last.get_or_insert_default();
            place.0.clear();
            place.0.extend_from_slice(row.partition);
            place.1.clear();
            place.1.extend_from_slice(row.clustering);
            flow
        })?;
        Ok(flow)
    }

    fn look_at(&self, row: &Row<'_>) -> Option<Met> {
        let partition = row.partition;
        let part = || Met::Part((partition.to_vec(), row.clustering.to_vec()));
        if self.directory.is_part(self.table, partition) {
            return Some(part());
        }
        // The engine has epoch 0 of a partition at the partition's own position, so the scan
        // reaches it right after the partition was visited.
        let shown = self
            .next
            .checked_sub(1)
            .map(|before| &self.parted[before].1);
        if shown.is_some_and(|shown| shown == partition) {
            return Some(part());
        }
        let (order, _) = self.parted.get(self.next)?;
        let turn = self.reader.partition_order(self.table, partition) >= *order;
        turn.then_some(Met::Turn)
    }

    /// Visits the next partition in parts, from the clustering key `from` on.
    fn show_next(
        &mut self,
        from: Vec<u8>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        let (_, partition) = &self.parted[self.next];
        self.next += 1;
        let request = ScanRequest {
            table: self.table,
            partition,
            range: &ClusteringRange { from, to: None },
            reverse: false,
        };
        merge::scan(
            self.directory,
            self.reader,
            request,
            &mut |clustering, value| {
                visit(Row {
                    partition,
                    clustering,
                    value,
                })
            },
        )
    }
}
