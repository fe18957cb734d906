//! The lease: one row that names the process that has a space open.
//!
//! The owner's name expires unless the lease is renewed. Every change of the row is a lightweight
//! transaction. Each opening and each release raises the *term*. A process that could not renew in
//! time stops writing. It continues only if the term is still its own: then no other process has
//! written meanwhile. The row also has the *bound*, which no timestamp exceeds, and the timestamp
//! up to which all batches are *settled*.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use tokio::sync::{Notify, watch};
use varve_kv::Leadership;

use crate::clock::Moment;
use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::process;
use crate::schema;
use crate::statements::{applied, quoted};

/// The name of the table.
pub(crate) const TABLE: &str = "varve_lease";
/// The key of the only row.
const SLOT: i32 = 0;
/// The largest allowed difference between the nodes' clocks. The node that grants a lease sets the
/// expiry by its clock; the node that the next server asks checks the expiry by its own.
const SKEW: Duration = Duration::from_secs(3);
/// A process stops relying on its lease this long before the expiry. It includes a second because
/// the expiry is in whole seconds.
const MARGIN: Duration = SKEW.saturating_add(Duration::from_secs(1));

/// How long a closing space, or a failed opening, waits for the release of the lease.
pub(crate) const RELEASE_WAIT: Duration = Duration::from_secs(5);

/// Copies of an unanswered renewal are sent at intervals of the renewal interval divided by this.
const COPY_PARTS: u32 = 4;
/// Lower bounds for short leases: of a renewal's timeout, and of the wait before a copy is sent.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
const COPY_LEAST: Duration = Duration::from_millis(250);

/// Returns the statement that creates the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), schema::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (slot int PRIMARY KEY, owner text, address text, term bigint, bound bigint, \
         settled bigint) WITH id = '{id}'"
    )
}

/// The row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeaseRow {
    /// The owner and its address; missing after a release or expiry.
    pub(crate) owner: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) term: i64,
    pub(crate) bound: i64,
    pub(crate) settled: i64,
}

/// The term of a lease: each opening and each release of the space raises it.
pub(crate) fn term(row: &LeaseRow) -> u64 {
    u64::try_from(row.term).unwrap_or(0)
}

impl LeaseRow {
    /// Whether some process has the lease, as far as is known: it has not run out, and its owner is
    /// not known to have ended.
    pub(crate) fn is_held(&self) -> bool {
        let owner = self.owner.as_deref();
        owner.is_some_and(|owner| !process::has_ended(owner))
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
    extend: PreparedStatement,
    numbers: PreparedStatement,
    release: PreparedStatement,
}

impl LeaseTable {
    pub(crate) async fn open(cluster: &Cluster, keyspace: &str) -> Result<Self, Failure> {
        let table = quoted(keyspace, TABLE);
        let prepare = async |cql: String| cluster.prepare(&cql, Use::Conditional).await;
        let mut read = prepare(format!(
            "SELECT owner, address, term, bound, settled FROM {table} WHERE slot = ?"
        ))
        .await?;
        // A plain read suffices for a look at the row, since the conditions of a later change
        // decide. It costs a fraction of a linearized read.
        let look = cluster
            .prepare(
                &format!("SELECT owner, address, term, bound, settled FROM {table} WHERE slot = ?"),
                Use::Read,
            )
            .await?;
        read.set_consistency(cluster.in_order());
        let create = format!(
            "INSERT INTO {table} (slot, term, bound, settled) VALUES (?, 0, 0, 0) IF NOT EXISTS"
        );
        // A claim may arrive long after its row was read: meanwhile the old leader may have renewed
        // the lease and stored batches above the old bound. Then the numbers differ, and the
        // claimant must read them first.
        let claim = format!(
            "UPDATE {table} USING TTL ? SET owner = ?, address = ? WHERE slot = ? IF owner = null AND term = ? AND bound = ? \
             AND settled = ?"
        );
        let extend = format!(
            "UPDATE {table} USING TTL ? SET owner = ?, address = ? WHERE slot = ? IF term = ? AND bound <= ? \
             AND settled <= ?"
        );
        let numbers = format!("UPDATE {table} SET term = ?, bound = ?, settled = ? WHERE slot = ?");
        // Unlike a claim, a renewal may be repeated while a node hangs. If the numbers have grown
        // when the node carries out a copy, the copy is refused: within a term, bound and settled
        // timestamp never decrease, and a release ends the term. A copy with equal numbers
        // succeeds, and may keep the owner's name for one more lease.
        let mut extend = prepare(extend).await?;
        extend.set_is_idempotent(true);
        let release = format!(
            "UPDATE {table} SET owner = null, address = null, term = ?, bound = ?, settled = ? WHERE slot = ? IF term = ? \
             AND owner = ?"
        );
        Ok(Self {
            read,
            look,
            create: prepare(create).await?,
            claim: prepare(claim).await?,
            extend,
            numbers: prepare(numbers).await?,
            release: prepare(release).await?,
        })
    }

    /// Returns the current row, created if it is missing.
    pub(crate) async fn read(&self, cluster: &Cluster) -> Result<LeaseRow, Failure> {
        if let Some(row) = self.find(cluster, &self.read).await? {
            return Ok(row);
        }
        cluster.run(&self.create, (SLOT,)).await?;
        Ok(self.find(cluster, &self.read).await?.unwrap_or_default())
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
            Option<String>,
            Option<i64>,
            Option<i64>,
            Option<i64>,
        );
        let result = cluster.run(statement, (SLOT,)).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let row = rows.maybe_first_row::<Row>().map_err(unreadable)?;
        let Some((owner, address, term, bound, settled)) = row else {
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
            term,
            bound,
            settled,
        }))
    }

    /// Claims a lease without an owner, with a new term, if the row has not changed since `before`
    /// was read. Returns whether it succeeded.
    pub(crate) async fn claim(
        &self,
        cluster: &Cluster,
        before: &LeaseRow,
        after: &LeaseRow,
    ) -> Result<bool, Failure> {
        let conditions = [before.term, before.bound, before.settled];
        let (batch, values) = self.change(cluster, &self.claim, &conditions, after);
        applied(cluster.run_batch(&batch, values).await?)
    }

    /// Renews a lease, if the row has the term of `row`, and no greater bound or settled timestamp.
    /// Returns whether it succeeded.
    pub(crate) async fn extend(&self, cluster: &Cluster, row: &LeaseRow) -> Result<bool, Failure> {
        let conditions = [row.term, row.bound, row.settled];
        let (mut batch, values) = self.change(cluster, &self.extend, &conditions, row);
        let timeout = renewal(cluster.config.lease);
        batch.set_request_timeout(Some(timeout.max(TIMEOUT_MIN)));
        let copy_after = timeout / COPY_PARTS;
        let answer = cluster.run_urgent(&batch, values, copy_after.max(COPY_LEAST));
        applied(answer.await?)
    }

    /// Builds one conditional batch. It writes the owner and address with the lease's length as
    /// time to live (1 to 86,400 s), and the numbers without one.
    fn change<'a>(
        &self,
        cluster: &Cluster,
        name: &PreparedStatement,
        conditions: &[i64],
        row: &'a LeaseRow,
    ) -> (Batch, Vec<Vec<LeaseCell<'a>>>) {
        let seconds = cluster.config.lease.as_secs().clamp(1, 86_400);
        let seconds = i32::try_from(seconds).expect("it was just bounded");
        let mut batch = Batch::new(BatchType::Unlogged);
        batch.set_retry_policy(name.get_retry_policy().cloned());
        batch.set_is_idempotent(name.get_is_idempotent());
        batch.append_statement(name.clone());
        batch.append_statement(self.numbers.clone());
        use LeaseCell::{Int, Long, Text};
        let owner = row.owner.as_deref().unwrap_or_default();
        let address = row.address.as_deref().unwrap_or_default();
        let mut named = vec![Int(seconds), Text(owner), Text(address), Int(SLOT)];
        named.extend(conditions.iter().copied().map(Long));
        let numbers = vec![
            Long(row.term),
            Long(row.bound),
            Long(row.settled),
            Int(SLOT),
        ];
        (batch, vec![named, numbers])
    }

    /// Releases the lease and ends its term. Does nothing if the lease has expired, or another
    /// process has it. Any process may release the lease of one that has ended.
    pub(crate) async fn release(&self, cluster: &Cluster, row: &LeaseRow) -> Result<(), Failure> {
        let ended = row.term + 1;
        let values = (ended, row.bound, row.settled, SLOT, row.term, &row.owner);
        cluster.run(&self.release, values).await.map(drop)
    }
}

/// A value of the lease's statements.
enum LeaseCell<'a> {
    Int(i32),
    Long(i64),
    Text(&'a str),
}

impl scylla::serialize::value::SerializeValue for LeaseCell<'_> {
    fn serialize<'b>(
        &self,
        typ: &scylla::cluster::metadata::ColumnType<'_>,
        writer: scylla::serialize::writers::CellWriter<'b>,
    ) -> Result<
        scylla::serialize::writers::WrittenCellProof<'b>,
        scylla::serialize::SerializationError,
    > {
        match self {
            Self::Int(number) => number.serialize(typ, writer),
            Self::Long(number) => number.serialize(typ, writer),
            Self::Text(text) => text.serialize(typ, writer),
        }
    }
}

/// What a process knows of its lease.
#[derive(Debug)]
pub(crate) struct Lease {
    state: Mutex<LeaseState>,
    changed: watch::Sender<u64>,
    /// Notified when a check finds that the lease cannot be relied on now, but is not lost.
    pub(crate) wanted: Arc<Notify>,
    /// The owner and the term; the other numbers are not updated.
    pub(crate) row: LeaseRow,
}

#[derive(Debug)]
struct LeaseState {
    /// When the last granted request was sent, and for how long from then the lease can be relied
    /// on.
    asked: Moment,
    lasts: Duration,
    /// The new owner once the lease is lost, or the reason why it was given up.
    lost_to: Option<String>,
}

impl LeaseState {
    /// The remaining time; zero also if the clocks do not tell how much time has passed.
    fn left(&self, now: Moment) -> Duration {
        let gone = now.since(self.asked);
        gone.map_or(Duration::ZERO, |gone| self.lasts.saturating_sub(gone))
    }
}

/// The reason why a wait for the lease has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) String);

impl Lease {
    /// Creates a lease that was requested at `asked` and granted.
    pub(crate) fn given(row: LeaseRow, asked: Moment, length: Duration) -> Self {
        let state = LeaseState {
            asked,
            lasts: reliable(length),
            lost_to: None,
        };
        Self {
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            wanted: Arc::default(),
            row,
        }
    }

    /// Records a renewal by a request sent at `asked`.
    pub(crate) fn renewed(&self, asked: Moment, length: Duration) {
        let mut state = self.state.lock();
        state.asked = asked;
        state.lasts = reliable(length);
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Records that the lease is lost for good: to the process `to`, or given up for the reason
    /// `to`. Only the first call counts.
    pub(crate) fn lost(&self, to: String) {
        self.state.lock().lost_to.get_or_insert(to);
        self.changed.send_modify(|count| *count += 1);
    }

    /// The new owner, or the reason why the lease was given up; `None` if it is not lost.
    pub(crate) fn lost_to(&self) -> Option<String> {
        self.state.lock().lost_to.clone()
    }

    /// Whether the lease can be relied on now.
    pub(crate) fn holds(&self) -> bool {
        self.leadership() == Leadership::Held
    }

    /// Whether this process leads the space now. If that is suspended, requests a renewal.
    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership_at(Moment::now())
    }

    fn leadership_at(&self, now: Moment) -> Leadership {
        let state = self.state.lock();
        let leadership = match state.lost_to {
            Some(_) => Leadership::Lost,
            None if !state.left(now).is_zero() => Leadership::Held,
            None => Leadership::Suspended,
        };
        drop(state);
        if leadership == Leadership::Suspended {
            self.wanted.notify_one();
        }
        leadership
    }

    /// For how long the lease can still be relied on.
    pub(crate) fn left(&self) -> Duration {
        self.state.lock().left(Moment::now())
    }

    /// Waits until the lease can be relied on.
    ///
    /// # Errors
    /// When the lease is lost, or `closing` becomes true.
    pub(crate) async fn held(&self, mut closing: watch::Receiver<bool>) -> Result<(), Lost> {
        let mut changed = self.changed.subscribe();
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

/// The interval of renewals: a third of the time for which the lease can be relied on.
pub(crate) fn renewal(length: Duration) -> Duration {
    reliable(length) / 3
}

/// The allowed lead of timestamps over the clock, in microseconds: twice the lease, so that
/// renewals may be late.
pub(crate) fn lead(cluster: &Cluster) -> i64 {
    let lease = cluster.config.lease.as_micros();
    i64::try_from(2 * lease).unwrap_or(i64::MAX / 2)
}

/// For how long a lease of this length can be relied on after its request was sent.
fn reliable(length: Duration) -> Duration {
    length.saturating_sub(MARGIN)
}

#[cfg(test)]
mod late;

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> Lease {
        Lease::given(LeaseRow::default(), Moment::now(), Duration::from_secs(60))
    }

    #[test]
    fn it_holds_until_it_has_run_out_or_is_lost() {
        let lease = lease();
        assert!(lease.holds() && lease.left() > Duration::from_secs(50));
        lease.renewed(Moment::now(), MARGIN);
        assert!(!lease.holds());
        lease.renewed(Moment::now(), Duration::from_secs(60));
        assert!(lease.holds());
        lease.lost("another".to_owned());
        lease.renewed(Moment::now(), Duration::from_secs(60));
        assert!(!lease.holds(), "what is lost stays lost");
        assert_eq!(lease.lost_to().as_deref(), Some("another"));
    }

    #[test]
    fn it_has_to_be_renewed_when_it_has_run_out_by_either_clock_or_one_stood_still() {
        let asked = Moment::now();
        let length = Duration::from_secs(60);
        let lease = Lease::given(LeaseRow::default(), asked, length);
        let second = Duration::from_secs(1);
        let at = |running: u32, wall: u32| asked.later(running * second, wall * second);
        assert_eq!(lease.leadership_at(at(50, 50)), Leadership::Held);
        assert_eq!(lease.leadership_at(at(57, 57)), Leadership::Suspended);
        assert_eq!(lease.leadership_at(at(56, 0)), Leadership::Suspended);
        assert_eq!(lease.leadership_at(at(10, 13)), Leadership::Suspended);
        // This check has requested a renewal. The renewal sets a new start for both clocks, so the
        // earlier difference no longer counts.
        lease.renewed(at(10, 13), length);
        assert_eq!(lease.leadership_at(at(20, 23)), Leadership::Held);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime
            .expect("a runtime")
            .block_on(lease.wanted.notified());
    }

    #[test]
    fn it_is_given_up_before_another_clock_can_say_that_it_has_ended() {
        let length = Duration::from_secs(15);
        let lease = Lease::given(LeaseRow::default(), Moment::now(), length);
        assert!(lease.left() <= length - SKEW - Duration::from_secs(1));
        assert!(2 * renewal(length) < lease.left(), "a renewal may fail");
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
            lease.renewed(Moment::now(), MARGIN);
            let (held, ()) = tokio::join!(lease.held(closing.subscribe()), async {
                lease.renewed(Moment::now(), Duration::from_secs(60));
            });
            assert_eq!(held, Ok(()));
            lease.renewed(Moment::now(), MARGIN);
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
