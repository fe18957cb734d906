//! Opening: takes the lease, carries out the unsettled batches of the log, then allows writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::response::PagingState;
use varve_kv::{Batch, KvError, TableSpec};

use crate::clock::{Moment, now};
use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::lease::{Lease, LeaseRow, LeaseTable, RELEASE_WAIT, holder, lead, renewal, term};
use crate::log::{Log, slice_of};
use crate::plan::Plan;
use crate::record::{Assembly, Record};
use crate::schema;
use crate::scope::ScopeTable;
use crate::send;
use crate::stamps::Stamps;
use crate::statements::{self, Store};

/// The interval of checks of another process's lease.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// An opening waits for another process's lease for the length of a lease plus this time, since the
/// lease expires by the nodes' clocks.
const GRACE: Duration = Duration::from_secs(3);

/// The arguments of an opening.
pub(crate) struct Opening<'a> {
    pub(crate) space: &'a str,
    pub(crate) specs: &'static [TableSpec],
    pub(crate) cluster: &'a Cluster,
    pub(crate) keyspace: &'a str,
    /// The existing tables.
    pub(crate) present: &'a [String],
    /// Held while tables are created.
    pub(crate) definitions: &'a tokio::sync::Mutex<()>,
    pub(crate) table: &'a LeaseTable,
    pub(crate) log: &'a Log,
    pub(crate) scopes: &'a ScopeTable,
    /// A name that no other opening has.
    pub(crate) owner: String,
}

/// The results of an opening that the space needs.
pub(crate) struct Settled {
    pub(crate) store: Arc<Store>,
    pub(crate) stamps: Stamps,
    /// The remaining slices of the log.
    pub(crate) slices: Vec<i64>,
}

impl Opening<'_> {
    /// Takes the lease, creates missing tables, and settles earlier batches.
    ///
    /// # Errors
    /// [`KvError::Unavailable`] when another process has the lease and renews it ([`KvError::Led`],
    /// without waiting, in a shared engine), or when the cluster refuses for good to finish a
    /// batch; [`KvError::Away`] when it cannot be reached; [`KvError::Corruption`] when the log
    /// cannot be read.
    pub(crate) async fn run(self) -> Result<(Lease, Settled), KvError> {
        let (before, lease) = self.claim().await?;
        match self.settle_all(&before, &lease).await {
            Ok(settled) => Ok((lease, settled)),
            Err(error) => {
                // The lease is released: another server may succeed, and must not wait until the
                // lease expires.
                if !matches!(error, KvError::Away { .. }) {
                    let released = self.table.release(self.cluster, &lease.row);
                    let _ = tokio::time::timeout(RELEASE_WAIT, released).await;
                }
                Err(error)
            }
        }
    }

    /// Settles earlier batches, and ensures that this opening still has the lease.
    async fn settle_all(&self, before: &LeaseRow, lease: &Lease) -> Result<Settled, KvError> {
        // Checked once more: a concurrent change of the consistency either finds this lease, or is
        // found here.
        let agreed = self.scopes.check(self.cluster).await;
        agreed.map_err(|failure| failure.opening(self.space))?;
        let stamps = Stamps::after(before.bound);
        let (store, slices) = self.settle_under(lease, before).await?;
        // Only now all earlier batches are settled. The term must still be this opening's, however
        // long that took.
        let asked = Moment::now();
        let row = LeaseRow {
            bound: stamps
                .wanted(now(), lead(self.cluster))
                .max(lease.row.bound),
            settled: before.bound,
            ..lease.row.clone()
        };
        let extended = self.table.extend(self.cluster, &row).await;
        if !extended.map_err(|failure| failure.opening(self.space))? {
            return Err(self.taken().await);
        }
        stamps.grant(row.bound);
        lease.renewed(asked, self.cluster.config.lease);
        let slices = slices.into_iter();
        let (done, left) = slices.partition(|slice| *slice < slice_of(before.bound));
        self.tidy(done).await;
        Ok(Settled {
            store,
            stamps,
            slices: left,
        })
    }

    /// Returns the error about a lease that another server has now.
    async fn taken(&self) -> KvError {
        match self.read().await {
            Ok(row) if self.cluster.config.shared => led(self.space, &row),
            Ok(row) => self.held(&row),
            Err(error) => error,
        }
    }

    async fn read(&self) -> Result<LeaseRow, KvError> {
        let row = self.table.read(self.cluster).await;
        row.map_err(|failure| failure.opening(self.space))
    }

    /// Takes the lease once it has no owner. Returns the row as it was before, and the lease.
    async fn claim(&self) -> Result<(LeaseRow, Lease), KvError> {
        let length = self.cluster.config.lease;
        let give_up = Instant::now() + length + GRACE;
        let mut seen: Option<LeaseRow> = None;
        let mut tried: Option<(LeaseRow, LeaseRow, Moment)> = None;
        loop {
            let row = self.read().await?;
            if let Some((before, after, asked)) = &tried
                && row.owner.as_ref() == Some(&self.owner)
            {
                // The row shows that an earlier claim, whose answer was lost, has succeeded.
                let lease = Lease::given(after.clone(), *asked, length);
                return Ok((before.clone(), lease));
            }
            if row.owner.is_some() && !row.is_held() {
                // Its owner ran here and has ended: what it has sent is settled like what a server
                // leaves that has released its lease.
                match self.table.release(self.cluster, &row).await {
                    Ok(()) => tracing::info!(
                        space = self.space,
                        "ended the lease of a process that has ended"
                    ),
                    Err(Failure::Unknown(_)) if Instant::now() <= give_up => {}
                    Err(failure) => return Err(failure.opening(self.space)),
                }
                continue;
            }
            if row.owner.is_some() {
                if self.cluster.config.shared {
                    return Err(led(self.space, &row));
                }
                let renewed = seen.as_ref().is_some_and(|seen| seen.bound != row.bound);
                if renewed || Instant::now() > give_up {
                    return Err(self.held(&row));
                }
                seen = Some(row);
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
            // A process with another consistency would ask other nodes, and could claim a lease
            // that is not free. If the consistency is changed after this check, the change ends the
            // term that was read, so that the claim is refused.
            let agreed = self.scopes.check(self.cluster).await;
            agreed.map_err(|failure| failure.opening(self.space))?;
            let asked = Moment::now();
            let after = LeaseRow {
                owner: Some(self.owner.clone()),
                address: Some(self.cluster.config.address.clone()),
                term: row.term + 1,
                bound: row.bound.max(now()).saturating_add(lead(self.cluster)),
                settled: row.settled,
            };
            match self.table.claim(self.cluster, &row, &after).await {
                Ok(true) => return Ok((row, Lease::given(after, asked, length))),
                Ok(false) => {}
                Err(Failure::Unknown(_)) if Instant::now() <= give_up => {
                    tried = Some((row, after, asked));
                }
                Err(failure) => return Err(failure.opening(self.space)),
            }
        }
    }

    fn held(&self, row: &LeaseRow) -> KvError {
        KvError::Unavailable {
            space: self.space.to_owned(),
            detail: format!(
                "{} has it open; one server at a time may. Stop that one, or wait {} seconds after its end",
                holder(row),
                self.cluster.config.lease.as_secs()
            ),
        }
    }

    /// Settles earlier batches, and renews the lease meanwhile. Otherwise the next waiting process
    /// would take it, and so on.
    async fn settle_under(
        &self,
        lease: &Lease,
        before: &LeaseRow,
    ) -> Result<(Arc<Store>, Vec<i64>), KvError> {
        let length = self.cluster.config.lease;
        let mut settling = std::pin::pin!(self.settle(before, lease));
        loop {
            tokio::select! {
                settled = &mut settling => return settled,
                () = tokio::time::sleep(renewal(length)) => {}
            }
            let asked = Moment::now();
            match self.table.extend(self.cluster, &lease.row).await {
                Ok(true) => lease.renewed(asked, length),
                // The new owner settles the rest, and gives its own writes later timestamps.
                Ok(false) => return Err(self.taken().await),
                // If renewals go on failing, the lease expires; then no batch is carried out.
                Err(_) => {}
            }
        }
    }

    /// Carries out the unsettled batches of the log again, in order. Returns the existing slices.
    async fn settle(
        &self,
        before: &LeaseRow,
        lease: &Lease,
    ) -> Result<(Arc<Store>, Vec<i64>), KvError> {
        let store = self.store().await;
        let store = Arc::new(store.map_err(|failure| failure.opening(self.space))?);
        let slices = self.log.slices(self.cluster).await;
        let slices = slices.map_err(|failure| failure.opening(self.space))?;
        let open = slice_of(before.settled)..=slice_of(before.bound);
        for slice in slices.iter().filter(|slice| open.contains(slice)) {
            let settled = self.settle_slice(&store, *slice, (before, lease));
            settled.await?;
        }
        Ok((store, slices))
    }

    /// Creates missing tables, and returns the statements of all tables. Must be called under the
    /// lease: a server of an earlier version that still had it would not know the new tables.
    async fn store(&self) -> Result<Store, Failure> {
        let present = |spec: &TableSpec| self.present.iter().any(|name| name == spec.name);
        if !self.specs.iter().all(present) {
            let _one_at_a_time = self.definitions.lock().await;
            let (keyspace, specs) = (self.keyspace, self.specs);
            schema::add_tables(self.cluster, keyspace, specs, self.present).await?;
            self.cluster.agree().await;
        }
        statements::prepare(self.cluster, self.keyspace, self.specs).await
    }

    async fn settle_slice(
        &self,
        store: &Store,
        slice: i64,
        (before, lease): (&LeaseRow, &Lease),
    ) -> Result<(), KvError> {
        let mut records = Assembly::default();
        let mut next = Some(PagingState::start());
        while let Some(from) = next {
            let page = self.log.page(self.cluster, slice, before.settled, from);
            let (chunks, more) = page.await.map_err(|failure| failure.opening(self.space))?;
            for chunk in &chunks {
                let record = records.add(chunk, self.specs);
                let record = record.map_err(|detail| self.damaged(detail))?;
                let in_question = record.filter(|(stamp, _)| *stamp <= before.bound);
                if let Some((stamp, batch)) = in_question {
                    // Without the lease, another process may already have stored newer rows. Then
                    // only a part of the batch would be visible.
                    if !lease.holds() {
                        return Err(KvError::Away {
                            space: self.space.to_owned(),
                            detail: "the lease could not be renewed while batches of the log were applied".into(),
                        });
                    }
                    self.carry_out(store, stamp, &batch).await?;
                }
            }
            next = more;
        }
        Ok(())
    }

    /// Carries out a batch of the log.
    async fn carry_out(&self, store: &Store, stamp: i64, batch: &Batch) -> Result<(), KvError> {
        let record = Record::of(batch, self.specs);
        let plan = Plan::of(Arc::clone(&record.bytes), record.start, &[]);
        let plan = plan.map_err(|detail| self.damaged(detail))?;
        let failed = send::send_all(self.cluster, store, &plan, stamp, None).await;
        if let Some(detail) = send::refused(&plan, &failed) {
            let begun = format!("a batch of the log cannot be applied: {detail}");
            return Err(Failure::Refused(begun).opening(self.space));
        }
        if let Some((_, failure)) = failed.into_iter().next() {
            return Err(failure.opening(self.space));
        }
        let space = self.space;
        tracing::info!(space, stamp, "applied a batch of the log");
        Ok(())
    }

    fn damaged(&self, detail: String) -> KvError {
        KvError::Corruption {
            space: self.space.to_owned(),
            detail,
        }
    }

    /// Removes slices that are not needed; the next opening tries the remaining ones again.
    async fn tidy(&self, slices: Vec<i64>) {
        for slice in slices {
            if let Err(failure) = self.log.remove(self.cluster, slice).await {
                tracing::debug!(
                    space = self.space,
                    failure = failure.text(),
                    "a slice of the log could not be removed"
                );
                return;
            }
        }
    }
}

/// Returns the error that names the owner of a lease, for other servers.
fn led(space: &str, row: &LeaseRow) -> KvError {
    KvError::Led {
        space: space.to_owned(),
        address: row.address.clone().unwrap_or_default(),
        term: term(row),
    }
}
