//! A space whose partitions may be in parts.

use std::path::Path;
use std::sync::Arc;

use varve_kv::{
    Batch, Durability, Flow, Isolation, KvError, Leadership, NewestState, PartitionRange, Reader,
    Row, ScanRequest, Snapshot, Space, Statistic, TableId,
};

use crate::counts::row_bytes;
use crate::directory::{Directory, Moment, Parted};
use crate::{full, merge, placing};

/// The space. Its snapshots are none: they keep it open and read the newest state.
pub(crate) struct PartedSpace {
    pub(crate) inner: Arc<dyn Space>,
    pub(crate) directory: Directory,
}

/// A row that is asked for.
struct Asked {
    /// Where it may be, the newest epoch first.
    places: Vec<Vec<u8>>,
    /// When that began, if it is of a partition in parts.
    moment: Option<Moment>,
}

impl Asked {
    fn new(partition: &[u8], places: Option<(Arc<Parted>, Vec<Vec<u8>>)>) -> Self {
        match places {
            None => Self {
                places: vec![partition.to_vec()],
                moment: None,
            },
            Some((parted, places)) => Self {
                places,
                moment: Some(Moment::of(parted)),
            },
        }
    }
}

impl PartedSpace {
    /// The parts of a partition, and where a row of it may be in them, the newest epoch first;
    /// `None` if only in the partition itself.
    fn places(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Option<(Arc<Parted>, Vec<Vec<u8>>)> {
        let parted = self.directory.parts(table, partition)?;
        let together = self.directory.together(table, clustering)?;
        let places = parted.parts.places(partition, together);
        Some((parted, places))
    }

    fn merged(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        match self.directory.together_in(request.table, request.range) {
            Some(None) => self.inner.scan(request, visit),
            _ => merge::scan(&self.directory, &*self.inner, request, visit).map(drop),
        }
    }

    /// A row of a partition that is in parts, asked for in one epoch after the other, the newest
    /// first: what is removed meanwhile does not matter.
    fn get_in_turn(
        &self,
        table: TableId,
        places: &[Vec<u8>],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        let mut stored = vec![None; places.len()];
        for (place, stored) in places.iter().zip(&mut stored) {
            *stored = self.inner.get(table, place, clustering)?;
            if stored.is_some() {
                break;
            }
        }
        placing::newest(&self.directory, stored)
    }
}

impl Reader for PartedSpace {
    fn get(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<Option<Vec<u8>>, KvError> {
        if self.directory.parts(table, partition).is_none() {
            return self.inner.get(table, partition, clustering);
        }
        let mut values = self.multi_get(table, &[(partition, clustering)])?;
        Ok(values.pop().flatten())
    }

    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        if self.directory.parts(table, partition).is_none() {
            return self.inner.get_with(table, partition, clustering, found);
        }
        let value = self.get(table, partition, clustering)?;
        value.as_deref().map(found);
        Ok(value.is_some())
    }

    fn multi_get(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        let parted =
            |(partition, _): &(&[u8], &[u8])| self.directory.parts(table, partition).is_some();
        if !self.directory.any() || !keys.iter().any(parted) {
            return self.inner.multi_get(table, keys);
        }
        let asked: Vec<Asked> = keys
            .iter()
            .map(|(partition, clustering)| {
                let places = self.places(table, partition, clustering);
                Asked::new(partition, places)
            })
            .collect();
        let rows = asked.iter().zip(keys);
        let rows = rows.flat_map(|(asked, (_, clustering))| {
            let places = asked.places.iter();
            places.map(|place| (place.as_slice(), *clustering))
        });
        let rows: Vec<(&[u8], &[u8])> = rows.collect();
        let mut stored = self.inner.multi_get(table, &rows)?.into_iter();
        let values = asked.iter().zip(keys).map(|(asked, (_, clustering))| {
            let stored: Vec<Option<Vec<u8>>> = stored.by_ref().take(asked.places.len()).collect();
            match asked.moment.as_ref().is_none_or(Moment::stands) {
                true => placing::newest(&self.directory, stored),
                false => self.get_in_turn(table, &asked.places, clustering),
            }
        });
        values.collect()
    }

    fn known_absent(&self, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        match self.places(table, partition, clustering) {
            None => self.inner.known_absent(table, partition, clustering),
            Some((_, places)) => places
                .iter()
                .all(|place| self.inner.known_absent(table, place, clustering)),
        }
    }

    fn known_absent_each(&self, rows: &[(TableId, &[u8], &[u8])]) -> Vec<bool> {
        if !self.directory.any() {
            return self.inner.known_absent_each(rows);
        }
        rows.iter()
            .map(|(table, partition, clustering)| self.known_absent(*table, partition, clustering))
            .collect()
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let parted = self.directory.parts(request.table, request.partition);
        if parted.is_some() {
            return self.merged(request, visit);
        }
        if !self.directory.may_part(request.table) {
            return self.inner.scan(request, visit);
        }
        let mut bytes = 0;
        self.inner.scan(request, &mut |clustering, value| {
            bytes += row_bytes(clustering, value);
            visit(clustering, value)
        })?;
        self.directory.found(request.partition, bytes);
        Ok(())
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if !self.directory.any() || !self.directory.may_part(table) {
            return self.inner.scan_many(table, ranges, visit);
        }
        // Up to where the ranges have been visited; those of whole partitions are visited together.
        let mut done = 0;
        for (at, one) in ranges.iter().enumerate() {
            if self.directory.parts(table, one.partition).is_none() {
                continue;
            }
            self.visit_whole(table, ranges, done..at, visit)?;
            self.merged(one.request(table), &mut |clustering, value| {
                visit(at, clustering, value)
            })?;
            done = at + 1;
        }
        self.visit_whole(table, ranges, done..ranges.len(), visit)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        full::scan_table(&self.directory, &*self.inner, table, after, visit)
    }

    fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8> {
        self.inner.partition_order(table, partition)
    }
}

impl PartedSpace {
    /// Visits some of many ranges, none of a partition that is in parts.
    #[expect(
        clippy::type_complexity,
        reason = "the visitor's signature says it better than a name would"
    )]
    fn visit_whole(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        which: std::ops::Range<usize>,
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if which.is_empty() {
            return Ok(());
        }
        let first = which.start;
        let whole = &ranges[which];
        self.inner
            .scan_many(table, whole, &mut |at, clustering, value| {
                visit(first + at, clustering, value)
            })
    }
}

impl Space for PartedSpace {
    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        self.directory.count(&*self.inner, batch)?;
        match placing::placed(&self.directory, &*self.inner, batch)? {
            None => self.inner.write(batch, durability),
            Some(placed) => {
                let written = self.inner.write(&placed.batch, durability);
                placed.emptied.iter().for_each(|parted| parted.removed());
                written
            }
        }
    }

    fn write_may_wait(&self) -> bool {
        self.inner.write_may_wait()
    }

    fn sync(&self) -> Result<(), KvError> {
        self.inner.sync()
    }

    fn isolation(&self) -> Isolation {
        Isolation::Partition
    }

    fn snapshot(self: Arc<Self>) -> Arc<dyn Snapshot> {
        Arc::new(NewestState(self))
    }

    fn checkpoint(&self, dir: &Path) -> Result<(), KvError> {
        self.inner.checkpoint(dir)
    }

    fn compact(&self) -> Result<(), KvError> {
        self.inner.compact()
    }

    fn verify_checksums(&self) -> Result<(), KvError> {
        self.inner.verify_checksums()
    }

    fn statistics(&self) -> Vec<Statistic> {
        let (partitions, parts) = self.directory.figures();
        let mut statistics = self.inner.statistics();
        statistics.extend([
            Statistic {
                name: "parted_partitions",
                help: "Partitions that had so many rows that they are continued in others.",
                value: partitions as f64,
            },
            Statistic {
                name: "parted_partition_parts",
                help: "Partitions of the cluster that these consist of.",
                value: parts as f64,
            },
        ]);
        statistics
    }

    fn leadership(&self) -> Leadership {
        self.inner.leadership()
    }

    fn term(&self) -> u64 {
        self.inner.term()
    }

    fn incarnation(&self) -> String {
        self.inner.incarnation()
    }
}
