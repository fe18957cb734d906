//! The rows of a space as they are stored in the cluster, for reading.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use varve_kv::{Flow, KvError, PartitionRange, Reader, Row, ScanRequest, TableId, TableSpec};

use crate::ahead::Widths;
use crate::bridge::Bridge;
use crate::cluster::Cluster;
use crate::cuts::Cuts;
use crate::failure::Failure;
use crate::statements::{self, Store};
use crate::{full, read};

/// What reads of a space need. The process that leads the space has it, and so has each process
/// that follows it.
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) specs: &'static [TableSpec],
    pub(crate) keyspace: String,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) store: Arc<Store>,
    /// The keys at which reads of partitions with many tombstones are split.
    pub(crate) cuts: Cuts,
    /// How wide the slices of full scans are.
    pub(crate) widths: Widths,
}

/// The sources of spaces that this process follows, by keyspace. A space is followed anew with each
/// state of it that is read, and its statements are prepared once.
#[derive(Default)]
pub(crate) struct FollowedSources(Mutex<HashMap<String, Weak<Source>>>);

impl FollowedSources {
    /// The source of a space.
    ///
    /// # Errors
    /// When its tables cannot be read.
    pub(crate) async fn of(
        &self,
        cluster: &Arc<Cluster>,
        (space, keyspace): (&str, &str),
        specs: &'static [TableSpec],
    ) -> Result<Arc<Source>, Failure> {
        let kept = self.0.lock().get(keyspace).and_then(Weak::upgrade);
        if let Some(kept) = kept.filter(|kept| std::ptr::eq(kept.specs, specs)) {
            return Ok(kept);
        }
        let source = Arc::new(Source {
            name: space.into(),
            specs,
            keyspace: keyspace.to_owned(),
            cluster: Arc::clone(cluster),
            store: Arc::new(statements::prepare(cluster, keyspace, specs).await?),
            cuts: Cuts::default(),
            widths: Widths::new(specs.len()),
        });
        let mut sources = self.0.lock();
        sources.retain(|_, source| source.strong_count() > 0);
        sources.insert(keyspace.to_owned(), Arc::downgrade(&source));
        Ok(source)
    }
}

/// Reads the rows of a space as they are stored at each call.
pub(crate) struct SourceReader {
    pub(crate) source: Arc<Source>,
    pub(crate) bridge: Arc<Bridge>,
}

impl Reader for SourceReader {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let key = (partition, clustering);
        read::get_with(&self.source, &self.bridge, table, key, found)
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        read::get_each(&self.source, &self.bridge, table, keys, found)
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        read::scan(&self.source, &self.bridge, request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        read::scan_many(&self.source, &self.bridge, (table, ranges), visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        full::order(&self.source, table, partition)
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        full::cuts(&self.source, table)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        full::scan_table(&self.source, &self.bridge, table, after, visit)
    }
}
