//! Reads of work that is tried on a thread that must not wait ([`varve_kv::attempt`]).
//!
//! Rows by their keys, and the first page of a range, are read there; other reads make the work run
//! where it may wait. So does a failed read: it is repeated there, and its error reported.

use std::sync::Arc;

use bytes::Bytes;
use varve_kv::attempt::{self, Answer};
use varve_kv::{Flow, KvError, TableId};

use crate::failure::{Failure, unreadable};
use crate::group::{self, RowKey};
use crate::read::{Slice, busy};
use crate::source::Source;

/// The most rows of one call that are read by their keys.
const KEYS_MAX: usize = 64;

/// The first page of a slice.
struct FirstRows {
    rows: Vec<(Bytes, Bytes)>,
    /// Whether the slice has more rows.
    goes_on: bool,
}

/// Names a read of a space within this process.
fn name(core: &Arc<Source>, kind: u8, table: TableId) -> Vec<u8> {
    let mut name = (Arc::as_ptr(core) as usize).to_ne_bytes().to_vec();
    name.extend([kind, table.0]);
    name
}

fn put(name: &mut Vec<u8>, part: &[u8]) {
    name.extend(part.len().to_ne_bytes());
    name.extend_from_slice(part);
}

/// Returns the answer to a read, or notes the read and fails.
fn answer<T, F>(
    core: &Arc<Source>,
    name: Vec<u8>,
    read: impl FnOnce(Arc<Source>) -> F + 'static,
) -> Result<Arc<T>, KvError>
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<T, Failure>>,
{
    if let Some(known) = attempt::answer(&name) {
        return Ok(known);
    }
    let shared = Arc::clone(core);
    let read = async move {
        let cluster = Arc::clone(&shared.cluster);
        cluster.settle();
        let _room = cluster.enter().await?;
        cluster.figures.wait();
        let read = read(shared).await.ok()?;
        Some(Arc::new(read) as Answer)
    };
    attempt::need(name, Box::pin(read));
    Err(busy(core))
}

/// Makes the work run where it may wait.
pub(crate) fn refuse(core: &Source) -> KvError {
    attempt::refuse();
    busy(core)
}

/// The values of rows, in the order of their keys.
pub(crate) fn values(
    core: &Arc<Source>,
    table: TableId,
    keys: &[(&[u8], &[u8])],
) -> Result<Arc<Vec<Option<Bytes>>>, KvError> {
    if keys.len() > KEYS_MAX {
        return Err(refuse(core));
    }
    let mut name = name(core, 0, table);
    for (partition, clustering) in keys {
        put(&mut name, partition);
        put(&mut name, clustering);
    }
    let owned =
        |(partition, clustering): &(&[u8], &[u8])| (partition.to_vec(), clustering.to_vec());
    let keys: Vec<RowKey> = keys.iter().map(owned).collect();
    answer(core, name, move |core| async move {
        if let [(partition, clustering)] = keys.as_slice() {
            return Ok(vec![
                group::value(&core, table, partition, clustering).await?,
            ]);
        }
        group::values(&core, table, &keys).await
    })
}

/// Visits a slice that has one page, or of which no more is wanted.
pub(crate) fn scan(
    core: &Arc<Source>,
    slice: Slice,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), KvError> {
    if !core.cuts.of(&slice.place()).is_empty() {
        return Err(refuse(core));
    }
    let mut name = name(core, 1 + u8::from(slice.reverse), slice.table);
    put(&mut name, &slice.partition);
    put(&mut name, &slice.from);
    name.extend(slice.to.iter().flatten());
    name.push(u8::from(slice.to.is_some()));
    let first = answer(core, name, move |core| async move {
        let page = slice.page(&core, None).await?;
        let rows = page.rows.rows::<(Bytes, Bytes)>().map_err(unreadable)?;
        let rows: Result<Vec<_>, _> = rows.collect();
        Ok(FirstRows {
            rows: rows.map_err(unreadable)?,
            goes_on: page.next.is_some(),
        })
    })?;
    for (clustering, value) in &first.rows {
        if visit(clustering, value).is_break() {
            return Ok(());
        }
    }
    match first.goes_on {
        true => Err(refuse(core)),
        false => Ok(()),
    }
}
