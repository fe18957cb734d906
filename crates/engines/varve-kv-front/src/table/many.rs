//! Reads of many rows or partitions of a table. They are grouped by shard, and the memory of many
//! is prefetched together.

use std::ops::Range;

use smallvec::SmallVec;
use varve_kv::TableId;

use super::{AT_ONCE, Answer, Partition, Shard, Table, Wanted, group_by_shard, shard_of};
use crate::arena::Placed;
use crate::cursor::PartitionSpan;
use crate::list::{List, TOLERATED};

impl Table {
    /// Looks up many rows in the first `visible` blocks. Calls `answered` once with the number of
    /// each row and its answer, in no order. The memory of many rows of a shard is prefetched
    /// together.
    pub(crate) fn find_each<'t>(
        &'t self,
        table: TableId,
        rows: &[Wanted<'_>],
        visible: u32,
        answered: &mut dyn FnMut(usize, Answer<'t>),
    ) {
        let Some(any) = rows.first() else {
            return;
        };
        let mut order = Vec::new();
        group_by_shard(rows.iter().map(|row| (row.hash, row)), &mut order, (0, any));
        let mut answers: Vec<(usize, Answer<'t>)> = Vec::new();
        let mut left: Vec<&Wanted<'_>> = Vec::new();
        for group in order.chunk_by(|a, b| shard_of(a.0) == shard_of(b.0)) {
            for part in group.chunks(AT_ONCE) {
                let shard = self.shards[shard_of(group[0].0)].read();
                let known = |(hash, _): &(u64, _)| {
                    let is = |known: &Partition| known.hash == *hash;
                    shard.partitions.find(*hash, is)
                };
                let known: SmallVec<[Option<&Partition>; AT_ONCE]> =
                    part.iter().map(known).collect();
                for known in known.iter().flatten() {
                    known.rows.prefetch_list();
                }
                for known in known.iter().flatten() {
                    known.rows.prefetch(&self.arena);
                }
                for ((_, row), known) in part.iter().zip(known) {
                    match self.answer_of(&shard, known, table, row, visible) {
                        Some(answer) => answers.push((row.number, answer)),
                        None => left.push(row),
                    }
                }
                drop(shard);
                for (number, answer) in answers.drain(..) {
                    answered(number, answer);
                }
            }
        }
        for row in left {
            let (partition, clustering) = row.key;
            let answer = self.find(row.hash, table, partition, clustering, visible);
            answered(row.number, answer);
        }
    }

    /// Looks up a row in `known`, the partition with the row's hash. Returns `None` if
    /// that is another partition with the same hash, or if its rows must be folded first.
    fn answer_of<'t>(
        &'t self,
        shard: &Shard,
        known: Option<&Partition>,
        table: TableId,
        row: &Wanted<'_>,
        visible: u32,
    ) -> Option<Answer<'t>> {
        let (partition, clustering) = row.key;
        let found = match known {
            None => None,
            Some(known) => {
                let at = known.rows.any();
                let op = self.arena.op(at);
                let is_it = op.table == table && op.partition() == partition;
                if !is_it || known.rows.must_fold(visible, TOLERATED) {
                    return None;
                }
                match known.rows {
                    // The partition's only row was read above.
                    List::One(_) => {
                        let is_shown = at.block() < visible && op.clustering() == clustering;
                        is_shown.then_some((at, op))
                    }
                    ref rows => rows.find(&self.arena, clustering, visible),
                }
            }
        };
        let cover = self.covering(shard, row.hash, table, partition, clustering, visible);
        Some(Self::answer(found, cover))
    }

    /// [`Table::collect`] for many partitions. Returns for each the range of its rows in `out`, and
    /// whether there may be more. The memory of many partitions of a shard is prefetched together.
    pub(crate) fn collect_each<'t>(
        &'t self,
        requests: &[PartitionSpan<'_>],
        visible: u32,
        limit: usize,
        out: &mut Vec<Placed<'t>>,
    ) -> Vec<(Range<usize>, bool)> {
        let mut order = Vec::new();
        group_by_shard(
            requests.iter().map(|of| of.hash).zip(0..),
            &mut order,
            (0, 0),
        );
        let mut each = vec![(0..0, false); requests.len()];
        let mut left: Vec<usize> = Vec::new();
        for group in order.chunk_by(|a, b| shard_of(a.0) == shard_of(b.0)) {
            for part in group.chunks(AT_ONCE) {
                let shard = self.shards[shard_of(group[0].0)].read();
                let known = |(hash, number): &(u64, usize)| {
                    let known = shard.partitions.find(*hash, |known| known.hash == *hash)?;
                    Some((*number, known))
                };
                let known: SmallVec<[(usize, &Partition); AT_ONCE]> =
                    part.iter().filter_map(known).collect();
                for (_, known) in &known {
                    known.rows.prefetch_list();
                }
                for (_, known) in &known {
                    known.rows.prefetch_rows(&self.arena);
                }
                for (number, Partition { rows, .. }) in known {
                    let PartitionSpan {
                        table,
                        partition,
                        span,
                        ..
                    } = requests[number];
                    if !self.holds(rows.any(), table, partition) || rows.must_fold(visible, 0) {
                        left.push(number);
                        continue;
                    }
                    let start = out.len();
                    let more = rows.collect(&self.arena, span, visible, limit, out);
                    each[number] = (start..out.len(), more);
                }
            }
        }
        for number in left {
            let start = out.len();
            let more = self.collect(&requests[number], visible, limit, out);
            each[number] = (start..out.len(), more);
        }
        each
    }
}
