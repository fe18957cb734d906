//! Views, from which all reads are served: the front tables, newest first, and below them a
//! snapshot of the sorted files.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use smallvec::SmallVec;
use varve_kv::{
    Absences, ClusteringRange, Flow, KvError, PartitionRange, Reader, Row, ScanRequest, TableId,
};

use crate::ahead::Ahead;
use crate::cursor::{Cursor, Head, PartitionSpan, Taken, Tier};
use crate::files::Files;
use crate::hash::partition_hash;
use crate::partitions::SpacePartitions;
use crate::presence::Presence;
use crate::rows::{RowKey, SpaceRows};
use crate::table::{Answer, Table, Wanted};

/// Rows of the row cache that are prefetched together.
const ROWS_AHEAD: usize = 32;

/// The tiers (front tables and sorted files) at one moment. A view keeps its tables and its
/// snapshot alive, so a flush removes nothing from under a reader.
pub(crate) struct View {
    /// Takes writes while this view is the newest.
    pub(crate) active: Arc<Table>,
    /// The tables that wait to be flushed, newest first.
    pub(crate) frozen: Vec<Arc<Table>>,
    /// A snapshot of the sorted files. It has every row older than the tables above, and no row of
    /// these tables.
    pub(crate) base: Arc<dyn Reader>,
    /// For each table id, whether `base` may have rows.
    pub(crate) base_holds: Vec<bool>,
    /// The cache of rows of `base`.
    pub(crate) rows: Arc<SpaceRows>,
    /// The cache of small partitions of `base`.
    pub(crate) partitions: Arc<SpacePartitions>,
    /// The generation of the files of `base`.
    pub(crate) generation: u64,
    /// The filter of the rows that may exist in this view or in a newer one.
    pub(crate) presence: Arc<Presence>,
}

/// A view up to a moment: the frozen tables wholly, and the first `visible` blocks of the active
/// one.
///
/// The view must be loaded before the number of blocks is read. Then the rows in the frozen tables
/// and the files were written before those blocks.
#[derive(Clone, Copy)]
pub struct Moment<'v> {
    view: &'v View,
    visible: u32,
    has_deletes: bool,
}

impl View {
    /// The newest state.
    pub(crate) fn now(&self) -> Moment<'_> {
        self.at(self.active.published())
    }

    /// The state in which the active table had `visible` published blocks.
    pub(crate) fn at(&self, visible: u32) -> Moment<'_> {
        let mut tables = std::iter::once(&self.active).chain(&self.frozen);
        Moment {
            view: self,
            visible,
            has_deletes: tables.any(|table| table.has_deletes()),
        }
    }
}

impl<'v> Moment<'v> {
    fn tiers(&self) -> impl Iterator<Item = Tier<'v>> + use<'v> {
        let active = Tier {
            table: &self.view.active,
            visible: self.visible,
        };
        let frozen = self.view.frozen.iter().map(|table| Tier {
            table,
            visible: u32::MAX,
        });
        // An empty table needs no look-up.
        std::iter::once(active)
            .filter(|tier| tier.visible > 0)
            .chain(frozen)
    }

    fn base_holds(&self, table: TableId) -> bool {
        self.view.base_holds[usize::from(table.0)]
    }

    fn files(&self) -> Files<'_> {
        Files {
            reader: &*self.view.base,
            partitions: &self.view.partitions,
            generation: self.view.generation,
        }
    }

    fn find(&self, hash: u64, table: TableId, partition: &[u8], clustering: &[u8]) -> Answer<'v> {
        for tier in self.tiers() {
            match tier
                .table
                .find(hash, table, partition, clustering, tier.visible)
            {
                Answer::Nothing => {}
                answer => return answer,
            }
        }
        Answer::Nothing
    }

    /// Reads a row of the sorted files. Asks the row cache and the presence filter first.
    fn base_row(&self, key: &RowKey<'_>, found: &mut dyn FnMut(&[u8])) -> Result<bool, KvError> {
        let View {
            rows,
            generation,
            base,
            presence,
            ..
        } = self.view;
        if let Some(row) = rows.get(*generation, key) {
            found(row.value());
            return Ok(true);
        }
        if presence.lacks(*generation, key.table, key.hash, key.clustering) {
            return Ok(false);
        }
        let is_there = base.get_with(key.table, key.partition, key.clustering, &mut |value| {
            rows.put(*generation, key, value);
            found(value);
        })?;
        if !is_there {
            presence.missed(key.table, key.clustering);
        }
        Ok(is_there)
    }

    /// Reads many rows of the sorted files. Asks the row cache and the presence filter first.
    fn base_rows<'w>(
        &self,
        table: TableId,
        wanted: &[Wanted<'w>],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        let View {
            rows,
            generation,
            base,
            presence,
            ..
        } = self.view;
        let (mut left, mut keys) = (Vec::new(), Vec::new());
        for together in wanted.chunks(ROWS_AHEAD) {
            let key = |row: &Wanted<'w>| RowKey {
                table,
                partition: row.key.0,
                clustering: row.key.1,
                hash: row.hash,
            };
            let together_keys: SmallVec<[RowKey<'_>; ROWS_AHEAD]> =
                together.iter().map(key).collect();
            rows.prefetch(&together_keys);
            for (row, key) in together.iter().zip(together_keys) {
                if let Some(cached) = rows.get(*generation, &key) {
                    found(row.number, cached.value());
                } else if !presence.lacks(*generation, table, row.hash, key.clustering) {
                    keys.push(row.key);
                    left.push((row.number, key, false));
                }
            }
        }
        base.get_each(table, &keys, &mut |at, value| {
            let (number, key, is_there) = &mut left[at];
            *is_there = true;
            rows.put(*generation, key, value);
            found(*number, value);
        })?;
        for (_, key, _) in left.iter().filter(|(_, _, is_there)| !is_there) {
            presence.missed(table, key.clustering);
        }
        Ok(())
    }

    /// Whether a prefix delete in one of the tables deleted a row of the sorted files.
    fn covers(&self, hash: u64, table: TableId, partition: &[u8], clustering: &[u8]) -> bool {
        self.has_deletes
            && self.tiers().any(|tier| {
                let cover = tier
                    .table
                    .cover(hash, table, partition, clustering, tier.visible);
                cover.is_some()
            })
    }

    /// The value at the head of a cursor; `None` if the row was deleted.
    fn shown(&self, table: TableId, head: &Head<'v>) -> Option<&'v [u8]> {
        let value = head.value?;
        if self.has_deletes {
            let (partition, clustering) = (head.partition(), head.clustering());
            let hash = partition_hash(table, partition);
            for (number, tier) in self.tiers().enumerate().take(head.tier + 1) {
                let cover = tier
                    .table
                    .cover(hash, table, partition, clustering, tier.visible);
                if cover.is_some_and(|cover| number < head.tier || cover > head.at) {
                    return None;
                }
            }
        }
        Some(value)
    }

    /// Returns the hash of a partition, and a cursor over the tables' rows in a range of it.
    fn partition<'r>(
        &self,
        table: TableId,
        partition: &'r [u8],
        range: &'r ClusteringRange,
        reverse: bool,
    ) -> (u64, Option<Cursor<'v, 'r>>) {
        let request = PartitionSpan::new(table, partition, range, reverse);
        let tiers = self
            .tiers()
            .map(|tier| (tier, Taken::first(tier, &request)));
        (request.hash, Cursor::of_partition(tiers, request))
    }
}

/// Merges the rows of a cursor with rows of the sorted files.
struct Merge<'m, 'v, 'r> {
    moment: &'m Moment<'v>,
    table: TableId,
    cursor: Option<Cursor<'v, 'r>>,
    reverse: bool,
}

impl<'v> Merge<'_, 'v, '_> {
    /// Visits the cursor's rows up to and including `clustering`. Returns whether the cursor has a
    /// row at `clustering`, which then hides that of the sorted files.
    fn upto(
        &mut self,
        clustering: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> ControlFlow<(), bool> {
        let Some(cursor) = &mut self.cursor else {
            return ControlFlow::Continue(false);
        };
        while let Some(head) = cursor.head() {
            let mut order = head.clustering().cmp(clustering);
            if self.reverse {
                order = order.reverse();
            }
            if order == Ordering::Greater {
                break;
            }
            if let Some(value) = self.moment.shown(self.table, &head) {
                visit(head.clustering(), value)?;
            }
            cursor.advance();
            if order == Ordering::Equal {
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    /// Visits the rest of the cursor's rows. The cursor must not be used afterwards.
    fn finish(&mut self, visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow) -> Flow {
        let Some(cursor) = &mut self.cursor else {
            return Flow::Continue(());
        };
        let (moment, table) = (self.moment, self.table);
        cursor.show_rest(|head| match moment.shown(table, head) {
            Some(value) => visit(head.clustering(), value),
            None => Flow::Continue(()),
        })
    }
}

impl Reader for Moment<'_> {
    fn get_with(
        &self,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, KvError> {
        let hash = partition_hash(table, partition);
        match self.find(hash, table, partition, clustering) {
            Answer::Value(value) => {
                found(value);
                Ok(true)
            }
            Answer::Deleted => Ok(false),
            Answer::Nothing if !self.base_holds(table) => Ok(false),
            Answer::Nothing => {
                let key = RowKey {
                    table,
                    partition,
                    clustering,
                    hash,
                };
                self.base_row(&key, found)
            }
        }
    }

    fn get_each(
        &self,
        table: TableId,
        keys: &[(&[u8], &[u8])],
        found: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), KvError> {
        let wanted = |(number, key): (usize, &(_, _))| {
            let (partition, clustering): (&[u8], &[u8]) = *key;
            let hash = partition_hash(table, partition);
            let key = (partition, clustering);
            Wanted { hash, number, key }
        };
        let mut wanted: Vec<Wanted<'_>> = keys.iter().enumerate().map(wanted).collect();
        for tier in self.tiers() {
            let mut left = Vec::new();
            let mut answered = |number: usize, answer: Answer<'_>| match answer {
                Answer::Value(value) => found(number, value),
                Answer::Deleted => {}
                Answer::Nothing => left.push(number),
            };
            tier.table
                .find_each(table, &wanted, tier.visible, &mut answered);
            if left.is_empty() {
                return Ok(());
            }
            left.sort_unstable();
            wanted.retain(|row| left.binary_search(&row.number).is_ok());
        }
        match self.base_holds(table) {
            true => self.base_rows(table, &wanted, found),
            false => Ok(()),
        }
    }

    fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences {
        let View {
            presence,
            generation,
            ..
        } = self.view;
        presence.lacks_each(rows, Some(*generation))
    }

    fn scan(
        &self,
        request: ScanRequest<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        let ScanRequest {
            table,
            partition,
            range,
            reverse,
        } = request;
        if range.is_empty() {
            return Ok(());
        }
        let (hash, cursor) = self.partition(table, partition, range, reverse);
        if cursor.is_none() && !self.has_deletes {
            return match self.base_holds(table) {
                true => self.files().scan(hash, request, visit),
                false => Ok(()),
            };
        }
        let mut merge = Merge {
            moment: self,
            table,
            cursor,
            reverse,
        };
        let mut stopped = false;
        if self.base_holds(table) {
            self.files().scan(hash, request, &mut |clustering, value| {
                let flow = merge.upto(clustering, visit);
                let flow = match flow {
                    ControlFlow::Break(()) => Flow::Break(()),
                    ControlFlow::Continue(true) => Flow::Continue(()),
                    _ if self.covers(hash, table, partition, clustering) => Flow::Continue(()),
                    _ => visit(clustering, value),
                };
                stopped = flow.is_break();
                flow
            })?;
        }
        if !stopped {
            let _ = merge.finish(visit);
        }
        Ok(())
    }

    fn scan_many(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
    ) -> Result<(), KvError> {
        if self.tiers().next().is_none() {
            return match self.base_holds(table) {
                true => self.files().scan_many(table, ranges, visit),
                false => Ok(()),
            };
        }
        let mut ahead = Ahead::new(self.tiers(), table, ranges);
        let mut open = |at: usize| {
            let (hash, cursor) = ahead.open(at);
            let merge = Merge {
                moment: self,
                table,
                cursor,
                reverse: false,
            };
            (hash, merge)
        };
        // The range being visited; all ranges before it are done.
        let mut current = 0;
        let mut opened = ranges.first().map(|_| open(0));
        let mut stopped = false;
        if self.base_holds(table) {
            self.files()
                .scan_many(table, ranges, &mut |at, clustering, value| {
                    while current < at {
                        if let Some((_, merge)) = opened.as_mut().filter(|_| !stopped) {
                            let _ = merge.finish(&mut |c, v| visit(current, c, v));
                        }
                        current += 1;
                        opened = Some(open(current));
                        stopped = false;
                    }
                    let Some((hash, merge)) = &mut opened else {
                        return Flow::Break(());
                    };
                    let flow = match merge.upto(clustering, &mut |c, v| visit(at, c, v)) {
                        ControlFlow::Break(()) => Flow::Break(()),
                        ControlFlow::Continue(true) => Flow::Continue(()),
                        _ if self.covers(*hash, table, ranges[at].partition, clustering) => {
                            Flow::Continue(())
                        }
                        _ => visit(at, clustering, value),
                    };
                    stopped = flow.is_break();
                    flow
                })?;
        }
        while current < ranges.len() {
            if let Some((_, merge)) = opened.as_mut().filter(|_| !stopped) {
                let _ = merge.finish(&mut |c, v| visit(current, c, v));
            }
            current += 1;
            stopped = false;
            opened = (current < ranges.len()).then(|| open(current));
        }
        Ok(())
    }

    /// Only the rows of files have summaries.
    fn summaries(
        &self,
        table: TableId,
        ranges: &[PartitionRange<'_>],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), KvError> {
        if self.has_deletes || !self.base_holds(table) {
            (0..ranges.len()).for_each(|at| visit(at, None));
            return Ok(());
        }
        if self.tiers().next().is_none() {
            self.files().summaries(table, ranges, visit);
            return Ok(());
        }
        let mut ahead = Ahead::new(self.tiers(), table, ranges);
        let is_in_files = (0..ranges.len()).filter(|at| ahead.open(*at).1.is_none());
        let places: Vec<usize> = is_in_files.collect();
        let of_files: Vec<PartitionRange<'_>> = places.iter().map(|at| ranges[*at]).collect();
        let mut next = 0;
        self.files()
            .summaries(table, &of_files, &mut |number, summary| {
                let at = places[number];
                (next..at).for_each(|at| visit(at, None));
                visit(at, summary);
                next = at + 1;
            });
        (next..ranges.len()).for_each(|at| visit(at, None));
        Ok(())
    }

    fn partition_order(&self, _: TableId, partition: &[u8]) -> Vec<u8> {
        partition.to_vec()
    }

    fn cuts(&self, table: TableId) -> Vec<Vec<u8>> {
        self.view.base.cuts(table)
    }

    fn scan_table(
        &self,
        table: TableId,
        after: Option<(&[u8], &[u8])>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<(), KvError> {
        let runs: Vec<_> = self
            .tiers()
            .enumerate()
            .map(|(number, tier)| {
                let arena = &tier.table.arena;
                let blocks = tier.visible.min(arena.blocks());
                let runs = tier.table.sorted.lock().runs(arena, table, blocks);
                (number, tier, runs)
            })
            .collect();
        let mut cursor = Cursor::of_runs(&runs, after);
        let mut stopped = false;
        let show = |head: &Head<'_>, visit: &mut dyn FnMut(Row<'_>) -> Flow| {
            self.shown(table, head).map_or(Flow::Continue(()), |value| {
                visit(Row {
                    partition: head.partition(),
                    clustering: head.clustering(),
                    value,
                })
            })
        };
        if self.base_holds(table) {
            self.view.base.scan_table(table, after, &mut |row| {
                let mut hidden = false;
                let flow = loop {
                    let Some(head) = cursor.head() else {
                        break Flow::Continue(());
                    };
                    let order =
                        (head.partition(), head.clustering()).cmp(&(row.partition, row.clustering));
                    if order == Ordering::Greater {
                        break Flow::Continue(());
                    }
                    let flow = show(&head, visit);
                    cursor.advance();
                    hidden = order == Ordering::Equal;
                    if hidden || flow.is_break() {
                        break flow;
                    }
                };
                let flow = match flow {
                    Flow::Continue(()) if !hidden => {
                        let hash = match self.has_deletes {
                            true => partition_hash(table, row.partition),
                            false => 0,
                        };
                        if self.covers(hash, table, row.partition, row.clustering) {
                            Flow::Continue(())
                        } else {
                            visit(row)
                        }
                    }
                    flow => flow,
                };
                stopped = flow.is_break();
                flow
            })?;
        }
        if !stopped {
            let _ = cursor.show_rest(|head| show(head, visit));
        }
        Ok(())
    }
}
