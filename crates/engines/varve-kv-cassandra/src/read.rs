//! Reads: each call waits for the cluster; calls for many rows send many requests at once.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::response::PagingState;
use varve_kv::{ClusteringRange, Flow, KvError, PartitionRange, ScanRequest, TableId, attempt};

use crate::bridge::Bridge;
use crate::cluster::Page;
use crate::cuts::{CutTarget, Whole};
use crate::failure::{Failure, unreadable};
use crate::group::{self, RowKey, Start};
use crate::plan::{next_key, stored_partition};
use crate::source::Source;
use crate::split::{self, Search};
use crate::statements::{Cell, Paged, Scan};
use crate::tried;

/// The most requests of one call that are under way at once.
pub(crate) const REQUESTS_AT_ONCE: usize = 64;
/// The most ranges of one call whose starts are read, and buffered, at once.
const RANGES_AT_ONCE: usize = 256;

/// Returns the caller's error for a failed read.
pub(crate) fn error(core: &Source, failure: Failure) -> KvError {
    failure.into_error(&core.name)
}

pub(crate) fn busy(core: &Source) -> KvError {
    KvError::Busy {
        space: core.name.to_string(),
        detail: "too many requests are in flight".to_owned(),
    }
}

/// Runs `work` on the runtime with a permit for concurrent requests, and waits for it.
pub(crate) fn wait<T, F>(
    core: &Arc<Source>,
    bridge: &Bridge,
    work: impl FnOnce(Arc<Source>) -> F + Send + 'static,
) -> Result<T, KvError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Failure>> + Send,
{
    if attempt::is_running() {
        return Err(tried::refuse(core));
    }
    let shared = Arc::clone(core);
    let done = bridge.wait(async move {
        let cluster = Arc::clone(&shared.cluster);
        let Some(_room) = cluster.enter().await else {
            return Err(busy(&shared));
        };
        cluster.figures.wait();
        let core = Arc::clone(&shared);
        work(core).await.map_err(|failure| error(&shared, failure))
    });
    done.unwrap_or_else(|| Err(failed_engine(core)))
}

/// The error for a caller whose work panicked.
pub(crate) fn failed_engine(core: &Source) -> KvError {
    KvError::Io {
        space: core.name.to_string(),
        detail: "the engine failed, see the log".to_owned(),
    }
}

pub(crate) fn get_with(
    core: &Arc<Source>,
    bridge: &Bridge,
    table: TableId,
    (partition, clustering): (&[u8], &[u8]),
    found: &mut dyn FnMut(&[u8]),
) -> Result<bool, KvError> {
    if attempt::is_running() {
        let values = tried::values(core, table, &[(partition, clustering)])?;
        let value = values.first().and_then(Option::as_deref);
        value.map(found);
        return Ok(value.is_some());
    }
    let (partition, clustering) = (partition.to_vec(), clustering.to_vec());
    let value = wait(core, bridge, move |core| async move {
        group::value(&core, table, &partition, &clustering).await
    })?;
    value.as_deref().map(found);
    Ok(value.is_some())
}

pub(crate) fn get_each(
    core: &Arc<Source>,
    bridge: &Bridge,
    table: TableId,
    keys: &[(&[u8], &[u8])],
    found: &mut dyn FnMut(usize, &[u8]),
) -> Result<(), KvError> {
    if keys.is_empty() {
        return Ok(());
    }
    let values = if attempt::is_running() {
        tried::values(core, table, keys)?
    } else {
        let keys: Vec<RowKey> = keys
            .iter()
            .map(|(partition, clustering)| (partition.to_vec(), clustering.to_vec()))
            .collect();
        let read = wait(core, bridge, move |core| async move {
            group::values(&core, table, &keys).await
        });
        Arc::new(read?)
    };
    for (at, value) in values.iter().enumerate() {
        if let Some(value) = value {
            found(at, value);
        }
    }
    Ok(())
}

/// A range of a partition's rows that is read by pages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Slice {
    pub(crate) table: TableId,
    /// The stored key.
    pub(crate) partition: Vec<u8>,
    pub(crate) from: Vec<u8>,
    pub(crate) to: Option<Vec<u8>>,
    pub(crate) reverse: bool,
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

    pub(crate) fn place(&self) -> CutTarget {
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

    pub(crate) async fn page(
        &self,
        core: &Source,
        from: Option<PagingState>,
    ) -> Result<Page, Failure> {
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
    core: &Source,
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
    core: &Source,
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
    core: &Arc<Source>,
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
    if attempt::is_running() {
        return tried::scan(core, slice, visit);
    }
    read_slice(core, bridge, slice, None, visit).map(drop)
}

/// Reads the rows of one partition, given by its stored key, from the clustering key `from` on.
pub(crate) fn read_partition(
    core: &Arc<Source>,
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
    core: &Arc<Source>,
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
pub(crate) type FirstPage<E = Failure> = (Result<Page, E>, Duration);

/// Reads slices from the last to the first. The first page of the last slice may have been read.
fn read_parts(
    core: &Arc<Source>,
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
    core: &Arc<Source>,
    bridge: &Bridge,
    (table, ranges): (TableId, &[PartitionRange<'_>]),
    visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    let wanted = ranges.iter().enumerate();
    let wanted: Vec<_> = wanted.filter(|(_, one)| !one.range.is_empty()).collect();
    // The starts of a window's ranges are read together; most ranges have no more rows.
    for window in wanted.chunks(RANGES_AT_ONCE) {
        let slices: Vec<Slice> = window
            .iter()
            .map(|(_, one)| Slice::new(table, one.partition, one.range, false))
            .collect();
        let wanted = slices.clone();
        let starts = wait(core, bridge, move |core| async move {
            Ok(group::starts(&core, table, &wanted).await)
        })?;
        for ((start, slice), (at, _)) in starts.into_iter().zip(slices).zip(window) {
            let mut visit = |clustering: &[u8], value: &[u8]| visit(*at, clustering, value);
            read_on(core, bridge, slice, start, &mut visit)?;
        }
    }
    Ok(())
}

/// Visits a slice whose start was read.
fn read_on(
    core: &Arc<Source>,
    bridge: &Bridge,
    slice: Slice,
    start: Start,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    let (rest, page) = match start {
        Start::Unread => (Some(slice), None),
        Start::Page(page) => (Some(slice), Some(*page)),
        Start::Rows(rows) => {
            for (clustering, value) in &rows {
                if visit(clustering, value).is_break() {
                    return Ok(());
                }
            }
            let last = rows.last().filter(|_| group::is_full(&rows));
            let rest = last.and_then(|(last, _)| slice.after(Some(last.to_vec())));
            (rest, None)
        }
    };
    match rest {
        Some(rest) if rest.to.as_ref().is_none_or(|to| rest.from < *to) => {
            read_slice(core, bridge, rest, page, visit).map(drop)
        }
        _ => Ok(()),
    }
}
