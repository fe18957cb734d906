//! Which partitions of a space are in parts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use varve_kv::{
    Batch, ClusteringRange, Durability, Flow, KvError, ScanRequest, Space, TableId, TableSpec,
};

use crate::counts::Counts;
use crate::parts::Parts;
use crate::{PartOptions, PartRule, TABLE, Together};

/// The only partition of the table of records; its rows are called as the partitions that they tell of.
const RECORDS: &[u8] = &[0];

/// What is known of a space's partitions.
pub(crate) struct Directory {
    pub(crate) space: String,
    specs: &'static [TableSpec],
    /// By table.
    rules: Vec<Option<Together>>,
    records: TableId,
    /// Whether any partition is in parts: mostly none is, and then nothing else has to be looked at.
    any: AtomicBool,
    parted: RwLock<HashMap<Vec<u8>, Arc<Parts>>>,
    counts: Mutex<Counts>,
    /// Held by whoever stores records, so that the newer one comes later.
    storing: Mutex<()>,
}

/// A partition that is in parts.
pub(crate) struct Parted {
    pub(crate) partition: Vec<u8>,
    pub(crate) parts: Arc<Parts>,
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
            rules: specs
                .iter()
                .map(|spec| rule(spec).map(|rule| rule.together))
                .collect(),
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
        parted.insert(partition.to_vec(), Arc::new(parts));
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
    pub(crate) fn parts(&self, table: TableId, partition: &[u8]) -> Option<Arc<Parts>> {
        if !self.any() || !self.may_part(table) {
            return None;
        }
        self.parted.read().get(partition).cloned()
    }

    /// By what a row is put into a part; `None` if it stays in its partition.
    pub(crate) fn together<'c>(&self, table: TableId, clustering: &'c [u8]) -> Option<&'c [u8]> {
        self.rules[usize::from(table.0)].and_then(|together| together(clustering))
    }

    /// Whether a key of a table is that of a part.
    pub(crate) fn is_part(&self, table: TableId, key: &[u8]) -> bool {
        let length = (self.specs[usize::from(table.0)].partition_len)(key);
        length.is_some_and(|length| length < key.len())
    }

    /// All partitions that are in parts.
    pub(crate) fn all(&self) -> Vec<Parted> {
        let parted = self.parted.read();
        let all = parted.iter().map(|(partition, parts)| Parted {
            partition: partition.clone(),
            parts: Arc::clone(parts),
        });
        all.collect()
    }

    /// How many partitions are in parts, and how many parts these have.
    pub(crate) fn figures(&self) -> (usize, usize) {
        let parted = self.parted.read();
        (
            parted.len(),
            parted.values().map(|parts| parts.count()).sum(),
        )
    }

    /// Takes notice of what a scan has found in a partition that is in one piece.
    pub(crate) fn found(&self, partition: &[u8], bytes: u64) {
        self.counts.lock().found(partition, bytes);
    }

    /// Counts a batch that is about to be written. Where partitions have to go on in further parts they do so from here on: that is
    /// stored before any row is put into them.
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
