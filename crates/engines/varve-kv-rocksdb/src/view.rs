//! Reads of a space, at its newest state or at a snapshot.

use rust_rocksdb::{ErrorKind, ReadOptions};
use smallvec::SmallVec;
use varve_kv::range::prefix_end;
use varve_kv::{Flow, KvError, PartitionRange, Reader, Row, ScanRequest, TableId, TableSpec};

use crate::cuts;
use crate::errors::{WHAT_TO_DO, kv_error};
use crate::families::{Db, Families, Family, RawIterator, Snapshot};
use crate::tiers::{LOOKS_A_SCAN, Looks};

/// Keys up to this length are joined without an allocation.
type Key = SmallVec<[u8; 128]>;

/// From this number of keys on, RocksDB's multi-get is used.
const MULTI_GET_MIN: usize = 4;

/// From this number of ranges on, some may be adjacent, so the iterator may step from one to the
/// next.
const NEAR_RANGES_MIN: usize = 64;
/// The most rows that are stepped over to reach the next range. A seek costs as much as about ten
/// steps.
const NEAR_ROWS: usize = 8;
/// The most deleted or overwritten rows in sequence that an iterator over many ranges skips. Then
/// it gives up, since these rows may be beyond the range. Skipping this many costs about as much as
/// creating an iterator.
const SKIPPED_ROWS_MAX: u64 = 128;

/// A reader of one state.
pub(crate) struct View<'a> {
    pub(crate) space: &'a str,
    pub(crate) db: &'a Db,
    pub(crate) families: &'a Families,
    pub(crate) tables: &'static [TableSpec],
    pub(crate) snapshot: Option<&'a Snapshot<'a>>,
    /// For point reads, with the snapshot set if there is one.
    pub(crate) point_options: &'a ReadOptions,
    /// Counts the look-ups in the files, from which the number of runs is chosen.
    pub(crate) looks: &'a Looks,
}

impl<'a> View<'a> {
    fn spec(&self, table: TableId) -> &'static TableSpec {
        &self.tables[usize::from(table.0)]
    }

    /// The family of a table; `None` if the table has never had files.
    pub(crate) fn family(&self, table: TableId) -> Option<Family<'a>> {
        self.families.get(table)
    }

    fn scan_options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        if let Some(snapshot) = self.snapshot {
            options.set_snapshot(snapshot);
        }
        options
    }

    fn iterator(&self, family: Family<'_>, options: ReadOptions) -> RawIterator<'a> {
        self.db.raw_iterator_cf_opt(&family, options)
    }

    fn failed(&self, error: &rust_rocksdb::Error) -> KvError {
        kv_error(self.space, error)
    }

    fn finish(&self, rows: &RawIterator<'_>) -> Result<(), KvError> {
        rows.status().map_err(|error| self.failed(&error))
    }

    /// Scans the rows of a range after the last visited one, or all of them if `last` is `None`.
    /// The iterator is bounded by the range's end, so it skips no deleted rows beyond it.
    fn scan_rest(
        &self,
        table: TableId,
        one: PartitionRange<'_>,
        last: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let mut range = one.range.clone();
        if let Some(last) = last {
            // The smallest key after this one.
            range.from = [last, &[0]].concat();
        }
        let request = ScanRequest {
            table,
            partition: one.partition,
            range: &range,
            reverse: false,
        };
        self.scan(request, visit)
    }

    fn scan_backwards(
        &self,
        family: Family<'_>,
        request: ScanRequest<'_>,
        bounds: (Key, Option<Vec<u8>>),
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let mut options = self.scan_options();
        // Filters of partition keys do not help a scan from the end.
        options.set_total_order_seek(true);
        options.set_iterate_lower_bound(bounds.0.into_vec());
        if let Some(to) = bounds.1 {
            options.set_iterate_upper_bound(to);
        }
        let mut rows = self.iterator(family, options);
        rows.seek_to_last();
        while let Some((key, value)) = rows.item() {
            if visit(&key[request.partition.len()..], value).is_break() {
                return Ok(());
            }
            rows.prev();
        }
        self.finish(&rows)
    }
}

/// An iterator that visits range after range: by steps if the next range is near, otherwise by a
/// seek.
struct RangeIterator<'a, 'r> {
    family: Family<'a>,
    /// Whether the table is mostly read row by row.
    point_reads: bool,
    inner: RawIterator<'a>,
    /// Whether the iterator may step from one partition into the next. Such an iterator cannot use
    /// the filters of partition keys, so a seek costs more.
    crosses: bool,
    /// The previous range.
    before: Option<PartitionRange<'r>>,
    visited: usize,
    seeks: usize,
}

impl<'a, 'r> RangeIterator<'a, 'r> {
    fn new(view: &View<'a>, table: TableId, family: Family<'a>, ranges: usize) -> Self {
        let crosses = ranges >= NEAR_RANGES_MIN;
        let point_reads = view.spec(table).point_reads;
        Self {
            family,
            point_reads,
            inner: Self::iterator(view, family, point_reads, crosses),
            crosses,
            before: None,
            visited: 0,
            seeks: 0,
        }
    }

    fn iterator(
        view: &View<'a>,
        family: Family<'a>,
        point_reads: bool,
        crosses: bool,
    ) -> RawIterator<'a> {
        let mut options = view.scan_options();
        options.set_max_skippable_internal_keys(SKIPPED_ROWS_MAX);
        match crosses {
            true => options.set_total_order_seek(true),
            false => options.set_prefix_same_as_start(!point_reads),
        }
        view.iterator(family, options)
    }

    /// Returns whether the iterator has given up at too many deleted or overwritten rows
    /// ([`SKIPPED_ROWS_MAX`]). It then has no current row.
    fn gave_up(&self, view: &View<'a>) -> Result<bool, KvError> {
        match self.inner.status() {
            Ok(()) => Ok(false),
            Err(error) if error.kind() == ErrorKind::Incomplete => Ok(true),
            Err(error) => Err(view.failed(&error)),
        }
    }

    /// Moves to the first row at or after the start of a range. If most ranges so far needed a
    /// seek, continues with an iterator that only seeks.
    fn move_to(&mut self, view: &View<'a>, next: PartitionRange<'r>) {
        let from = join(next.partition, &next.range.from);
        let follows = self.before.replace(next).is_some_and(|before| {
            let ends = || {
                before
                    .range
                    .to
                    .as_ref()
                    .is_some_and(|to| *to <= next.range.from)
            };
            before.partition < next.partition || (before.partition == next.partition && ends())
        });
        self.visited += 1;
        if self.crosses && follows && self.step_to(&from) {
            return;
        }
        self.seeks += 1;
        if self.crosses && self.visited > NEAR_RANGES_MIN && self.seeks * 2 > self.visited {
            self.crosses = false;
            self.inner = Self::iterator(view, self.family, self.point_reads, false);
        }
        self.inner.seek(from);
    }

    /// Steps to the first row at or after `from`; returns false if that row is more than
    /// [`NEAR_ROWS`] steps away, or there is no current row. Rows before the current one must be
    /// before `from`.
    fn step_to(&mut self, from: &[u8]) -> bool {
        for _ in 0..NEAR_ROWS {
            match self.inner.key() {
                Some(key) if key >= from => return true,
                Some(_) => self.inner.next(),
                None => return false,
            }
        }
        self.inner.key().is_some_and(|key| key >= from)
    }
}

fn join(partition: &[u8], clustering: &[u8]) -> Key {
    let mut key = Key::with_capacity(partition.len() + clustering.len());
    key.extend_from_slice(partition);
    key.extend_from_slice(clustering);
    key
}

impl Reader for View<'_> {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let Some(family) = self.family(table) else {
            return Ok(false);
        };
        self.looks.add(1);
        let key = join(partition, clustering);
        let value = self
            .db
            .get_pinned_cf_opt(&family, &key, self.point_options)
            .map_err(|error| self.failed(&error))?;
        value.as_deref().map(found);
        Ok(value.is_some())
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        if keys.len() < MULTI_GET_MIN {
            for (at, (partition, clustering)) in keys.iter().enumerate() {
                self.get_with(table, partition, clustering, &mut |value| found(at, value))?;
            }
            return Ok(());
        }
        let Some(family) = self.family(table) else {
            return Ok(());
        };
        self.looks.add(keys.len() as u64);
        let joined: Vec<Key> = keys
            .iter()
            .map(|(partition, rest)| join(partition, rest))
            .collect();
        let values = self.db.batched_multi_get_cf_slice_opt(
            &family,
            joined.iter().map(|key| &key[..]),
            false,
            self.point_options,
        );
        for (at, value) in values.into_iter().enumerate() {
            if let Some(value) = value.map_err(|error| self.failed(&error))? {
                found(at, &value);
            }
        }
        Ok(())
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if request.range.is_empty() {
            return Ok(());
        }
        let Some(family) = self.family(request.table) else {
            return Ok(());
        };
        self.looks.add(LOOKS_A_SCAN);
        let from = join(request.partition, &request.range.from);
        let to = match &request.range.to {
            Some(to) => Some(join(request.partition, to).into_vec()),
            None => prefix_end(request.partition),
        };
        if request.reverse {
            return self.scan_backwards(family, request, (from, to), visit);
        }
        let mut options = self.scan_options();
        if let Some(to) = to {
            options.set_iterate_upper_bound(to);
        }
        options.set_prefix_same_as_start(!self.spec(request.table).point_reads);
        let mut rows = self.iterator(family, options);
        rows.seek(&from);
        while let Some((key, value)) = rows.item() {
            if visit(&key[request.partition.len()..], value).is_break() {
                return Ok(());
            }
            rows.next();
        }
        self.finish(&rows)
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if ranges.iter().all(|one| one.range.is_empty()) {
            return Ok(());
        }
        if self.snapshot.is_none() {
            // All iterators of this scan must read the same state.
            let snapshot = self.db.snapshot();
            let view = View {
                snapshot: Some(&snapshot),
                ..*self
            };
            return view.scan_many(table, ranges, visit);
        }
        let Some(family) = self.family(table) else {
            return Ok(());
        };
        self.looks.add(LOOKS_A_SCAN * ranges.len() as u64);
        // One iterator for all ranges: creating one costs as much as reading several rows. Its
        // upper bound is fixed at its creation, so each range's end is checked here.
        let mut rows = RangeIterator::new(self, table, family, ranges.len());
        let mut last = Key::new();
        for (at, one) in ranges.iter().copied().enumerate() {
            let PartitionRange { partition, range } = one;
            if range.is_empty() {
                continue;
            }
            rows.move_to(self, one);
            let mut visited = false;
            while let Some((key, value)) = rows.inner.item() {
                let Some(clustering) = key.strip_prefix(partition) else {
                    break;
                };
                if range.to.as_deref().is_some_and(|to| clustering >= to)
                    || visit(at, clustering, value).is_break()
                {
                    break;
                }
                visited = true;
                last.clear();
                last.extend_from_slice(clustering);
                rows.inner.next();
            }
            if rows.gave_up(self)? {
                let last = visited.then_some(&last[..]);
                self.scan_rest(table, one, last, &mut |clustering, value| {
                    visit(at, clustering, value)
                })?;
            }
        }
        Ok(())
    }

    fn partition_order(&self, _: TableId, partition: &[u8]) -> Vec<u8> {
        partition.to_vec()
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        // If the files cannot be listed, the table has no cuts.
        let files = self.db.live_files().unwrap_or_default();
        cuts::of(self.spec(table), &files)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let spec = self.spec(table);
        let Some(family) = self.family(table) else {
            return Ok(());
        };
        let mut options = self.scan_options();
        options.set_total_order_seek(true);
        // A scan of everything must not evict blocks that are read often.
        options.fill_cache(false);
        let mut rows = self.iterator(family, options);
        match after {
            Some((partition, clustering)) => {
                let mut key = join(partition, clustering);
                // The smallest key after this one.
                key.push(0);
                rows.seek(&key);
            }
            None => rows.seek_to_first(),
        }
        while let Some((key, value)) = rows.item() {
            let Some((partition, clustering)) =
                (spec.partition_len)(key).and_then(|length| key.split_at_checked(length))
            else {
                return Err(KvError::Corruption {
                    space: self.space.to_owned(),
                    detail: format!(
                        "a key of table '{}' holds no whole partition key: {key:02x?}. {WHAT_TO_DO}",
                        spec.name
                    ),
                });
            };
            let row = Row {
                partition,
                clustering,
                value,
            };
            if visit(row).is_break() {
                return Ok(());
            }
            rows.next();
        }
        self.finish(&rows)
    }
}
