//! Scans of many ranges: the first rows of several ranges are read together, so that their cache
//! misses overlap.

use std::ops::{Bound, Range};
use std::rc::Rc;

use smallvec::SmallVec;
use varve_kv::{ClusteringRange, PartitionRange, TableId};

use crate::cursor::{Cursor, FIRST_STEP, PartitionSpan, Taken, Tier};
use crate::hash::partition_hash;
use crate::list::Span;

/// The number of ranges in the first window. It is small, since a scan may end with the first
/// range.
const FIRST_WINDOW: usize = 4;
const WINDOW_GROWTH: usize = 4;
const WINDOW_MAX: usize = 256;

impl<'r> PartitionSpan<'r> {
    /// A range of a partition.
    pub(crate) fn new(
        table: TableId,
        partition: &'r [u8],
        range: &'r ClusteringRange,
        reverse: bool,
    ) -> Self {
        let to = range.to.as_deref();
        Self {
            hash: partition_hash(table, partition),
            table,
            partition,
            span: Span {
                from: Bound::Included(&range.from),
                to: to.map_or(Bound::Unbounded, Bound::Excluded),
                reverse,
            },
        }
    }
}

/// The ranges of a scan. The first rows of a window of ranges are read ahead.
pub(crate) struct Ahead<'v, 'r> {
    tiers: SmallVec<[Tier<'v>; 4]>,
    table: TableId,
    ranges: &'r [PartitionRange<'r>],
    window: usize,
    /// The first range of the window.
    start: usize,
    requests: Vec<PartitionSpan<'r>>,
    /// For each tier, its rows in the window's ranges.
    taken: SmallVec<[Vec<Taken<'v>>; 4]>,
}

impl<'v, 'r> Ahead<'v, 'r> {
    pub(crate) fn new(
        tiers: impl Iterator<Item = Tier<'v>>,
        table: TableId,
        ranges: &'r [PartitionRange<'r>],
    ) -> Self {
        Self {
            tiers: tiers.collect(),
            table,
            ranges,
            window: FIRST_WINDOW,
            start: 0,
            requests: Vec::new(),
            taken: SmallVec::new(),
        }
    }

    /// Returns the hash of a range's partition, and a cursor over the tables' rows in the range.
    /// Ranges must be opened in order.
    pub(crate) fn open(&mut self, at: usize) -> (u64, Option<Cursor<'v, 'r>>) {
        if at >= self.start + self.requests.len() {
            self.look(at);
        }
        let number = at - self.start;
        let request = self.requests[number];
        let taken = self.taken.iter().map(|taken| taken[number].clone());
        let tiers = self.tiers.iter().copied().zip(taken);
        (request.hash, Cursor::of_partition(tiers, request))
    }

    /// Reads the window that begins with the range `start`.
    fn look(&mut self, start: usize) {
        let end = (start + self.window).min(self.ranges.len());
        self.window = (self.window * WINDOW_GROWTH).min(WINDOW_MAX);
        self.start = start;
        let spans = self.ranges[start..end]
            .iter()
            .map(|of| PartitionSpan::new(self.table, of.partition, of.range, false));
        self.requests.clear();
        self.requests.extend(spans);
        let requests = &self.requests;
        let of = |tier: &Tier<'v>| {
            let mut rows = Vec::new();
            let each = tier
                .table
                .collect_each(requests, tier.visible, FIRST_STEP, &mut rows);
            let rows = Rc::new(rows);
            let taken = |(own, more): (Range<usize>, bool)| Taken {
                rows: Rc::clone(&rows),
                next: own.start,
                end: own.end,
                more,
            };
            each.into_iter().map(taken).collect()
        };
        self.taken = self.tiers.iter().map(of).collect();
    }
}
