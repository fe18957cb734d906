//! Merges the rows of several tables in key order. If several tables have a row with the same key,
//! the newest table's row is shown.

use std::cmp::Ordering;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;
use varve_kv::{Flow, OpKind, TableId};

use crate::arena::{At, Placed};
use crate::list::Span;
use crate::sorted::Run;
use crate::table::Table;

/// The number of rows taken from a partition at once. It is small at first, since many scans want
/// few rows, and grows up to [`STEP_MAX`]: the processor's caches must hold the rows until they are
/// visited.
pub(crate) const FIRST_STEP: usize = 64;
const STEP_GROWTH: usize = 4;
const STEP_MAX: usize = 1024;

/// One table as a reader sees it: its first `visible` blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tier<'v> {
    pub(crate) table: &'v Table,
    pub(crate) visible: u32,
}

/// A scanned partition, and the range of its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartitionSpan<'r> {
    pub(crate) hash: u64,
    pub(crate) table: TableId,
    pub(crate) partition: &'r [u8],
    pub(crate) span: Span<'r>,
}

/// Rows that were read from a partition together: the range `next..end` of `rows`, which may also
/// contain rows of other partitions.
#[derive(Debug, Clone)]
pub(crate) struct Taken<'v> {
    pub(crate) rows: Rc<Vec<Placed<'v>>>,
    pub(crate) next: usize,
    pub(crate) end: usize,
    /// Whether the partition may have more rows after these.
    pub(crate) more: bool,
}

impl<'v> Taken<'v> {
    /// Takes up to `limit` rows of a partition.
    fn of(tier: Tier<'v>, request: &PartitionSpan<'_>, span: Span<'_>, limit: usize) -> Self {
        let mut rows = Vec::new();
        let Tier { table, visible } = tier;
        let more = table.collect(
            &PartitionSpan { span, ..*request },
            visible,
            limit,
            &mut rows,
        );
        Self {
            next: 0,
            end: rows.len(),
            rows: Rc::new(rows),
            more,
        }
    }

    /// The first rows of a partition.
    pub(crate) fn first(tier: Tier<'v>, request: &PartitionSpan<'_>) -> Self {
        Self::of(tier, request, request.span, FIRST_STEP)
    }
}

/// The origin of a source's rows.
enum Feed<'v, 'r> {
    /// The list of a partition, read some rows at a time, so that its lock is not held between the
    /// reads.
    Partition {
        request: PartitionSpan<'r>,
        taken: Taken<'v>,
        step: usize,
    },
    Run {
        run: &'v Run,
        next: usize,
    },
}

struct Source<'v, 'r> {
    /// The number of the tier; 0 is the newest.
    number: usize,
    tier: Tier<'v>,
    feed: Feed<'v, 'r>,
    /// The next row, and its position.
    head: Option<Placed<'v>>,
}

/// The next row of a cursor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'v> {
    pub(crate) key: &'v [u8],
    pub(crate) partition_len: usize,
    /// The value, or `None` if the row was deleted, which hides older rows of this key.
    pub(crate) value: Option<&'v [u8]>,
    /// The number of its tier, and its position in that.
    pub(crate) tier: usize,
    pub(crate) at: At,
}

impl<'v> Head<'v> {
    pub(crate) fn partition(&self) -> &'v [u8] {
        &self.key[..self.partition_len]
    }

    pub(crate) fn clustering(&self) -> &'v [u8] {
        &self.key[self.partition_len..]
    }
}

/// Rows of several tables merged.
pub(crate) struct Cursor<'v, 'r> {
    sources: SmallVec<[Source<'v, 'r>; 2]>,
    reverse: bool,
    head: Option<Head<'v>>,
}

impl<'v, 'r> Source<'v, 'r> {
    /// Moves to the next row.
    fn advance(&mut self) {
        let Tier { table, visible } = self.tier;
        self.head = match &mut self.feed {
            Feed::Run { run, next } => run.next_row(&table.arena, next, visible),
            Feed::Partition {
                request,
                taken,
                step,
            } => {
                if taken.next == taken.end && taken.more {
                    let mut span = request.span;
                    let (_, last) = taken.rows[taken.end - 1];
                    let past = Bound::Excluded(last.clustering());
                    if span.reverse {
                        span.to = past;
                    } else {
                        span.from = past;
                    }
                    *step = (*step * STEP_GROWTH).min(STEP_MAX);
                    *taken = Taken::of(self.tier, request, span, *step);
                }
                let next = taken.rows[..taken.end].get(taken.next).copied();
                taken.next += 1;
                next
            }
        };
    }

    fn key(&self) -> Option<&'v [u8]> {
        self.head.map(|(_, op)| op.key)
    }

    /// Its next row, as a cursor shows it.
    #[inline]
    fn shown(&self) -> Option<Head<'v>> {
        let (at, op) = self.head?;
        Some(Head {
            key: op.key,
            partition_len: op.partition_len,
            value: (op.kind == OpKind::Put).then_some(op.value),
            tier: self.number,
            at,
        })
    }
}

impl<'v, 'r> Cursor<'v, 'r> {
    /// A cursor over the rows of one partition. Each table starts with the rows that were taken
    /// from it already. `None` if no table has any.
    pub(crate) fn of_partition(
        tiers: impl Iterator<Item = (Tier<'v>, Taken<'v>)>,
        request: PartitionSpan<'r>,
    ) -> Option<Self> {
        let mut sources = SmallVec::new();
        for (number, (tier, taken)) in tiers.enumerate() {
            if taken.next == taken.end {
                continue;
            }
            let mut source = Source {
                number,
                tier,
                feed: Feed::Partition {
                    request,
                    taken,
                    step: FIRST_STEP,
                },
                head: None,
            };
            source.advance();
            sources.push(source);
        }
        if sources.is_empty() {
            return None;
        }
        Some(Self::over(sources, request.span.reverse))
    }

    /// A cursor over sorted runs, given with their tiers, the newest tier first. It starts after
    /// the key `after`, or with the first row.
    pub(crate) fn of_runs(
        runs: &'v [(usize, Tier<'v>, Vec<Arc<Run>>)],
        after: Option<(&[u8], &[u8])>,
    ) -> Self {
        let mut sources = SmallVec::new();
        for (number, tier, runs) in runs {
            for run in runs.iter().rev() {
                let next = after.map_or(0, |(partition, clustering)| {
                    run.after(&tier.table.arena, partition, clustering)
                });
                let mut source = Source {
                    number: *number,
                    tier: *tier,
                    feed: Feed::Run { run, next },
                    head: None,
                };
                source.advance();
                sources.push(source);
            }
        }
        Self::over(sources, false)
    }

    fn over(sources: SmallVec<[Source<'v, 'r>; 2]>, reverse: bool) -> Self {
        let mut cursor = Self {
            sources,
            reverse,
            head: None,
        };
        cursor.choose();
        cursor
    }

    /// The next row.
    pub(crate) fn head(&self) -> Option<Head<'v>> {
        self.head
    }

    /// Skips the next row, so that the one after it becomes the next.
    pub(crate) fn advance(&mut self) {
        let Some(head) = self.head else {
            return;
        };
        match self.sources.as_mut_slice() {
            [only] => only.advance(),
            sources => {
                for source in sources {
                    if source.key() == Some(head.key) {
                        source.advance();
                    }
                }
            }
        }
        self.choose();
    }

    /// Shows the rest of the rows.
    #[inline]
    pub(crate) fn show_rest(&mut self, mut show: impl FnMut(&Head<'v>) -> Flow) -> Flow {
        if let [only] = self.sources.as_mut_slice() {
            while let Some(head) = only.shown() {
                show(&head)?;
                only.advance();
            }
            return Flow::Continue(());
        }
        while let Some(head) = self.head {
            show(&head)?;
            self.advance();
        }
        Flow::Continue(())
    }

    fn choose(&mut self) {
        if let [only] = self.sources.as_slice() {
            self.head = only.shown();
            return;
        }
        let wanted = match self.reverse {
            true => Ordering::Greater,
            false => Ordering::Less,
        };
        let mut chosen: Option<(&Source<'v, 'r>, &'v [u8])> = None;
        for source in &self.sources {
            let Some(key) = source.key() else {
                continue;
            };
            // Sources are ordered from the newest, so of equal keys the first one wins.
            if chosen.is_none_or(|(_, best)| key.cmp(best) == wanted) {
                chosen = Some((source, key));
            }
        }
        self.head = chosen.and_then(|(source, _)| source.shown());
    }
}
