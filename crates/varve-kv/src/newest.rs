//! What stands for a snapshot where an engine keeps no states.

use std::sync::Arc;

use crate::{Flow, KvError, PartitionRange, Reader, Row, ScanRequest, Snapshot, Space, TableId};

/// The snapshot of a space of an engine without
/// [`Isolation::Snapshot`](crate::Isolation::Snapshot): it keeps the space open and reads its
/// newest state with each call.
#[derive(Debug)]
pub struct NewestState<S: ?Sized>(pub Arc<S>);

impl<S: Space + ?Sized> Snapshot for NewestState<S> {}

impl<S: Space + ?Sized> Reader for NewestState<S> {
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        self.0.get(table, partition, clustering)
    }

    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.0.get_with(table, partition, clustering, found)
    }

    fn multi_get(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        self.0.multi_get(table, keys)
    }

    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        self.0.known_absent(table, partition, clustering)
    }

    fn known_absent_each(&self, rows: &[(TableId, &[u8], &[u8])]) -> Vec<bool> {
        self.0.known_absent_each(rows)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.0.scan(request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.0.scan_many(table, ranges, visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        self.0.partition_order(table, partition)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.0.scan_table(table, after, visit)
    }
}
