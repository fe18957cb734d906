//! Full scans, in the order of tokens and, for equal tokens, of partition keys.
//!
//! If a node gives up a read because of tombstones, the range of tokens is split until one token is
//! left. The partitions of that token are found by smaller ranges of clustering keys, and then read
//! like any other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_kv::{Flow, KvError, Row, TableId};

use crate::ahead::{self, Scan, Slice, Slices, width};
use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::cuts::Whole;
use crate::failure::{Failure, unreadable};
use crate::plan::{next_key, stored_partition};
use crate::read::{error, read_partition, wait};
use crate::source::Source;
use crate::split::{self, Search};
use crate::statements::{BEFORE_ALL_TOKENS, Cell};

/// The message for a cluster in which the partitions of a token cannot be found by ranges of their
/// rows.
const NO_FILTERS: &str = "the cluster takes no statements that filter (allow_filtering_enabled), by which one reads around them";
/// The number of parts into which a range of tokens is split.
const WAYS: i128 = 16;
/// The number of cuts of a table.
const CUTS: u8 = 16;

/// Returns the token of a partition, given by its stored key.
fn token(core: &Source, table: TableId, partition: &[u8]) -> Option<i64> {
    let statement = &core.store[usize::from(table.0)].get;
    let no_row: &[u8] = &[];
    let token = statement.calculate_token(&(partition, no_row));
    Some(token.ok()??.value())
}

/// Returns a token as bytes that sort like tokens.
fn bytes_of(token: i64) -> Vec<u8> {
    (token ^ i64::MIN).to_be_bytes().to_vec()
}

/// Returns the token with these bytes.
fn token_of(bytes: &[u8]) -> Option<i64> {
    let bytes = bytes.try_into().ok()?;
    Some(i64::from_be_bytes(bytes) ^ i64::MIN)
}

/// Returns the position of a partition in a full scan: its token, then its key.
pub(crate) fn order(core: &Source, table: TableId, partition: &[u8]) -> Vec<u8> {
    let partition = stored_partition(partition);
    let token = token(core, table, partition).unwrap_or(BEFORE_ALL_TOKENS);
    let mut order = bytes_of(token);
    order.extend_from_slice(partition);
    order
}

/// Returns the keys of [`varve_kv::Reader::cuts`]. They are arbitrary, since the tokens of any keys
/// are spread over the ring.
pub(crate) fn cuts(core: &Source, table: TableId) -> Vec<Vec<u8>> {
    let only_empty = (core.specs[usize::from(table.0)].partition_len)(&[]) == Some(0);
    let keys = (0..CUTS).map(|number| vec![number]);
    keys.filter(|_| !only_empty).collect()
}

/// Returns the partition key of the seam for a stored key.
pub(crate) fn given_partition<'a>(core: &Source, table: TableId, stored: &'a [u8]) -> &'a [u8] {
    let only_empty = (core.specs[usize::from(table.0)].partition_len)(&[]) == Some(0);
    if only_empty { &[] } else { stored }
}

pub(crate) fn scan_table(
    core: &Arc<Source>,
    bridge: &Bridge,
    table: TableId,
    after: Option<(&[u8], &[u8])>,
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<(), KvError> {
    let scan = FullScan(Scan {
        core,
        bridge,
        table,
    });
    let mut from = BEFORE_ALL_TOKENS;
    if let Some((partition, clustering)) = after {
        let partition = stored_partition(partition);
        from = scan.token(partition)?;
        if scan.rest_of(from, partition, clustering, visit)?.is_break() {
            return Ok(());
        }
    }
    scan.tokens(from, i64::MAX, visit).map(drop)
}

/// A full scan of one table.
struct FullScan<'a>(Scan<'a>);

impl<'a> std::ops::Deref for FullScan<'a> {
    type Target = Scan<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FullScan<'_> {
    fn token(&self, partition: &[u8]) -> Result<i64, KvError> {
        token(self.core, self.table, partition)
            .ok_or_else(|| error(self.core, unreadable("a partition has no token")))
    }

    /// Reads a partition, given by its stored key, from a clustering key on.
    fn partition(
        &self,
        partition: &[u8],
        from: Vec<u8>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        let (core, table) = (self.core, self.table);
        let place = (table, partition);
        read_partition(core, self.bridge, place, from, &mut |clustering, value| {
            visit(Row {
                partition: given_partition(core, table, partition),
                clustering,
                value,
            })
        })
    }

    /// Reads the rows of a token after one row of one of its partitions.
    fn rest_of(
        &self,
        token: i64,
        partition: &[u8],
        clustering: &[u8],
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        if let Some(from) = next_key(clustering.to_vec())
            && self.partition(partition, from, visit)?.is_break()
        {
            return Ok(Flow::Break(()));
        }
        // Partitions may have equal tokens; those after this one are found by their keys.
        let same = self.keys_at(token)?.into_iter();
        for key in same.filter(|key| key.as_slice() > partition) {
            if self.partition(&key, Vec::new(), visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Returns the partitions with a token, ascending.
    fn keys_at(&self, token: i64) -> Result<BTreeSet<Vec<u8>>, KvError> {
        let place = (self.table, Whole::Token(token));
        let mut search = Search::new();
        let mut cuts = self.core.cuts.of(&place);
        if cuts.is_empty() {
            let asked = Instant::now();
            match self.keys(token, None) {
                Err(KvError::Tombstones { .. }) if !self.filters() => {
                    let failure = Failure::Tombstones(NO_FILTERS.to_owned());
                    return Err(error(self.core, failure));
                }
                Err(error @ KvError::Tombstones { .. }) => {
                    search.bounds.failed(asked.elapsed(), error)?;
                }
                keys => return keys,
            }
            cuts = split::cuts(&[], None);
        }
        let mut todo = split::parts((Vec::new(), None), cuts);
        let found = self.keys_searched(token, &mut todo, &mut search);
        // Only the cuts of an earlier search are known, not the keys it found: rows may have been
        // added since.
        match &found {
            Err(_) => search.broken_off(todo.into_iter().map(|(from, _)| from)),
            Ok(keys) => {
                for key in keys {
                    let (done, failed) = search.parts();
                    let place = (self.table, Whole::Partition(key.clone()));
                    self.core.cuts.learn(place, done, failed);
                }
            }
        }
        search.learn(&self.core.cuts, place);
        found
    }

    /// [`FullScan::keys_at`] for a token with too many tombstones: searches by ranges of clustering
    /// keys.
    fn keys_searched(
        &self,
        token: i64,
        todo: &mut Vec<(Vec<u8>, Option<Vec<u8>>)>,
        search: &mut Search,
    ) -> Result<BTreeSet<Vec<u8>>, KvError> {
        let mut found = BTreeSet::new();
        while let Some((from, to)) = todo.pop() {
            search.begin(from.clone());
            search.bounds.in_time(&self.core.name)?;
            let asked = Instant::now();
            match self.keys(token, Some((from.clone(), to.clone()))) {
                Ok(mut keys) => {
                    found.append(&mut keys);
                    search.end(asked.elapsed());
                }
                Err(error @ KvError::Tombstones { .. }) => {
                    let cuts = split::cuts(&from, to.as_deref());
                    if cuts.is_empty() {
                        return Err(error);
                    }
                    todo.extend(split::parts((from, to), cuts));
                    search.bounds.failed(asked.elapsed(), error)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Whether partitions can be found by ranges of clustering keys.
    fn filters(&self) -> bool {
        let statements = &self.core.store[usize::from(self.table.0)];
        statements.at_token_within.is_some()
    }

    /// Returns the partitions with a token and, if a range of clustering keys is given, a row in
    /// it.
    fn keys(
        &self,
        token: i64,
        range: Option<(Vec<u8>, Option<Vec<u8>>)>,
    ) -> Result<BTreeSet<Vec<u8>>, KvError> {
        let table = self.table;
        wait(self.core, self.bridge, move |core| async move {
            let statements = &core.store[usize::from(table.0)];
            let mut values = vec![Cell::Number(token)];
            let statement = match (&range, &statements.at_token_within) {
                (None, _) => &statements.at_token,
                (Some(_), None) => return Err(Failure::Tombstones(NO_FILTERS.to_owned())),
                (Some((from, None)), Some(within)) => {
                    values.push(Cell::Bytes(from));
                    &within.open
                }
                (Some((from, Some(to))), Some(within)) => {
                    values.extend([Cell::Bytes(from), Cell::Bytes(to)]);
                    &within.closed
                }
            };
            let result = core.cluster.run(statement, values).await?;
            let rows = result.into_rows_result().map_err(unreadable)?;
            let keys = rows.rows::<(Vec<u8>,)>().map_err(unreadable)?;
            let keys: Result<_, _> = keys.map(|row| row.map(|(key,)| key)).collect();
            keys.map_err(unreadable)
        })
    }

    /// Reads the partitions with tokens after `from`, up to and including `to`.
    fn tokens(
        &self,
        from: i64,
        to: i64,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        let place = (self.table, Whole::Table);
        let cuts = self.core.cuts.of(&place);
        let cuts = cuts.iter().filter_map(|cut| token_of(cut));
        let parts = split::parts((from, Some(to)), cuts).into_iter();
        let mut todo: Vec<(i64, i64)> =
            parts.map(|(from, end)| (from, end.unwrap_or(to))).collect();
        let mut search = Search::new();
        let mut slices = Slices::default();
        let read = self.ranges(&mut todo, &mut slices, &mut search, visit);
        slices.put_back(&mut todo);
        if read.is_err() {
            search.broken_off(todo.into_iter().map(|(from, _)| bytes_of(from)));
        }
        search.learn(&self.core.cuts, place);
        read
    }

    /// Reads ranges of tokens, from the last to the first.
    fn ranges(
        &self,
        todo: &mut Vec<(i64, i64)>,
        slices: &mut Slices,
        search: &mut Search,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        while let Some(mut slice) = slices.next(&self.0, todo) {
            search.begin(bytes_of(slice.range.0));
            if search.bounds.shortest().is_some() {
                search.bounds.in_time(&self.core.name)?;
            }
            let mut read = Visits::default();
            let rest = match self.slice(&mut slice, &mut read, search, visit)? {
                SliceEnd::Enough => return Ok(Flow::Break(())),
                SliceEnd::All => {
                    self.core
                        .widths
                        .learn(self.table, slice.range, read.rows, read.bytes);
                    search.end(read.took);
                    continue;
                }
                rest => rest,
            };
            slices.put_back(todo);
            let single = read.last.is_none() && width(slice.range) <= 1;
            if self
                .beside(slice.range, read.last.take(), todo, visit)?
                .is_break()
            {
                return Ok(Flow::Break(()));
            }
            match rest {
                SliceEnd::TooWide => search.end(read.took),
                // Remembered as a part of its own, so that the next scan finds it, whatever else
                // is read together.
                _ if single => search.end(Duration::MAX),
                _ => {}
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Reads a slice, up to its end, to too many tombstones, or until it proves too wide.
    fn slice(
        &self,
        slice: &mut Slice,
        read: &mut Visits,
        search: &mut Search,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<SliceEnd, KvError> {
        loop {
            let (page, time) = slice.page(&self.0);
            let page = match page {
                Ok(page) => page,
                Err(error @ KvError::Tombstones { .. }) => {
                    search.bounds.failed(time, error)?;
                    return Ok(SliceEnd::Tombstones);
                }
                Err(error) => return Err(error),
            };
            read.took += time;
            let before = read.rows;
            let Some(first) = self.visit_rows(&page, read, visit)? else {
                return Ok(SliceEnd::Enough);
            };
            if read.rows > before {
                search.bounds.found();
            }
            if page.next.is_none() {
                return Ok(SliceEnd::All);
            }
            if let (Some(first), Some((last, _))) = (first, &read.last)
                && first != *last
            {
                let (from, end) = (slice.range.0, self.token(last)?);
                if ahead::is_too_wide(slice.range, (from, end), read.rows, read.bytes) {
                    let widths = &self.core.widths;
                    widths.learn(self.table, (from, end), read.rows, read.bytes);
                    return Ok(SliceEnd::TooWide);
                }
            }
        }
    }

    /// Continues a range of tokens after a read that was given up because of tombstones.
    fn beside(
        &self,
        (from, to): (i64, i64),
        last: Option<(Vec<u8>, Vec<u8>)>,
        todo: &mut Vec<(i64, i64)>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        if let Some((partition, clustering)) = last {
            let token = self.token(&partition)?;
            if token < to {
                todo.push((token, to));
            }
            return self.rest_of(token, &partition, &clustering, visit);
        }
        let width = i128::from(to) - i128::from(from);
        if width <= 1 {
            for key in self.keys_at(to)? {
                if self.partition(&key, Vec::new(), visit)?.is_break() {
                    return Ok(Flow::Break(()));
                }
            }
            return Ok(Flow::Continue(()));
        }
        let ways = width.min(WAYS);
        let end = |n: i128| {
            let end = i128::from(from) + width * n / ways;
            i64::try_from(end).expect("it lies between two tokens")
        };
        todo.extend((0..ways).rev().map(|n| (end(n), end(n + 1))));
        Ok(Flow::Continue(()))
    }

    /// Passes the rows of a page to `visit`. Returns the partition of its first row, if it has
    /// rows; or `None` if no more rows are wanted.
    #[expect(
        clippy::option_option,
        reason = "a page without rows differs from the end of the scan"
    )]
    fn visit_rows(
        &self,
        page: &Page,
        read: &mut Visits,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Option<Option<Vec<u8>>>, KvError> {
        let failed = |failure: Failure| error(self.core, failure);
        let rows = page.rows.rows::<(&[u8], &[u8], &[u8])>();
        let (mut first, mut last) = (None, None);
        for row in rows.map_err(|error| failed(unreadable(error)))? {
            let (partition, clustering, value) = row.map_err(|error| failed(unreadable(error)))?;
            let row = Row {
                partition: given_partition(self.core, self.table, partition),
                clustering,
                value,
            };
            if visit(row).is_break() {
                return Ok(None);
            }
            read.rows += 1;
            read.bytes += (partition.len() + clustering.len() + value.len()) as u64;
            first = first.or(Some(partition));
            last = Some((partition, clustering));
        }
        if let Some((partition, clustering)) = last {
            read.last = Some((partition.to_vec(), clustering.to_vec()));
        }
        Ok(Some(first.map(<[u8]>::to_vec)))
    }
}

/// Why the read of a slice ended.
enum SliceEnd {
    /// The visitor has stopped the scan.
    Enough,
    /// All rows were visited.
    All,
    /// The next page has too many tombstones.
    Tombstones,
    /// The rest should be read as several slices.
    TooWide,
}

/// What was visited of a slice.
#[derive(Default)]
struct Visits {
    rows: u64,
    bytes: u64,
    /// The duration of the requests.
    took: Duration,
    /// The keys of the last row.
    last: Option<(Vec<u8>, Vec<u8>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_same_as_bytes_and_sort_alike() {
        let tokens = [i64::MIN, -256, -1, 0, 1, 255, i64::MAX];
        assert!(tokens.map(bytes_of).is_sorted());
        assert_eq!(
            tokens.map(|token| token_of(&bytes_of(token))),
            tokens.map(Some)
        );
        assert_eq!(token_of(b"short"), None);
    }
}
