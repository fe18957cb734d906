//! The lease on a space: one row in its keyspace, which names the server that has the space open.
//!
//! The lease is free if the row names no server, or one that has ended (`servers.rs`). Every change
//! of the row is a lightweight transaction. Each opening and each release raises the *term*, which
//! fences earlier openings. The row also has the *bound*, which no timestamp exceeds, and the
//! timestamp up to which all batches are *settled*.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scylla::statement::prepared::PreparedStatement;
use tokio::sync::watch;
use varve_kv::Leadership;

use crate::clock::Moment;
use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::member::Member;
use crate::process;
use crate::schema;
use crate::statements::{applied, quoted};

/// The name of the table.
pub(crate) const TABLE: &str = "varve_lease";
/// The key of the only row.
const SLOT: i32 = 0;

/// Returns the statement that creates the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), schema::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (slot int PRIMARY KEY, owner text, address text, term bigint, bound bigint, \
         settled bigint) WITH id = '{id}'"
    )
}

/// The error for a space without the row that its creation wrote.
const NO_LEASE: &str = "its keyspace has no lease: it was made anew, or restored in part. Restore the whole keyspace, or drop the graph";

/// The row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeaseRow {
    /// The name of the server that has the lease, and its address; missing after a release.
    pub(crate) owner: Option<String>,
    pub(crate) address: Option<String>,
    /// In how many seconds the owner's name expires: a server of an earlier version, which is not
    /// in the table of servers, has the lease until then.
    pub(crate) expires: Option<i32>,
    pub(crate) term: i64,
    pub(crate) bound: i64,
    pub(crate) settled: i64,
}

/// The term of a lease: each opening and each release of the space raises it.
pub(crate) fn term(row: &LeaseRow) -> u64 {
    u64::try_from(row.term).unwrap_or(0)
}

impl LeaseRow {
    /// The owner, unless the kernel knows that its process has ended.
    pub(crate) fn living_owner(&self) -> Option<&str> {
        self.owner
            .as_deref()
            .filter(|owner| !process::has_ended(owner))
    }
}

/// Describes the owner of a lease, for people.
pub(crate) fn holder(row: &LeaseRow) -> String {
    match (&row.address, &row.owner) {
        (Some(address), _) => format!("another server ({address})"),
        (None, Some(owner)) => format!("another server ({owner})"),
        (None, None) => "another server".to_owned(),
    }
}

/// The statements on the row.
pub(crate) struct LeaseTable {
    read: PreparedStatement,
    look: PreparedStatement,
    create: PreparedStatement,
    claim: PreparedStatement,
    store: PreparedStatement,
    release: PreparedStatement,
}

impl LeaseTable {
    pub(crate) async fn open(cluster: &Cluster, keyspace: &str) -> Result<Self, Failure> {
        let table = quoted(keyspace, TABLE);
        let prepare = async |cql: String| cluster.prepare(&cql, Use::Conditional).await;
        let select = format!(
            "SELECT owner, TTL(owner), address, term, bound, settled FROM {table} WHERE slot = {SLOT}"
        );
        let mut read = prepare(select.clone()).await?;
        read.set_consistency(cluster.in_order());
        // A plain read suffices for a look at the row, since the conditions of a later change
        // decide. It costs a fraction of a linearized read.
        let look = cluster.prepare(&select, Use::Read).await?;
        let create = format!(
            "INSERT INTO {table} (slot, term, bound, settled) VALUES ({SLOT}, 0, 0, 0) IF NOT EXISTS"
        );
        // A claim may arrive long after its row was read: meanwhile the old leader may have stored
        // batches above the old bound. Then the numbers differ, and the claimant must read them
        // first.
        let claim = format!(
            "UPDATE {table} SET owner = ?, address = ?, term = ?, bound = ?, settled = ? WHERE slot = {SLOT} \
             IF owner = ? AND term = ? AND bound = ? AND settled = ?"
        );
        let store = format!(
            "UPDATE {table} SET bound = ?, settled = ? WHERE slot = {SLOT} IF term = ? AND bound <= ? AND settled <= ?"
        );
        // Unlike a claim, this may be repeated while a node hangs: within a term the numbers never
        // decrease, and a release ends the term. So a late copy is refused or changes nothing.
        let mut store = prepare(store).await?;
        store.set_is_idempotent(true);
        let release = format!(
            "UPDATE {table} SET owner = null, address = null, term = ?, bound = ?, settled = ? WHERE slot = {SLOT} \
             IF term = ? AND owner = ?"
        );
        Ok(Self {
            read,
            look,
            create: prepare(create).await?,
            claim: prepare(claim).await?,
            store,
            release: prepare(release).await?,
        })
    }

    /// Returns the current row, linearized with all changes.
    ///
    /// # Errors
    /// [`Failure::Refused`] if there is none.
    pub(crate) async fn read(&self, cluster: &Cluster) -> Result<LeaseRow, Failure> {
        let row = self.find(cluster, &self.read).await?;
        row.ok_or_else(|| Failure::Refused(NO_LEASE.to_owned()))
    }

    /// Writes the row of a space that is being created.
    pub(crate) async fn create(&self, cluster: &Cluster) -> Result<(), Failure> {
        cluster.run(&self.create, ()).await.map(drop)
    }

    /// As [`LeaseTable::read`], but a missing row is no error.
    pub(crate) async fn find_row(&self, cluster: &Cluster) -> Result<Option<LeaseRow>, Failure> {
        self.find(cluster, &self.read).await
    }

    /// Returns the row as a quorum knows it, or an empty one if it is missing. A change in progress
    /// may not be visible yet.
    pub(crate) async fn look(&self, cluster: &Cluster) -> Result<LeaseRow, Failure> {
        Ok(self.find(cluster, &self.look).await?.unwrap_or_default())
    }

    async fn find(
        &self,
        cluster: &Cluster,
        statement: &PreparedStatement,
    ) -> Result<Option<LeaseRow>, Failure> {
        type Row = (
            Option<String>,
            Option<i32>,
            Option<String>,
            Option<i64>,
            Option<i64>,
            Option<i64>,
        );
        let result = cluster.run(statement, ()).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let row = rows.maybe_first_row::<Row>().map_err(unreadable)?;
        let Some((owner, ttl, address, term, bound, settled)) = row else {
            return Ok(None);
        };
        // Every change writes all three numbers. If missing ones counted as zeros, new timestamps
        // could be below earlier ones.
        let (Some(term), Some(bound), Some(settled)) = (term, bound, settled) else {
            let lacks = "the lease has lost its numbers: restore the table from a copy";
            return Err(Failure::Refused(lacks.to_owned()));
        };
        Ok(Some(LeaseRow {
            owner,
            address,
            expires: ttl,
            term,
            bound,
            settled,
        }))
    }

    /// Replaces the row, if it has not changed since `before` was read. Returns whether it
    /// succeeded.
    pub(crate) async fn claim(
        &self,
        cluster: &Cluster,
        before: &LeaseRow,
        after: &LeaseRow,
    ) -> Result<bool, Failure> {
        let values = (
            &after.owner,
            &after.address,
            after.term,
            after.bound,
            after.settled,
            &before.owner,
            before.term,
            before.bound,
            before.settled,
        );
        applied(cluster.run(&self.claim, values).await?)
    }

    /// Stores bound and settled timestamp of `row`, if the row has its term and no greater numbers.
    /// Returns whether it succeeded.
    pub(crate) async fn store(&self, cluster: &Cluster, row: &LeaseRow) -> Result<bool, Failure> {
        let LeaseRow {
            term,
            bound,
            settled,
            ..
        } = row;
        let values = (bound, settled, term, bound, settled);
        applied(cluster.run(&self.store, values).await?)
    }

    /// Releases the lease and ends its term. Does nothing if another process has it.
    pub(crate) async fn release(&self, cluster: &Cluster, row: &LeaseRow) -> Result<(), Failure> {
        let ended = row.term + 1;
        let values = (ended, row.bound, row.settled, row.term, &row.owner);
        cluster.run(&self.release, values).await.map(drop)
    }
}

/// What a process knows of its lease on a space.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The registration of this process, for which the lease counts.
    pub(crate) member: Arc<Member>,
    /// The new owner once the lease is lost, or the reason why it was given up.
    lost_to: Mutex<Option<String>>,
    /// The owner and the term; the other numbers are not updated.
    pub(crate) row: LeaseRow,
}

/// The reason why a wait for the lease has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) String);

impl Lease {
    /// Creates a lease that `member` was granted.
    pub(crate) fn given(row: LeaseRow, member: Arc<Member>) -> Self {
        Self {
            member,
            lost_to: Mutex::default(),
            row,
        }
    }

    /// Records that the lease is lost for good: to the process `to`, or given up for the reason
    /// `to`. Only the first call counts.
    pub(crate) fn lost(&self, to: String) {
        self.lost_to.lock().get_or_insert(to);
        self.member.notify();
    }

    /// The new owner, or the reason why the lease was given up; `None` if it is not lost.
    pub(crate) fn lost_to(&self) -> Option<String> {
        let lost = self.lost_to.lock().clone();
        lost.or_else(|| self.member.lost())
    }

    /// Whether the lease can be relied on now.
    pub(crate) fn holds(&self) -> bool {
        self.leadership() == Leadership::Held
    }

    /// Whether this process leads the space now. If that is suspended, requests a renewal.
    pub(crate) fn leadership(&self) -> Leadership {
        if self.lost_to.lock().is_some() {
            return Leadership::Lost;
        }
        self.member.leadership(Moment::now())
    }

    /// For how long the lease can still be relied on.
    pub(crate) fn left(&self) -> Duration {
        self.member.left(Moment::now())
    }

    /// Waits until the lease can be relied on.
    ///
    /// # Errors
    /// When the lease is lost, or `closing` becomes true.
    pub(crate) async fn held(&self, mut closing: watch::Receiver<bool>) -> Result<(), Lost> {
        let mut changed = self.member.changes();
        loop {
            if let Some(to) = self.lost_to() {
                return Err(Lost(lost(&to)));
            }
            if self.holds() {
                return Ok(());
            }
            if *closing.borrow() {
                return Err(Lost("the cluster did not come back before the end".into()));
            }
            tokio::select! {
                _ = changed.changed() => {}
                _ = closing.changed() => {}
            }
        }
    }
}

/// The message about a lost lease.
pub(crate) fn lost(to: &str) -> String {
    format!("this server has lost its lease to {to}; the space must be reopened")
}

#[cfg(test)]
mod late;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LENGTH: Duration = Duration::from_secs(60);

    fn lease_from(asked: Moment) -> Lease {
        let member = Member::registered("a".to_owned(), asked, LENGTH);
        Lease::given(LeaseRow::default(), Arc::new(member))
    }

    fn lease() -> Lease {
        lease_from(Moment::now())
    }

    /// A moment so long ago that a lease from then has run out.
    fn long_ago() -> Moment {
        Moment::now().earlier(LENGTH)
    }

    #[test]
    fn it_holds_until_it_has_run_out_or_is_lost() {
        let lease = lease();
        assert!(lease.holds() && lease.left() > 50 * SECOND);
        lease.member.renewed(long_ago());
        assert!(!lease.holds());
        lease.member.renewed(Moment::now());
        assert!(lease.holds());
        lease.lost("another".to_owned());
        lease.member.renewed(Moment::now());
        assert!(!lease.holds(), "what is lost stays lost");
        assert_eq!(lease.lost_to().as_deref(), Some("another"));
    }

    #[test]
    fn all_leases_of_a_server_are_lost_with_its_row() {
        let lease = lease();
        let other = Lease::given(LeaseRow::default(), Arc::clone(&lease.member));
        other.lost("a third".to_owned());
        assert!(lease.holds() && !other.holds(), "one space");
        lease.member.ended();
        lease.member.renewed(Moment::now());
        assert_eq!(lease.leadership(), Leadership::Lost);
        assert_eq!(other.lost_to().as_deref(), Some("a third"));
    }

    #[test]
    fn it_has_to_be_renewed_when_it_has_run_out_by_either_clock_or_one_stood_still() {
        let asked = Moment::now();
        let lease = lease_from(asked);
        let at = |running: u32, wall: u32| asked.later(running * SECOND, wall * SECOND);
        let leadership = |at| lease.member.leadership(at);
        assert_eq!(leadership(at(59, 59)), Leadership::Held);
        assert_eq!(leadership(at(60, 60)), Leadership::Suspended);
        assert_eq!(leadership(at(60, 0)), Leadership::Suspended);
        assert_eq!(leadership(at(10, 13)), Leadership::Suspended);
        // The renewal sets a new start for both clocks, so the earlier difference no longer counts.
        lease.member.renewed(at(10, 13));
        assert_eq!(leadership(at(20, 23)), Leadership::Held);
    }

    #[test]
    fn waiting_ends_with_the_lease_with_its_loss_and_with_the_process() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let closing = watch::Sender::new(false);
        runtime.block_on(async {
            let lease = lease();
            assert_eq!(lease.held(closing.subscribe()).await, Ok(()));
            lease.member.renewed(long_ago());
            let (held, ()) = tokio::join!(lease.held(closing.subscribe()), async {
                lease.member.renewed(Moment::now());
            });
            assert_eq!(held, Ok(()));
            lease.member.renewed(long_ago());
            let (held, ()) = tokio::join!(lease.held(closing.subscribe()), async {
                closing.send_replace(true);
            });
            assert!(held.is_err());
            lease.lost("another".to_owned());
            let lost = lease.held(closing.subscribe()).await.unwrap_err();
            assert!(lost.0.contains("another"), "{lost:?}");
        });
    }
}
