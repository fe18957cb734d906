//! Full scans. They go by tokens, and within one by partition keys.
//!
//! Where a node gives up for the removed rows that it meets, the range of tokens is cut until one is left; which partitions have that
//! is asked of smaller ranges of clustering keys, and then they are read like any other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::response::PagingState;
use varve_kv::{Flow, KvError, Row, TableId};

use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::failure::Failure;
use crate::log::unreadable;
use crate::plan::{next_key, stored_partition};
use crate::read::{error, page, read_partition, wait};
use crate::space::Core;
use crate::split::{self, Bounds, Done};
use crate::statements::Cell;

/// The smallest token that no partition has.
pub(crate) const BEFORE_ALL_TOKENS: i64 = i64::MIN;
/// Why the partitions of a token cannot be asked for by ranges of their rows.
const NO_FILTERS: &str = "the cluster takes no statements that filter (allow_filtering_enabled), by which one reads around them";
/// Ranges into which one of tokens is cut.
const WAYS: i128 = 16;

/// The token of a partition, by its stored key.
fn token(core: &Core, table: TableId, partition: &[u8]) -> Option<i64> {
    let statement = &core.store[usize::from(table.0)].get;
    let no_row: &[u8] = &[];
    let token = statement.calculate_token(&(partition, no_row));
    Some(token.ok()??.value())
}

/// Where a full scan comes to a partition: by its token, then by its key.
pub(crate) fn order(core: &Core, table: TableId, partition: &[u8]) -> Vec<u8> {
    let partition = stored_partition(partition);
    let token = token(core, table, partition).unwrap_or(BEFORE_ALL_TOKENS);
    let mut order = (token ^ i64::MIN).to_be_bytes().to_vec();
    order.extend_from_slice(partition);
    order
}

/// The key as it was given.
pub(crate) fn shown_partition<'a>(core: &Core, table: TableId, stored: &'a [u8]) -> &'a [u8] {
    let only_empty = (core.specs[usize::from(table.0)].partition_len)(&[]) == Some(0);
    if only_empty { &[] } else { stored }
}

pub(crate) fn scan_table(
    core: &Arc<Core>,
    bridge: &Bridge,
    table: TableId,
    after: Option<(&[u8], &[u8])>,
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<(), KvError> {
    let scan = FullScan {
        core,
        bridge,
        table,
    };
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
struct FullScan<'a> {
    core: &'a Arc<Core>,
    bridge: &'a Bridge,
    table: TableId,
}

impl FullScan<'_> {
    fn token(&self, partition: &[u8]) -> Result<i64, KvError> {
        token(self.core, self.table, partition)
            .ok_or_else(|| error(self.core, unreadable("a partition has no token")))
    }

    /// Reads a partition, by its stored key, from a clustering key on.
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
                partition: shown_partition(core, table, partition),
                clustering,
                value,
            })
        })
    }

    /// Reads what a token has behind one row of a partition that has it.
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
        // Partitions may share a token; those that come after this one within it are found by name.
        let same = self.keys_at(token)?.into_iter();
        for key in same.filter(|key| key.as_slice() > partition) {
            if self.partition(&key, Vec::new(), visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// The partitions that have a token, ascending.
    fn keys_at(&self, token: i64) -> Result<BTreeSet<Vec<u8>>, KvError> {
        match self.keys(token, None) {
            Err(KvError::Tombstones { .. }) => self.keys_searched(token),
            keys => keys,
        }
    }

    /// [`FullScan::keys_at`], where so many removed rows lie that they are asked for by ranges of clustering keys.
    fn keys_searched(&self, token: i64) -> Result<BTreeSet<Vec<u8>>, KvError> {
        let mut found = BTreeSet::new();
        let mut done = Vec::new();
        let mut bounds = Bounds::new();
        let mut todo = vec![(Vec::new(), None::<Vec<u8>>)];
        while let Some((from, to)) = todo.pop() {
            bounds.in_time(&self.core.name)?;
            let asked = Instant::now();
            match self.keys(token, Some((from.clone(), to.clone()))) {
                Ok(mut keys) => {
                    found.append(&mut keys);
                    let took = asked.elapsed();
                    done.push(Done { from, took });
                }
                Err(error @ KvError::Tombstones { .. }) => {
                    let cuts = split::cuts(&from, to.as_deref());
                    if cuts.is_empty() {
                        return Err(error);
                    }
                    bounds.failed(asked.elapsed(), error)?;
                    let mut from = from;
                    for cut in cuts {
                        todo.push((std::mem::replace(&mut from, cut.clone()), Some(cut)));
                    }
                    todo.push((from, to));
                }
                Err(error) => return Err(error),
            }
        }
        let failed = bounds.shortest().unwrap_or(Duration::MAX);
        for key in &found {
            let cuts = &self.core.cuts;
            cuts.learn((self.table, key), done.clone(), failed);
        }
        Ok(found)
    }

    /// The partitions that have a token, and a row in a range of clustering keys if one is given.
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

    /// Reads the partitions with tokens after `from`, up to `to`.
    fn tokens(
        &self,
        from: i64,
        to: i64,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, KvError> {
        let mut todo = vec![(from, to)];
        let mut bounds = Bounds::new();
        while let Some((from, to)) = todo.pop() {
            if bounds.shortest().is_some() {
                bounds.in_time(&self.core.name)?;
            }
            let (mut at, mut last) = (None, None);
            loop {
                let asked = Instant::now();
                match self.page(from, to, at) {
                    Ok(page) => {
                        let (next, shown) = (page.next.clone(), self.show(&page, visit)?);
                        match shown {
                            Shown::Enough => return Ok(Flow::Break(())),
                            Shown::All(None) => {}
                            Shown::All(row) => {
                                last = row;
                                bounds.found();
                            }
                        }
                        at = next;
                        if at.is_none() {
                            break;
                        }
                    }
                    Err(error @ KvError::Tombstones { .. }) => {
                        bounds.failed(asked.elapsed(), error)?;
                        if self.beside((from, to), last, &mut todo, visit)?.is_break() {
                            return Ok(Flow::Break(()));
                        }
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Goes on where too many removed rows lie behind the row that was shown last of a range of tokens.
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

    fn page(&self, from: i64, to: i64, at: Option<PagingState>) -> Result<Page, KvError> {
        let table = self.table;
        wait(self.core, self.bridge, move |core| async move {
            let paged = &core.store[usize::from(table.0)].of_tokens;
            let values = vec![Cell::Number(from), Cell::Number(to)];
            page(&core, paged, values, at).await
        })
    }

    fn show(&self, page: &Page, visit: &mut dyn FnMut(Row<'_>) -> Flow) -> Result<Shown, KvError> {
        let failed = |failure: Failure| error(self.core, failure);
        let rows = page.rows.rows::<(&[u8], &[u8], &[u8])>();
        let mut last = None;
        for row in rows.map_err(|error| failed(unreadable(error)))? {
            let (partition, clustering, value) = row.map_err(|error| failed(unreadable(error)))?;
            let row = Row {
                partition: shown_partition(self.core, self.table, partition),
                clustering,
                value,
            };
            if visit(row).is_break() {
                return Ok(Shown::Enough);
            }
            last = Some((partition, clustering));
        }
        let last = last.map(|(partition, clustering)| (partition.to_vec(), clustering.to_vec()));
        Ok(Shown::All(last))
    }
}

/// What was shown of a page.
enum Shown {
    /// As much as was wanted.
    Enough,
    /// All; the last row's keys, if it has rows.
    All(Option<(Vec<u8>, Vec<u8>)>),
}
