//! Reads: each call waits for the cluster; calls for many rows have many requests under way.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use scylla::response::PagingState;
use varve_kv::{ClusteringRange, Flow, KvError, Row, ScanRequest, TableId};

use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::failure::Failure;
use crate::log::unreadable;
use crate::plan::stored_partition;
use crate::space::Core;
use crate::statements::{Cell, Paged, Scan};

/// Requests of one call that are under way at once.
const REQUESTS_AT_ONCE: usize = 64;
/// The smallest token that no partition has.
pub(crate) const BEFORE_ALL_TOKENS: i64 = i64::MIN;

/// What a read that failed is to its caller.
fn error(core: &Core, failure: Failure) -> KvError {
    failure.into_error(&core.name)
}

fn busy(core: &Core) -> KvError {
    KvError::Busy {
        space: core.name.to_string(),
        detail: "too many requests are under way".to_owned(),
    }
}

/// Runs `work` on the runtime, within what may be under way at once, and waits for it.
fn wait<T, F>(
    core: &Arc<Core>,
    bridge: &Bridge,
    work: impl FnOnce(Arc<Core>) -> F + Send + 'static,
) -> Result<T, KvError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Failure>> + Send,
{
    let shared = Arc::clone(core);
    let done = bridge.wait(async move {
        let cluster = Arc::clone(&shared.cluster);
        let Some(_room) = cluster.enter().await else {
            return Err(busy(&shared));
        };
        let core = Arc::clone(&shared);
        work(core).await.map_err(|failure| error(&shared, failure))
    });
    done.unwrap_or_else(|| {
        Err(KvError::Io {
            space: core.name.to_string(),
            detail: "the engine failed, see the log".to_owned(),
        })
    })
}

async fn one(
    core: &Core,
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
) -> Result<Option<Vec<u8>>, Failure> {
    let statement = &core.store[usize::from(table.0)].get;
    let values = (stored_partition(partition), clustering);
    let result = core.cluster.run(statement, values).await?;
    let rows = result.into_rows_result().map_err(unreadable)?;
    let row = rows.maybe_first_row::<(&[u8],)>().map_err(unreadable)?;
    Ok(row.map(|(value,)| value.to_vec()))
}

pub(crate) fn get(
    core: &Arc<Core>,
    bridge: &Bridge,
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
) -> Result<Option<Vec<u8>>, KvError> {
    let (partition, clustering) = (partition.to_vec(), clustering.to_vec());
    wait(core, bridge, move |core| async move {
        one(&core, table, &partition, &clustering).await
    })
}

pub(crate) fn multi_get(
    core: &Arc<Core>,
    bridge: &Bridge,
    table: TableId,
    keys: &[(&[u8], &[u8])],
) -> Result<Vec<Option<Vec<u8>>>, KvError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<(Vec<u8>, Vec<u8>)> = keys
        .iter()
        .map(|(partition, clustering)| (partition.to_vec(), clustering.to_vec()))
        .collect();
    wait(core, bridge, move |core| async move {
        let core = &core;
        let gets = keys.iter().map(|(partition, clustering)| async move {
            one(core, table, partition, clustering).await
        });
        let gets: Vec<_> = gets.collect();
        stream::iter(gets)
            .buffered(REQUESTS_AT_ONCE)
            .try_collect()
            .await
    })
}

/// Which rows of a partition are read by pages.
#[derive(Debug, Clone)]
struct Slice {
    table: TableId,
    partition: Vec<u8>,
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    reverse: bool,
}

impl Slice {
    fn new(table: TableId, partition: &[u8], range: &ClusteringRange, reverse: bool) -> Self {
        Self {
            table,
            partition: stored_partition(partition).to_vec(),
            from: range.from.clone(),
            to: range.to.clone(),
            reverse,
        }
    }

    async fn page(&self, core: &Core, from: Option<PagingState>) -> Result<Page, Failure> {
        let table = &core.store[usize::from(self.table.0)];
        let scan: &Scan = match self.reverse {
            true => &table.backward,
            false => &table.forward,
        };
        let mut values = vec![Cell::Bytes(&self.partition), Cell::Bytes(&self.from)];
        let paged = match &self.to {
            None => &scan.open,
            Some(to) => {
                values.push(Cell::Bytes(to));
                &scan.closed
            }
        };
        page(core, paged, values, from).await
    }
}

/// The page at `from`; the first one is small.
async fn page(
    core: &Core,
    paged: &Paged,
    values: Vec<Cell<'_>>,
    from: Option<PagingState>,
) -> Result<Page, Failure> {
    match from {
        None => {
            let start = PagingState::start();
            core.cluster.page(&paged.first, values, start).await
        }
        Some(from) => core.cluster.page(&paged.more, values, from).await,
    }
}

/// Hands the rows of a page to `visit`; returns where the next one begins, if more are wanted.
fn visit_page(
    core: &Core,
    page: Page,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Option<PagingState>, KvError> {
    let failed = |failure| error(core, failure);
    let rows = page.rows.rows::<(&[u8], &[u8])>();
    for row in rows.map_err(|error| failed(unreadable(error)))? {
        let (clustering, value) = row.map_err(|error| failed(unreadable(error)))?;
        if visit(clustering, value).is_break() {
            return Ok(None);
        }
    }
    Ok(page.next)
}

pub(crate) fn scan(
    core: &Arc<Core>,
    bridge: &Bridge,
    request: ScanRequest<'_>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    if request.range.is_empty() {
        return Ok(());
    }
    let slice = Slice::new(
        request.table,
        request.partition,
        request.range,
        request.reverse,
    );
    read_on(core, bridge, &slice, None, visit)
}

/// Reads a slice from a page on.
fn read_on(
    core: &Arc<Core>,
    bridge: &Bridge,
    slice: &Slice,
    from: Option<PagingState>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    let mut from = from;
    loop {
        let wanted = slice.clone();
        let page = wait(core, bridge, move |core| async move {
            wanted.page(&core, from).await
        })?;
        match visit_page(core, page, visit)? {
            None => return Ok(()),
            next => from = next,
        }
    }
}

#[expect(
    clippy::type_complexity,
    reason = "the visitor's signature says it better than a name would"
)]
pub(crate) fn scan_many(
    core: &Arc<Core>,
    bridge: &Bridge,
    (table, partitions, range): (TableId, &[&[u8]], &ClusteringRange),
    visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    if range.is_empty() {
        return Ok(());
    }
    // The first pages of a window's partitions are read at once; most need no second one.
    for (window, partitions) in partitions.chunks(REQUESTS_AT_ONCE).enumerate() {
        let slices: Vec<Slice> = partitions
            .iter()
            .map(|partition| Slice::new(table, partition, range, false))
            .collect();
        let wanted = slices.clone();
        let pages: Vec<Page> = wait(core, bridge, move |core| async move {
            let core = &core;
            let pages = wanted
                .iter()
                .map(|slice| async move { slice.page(core, None).await });
            let pages: Vec<_> = pages.collect();
            stream::iter(pages)
                .buffered(REQUESTS_AT_ONCE)
                .try_collect()
                .await
        })?;
        for (at, (page, slice)) in pages.into_iter().zip(&slices).enumerate() {
            let at = window * REQUESTS_AT_ONCE + at;
            let mut visit = |clustering: &[u8], value: &[u8]| visit(at, clustering, value);
            if let Some(next) = visit_page(core, page, &mut visit)? {
                read_on(core, bridge, slice, Some(next), &mut visit)?;
            }
        }
    }
    Ok(())
}

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

/// Where in a table a full scan is. It goes by tokens, and within one by partition keys.
enum Place {
    /// In this partition, after this clustering key.
    After(Vec<u8>, Vec<u8>),
    /// In all partitions after this token.
    AfterToken(i64),
}

pub(crate) fn scan_table(
    core: &Arc<Core>,
    bridge: &Bridge,
    table: TableId,
    after: Option<(&[u8], &[u8])>,
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<(), KvError> {
    let Some((partition, clustering)) = after else {
        let place = Place::AfterToken(BEFORE_ALL_TOKENS);
        return read_table(core, bridge, table, place, visit).map(drop);
    };
    let partition = stored_partition(partition).to_vec();
    let token = token(core, table, &partition)
        .ok_or_else(|| error(core, unreadable("a partition has no token")))?;
    // Partitions may share a token; those that come after this one within it are found by name.
    let this = partition.clone();
    let same: Vec<Vec<u8>> = wait(core, bridge, move |core| async move {
        let statement = &core.store[usize::from(table.0)].at_token;
        let result = core.cluster.run(statement, (token,)).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let keys = rows.rows::<(Vec<u8>,)>().map_err(unreadable)?;
        let keys: Result<Vec<_>, _> = keys.map(|row| row.map(|(key,)| key)).collect();
        let mut keys = keys.map_err(unreadable)?;
        keys.retain(|key| *key > this);
        keys.sort();
        Ok(keys)
    })?;
    let place = Place::After(partition, clustering.to_vec());
    if read_table(core, bridge, table, place, visit)?.is_break() {
        return Ok(());
    }
    for key in same {
        let slice = Slice::new(table, &key, &ClusteringRange::all(), false);
        let mut flow = Flow::Continue(());
        read_on(core, bridge, &slice, None, &mut |clustering, value| {
            let partition = shown_partition(core, table, &key);
            flow = visit(Row {
                partition,
                clustering,
                value,
            });
            flow
        })?;
        if flow.is_break() {
            return Ok(());
        }
    }
    read_table(core, bridge, table, Place::AfterToken(token), visit).map(drop)
}

/// The key as it was given.
pub(crate) fn shown_partition<'a>(core: &Core, table: TableId, stored: &'a [u8]) -> &'a [u8] {
    let only_empty = (core.specs[usize::from(table.0)].partition_len)(&[]) == Some(0);
    if only_empty { &[] } else { stored }
}

fn read_table(
    core: &Arc<Core>,
    bridge: &Bridge,
    table: TableId,
    place: Place,
    visit: &mut dyn FnMut(Row<'_>) -> Flow,
) -> Result<Flow, KvError> {
    let place = Arc::new(place);
    let mut from = None;
    loop {
        let here = Arc::clone(&place);
        let page = wait(core, bridge, move |core| async move {
            let table = &core.store[usize::from(table.0)];
            match &*here {
                Place::After(partition, clustering) => {
                    let values = vec![Cell::Bytes(partition), Cell::Bytes(clustering)];
                    page(&core, &table.rest, values, from).await
                }
                Place::AfterToken(token) => {
                    let values = vec![Cell::Number(*token)];
                    page(&core, &table.after_token, values, from).await
                }
            }
        })?;
        let failed = |failure| error(core, failure);
        let rows = page.rows.rows::<(&[u8], &[u8], &[u8])>();
        for row in rows.map_err(|error| failed(unreadable(error)))? {
            let (partition, clustering, value) = row.map_err(|error| failed(unreadable(error)))?;
            let row = Row {
                partition: shown_partition(core, table, partition),
                clustering,
                value,
            };
            if visit(row).is_break() {
                return Ok(Flow::Break(()));
            }
        }
        match page.next {
            None => return Ok(Flow::Continue(())),
            next => from = next,
        }
    }
}
