//! Changing on purpose which nodes' answers count, while no process has a space open.
//!
//! First the row of `scope.rs` says that it is being changed; then the lease of every space is
//! taken, as those ask that had it, and given back; then the row says the new. A process takes a
//! lease before it reads the row: so either it reads that there is a change, and opens nothing, or
//! its lease is met here, as the spaces are listed when the row says it. And whoever had a lease
//! and could not renew it finds another term, among the nodes that it asks, when it comes back.
//!
//! What is written to leases here most nodes of each datacenter have, so whoever asks for the new
//! finds it. Of all other rows that is not so: they have to be repaired before the first process
//! opens a space.

use varve_kv::KvError;

use crate::acquire::holder;
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::directory::{Directory, Entry};
use crate::engine::owner;
use crate::failure::Failure;
use crate::lease::{LeaseRow, LeaseTable};
use crate::scope::{Agreed, Next, Scope, ScopeTable, overtaken};

/// How often a lease is tried to be taken that nobody has.
const CLAIMS: usize = 3;

/// What was agreed before, and what is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyChange {
    /// Before, as errors tell it: `quorum`, or `local_quorum in` a datacenter.
    pub before: String,
    /// Now.
    pub now: String,
}

/// The leases of all spaces, each with its space's name.
type Leases = Vec<(String, LeaseTable)>;

/// Has all processes of a list ask what `config` says from now on.
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
        // Of a change that was broken off: nobody has opened a space with what it was to be. One
        // that ended without its answer may be with too few nodes of a datacenter, so it is sent
        // again also where it is found.
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

/// Whether a change can be made by a process that asks `datacenter`: it must find the leases as
/// those do that had them.
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

/// One attempt to change it.
struct Attempt {
    cluster: Cluster,
    /// Asks for leases as those do that had them.
    before: Cluster,
    table: ScopeTable,
    /// The row as it is, as it is while this attempt is under way, and as it is to be.
    row: Agreed,
    moving: Agreed,
    settled: Agreed,
}

impl Attempt {
    /// To have what `cluster` asks, in the place of `row`.
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

    /// Those that serve need not hear of a change that is not to be.
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
        // If that fails, too, or is not needed, this is done again: until then nobody opens a
        // space, or all do with what is said.
        let _ = self.table.turn(&self.cluster, &self.moving, &back).await;
        Err(failure)
    }

    async fn begin(&self) -> Result<(), Failure> {
        let (cluster, table) = (&self.cluster, &self.table);
        table.turn(cluster, &self.row, &self.moving).await
    }

    /// Ends whatever term the lease of each space has. Those are listed when the row says that it
    /// is being changed: who makes one later reads that when it has the lease.
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
            // Looked at after the lease: who opens the space once this attempt was overtaken raises
            // the term that was read.
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
        let goes_on = format!("the lease of '{space}' goes on being changed");
        Err(Failure::InUse(goes_on))
    }

    /// Whether this attempt is what the row says.
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
