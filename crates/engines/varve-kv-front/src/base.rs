//! The engine of sorted files below a front table, and the tables that are flushed to it.

use std::sync::Arc;

use varve_kv::{KvError, Reader, Space, TableId};

use crate::flusher::{HANDED_OVER, SORTED};
use crate::sorted::Run;
use crate::table::Table;

/// The number of rows after which a flush updates its progress, from which writers' delays are
/// computed.
const REPORT_EVERY: usize = 1_024;

/// A space that stores rows in sorted files and ingests whole sorted tables. While a front table is
/// over it, only [`Base::ingest`] writes to it.
pub trait Base: Space {
    /// Returns a snapshot of the current state. Unlike [`Space::snapshot`] it always exists.
    fn state(self: Arc<Self>) -> Arc<dyn Reader>;

    /// Stores the rows and prefix deletes of `tables` over the existing rows, and returns once they
    /// are on stable storage. A snapshot taken before the call does not see them; one taken after
    /// it sees them all.
    ///
    /// The call need not be atomic: after a crash in the middle the same tables are ingested again,
    /// and no newer snapshot is published to readers before the call has returned.
    ///
    /// # Errors
    /// After [`KvError::DiskFull`], [`KvError::ReadOnly`] and [`KvError::Busy`] the call is
    /// repeated later, even if a part was stored. After any other error the space takes no writes
    /// until it is opened again.
    fn ingest(&self, tables: &[SortedTable<'_>]) -> Result<(), KvError>;

    /// Returns whether the table may have rows. `false` must be right; `true` may be wrong.
    fn may_hold(&self, table: TableId) -> bool;

    /// Checks whether a wait for the backlog can succeed. Called repeatedly while the backlog is
    /// too large.
    ///
    /// # Errors
    /// When the backlog will not shrink until the space is opened again.
    fn check(&self) -> Result<(), KvError> {
        Ok(())
    }

    /// Announces before [`Base::ingest`] whether nearly all of its rows are new. Merging new rows
    /// with the existing ones frees no space.
    fn expect(&self, new_rows: bool) {
        let _ = new_rows;
    }

    /// Starts work that was put off. Called about once a second while there is no flush.
    fn settle(&self) {}

    /// Returns the amount of pending compaction, relative to the limit at which writers must wait:
    /// 1 is the limit.
    fn backlog(&self) -> f64;
}

/// The rows of one table in a flush.
#[derive(Debug)]
pub struct SortedTable<'a> {
    pub(crate) id: TableId,
    pub(crate) run: &'a Run,
    pub(crate) table: &'a Table,
    /// The number of rows of the front table that are flushed before these, and of all its rows.
    pub(crate) before: usize,
    pub(crate) rows: usize,
}

/// One row of a [`SortedTable`].
#[derive(Debug, Clone, Copy)]
pub struct RunRow<'a> {
    /// `partition ++ clustering`.
    pub key: &'a [u8],
    /// The length of the partition key within `key`, in bytes.
    pub partition_len: usize,
    /// The value; `None` if the row was deleted.
    pub value: Option<&'a [u8]>,
}

impl SortedTable<'_> {
    /// The table.
    #[must_use]
    pub fn table(&self) -> TableId {
        self.id
    }

    /// The prefixes whose rows must be deleted before [`SortedTable::rows`] are stored, as
    /// partition key and prefix of clustering keys.
    pub fn deletes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.run.deletes(&self.table.arena)
    }

    /// Visits the rows in ascending order of their keys, each key once.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn rows<E>(&self, mut visit: impl FnMut(RunRow<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut stored = self.before;
        self.run.visit_newest(self.table, |row| {
            if stored.is_multiple_of(REPORT_EVERY) {
                let part = stored as f64 / self.rows as f64;
                self.table
                    .set_flushed(SORTED + (HANDED_OVER - SORTED) * part);
            }
            stored += 1;
            visit(row)
        })
    }
}
