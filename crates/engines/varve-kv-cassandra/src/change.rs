//! Changes the scope of consistency, while no process has a space open.
//!
//! First, the row of `scope.rs` is marked with a change in progress. Then the term of every space's
//! lease is ended with the old scope. Last, the row gets the new scope.
//!
//! A process takes a lease before it reads the row. So either it finds the change in progress and
//! opens nothing, or this change finds its lease, since it lists the spaces after it has marked the
//! row. A process that could not renew its lease stops writing. It continues only if the nodes that
//! it asks still have its term, but this change has raised the term.
//!
//! The changed leases are on a quorum of each datacenter, so a process with the new scope sees
//! them. Other rows may be on fewer nodes. They must be repaired before the first process opens a
//! space.

use varve_kv::KvError;

use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::directory::{Directory, Entry};
use crate::failure::Failure;
use crate::lease::{LeaseRow, LeaseTable, holder};
use crate::open::unique_name;
use crate::scope::{Agreed, Next, Scope, ScopeTable, overtaken};
use crate::watch::Watch;

/// The most tries to end the term of a lease that no server has.
const CLAIMS: usize = 3;

/// The consistency before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyChange {
    /// The consistency before the change, as error messages name it: `quorum`, or `local_quorum in`
    /// a datacenter.
    pub before: String,
    /// The consistency after the change, in the same form.
    pub now: String,
}

/// The leases of all spaces, each with its space's name.
type Leases = Vec<(String, LeaseTable)>;

/// Changes the consistency of all processes on a list of spaces to that of `config`.
pub(crate) async fn change(config: CassandraConfig) -> Result<ConsistencyChange, KvError> {
    let name = config.keyspace.clone();
    let changed = change_to(config).await;
    changed.map_err(|failure| failure.opening(&name))
}

async fn change_to(config: CassandraConfig) -> Result<ConsistencyChange, Failure> {
    let to = Scope::of(&config);
    let cluster = Cluster::connect(config).await?;
    Directory::open_existing(&cluster).await?;
    let table = ScopeTable::open(&cluster).await?;
    let Some(row) = table.find(&cluster).await? else {
        let none = "no process has said yet which consistency it has: start one with that which they have had until now";
        return Err(Failure::Refused(none.to_owned()));
    };
    let before = row.scope.to_string();
    if row.scope == to {
        // Ends an interrupted change to another scope; no process has opened a space with that
        // scope. The row is written again even if it is right: the answer to the change that wrote
        // it may have been lost, and then too few nodes of a datacenter may have the row.
        table.turn(&cluster, &row, &Agreed::settled(&to)).await?;
    } else {
        passable(&row.scope, &to, &cluster.config.datacenter)?;
        Attempt::of(cluster, table, row).await?.run().await?;
    }
    Ok(ConsistencyChange {
        before,
        now: to.to_string(),
    })
}

/// Whether a process in `datacenter` can make a change. The process must read the leases with the
/// scope of the processes that had them.
fn passable(from: &Scope, to: &Scope, datacenter: &str) -> Result<(), Failure> {
    let why = match (from, to) {
        (Scope::Datacenter(from), Scope::Datacenter(_)) => {
            format!(
                "they have {from}'s nodes: change to quorum first, then to another datacenter's"
            )
        }
        (Scope::Datacenter(from), Scope::All) if from != datacenter => {
            format!("they ask the nodes of {from}: make this change with that as the datacenter")
        }
        _ => return Ok(()),
    };
    Err(Failure::Refused(why))
}

/// One attempt to change the scope.
struct Attempt {
    cluster: Cluster,
    /// A session with the old scope, for the leases and the servers that have them.
    before: Cluster,
    watch: Watch,
    table: ScopeTable,
    /// The row as it is, the row during this attempt, and the row after it.
    row: Agreed,
    moving: Agreed,
    settled: Agreed,
}

impl Attempt {
    /// Creates an attempt to replace `row` by the scope of `cluster`.
    async fn of(cluster: Cluster, table: ScopeTable, row: Agreed) -> Result<Self, Failure> {
        let to = Scope::of(&cluster.config);
        let mut before = cluster.config.clone();
        before.consistency = row.scope.consistency();
        let moving = Agreed {
            scope: row.scope.clone(),
            next: Some(Next {
                scope: to.clone(),
                by: unique_name(),
            }),
        };
        let before = Cluster::connect_widely(before).await?;
        Ok(Self {
            watch: Watch::open(&before).await?,
            before,
            cluster,
            table,
            row,
            moving,
            settled: Agreed::settled(&to),
        })
    }

    async fn run(&self) -> Result<(), Failure> {
        self.look().await?;
        self.change().await
    }

    /// Checks that every lease is free, before anything is changed. So serving processes do not
    /// notice a change that cannot be made.
    async fn look(&self) -> Result<(), Failure> {
        for (space, lease) in leases(&self.before).await? {
            self.free(&space, &lease.read(&self.before).await?).await?;
        }
        Ok(())
    }

    async fn change(&self) -> Result<(), Failure> {
        let changed = async {
            self.begin().await?;
            self.end_terms().await?;
            let (cluster, table) = (&self.cluster, &self.table);
            table.turn(cluster, &self.moving, &self.settled).await
        };
        let Err(failure) = changed.await else {
            return Ok(());
        };
        let back = Agreed::settled(&self.row.scope);
        // An error is ignored, since the change must be repeated in any case. Until then, either no
        // process opens a space, or all use the scope in the row.
        let _ = self.table.turn(&self.cluster, &self.moving, &back).await;
        Err(failure)
    }

    async fn begin(&self) -> Result<(), Failure> {
        let (cluster, table) = (&self.cluster, &self.table);
        table.turn(cluster, &self.row, &self.moving).await
    }

    /// Ends the term of each space's lease. Spaces are listed while the row has a change in
    /// progress: a process that creates a space later finds that change when it has the lease.
    async fn end_terms(&self) -> Result<(), Failure> {
        for (space, lease) in leases(&self.before).await? {
            self.end_term(&space, &lease).await?;
        }
        Ok(())
    }

    async fn end_term(&self, space: &str, lease: &LeaseTable) -> Result<(), Failure> {
        let cluster = &self.before;
        for _ in 0..CLAIMS {
            let row = lease.read(cluster).await?;
            self.free(space, &row).await?;
            // Checked after the lease was read. If another attempt overtakes this one later, the
            // next opening of the space raises the term that was read, and the claim below fails.
            self.stands().await?;
            let ended = LeaseRow {
                owner: None,
                address: None,
                term: row.term + 1,
                ..row.clone()
            };
            if lease.claim(cluster, &row, &ended).await? {
                return Ok(());
            }
        }
        let goes_on = format!("another process keeps changing the lease of '{space}'");
        Err(Failure::InUse(goes_on))
    }

    /// Waits until no server has a lease: one that has crashed does not renew its row.
    async fn free(&self, space: &str, row: &LeaseRow) -> Result<(), Failure> {
        let Some(owner) = row.living_owner() else {
            return Ok(());
        };
        let cluster = &self.before;
        let has_ended = row.expires.is_none()
            && (!self.watch.table.exists(cluster, owner).await?
                || self.watch.ends(cluster, None, owner).await?);
        if has_ended {
            return Ok(());
        }
        Err(Failure::InUse(format!(
            "{} has '{space}' open; stop all of them first, or wait until the leases of those have run out that have crashed",
            holder(row)
        )))
    }

    /// Checks that the row still shows this attempt as the change in progress.
    async fn stands(&self) -> Result<(), Failure> {
        match self.table.find(&self.cluster).await? {
            Some(row) if row == self.moving => Ok(()),
            _ => Err(overtaken()),
        }
    }
}

async fn leases(cluster: &Cluster) -> Result<Leases, Failure> {
    let directory = Directory::open_existing(cluster).await?;
    let entries = directory.entries(cluster).await?;
    let mut leases = Vec::new();
    for entry in entries.into_iter().filter(Entry::ready) {
        let lease = LeaseTable::open(cluster, &entry.keyspace).await?;
        leases.push((entry.space, lease));
    }
    Ok(leases)
}

#[cfg(test)]
mod tests;
