//! What lies behind a front table: an engine of sorted files, and what it is handed.

use std::sync::Arc;

use varve_kv::{KvError, Reader, Space, TableId};

use crate::flusher::{HANDED_OVER, SORTED};
use crate::sorted::Run;
use crate::table::Table;

/// After so many rows a flush reports its progress to those who wait for room.
const REPORT_EVERY: usize = 1_024;

/// A space that keeps rows in sorted files and takes whole sorted tables at once. Beside
/// [`Base::ingest`] nothing writes to it while a front table is before it.
pub trait Base: Space {
    /// The state of this moment. Unlike [`Space::snapshot`] there always is one.
    fn state(self: Arc<Self>) -> Arc<dyn Reader>;

    /// Stores the rows and prefix deletes of `tables`, over what is there, and returns once they
    /// are on stable storage. A snapshot taken before does not see them, one taken after sees them
    /// all.
    ///
    /// It need not be atomic: after a crash in the middle the same rows are handed over again, and
    /// until it returns nobody is shown a newer snapshot.
    ///
    /// # Errors
    /// After [`KvError::DiskFull`], [`KvError::ReadOnly`] and [`KvError::Busy`] the call is
    /// repeated later, whatever was stored. After any other error the space takes no more writes
    /// until it is opened again.
    fn ingest(&self, tables: &[SortedTable<'_>]) -> Result<(), KvError>;

    /// Whether the table may have rows. Only a `false` must be right.
    fn may_hold(&self, table: TableId) -> bool;

    /// Looked at again and again while too much work waits: whether waiting is of any use.
    ///
    /// # Errors
    /// When the work that waits will not be done until the space is opened again.
    fn check(&self) -> Result<(), KvError> {
        Ok(())
    }

    /// Called before [`Base::ingest`]: whether nearly all rows that come are new, so that merging
    /// them with what is there frees no room.
    fn expect(&self, new_rows: bool) {
        let _ = new_rows;
    }

    /// Called about once a second while nothing is to be flushed: time for work that was put off.
    fn settle(&self) {}

    /// How much sorted work waits, as a part of what may wait before writers have to be held: 1 is
    /// the limit.
    fn backlog(&self) -> f64;
}

/// The rows of one table as they go to the sorted files.
#[derive(Debug)]
pub struct SortedTable<'a> {
    pub(crate) id: TableId,
    pub(crate) run: &'a Run,
    pub(crate) table: &'a Table,
    /// How many rows of the front table are stored before these, and how many in all.
    pub(crate) before: usize,
    pub(crate) rows: usize,
}

/// One row of a [`SortedTable`].
#[derive(Debug, Clone, Copy)]
pub struct RunRow<'a> {
    /// `partition ++ clustering`.
    pub key: &'a [u8],
    /// How much of the key is the partition key.
    pub partition_len: usize,
    /// The value; `None` when the row was deleted.
    pub value: Option<&'a [u8]>,
}

impl SortedTable<'_> {
    /// Which table.
    #[must_use]
    pub fn table(&self) -> TableId {
        self.id
    }

    /// The prefixes whose rows are to be removed before the rows of [`SortedTable::rows`] are
    /// stored: partition key and prefix of clustering keys.
    pub fn deletes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.run.deletes(&self.table.arena)
    }

    /// Whether [`SortedTable::deletes`] has anything.
    #[must_use]
    pub fn has_deletes(&self) -> bool {
        self.deletes().next().is_some()
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
