//! Changing on purpose which nodes' answers count, while no process has a space open.
//!
//! First the row of `scope.rs` says that it is being changed; then the lease of every space is taken, as those ask that had it, and
//! given back; then the row says the new. A process takes a lease before it reads the row: so either it reads that there is a change, and
//! opens nothing, or its lease is met here. And whoever had a lease and could not renew it finds another term, among the nodes that
//! it asks, when it comes back.
//!
//! What is written to leases here most nodes of each datacenter have, so whoever asks for the new finds it. Of all other rows that is
//! not so: they have to be repaired before the first process opens a space.

use varve_kv::KvError;

use crate::acquire::holder;
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::directory::{Directory, Entry};
use crate::engine::owner;
use crate::failure::Failure;
use crate::lease::{LeaseRow, LeaseTable};
use crate::scope::{Agreed, Next, Scope, ScopeTable};

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
    let failed = |failure: Failure| failure.opening(&name);
    let to = Scope::of(&config);
    let cluster = Cluster::connect(config.clone()).await.map_err(failed)?;
    Directory::open(&cluster).await.map_err(failed)?;
    let table = ScopeTable::open(&cluster).await.map_err(failed)?;
    let Some(row) = table.find(&cluster).await.map_err(failed)? else {
        let none = "no process has said yet which consistency it has: start one with that which they have had until now";
        return Err(failed(Failure::Refused(none.to_owned())));
    };
    let settled = Agreed {
        scope: to.clone(),
        next: None,
    };
    if row.scope == to {
        // Of a change that was broken off: nobody has opened a space with what it was to be. One that ended without its answer may be
        // with too few nodes of a datacenter, so it is sent again also where it is found.
        let said = table.turn(&cluster, &row, &settled).await;
        said.map_err(failed)?;
    } else {
        passable(&row.scope, &to, &config.datacenter).map_err(failed)?;
        let mut before = config;
        before.consistency = row.scope.consistency();
        let before = Cluster::connect_widely(before).await.map_err(failed)?;
        let moved = move_on(&before, (&cluster, &table), &row, &settled).await;
        moved.map_err(failed)?;
    }
    Ok(ConsistencyChange {
        before: row.scope.to_string(),
        now: to.to_string(),
    })
}

/// Whether a change can be made by a process that asks `datacenter`: it must find the leases as those do that had them.
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

/// Puts `settled` in the place of `row`, with leases as whoever had `row` finds them.
async fn move_on(
    before: &Cluster,
    (cluster, table): (&Cluster, &ScopeTable),
    row: &Agreed,
    settled: &Agreed,
) -> Result<(), Failure> {
    let leases = leases(before).await?;
    // Those that serve need not hear of a change that is not to be.
    for (space, lease) in &leases {
        free(space, &lease.read(before).await?)?;
    }
    let moving = Agreed {
        scope: row.scope.clone(),
        next: Some(Next {
            scope: settled.scope.clone(),
            by: owner(),
        }),
    };
    let moved = async {
        table.turn(cluster, row, &moving).await?;
        end_terms(before, &leases).await?;
        table.turn(cluster, &moving, settled).await
    };
    let Err(failure) = moved.await else {
        return Ok(());
    };
    let back = Agreed {
        scope: row.scope.clone(),
        next: None,
    };
    // If that fails, too, or is not needed, this is done again: until then nobody opens a space, or all do with what is said.
    let _ = table.turn(cluster, &moving, &back).await;
    Err(failure)
}

async fn leases(cluster: &Cluster) -> Result<Leases, Failure> {
    let directory = Directory::open(cluster).await?;
    let entries = directory.entries(cluster).await?;
    let mut leases = Vec::new();
    for entry in entries.into_iter().filter(Entry::ready) {
        let lease = LeaseTable::open(cluster, &entry.keyspace).await?;
        leases.push((entry.space, lease));
    }
    Ok(leases)
}

/// Ends whatever term each lease has.
async fn end_terms(cluster: &Cluster, leases: &Leases) -> Result<(), Failure> {
    for (space, lease) in leases {
        let mut tries = 0;
        loop {
            let row = lease.read(cluster).await?;
            free(space, &row)?;
            let ours = LeaseRow {
                owner: Some(owner()),
                address: Some(cluster.config.address.clone()),
                term: row.term + 1,
                ..row.clone()
            };
            tries += 1;
            if lease.claim(cluster, &row, &ours).await? {
                lease.release(cluster, &ours).await?;
                break;
            }
            if tries == CLAIMS {
                let goes_on = format!("the lease of '{space}' goes on being changed");
                return Err(Failure::InUse(goes_on));
            }
        }
    }
    Ok(())
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
mod tests {
    use super::*;

    #[test]
    fn leases_are_asked_for_where_they_were_given() {
        let of = |name: &str| Scope::Datacenter(name.to_owned());
        assert_eq!(passable(&of("dc1"), &Scope::All, "dc1"), Ok(()));
        assert_eq!(passable(&Scope::All, &of("dc2"), "dc2"), Ok(()));
        assert!(passable(&of("dc1"), &Scope::All, "dc2").is_err());
        assert!(passable(&of("dc1"), &of("dc2"), "dc2").is_err());
    }
}
