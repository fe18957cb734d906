//! The contract of a storage engine.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::{Batch, ClusteringRange, KvError, TableId, TableSpec};

/// A scan visitor's result: continue, or stop the scan.
pub type Flow = ControlFlow<()>;

/// For each of some rows, whether it is known to be absent: see [`Reader::known_absent`].
pub type Absences = SmallVec<[bool; 16]>;

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is on stable storage: it survives power loss.
    Sync,
    /// When the operating system has it: it survives a crash of the process. It survives power loss
    /// only after the next [`Space::sync`].
    Buffered,
}

/// The rows of one partition that a scan visits.
#[derive(Debug, Clone, Copy)]
pub struct ScanRequest<'a> {
    /// The table.
    pub table: TableId,
    /// The partition key.
    pub partition: &'a [u8],
    /// The range of clustering keys.
    pub range: &'a ClusteringRange,
    /// Whether the scan runs from the last key to the first.
    pub reverse: bool,
}

/// A range of one partition, for [`Reader::scan_many`].
#[derive(Debug, Clone, Copy)]
pub struct PartitionRange<'a> {
    /// The partition key.
    pub partition: &'a [u8],
    /// The range of clustering keys.
    pub range: &'a ClusteringRange,
}

impl<'a> PartitionRange<'a> {
    /// The same range of several partitions.
    #[must_use]
    pub fn of_each(partitions: &[&'a [u8]], range: &'a ClusteringRange) -> Vec<Self> {
        let of = |partition: &&'a [u8]| Self { partition, range };
        partitions.iter().map(of).collect()
    }

    /// The scan of this range, ascending.
    #[must_use]
    pub const fn request(self, table: TableId) -> ScanRequest<'a> {
        ScanRequest {
            table,
            partition: self.partition,
            range: self.range,
            reverse: false,
        }
    }
}

/// One row as a full scan sees it.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Partition key.
    pub partition: &'a [u8],
    /// Clustering key.
    pub clustering: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// What an engine can do, and how callers must treat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The engine's name, as HugeGraph's clients see it (`rocksdb`, `memory`, `cassandra`).
    pub name: &'static str,
    /// Whether reads wait for a network. If so, threads that serve connections must not read
    /// themselves.
    pub reads_may_wait: bool,
    /// Whether other processes can open the same spaces, one at a time. If so, [`Engine::open`]
    /// names the owner of a space instead of waiting for it, and an open space can be lost to
    /// another process ([`Space::lease`]).
    pub shared: bool,
}

impl Capabilities {
    /// The capabilities of an engine that lives in this process.
    #[must_use]
    pub const fn local(name: &'static str) -> Self {
        Self {
            name,
            reads_may_wait: false,
            shared: false,
        }
    }
}

/// The identity of a space. In a shared engine another process can remove a space and create a new
/// one of the same name, so code that acts on a space later must remember the identity, not the
/// name alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpaceId {
    /// The name.
    pub name: String,
    /// Unique among all spaces, past ones included; empty if the engine is not shared.
    pub incarnation: String,
}

impl SpaceId {
    /// The identity of a space in an engine that is not shared.
    #[must_use]
    pub const fn local(name: String) -> Self {
        Self {
            name,
            incarnation: String::new(),
        }
    }
}

/// The process that has a space of a shared engine open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    /// The address that the process has published.
    pub address: String,
    /// The number of times the space has been opened, by any process.
    pub term: u64,
    /// Whether the address is that of this process. An earlier process may have had the same one.
    pub is_self: bool,
}

/// Whether this process still leads a space that it has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// No other process writes the space: caches of it are valid.
    Held,
    /// Unknown for now: another process may be writing the space. [`Leadership::Held`] may follow.
    Suspended,
    /// Another process has taken the space, for good: writes fail, and caches of it are invalid.
    Lost,
}

/// The lease on an open space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease<'a> {
    /// Whether this process still leads the space.
    pub leadership: Leadership,
    /// The [`Leader::term`] of this opening; 0 if the engine is not shared.
    pub term: u64,
    /// The [`SpaceId::incarnation`] of the space.
    pub incarnation: &'a str,
}

impl Lease<'_> {
    /// The lease on a space of an engine that is not shared.
    pub const LOCAL: Self = Self {
        leadership: Leadership::Held,
        term: 0,
        incarnation: "",
    };
}

/// Reads. A [`Space`] returns the newest committed state at each call; a snapshot
/// ([`Space::snapshot`]) returns the same state at all calls.
///
/// [`ReaderExt`](crate::ReaderExt) has further forms of these methods.
pub trait Reader: Send + Sync {
    /// Calls `found` with the value of one row, if the row exists. The value is not copied if the
    /// engine can avoid it. Returns whether the row exists.
    ///
    /// # Errors
    /// When the engine fails or finds damage.
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError>;

    /// Calls `found` with the index in `keys` and the value of each row that exists, in any order.
    /// One call for many rows lets an engine fetch them from memory or the network in parallel.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        for (at, (partition, clustering)) in keys.iter().enumerate() {
            let mut found = |value: &[u8]| found(at, value);
            self.get_with(table, partition, clustering, &mut found)?;
        }
        Ok(())
    }

    /// Returns for each of `rows` (table, partition key, clustering key) whether it is known to be
    /// absent, without any I/O. `false` means unknown, so an engine may always return it. Useful
    /// before reads of many rows of which few are expected to exist.
    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        smallvec![false; rows.len()]
    }

    /// Visits rows of one partition in the order of their clustering keys, or in reverse. Calls
    /// `visit(clustering, value)` until it breaks or the range ends.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError>;

    /// Visits the rows of many ranges: `visit(index of the range, clustering, value)`. A break ends
    /// the scan of that range only. Ranges come in the order given, rows in order within each.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    #[expect(
        clippy::type_complexity,
        reason = "the visitor's signature says it better than a name would"
    )]
    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        for (at, range) in ranges.iter().enumerate() {
            let request = range.request(table);
            self.scan(request, &mut |clustering, value| {
                visit(at, clustering, value)
            })?;
        }
        Ok(())
    }

    /// Passes the summaries of many ranges to `visit`, in the order given: `visit(index of the
    /// range, summary)`. A summary ([`crate::TableSpec::summarize`]) is of all rows of the range,
    /// and perhaps of others of the partition, which may be earlier ones. `None`: the range has to
    /// be read. So an engine may always pass that; it passes only what it has in memory.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn summaries(
        &self,
        _table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), KvError> {
        (0..ranges.len()).for_each(|at| visit(at, None));
        Ok(())
    }

    /// The sort key of a partition in [`Reader::scan_table`], which visits partitions in the order
    /// of these bytes. There is no default, since a wrong order would hide rows without an error.
    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8>;

    /// Returns partition keys that split a table into parts of similar size, for parallel scans.
    /// They need not be keys of existing partitions, and no other partition key is a prefix of one.
    /// The result is a hint: an engine that cannot know returns no keys.
    fn cuts(&self, _table: TableId) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Visits the rows of a table until `visit` breaks. The order of partitions is that of
    /// [`Reader::partition_order`], and does not change while the table is not written. Rows of a
    /// partition come together, in the order of their keys. If `after` = `(partition, clustering)`
    /// is given, the scan starts right after that row, whether or not the row still exists.
    ///
    /// # Errors
    /// As [`Reader::get_with`].
    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError>;
}

/// A figure that an engine reports about itself, for metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistic {
    /// The name, with its unit last, e.g. `block_cache_bytes`. A figure that only grows ends in
    /// `_total`; no other figure does.
    pub name: &'static str,
    /// A description, for people.
    pub help: &'static str,
    /// The current value.
    pub value: f64,
}

/// The tables of one graph.
pub trait Space: Reader {
    /// Applies a batch atomically: after a crash at any moment either all of it is stored or
    /// nothing. Returns once the batch has the requested durability and is visible to every later
    /// read.
    ///
    /// # Errors
    /// After [`KvError::DiskFull`], [`KvError::ReadOnly`], [`KvError::Busy`], [`KvError::Away`] and
    /// [`KvError::TooLarge`] nothing of the batch is stored. After any other error it is unknown
    /// whether the batch is stored, and every later write fails until the space is opened again.
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError>;

    /// Returns whether a write of [`Durability::Buffered`] may block now, for memory or for
    /// compaction. A caller that must not block then writes on another thread. The result is a
    /// cheap hint and may be wrong. An engine that cannot know returns `true`.
    fn write_may_wait(&self) -> bool {
        true
    }

    /// Brings every acknowledged write to stable storage.
    ///
    /// # Errors
    /// As [`Space::write`].
    fn sync(&self) -> Result<(), KvError>;

    /// Returns a snapshot of the current committed state. Later writes are not visible in it, and
    /// no read of it sees a part of a batch. A snapshot keeps its space open.
    ///
    /// Returns `None`, at every call, if the engine has no snapshots. Callers then read the space
    /// itself ([`state_of`](crate::state_of)), and may see a part of a batch whose write has not
    /// returned. Within one page of the engine, a scan sees all rows of a batch in a partition or
    /// none. In very large partitions this may hold only for the rows of one element.
    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }

    /// Writes a copy of the current committed state to the new directory `dir`, which the engine
    /// can open as a space. Reads and writes continue meanwhile.
    ///
    /// # Errors
    /// When the copy cannot be written, or the engine keeps no files; [`KvError::Busy`] when a
    /// later attempt may succeed.
    fn checkpoint(&self, dir: &Path) -> Result<(), KvError>;

    /// Flushes buffered rows to sorted files, compacts the files as far as is useful, and waits for
    /// the end. Does nothing if the engine has no files of its own. For maintenance and measuring.
    ///
    /// # Errors
    /// As [`Space::write`].
    fn compact(&self) -> Result<(), KvError>;

    /// Reads all stored data and checks it against its checksums.
    ///
    /// # Errors
    /// [`KvError::Corruption`], which names what is damaged; another error when the data cannot be
    /// read.
    fn verify_checksums(&self) -> Result<(), KvError>;

    /// Figures for metrics.
    fn statistics(&self) -> Vec<Statistic>;

    /// A number that grows when later batches put rows where a reader does not look that followed
    /// the space before ([`Engine::follow`]). Cheap.
    fn layout(&self) -> u64 {
        0
    }

    /// The lease on the space, as this process knows it. Cheap: does no I/O.
    fn lease(&self) -> Lease<'_> {
        Lease::LOCAL
    }
}

/// A storage engine: spaces by name.
pub trait Engine: Send + Sync {
    /// The engine's capabilities.
    fn capabilities(&self) -> Capabilities;

    /// Figures of the engine that belong to no single space, for metrics.
    fn statistics(&self) -> Vec<Statistic> {
        Vec::new()
    }

    /// Announces that the process is about to end: writes that wait for another system give up. The
    /// next opening of their space decides the outcome of such writes.
    fn stop_waiting(&self) {}

    /// Returns the process that has a space open, which may be this one; `None` if no process has
    /// it open, or the engine is not shared.
    ///
    /// # Errors
    /// When the engine cannot determine it.
    fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let _ = space;
        Ok(None)
    }

    /// The spaces that exist, ascending by name.
    ///
    /// # Errors
    /// When the list cannot be read.
    fn spaces(&self) -> Result<Vec<SpaceId>, KvError>;

    /// Removes the remains of unfinished creations of spaces, for the names that `is_meant`
    /// accepts. Otherwise a late request could still complete such a creation. Existing spaces are
    /// not changed.
    ///
    /// # Errors
    /// When the remains cannot be removed; [`KvError::InUse`] when a creation is still in progress.
    fn clear_begun(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<(), KvError> {
        let _ = is_meant;
        Ok(())
    }

    /// Opens the space `name` with `tables`. Creates it if it does not exist and `create` is set.
    /// Fails if the space is already open.
    ///
    /// # Errors
    /// [`KvError::InvalidName`] for a name that [`crate::is_space_name`] does not allow;
    /// [`KvError::Unavailable`] when the space does not exist and `create` is not set, is open, or
    /// was written by a newer version; another error when the space is damaged or cannot be read or
    /// written. If the space is open, a shared engine returns [`KvError::InUse`] instead, or
    /// [`KvError::Led`] when it knows which other process has it open.
    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError>;

    /// Opens a space only to read it, beside the process that has it open. A read returns what is
    /// stored at that moment, parts of unfinished batches included, so the caller must know which
    /// batches are complete. Writes fail with [`KvError::Led`], and the lease on such a space is
    /// always [`Leadership::Lost`]. Cheap for a space that is followed already.
    ///
    /// # Errors
    /// [`KvError::Unavailable`] when the engine is not shared; another error when the space cannot
    /// be read, or is gone.
    fn follow(
        &self,
        space: &SpaceId,
        tables: &'static [TableSpec],
    ) -> Result<Arc<dyn Space>, KvError> {
        let _ = tables;
        Err(KvError::Unavailable {
            space: space.name.clone(),
            detail: "the engine is not shared".to_owned(),
        })
    }

    /// Removes the space `name` and all its rows. Does nothing if the space is missing. A shared
    /// engine also does nothing if `incarnation` is given and differs from that of the space; other
    /// engines ignore `incarnation`. Every handle to the space must have been dropped. After a
    /// crash during the removal the space is either whole or gone at the next start.
    ///
    /// # Errors
    /// [`KvError::InvalidName`] as with [`Engine::open`]; when the space is open,
    /// [`KvError::Unavailable`], or from a shared engine [`KvError::InUse`] or [`KvError::Led`];
    /// another error when the space cannot be removed.
    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError>;
}
