//! The table of servers: one row for each process that may have spaces open.
//!
//! A row exists while its process may rely on its leases; an ended row never returns, since each
//! registration has a new name. All changes are lightweight transactions. No clock of a node
//! counts: the process renews its row by raising the *counter*. Another process that has seen the
//! same counter for longer than the lease, by its own clock, ends the row (`watch.rs`).

use std::collections::HashMap;
use std::time::Duration;

use scylla::statement::prepared::PreparedStatement;

use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::schema;
use crate::statements::{applied, quoted};

/// The name of the table, which is in the keyspace of the list of spaces.
pub(crate) const TABLE: &str = "servers";
/// The only partition: all rows are read with one request.
const SLOT: i32 = 0;
/// The `gc_grace_seconds` of the table. A row that reappears later is ended again.
const GC_GRACE_SECONDS: u32 = 3_600;
/// Copies of an unanswered request are sent at intervals of a renewal's timeout divided by this.
const COPY_PARTS: u32 = 4;
/// Lower bounds for short leases: of a renewal's timeout, and of the wait before a copy is sent.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
const COPY_MIN: Duration = Duration::from_millis(250);

/// Returns the statement that creates the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), schema::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (slot int, name text, address text, lease_ms bigint, counter bigint, \
         leads frozen<map<text, bigint>>, PRIMARY KEY (slot, name)) WITH id = '{id}' AND gc_grace_seconds = {GC_GRACE_SECONDS}"
    )
}

/// The spaces that a server leads: the term of each keyspace. A hint; the leases decide.
pub(crate) type Leads = HashMap<String, i64>;

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// Unique among all registrations; see `process.rs`.
    pub(crate) name: String,
    pub(crate) address: String,
    /// For how long the process relies on its leases after a renewal began.
    pub(crate) lease: Duration,
    pub(crate) counter: i64,
    pub(crate) leads: Leads,
}

/// The statements on the table.
pub(crate) struct ServerTable {
    all: PreparedStatement,
    find: PreparedStatement,
    insert: PreparedStatement,
    renew: PreparedStatement,
    publish: PreparedStatement,
    end: PreparedStatement,
}

impl ServerTable {
    /// Prepares the statements. The table exists: opening the list creates it.
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self, Failure> {
        let table = quoted(&cluster.config.keyspace, TABLE);
        let prepare = async |cql: String| cluster.prepare(&cql, Use::Conditional).await;
        let all = format!(
            "SELECT name, address, lease_ms, counter, leads FROM {table} WHERE slot = {SLOT}"
        );
        let mut find = prepare(format!(
            "SELECT name FROM {table} WHERE slot = {SLOT} AND name = ?"
        ))
        .await?;
        find.set_consistency(cluster.in_order());
        find.set_is_idempotent(true);
        let one = format!("WHERE slot = {SLOT} AND name = ?");
        // A row's counter never decreases and only its process raises it. So a renewal may be sent
        // again: a late copy is refused, or writes what is stored.
        let renew = format!("UPDATE {table} SET counter = ? {one} IF counter <= ?");
        let publish = format!("UPDATE {table} SET counter = ?, leads = ? {one} IF counter <= ?");
        let mut renew = prepare(renew).await?;
        renew.set_is_idempotent(true);
        let mut publish = prepare(publish).await?;
        publish.set_is_idempotent(true);
        let insert = format!(
            "INSERT INTO {table} (slot, name, address, lease_ms, counter) VALUES ({SLOT}, ?, ?, ?, 0) IF NOT EXISTS"
        );
        Ok(Self {
            all: cluster.prepare(&all, Use::Read).await?,
            find,
            insert: prepare(insert).await?,
            renew,
            publish,
            end: prepare(format!("DELETE FROM {table} {one} IF counter <= ?")).await?,
        })
    }

    /// Returns all rows as a quorum knows them. A change in progress may not be visible yet.
    pub(crate) async fn all(&self, cluster: &Cluster) -> Result<Vec<Server>, Failure> {
        type Row = (
            String,
            Option<String>,
            Option<i64>,
            Option<i64>,
            Option<Leads>,
        );
        let (_, copy_after) = waits(cluster.config.lease);
        let result = cluster.run_urgent(&self.all, (), copy_after).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let rows = rows.rows::<Row>().map_err(unreadable)?;
        let rows = rows.map(|row| {
            let (name, address, lease_ms, counter, leads) = row.map_err(unreadable)?;
            let lease_ms = lease_ms.and_then(|length| u64::try_from(length).ok());
            Ok(Server {
                name,
                address: address.unwrap_or_default(),
                lease: lease_ms.map_or(cluster.config.lease, Duration::from_millis),
                counter: counter.unwrap_or_default(),
                leads: leads.unwrap_or_default(),
            })
        });
        rows.collect()
    }

    /// Whether a row exists, linearized with all changes. If not, its process has no lease any more
    /// and never will under that name.
    pub(crate) async fn exists(&self, cluster: &Cluster, name: &str) -> Result<bool, Failure> {
        let result = cluster.run(&self.find, (name,)).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let row = rows.maybe_first_row::<(String,)>().map_err(unreadable)?;
        Ok(row.is_some())
    }

    /// Inserts the row of this process. After a failure the row may exist; another name must be
    /// taken.
    pub(crate) async fn insert(&self, cluster: &Cluster, name: &str) -> Result<(), Failure> {
        let lease = i64::try_from(cluster.config.lease.as_millis()).unwrap_or(i64::MAX);
        let values = (name, &cluster.config.address, lease);
        match cluster.run(&self.insert, values).await.and_then(applied) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::Unknown("the name of the server is taken".into())),
            Err(Failure::Unknown(_)) if self.exists(cluster, name).await? => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Raises the counter of a row, and replaces its list of led spaces if one is given. Returns
    /// whether the row still exists.
    pub(crate) async fn renew(
        &self,
        cluster: &Cluster,
        name: &str,
        counter: i64,
        leads: Option<&Leads>,
    ) -> Result<bool, Failure> {
        let (timeout, copy_after) = waits(cluster.config.lease);
        let limited = |statement: &PreparedStatement| {
            let mut statement = statement.clone();
            statement.set_request_timeout(Some(timeout));
            statement
        };
        let answer = match leads {
            None => {
                let values = (counter, name, counter);
                cluster
                    .run_urgent(&limited(&self.renew), values, copy_after)
                    .await
            }
            Some(leads) => {
                let values = (counter, leads, name, counter);
                cluster
                    .run_urgent(&limited(&self.publish), values, copy_after)
                    .await
            }
        };
        applied(answer?)
    }

    /// Ends a row, unless its counter has risen above `counter`. Returns whether it did so.
    pub(crate) async fn end(
        &self,
        cluster: &Cluster,
        name: &str,
        counter: i64,
    ) -> Result<bool, Failure> {
        applied(cluster.run(&self.end, (name, counter)).await?)
    }
}

/// The timeout of a renewal, and the wait before an unanswered request is sent once more.
fn waits(lease: Duration) -> (Duration, Duration) {
    let timeout = renewal(lease).max(TIMEOUT_MIN);
    (timeout, (timeout / COPY_PARTS).max(COPY_MIN))
}

/// The interval of renewals.
pub(crate) fn renewal(lease: Duration) -> Duration {
    lease / 3
}
