//! Reads ahead in a full scan: while the caller visits one slice of tokens, the next slices are
//! read.
//!
//! Tokens are hashes, so equally wide slices have about equally many rows. The width at which a
//! slice has about one page is learned from each slice, and is kept for later scans of the table.
//! Pages never outlive the scan that reads them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use scylla::response::PagingState;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinHandle;
use varve_kv::{KvError, TableId};

use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::read::{busy, error, failed_engine, page, wait};
use crate::source::Source;
use crate::statements::Cell;

/// The rows and bytes that a slice should have at most.
const SLICE_ROWS: u64 = 800;
const SLICE_BYTES: u64 = 1 << 20;
/// The most slices that are read at once. Each holds up to two pages that were not visited yet.
const SLICES_AT_ONCE: usize = 6;
/// The next slice is at most this many times as wide as one that had few rows.
const GROWTH: u64 = 8;

/// The learned widths of the slices of each table; 0 if none is known.
#[derive(Debug)]
pub(crate) struct Widths(Vec<AtomicU64>);

impl Widths {
    pub(crate) fn new(tables: usize) -> Self {
        Self((0..tables).map(|_| AtomicU64::new(0)).collect())
    }

    fn of(&self, table: TableId) -> u64 {
        self.0[usize::from(table.0)].load(Ordering::Relaxed)
    }

    /// Learns from a range of tokens with this many rows and bytes.
    pub(crate) fn learn(&self, table: TableId, range: (i64, i64), rows: u64, bytes: u64) {
        let mut next = next_width(width(range), rows, bytes);
        if rows <= SLICE_ROWS && bytes <= SLICE_BYTES {
            // The last slice of a scan may be narrow, whatever it has.
            next = next.max(self.of(table));
        }
        self.0[usize::from(table.0)].store(next, Ordering::Relaxed);
    }
}

/// The number of tokens in a range.
pub(crate) fn width((from, to): (i64, i64)) -> u64 {
    to.abs_diff(from)
}

/// The width at which a slice is full, from one of this width.
fn next_width(width: u64, rows: u64, bytes: u64) -> u64 {
    let of = |has: u64, full: u64| u128::from(width) * u128::from(full) / u128::from(has.max(1));
    let full = of(rows, SLICE_ROWS).min(of(bytes, SLICE_BYTES));
    let most = u128::from(width) * u128::from(GROWTH);
    u64::try_from(full.min(most)).unwrap_or(u64::MAX).max(1)
}

/// Whether a slice, of which this part was read, should be read as several slices.
pub(crate) fn is_too_wide(slice: (i64, i64), read: (i64, i64), rows: u64, bytes: u64) -> bool {
    let full = u128::from(next_width(width(read), rows, bytes));
    u128::from(width(slice)) > 4 * full
}

/// A range of tokens that is read by pages.
pub(crate) struct Slice {
    /// The tokens after the first, up to the second.
    pub(crate) range: (i64, i64),
    /// The pages that a task reads; `None` until it begins.
    ahead: Option<(Receiver<ReadPage>, JoinHandle<()>)>,
    /// Where the next page begins.
    at: Option<PagingState>,
}

/// A page or an error, and the duration of its read.
type ReadPage = (Result<Page, KvError>, Duration);

impl Slice {
    /// Reads the next page. The first page of a slice that was not begun is small, and nothing is
    /// read ahead while it is visited: many scans end there.
    pub(crate) fn page(&mut self, scan: &Scan<'_>) -> ReadPage {
        let range = self.range;
        let read = match (&mut self.ahead, self.at.take()) {
            (None, None) => {
                let (table, asked) = (scan.table, Instant::now());
                let read = wait(scan.core, scan.bridge, move |core| async move {
                    let paged = &core.store[usize::from(table.0)].of_tokens;
                    let values = vec![Cell::Number(range.0), Cell::Number(range.1)];
                    page(&core, paged, values, None).await
                });
                (read, asked.elapsed())
            }
            (ahead, at) => {
                let (pages, _) = ahead.get_or_insert_with(|| scan.begin(range, at));
                let ended = || (Err(failed_engine(scan.core)), Duration::ZERO);
                block_on(pages.recv()).unwrap_or_else(ended)
            }
        };
        if let Ok(page) = &read.0 {
            self.at = page.next.clone();
        }
        read
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        if let Some((_, task)) = &self.ahead {
            task.abort();
        }
    }
}

/// A full scan of one table.
pub(crate) struct Scan<'a> {
    pub(crate) core: &'a Arc<Source>,
    pub(crate) bridge: &'a Bridge,
    pub(crate) table: TableId,
}

impl Scan<'_> {
    /// Starts a task that reads the pages of a range from `at` on, one more than was taken.
    fn begin(
        &self,
        (from, to): (i64, i64),
        mut at: Option<PagingState>,
    ) -> (Receiver<ReadPage>, JoinHandle<()>) {
        let (sender, pages) = channel(1);
        let (core, table) = (Arc::clone(self.core), self.table);
        let task = self.bridge.spawn(async move {
            loop {
                let asked = Instant::now();
                let read = further_page(&core, table, (from, to), at.take()).await;
                if let Ok(page) = &read {
                    at = page.next.clone();
                }
                if sender.send((read, asked.elapsed())).await.is_err() || at.is_none() {
                    return;
                }
            }
        });
        (pages, task)
    }
}

async fn further_page(
    core: &Source,
    table: TableId,
    (from, to): (i64, i64),
    at: Option<PagingState>,
) -> Result<Page, KvError> {
    let Some(_room) = core.cluster.enter().await else {
        return Err(busy(core));
    };
    core.cluster.figures.wait();
    let statement = &core.store[usize::from(table.0)].of_tokens.more;
    let values = vec![Cell::Number(from), Cell::Number(to)];
    let at = at.unwrap_or_else(PagingState::start);
    let page = core.cluster.page(statement, values, at).await;
    page.map_err(|failure| error(core, failure))
}

/// The slices of a scan that are read ahead, in the order of tokens.
#[derive(Default)]
pub(crate) struct Slices {
    begun: VecDeque<Slice>,
    /// The slices to read at once, besides the one that is visited.
    further: usize,
}

impl Slices {
    /// Returns the next slice of the ranges in `todo`, of which the last comes first, and begins
    /// to read those after it.
    pub(crate) fn next(&mut self, scan: &Scan<'_>, todo: &mut Vec<(i64, i64)>) -> Option<Slice> {
        let next = self.begun.pop_front();
        let next = next.or_else(|| Self::cut(scan, todo))?;
        while self.begun.len() < self.further {
            let Some(mut slice) = Self::cut(scan, todo) else {
                break;
            };
            slice.ahead = Some(scan.begin(slice.range, None));
            self.begun.push_back(slice);
        }
        self.further = (2 * self.further + 1).min(SLICES_AT_ONCE - 1);
        Some(next)
    }

    /// Takes a slice off the next range.
    fn cut(scan: &Scan<'_>, todo: &mut Vec<(i64, i64)>) -> Option<Slice> {
        let (from, to) = todo.pop()?;
        let width = match scan.core.widths.of(scan.table) {
            0 => u64::MAX,
            width => width,
        };
        let end = from.saturating_add_unsigned(width).min(to);
        if end < to {
            todo.push((end, to));
        }
        Some(Slice {
            range: (from, end),
            ahead: None,
            at: None,
        })
    }

    /// Gives the slices that were not visited back to `todo`.
    pub(crate) fn put_back(&mut self, todo: &mut Vec<(i64, i64)>) {
        todo.extend(self.begun.drain(..).rev().map(|slice| slice.range));
        self.further = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_follows_the_rows_and_bytes_of_the_last_slice() {
        assert_eq!(next_width(1_000, SLICE_ROWS, 0), 1_000);
        assert_eq!(next_width(1_000, 4 * SLICE_ROWS, 0), 250);
        assert_eq!(next_width(1_000, SLICE_ROWS / 2, 2 * SLICE_BYTES), 500);
        assert_eq!(next_width(1_000, 0, 0), 1_000 * GROWTH);
        assert_eq!(next_width(u64::MAX, 0, 0), u64::MAX);
        assert_eq!(next_width(1, u64::MAX, u64::MAX), 1);
    }

    #[test]
    fn a_slice_is_read_as_several_if_most_of_it_is_left() {
        let ring = (i64::MIN, i64::MAX);
        let read = (i64::MIN, i64::MIN + 1_000_000);
        assert!(is_too_wide(ring, read, 100, 1_000));
        assert!(!is_too_wide(read, read, 100, 1_000));
        assert!(!is_too_wide(read, read, 4 * SLICE_ROWS, 1_000));
        assert!(is_too_wide(read, read, 5 * SLICE_ROWS, 1_000));
    }
}
