//! One space, as the seam sees it.

use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;
use varve_kv::{
    Absences, Batch, Durability, Flow, KvError, Reader, ReaderLayer, Space, Statistic, TableId,
};

use crate::bridge::Bridge;
use crate::core::Core;
use crate::lease::term;
use crate::member::Membership;
use crate::open::OpenSpace;
use crate::read;
use crate::record::Record;
use crate::source::SourceReader;

/// A space of a cluster.
pub(crate) struct CassandraSpace {
    pub(crate) core: Arc<Core>,
    pub(crate) reader: SourceReader,
    pub(crate) bridge: Arc<Bridge>,
    /// The background tasks; closing the space aborts them.
    pub(crate) keepers: [JoinHandle<()>; 2],
    /// Dropped after the lease is released: only then does the space count as closed.
    pub(crate) open: Option<OpenSpace>,
    /// Keeps this process registered until the lease is released.
    pub(crate) _membership: Arc<Membership>,
}

impl Drop for CassandraSpace {
    fn drop(&mut self) {
        self.keepers.iter().for_each(JoinHandle::abort);
        let _ = self.bridge.wait(Arc::clone(&self.core).release());
        self.open.take();
    }
}

impl ReaderLayer for CassandraSpace {
    type Below<'a> = SourceReader;

    fn read<T>(&self, read: impl FnOnce(&SourceReader) -> T) -> T {
        read(&self.reader)
    }

    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        let known = &self.core.known;
        rows.iter()
            .map(|(table, partition, clustering)| known.lacks(*table, partition, clustering))
            .collect()
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
        written.unwrap_or_else(|| Err(read::failed_engine(&self.core)))
    }

    fn sync(&self) -> Result<(), KvError> {
        // Every acknowledged write is as durable as the cluster makes it.
        Ok(())
    }

    fn checkpoint(&self, _dir: &Path) -> Result<(), KvError> {
        Err(KvError::Io {
            space: self.core.name.to_string(),
            detail: "the data is in a cluster, which has no files to copy".to_owned(),
        })
    }

    fn compact(&self) -> Result<(), KvError> {
        // The nodes compact by themselves.
        Ok(())
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        for number in 0..self.core.specs.len() {
            let table = TableId(u8::try_from(number).unwrap_or(u8::MAX));
            self.reader
                .scan_table(table, None, &mut |_| Flow::Continue(()))?;
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
        let (open, bytes) = self.core.slices.lock().backlog();
        vec![
            statistic(
                "cluster_log_open_batches",
                "Batches that are not completely applied.",
                open as f64,
            ),
            statistic(
                "cluster_log_bytes",
                "Bytes of the log that the next server would execute after a crash.",
                bytes as f64,
            ),
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
