//! What a space shares with its background tasks: its state, its writes, and the upkeep of its
//! lease and its log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use varve_kv::{KvError, Sweep, TableSpec, fail_point};

use crate::clock::{Moment, now};
use crate::cluster::Cluster;
use crate::cuts::Cuts;
use crate::failure::Failure;
use crate::known::Known;
use crate::lease::{self, Lease, LeaseRow, LeaseTable, Lost, RELEASE_WAIT, holder, lead};
use crate::log::{Log, Stored, slice_of};
use crate::plan::Plan;
use crate::record::Record;
use crate::send::{refused, send_all};
use crate::stamps::Stamps;
use crate::statements::Store;

/// Failed requests after which a write that has not begun is given up.
const TRIES: u32 = 3;
/// The wait after the first failure; it doubles up to `BACKOFF_LAST`.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_LAST: Duration = Duration::from_secs(2);

/// The part that a space shares with its background tasks.
pub(crate) struct Core {
    pub(crate) name: Arc<str>,
    pub(crate) specs: &'static [TableSpec],
    pub(crate) keyspace: String,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) store: Arc<Store>,
    pub(crate) log: Log,
    pub(crate) lease: Lease,
    pub(crate) lease_table: LeaseTable,
    pub(crate) stamps: Stamps,
    pub(crate) known: Known,
    /// The keys at which reads of partitions with many tombstones are split.
    pub(crate) cuts: Cuts,
    /// The slices of the log that may have rows.
    pub(crate) slices: Mutex<BTreeSet<i64>>,
    /// The timestamp up to which all batches are settled, as stored with the lease.
    pub(crate) settled: AtomicI64,
    /// Whether this process gave up the lease itself: see [`Core::give_up`].
    pub(crate) given_up: AtomicBool,
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
        if let Some(to) = self.lease.lost_to() {
            let detail = lease::lost(&to);
            return Err(KvError::Away { space, detail });
        }
        let stamp = match self.lease.holds() {
            true => self.stamps.take(now()),
            false => None,
        };
        let Some(stamp) = stamp else {
            let detail = "this server could not renew its lease in time".to_owned();
            return Err(KvError::Away { space, detail });
        };
        fail_point::CLUSTER_STAMPED.pass();
        self.known.add(&record.bytes[record.start..]);
        match self.carry_out(&record, &plan, stamp).await {
            Ok(()) => {
                self.stamps.close(stamp);
                Ok(())
            }
            Err(NotStored::NotBegun(failure)) => {
                self.stamps.close(stamp);
                Err(failure.unwritten(&space))
            }
            // The timestamp stays open, so that the batch does not count as settled.
            Err(NotStored::Lost(Lost(detail))) => Err(KvError::OutcomeUnknown { space, detail }),
            Err(NotStored::Refused(detail)) => {
                self.give_up(&detail);
                Err(KvError::OutcomeUnknown { space, detail })
            }
        }
    }

    /// Stores the batch's record, confirms that this term still counts, then carries out the batch.
    /// The record decides: until it is stored, the batch may be given up; afterwards this opening
    /// or the next one carries it out.
    ///
    /// A batch of one partition has a record, too, although its request would be atomic by itself.
    /// A node may delay such a request until another server has opened the space and has read the
    /// rows that the request changes. The late rows could not be distinguished from that server's
    /// writes. Late records, in contrast, are ignored.
    async fn carry_out(&self, record: &Record, plan: &Plan, stamp: i64) -> Result<(), NotStored> {
        self.slices.lock().insert(slice_of(stamp));
        let stored = Stored::nothing_of(record);
        self.decide(|| self.log.put(&self.cluster, stamp, record, &stored))
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

    /// Renews the lease, and stores its bound and settled timestamp. If another server has opened
    /// the space, marks the lease as lost; that is no failure.
    async fn renew(&self) -> Result<(), Failure> {
        let asked = Moment::now();
        let row = LeaseRow {
            bound: self.stamps.wanted(now(), lead(&self.cluster)),
            settled: self.stamps.settled(),
            ..self.lease.row.clone()
        };
        if self.lease_table.extend(&self.cluster, &row).await? {
            self.stamps.grant(row.bound);
            self.lease.renewed(asked, self.cluster.config.lease);
            self.settled.store(row.settled, Ordering::Release);
            return Ok(());
        }
        let now = self.lease_table.read(&self.cluster).await?;
        if now.term != row.term {
            let holder = holder(&now);
            tracing::error!(space = %self.name, holder, "another server has opened the space: this server refuses writes to it");
            self.lease.lost(holder);
        } else {
            // The stored bound is greater: an earlier renewal succeeded, but its answer was lost,
            // and the clock has been set back since.
            self.stamps.grant(now.bound);
        }
        Ok(())
    }

    /// Removes the slices of the log in which all batches are settled. If the clock was set back,
    /// the slice of the settled timestamp may be in use for long. Then the settled records of that
    /// slice are removed, if there are any after the timestamp `removed`, which is updated.
    async fn tidy(&self, removed: &mut i64) -> Result<(), Failure> {
        let settled = self.settled.load(Ordering::Acquire);
        let last = slice_of(settled);
        let done: Vec<i64> = self.slices.lock().range(..last).copied().collect();
        for slice in done {
            self.log.remove(&self.cluster, slice).await?;
            self.slices.lock().remove(&slice);
        }
        let goes_on = last > slice_of(now());
        if goes_on && settled > *removed && self.slices.lock().contains(&last) {
            self.log.remove_settled(&self.cluster, settled).await?;
            *removed = settled;
        }
        Ok(())
    }

    /// Renews the lease until the space is closed or the lease is lost.
    pub(crate) async fn keep(core: Weak<Self>) {
        loop {
            let Some(this) = core.upgrade() else { return };
            let every = lease::renewal(this.cluster.config.lease);
            let wanted = Arc::clone(&this.lease.wanted);
            drop(this);
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = wanted.notified() => {}
            }
            let Some(this) = core.upgrade() else { return };
            if this.lease.lost_to().is_some() {
                return;
            }
            let mut backoff = Backoff::new();
            while let Err(failure) = this.renew().await {
                let left_ms = this.lease.left().as_millis() as u64;
                tracing::warn!(space = %this.name, left_ms, failure = failure.text(), "the lease is not renewed yet");
                backoff.wait().await;
            }
            if this.lease.lost_to().is_some() {
                return;
            }
        }
    }

    /// Removes settled records from the log until the space is closed or the lease is lost. It is a
    /// task of its own, so that [`Core::keep`] never waits for a removal.
    pub(crate) async fn keep_tidy(core: Weak<Self>) {
        let mut removed = 0;
        loop {
            let Some(this) = core.upgrade() else { return };
            if this.lease.lost_to().is_some() {
                return;
            }
            let every = lease::renewal(this.cluster.config.lease);
            // A failed removal is repeated in the next round.
            let _ = this.tidy(&mut removed).await;
            drop(this);
            tokio::time::sleep(every).await;
        }
    }

    /// Releases the lease, when no more writes can come. Waits up to [`RELEASE_WAIT`]; a failure is
    /// logged, and the lease expires. A lease that another process has taken is not released.
    pub(crate) async fn release(self: Arc<Self>) {
        if self.lease.lost_to().is_some() && !self.given_up.load(Ordering::Acquire) {
            return;
        }
        let row = LeaseRow {
            bound: self.stamps.last(),
            settled: self.stamps.settled(),
            ..self.lease.row.clone()
        };
        let released = self.lease_table.release(&self.cluster, &row);
        match tokio::time::timeout(RELEASE_WAIT, released).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                tracing::warn!(space = %self.name, failure = failure.text(), "the lease was not released; it expires");
            }
            Err(_) => tracing::warn!(space = %self.name, "the lease was not released; it expires"),
        }
    }
}
