//! Reads of an engine without snapshots ([`varve_kv::Space::snapshot`]). They do not miss a row
//! that a commit moves meanwhile.
//!
//! A commit moves rows from the tables of the present to those of the past, within one partition. A
//! reader reads the present first, so a row that has left it is already in the past. But different
//! nodes may answer the two reads. Until the commit's write is acknowledged, the first nodes may
//! have the commit while the second do not. A commit gets its version before any read can show it.
//! So a read of the past waits until all versions are stored that had been assigned when the
//! present was last read. Usually they are; otherwise the last group of commits is being written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{Flow, KvError, PartitionRange, Reader, Row, ScanRequest, TableId, attempt};

use crate::commit::{Progress, Waited};
use crate::deadline::TOO_LATE;

/// A reader that reads the present before the past.
pub(crate) struct Ordered {
    inner: Arc<dyn Reader>,
    graph: String,
    progress: Progress,
    /// The mark of the commits that reads of the present may have shown.
    shown: AtomicU64,
}

impl Ordered {
    pub(crate) fn new(inner: Arc<dyn Reader>, graph: &str, progress: Progress) -> Self {
        Self {
            inner,
            graph: graph.to_owned(),
            progress,
            shown: AtomicU64::new(0),
        }
    }

    /// Waits, before rows of `table` are read, for the commits that the present may have shown.
    fn before(&self, table: TableId) -> Result<(), KvError> {
        if table != EVENT && table != EVENT_INDEX {
            return Ok(());
        }
        let space = || self.graph.clone();
        if attempt::is_running() {
            // The wait below would block the thread.
            attempt::refuse();
            return Err(KvError::Busy {
                space: space(),
                detail: TOO_LATE.to_owned(),
            });
        }
        let shown = self.shown.load(Ordering::Acquire);
        match self.progress.wait(shown) {
            Waited::Stored => Ok(()),
            Waited::TooLong => Err(KvError::Busy {
                space: space(),
                detail: TOO_LATE.to_owned(),
            }),
            Waited::Passed => Err(KvError::Led {
                space: space(),
                address: String::new(),
                term: 0,
            }),
            Waited::Undecided => Err(KvError::Busy {
                space: space(),
                detail: "it is unknown how much of an earlier write is stored, until the graph is reopened".to_owned(),
            }),
            Waited::Failed => Err(KvError::Io {
                space: space(),
                detail: "an earlier write failed, and how much of it is stored is unknown until the server is restarted"
                    .to_owned(),
            }),
        }
    }

    /// Notes an error which says that the graph's leader must answer.
    fn noted<T>(&self, read: Result<T, KvError>) -> Result<T, KvError> {
        if let Err(KvError::Led { .. }) = &read {
            self.progress.note_elsewhere();
        }
        read
    }

    /// Marks, after rows of `table` were read, the commits that they may show.
    fn after(&self, table: TableId) {
        if table == VERTEX || table == EDGE || table == INDEX {
            self.shown.fetch_max(self.progress.mark(), Ordering::AcqRel);
        }
        if table == INDEX {
            self.progress.searched();
        }
    }
}

impl Reader for Ordered {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        self.before(table)?;
        let mut show = |value: &[u8]| {
            self.after(table);
            found(value);
        };
        let exists = self.noted(self.inner.get_with(table, partition, clustering, &mut show));
        self.after(table);
        exists
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        self.before(table)?;
        let mut show = |at: usize, value: &[u8]| {
            self.after(table);
            found(at, value);
        };
        let got = self.noted(self.inner.get_each(table, keys, &mut show));
        self.after(table);
        got
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let table = request.table;
        self.before(table)?;
        let mut show = |clustering: &[u8], value: &[u8]| {
            self.after(table);
            visit(clustering, value)
        };
        self.noted(self.inner.scan(request, &mut show))?;
        self.after(table);
        Ok(())
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        self.before(table)?;
        let mut show = |at: usize, clustering: &[u8], value: &[u8]| {
            self.after(table);
            visit(at, clustering, value)
        };
        self.noted(self.inner.scan_many(table, ranges, &mut show))?;
        self.after(table);
        Ok(())
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        self.inner.partition_order(table, partition)
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        self.inner.cuts(table)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        self.before(table)?;
        let mut show = |row: Row<'_>| {
            self.after(table);
            visit(row)
        };
        self.noted(self.inner.scan_table(table, after, &mut show))?;
        self.after(table);
        Ok(())
    }
}
