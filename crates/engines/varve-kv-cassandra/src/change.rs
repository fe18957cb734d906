//! Changes the scope of consistency, while no process has a space open.
//!
//! First the row of `scope.rs` gets a change in progress. Then the lease of every space is taken,
//! with the old scope, and released. Then the row gets the new scope.
//!
//! A process takes a lease before it reads the row. So it either finds the change in progress and
//! opens nothing, or its lease is found here, as the spaces are listed after the row was changed. A
//! process that had a lease and could not renew it finds another term among the nodes it asks, when
//! it continues.
//!
//! These changes of leases are on a quorum of each datacenter, so a process with the new scope sees
//! them. That is not so for all other rows: they must be repaired before the first process opens a
//! space.

use varve_kv::KvError;

use crate::acquire::holder;
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::directory::{Directory, Entry};
use crate::engine::owner;
use crate::failure::Failure;
use crate::lease::{LeaseRow, LeaseTable};
use crate::scope::{Agreed, Next, Scope, ScopeTable, overtaken};

/// The most tries to take a lease without an owner.
const CLAIMS: usize = 3;

/// The consistency before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyChange {
    /// Before, in the form of error messages: `quorum`, or `local_quorum in` a datacenter.
    pub before: String,
    /// After the change.
    pub now: String,
}

/// The leases of all spaces, each with its space's name.
type Leases = Vec<(String, LeaseTable)>;

/// Changes the consistency of all processes of a list to that of `config`.
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
        // Ends an interrupted change; no process has opened a space with its new scope. A change
        // whose answer was lost may be on too few nodes of a datacenter, so the row is written
        // again even if it is right.
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

/// Whether a process in `datacenter` can make a change: it must read the leases with the scope of
/// the processes that had them.
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
    /// A session with the old scope, for reading, taking and releasing leases.
    before: Cluster,
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
                by: owner(),
            }),
        };
        Ok(Self {
            before: Cluster::connect_widely(before).await?,
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

    /// Checks the leases first, so that serving processes do not notice a change that cannot be
    /// made.
    async fn look(&self) -> Result<(), Failure> {
        for (space, lease) in leases(&self.before).await? {
            free(&space, &lease.read(&self.before).await?)?;
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
        // If that fails, or is not needed, the change must be repeated. Until then either no
        // process opens a space, or all do with the scope in the row.
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
            free(space, &row)?;
            // Checked after the lease was read: if this attempt was overtaken, the next opening of
            // the space raises the term that was read.
            self.stands().await?;
            let ours = LeaseRow {
                owner: Some(owner()),
                address: Some(cluster.config.address.clone()),
                term: row.term + 1,
                ..row.clone()
            };
            if lease.claim(cluster, &row, &ours).await? {
                return lease.release(cluster, &ours).await;
            }
        }
        let goes_on = format!("another process keeps changing the lease of '{space}'");
        Err(Failure::InUse(goes_on))
    }

    /// Checks that the row still has this attempt.
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

fn free(space: &str, row: &LeaseRow) -> Result<(), Failure> {
    match row.owner {
        None => Ok(()),
        Some(_) => Err(Failure::InUse(format!(
            "{} has '{space}' open; stop all of them first, or wait until the leases of those have run out that have crashed",
            holder(row)
        ))),
    }
}

#[cfg(test)]
mod tests;
