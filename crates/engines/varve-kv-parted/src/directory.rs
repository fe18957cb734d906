//! Which partitions of a space are in parts.

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

/// The only partition of the table of records; its rows are called as the partitions that they tell
/// of.
const RECORDS: &[u8] = &[0];

/// What is known of a space's partitions.
pub(crate) struct Directory {
    pub(crate) space: String,
    specs: &'static [TableSpec],
    /// By table.
    rules: Vec<Option<PartRule>>,
    records: TableId,
    /// Whether any partition is in parts: mostly none is, and then nothing else has to be looked
    /// at.
    any: AtomicBool,
    parted: RwLock<HashMap<Vec<u8>, Arc<Parted>>>,
    counts: Mutex<Counts>,
    /// Held by whoever stores records, so that the newer one comes later.
    storing: Mutex<()>,
}

/// A partition that is in parts, as long as it has these.
pub(crate) struct Parted {
    pub(crate) parts: Parts,
    /// How many writes have removed rows from older epochs; counts on when there are more parts.
    removals: Arc<AtomicU64>,
}

impl Parted {
    /// A write that took rows out of older epochs is done, whatever became of it. To be said before
    /// its caller is answered.
    ///
    /// Of a write that failed it is said, too. That is enough only as no write is unknown to a
    /// living process that goes on with the space: the engine below answers when it is certain
    /// whether it was carried out, or when this process writes no more
    /// (`docs/decisions/0007-cassandra.md`). Where it might be carried out after this was said,
    /// with later writes of its rows following, it would have to be said again then.
    pub(crate) fn removed(&self) {
        self.removals.fetch_add(1, Ordering::AcqRel);
    }

    /// How often that was said. To be asked before something is read: what is removed later is
    /// counted later.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }
}

/// A moment of a partition that is in parts.
///
/// What the newest epoch says of a row counts, and what older ones say does not. Once a row has
/// been removed from all of them, nothing has to be said of it any more, so a second removal takes
/// away what the first had put in the newest one to hide the others until they were empty. Who has
/// read an older epoch before the first and the newest one after the second sees what had been
/// hidden long before. It has not come to that as long as no removal was completed since the moment
/// before the reads.
pub(crate) struct Moment {
    pub(crate) parted: Arc<Parted>,
    removals: u64,
}

impl Moment {
    pub(crate) fn of(parted: Arc<Parted>) -> Self {
        let removals = parted.removals();
        Self { parted, removals }
    }

    /// Whether nothing was removed from older epochs since.
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
    }

    /// Whether partitions of a table may be in parts.
    pub(crate) fn may_part(&self, table: TableId) -> bool {
        self.rules[usize::from(table.0)].is_some()
    }

    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// The parts of a partition, if it is in parts.
    pub(crate) fn parts(&self, table: TableId, partition: &[u8]) -> Option<Arc<Parted>> {
        if !self.any() || !self.may_part(table) {
            return None;
        }
        self.parted.read().get(partition).cloned()
    }

    /// By what a row is put into a part; `None` if it stays in its partition.
    pub(crate) fn together<'c>(&self, table: TableId, clustering: &'c [u8]) -> Option<&'c [u8]> {
        let rule = self.rules[usize::from(table.0)].as_ref()?;
        (rule.together)(clustering)
    }

    /// The same of all rows in a range: `None` if they may be put into different parts,
    /// `Some(None)` if all stay in the partition.
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

    /// How many partitions are in parts, and how many parts these have.
    pub(crate) fn figures(&self) -> (usize, usize) {
        let parted = self.parted.read();
        (
            parted.len(),
            parted.values().map(|parted| parted.parts.count()).sum(),
        )
    }

    /// Takes notice of what a scan has found in a partition that is in one piece.
    pub(crate) fn found(&self, partition: &[u8], bytes: u64) {
        self.counts.lock().found(partition, bytes);
    }

    /// Counts marks that are about to be written, of so many bytes.
    pub(crate) fn marked(&self, partition: &[u8], bytes: u64) {
        self.counts.lock().add(partition, bytes);
    }

    /// Counts a batch that is about to be written. Where partitions have to go on in further parts
    /// they do so from here on: that is stored before any row is put into them.
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
