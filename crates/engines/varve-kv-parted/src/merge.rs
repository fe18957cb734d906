//! A scan of a partition in parts: merges the rows of all parts in the order of their keys.
//!
//! The scan reads one page of each part that may have rows of the range, and buffers it until its
//! rows have been visited. An ascending scan reads these pages in parallel, a reverse one in
//! sequence. When a page is used up, the scan reads new pages of that part and of the parts with
//! few rows left. The new pages start after the key of the last visited row. If keys grow with
//! time, the oldest part has all the small keys. An ascending scan then reads further pages of that
//! part only, and the pages of the other parts stay buffered.
//!
//! **A buffered row is as old as its page.** No page outlives the call, so every visited row
//! existed at some moment of the call. With concurrent writes, a scan guarantees no more. If a
//! caller reads rows in one call and events in the next, all rows are read before all events.
//!
//! But rows of the same key must come from compatible moments
//! ([`Moment`](crate::directory::Moment)). They do if no removal was completed between the reads of
//! their pages, or if the page of the newer epoch was read first: a row's tombstone is deleted only
//! when no older epoch has the row any more. So the scan stores with each page how many removals
//! were completed before the page was read. If the number has changed when a page of a newer epoch
//! is read, the page of the older epoch is read again.
//!
//! A page of a newer epoch stays valid while further pages of older epochs are read, whatever is
//! removed. So if keys grow with time, removals do not make an ascending scan more expensive.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use varve_kv::{ClusteringRange, Flow, KvError, PartitionRange, Reader, ScanRequest, TableId};

use crate::directory::{Directory, Parted};
use crate::parts;

/// Rows of a page: as many as a paging engine's first page has.
const ROWS: usize = 128;
/// Rows of a page when the scan goes on and reads at most [`FEW`] parts: as many as a paging
/// engine's first two pages have.
const ROWS_MORE: usize = 1_128;
/// The most parts with pages of [`ROWS_MORE`] rows. An engine reads the first pages of many parts
/// in parallel, but their second ones in sequence.
const FEW: usize = 4;
/// The approximate limit of the bytes of all pages together, for any number of parts. But a page
/// may have one row, whatever the row's size.
const BYTES_MAX: usize = 8 << 20;
/// The memory of a row in a page besides its key and value.
const ROW_BYTES: usize = size_of::<RowRange>();
/// When other pages are read, a page with less than 1/`LITTLE` of its rows left is replaced too,
/// unless it is the last one of its part. The new page starts with the remaining rows.
const LITTLE: usize = 4;

/// The position of a row in a page's bytes.
struct RowRange {
    key: Range<usize>,
    value: Range<usize>,
}

/// The last page that was read of a part.
#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    rows: Vec<RowRange>,
    /// Whether the part has no rows after the page.
    ended: bool,
}

impl Page {
    /// Clears the page before a read. If the read adds no rows, the part has none.
    fn begin(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.ended = true;
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.rows.len() * ROW_BYTES
    }

    fn add(&mut self, key: &[u8], value: &[u8], most: Most) -> Flow {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.rows.push(RowRange {
            key: start..middle,
            value: middle..self.bytes.len(),
        });
        self.ended = self.rows.len() < most.rows && self.size() < most.bytes;
        match self.ended {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    }

    fn key(&self, row: usize) -> Option<&[u8]> {
        let found = self.rows.get(row)?;
        Some(&self.bytes[found.key.clone()])
    }
}

/// The limits of a page.
#[derive(Clone, Copy)]
struct Most {
    rows: usize,
    bytes: usize,
}

/// The next row of a part, ordered for a max-heap. The heap gives the row that the scan visits
/// next: the one with the least key, or with the greatest in a reverse scan. Of rows with equal
/// keys, it gives that of the newest epoch first.
#[derive(PartialEq, Eq)]
struct Front<'p> {
    key: &'p [u8],
    part: usize,
    reverse: bool,
}

impl Ord for Front<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = match self.reverse {
            true => self.key.cmp(other.key),
            false => other.key.cmp(self.key),
        };
        keys.then(self.part.cmp(&other.part))
    }
}

impl PartialOrd for Front<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Why the visit of rows ended.
enum Visited {
    /// A page is used up that is not the last one of its part.
    Some,
    /// All rows of all parts are visited.
    All,
    /// The visitor has stopped the scan.
    Enough,
}

struct Merge<'a> {
    directory: &'a Directory,
    reader: &'a dyn Reader,
    table: TableId,
    reverse: bool,
    /// The partition's parts when the scan began. Rows put into later epochs are not visited.
    parted: Arc<Parted>,
    /// The range that has not been visited yet.
    range: ClusteringRange,
    /// The epochs and keys of the parts, the oldest epoch first.
    parts: Vec<(usize, Vec<u8>)>,
    /// For each part, its page, and the index of its next row.
    pages: Vec<Page>,
    next: Vec<usize>,
    /// For each part, the number of completed removals before its page was read.
    asked: Vec<u64>,
    /// The number of completed removals at the last [`Merge::read_on`].
    removals: u64,
    /// Whether a page is used up already, so that more rows are likely to be needed.
    goes_on: bool,
}

/// Visits the rows of a range of a partition that is in parts. Returns a break if `visit` broke.
///
/// # Errors
/// When the engine fails, or the list of the parts or a row is damaged.
pub(crate) fn scan(
    directory: &Directory,
    reader: &dyn Reader,
    request: ScanRequest<'_>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Flow, KvError> {
    let parted = directory.parts(request.table, request.partition);
    let parted = parted.ok_or_else(|| directory.damaged("the list of a partition's parts"))?;
    let together = directory.together_in(request.table, request.range);
    let parts = parted.parts.with(request.partition, together);
    let mut merge = Merge {
        directory,
        reader,
        table: request.table,
        reverse: request.reverse,
        removals: parted.removals(),
        parted,
        range: request.range.clone(),
        pages: parts.iter().map(|_| Page::default()).collect(),
        next: vec![0; parts.len()],
        asked: vec![0; parts.len()],
        parts,
        goes_on: false,
    };
    while !merge.range.is_empty() {
        merge.read_on()?;
        match merge.visit_rows(visit)? {
            Visited::Some => {}
            Visited::All => break,
            Visited::Enough => return Ok(Flow::Break(())),
        }
    }
    Ok(Flow::Continue(()))
}

impl Merge<'_> {
    /// Reads a new page of every part that is due, so that each part has a next row or has ended.
    /// All of them are read at once, unless removals were completed since the last call: then
    /// further removals are likely, and the epochs are read in sequence, the newest first.
    /// Afterwards, stale pages of older epochs are read again.
    fn read_on(&mut self) -> Result<(), KvError> {
        let removals = self.parted.removals();
        let is_quiet = removals == self.removals;
        self.removals = removals;
        let due = self.which(|merge, part| merge.is_due(part));
        let newest = due.iter().map(|part| self.parts[*part].0).max();
        if is_quiet {
            self.read(&due)?;
        }
        for epoch in (0..=newest.unwrap_or(0)).rev() {
            let may_be_stale = Some(epoch) < newest;
            // The number must be read after the pages of the newer epochs.
            let removals = self.parted.removals();
            let again = self.which(|merge, part| {
                let is_stale = may_be_stale && merge.is_older(part, removals);
                merge.parts[part].0 == epoch && (is_stale || merge.is_due(part))
            });
            self.read(&again)?;
        }
        Ok(())
    }

    fn which(&self, is_one: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        let parts = 0..self.parts.len();
        parts.filter(|part| is_one(self, *part)).collect()
    }

    /// Whether a part has unvisited rows in a page that was read when the number of completed
    /// removals was not `removals`.
    fn is_older(&self, part: usize, removals: u64) -> bool {
        self.next[part] < self.pages[part].rows.len() && self.asked[part] != removals
    }

    fn is_due(&self, part: usize) -> bool {
        let page = &self.pages[part];
        let left = page.rows.len() - self.next[part];
        !page.ended && (left == 0 || left * LITTLE < page.rows.len())
    }

    /// Reads new pages of some parts: ascending in parallel, in reverse in sequence.
    fn read(&mut self, due: &[usize]) -> Result<(), KvError> {
        if due.is_empty() {
            return Ok(());
        }
        let removals = self.parted.removals();
        for part in due {
            self.pages[*part].begin();
            self.next[*part] = 0;
            self.asked[*part] = removals;
        }
        let kept: usize = self.pages.iter().map(Page::size).sum();
        let share = BYTES_MAX / self.parts.len();
        let free = BYTES_MAX.saturating_sub(kept) / due.len();
        let most = Most {
            rows: match self.goes_on && due.len() <= FEW {
                true => ROWS_MORE,
                false => ROWS,
            },
            bytes: share.max(free),
        };
        let keys: Vec<&[u8]> = due.iter().map(|part| &*self.parts[*part].1).collect();
        let pages = &mut self.pages;
        if !self.reverse {
            let range = &self.range;
            let mut add = |at: usize, key: &[u8], value: &[u8]| {
                let page: &mut Page = &mut pages[due[at]];
                page.add(key, value, most)
            };
            let ranges = PartitionRange::of_each(&keys, range);
            return self.reader.scan_many(self.table, &ranges, &mut add);
        }
        for (part, partition) in due.iter().zip(keys) {
            let request = ScanRequest {
                table: self.table,
                partition,
                range: &self.range,
                reverse: true,
            };
            let page = &mut pages[*part];
            let mut add = |key: &[u8], value: &[u8]| page.add(key, value, most);
            self.reader.scan(request, &mut add)?;
        }
        Ok(())
    }

    /// Visits rows until a page is used up that is not the last one of its part. Then sets the
    /// range to what follows the last visited row.
    fn visit_rows(
        &mut self,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<Visited, KvError> {
        let reverse = self.reverse;
        let mut fronts: BinaryHeap<Front<'_>> = BinaryHeap::with_capacity(self.pages.len());
        for (part, page) in self.pages.iter().enumerate() {
            let key = page.key(self.next[part]);
            fronts.extend(key.map(|key| Front { key, part, reverse }));
        }
        let mut last: Option<&[u8]> = None;
        let mut used_up = false;
        while let Some(front) = fronts.peek() {
            let (key, part) = (front.key, front.part);
            let is_hidden = last == Some(key);
            if used_up && !is_hidden {
                break;
            }
            fronts.pop();
            let page = &self.pages[part];
            let row = self.next[part];
            self.next[part] += 1;
            match page.key(row + 1) {
                Some(key) => fronts.push(Front { key, part, reverse }),
                None => used_up |= !page.ended,
            }
            if is_hidden {
                continue;
            }
            last = Some(key);
            let stored = &page.bytes[page.rows[row].value.clone()];
            let is_plain = self.parts[part].0 == 0;
            let value = match is_plain {
                true => Some(Some(stored)),
                false => parts::value(stored),
            };
            let value =
                value.ok_or_else(|| self.directory.damaged("a row of a partition in parts"))?;
            if let Some(value) = value
                && visit(key, value).is_break()
            {
                return Ok(Visited::Enough);
            }
        }
        if !used_up {
            return Ok(Visited::All);
        }
        self.goes_on = true;
        if let Some(last) = last {
            match reverse {
                true => self.range.to = Some(last.to_vec()),
                false => self.range.from = [last, &[0]].concat(),
            }
        }
        Ok(Visited::Some)
    }
}
