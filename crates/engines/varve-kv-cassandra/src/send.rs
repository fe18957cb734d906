//! Carrying out a plan: sends its pieces as requests.
//!
//! A batch over several partitions is already in the log, so its requests need not be atomic. Small
//! pieces are sent together, up to the limits of which a cluster with default settings warns. A
//! request costs the cluster and this process more than a row does.

use std::collections::HashMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::batch::{Batch as Request, BatchType};
use scylla::statement::prepared::PreparedStatement;
use varve_kv::fail_point;
use varve_kv::range::prefix_end;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::plan::{Change, ChangeKind, Piece, Plan};
use crate::statements::{Cell, Store};

/// The most requests of one batch that are under way at once.
const REQUESTS_AT_ONCE: usize = 64;
/// The most partitions of one request: a node warns of more
/// (`unlogged_batch_across_partitions_warn_threshold`).
const PARTITIONS_MAX: usize = 10;
/// The most bytes of a request over several partitions; a node warns at 5 KiB
/// (`batch_size_warn_threshold`).
const SHARED_BYTES_MAX: usize = 4 << 10;
/// The most bytes that a node counts for a change besides its keys and value.
const CHANGE_BYTES: usize = 40;
/// The bytes of a partition's key that an error shows.
const SHOWN_KEY_BYTES: usize = 64;

/// Sends the pieces of a plan, all or those in `which`, and returns those that failed.
pub(crate) async fn send_all(
    cluster: &Cluster,
    store: &Store,
    plan: &Plan,
    stamp: i64,
    which: Option<&[usize]>,
) -> Vec<(usize, Failure)> {
    let count = plan.pieces().len();
    let which: Vec<usize> = which.map_or_else(|| (0..count).collect(), <[usize]>::to_vec);
    let home = |at: usize| home(cluster, store, plan, &plan.pieces()[at]);
    let requests = match cluster.node_count() {
        0 | 1 => together(plan, &which, |_| 0),
        _ => together(plan, &which, home),
    };
    let sent = requests.into_iter().map(|request| async move {
        let failed = send(cluster, store, plan, &request, stamp).await;
        fail_point::CLUSTER_PIECE.pass();
        stream::iter(failed)
    });
    let sent: Vec<_> = sent.collect();
    stream::iter(sent)
        .buffer_unordered(REQUESTS_AT_ONCE)
        .flatten()
        .collect()
        .await
}

/// Groups pieces into requests: small ones with the same `home` go together, in their order.
fn together(plan: &Plan, which: &[usize], home: impl Fn(usize) -> u128) -> Vec<Vec<usize>> {
    let mut requests: Vec<Vec<usize>> = Vec::new();
    // For each home, the request with space left, and its bytes.
    let mut open: HashMap<u128, (usize, usize)> = HashMap::new();
    for at in which.iter().copied() {
        let piece = &plan.pieces()[at];
        let bytes = piece.byte_len + CHANGE_BYTES * piece.changes.len();
        if bytes > SHARED_BYTES_MAX {
            requests.push(vec![at]);
            continue;
        }
        let home = home(at);
        if let Some((request, used)) = open.get_mut(&home)
            && *used + bytes <= SHARED_BYTES_MAX
            && requests[*request].len() < PARTITIONS_MAX
        {
            requests[*request].push(at);
            *used += bytes;
            continue;
        }
        open.insert(home, (requests.len(), bytes));
        requests.push(vec![at]);
    }
    requests
}

/// Returns the node that is the best coordinator for a write to a piece's partition.
fn home(cluster: &Cluster, store: &Store, plan: &Plan, piece: &Piece) -> u128 {
    let table = piece
        .changes
        .first()
        .map_or(0, |change| usize::from(change.table.0));
    cluster.home(&store[table].get, plan.partition(piece))
}

/// Sends pieces as one request, and returns those that failed. If the request is refused, its
/// pieces are sent one by one: a cluster may be configured with lower limits.
async fn send(
    cluster: &Cluster,
    store: &Store,
    plan: &Plan,
    request: &[usize],
    stamp: i64,
) -> Vec<(usize, Failure)> {
    let pieces: Vec<&Piece> = request.iter().map(|at| &plan.pieces()[*at]).collect();
    let Err(failure) = send_together(cluster, store, plan, &pieces, stamp).await else {
        return Vec::new();
    };
    if request.len() == 1 || !failure.for_good() {
        return request.iter().map(|at| (*at, failure.clone())).collect();
    }
    let mut failed = Vec::new();
    for (at, one) in request.iter().zip(pieces) {
        if let Err(failure) = send_together(cluster, store, plan, &[one], stamp).await {
            failed.push((*at, failure));
        }
    }
    failed
}

/// Describes, for people, the first failed piece that is refused for good, if there is one.
pub(crate) fn refused(plan: &Plan, failed: &[(usize, Failure)]) -> Option<String> {
    let (at, failure) = failed.iter().find(|(_, failure)| failure.for_good())?;
    let piece = &plan.pieces()[*at];
    let partition = plan.partition(piece);
    let shown = partition.iter().take(SHOWN_KEY_BYTES);
    let key: String = shown.map(|byte| format!("{byte:02x}")).collect();
    Some(format!(
        "the cluster refuses {} changes of {} bytes to the partition 0x{key}{}: {}",
        piece.changes.len(),
        piece.byte_len,
        if partition.len() > SHOWN_KEY_BYTES {
            "…"
        } else {
            ""
        },
        failure.text()
    ))
}

/// Sends pieces as one request. Its writes to one partition are atomic.
async fn send_together(
    cluster: &Cluster,
    store: &Store,
    plan: &Plan,
    pieces: &[&Piece],
    stamp: i64,
) -> Result<(), Failure> {
    if let [piece] = pieces
        && let [change] = piece.changes.as_slice()
    {
        let end = range_end(plan, change);
        let (statement, values) = bound(store, plan, piece, change, end.as_deref(), stamp);
        return cluster.run(statement, values).await.map(drop);
    }
    let changes = || {
        pieces
            .iter()
            .flat_map(|piece| piece.changes.iter().map(move |change| (*piece, change)))
    };
    let ends: Vec<Option<Vec<u8>>> = changes()
        .map(|(_, change)| range_end(plan, change))
        .collect();
    let mut request = Request::new(BatchType::Unlogged);
    request.set_is_idempotent(true);
    request.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
    let mut rows = Vec::with_capacity(ends.len());
    for ((piece, change), end) in changes().zip(&ends) {
        let (statement, values) = bound(store, plan, piece, change, end.as_deref(), stamp);
        request.append_statement(statement.clone());
        rows.push(values);
    }
    cluster.run_batch(&request, rows).await.map(drop)
}

fn range_end(plan: &Plan, change: &Change) -> Option<Vec<u8>> {
    match change.kind {
        ChangeKind::DeletePrefix => prefix_end(plan.clustering(change)),
        // The first key after the last one of the range.
        ChangeKind::DeleteRange => Some([plan.value(change), &[0]].concat()),
        ChangeKind::Put | ChangeKind::Delete => None,
    }
}

/// Returns the statement of a change with its values. Ranges have the batch's first timestamp, rows
/// the second.
fn bound<'a>(
    store: &'a Store,
    plan: &'a Plan,
    piece: &Piece,
    change: &Change,
    end: Option<&'a [u8]>,
    stamp: i64,
) -> (&'a PreparedStatement, Vec<Cell<'a>>) {
    use Cell::{Bytes, Number};
    let table = &store[usize::from(change.table.0)];
    let partition = Bytes(plan.partition(piece));
    let clustering = Bytes(plan.clustering(change));
    match (change.kind, end) {
        (ChangeKind::Put, _) => {
            let value = Bytes(plan.value(change));
            let values = vec![partition, clustering, value, Number(stamp + 1)];
            (&table.put, values)
        }
        (ChangeKind::Delete, _) => (
            &table.delete,
            vec![Number(stamp + 1), partition, clustering],
        ),
        // A deleted partition is no tombstone that a full scan counts.
        (ChangeKind::DeletePrefix, None) if plan.clustering(change).is_empty() => {
            (&table.delete_all, vec![Number(stamp), partition])
        }
        (ChangeKind::DeletePrefix | ChangeKind::DeleteRange, None) => (
            &table.delete_open,
            vec![Number(stamp), partition, clustering],
        ),
        (ChangeKind::DeletePrefix | ChangeKind::DeleteRange, Some(end)) => (
            &table.delete_closed,
            vec![Number(stamp), partition, clustering, Bytes(end)],
        ),
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::{Batch, TableId};

    use super::*;

    fn plan(batch: &Batch) -> Plan {
        Plan::of(Arc::from(batch.bytes()), 0, batch.sweeps()).expect("it is small")
    }

    #[test]
    fn small_pieces_of_one_home_go_together() {
        let mut batch = Batch::new();
        for partition in 0..24_u8 {
            batch.put(TableId(0), &[partition], b"c", b"v");
        }
        // The first is too large to be sent with others, the second nearly so.
        batch.put(TableId(0), &[24], b"c", &[0; SHARED_BYTES_MAX]);
        batch.put(TableId(0), &[25], b"c", &[0; SHARED_BYTES_MAX - 100]);
        let plan = plan(&batch);
        let all: Vec<usize> = (0..26).collect();
        let of =
            |requests: &[Vec<usize>]| -> Vec<usize> { requests.iter().map(Vec::len).collect() };
        let one = together(&plan, &all, |_| 7);
        assert_eq!(of(&one), [10, 10, 4, 1, 1]);
        let two = together(&plan, &all, |at| (at % 2) as u128);
        assert_eq!(of(&two), [10, 10, 2, 2, 1, 1]);
        assert!(
            two.iter()
                .all(|request| request.iter().all(|at| at % 2 == request[0] % 2))
        );
        let some = together(&plan, &[3, 24, 5], |_| 7);
        assert_eq!(some, [vec![3, 5], vec![24]]);
        for requests in [one, two] {
            let mut sent = requests.concat();
            sent.sort_unstable();
            assert_eq!(sent, all);
        }
    }

    #[test]
    fn of_what_is_refused_for_good_the_piece_is_named() {
        let mut batch = Batch::new();
        batch.put(TableId(0), b"one", b"c", b"v");
        batch.put(TableId(0), &[0xab; 100], b"c", b"v");
        let plan = plan(&batch);
        let late = (0, Failure::Unknown("late".to_owned()));
        let away = (1, Failure::NotDone("away".to_owned()));
        assert_eq!(refused(&plan, &[late.clone(), away]), None);
        let large = (1, Failure::TooLarge("too large".to_owned()));
        let message = refused(&plan, &[late, large]).expect("one is refused");
        let key = "ab".repeat(SHOWN_KEY_BYTES);
        assert_eq!(
            message,
            format!(
                "the cluster refuses 1 changes of 102 bytes to the partition 0x{key}…: too large"
            )
        );
    }
}
