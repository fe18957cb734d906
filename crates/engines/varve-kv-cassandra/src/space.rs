//! One space, as the seam sees it.

use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;
use varve_kv::{
    Absences, Batch, Durability, Flow, KvError, PartitionRange, Reader, Row, ScanRequest, Space,
    Statistic, TableId,
};

use crate::bridge::Bridge;
use crate::core::Core;
use crate::full;
use crate::lease::term;
use crate::open::OpenSpace;
use crate::read;
use crate::record::Record;

/// A space of a cluster.
pub(crate) struct CassandraSpace {
    pub(crate) core: Arc<Core>,
    pub(crate) bridge: Arc<Bridge>,
    /// The background tasks; closing the space aborts them.
    pub(crate) keepers: [JoinHandle<()>; 3],
    /// Dropped after the lease is released: only then does the space count as closed.
    pub(crate) open: Option<OpenSpace>,
}

impl CassandraSpace {
    fn failed(&self) -> KvError {
        KvError::Io {
            space: self.core.name.to_string(),
            detail: "the engine failed, see the log".to_owned(),
        }
    }
}

impl Drop for CassandraSpace {
    fn drop(&mut self) {
        self.keepers.iter().for_each(JoinHandle::abort);
        let _ = self.bridge.wait(Arc::clone(&self.core).release());
        self.open.take();
    }
}

impl Reader for CassandraSpace {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let value = read::get(&self.core, &self.bridge, table, partition, clustering)?;
        value.as_deref().map(found);
        Ok(value.is_some())
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        let values = read::multi_get(&self.core, &self.bridge, table, keys)?;
        for (at, value) in values.into_iter().enumerate() {
            if let Some(value) = value {
                found(at, &value);
            }
        }
        Ok(())
    }

    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        let known = &self.core.known;
        rows.iter()
            .map(|(table, partition, clustering)| known.lacks(*table, partition, clustering))
            .collect()
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        read::scan(&self.core, &self.bridge, request, visit)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        read::scan_many(&self.core, &self.bridge, (table, ranges), visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        full::order(&self.core, table, partition)
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        full::cuts(&self.core, table)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        full::scan_table(&self.core, &self.bridge, table, after, visit)
    }
}

impl Space for CassandraSpace {
    fn write(&self, batch: &Batch, _durability: Durability) -> Result<(), KvError> {
        if batch.is_empty() {
            return Ok(());
        }
        let record = Record::of(batch, self.core.specs);
        let sweeps = batch.sweeps().to_vec();
        let core = Arc::clone(&self.core);
        let written = self.bridge.wait(core.write(record, sweeps));
        written.unwrap_or_else(|| Err(self.failed()))
    }

    fn sync(&self) -> Result<(), KvError> {
        // Every acknowledged write is as durable as the cluster makes it.
        Ok(())
    }

    fn checkpoint(&self, _dir: &Path) -> Result<(), KvError> {
        Err(KvError::Io {
            space: self.core.name.to_string(),
            detail: "the data is in a cluster; copy it with the cluster's own snapshots".to_owned(),
        })
    }

    fn compact(&self) -> Result<(), KvError> {
        // The nodes compact by themselves.
        Ok(())
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        for number in 0..self.core.specs.len() {
            let table = TableId(u8::try_from(number).unwrap_or(u8::MAX));
            self.scan_table(table, None, &mut |_| Flow::Continue(()))?;
        }
        Ok(())
    }

    fn lease(&self) -> varve_kv::Lease<'_> {
        varve_kv::Lease {
            leadership: self.core.lease.leadership(),
            term: term(&self.core.lease.row),
            incarnation: &self.core.keyspace,
        }
    }

    fn statistics(&self) -> Vec<Statistic> {
        let statistic = |name, help, value| Statistic { name, help, value };
        vec![
            statistic(
                "cluster_known_rows",
                "Row keys in memory, which save inserts a read to find whether a row exists.",
                self.core.known.rows() as f64,
            ),
            statistic(
                "cluster_known_bytes",
                "Bytes of memory that these keys use.",
                self.core.known.bytes() as f64,
            ),
            statistic(
                "lease_left_seconds",
                "Seconds for which this server may write without a renewal of its lease.",
                self.core.lease.left().as_secs_f64(),
            ),
        ]
    }
}
