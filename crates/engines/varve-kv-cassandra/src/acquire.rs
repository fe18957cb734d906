//! Opening: takes the lease, carries out the unsettled batches of the log, then allows writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::response::PagingState;
use varve_kv::{Batch, KvError, TableSpec};

use crate::clock::now;
use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::lease::{Lease, LeaseRow, LeaseTable, holder, term};
use crate::log::{self, Log};
use crate::member::{Member, RELEASE_WAIT};
use crate::plan::Plan;
use crate::record::{Assembly, Record};
use crate::schema;
use crate::scope::ScopeTable;
use crate::send;
use crate::slices::Slices;
use crate::stamps::{Stamps, bound_after};
use crate::statements::{self, Store};
use crate::watch::Watch;

/// The interval of checks of the lease of a server of an earlier version.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// How long after its end such a lease may still be shown: it expires by the nodes' clocks.
const GRACE: Duration = Duration::from_secs(3);
/// How long a claim is tried again whose outcome is unknown.
const CLAIMS_FOR: Duration = Duration::from_secs(15);

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
    pub(crate) watch: &'a Watch,
    pub(crate) scopes: &'a ScopeTable,
    /// This process, which takes the lease.
    pub(crate) member: &'a Arc<Member>,
}

/// The results of an opening that the space needs.
pub(crate) struct Settled {
    pub(crate) store: Arc<Store>,
    pub(crate) log: Log,
    pub(crate) stamps: Stamps,
    /// The remaining slices of the log.
    pub(crate) slices: Slices,
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
                // The lease is released, so that another server may try.
                let released = self.table.release(self.cluster, &lease.row);
                let _ = tokio::time::timeout(RELEASE_WAIT, released).await;
                Err(error)
            }
        }
    }

    /// Settles earlier batches, and ensures that this opening still has the lease.
    async fn settle_all(&self, before: &LeaseRow, lease: &Lease) -> Result<Settled, KvError> {
        let failed = |failure: Failure| failure.opening(self.space);
        // Checked once more: a concurrent change of the consistency either finds this lease, or is
        // found here.
        self.scopes.check(self.cluster).await.map_err(failed)?;
        let store = Arc::new(self.store().await.map_err(failed)?);
        let log = Log::open(self.cluster, self.keyspace, log::TABLE).await;
        let log = log.map_err(failed)?;
        let has_earlier = self.present.iter().any(|name| name == log::EARLIER_TABLE);
        if has_earlier {
            let earlier = Log::open(self.cluster, self.keyspace, log::EARLIER_TABLE).await;
            self.settle(&store, &earlier.map_err(failed)?, (before, lease))
                .await?;
        }
        let slices = self.settle(&store, &log, (before, lease)).await?;
        // Only now all earlier batches are settled. The term must still be this opening's, however
        // long that took.
        let stamps = Stamps::after(before.bound);
        let row = LeaseRow {
            bound: stamps.wanted(now()).max(lease.row.bound),
            settled: before.bound,
            ..lease.row.clone()
        };
        let stored = self.table.store(self.cluster, &row).await;
        if !stored.map_err(failed)? {
            return Err(self.taken().await);
        }
        stamps.grant(row.bound);
        if has_earlier {
            let removed = schema::drop_table(self.cluster, self.keyspace, log::EARLIER_TABLE);
            removed.await.map_err(failed)?;
        }
        Ok(Settled {
            store,
            log,
            stamps,
            slices: Slices::after(slices, before.bound),
        })
    }

    /// Returns the error about a lease that another server has now.
    async fn taken(&self) -> KvError {
        match self.read().await {
            Ok(row) => self.held(&row),
            Err(error) => error,
        }
    }

    async fn read(&self) -> Result<LeaseRow, KvError> {
        let row = self.table.read(self.cluster).await;
        row.map_err(|failure| failure.opening(self.space))
    }

    /// Takes the lease once it is free. Returns the row as it was before, and the lease.
    async fn claim(&self) -> Result<(LeaseRow, Lease), KvError> {
        let failed = |failure: Failure| failure.opening(self.space);
        let give_up = Instant::now() + CLAIMS_FOR;
        loop {
            let row = self.read().await?;
            self.await_free(&row).await?;
            // A process with another consistency would ask other nodes, and could claim a lease
            // that is not free. If the consistency is changed after this check, the change ends the
            // term that was read, so that the claim is refused.
            self.scopes.check(self.cluster).await.map_err(failed)?;
            let after = claimed_by(self.member, &row, self.cluster);
            match self.table.claim(self.cluster, &row, &after).await {
                Ok(true) => {
                    let of_another = |owner: &String| *owner != self.member.name;
                    if row.owner.as_ref().is_some_and(of_another) {
                        self.cluster.figures.takeover();
                    }
                    return Ok((row, Lease::given(after, Arc::clone(self.member))));
                }
                Ok(false) => {}
                // If it has succeeded, the row names this process, and is claimed once more.
                Err(Failure::Unknown(_)) if Instant::now() <= give_up => {}
                Err(failure) => return Err(failed(failure)),
            }
        }
    }

    /// Waits until a lease with this row is free.
    ///
    /// # Errors
    /// When another process has it and goes on to renew it; in a shared engine when any other
    /// process has it.
    async fn await_free(&self, row: &LeaseRow) -> Result<(), KvError> {
        let failed = |failure: Failure| failure.opening(self.space);
        let name = &*self.member.name;
        // A lease that names this process is left of an opening that failed.
        let Some(owner) = row.living_owner().filter(|owner| *owner != name) else {
            return Ok(());
        };
        if row.expires.is_some() {
            return self.await_expired(row).await;
        }
        let exists = self.watch.table.exists(self.cluster, owner).await;
        if !exists.map_err(failed)? {
            return Ok(());
        }
        let is_shared = self.cluster.config.shared;
        let ends = async || self.watch.ends(self.cluster, Some(name), owner).await;
        if is_shared || !ends().await.map_err(failed)? {
            return Err(self.held(row));
        }
        Ok(())
    }

    /// Waits until the lease of a server of an earlier version has expired.
    async fn await_expired(&self, seen: &LeaseRow) -> Result<(), KvError> {
        let seconds = seen.expires.and_then(|left| u64::try_from(left).ok());
        let give_up = Instant::now() + Duration::from_secs(seconds.unwrap_or(0)) + GRACE;
        loop {
            let row = self.read().await?;
            if row.living_owner().is_none() {
                return Ok(());
            }
            let is_renewed = row.bound != seen.bound || Instant::now() > give_up;
            if self.cluster.config.shared || is_renewed {
                return Err(self.held(&row));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Returns the error about a lease that another process has.
    fn held(&self, row: &LeaseRow) -> KvError {
        let space = self.space.to_owned();
        match self.cluster.config.shared {
            true => KvError::Led {
                space,
                address: row.address.clone().unwrap_or_default(),
                term: term(row),
            },
            false => KvError::Unavailable {
                space,
                detail: format!("{} has it open", holder(row)),
            },
        }
    }

    /// Carries out the unsettled batches of a log again, in order. Returns the existing slices.
    async fn settle(
        &self,
        store: &Store,
        log: &Log,
        leases: (&LeaseRow, &Lease),
    ) -> Result<Vec<i64>, KvError> {
        let slices = log.slices(self.cluster).await;
        let slices = slices.map_err(|failure| failure.opening(self.space))?;
        for slice in &slices {
            self.settle_slice(store, log, *slice, leases).await?;
        }
        Ok(slices)
    }

    /// Creates missing tables, and returns the statements of all tables. Must be called under the
    /// lease: a server of an earlier version that still had it would not know the new tables.
    async fn store(&self) -> Result<Store, Failure> {
        let present = |name: &str| self.present.iter().any(|present| present == name);
        let has_log = present(log::TABLE);
        if !has_log || !self.specs.iter().all(|spec| present(spec.name)) {
            let _one_at_a_time = self.definitions.lock().await;
            let (keyspace, specs) = (self.keyspace, self.specs);
            schema::add_tables(self.cluster, keyspace, specs, self.present).await?;
            if !has_log {
                self.cluster.define(log::definition(keyspace)).await?;
            }
            self.cluster.agree().await;
        }
        statements::prepare(self.cluster, self.keyspace, self.specs).await
    }

    async fn settle_slice(
        &self,
        store: &Store,
        log: &Log,
        slice: i64,
        (before, lease): (&LeaseRow, &Lease),
    ) -> Result<(), KvError> {
        let mut records = Assembly::default();
        let mut next = Some(PagingState::start());
        while let Some(from) = next {
            let page = log.page(self.cluster, slice, before.settled, from);
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
}

/// Returns the row of a lease that `member` claims, as which it replaces `row`.
pub(crate) fn claimed_by(member: &Member, row: &LeaseRow, cluster: &Cluster) -> LeaseRow {
    LeaseRow {
        owner: Some(member.name.clone()),
        address: Some(cluster.config.address.clone()),
        expires: None,
        term: row.term + 1,
        bound: bound_after(row.bound, now()),
        settled: row.settled,
    }
}
