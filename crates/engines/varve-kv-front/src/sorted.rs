//! Runs: the rows of a front table sorted by key, for flushes and for scans over all partitions.

use std::sync::Arc;

use varve_kv::{OpKind, RawOp, TableId};

use crate::arena::{Arena, At, PREFETCHED, Placed};
use crate::base::RunRow;
use crate::hash::partition_hash;
use crate::heads::{self, Head, Item};
use crate::table::Table;

/// Rows that are prefetched together while a whole run is visited. They are scattered in memory,
/// and each first waits for the translation of its address; prefetching them together makes these
/// waits overlap.
const ASKED_AT_ONCE: usize = 16;
/// From this number of rows on, a list that has to grow reserves memory for all remaining rows, so
/// that it is not copied again.
const FEW: usize = 4_096;

/// All versions of the rows of one table in some blocks, sorted by key, oldest version first.
#[derive(Debug)]
pub(crate) struct Run {
    items: Vec<Item>,
    /// The places of the prefix deletes, in the order of writing.
    deletes: Vec<At>,
    /// The range of blocks that the run covers.
    from: u32,
    to: u32,
}

/// For each table that was scanned: runs, oldest first, that together cover the blocks from the
/// first on.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    tables: Vec<(TableId, Vec<Arc<Run>>)>,
}

/// The rows of one table while they are collected.
struct Gathered {
    items: Vec<Item>,
    deletes: Vec<At>,
    /// The length of the keys' common prefix in bytes; the items' heads begin after it.
    common: usize,
}

impl Gathered {
    fn new() -> Self {
        Self {
            items: Vec::new(),
            deletes: Vec::new(),
            common: 0,
        }
    }

    /// Adds an operation. `left` is the number of operations that may follow, this one included; 0
    /// if it is unknown.
    fn add(&mut self, arena: &Arena, left: usize, (at, op): (At, RawOp<'_>)) {
        let (kind, key) = (op.kind, op.key);
        if self.items.len() == self.items.capacity() && self.items.len() >= FEW {
            self.items.reserve_exact(left);
        }
        if kind == OpKind::DeletePrefix {
            self.deletes.push(at);
            return;
        }
        match self.items.first() {
            None => self.common = key.len(),
            Some(first) => {
                let first = &arena.op(first.at).key[..self.common];
                if !key.starts_with(first) {
                    self.shrink(arena, first, key);
                }
            }
        }
        let head = Head::of(&key[self.common..]);
        self.items.push(Item { head, at });
    }

    /// Shortens the common prefix and recomputes the heads. That happens a few times among the
    /// first keys, and at most once for each byte.
    #[cold]
    fn shrink(&mut self, arena: &Arena, first: &[u8], key: &[u8]) {
        self.common = first.iter().zip(key).take_while(|(a, b)| a == b).count();
        for item in &mut self.items {
            item.head = Head::of(&arena.op(item.at).key[self.common..]);
        }
    }

    fn sort(mut self, arena: &Arena, from: u32, to: u32) -> Run {
        heads::sort(&mut self.items, |at| arena.op(at).key);
        Run {
            items: self.items,
            deletes: self.deletes,
            from,
            to,
        }
    }
}

impl Run {
    fn of_blocks(arena: &Arena, table: TableId, from: u32, to: u32) -> Self {
        let mut gathered = Gathered::new();
        for block in from..to {
            for op in arena.ops(block).filter(|(_, op)| op.table == table) {
                gathered.add(arena, 0, op);
            }
        }
        gathered.sort(arena, from, to)
    }

    /// Creates a run of all blocks for each of the tables `0..count`, in one pass. `operations` is
    /// the number of operations in all blocks.
    pub(crate) fn of_all_tables(arena: &Arena, count: usize, operations: usize) -> Vec<Self> {
        let blocks = arena.blocks();
        let mut gathered: Vec<Gathered> = (0..count).map(|_| Gathered::new()).collect();
        let mut left = operations;
        for block in 0..blocks {
            for op in arena.ops(block) {
                gathered[usize::from(op.1.table.0)].add(arena, left, op);
                left = left.saturating_sub(1);
            }
        }
        let sort = |gathered: Gathered| gathered.sort(arena, 0, blocks);
        gathered.into_iter().map(sort).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.deletes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the index of the first item with a key greater than `partition ++ clustering`.
    pub(crate) fn after(&self, arena: &Arena, partition: &[u8], clustering: &[u8]) -> usize {
        self.items.partition_point(|item| {
            let op = arena.op(item.at);
            // Partition keys delimit themselves, so this is the order of the whole keys.
            (op.partition(), op.clustering()) <= (partition, clustering)
        })
    }

    /// Returns the newest visible version of the next row from `next` on, and moves `next` behind
    /// that row.
    pub(crate) fn next_row<'a>(
        &self,
        arena: &'a Arena,
        next: &mut usize,
        visible: u32,
    ) -> Option<Placed<'a>> {
        while *next < self.items.len() {
            if let Some(later) = self.items.get(*next + PREFETCHED) {
                arena.prefetch(later.at);
            }
            if let Some(row) = self.row_at(arena, next, visible) {
                return Some(row);
            }
        }
        None
    }

    /// Returns the newest visible version of the row at `next`, if there is one, and moves `next`
    /// behind that row.
    #[inline]
    fn row_at<'a>(&self, arena: &'a Arena, next: &mut usize, visible: u32) -> Option<Placed<'a>> {
        let first = &self.items[*next];
        let op = arena.op(first.at);
        let shown = |at: At| at.block() < visible;
        let mut newest = shown(first.at).then_some((first.at, op));
        *next += 1;
        while let Some(item) = self.items.get(*next)
            && item.head == first.head
        {
            let later = arena.op(item.at);
            if later.key != op.key {
                break;
            }
            if shown(item.at) {
                newest = Some((item.at, later));
            }
            *next += 1;
        }
        newest
    }

    /// Prefetches the rows after those that were prefetched already, some time before `next`
    /// reaches them.
    #[inline]
    fn ask_ahead(&self, arena: &Arena, next: usize, asked: &mut usize) {
        if next + ASKED_AT_ONCE > *asked {
            let to = (*asked + ASKED_AT_ONCE).min(self.items.len());
            for item in &self.items[*asked..to] {
                arena.prefetch(item.at);
            }
            *asked = to;
        }
    }

    /// The prefix deletes, as partition key and prefix of clustering keys.
    pub(crate) fn deletes<'a>(
        &'a self,
        arena: &'a Arena,
    ) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let op = |at: &At| arena.op(*at);
        self.deletes
            .iter()
            .map(op)
            .map(|op| (op.partition(), op.clustering()))
    }

    /// Visits the rows that a flush stores: the newest version of each row, unless a later prefix
    /// delete covers it.
    pub(crate) fn visit_newest<E>(
        &self,
        table: &Table,
        mut visit: impl FnMut(RunRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut next, mut asked) = (0, 0);
        while next < self.items.len() {
            self.ask_ahead(&table.arena, next, &mut asked);
            let Some((at, op)) = self.row_at(&table.arena, &mut next, u32::MAX) else {
                continue;
            };
            if !self.deletes.is_empty() {
                let hash = partition_hash(op.table, op.partition());
                let cover = table.cover(hash, op.table, op.partition(), op.clustering(), u32::MAX);
                if cover.is_some_and(|cover| cover > at) {
                    continue;
                }
            }
            visit(RunRow {
                key: op.key,
                partition_len: op.partition_len,
                value: (op.kind == OpKind::Put).then_some(op.value),
            })?;
        }
        Ok(())
    }
}

impl Sorted {
    /// Returns runs that together cover at least the first `blocks` blocks. Existing runs are
    /// reused. Runs of at most twice the size of the new one are sorted again together with it. So
    /// the number of times that a row is sorted grows with the logarithm of the number of rows.
    pub(crate) fn runs(&mut self, arena: &Arena, table: TableId, blocks: u32) -> Vec<Arc<Run>> {
        let place = self.tables.iter().position(|(known, _)| *known == table);
        let place = place.unwrap_or_else(|| {
            self.tables.push((table, Vec::new()));
            self.tables.len() - 1
        });
        let runs = &mut self.tables[place].1;
        let mut from = runs.last().map_or(0, |run| run.to);
        if from < blocks {
            let mut new = Run::of_blocks(arena, table, from, blocks);
            while let Some(last) = runs.last().filter(|last| last.len() <= 2 * new.len()) {
                from = last.from;
                runs.pop();
                new = Run::of_blocks(arena, table, from, blocks);
            }
            runs.push(Arc::new(new));
        }
        runs.clone()
    }
}
