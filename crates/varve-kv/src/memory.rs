//! The in-memory engine: for tests and for graphs that need not outlive the process.
//!
//! It fulfils the whole contract except durability, and writes no checkpoints. It also checks its
//! callers: a write panics if [`TableSpec::partition_len`] of its table does not find the end of
//! its partition key. Other engines would store such a row without an error. A space exists until
//! it is dropped or the engine is: after it was closed it can be opened again, with its rows.

mod rows;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use crate::range::prefix_end;
use crate::{
    Batch, Capabilities, ClusteringRange, Durability, Engine, Flow, KvError, Op, PartitionRange,
    Reader, ReaderLayer, Row, ScanRequest, Space, SpaceId, Statistic, TableId, TableSpec,
    check_space_name,
};
use rows::Rows;

/// A read of a row joins keys up to this size on the stack.
const INLINE_KEY_BYTES: usize = 128;

/// The engine. Two engines do not share spaces.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    spaces: Mutex<BTreeMap<String, Slot>>,
}

/// A space that exists, open or not.
#[derive(Debug, Default)]
struct Slot {
    state: Arc<RwLock<Arc<SpaceRows>>>,
    open: Weak<MemorySpace>,
}

/// All rows of a space at one moment. Tables have names, so that a space can be opened again with
/// further tables, or with the same tables in another order.
#[derive(Debug, Clone, Default)]
struct SpaceRows {
    tables: Vec<(&'static str, Rows)>,
    writes: u64,
}

impl MemoryEngine {
    /// An engine without spaces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for MemoryEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities::local("memory")
    }

    fn spaces(&self) -> Result<Vec<SpaceId>, KvError> {
        let spaces = self.spaces.lock();
        Ok(spaces.keys().cloned().map(SpaceId::local).collect())
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        check_space_name(name)?;
        let mut spaces = self.spaces.lock();
        if !spaces.contains_key(name) && !create {
            return Err(unavailable(name, "it does not exist"));
        }
        let slot = spaces.entry(name.to_owned()).or_default();
        if slot.open.strong_count() > 0 {
            return Err(unavailable(name, "it is open already"));
        }
        arrange_tables(name, tables, &slot.state)?;
        let space = Arc::new(MemorySpace {
            name: name.to_owned(),
            specs: tables,
            state: Arc::clone(&slot.state),
        });
        slot.open = Arc::downgrade(&space);
        Ok(space)
    }

    fn drop_space(&self, name: &str, _incarnation: Option<&str>) -> Result<(), KvError> {
        check_space_name(name)?;
        let mut spaces = self.spaces.lock();
        if spaces
            .get(name)
            .is_some_and(|slot| slot.open.strong_count() > 0)
        {
            return Err(unavailable(name, "it is open; close it before dropping it"));
        }
        spaces.remove(name);
        Ok(())
    }
}

/// Puts the tables of a space in the order of `tables`; new tables are empty.
///
/// # Errors
/// [`KvError::Unavailable`] when the space has a table that is not in `tables`.
fn arrange_tables(
    name: &str,
    tables: &'static [TableSpec],
    state: &RwLock<Arc<SpaceRows>>,
) -> Result<(), KvError> {
    let mut state = state.write();
    for (table, _) in &state.tables {
        if !tables.iter().any(|spec| spec.name == *table) {
            let detail = format!("it has a table '{table}' that this version does not know");
            return Err(unavailable(name, &detail));
        }
    }
    let arranged = tables
        .iter()
        .map(|spec| {
            let old = state.tables.iter().find(|(table, _)| *table == spec.name);
            (
                spec.name,
                old.map(|(_, rows)| rows.clone()).unwrap_or_default(),
            )
        })
        .collect();
    Arc::make_mut(&mut state).tables = arranged;
    Ok(())
}

fn unavailable(space: &str, detail: &str) -> KvError {
    KvError::Unavailable {
        space: space.to_owned(),
        detail: detail.to_owned(),
    }
}

/// One space of a [`MemoryEngine`].
#[derive(Debug)]
struct MemorySpace {
    name: String,
    specs: &'static [TableSpec],
    state: Arc<RwLock<Arc<SpaceRows>>>,
}

impl MemorySpace {
    fn now(&self) -> Arc<SpaceRows> {
        Arc::clone(&self.state.read())
    }
}

impl Space for MemorySpace {
    fn write(&self, batch: &Batch, _durability: Durability) -> Result<(), KvError> {
        let mut key = Vec::new();
        for op in batch.ops() {
            check_partition(self.specs, &op, &mut key);
        }
        let mut state = self.state.write();
        let state = Arc::make_mut(&mut state);
        state.writes += 1;
        for op in batch.ops() {
            apply(state, op, &mut key);
        }
        Ok(())
    }

    fn write_may_wait(&self) -> bool {
        false
    }

    fn sync(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        let (specs, state) = (self.specs, self.now());
        let view = View { specs, state };
        Some(Arc::new(MemorySnapshot { view, _space: self }))
    }

    fn checkpoint(&self, _dir: &Path) -> Result<(), KvError> {
        Err(KvError::Io {
            space: self.name.clone(),
            detail: "the in-memory engine keeps no files to copy".to_owned(),
        })
    }

    fn compact(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn statistics(&self) -> Vec<Statistic> {
        let state = self.now();
        let rows: usize = state.tables.iter().map(|(_, rows)| rows.len()).sum();
        vec![
            Statistic {
                name: "rows",
                help: "Rows stored in all tables.",
                value: rows as f64,
            },
            Statistic {
                name: "write_batches_total",
                help: "Batches written since the space was created.",
                value: state.writes as f64,
            },
        ]
    }
}

/// Panics unless [`TableSpec::partition_len`] finds the end of the partition key of `op`. Replaces
/// the contents of `key`.
fn check_partition(specs: &[TableSpec], op: &Op<'_>, key: &mut Vec<u8>) {
    let (table, partition, rest) = match *op {
        Op::Put {
            table,
            partition,
            clustering,
            ..
        }
        | Op::Delete {
            table,
            partition,
            clustering,
        } => (table, partition, clustering),
        Op::DeletePrefix {
            table,
            partition,
            prefix,
        } => (table, partition, prefix),
    };
    let spec = &specs[usize::from(table.0)];
    join(partition, rest, key);
    assert_eq!(
        (spec.partition_len)(key),
        Some(partition.len()),
        "a partition key of table '{}' is not delimited by partition_len; partition {:02x?}, clustering {:02x?}",
        spec.name,
        partition,
        rest,
    );
}

fn apply(state: &mut SpaceRows, op: Op<'_>, key: &mut Vec<u8>) {
    match op {
        Op::Put {
            table,
            partition,
            clustering,
            value,
        } => {
            join(partition, clustering, key);
            state.tables[usize::from(table.0)].1.put(key, value);
        }
        Op::Delete {
            table,
            partition,
            clustering,
        } => {
            join(partition, clustering, key);
            state.tables[usize::from(table.0)].1.delete(key);
        }
        Op::DeletePrefix {
            table,
            partition,
            prefix,
        } => {
            join(partition, prefix, key);
            let rows = &mut state.tables[usize::from(table.0)].1;
            let end = prefix_end(key);
            let doomed: Vec<Vec<u8>> = rows
                .range(key, end.as_deref())
                .map(|(key, _)| key.to_vec())
                .collect();
            for key in doomed {
                rows.delete(&key);
            }
        }
    }
}

fn joined(partition: &[u8], clustering: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    join(partition, clustering, &mut key);
    key
}

/// Replaces the contents of `key` by the partition key followed by the clustering key.
fn join(partition: &[u8], clustering: &[u8], key: &mut Vec<u8>) {
    key.clear();
    key.reserve(partition.len() + clustering.len());
    key.extend_from_slice(partition);
    key.extend_from_slice(clustering);
}

/// A snapshot: one state, and the space, which the snapshot keeps open.
#[derive(Debug)]
struct MemorySnapshot {
    view: View,
    _space: Arc<MemorySpace>,
}

impl ReaderLayer for MemorySnapshot {
    type Below<'a> = View;

    fn read<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.view)
    }
}

/// A reader of one state. It holds no lock, so a visitor may write to the space that it scans.
#[derive(Debug)]
struct View {
    specs: &'static [TableSpec],
    state: Arc<SpaceRows>,
}

impl View {
    fn rows(&self, table: TableId) -> &Rows {
        &self.state.tables[usize::from(table.0)].1
    }

    /// The rows of a range that is not empty, by whole keys.
    fn range(
        &self,
        table: TableId,
        partition: &[u8],
        range: &ClusteringRange,
    ) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
        let from = joined(partition, &range.from);
        let to = match &range.to {
            Some(to) => Some(joined(partition, to)),
            None => prefix_end(partition),
        };
        self.rows(table).range(&from, to.as_deref())
    }
}

impl Reader for View {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let mut key = SmallVec::<[u8; INLINE_KEY_BYTES]>::new();
        key.extend_from_slice(partition);
        key.extend_from_slice(clustering);
        let value = self.rows(table).get(&key);
        value.map(found);
        Ok(value.is_some())
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if request.range.is_empty() {
            return Ok(());
        }
        let mut rows = self.range(request.table, request.partition, request.range);
        while let Some((key, value)) = if request.reverse {
            rows.next_back()
        } else {
            rows.next()
        } {
            if visit(&key[request.partition.len()..], value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn summaries(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), KvError> {
        let summarize = self.specs[usize::from(table.0)].summarize;
        for (at, PartitionRange { partition, range }) in ranges.iter().enumerate() {
            let summary = summarize.filter(|_| !range.is_empty()).map(|summarize| {
                let rows = self.range(table, partition, range);
                let rows = &mut rows.map(|(key, value)| (&key[partition.len()..], value));
                summarize(partition, rows)
            });
            let summary = summary.filter(|summary| !summary.is_empty());
            visit(at, summary.as_deref());
        }
        Ok(())
    }

    fn partition_order(&self, _: TableId, partition: &[u8]) -> Vec<u8> {
        partition.to_vec()
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let spec = &self.specs[usize::from(table.0)];
        let mut from = Vec::new();
        if let Some((partition, clustering)) = after {
            from = joined(partition, clustering);
            // The smallest key after this one.
            from.push(0);
        }
        for (key, value) in self.rows(table).range(&from, None) {
            let length = (spec.partition_len)(key).expect("checked when the row was written");
            let (partition, clustering) = key.split_at(length);
            let row = Row {
                partition,
                clustering,
                value,
            };
            if visit(row).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl ReaderLayer for MemorySpace {
    type Below<'a> = View;

    fn read<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        let (specs, state) = (self.specs, self.now());
        read(&View { specs, state })
    }
}
