//! A space whose partitions may be in parts.

use std::sync::Arc;

use varve_kv::{
    Absences, Batch, Durability, Flow, KvError, PartitionRange, Reader, ReaderExt, ReaderLayer,
    Row, ScanRequest, Space, SpaceLayer, Statistic, TableId,
};

use crate::counts::row_bytes;
use crate::directory::{Directory, Moment, Parted};
use crate::{full, merge, placing};

/// A space with partitions in parts. It has no snapshots.
pub(crate) struct PartedSpace {
    pub(crate) inner: Arc<dyn Space>,
    pub(crate) directory: Directory,
    /// Whether another process leads the space. It alone knows which removals from older epochs
    /// have ended, so partitions in parts are left to it. The directory is as new as the opening: a
    /// batch that was complete before put all its rows where the directory says.
    pub(crate) is_followed: bool,
}

/// A row to be read.
struct Asked {
    /// The parts in which the row may be, the newest epoch first.
    places: Vec<Vec<u8>>,
    /// The count of removals before the read, if the partition is in parts.
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
    /// Checks, before partitions in parts are read, that this process may read them.
    ///
    /// # Errors
    /// [`KvError::Led`] where the space is only followed.
    fn check_led(&self) -> Result<(), KvError> {
        match self.is_followed {
            false => Ok(()),
            true => Err(KvError::Led {
                space: self.directory.space.clone(),
                address: String::new(),
                term: 0,
            }),
        }
    }

    /// Returns the parts of a partition, and the keys of those in which a row may be, the newest
    /// epoch first; `None` if the row can only be in the partition itself.
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
        self.check_led()?;
        match self.directory.together_in(request.table, request.range) {
            Some(None) => self.inner.scan(request, visit),
            _ => merge::scan(&self.directory, &*self.inner, request, visit).map(drop),
        }
    }

    /// Returns the values of rows, some of which are in partitions in parts.
    fn stored(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
    ) -> Result<Vec<Option<Vec<u8>>>, KvError> {
        self.check_led()?;
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

    /// Reads a row of a partition in parts: one epoch at a time, the newest first. In that order,
    /// concurrent removals cannot make a removed row visible.
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

impl ReaderLayer for PartedSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
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
        let value = self.stored(table, &[(partition, clustering)])?.pop();
        let value = value.flatten();
        value.as_deref().map(found);
        Ok(value.is_some())
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        let parted =
            |(partition, _): &(&[u8], &[u8])| self.directory.parts(table, partition).is_some();
        if !self.directory.any() || !keys.iter().any(parted) {
            return self.inner.get_each(table, keys, found);
        }
        for (at, value) in self.stored(table, keys)?.into_iter().enumerate() {
            if let Some(value) = value {
                found(at, &value);
            }
        }
        Ok(())
    }

    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        if !self.directory.any() {
            return self.inner.known_absent(rows);
        }
        let place_of = |row: &(TableId, &[u8], &[u8])| self.places(row.0, row.1, row.2);
        let places: Vec<_> = rows.iter().map(place_of).collect();
        let mut asked: Vec<(TableId, &[u8], &[u8])> = Vec::with_capacity(rows.len());
        for (row, places) in rows.iter().zip(&places) {
            match places {
                None => asked.push(*row),
                Some((_, places)) => {
                    asked.extend(places.iter().map(|place| (row.0, &**place, row.2)));
                }
            }
        }
        let absent = self.inner.known_absent(&asked);
        let mut rest = absent.as_slice();
        let mut next = |count: usize| {
            let (own, after) = rest.split_at(count);
            rest = after;
            own.iter().all(|absent| *absent)
        };
        let each = places.iter().map(|places| match places {
            None => next(1),
            Some((_, places)) => next(places.len()),
        });
        each.collect()
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
        // The number of ranges visited so far. Ranges of whole partitions are visited together.
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

    fn summaries(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), KvError> {
        if !self.directory.any() {
            return self.inner.summaries(table, ranges, visit);
        }
        (0..ranges.len()).for_each(|at| visit(at, None));
        Ok(())
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        if self.directory.any() && self.directory.may_part(table) {
            self.check_led()?;
        }
        full::scan_table(&self.directory, &*self.inner, table, after, visit)
    }
}

impl PartedSpace {
    /// Visits the ranges number `which` of `ranges`. None of them is of a partition in parts.
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

impl SpaceLayer for PartedSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }

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

    fn layout(&self) -> u64 {
        self.directory.changes()
    }

    fn statistics(&self) -> Vec<Statistic> {
        let (partitions, parts) = self.directory.figures();
        let mut statistics = self.inner.statistics();
        statistics.extend([
            Statistic {
                name: "parted_partitions",
                help: "Partitions that are full and continued in further ones.",
                value: partitions as f64,
            },
            Statistic {
                name: "parted_partition_parts",
                help: "Partitions of the cluster in which full partitions are stored.",
                value: parts as f64,
            },
        ]);
        statistics
    }
}
