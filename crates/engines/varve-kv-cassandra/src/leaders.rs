//! Who leads each space: mostly the servers' own lists answer it, otherwise the lease of the space.

use std::sync::{Arc, Weak};
use std::time::Instant;

use varve_kv::{KvError, Leader};

use crate::directory::Entry;
use crate::engine::Shared;
use crate::failure::Failure;
use crate::lease::{LeaseRow, LeaseTable};
use crate::watch::{LOOK_EVERY, VIEW_AGE};

impl Shared {
    /// The name under which this process is registered.
    fn own(&self) -> Option<String> {
        let member = self.member.lock();
        let member = member.as_ref().filter(|member| member.lost().is_none());
        member.map(|member| member.name.clone())
    }

    /// Watches the servers until the engine is dropped.
    pub(crate) async fn keep_watch(shared: Weak<Self>) {
        loop {
            let Some(this) = shared.upgrade() else { return };
            let own = this.own();
            let view = this.watch.view(&this.cluster, own.as_deref(), LOOK_EVERY);
            let wait = match view.await {
                Ok(view) => view.next_look(Instant::now()),
                Err(failure) => {
                    tracing::debug!(failure = failure.text(), "the servers cannot be read");
                    LOOK_EVERY
                }
            };
            drop(this);
            tokio::time::sleep(wait).await;
        }
    }

    /// Returns the server that has a space open; `is_open` says whether this process has or is
    /// about to. Mostly the servers' own lists answer it.
    pub(crate) async fn leader(
        &self,
        space: &str,
        is_open: bool,
    ) -> Result<Option<Leader>, KvError> {
        let failed = |failure: Failure| failure.into_error(space);
        let own = self.own();
        // A lease that names this process without an open space is left of a failed opening.
        let leads = |name: &str| is_open || own.as_deref() != Some(name);
        let view = self
            .watch
            .view(&self.cluster, own.as_deref(), VIEW_AGE)
            .await;
        let view = view.map_err(failed)?;
        let Some(keyspace) = self.keyspace_of(space).await.map_err(failed)? else {
            return Ok(None);
        };
        let leader = |address: &str, term: i64| Leader {
            is_self: address == self.cluster.config.address,
            term: u64::try_from(term).unwrap_or(0),
            address: address.to_owned(),
        };
        if let Some((server, term)) = view.leading(&keyspace)
            && leads(&server.name)
        {
            return Ok(Some(leader(&server.address, term)));
        }
        // A server that has just taken the lease, or one of an earlier version.
        let row = self.look(&keyspace).await.map_err(failed)?;
        let owner = row.living_owner().filter(|owner| leads(owner));
        let owner = owner.filter(|owner| row.expires.is_some() || view.find(owner).is_some());
        let address = row.address.as_deref().unwrap_or_default();
        Ok(owner.map(|_| leader(address, row.term)))
    }

    async fn keyspace_of(&self, space: &str) -> Result<Option<String>, Failure> {
        let listed = self.listed.lock().get(space).cloned();
        if listed.is_some() {
            return Ok(listed);
        }
        let found = self.directory.find(&self.cluster, space).await?;
        Ok(found.filter(Entry::ready).map(|entry| entry.keyspace))
    }

    /// Reads the row of a lease.
    async fn look(&self, keyspace: &str) -> Result<LeaseRow, Failure> {
        let known = self.looks.lock().get(keyspace).cloned();
        let table = match known {
            Some(table) => table,
            None => {
                let table = Arc::new(LeaseTable::open(&self.cluster, keyspace).await?);
                let mut looks = self.looks.lock();
                looks.insert(keyspace.to_owned(), Arc::clone(&table));
                table
            }
        };
        let row = table.look(&self.cluster).await;
        if let Err(Failure::NotHere(_)) = &row {
            // The queried node may not have the table; the next call queries all nodes.
            self.looks.lock().remove(keyspace);
            self.listed.lock().retain(|_, listed| listed != keyspace);
        }
        row
    }
}
