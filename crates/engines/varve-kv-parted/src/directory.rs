//! The directory of the partitions of a space that consist of parts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use varve_kv::{
    Batch, ClusteringRange, Durability, Flow, KvError, ScanRequest, Space, TableId, TableSpec,
};

use crate::counts::Counts;
use crate::parts::Parts;
use crate::{PartOptions, PartRule, TABLE};

/// The only partition of the table of records. The clustering key of a record is the key of its
/// partition.
const RECORDS: &[u8] = &[0];

/// The known partitions of a space.
pub(crate) struct Directory {
    pub(crate) space: String,
    specs: &'static [TableSpec],
    /// For each table, its rule, if it has one.
    rules: Vec<Option<PartRule>>,
    records: TableId,
    /// Whether any partition is in parts. Usually there is none, and reads and writes need no
    /// further check.
    any: AtomicBool,
    parted: RwLock<HashMap<Vec<u8>, Arc<Parted>>>,
    /// How often partitions got parts.
    changes: AtomicU64,
    counts: Mutex<Counts>,
    /// Held while records are stored, so that a newer record is stored later.
    storing: Mutex<()>,
}

/// A partition that consists of parts. If it gets further parts, a new value takes its place.
pub(crate) struct Parted {
    pub(crate) parts: Parts,
    /// The number of writes that have removed rows from older epochs; the count continues when
    /// parts are added.
    removals: Arc<AtomicU64>,
}

impl Parted {
    /// Notes that a write which removed rows from older epochs has ended, whether it succeeded or
    /// not. Must be called before the writer is answered.
    ///
    /// One call is enough for a failed write, because the engine below settles the write's outcome
    /// before the process can continue to use the space: the engine answers when the
    /// outcome is certain, or when this process can write no more
    /// (`docs/architecture-cassandra.md`, "A batch"). An engine that may carry out a
    /// write after this call, and then later writes of the same rows, would need a second call.
    pub(crate) fn removed(&self) {
        self.removals.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of calls of [`Parted::removed`]. A reader reads it before the rows and again
    /// after them: if it has grown, a removal ended in between.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }
}

/// A partition in parts, and the number of its completed removals before a read of it.
///
/// The newest epoch that knows a row decides its value, and older ones do not count. The first
/// removal of a row puts a tombstone into the newest epoch, which hides older rows until they are
/// deleted. Once they are, a second removal deletes the tombstone. A reader that reads an older
/// epoch before the first removal and the newest epoch after the second would see a row that was
/// removed long ago. That cannot happen if no removal was completed between the moment and the
/// end of the reads.
pub(crate) struct Moment {
    pub(crate) parted: Arc<Parted>,
    removals: u64,
}

impl Moment {
    pub(crate) fn of(parted: Arc<Parted>) -> Self {
        let removals = parted.removals();
        Self { parted, removals }
    }

    /// Whether no removal from older epochs was completed since.
    pub(crate) fn stands(&self) -> bool {
        self.parted.removals() == self.removals
    }
}

impl Directory {
    /// Reads the records of a space that was opened with `specs`.
    pub(crate) fn load(
        space: &str,
        inner: &dyn Space,
        specs: &'static [TableSpec],
        rules: &[PartRule],
        options: PartOptions,
    ) -> Result<Self, KvError> {
        let rule = |spec: &TableSpec| rules.iter().find(|rule| rule.table == spec.name);
        let records = specs.iter().position(|spec| spec.name == TABLE);
        let records = records.and_then(|at| u8::try_from(at).ok()).map(TableId);
        let directory = Self {
            space: space.to_owned(),
            specs,
            rules: specs.iter().map(|spec| rule(spec).copied()).collect(),
            records: records.expect("the space was opened with the table of records"),
            any: AtomicBool::new(false),
            parted: RwLock::default(),
            changes: AtomicU64::new(0),
            counts: Mutex::new(Counts::new(options.bytes_max)),
            storing: Mutex::default(),
        };
        directory.read_records(inner)?;
        Ok(directory)
    }

    fn read_records(&self, inner: &dyn Space) -> Result<(), KvError> {
        let request = ScanRequest {
            table: self.records,
            partition: RECORDS,
            range: &ClusteringRange::all(),
            reverse: false,
        };
        let mut damaged = false;
        inner.scan(request, &mut |partition, record| {
            let Some((parts, bytes)) = Parts::of_record(record) else {
                damaged = true;
                return Flow::Break(());
            };
            self.counts.lock().learn(partition, parts.clone(), bytes);
            self.publish(partition, parts);
            Flow::Continue(())
        })?;
        match damaged {
            true => Err(self.damaged("a record of a partition's parts")),
            false => Ok(()),
        }
    }

    pub(crate) fn damaged(&self, what: &str) -> KvError {
        KvError::Corruption {
            space: self.space.clone(),
            detail: format!("{what} cannot be read"),
        }
    }

    fn publish(&self, partition: &[u8], parts: Parts) {
        if parts.is_whole() {
            return;
        }
        let mut parted = self.parted.write();
        let before = parted.get(partition);
        let removals = before.map(|before| Arc::clone(&before.removals));
        let removals = removals.unwrap_or_default();
        let now = Arc::new(Parted { parts, removals });
        parted.insert(partition.to_vec(), now);
        self.any.store(true, Ordering::Release);
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// How often partitions have got parts, as far as this process knows. It grows before the first
    /// row is put into the new parts.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Whether partitions of a table may be in parts.
    pub(crate) fn may_part(&self, table: TableId) -> bool {
        self.rules[usize::from(table.0)].is_some()
    }

    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Returns the parts of a partition, if it is in parts.
    pub(crate) fn parts(&self, table: TableId, partition: &[u8]) -> Option<Arc<Parted>> {
        if !self.any() || !self.may_part(table) {
            return None;
        }
        self.parted.read().get(partition).cloned()
    }

    /// Returns the piece of a clustering key that decides the part of its row; `None` if the row
    /// stays in the partition itself.
    pub(crate) fn together<'c>(&self, table: TableId, clustering: &'c [u8]) -> Option<&'c [u8]> {
        let rule = self.rules[usize::from(table.0)].as_ref()?;
        (rule.together)(clustering)
    }

    /// Returns that piece for all rows in a range: `None` if they may be in different parts,
    /// `Some(None)` if all stay in the partition itself.
    pub(crate) fn together_in<'r>(
        &self,
        table: TableId,
        range: &'r ClusteringRange,
    ) -> Option<Option<&'r [u8]>> {
        let rule = self.rules[usize::from(table.0)].as_ref()?;
        (rule.of_prefix)(range.common_prefix())
    }

    /// Whether a key of a table is that of a part.
    pub(crate) fn is_part(&self, table: TableId, key: &[u8]) -> bool {
        let length = (self.specs[usize::from(table.0)].partition_len)(key);
        length.is_some_and(|length| length < key.len())
    }

    /// All partitions that are in parts.
    pub(crate) fn all(&self) -> Vec<Vec<u8>> {
        self.parted.read().keys().cloned().collect()
    }

    /// The number of partitions in parts, and the number of these parts.
    pub(crate) fn figures(&self) -> (usize, usize) {
        let parted = self.parted.read();
        (
            parted.len(),
            parted.values().map(|parted| parted.parts.count()).sum(),
        )
    }

    /// Notes the bytes that a scan has found in a whole partition.
    pub(crate) fn found(&self, partition: &[u8], bytes: u64) {
        self.counts.lock().found(partition, bytes);
    }

    /// Counts tombstones of `bytes` that are about to be written.
    pub(crate) fn marked(&self, partition: &[u8], bytes: u64) {
        self.counts.lock().add(partition, bytes);
    }

    /// Counts a batch that is about to be written. Partitions that have reached their share get
    /// further parts now: their records are stored before any row is put into these parts.
    pub(crate) fn count(&self, inner: &dyn Space, batch: &Batch) -> Result<(), KvError> {
        let is_due = {
            let mut counts = self.counts.lock();
            counts.count(batch, |table, clustering| {
                self.together(table, clustering).is_some()
            });
            counts.is_due()
        };
        if !is_due {
            return Ok(());
        }
        let _turn = self.storing.lock();
        let due = self.counts.lock().take_due();
        let mut records = Batch::new();
        for due in &due {
            let record = due.parts.record(due.bytes);
            records.put(self.records, RECORDS, &due.partition, &record);
        }
        if records.is_empty() {
            return Ok(());
        }
        if let Err(error) = inner.write(&records, Durability::Sync) {
            self.counts.lock().put_back(due);
            return Err(error);
        }
        self.counts.lock().stored(&due);
        for due in due {
            self.publish(&due.partition, due.parts);
        }
        Ok(())
    }
}
