//! The statements of a space's tables, and what the statements on all tables share.

use futures::future::try_join_all;
use scylla::cluster::metadata::ColumnType;
use scylla::serialize::SerializationError;
use scylla::serialize::value::SerializeValue;
use scylla::serialize::writers::{CellWriter, WrittenCellProof};
use scylla::statement::prepared::PreparedStatement;
use varve_kv::TableSpec;

use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};

/// Rows of the first page of a scan: many scans end early.
const FIRST_PAGE_ROWS: i32 = 128;
/// Rows of the other pages.
const PAGE_ROWS: i32 = 1_000;

/// The most rows of each partition that a read of ranges of several partitions returns, as many as
/// the first page of a scan.
pub(crate) const EACH_ROWS: usize = FIRST_PAGE_ROWS as usize;

/// A token below those of all partitions.
pub(crate) const BEFORE_ALL_TOKENS: i64 = i64::MIN;

/// A value in a statement: keys and values of rows are bytes, timestamps and tokens are numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Bytes(&'a [u8]),
    Number(i64),
}

impl SerializeValue for Cell<'_> {
    fn serialize<'b>(
        &self,
        typ: &ColumnType<'_>,
        writer: CellWriter<'b>,
    ) -> Result<WrittenCellProof<'b>, SerializationError> {
        match self {
            Self::Bytes(bytes) => bytes.serialize(typ, writer),
            Self::Number(number) => number.serialize(typ, writer),
        }
    }
}

/// The statements of a paged read, whose first page is small.
#[derive(Debug, Clone)]
pub(crate) struct Paged {
    pub(crate) first: PreparedStatement,
    pub(crate) more: PreparedStatement,
}

/// The statements of a scan in one direction: `c >= ?`, and `c >= ? AND c < ?`.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) open: Paged,
    pub(crate) closed: Paged,
}

/// The statements of a read of one range of several partitions: `c >= ?`, and
/// `c >= ? AND c < ?`.
#[derive(Debug)]
pub(crate) struct Each {
    /// partitions, from
    pub(crate) open: PreparedStatement,
    /// partitions, from, to
    pub(crate) closed: PreparedStatement,
}

/// The statements of one table.
#[derive(Debug)]
pub(crate) struct TableStatements {
    /// p, c, v, timestamp
    pub(crate) put: PreparedStatement,
    /// timestamp, p, c
    pub(crate) delete: PreparedStatement,
    /// timestamp, p
    pub(crate) delete_all: PreparedStatement,
    /// timestamp, p, from
    pub(crate) delete_open: PreparedStatement,
    /// timestamp, p, from, to
    pub(crate) delete_closed: PreparedStatement,
    /// p, c
    pub(crate) get: PreparedStatement,
    /// partitions, clustering keys: the rows of each partition with one of these keys.
    pub(crate) get_many: PreparedStatement,
    /// The first [`EACH_ROWS`] rows of each of several partitions.
    pub(crate) each: Each,
    pub(crate) forward: Scan,
    pub(crate) backward: Scan,
    /// from, to: the rows of all partitions with tokens after the first, up to the second.
    pub(crate) of_tokens: Paged,
    /// token: the partitions with this token.
    pub(crate) at_token: PreparedStatement,
    /// `None` if the cluster is configured to refuse statements that filter.
    pub(crate) at_token_within: Option<WithinToken>,
}

/// Statements that find the partitions of a token with a row in a range of clustering keys.
#[derive(Debug)]
pub(crate) struct WithinToken {
    /// token, from
    pub(crate) open: PreparedStatement,
    /// token, from, to
    pub(crate) closed: PreparedStatement,
}

/// The statements of all tables.
pub(crate) type Store = Vec<TableStatements>;

/// Returns a table's name as it is written in a statement.
pub(crate) fn quoted(keyspace: &str, table: &str) -> String {
    format!("\"{keyspace}\".\"{table}\"")
}

/// Whether a conditional statement was applied: the first column of its result.
pub(crate) fn applied(
    result: scylla::response::query_result::QueryResult,
) -> Result<bool, Failure> {
    let rows = result.into_rows_result().map_err(unreadable)?;
    let row = rows
        .maybe_first_row::<scylla::value::Row>()
        .map_err(unreadable)?;
    let first = row.and_then(|row| row.columns.into_iter().next().flatten());
    Ok(matches!(
        first,
        Some(scylla::value::CqlValue::Boolean(true))
    ))
}

async fn paged(cluster: &Cluster, cql: &str) -> Result<Paged, Failure> {
    let mut first = cluster.prepare(cql, Use::Read).await?;
    first.set_page_size(FIRST_PAGE_ROWS);
    let mut more = first.clone();
    more.set_page_size(PAGE_ROWS);
    Ok(Paged { first, more })
}

async fn scan(cluster: &Cluster, table: &str, order: &str) -> Result<Scan, Failure> {
    let select = format!("SELECT c, v FROM {table} WHERE p = ? AND c >= ?");
    Ok(Scan {
        open: paged(cluster, &format!("{select}{order}")).await?,
        closed: paged(cluster, &format!("{select} AND c < ?{order}")).await?,
    })
}

async fn each(cluster: &Cluster, table: &str) -> Result<Each, Failure> {
    let read = async |end: &str| {
        let select = format!("SELECT p, c, v FROM {table} WHERE p IN ? AND c >= ?{end}");
        let statement = format!("{select} PER PARTITION LIMIT {EACH_ROWS}");
        cluster.prepare(&statement, Use::Read).await
    };
    Ok(Each {
        open: read("").await?,
        closed: read(" AND c < ?").await?,
    })
}

async fn within_token(cluster: &Cluster, table: &str) -> Result<Option<WithinToken>, Failure> {
    let read = async |range: &str| {
        let select = format!("SELECT p FROM {table} WHERE token(p) = ? AND c >= ?{range}");
        let statement = format!("{select} PER PARTITION LIMIT 1 ALLOW FILTERING");
        match cluster.prepare(&statement, Use::Read).await {
            Err(Failure::Refused(_)) => Ok(None),
            prepared => prepared.map(Some),
        }
    };
    let (open, closed) = (read("").await?, read(" AND c < ?").await?);
    let both = open.zip(closed);
    Ok(both.map(|(open, closed)| WithinToken { open, closed }))
}

async fn of_table(cluster: &Cluster, table: String) -> Result<TableStatements, Failure> {
    let table = table.as_str();
    let write = async |cql: String| cluster.prepare(&cql, Use::Write).await;
    let read = async |cql: String| cluster.prepare(&cql, Use::Read).await;
    let delete = format!("DELETE FROM {table} USING TIMESTAMP ? WHERE p = ?");
    Ok(TableStatements {
        put: write(format!(
            "INSERT INTO {table} (p, c, v) VALUES (?, ?, ?) USING TIMESTAMP ?"
        ))
        .await?,
        delete: write(format!("{delete} AND c = ?")).await?,
        delete_all: write(delete.clone()).await?,
        delete_open: write(format!("{delete} AND c >= ?")).await?,
        delete_closed: write(format!("{delete} AND c >= ? AND c < ?")).await?,
        get: read(format!("SELECT v FROM {table} WHERE p = ? AND c = ?")).await?,
        get_many: read(format!(
            "SELECT p, c, v FROM {table} WHERE p IN ? AND c IN ?"
        ))
        .await?,
        each: each(cluster, table).await?,
        forward: scan(cluster, table, "").await?,
        backward: scan(cluster, table, " ORDER BY c DESC").await?,
        of_tokens: paged(
            cluster,
            &format!("SELECT p, c, v FROM {table} WHERE token(p) > ? AND token(p) <= ?"),
        )
        .await?,
        at_token: read(format!("SELECT DISTINCT p FROM {table} WHERE token(p) = ?")).await?,
        at_token_within: within_token(cluster, table).await?,
    })
}

/// Prepares the statements of a keyspace's tables, in the order of the tables.
pub(crate) async fn prepare(
    cluster: &Cluster,
    keyspace: &str,
    specs: &[TableSpec],
) -> Result<Store, Failure> {
    let tables = specs.iter().map(|spec| quoted(keyspace, spec.name));
    try_join_all(tables.map(|table| of_table(cluster, table))).await
}
