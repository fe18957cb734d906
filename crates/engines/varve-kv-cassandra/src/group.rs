//! Rows of several partitions, read with one request.
//!
//! A request costs a node, and this process, several times as much as the rows of a small
//! partition. So rows with one clustering key, and equal ranges, are asked for together where the
//! partitions have the same first replica. If such a request is refused, or met too many
//! tombstones, its partitions are asked for one by one.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use varve_kv::TableId;

use crate::failure::{Failure, unreadable};
use crate::plan::stored_partition;
use crate::read::{FirstPage, REQUESTS_AT_ONCE, Slice};
use crate::source::Source;
use crate::statements::EACH_ROWS;

/// The most rows of one request for rows by their keys. With more, the nodes' time for a row is
/// about the same.
const ROWS_MAX: usize = 50;
/// The most partitions of one request for ranges: up to [`EACH_ROWS`] rows of each.
const RANGES_MAX: usize = 32;
/// The most bytes of the keys in one request.
const KEY_BYTES_MAX: usize = 32 << 10;

/// The partition and the clustering key of a row.
pub(crate) type RowKey = (Vec<u8>, Vec<u8>);

/// Splits items into groups of at most `most` items with the same key: `(key, bytes)` of each item.
/// Returns their positions, ascending in each group.
fn groups<K: Eq + Hash>(items: impl Iterator<Item = (K, usize)>, most: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // For each key, its last group, and the bytes in it.
    let mut open: HashMap<K, (usize, usize)> = HashMap::new();
    for (at, (key, bytes)) in items.enumerate() {
        let (group, used) = open.entry(key).or_insert((usize::MAX, 0));
        let has_room = |group: &Vec<usize>| group.len() < most && *used + bytes <= KEY_BYTES_MAX;
        if !groups.get(*group).is_some_and(has_room) {
            (*group, *used) = (groups.len(), 0);
            groups.push(Vec::new());
        }
        groups[*group].push(at);
        *used += bytes;
    }
    groups
}

/// Returns the first replica of a partition; 0 if the cluster has one node.
fn homes(core: &Source, table: TableId) -> impl Fn(&[u8]) -> u128 {
    let one = core.cluster.node_count() <= 1;
    let statement = &core.store[usize::from(table.0)].get;
    move |partition| match one {
        true => 0,
        false => core.cluster.home(statement, stored_partition(partition)),
    }
}

/// Reads rows by their keys. Returns their values in the order given.
pub(crate) async fn values(
    core: &Source,
    table: TableId,
    keys: &[RowKey],
) -> Result<Vec<Option<Bytes>>, Failure> {
    // Equal keys are asked for once: the positions of the first of each.
    let mut first: HashMap<&RowKey, usize> = HashMap::with_capacity(keys.len());
    let mut asked: Vec<usize> = Vec::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        first.entry(key).or_insert_with(|| {
            asked.push(at);
            at
        });
    }
    let groups = groups_of_rows(core, table, keys, &asked);
    let reads = groups
        .into_iter()
        .map(|group| rows_of(core, table, keys, group));
    let reads: Vec<_> = reads.collect();
    let reads = stream::iter(reads).buffer_unordered(REQUESTS_AT_ONCE);
    let read: Vec<Vec<(usize, Bytes)>> = reads.try_collect().await?;
    let mut values = vec![None; keys.len()];
    for (at, value) in read.into_iter().flatten() {
        values[at] = Some(value);
    }
    if asked.len() < keys.len() {
        for (at, key) in keys.iter().enumerate() {
            if first[key] != at {
                values[at] = values[first[key]].clone();
            }
        }
    }
    Ok(values)
}

/// Returns the groups of the rows `asked`: rows of many partitions with one clustering key, as the
/// rows of vertices, otherwise the rows of each partition.
fn groups_of_rows(
    core: &Source,
    table: TableId,
    keys: &[RowKey],
    asked: &[usize],
) -> Vec<Vec<usize>> {
    let home = homes(core, table);
    let one_clustering = asked.windows(2).all(|two| keys[two[0]].1 == keys[two[1]].1);
    let items = asked.iter().map(|at| {
        let (partition, clustering) = &keys[*at];
        let key = match one_clustering {
            true => (home(partition), [].as_slice()),
            false => (0, partition.as_slice()),
        };
        (key, partition.len() + clustering.len())
    });
    let groups = groups(items, ROWS_MAX).into_iter();
    groups
        .map(|group| group.into_iter().map(|number| asked[number]).collect())
        .collect()
}

/// Reads the rows of one group. Returns the positions and the values of those that exist.
async fn rows_of(
    core: &Source,
    table: TableId,
    keys: &[RowKey],
    group: Vec<usize>,
) -> Result<Vec<(usize, Bytes)>, Failure> {
    if group.len() > 1 {
        match rows_together(core, table, keys, &group).await {
            Err(failure) if failure.for_good() => {}
            read => return read,
        }
    }
    let single = group.into_iter().map(|at| async move {
        let (partition, clustering) = &keys[at];
        let value = value(core, table, partition, clustering).await?;
        Ok::<_, Failure>(value.map(|value| (at, value)))
    });
    let single: Vec<_> = single.collect();
    let single = stream::iter(single).buffer_unordered(REQUESTS_AT_ONCE);
    let read: Vec<Option<(usize, Bytes)>> = single.try_collect().await?;
    Ok(read.into_iter().flatten().collect())
}

async fn rows_together(
    core: &Source,
    table: TableId,
    keys: &[RowKey],
    group: &[usize],
) -> Result<Vec<(usize, Bytes)>, Failure> {
    let mut places: HashMap<(&[u8], &[u8]), usize> = HashMap::with_capacity(group.len());
    let (mut partitions, mut clusterings) = (Vec::new(), Vec::new());
    for at in group {
        let (partition, clustering) = &keys[*at];
        let partition = stored_partition(partition);
        places.insert((partition, clustering), *at);
        partitions.push(partition);
        clusterings.push(clustering.as_slice());
    }
    partitions.dedup();
    clusterings.dedup();
    let statement = &core.store[usize::from(table.0)].get_many;
    let values = (&partitions, &clusterings);
    let result = core.cluster.run_near(statement, values, partitions[0]);
    let rows = result.await?.into_rows_result().map_err(unreadable)?;
    let mut found = Vec::with_capacity(rows.rows_num());
    for row in rows.rows::<(&[u8], &[u8], Bytes)>().map_err(unreadable)? {
        let (partition, clustering, value) = row.map_err(unreadable)?;
        if let Some(at) = places.get(&(partition, clustering)) {
            found.push((*at, value));
        }
    }
    Ok(found)
}

/// Reads one row.
pub(crate) async fn value(
    core: &Source,
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
) -> Result<Option<Bytes>, Failure> {
    let statement = &core.store[usize::from(table.0)].get;
    let values = (stored_partition(partition), clustering);
    let result = core.cluster.run(statement, values).await?;
    let rows = result.into_rows_result().map_err(unreadable)?;
    let row = rows.maybe_first_row::<(Bytes,)>().map_err(unreadable)?;
    Ok(row.map(|(value,)| value))
}

/// The start of a slice.
pub(crate) enum Start {
    /// It was not read: the slice is read in parts.
    Unread,
    /// The first page.
    Page(Box<FirstPage>),
    /// The first [`EACH_ROWS`] rows, fewer if the slice has fewer.
    Rows(Vec<(Bytes, Bytes)>),
}

/// Reads the starts of ascending slices of a table, in the order given.
pub(crate) async fn starts(core: &Source, table: TableId, slices: &[Slice]) -> Vec<Start> {
    let home = homes(core, table);
    let is_whole = |slice: &Slice| core.cuts.of(&slice.place()).is_empty();
    let asked: Vec<usize> = (0..slices.len())
        .filter(|at| is_whole(&slices[*at]))
        .collect();
    // Equal slices are in different groups.
    let mut equal: HashMap<&Slice, usize> = HashMap::with_capacity(asked.len());
    let items = asked.iter().map(|at| {
        let slice = &slices[*at];
        let number = equal.entry(slice).and_modify(|count| *count += 1);
        let number = *number.or_insert(0);
        let key = (home(&slice.partition), &slice.from, &slice.to, number);
        (key, slice.partition.len())
    });
    let groups = groups(items, RANGES_MAX);
    let reads = groups.into_iter().map(|group| {
        let group: Vec<usize> = group.into_iter().map(|number| asked[number]).collect();
        starts_of(core, slices, group)
    });
    let reads: Vec<_> = reads.collect();
    let reads = stream::iter(reads).buffer_unordered(REQUESTS_AT_ONCE);
    let read: Vec<Vec<(usize, Start)>> = reads.collect().await;
    let mut starts: Vec<Start> = slices.iter().map(|_| Start::Unread).collect();
    for (at, start) in read.into_iter().flatten() {
        starts[at] = start;
    }
    starts
}

/// Reads the starts of the slices of one group.
async fn starts_of(core: &Source, slices: &[Slice], group: Vec<usize>) -> Vec<(usize, Start)> {
    let asked = Instant::now();
    if group.len() > 1 {
        match ranges_together(core, slices, &group).await {
            Ok(rows) => {
                let starts = rows.into_iter().map(Start::Rows);
                return group.into_iter().zip(starts).collect();
            }
            Err(failure) if failure.for_good() => {}
            Err(failure) => {
                let failed = || Start::Page(Box::new((Err(failure.clone()), asked.elapsed())));
                return group.into_iter().map(|at| (at, failed())).collect();
            }
        }
    }
    let single = group.into_iter().map(|at| async move {
        let asked = Instant::now();
        let page = slices[at].page(core, None).await;
        (at, Start::Page(Box::new((page, asked.elapsed()))))
    });
    let single: Vec<_> = single.collect();
    stream::iter(single)
        .buffer_unordered(REQUESTS_AT_ONCE)
        .collect()
        .await
}

/// Reads the first rows of slices with one range, in the order of `group`.
async fn ranges_together(
    core: &Source,
    slices: &[Slice],
    group: &[usize],
) -> Result<Vec<Vec<(Bytes, Bytes)>>, Failure> {
    let one = &slices[group[0]];
    let partitions = group.iter().map(|at| slices[*at].partition.as_slice());
    let partitions: Vec<&[u8]> = partitions.collect();
    let places = partitions.iter().copied().zip(0..);
    let places: HashMap<&[u8], usize> = places.collect();
    let each = &core.store[usize::from(one.table.0)].each;
    let (cluster, near) = (&core.cluster, partitions[0]);
    let result = match &one.to {
        None => {
            let values = (&partitions, &one.from);
            cluster.run_near(&each.open, values, near).await?
        }
        Some(to) => {
            let values = (&partitions, &one.from, to);
            cluster.run_near(&each.closed, values, near).await?
        }
    };
    let rows = result.into_rows_result().map_err(unreadable)?;
    let mut found: Vec<Vec<(Bytes, Bytes)>> = group.iter().map(|_| Vec::new()).collect();
    for row in rows.rows::<(&[u8], Bytes, Bytes)>().map_err(unreadable)? {
        let (partition, clustering, value) = row.map_err(unreadable)?;
        if let Some(place) = places.get(partition) {
            found[*place].push((clustering, value));
        }
    }
    Ok(found)
}

/// Whether a slice may have rows after so many that were read of it.
pub(crate) fn is_full(rows: &[(Bytes, Bytes)]) -> bool {
    rows.len() >= EACH_ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_one_key_and_a_limit() {
        let items = [('a', 1), ('b', 1), ('a', 1), ('a', 1), ('b', 1)];
        assert_eq!(
            groups(items.into_iter(), 2),
            [vec![0, 2], vec![1, 4], vec![3]]
        );
        let large = [('a', KEY_BYTES_MAX - 1), ('a', 2), ('a', KEY_BYTES_MAX + 1)];
        assert_eq!(groups(large.into_iter(), 9), [[0], [1], [2]]);
        assert!(groups([('a', 0); 0].into_iter(), 1).is_empty());
    }
}
