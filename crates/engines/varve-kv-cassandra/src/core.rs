//! What a space shares with its background tasks: its state, its writes, and the upkeep of its
//! lease and its log.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use varve_kv::{KvError, Sweep, fail_point};

use crate::clock::now;
use crate::failure::Failure;
use crate::known::Known;
use crate::lease::{self, Lease, LeaseRow, LeaseTable, Lost, holder};
use crate::log::{Log, Stored};
use crate::member::RELEASE_WAIT;
use crate::plan::Plan;
use crate::record::Record;
use crate::schema;
use crate::send::{refused, send_all};
use crate::slices::Slices;
use crate::source::Source;
use crate::stamps::Stamps;

/// The interval of the upkeep of a space that is written.
const UPKEEP_EVERY: Duration = Duration::from_secs(4);
/// Failed requests after which a write that has not begun is given up.
const TRIES: u32 = 3;
/// The wait after the first failure; it doubles up to `BACKOFF_LAST`.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_LAST: Duration = Duration::from_secs(2);

/// The part that a space shares with its background tasks.
pub(crate) struct Core {
    pub(crate) source: Arc<Source>,
    pub(crate) log: Log,
    pub(crate) lease: Lease,
    pub(crate) lease_table: LeaseTable,
    pub(crate) stamps: Stamps,
    pub(crate) known: Known,
    /// The slices of the log that may have rows. Locked while a batch takes its timestamp, so that
    /// each timestamp is in a slice.
    pub(crate) slices: Mutex<Slices>,
    /// The greatest timestamp that [`Core::settled`] has returned.
    pub(crate) settled: AtomicI64,
    /// Held while bound and settled timestamp are stored.
    pub(crate) positions: tokio::sync::Mutex<()>,
    /// Notified by each batch that is placed in the log: an idle space has no upkeep.
    pub(crate) written: Arc<Notify>,
    /// Whether this process gave up the lease itself: see [`Core::give_up`].
    pub(crate) given_up: AtomicBool,
}

impl Deref for Core {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

/// Why a batch is not known to be stored.
enum NotStored {
    /// Nothing of it is stored, or ever will be.
    NotBegun(Failure),
    /// The next process that opens the space decides whether it is stored.
    Lost(Lost),
    /// The cluster refuses a request that the batch needs, for good. The record may be stored, and
    /// the rows in part. The next opening carries out a stored record first.
    Refused(String),
}

impl From<Lost> for NotStored {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

/// A wait that doubles with each failure.
struct Backoff(Duration);

impl Backoff {
    fn new() -> Self {
        Self(BACKOFF_FIRST)
    }

    async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (2 * self.0).min(BACKOFF_LAST);
    }
}

impl Core {
    /// Carries out the batch of `record`, with its sweeps, under a new timestamp.
    pub(crate) async fn write(
        self: Arc<Self>,
        record: Record,
        sweeps: Vec<Sweep>,
    ) -> Result<(), KvError> {
        let space = self.name.to_string();
        let plan = match Plan::of(Arc::clone(&record.bytes), record.start, &sweeps) {
            Ok(plan) => plan,
            Err(detail) => return Err(KvError::TooLarge { space, detail }),
        };
        let Some(_room) = self.cluster.enter().await else {
            let detail = "too many requests are in flight".to_owned();
            return Err(KvError::Busy { space, detail });
        };
        let (slice, stamp) = self.stamp(record.bytes.len()).await?;
        self.written.notify_one();
        fail_point::CLUSTER_STAMPED.pass();
        self.known.add(&record.bytes[record.start..]);
        match self.carry_out(&record, &plan, (slice, stamp)).await {
            Ok(()) => {
                self.slices.lock().completed(slice);
                Ok(())
            }
            Err(NotStored::NotBegun(failure)) => {
                self.slices.lock().completed(slice);
                Err(failure.unwritten(&space))
            }
            // The batch is not complete, so its record stays for the next opening.
            Err(NotStored::Lost(Lost(detail))) => Err(KvError::OutcomeUnknown { space, detail }),
            Err(NotStored::Refused(detail)) => {
                self.give_up(&detail);
                Err(KvError::OutcomeUnknown { space, detail })
            }
        }
    }

    /// Takes a timestamp for a batch with a record of so many bytes, under the lease, and its
    /// slice. Stores a new bound first if there is none.
    async fn stamp(&self, bytes: usize) -> Result<(i64, i64), KvError> {
        let space = || self.name.to_string();
        let (mut backoff, mut tries) = (Backoff::new(), 0);
        loop {
            if let Some(to) = self.lease.lost_to() {
                let (space, detail) = (space(), lease::lost(&to));
                return Err(KvError::Away { space, detail });
            }
            if !self.lease.holds() {
                let detail = "this server could not renew its lease in time".to_owned();
                let space = space();
                return Err(KvError::Away { space, detail });
            }
            if let Some(placed) = self.place(bytes) {
                return Ok(placed);
            }
            let stored = self.extend_bound(|stamps| !stamps.may_take(now())).await;
            if let Err(failure) = stored {
                tries += 1;
                if failure.for_good() || tries >= TRIES {
                    return Err(failure.unwritten(&space()));
                }
                backoff.wait().await;
            }
        }
    }

    fn place(&self, bytes: usize) -> Option<(i64, i64)> {
        let mut slices = self.slices.lock();
        let stamp = self.stamps.take(now())?;
        Some((slices.place(stamp, bytes, Instant::now()), stamp))
    }

    /// A timestamp up to which all batches are complete. It never decreases, although a slice may
    /// get a further batch.
    fn settled(&self) -> i64 {
        let slices = self.slices.lock();
        let open = slices.first_open();
        let settled = open.map_or_else(|| self.stamps.last(), |first| first - 1);
        self.settled
            .fetch_max(settled, Ordering::AcqRel)
            .max(settled)
    }

    /// Stores the batch's record, confirms that this term still counts, then carries out the batch.
    /// The record decides: until it is stored, the batch may be given up; afterwards this opening
    /// or the next one carries it out.
    ///
    /// A batch of one partition has a record, too, although its request would be atomic by itself.
    /// A node may delay such a request until another server has opened the space and has read the
    /// rows that the request changes. The late rows could not be distinguished from that server's
    /// writes. Late records, in contrast, are ignored.
    async fn carry_out(
        &self,
        record: &Record,
        plan: &Plan,
        (slice, stamp): (i64, i64),
    ) -> Result<(), NotStored> {
        let stored = Stored::nothing_of(record);
        self.decide(|| self.log.put(&self.cluster, (slice, stamp), record, &stored))
            .await?;
        self.confirm_term().await?;
        fail_point::CLUSTER_DECIDED.pass();
        let mut backoff = Backoff::new();
        let mut left: Option<Vec<usize>> = None;
        loop {
            let failed = send_all(&self.cluster, &self.store, plan, stamp, left.as_deref()).await;
            let Some((_, failure)) = failed.first() else {
                break;
            };
            tracing::warn!(space = %self.name, failed = failed.len(), failure = failure.text(), "a batch is not completely applied yet");
            if let Some(detail) = refused(plan, &failed) {
                return Err(NotStored::Refused(detail));
            }
            left = Some(failed.into_iter().map(|(piece, _)| piece).collect());
            self.wait_again(&mut backoff).await?;
        }
        fail_point::CLUSTER_CARRIED.pass();
        Ok(())
    }

    /// Ensures that the record just stored counts: fails with [`NotStored::Lost`] if this term has
    /// ended. The next opening ends this term before it reads the log, so it finds every record
    /// that was stored during the term. The check uses no clock, since the clock of a suspended
    /// machine may be wrong. No part of the batch is carried out before this check: a server that
    /// has ended the term may not know the record.
    async fn confirm_term(&self) -> Result<(), NotStored> {
        let mut backoff = Backoff::new();
        loop {
            match self.lease_table.look(&self.cluster).await {
                Ok(row) if row.term == self.lease.row.term => return Ok(()),
                Ok(row) => {
                    let holder = holder(&row);
                    let detail = lease::lost(&holder);
                    self.lease.lost(holder);
                    return Err(NotStored::Lost(Lost(detail)));
                }
                Err(failure) if failure.for_good() => {
                    return Err(NotStored::Refused(failure.text().to_owned()));
                }
                Err(failure) => {
                    tracing::warn!(space = %self.name, failure = failure.text(), "reading the term of the lease failed; it is retried");
                    self.wait_again(&mut backoff).await?;
                }
            }
        }
    }

    /// Makes this opening refuse all writes, because the cluster refuses part of a batch. The next
    /// opening carries that batch out first, with the batch's own timestamp. A later write of
    /// this opening could wrongly lose to the batch.
    fn give_up(&self, refused: &str) {
        tracing::error!(space = %self.name, refused, "the cluster refused part of a batch: writes are refused until the space is reopened");
        self.given_up.store(true, Ordering::Release);
        self.lease.lost(format!(
            "a batch that the cluster refused in part ({refused})"
        ));
    }

    /// Waits before a request is repeated: for the back-off, and then until the lease can be relied
    /// on. Fails if the engine is closing or the lease is lost.
    async fn wait_again(&self, backoff: &mut Backoff) -> Result<(), Lost> {
        self.cluster.figures.repeated();
        let mut closing = self.cluster.closing();
        tokio::select! {
            () = backoff.wait() => {}
            _ = closing.wait_for(|closing| *closing) => {
                return Err(Lost(
                    "the cluster did not take all of a write before the end; the next start finishes it".into(),
                ));
            }
        }
        self.held().await
    }

    async fn held(&self) -> Result<(), Lost> {
        self.lease.held(self.cluster.closing()).await
    }

    /// Sends the request that decides a batch, and repeats it until it is known to be carried out.
    /// - While no try has an unknown outcome, the request is given up ([`NotStored::NotBegun`])
    ///   after [`TRIES`] tries, on a failure for good, without a lease, or when the engine is
    ///   closing.
    /// - After a try with an unknown outcome, the tries end only on a failure for good
    ///   ([`NotStored::Refused`]), a lost lease or a closing engine ([`NotStored::Lost`]).
    async fn decide<F>(&self, request: impl Fn() -> F) -> Result<(), NotStored>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let mut backoff = Backoff::new();
        let mut sure = true;
        let mut tries = 0;
        loop {
            tries += 1;
            match request().await {
                Ok(()) => return Ok(()),
                Err(failure) => {
                    sure &= !matches!(failure, Failure::Unknown(_));
                    let refused = failure.for_good();
                    if sure && (refused || tries >= TRIES || !self.lease.holds()) {
                        return Err(NotStored::NotBegun(failure));
                    }
                    if refused {
                        return Err(NotStored::Refused(failure.text().to_owned()));
                    }
                    tracing::warn!(space = %self.name, failure = failure.text(), "a write failed; it is retried");
                    match self.wait_again(&mut backoff).await {
                        // No process repeats this request. So if it certainly was not carried out,
                        // it never will be.
                        Err(_) if sure => return Err(NotStored::NotBegun(failure)),
                        waited => waited?,
                    }
                }
            }
        }
    }

    /// Stores the next bound with the lease, if it `is_needed`.
    async fn extend_bound(&self, is_needed: impl Fn(&Stamps) -> bool) -> Result<(), Failure> {
        let _one_at_a_time = self.positions.lock().await;
        if !is_needed(&self.stamps) {
            return Ok(());
        }
        self.store(self.stamps.wanted(now())).await
    }

    /// Stores a bound, and the settled timestamp, with the lease. If another server has opened the
    /// space, marks the lease as lost; that is no failure.
    async fn store(&self, bound: i64) -> Result<(), Failure> {
        let row = LeaseRow {
            bound,
            settled: self.settled(),
            ..self.lease.row.clone()
        };
        let stored = match self.lease_table.store(&self.cluster, &row).await {
            Err(Failure::NotHere(_)) if self.is_gone().await => {
                tracing::error!(space = %self.name, "its keyspace does not exist any more");
                self.lease
                    .lost("nobody, as its keyspace does not exist any more".to_owned());
                return Ok(());
            }
            stored => stored?,
        };
        if stored {
            self.stamps.grant(row.bound);
            return Ok(());
        }
        // A keyspace that was made anew has no row.
        let now = self.lease_table.find_row(&self.cluster).await?;
        let now = now.unwrap_or_default();
        if now.term != row.term {
            let holder = holder(&now);
            tracing::error!(space = %self.name, holder, "another server has opened the space: this server refuses writes to it");
            self.lease.lost(holder);
        } else {
            // The stored bound is greater: an earlier request succeeded, but its answer was lost,
            // and the clock has been set back since.
            self.stamps.grant(now.bound);
        }
        Ok(())
    }

    /// Whether the nodes agree that the keyspace does not exist. One node alone may be behind.
    async fn is_gone(&self) -> bool {
        self.cluster.agree().await;
        let tables = schema::tables(&self.cluster, &self.keyspace).await;
        tables.is_ok_and(|tables| tables.is_empty())
    }

    /// Stores bounds ahead of the writes and removes slices of the log whose batches are complete,
    /// until the space is closed or the lease is lost. Nothing while the space is not written.
    pub(crate) async fn keep(core: Weak<Self>) {
        let Some(written) = core.upgrade().map(|this| Arc::clone(&this.written)) else {
            return;
        };
        loop {
            written.notified().await;
            loop {
                tokio::time::sleep(UPKEEP_EVERY).await;
                let Some(this) = core.upgrade() else { return };
                if this.lease.lost_to().is_some() {
                    return;
                }
                // A failure is repeated in the next round.
                if let Err(failure) = this.upkeep().await {
                    let failure = failure.text();
                    tracing::debug!(space = %this.name, failure, "the upkeep of the log failed");
                }
                if this.slices.lock().is_empty() {
                    break;
                }
            }
        }
    }

    async fn upkeep(&self) -> Result<(), Failure> {
        let is_written = self.slices.lock().backlog().1 > 0;
        if is_written {
            self.extend_bound(|stamps| stamps.run_short(now())).await?;
        }
        let removable = self.slices.lock().removable(Instant::now());
        for (slice, last) in removable {
            self.log.remove(&self.cluster, (slice, last)).await?;
            self.slices.lock().removed(slice);
        }
        if is_written && self.slices.lock().is_empty() {
            let _one_at_a_time = self.positions.lock().await;
            self.store(self.stamps.bound()).await?;
        }
        Ok(())
    }

    /// Releases the lease, when no more writes can come. Waits up to [`RELEASE_WAIT`]; a failure is
    /// logged, and this server opens the space again or ends. A lease that another process has
    /// taken is not released.
    pub(crate) async fn release(self: Arc<Self>) {
        self.lease.member.leads(&self.keyspace, None);
        if self.lease.lost_to().is_some() && !self.given_up.load(Ordering::Acquire) {
            return;
        }
        let row = LeaseRow {
            bound: self.stamps.last(),
            settled: self.settled(),
            ..self.lease.row.clone()
        };
        let released = self.lease_table.release(&self.cluster, &row);
        match tokio::time::timeout(RELEASE_WAIT, released).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                tracing::warn!(space = %self.name, failure = failure.text(), "the lease was not released");
            }
            Err(_) => tracing::warn!(space = %self.name, "the lease was not released"),
        }
    }
}
