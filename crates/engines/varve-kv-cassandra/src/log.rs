//! The write-ahead log: a batch is stored in it before it is carried out.
//!
//! A batch is *settled* once it is wholly stored in the tables, or never will be. Each partition of
//! the log is a slice (`slices.rs`), which is removed as a whole. Records up to the settled
//! timestamp of the lease are never read: a record that a node executes late, or a slice that
//! reappears, does no harm.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt, stream};
use scylla::response::PagingState;
use scylla::statement::prepared::PreparedStatement;

use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::record::{Chunk, Record, chunk_key, key_after};
use crate::schema;
use crate::statements::quoted;

/// The name of the table.
pub(crate) const TABLE: &str = "varve_records";
/// The log of an earlier version, which is read once and then removed. Such a version refuses a
/// space with a table that it does not know, so it never misses a record of this version.
pub(crate) const EARLIER_TABLE: &str = "varve_log";
/// The most chunks of a record that are sent at the same time.
const CHUNKS_AT_ONCE: usize = 8;
/// The `gc_grace_seconds` of the table. A slice that reappears later does no harm.
const GC_GRACE_SECONDS: u32 = 3_600;

/// Returns the statement that creates the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), schema::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (p bigint, c blob, v blob, PRIMARY KEY (p, c)) WITH id = '{id}' AND \
         gc_grace_seconds = {GC_GRACE_SECONDS}"
    )
}

/// The chunks of one record that are known to be stored.
pub(crate) struct Stored(Vec<AtomicBool>);

impl Stored {
    /// No chunk of `record` is stored.
    pub(crate) fn nothing_of(record: &Record) -> Self {
        Self(record.chunks().map(|_| AtomicBool::new(false)).collect())
    }

    /// `requests` has one request for each chunk. Runs those whose chunk is not known to be stored,
    /// and waits for all of them, even if one fails: a request that is under way may still be
    /// carried out. So a chunk is certainly missing if none of its requests was carried out.
    async fn add<F>(&self, requests: impl Iterator<Item = F>) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let missing = self.0.iter().zip(requests);
        let missing = missing.filter(|(stored, _)| !stored.load(Ordering::Relaxed));
        let sent: Vec<_> = missing
            .map(|(stored, request)| async move {
                request.await?;
                stored.store(true, Ordering::Relaxed);
                Ok(())
            })
            .collect();
        let answers: Vec<Result<(), Failure>> = stream::iter(sent)
            .buffer_unordered(CHUNKS_AT_ONCE)
            .collect()
            .await;
        let failures = answers.into_iter().filter_map(Result::err);
        Failure::worst(failures).map_or(Ok(()), Err)
    }
}

/// The log of one space.
pub(crate) struct Log {
    put: PreparedStatement,
    slices: PreparedStatement,
    read: PreparedStatement,
    remove: PreparedStatement,
}

impl Log {
    /// Prepares the statements of [`TABLE`], or of [`EARLIER_TABLE`].
    pub(crate) async fn open(
        cluster: &Cluster,
        keyspace: &str,
        table: &str,
    ) -> Result<Self, Failure> {
        let table = quoted(keyspace, table);
        let put = format!("INSERT INTO {table} (p, c, v) VALUES (?, ?, ?) USING TIMESTAMP ?");
        let slices = format!("SELECT DISTINCT p FROM {table}");
        let read = format!("SELECT c, v FROM {table} WHERE p = ? AND c > ?");
        let remove = format!("DELETE FROM {table} USING TIMESTAMP ? WHERE p = ?");
        let mut read = cluster.prepare(&read, Use::Read).await?;
        // A chunk may have half a megabyte, so a page has at most 8 megabytes.
        read.set_page_size(16);
        Ok(Self {
            put: cluster.prepare(&put, Use::Write).await?,
            slices: cluster.prepare(&slices, Use::Read).await?,
            remove: cluster.prepare(&remove, Use::Write).await?,
            read,
        })
    }

    /// Stores the record of the batch with the timestamp `stamp` in a slice. A failed call may be
    /// repeated with the same `stored`, which lists the stored chunks. After a success, the batch
    /// is decided. While no failure was [`Failure::Unknown`], a part of the record is certainly
    /// missing, and the batch may be given up.
    pub(crate) async fn put(
        &self,
        cluster: &Cluster,
        (slice, stamp): (i64, i64),
        record: &Record,
        stored: &Stored,
    ) -> Result<(), Failure> {
        let count = record.chunks().len();
        let chunks = record.chunks().enumerate();
        let chunks = chunks.map(|(number, bytes)| {
            let key = chunk_key(stamp, number, count);
            async move {
                let values = (slice, &key[..], bytes, stamp);
                cluster.run(&self.put, values).await.map(drop)
            }
        });
        stored.add(chunks).await
    }

    /// Returns the existing slices, ascending.
    pub(crate) async fn slices(&self, cluster: &Cluster) -> Result<Vec<i64>, Failure> {
        let mut slices = Vec::new();
        let mut next = Some(PagingState::start());
        while let Some(from) = next {
            let page = cluster.page(&self.slices, (), from).await?;
            let rows = page.rows.rows::<(i64,)>().map_err(unreadable)?;
            for row in rows {
                slices.push(row.map_err(unreadable)?.0);
            }
            next = page.next;
        }
        slices.sort_unstable();
        Ok(slices)
    }

    /// Reads a page of a slice's rows, in order, starting at `from`. Only rows of batches after
    /// `settled` are read. Pages are necessary, since a slice may be larger than memory.
    pub(crate) async fn page(
        &self,
        cluster: &Cluster,
        slice: i64,
        settled: i64,
        from: PagingState,
    ) -> Result<(Vec<Chunk>, Option<PagingState>), Failure> {
        let after = key_after(settled);
        let page = cluster.page(&self.read, (slice, &after[..]), from).await?;
        let rows = page.rows.rows::<(Vec<u8>, Vec<u8>)>().map_err(unreadable)?;
        let chunks = rows.map(|row| {
            let (key, bytes) = row.map_err(unreadable)?;
            Ok(Chunk { key, bytes })
        });
        Ok((chunks.collect::<Result<_, Failure>>()?, page.next))
    }

    /// Removes a slice whose last record has the timestamp `last`.
    pub(crate) async fn remove(
        &self,
        cluster: &Cluster,
        (slice, last): (i64, i64),
    ) -> Result<(), Failure> {
        cluster.run(&self.remove, (last, slice)).await.map(drop)
    }
}

#[cfg(test)]
mod late;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_leaves_no_request_under_way_and_what_is_stored_is_not_sent_again() {
        use std::cell::RefCell;

        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let stored = Stored((0..3).map(|_| AtomicBool::new(false)).collect());
        let ended = RefCell::new(Vec::new());
        let add = |answers: [Result<(), Failure>; 3]| {
            let requests = answers.into_iter().enumerate().map(|(number, answer)| {
                let ended = &ended;
                async move {
                    // The requests end in their order.
                    for _ in 0..number {
                        tokio::task::yield_now().await;
                    }
                    ended.borrow_mut().push(number);
                    answer
                }
            });
            runtime.block_on(stored.add(requests))
        };
        let failure = |of: fn(String) -> Failure| Err(of("why".to_owned()));
        let one = add([failure(Failure::NotDone), Ok(()), failure(Failure::Unknown)]);
        assert!(matches!(one, Err(Failure::Unknown(_))), "{one:?}");
        let two = add([failure(Failure::NotDone), Ok(()), Ok(())]);
        assert!(matches!(two, Err(Failure::NotDone(_))), "{two:?}");
        assert_eq!(add([Ok(()), Ok(()), Ok(())]), Ok(()));
        assert_eq!(*ended.borrow(), [0, 1, 2, 0, 2, 0]);
    }
}
