//! The tables of the cases, and helpers that fill and read them.

use std::sync::Arc;

use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, Reader, ScanRequest, Space, TableId,
    TableSpec,
};

/// Rows of a partition as read: clustering key and value.
pub type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Rows of a whole table as read: partition key, clustering key, value.
pub type FullRows = Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>;

/// Partition keys of 8 bytes; rows are read one by one.
pub const POINTS: TableId = TableId(0);
/// Partition keys of text that ends with a zero byte; rows are scanned.
pub const NAMED: TableId = TableId(1);
/// Partition keys of a length byte and that number of bytes; a cold table.
pub const COLD: TableId = TableId(2);
/// One partition only, with the empty key.
pub const SINGLE: TableId = TableId(3);

/// The tables above.
pub static TABLES: &[TableSpec] = &[
    TableSpec {
        name: "points",
        partition_len: |key| (key.len() >= 8).then_some(8),
        point_reads: true,
        probed: Some(varve_kv::table::always),
        cold: false,
        summarize: None,
    },
    TableSpec {
        name: "named",
        partition_len: |key| key.iter().position(|byte| *byte == 0).map(|at| at + 1),
        point_reads: false,
        // Only some rows of a partition are probed.
        probed: Some(|clustering| clustering.last().is_none_or(|byte| byte % 2 == 0)),
        cold: false,
        summarize: Some(all_keys),
    },
    TableSpec {
        name: "cold",
        partition_len: |key| {
            let length = usize::from(*key.first()?) + 1;
            (key.len() >= length).then_some(length)
        },
        point_reads: false,
        probed: None,
        cold: true,
        summarize: None,
    },
    TableSpec {
        name: "single",
        partition_len: |_| Some(0),
        point_reads: true,
        probed: Some(varve_kv::table::always),
        cold: false,
        summarize: None,
    },
];

/// A summary that tells rows apart: the clustering keys and values, each after its length; none of
/// more than 8 rows.
fn all_keys<'r>(partition: &[u8], rows: &mut dyn Iterator<Item = (&'r [u8], &'r [u8])>) -> Vec<u8> {
    let mut summary = partition.to_vec();
    for (number, (clustering, value)) in rows.enumerate() {
        if number == 8 {
            return Vec::new();
        }
        for bytes in [clustering, value] {
            summary.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            summary.extend_from_slice(bytes);
        }
    }
    summary
}

/// Reads the rows of a summary of [`NAMED`].
#[must_use]
pub fn summarized(partition: &[u8], summary: &[u8]) -> Rows {
    let mut rest = summary.strip_prefix(partition).unwrap();
    let mut rows = Vec::new();
    let take = |rest: &mut &[u8]| {
        let (length, after) = rest.split_first_chunk().unwrap();
        let (bytes, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        *rest = after;
        bytes.to_vec()
    };
    while !rest.is_empty() {
        let clustering = take(&mut rest);
        rows.push((clustering, take(&mut rest)));
    }
    rows
}

/// Opens the space `suite`, creating it.
pub fn open(engine: &dyn Engine) -> Arc<dyn Space> {
    engine.open("suite", TABLES, true).unwrap()
}

/// A partition key of [`POINTS`].
#[must_use]
pub fn point(n: u64) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

/// A partition key of [`NAMED`]; `name` contains no zero byte.
#[must_use]
pub fn named(name: &[u8]) -> Vec<u8> {
    [name, &[0]].concat()
}

/// A partition key of [`COLD`].
#[must_use]
pub fn cold(bytes: &[u8]) -> Vec<u8> {
    let mut key = vec![u8::try_from(bytes.len()).unwrap()];
    key.extend_from_slice(bytes);
    key
}

/// Writes one row.
pub fn put(space: &dyn Space, table: TableId, partition: &[u8], clustering: &[u8], value: &[u8]) {
    let mut batch = Batch::new();
    batch.put(table, partition, clustering, value);
    space.write(&batch, Durability::Buffered).unwrap();
}

/// Removes one row.
pub fn delete(space: &dyn Space, table: TableId, partition: &[u8], clustering: &[u8]) {
    let mut batch = Batch::new();
    batch.delete(table, partition, clustering);
    space.write(&batch, Durability::Buffered).unwrap();
}

/// The rows of a range.
pub fn rows<R: Reader + ?Sized>(
    reader: &R,
    table: TableId,
    partition: &[u8],
    range: &ClusteringRange,
    reverse: bool,
) -> Rows {
    let mut rows = Vec::new();
    let request = ScanRequest {
        table,
        partition,
        range,
        reverse,
    };
    reader
        .scan(request, &mut |clustering, value| {
            rows.push((clustering.to_vec(), value.to_vec()));
            Flow::Continue(())
        })
        .unwrap();
    rows
}

/// The clustering keys of a partition.
pub fn keys<R: Reader + ?Sized>(reader: &R, table: TableId, partition: &[u8]) -> Vec<Vec<u8>> {
    rows(reader, table, partition, &ClusteringRange::all(), false)
        .into_iter()
        .map(|(clustering, _)| clustering)
        .collect()
}

/// The rows of a whole table, starting after `after`.
pub fn all_rows<R: Reader + ?Sized>(
    reader: &R,
    table: TableId,
    after: Option<(&[u8], &[u8])>,
) -> FullRows {
    let mut rows = Vec::new();
    reader
        .scan_table(table, after, &mut |row| {
            rows.push((
                row.partition.to_vec(),
                row.clustering.to_vec(),
                row.value.to_vec(),
            ));
            Flow::Continue(())
        })
        .unwrap();
    rows
}
