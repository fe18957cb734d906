//! The contract of a storage engine.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::{Batch, ClusteringRange, KvError, TableId, TableSpec};

/// What a scan's visitor answers: go on, or stop here.
pub type Flow = ControlFlow<()>;

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is on stable storage: it survives power loss.
    Sync,
    /// When the operating system has it: it survives the process, not power loss, until the next
    /// [`Space::sync`].
    Buffered,
}

/// Which rows of one partition a scan visits.
#[derive(Debug, Clone, Copy)]
pub struct ScanRequest<'a> {
    /// Which table.
    pub table: TableId,
    /// Which partition.
    pub partition: &'a [u8],
    /// Which clustering keys.
    pub range: &'a ClusteringRange,
    /// Whether from the last key to the first.
    pub reverse: bool,
}

/// A range of one partition, as [`Reader::scan_many`] takes them.
#[derive(Debug, Clone, Copy)]
pub struct PartitionRange<'a> {
    /// Which partition.
    pub partition: &'a [u8],
    /// Which clustering keys.
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

/// What a reader may see of writes that are under way, and what a [`Snapshot`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// A snapshot reads one committed state with all calls, and no call sees a part of a batch.
    Snapshot,
    /// A snapshot reads the newest state with each call, as its space does. What one scan sees of
    /// one partition has all rows of a batch or none, up to a page of the engine's own; rows of
    /// other partitions may show earlier or later, until the write has returned. Of a partition
    /// that is very large this may hold only of rows that belong together, as whoever set the
    /// engine up has said: those of one element.
    Partition,
}

/// In what engines differ so that whoever stands above them must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// What readers see of writes under way.
    pub isolation: Isolation,
    /// Whether reads wait for a network: then threads that serve others must not read in place.
    pub reads_may_wait: bool,
    /// Whether other processes may have the same spaces open in turn. Then [`Engine::open`] says
    /// who has one, instead of waiting for it, and an open space may be lost to another process
    /// ([`Space::leadership`]).
    pub shared: bool,
}

impl Capabilities {
    /// Those of an engine within this process.
    pub const LOCAL: Self = Self {
        isolation: Isolation::Snapshot,
        reads_may_wait: false,
        shared: false,
    };
}

/// A space, told from others that have had its name or will have it. Whoever keeps a name of a
/// shared engine over time, to do something to the space later, has to keep this: another process
/// may have removed that space and made one of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpaceId {
    /// The name.
    pub name: String,
    /// What no other space has; empty where the engine cannot be shared.
    pub incarnation: String,
}

/// Who has a space open, where several processes share an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    /// Where that process can be asked, as it says itself.
    pub address: String,
    /// How often the space has been opened: grows with each opening, whoever does it.
    pub term: u64,
    /// Whether the address is this process's own. It may be an earlier process at the same place.
    pub is_self: bool,
}

/// How an open space stands with this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// No other process writes it now: what is read and remembered of it is what is stored.
    Held,
    /// Whether another process writes it is not known for the moment. It may be held again.
    Suspended,
    /// Another process has it, for good: nothing can be written, and what is remembered of it is
    /// worth nothing.
    Lost,
}

/// Reads. A [`Space`] reads the newest committed state with each call; a [`Snapshot`] one state
/// with all calls, where the engine has [`Isolation::Snapshot`].
pub trait Reader: Send + Sync {
    /// The value of one row.
    ///
    /// # Errors
    /// When the engine fails or finds damage.
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError>;

    /// The value of one row, handed to `found` without a copy where the engine can; returns whether
    /// the row exists.
    ///
    /// # Errors
    /// As [`Reader::get`].
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let value = self.get(table, partition, clustering)?;
        value.as_deref().map(found);
        Ok(value.is_some())
    }

    /// The values of many rows of one table, in the order asked.
    ///
    /// # Errors
    /// As [`Reader::get`].
    fn multi_get(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        keys.iter()
            .map(|(partition, clustering)| self.get(table, partition, clustering))
            .collect()
    }

    /// Calls `found` with the position and value of each of these rows that exists, in no order.
    /// Asked together, so that an engine can look at many far-off places of memory at once.
    ///
    /// # Errors
    /// As [`Reader::get`].
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

    /// Whether a row is known not to be there without a look at any file. `false` says nothing, and
    /// is always right. Worth asking before [`Reader::get_with`] for many rows of which few are
    /// expected to exist.
    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        let _ = (table, partition, clustering);
        false
    }

    /// [`Reader::known_absent`] of each of `rows`: table, partition key and clustering key. Asked
    /// together, so that an engine can look at many far-off places of memory at once.
    fn known_absent_each(&self, rows: &[(TableId, &[u8], &[u8])]) -> Vec<bool> {
        rows.iter()
            .map(|(table, partition, clustering)| self.known_absent(*table, partition, clustering))
            .collect()
    }

    /// Visits rows of one partition in the order of their clustering keys, calling
    /// `visit(clustering, value)` until it breaks or the range ends.
    ///
    /// # Errors
    /// As [`Reader::get`].
    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError>;

    /// Visits the rows of many ranges: `visit(index of the range, clustering, value)`. A break ends
    /// the scan of that range only. Ranges come in the order given, rows in order within each.
    ///
    /// # Errors
    /// As [`Reader::get`].
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

    /// Where a partition comes in [`Reader::scan_table`]: that of the smaller bytes comes first.
    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        let _ = table;
        partition.to_vec()
    }

    /// Visits all rows of a table. Partitions come in an order of the engine's own that does not
    /// change while the table is not written; rows of a partition come together and in order.
    /// `after` = `(partition, clustering)` of the last row seen resumes right after it, whether or
    /// not it still exists.
    ///
    /// # Errors
    /// As [`Reader::get`].
    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError>;
}

/// One committed state of a space; later writes do not show in it. An engine without
/// [`Isolation::Snapshot`] has no such thing: its snapshots keep the space open and read the newest
/// state.
pub trait Snapshot: Reader {}

/// A figure an engine reports about itself, for metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistic {
    /// Name with its unit last, e.g. `block_cache_bytes`. A figure that only grows ends in
    /// `_total`, and no other does.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Its value now.
    pub value: f64,
}

/// The tables of one graph.
pub trait Space: Reader {
    /// Applies a batch atomically: after a crash at any moment either all of it is there or
    /// nothing. Returns once it is stored as `durability` says and visible to every later read.
    ///
    /// # Errors
    /// After [`KvError::DiskFull`], [`KvError::ReadOnly`], [`KvError::Busy`], [`KvError::Away`] and
    /// [`KvError::TooLarge`] nothing of the batch is stored. After any other error it is unknown
    /// whether it was, and every later write fails until the space is opened again.
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError>;

    /// Whether a write of [`Durability::Buffered`] may have to wait now: for memory, for files to
    /// be merged. Whoever must not wait then leaves it to another thread. A hint: cheap to ask, and
    /// sometimes wrong. An engine that cannot tell says yes.
    fn write_may_wait(&self) -> bool {
        true
    }

    /// Brings every acknowledged write to stable storage.
    ///
    /// # Errors
    /// As [`Space::write`].
    fn sync(&self) -> Result<(), KvError>;

    /// What its readers see of writes under way: what its engine's [`Capabilities`] say.
    fn isolation(&self) -> Isolation {
        Isolation::Snapshot
    }

    /// The committed state of this moment. A snapshot keeps its space open.
    fn snapshot(self: Arc<Self>) -> Arc<dyn Snapshot>;

    /// Writes a copy of the current committed state to the new directory `dir`, from which the
    /// engine can open it as a space; serving goes on meanwhile.
    ///
    /// # Errors
    /// When the copy cannot be written, or the engine keeps no files.
    fn checkpoint(&self, dir: &Path) -> Result<(), KvError>;

    /// Brings buffered rows to their sorted files and compacts them as far as is worth it. Blocks;
    /// for maintenance and measurement.
    ///
    /// # Errors
    /// As [`Space::write`].
    fn compact(&self) -> Result<(), KvError>;

    /// Reads everything back and checks it against its checksums.
    ///
    /// # Errors
    /// [`KvError::Corruption`] naming what is damaged.
    fn verify_checksums(&self) -> Result<(), KvError>;

    /// Figures for metrics.
    fn statistics(&self) -> Vec<Statistic>;

    /// How the space stands with this process. Cheap to ask.
    fn leadership(&self) -> Leadership {
        Leadership::Held
    }

    /// How often the space had been opened when this was opened; 0 where nobody counts.
    fn term(&self) -> u64 {
        0
    }

    /// What no other space has, also none of its name: see [`SpaceId`]. Empty where the engine
    /// cannot be shared.
    fn incarnation(&self) -> String {
        String::new()
    }
}

/// A storage engine: spaces by name.
pub trait Engine: Send + Sync {
    /// The engine's name, as HugeGraph's clients see it (`rocksdb`, `memory`, `cassandra`).
    fn name(&self) -> &'static str;

    /// In what it differs from others.
    fn capabilities(&self) -> Capabilities {
        Capabilities::LOCAL
    }

    /// Says that the process is about to end: writes that wait for something outside of it give up.
    /// What they have begun is decided when the space is opened again.
    fn stop_waiting(&self) {}

    /// Who has a space open, this process or another; `None` where nobody has, or the engine is not
    /// shared.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let _ = space;
        Ok(None)
    }

    /// The names of the spaces that exist, ascending.
    ///
    /// # Errors
    /// When the list cannot be read.
    fn spaces(&self) -> Result<Vec<String>, KvError>;

    /// [`Engine::spaces`], with what tells each from others of its name.
    ///
    /// # Errors
    /// As [`Engine::spaces`].
    fn space_ids(&self) -> Result<Vec<SpaceId>, KvError> {
        let id = |name| SpaceId {
            name,
            incarnation: String::new(),
        };
        Ok(self.spaces()?.into_iter().map(id).collect())
    }

    /// Removes what somebody who began to make a space has left, and could still become one, of the
    /// names that `is_meant` says. What has become a space by now stays.
    ///
    /// # Errors
    /// When that cannot be done; [`KvError::InUse`] when somebody goes on making one.
    fn clear_begun(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<(), KvError> {
        let _ = is_meant;
        Ok(())
    }

    /// Opens the space `name` with `tables`, creating it if it does not exist and `create` is set.
    /// Opening a space that is open already fails.
    ///
    /// # Errors
    /// [`KvError::InvalidName`] for a name that [`crate::is_space_name`] does not allow;
    /// [`KvError::Unavailable`] when it does not exist, or cannot be opened by this version; also
    /// when it is open already or another process's, which an engine that can be shared tells as
    /// [`KvError::InUse`], and as [`KvError::Led`] when it knows whose.
    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError>;

    /// Removes the space `name` and all its rows. Every handle to it must have been dropped; a
    /// missing space is no error. After a crash in the middle the space is either whole or gone at
    /// the next start.
    ///
    /// # Errors
    /// [`KvError::InvalidName`] as with [`Engine::open`]; else when it is open or cannot be
    /// removed.
    fn drop_space(&self, name: &str) -> Result<(), KvError>;

    /// [`Engine::drop_space`] of this very space: one that was made since with its name stays, and
    /// is no error.
    ///
    /// # Errors
    /// As [`Engine::drop_space`].
    fn drop_this(&self, space: &SpaceId) -> Result<(), KvError> {
        self.drop_space(&space.name)
    }
}
