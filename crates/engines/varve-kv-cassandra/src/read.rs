//! Reads: each call waits for the cluster; calls for many rows send many requests at once.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use scylla::response::PagingState;
use varve_kv::{ClusteringRange, Flow, KvError, PartitionRange, ScanRequest, TableId};

use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::core::Core;
use crate::cuts::{CutTarget, Whole};
use crate::failure::{Failure, unreadable};
use crate::plan::{next_key, stored_partition};
use crate::split::{self, Search};
use crate::statements::{Cell, Paged, Scan};

/// The most requests of one call that are under way at once.
const REQUESTS_AT_ONCE: usize = 64;

/// Returns the caller's error for a failed read.
pub(crate) fn error(core: &Core, failure: Failure) -> KvError {
    failure.into_error(&core.name)
}

fn busy(core: &Core) -> KvError {
    KvError::Busy {
        space: core.name.to_string(),
        detail: "too many requests are in flight".to_owned(),
    }
}

/// Runs `work` on the runtime with a permit for concurrent requests, and waits for it.
pub(crate) fn wait<T, F>(
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
        cluster.waits.fetch_add(1, Ordering::Relaxed);
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

/// A range of a partition's rows that is read by pages.
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

    fn place(&self) -> CutTarget {
        (self.table, Whole::Partition(self.partition.clone()))
    }

    /// Returns the rest of the slice after the visited row with this key; `None` if no key can
    /// follow it.
    fn after(&self, shown: Option<Vec<u8>>) -> Option<Self> {
        let mut rest = self.clone();
        match (shown, self.reverse) {
            (None, _) => {}
            (Some(key), false) => rest.from = next_key(key)?,
            (Some(key), true) => rest.to = Some(key),
        }
        Some(rest)
    }

    /// Returns the parts of the slice between these ascending keys; the part that is read first
    /// comes last.
    fn cut(&self, cuts: Vec<Vec<u8>>) -> Vec<Self> {
        let mut parts = Vec::with_capacity(cuts.len() + 1);
        let mut rest = self.clone();
        for cut in cuts {
            if cut <= rest.from || rest.to.as_ref().is_some_and(|to| cut >= *to) {
                continue;
            }
            let mut part = rest.clone();
            part.to = Some(cut.clone());
            rest.from = cut;
            parts.push(part);
        }
        parts.push(rest);
        if !self.reverse {
            parts.reverse();
        }
        parts
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

/// Reads the page at `from`; the first page is small.
pub(crate) async fn page(
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

/// The position after a visited page: the key of its last row, if it has rows, and the state of the
/// next page.
type Behind = (Option<Vec<u8>>, Option<PagingState>);

/// Passes the rows of a page to `visit`. Returns the position after the page, if more rows are
/// wanted.
fn visit_page(
    core: &Core,
    page: Page,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<ControlFlow<(), Behind>, KvError> {
    let failed = |failure| error(core, failure);
    let rows = page.rows.rows::<(&[u8], &[u8])>();
    let mut shown = None;
    for row in rows.map_err(|error| failed(unreadable(error)))? {
        let (clustering, value) = row.map_err(|error| failed(unreadable(error)))?;
        if visit(clustering, value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        shown = Some(clustering);
    }
    let shown = shown.map(<[u8]>::to_vec);
    Ok(ControlFlow::Continue((shown, page.next)))
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
    read_slice(core, bridge, slice, None, visit).map(drop)
}

/// Reads the rows of one partition, given by its stored key, from the clustering key `from` on.
pub(crate) fn read_partition(
    core: &Arc<Core>,
    bridge: &Bridge,
    (table, partition): (TableId, &[u8]),
    from: Vec<u8>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Flow, KvError> {
    let range = ClusteringRange { from, to: None };
    let slice = Slice::new(table, partition, &range, false);
    read_slice(core, bridge, slice, None, visit)
}

/// Reads a slice, whose first page may have been read already. Where there are too many tombstones,
/// it is read in smaller slices.
fn read_slice(
    core: &Arc<Core>,
    bridge: &Bridge,
    slice: Slice,
    first: Option<FirstPage>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Flow, KvError> {
    let place = slice.place();
    let mut todo = match first {
        Some(_) => vec![slice],
        None => slice.cut(core.cuts.of(&place)),
    };
    let first = first.map(|(page, took)| (page.map_err(|failure| error(core, failure)), took));
    let mut search = Search::new();
    let read = read_parts(core, bridge, (&mut todo, first), &mut search, visit);
    if read.is_err() {
        search.broken_off(todo.into_iter().map(|part| part.from));
    }
    search.learn(&core.cuts, place);
    read
}

/// A page that was read already, and the duration of its read.
type FirstPage<E = Failure> = (Result<Page, E>, Duration);

/// Reads slices from the last to the first. The first page of the last slice may have been read.
fn read_parts(
    core: &Arc<Core>,
    bridge: &Bridge,
    (todo, mut first): (&mut Vec<Slice>, Option<FirstPage<KvError>>),
    search: &mut Search,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<Flow, KvError> {
    let whole = todo.len() == 1;
    while let Some(part) = todo.pop() {
        search.begin(part.from.clone());
        if !whole || search.bounds.shortest().is_some() {
            search.bounds.in_time(&core.name)?;
        }
        let (mut at, mut last) = (None, None);
        let mut took = Duration::ZERO;
        loop {
            let (read, time) = first.take().unwrap_or_else(|| {
                let wanted = part.clone();
                let asked = Instant::now();
                let read = wait(core, bridge, move |core| async move {
                    wanted.page(&core, at).await
                });
                (read, asked.elapsed())
            });
            let page = match read {
                Ok(page) => page,
                Err(error @ KvError::Tombstones { .. }) => {
                    let Some(rest) = part.after(last) else {
                        break;
                    };
                    let cuts = split::cuts(&rest.from, rest.to.as_deref());
                    if cuts.is_empty() {
                        return Err(error);
                    }
                    todo.extend(rest.cut(cuts));
                    search.bounds.failed(time, error)?;
                    break;
                }
                Err(error) => return Err(error),
            };
            took += time;
            let ControlFlow::Continue((shown, next)) = visit_page(core, page, visit)? else {
                return Ok(Flow::Break(()));
            };
            if shown.is_some() {
                last = shown;
                search.bounds.found();
            }
            if next.is_none() {
                search.end(took);
                break;
            }
            at = next;
        }
    }
    Ok(Flow::Continue(()))
}

#[expect(
    clippy::type_complexity,
    reason = "the visitor's signature says it better than a name would"
)]
pub(crate) fn scan_many(
    core: &Arc<Core>,
    bridge: &Bridge,
    (table, ranges): (TableId, &[PartitionRange<'_>]),
    visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    let wanted = ranges.iter().enumerate();
    let wanted: Vec<_> = wanted.filter(|(_, one)| !one.range.is_empty()).collect();
    // The first pages of a window's ranges are read together; most ranges need no second page.
    for window in wanted.chunks(REQUESTS_AT_ONCE) {
        let slices: Vec<Slice> = window
            .iter()
            .map(|(_, one)| Slice::new(table, one.partition, one.range, false))
            .collect();
        let wanted = slices.clone();
        let pages: Vec<Option<FirstPage>> = wait(core, bridge, move |core| async move {
            let core = &core;
            let pages = wanted.iter().map(|slice| async move {
                // A slice that is read in several parts is read later, when its range is visited.
                if !core.cuts.of(&slice.place()).is_empty() {
                    return None;
                }
                let asked = Instant::now();
                let page = slice.page(core, None).await;
                Some((page, asked.elapsed()))
            });
            let pages: Vec<_> = pages.collect();
            Ok(stream::iter(pages)
                .buffered(REQUESTS_AT_ONCE)
                .collect()
                .await)
        })?;
        for ((page, slice), (at, _)) in pages.into_iter().zip(slices).zip(window) {
            let mut visit = |clustering: &[u8], value: &[u8]| visit(*at, clustering, value);
            read_slice(core, bridge, slice, page, &mut visit).map(drop)?;
        }
    }
    Ok(())
}
