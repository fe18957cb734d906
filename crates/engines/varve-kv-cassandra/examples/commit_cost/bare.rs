//! The bare driver: reads a graph's rows from its cluster, writes them again, and reads them.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use scylla::client::session::Session;
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;

use crate::{Result, Run, VERTICES, Window};

/// The most requests of the bare driver that are under way at once: as many as the engine's.
const AT_ONCE: usize = 64;
/// The most partitions of a grouped request of the bare driver, and the bytes of its rows: Varve's
/// limits, below those of which a node warns.
const GROUP_PARTITIONS: usize = 10;
const GROUP_BYTES: usize = 4 << 10;
/// The most bytes that a node counts for a row besides its keys and value.
const ROW_BYTES: usize = 40;
/// Tables that are not part of a graph.
const OWN_TABLES: [&str; 2] = ["varve_records", "varve_lease"];

/// One row, with the index of its table.
pub(crate) struct Row {
    table: usize,
    clustering: Vec<u8>,
    value: Vec<u8>,
}

/// Rows by their timestamp and partition key.
type Groups = BTreeMap<(i64, Vec<u8>), Vec<Row>>;

/// Rows that the bare driver writes, or reads, together.
pub(crate) struct Piece {
    stamp: i64,
    partition: Vec<u8>,
    pub(crate) rows: Vec<Row>,
}

impl Piece {
    /// The most bytes that a node counts for the rows.
    fn bytes(&self) -> usize {
        let row =
            |row: &Row| ROW_BYTES + self.partition.len() + row.clustering.len() + row.value.len();
        self.rows.iter().map(row).sum()
    }
}

/// The composition of the bare driver's requests.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// One request for each partition.
    Alone,
    /// Small pieces in one request.
    Grouped,
}

impl Way {
    fn requests(self, pieces: &[Piece]) -> Vec<&[Piece]> {
        let mut requests = Vec::new();
        let mut rest = pieces;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(match self {
                Self::Alone => 1,
                Self::Grouped => GROUP_PARTITIONS,
            });
            let fitting = fitting.take_while(|piece| {
                bytes += piece.bytes();
                bytes <= GROUP_BYTES
            });
            let (request, more) = rest.split_at(fitting.count().max(1));
            requests.push(request);
            rest = more;
        }
        requests
    }
}

fn rows(request: &[Piece]) -> impl Iterator<Item = (&Piece, &Row)> {
    let pieces = request.iter();
    pieces.flat_map(|piece| piece.rows.iter().map(move |row| (piece, row)))
}

/// The bare driver's tables and statements.
pub(crate) struct Bare {
    from: String,
    to: [String; 2],
    tables: Vec<String>,
    /// For each way, the statements of all tables.
    put: [Vec<PreparedStatement>; 2],
    get: PreparedStatement,
}

impl Bare {
    pub(crate) async fn of(session: &Session, run: &Run) -> Result<Self> {
        let listed = "SELECT keyspace_name, table_name FROM system_schema.tables";
        let listed = session
            .query_unpaged(listed, ())
            .await?
            .into_rows_result()?;
        let of_graph = format!("{}_hugegraph", run.keyspace);
        let mut from = None;
        let mut tables = Vec::new();
        for row in listed.rows::<(String, String)>()? {
            let (space, table) = row?;
            if space.starts_with(&of_graph) && !OWN_TABLES.contains(&table.as_str()) {
                from = Some(space);
                tables.push(table);
            }
        }
        let from = from.ok_or("the graph's tables are not there")?;
        let to = ["bare", "grouped"].map(|way| format!("{}_{way}", run.keyspace));
        let put = [
            Self::tables(session, run, &to[0], &tables).await?,
            Self::tables(session, run, &to[1], &tables).await?,
        ];
        let get = format!("SELECT v FROM {from}.vertex WHERE p = ? AND c = ?");
        let mut get = session.prepare(get).await?;
        get.set_consistency(Consistency::LocalQuorum);
        Ok(Self {
            from,
            to,
            tables,
            put,
            get,
        })
    }

    /// Creates tables like the graph's, and prepares the statements that write to them.
    async fn tables(
        session: &Session,
        run: &Run,
        to: &str,
        tables: &[String],
    ) -> Result<Vec<PreparedStatement>> {
        let replication = &run.replication;
        let define = format!(
            "CREATE KEYSPACE {to} WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': {replication}}}"
        );
        session.query_unpaged(define, ()).await?;
        let mut put = Vec::new();
        for table in tables {
            let define = format!(
                "CREATE TABLE {to}.\"{table}\" (p blob, c blob, v blob, PRIMARY KEY (p, c))"
            );
            session.query_unpaged(define, ()).await?;
            let insert = format!(
                "INSERT INTO {to}.\"{table}\" (p, c, v) VALUES (?, ?, ?) USING TIMESTAMP ?"
            );
            let mut insert = session.prepare(insert).await?;
            insert.set_consistency(Consistency::LocalQuorum);
            put.push(insert);
        }
        Ok(put)
    }

    /// Returns the rows that were written to the graph in each window.
    pub(crate) async fn pieces(
        &self,
        session: &Session,
        windows: &[Window],
    ) -> Result<Vec<Vec<Piece>>> {
        let mut found: Vec<Groups> = windows.iter().map(|_| BTreeMap::new()).collect();
        for (number, table) in self.tables.iter().enumerate() {
            let select = format!(
                "SELECT p, c, v, WRITETIME(v) FROM {}.\"{table}\"",
                self.from
            );
            let rows = session.query_iter(select, ()).await?;
            let mut rows = rows.rows_stream::<(Vec<u8>, Vec<u8>, Vec<u8>, i64)>()?;
            while let Some((partition, clustering, value, stamp)) = rows.try_next().await? {
                let inside = |window: &Window| (window.from..window.to).contains(&stamp);
                if let Some(at) = windows.iter().position(inside) {
                    found[at].entry((stamp, partition)).or_default().push(Row {
                        table: number,
                        clustering,
                        value,
                    });
                }
            }
        }
        let pieces = |window: Groups| {
            let pieces = window.into_iter();
            pieces
                .map(|((stamp, partition), rows)| Piece {
                    stamp,
                    partition,
                    rows,
                })
                .collect()
        };
        Ok(found.into_iter().map(pieces).collect())
    }

    /// Returns the keys of this number of vertices, some of them repeatedly if there are fewer.
    pub(crate) async fn keys(&self, session: &Session, count: u64) -> Result<Vec<Piece>> {
        let select = format!("SELECT p, c FROM {}.vertex LIMIT {VERTICES}", self.from);
        let rows = session.query_iter(select, ()).await?;
        let rows = rows.rows_stream::<(Vec<u8>, Vec<u8>)>()?;
        let all: Vec<(Vec<u8>, Vec<u8>)> = rows.try_collect().await?;
        let chosen = all.iter().cycle().take(usize::try_from(count)?);
        let piece = |(partition, clustering): &(Vec<u8>, Vec<u8>)| Piece {
            stamp: 0,
            partition: partition.clone(),
            rows: vec![Row {
                table: 0,
                clustering: clustering.clone(),
                value: Vec::new(),
            }],
        };
        Ok(chosen.map(piece).collect())
    }

    /// Writes pieces, or reads the one row of each; returns the number of requests.
    pub(crate) async fn send(
        &self,
        session: &Session,
        pieces: &[Piece],
        reads: bool,
        way: Way,
    ) -> Result<usize> {
        let requests = match reads {
            true => Way::Alone.requests(pieces),
            false => way.requests(pieces),
        };
        let count = requests.len();
        let sent = requests.into_iter().map(|request| async move {
            if !reads {
                return self.write(session, request, way).await;
            }
            for (piece, row) in rows(request) {
                let key = (&piece.partition[..], &row.clustering[..]);
                let answer = session.execute_unpaged(&self.get, key).await?;
                let answer = answer.into_rows_result()?;
                let found = answer.maybe_first_row::<(&[u8],)>()?;
                found.ok_or("a vertex is not there")?;
            }
            Ok(())
        });
        let sent: Vec<_> = sent.collect();
        let mut sent = stream::iter(sent).buffer_unordered(AT_ONCE);
        while sent.try_next().await?.is_some() {}
        Ok(count)
    }

    async fn write(&self, session: &Session, request: &[Piece], way: Way) -> Result<()> {
        let put = &self.put[way as usize];
        let values = rows(request).map(|(piece, row)| {
            let (clustering, value) = (&row.clustering[..], &row.value[..]);
            (&piece.partition[..], clustering, value, piece.stamp)
        });
        let values: Vec<_> = values.collect();
        let tables: Vec<usize> = rows(request).map(|(_, row)| row.table).collect();
        if let ([table], [values]) = (tables.as_slice(), values.as_slice()) {
            session.execute_unpaged(&put[*table], values).await?;
            return Ok(());
        }
        let mut batch = Batch::new(BatchType::Unlogged);
        batch.set_consistency(Consistency::LocalQuorum);
        for table in tables {
            batch.append_statement(put[table].clone());
        }
        session.batch(&batch, &values).await?;
        Ok(())
    }

    /// Removes everything that this run has created.
    pub(crate) async fn remove(&self, session: &Session, keyspace: &str) -> Result<()> {
        for keyspace in [&self.from, &self.to[0], &self.to[1], keyspace] {
            let remove = format!("DROP KEYSPACE IF EXISTS {keyspace}");
            session.query_unpaged(remove, ()).await?;
        }
        Ok(())
    }
}
