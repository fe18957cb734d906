//! The lease: one row that says which process has a space open.
//!
//! Its name runs out unless it is renewed; every change of it is a lightweight transaction. Each
//! opening raises the *term*. A process that could not renew in time stops writing, and goes on
//! only if the term is still its own: then nobody else has written meanwhile. The row also keeps
//! the timestamps' *bound*, and up to which one all batches are *settled*.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use tokio::sync::{Notify, watch};
use varve_kv::Leadership;

use crate::clock::Moment;
use crate::cluster::{Cluster, Use};
use crate::directory;
use crate::failure::Failure;
use crate::log::unreadable;
use crate::statements::quoted;

/// Name of the table.
pub(crate) const TABLE: &str = "varve_lease";
/// The one row. Several would be the slots of several servers.
const SLOT: i32 = 0;
/// By how much the nodes' clocks may differ: the node that takes a lease says when it ends, and the
/// one that is asked by the next server, whether it has.
const SKEW: Duration = Duration::from_secs(3);
/// How long before its end a lease is no longer relied on: the nodes count in whole seconds.
const MARGIN: Duration = SKEW.saturating_add(Duration::from_secs(1));

/// After which part of the time between two renewals one that has no answer is sent once more.
const COPY_PARTS: u32 = 4;
/// However short a lease is: how long a renewal is waited for, and until it is sent once more.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
const COPY_LEAST: Duration = Duration::from_millis(250);

/// The statement that makes the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), directory::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (slot int PRIMARY KEY, owner text, address text, term bigint, bound bigint, \
         settled bigint) WITH id = '{id}'"
    )
}

/// The row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeaseRow {
    /// Who has it, and where that is; missing when it was released or has run out.
    pub(crate) owner: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) term: i64,
    pub(crate) bound: i64,
    pub(crate) settled: i64,
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
        // What is decided by it is decided by a condition later on; so a plain read, which costs a
        // fraction, is enough to look.
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
        // It may come long after the row was read that it goes by: the server that had the lease
        // may have renewed it since, and have stored batches above the old bound. Then the numbers
        // are others, and whoever claims has to read them first.
        let claim = format!(
            "UPDATE {table} USING TTL ? SET owner = ?, address = ? WHERE slot = ? IF owner = null AND term = ? AND bound = ? \
             AND settled = ?"
        );
        let extend = format!(
            "UPDATE {table} USING TTL ? SET owner = ?, address = ? WHERE slot = ? IF term = ? AND bound <= ? \
             AND settled <= ?"
        );
        let numbers = format!("UPDATE {table} SET term = ?, bound = ?, settled = ? WHERE slot = ?");
        // It may be sent again while a node hangs, which a claim may not. The copy that a node
        // carries out when it goes on comes after later ones: the bound and what is settled, which
        // do not shrink within a term, and the term, which giving back ends, keep it out. One of
        // equal numbers passes: it may name the owner for a lease more.
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

    /// The row as it is now, made if it is missing.
    pub(crate) async fn read(&self, cluster: &Cluster) -> Result<LeaseRow, Failure> {
        if let Some(row) = self.find(cluster, &self.read).await? {
            return Ok(row);
        }
        cluster.run(&self.create, (SLOT,)).await?;
        Ok(self.find(cluster, &self.read).await?.unwrap_or_default())
    }

    /// The row as most replicas know it: a change that is under way may not show yet.
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
        // Every change writes all three. Taken for zeros, new timestamps could lie below those of
        // before.
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

    /// Takes a lease that nobody has, with a new term, if nothing of it has changed since `before`
    /// was read; `false` otherwise.
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

    /// Renews a lease, whose term must be what `row` says, and whose bound and settled no later;
    /// `false` if it is not so.
    pub(crate) async fn extend(&self, cluster: &Cluster, row: &LeaseRow) -> Result<bool, Failure> {
        let conditions = [row.term, row.bound, row.settled];
        let (mut batch, values) = self.change(cluster, &self.extend, &conditions, row);
        let timeout = renewal(cluster.config.lease);
        batch.set_request_timeout(Some(timeout.max(TIMEOUT_MIN)));
        let copy_after = timeout / COPY_PARTS;
        let answer = cluster.run_urgent(&batch, values, copy_after.max(COPY_LEAST));
        applied(answer.await?)
    }

    /// One conditional batch: the name with its time to live, the numbers without.
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

    /// Gives the lease back, and ends its term; nothing happens if it is another's.
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

/// Whether a conditional statement was carried out: the first column of its answer.
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

/// What a process knows of the lease that it has.
#[derive(Debug)]
pub(crate) struct Lease {
    state: Mutex<LeaseState>,
    changed: watch::Sender<u64>,
    /// Notified when somebody has found that it may not be relied on now.
    pub(crate) wanted: Arc<Notify>,
    /// The process and the term; the other numbers are not kept up.
    pub(crate) row: LeaseRow,
}

#[derive(Debug)]
struct LeaseState {
    /// When it was asked for last, and for how long from then it may be relied on.
    asked: Moment,
    lasts: Duration,
    /// Who has it now, once it is another's; or for what it was given up.
    lost_to: Option<String>,
}

impl LeaseState {
    /// How much is left of it, nothing also when nobody knows.
    fn left(&self, now: Moment) -> Duration {
        let gone = now.since(self.asked);
        gone.map_or(Duration::ZERO, |gone| self.lasts.saturating_sub(gone))
    }
}

/// Why a lease cannot be waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) String);

impl Lease {
    /// A lease that was asked for at `asked` and given.
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

    /// It was renewed, by a request sent at `asked`.
    pub(crate) fn renewed(&self, asked: Moment, length: Duration) {
        let mut state = self.state.lock();
        state.asked = asked;
        state.lasts = reliable(length);
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    /// It is this opening's no more, for good: `to` has it, or is why it was given up.
    pub(crate) fn lost(&self, to: String) {
        self.state.lock().lost_to.get_or_insert(to);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Who has it instead, or for what it was given up.
    pub(crate) fn lost_to(&self) -> Option<String> {
        self.state.lock().lost_to.clone()
    }

    /// Whether it may be relied on now.
    pub(crate) fn holds(&self) -> bool {
        self.leadership() == Leadership::Held
    }

    /// Whether this process leads the space now.
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

    /// How much of it is left.
    pub(crate) fn left(&self) -> Duration {
        self.state.lock().left(Moment::now())
    }

    /// Waits until it may be relied on.
    ///
    /// # Errors
    /// When it is another's, or `closing` says that nobody is to wait.
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

/// What is said of a lease that was lost to somebody, or something.
pub(crate) fn lost(to: &str) -> String {
    format!("this server has lost it to {to}, until it is opened anew")
}

/// How often a lease is renewed: three times while it may be relied on.
pub(crate) fn renewal(length: Duration) -> Duration {
    reliable(length) / 3
}

/// For how long a lease may be relied on from when it was asked for.
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
        // Who finds that has it renewed, and from then on both clocks are compared with what they
        // said then.
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
