//! The engine: its session, and its spaces by name.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use parking_lot::Mutex;
use tokio::sync::Notify;
use varve_kv::{
    Capabilities, Engine, KvError, Leader, Space, SpaceId, Statistic, TableSpec, check_space_name,
};

use crate::acquire::{Opening, Settled, claimed_by};
use crate::ahead::Widths;
use crate::bridge::Bridge;
use crate::change::{self, ConsistencyChange};
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::core::Core;
use crate::cuts::Cuts;
use crate::directory::{Directory, Entry};
use crate::failure::Failure;
use crate::followed::FollowedSpace;
use crate::known::{self, Known, KnownMemory};
use crate::lease::{self, LeaseRow, LeaseTable, holder};
use crate::log;
use crate::member::{Member, Membership};
use crate::open::{OpenSpace, OpenSpaces};
use crate::schema;
use crate::scope::ScopeTable;
use crate::source::{FollowedSources, Source, SourceReader};
use crate::space::CassandraSpace;
use crate::watch::Watch;

/// The engine.
pub struct CassandraEngine {
    bridge: Arc<Bridge>,
    shared: Arc<Shared>,
    open: Arc<Mutex<OpenSpaces>>,
    /// The current registration of this process; none until it opens a space.
    membership: Mutex<Option<Arc<Membership>>>,
}

pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) directory: Directory,
    pub(crate) scopes: ScopeTable,
    pub(crate) watch: Arc<Watch>,
    /// The registration of this process that counts now.
    pub(crate) member: Mutex<Option<Arc<Member>>>,
    /// The keyspaces of the spaces, by name, when the list was read last.
    pub(crate) listed: Mutex<HashMap<String, String>>,
    /// The prepared statements for leases that were looked up, by keyspace.
    pub(crate) looks: Mutex<HashMap<String, Arc<LeaseTable>>>,
    /// The memory for the presence filters of all spaces.
    pub(crate) known_memory: Arc<KnownMemory>,
    /// Held while this process creates or removes a keyspace, since concurrent schema changes are a
    /// known source of trouble in Cassandra.
    pub(crate) definitions: tokio::sync::Mutex<()>,
    pub(crate) followed: FollowedSources,
}

fn unavailable(space: &str, detail: impl Into<String>) -> KvError {
    KvError::Unavailable {
        space: space.to_owned(),
        detail: detail.into(),
    }
}

fn in_use(space: &str, detail: impl Into<String>) -> KvError {
    KvError::InUse {
        space: space.to_owned(),
        detail: detail.into(),
    }
}

impl CassandraEngine {
    /// Connects to a cluster, and creates the list of spaces in it if there is none.
    ///
    /// # Errors
    /// [`KvError::Away`] when no contact point answers, or the cluster rejects a request;
    /// [`KvError::Unavailable`] when the configuration does not fit the cluster, or other processes
    /// on these spaces use another consistency.
    pub fn connect(config: CassandraConfig) -> Result<Self, KvError> {
        Self::connect_to(config, false)
    }

    /// As [`CassandraEngine::connect`], for readers of data that must exist: does not create the
    /// list of spaces.
    ///
    /// # Errors
    /// [`KvError::Missing`] if there is no list; otherwise as [`CassandraEngine::connect`].
    pub fn connect_existing(config: CassandraConfig) -> Result<Self, KvError> {
        Self::connect_to(config, true)
    }

    fn connect_to(config: CassandraConfig, existing: bool) -> Result<Self, KvError> {
        let name = config.keyspace.clone();
        let bridge = Bridge::start(config.io_threads)
            .map_err(|error| unavailable(&name, format!("no threads: {error}")))?;
        let shared = bridge.wait(async move {
            let known_memory = KnownMemory::new(config.known_bytes_max);
            let cluster = Cluster::connect(config).await?;
            let directory = match existing {
                true => Directory::open_existing(&cluster).await?,
                false => Directory::open(&cluster).await?,
            };
            let scopes = ScopeTable::open(&cluster).await?;
            scopes.check(&cluster).await?;
            Ok(Shared {
                watch: Arc::new(Watch::open(&cluster).await?),
                cluster: Arc::new(cluster),
                directory,
                scopes,
                member: Mutex::default(),
                listed: Mutex::default(),
                looks: Mutex::default(),
                known_memory,
                definitions: tokio::sync::Mutex::new(()),
                followed: FollowedSources::default(),
            })
        });
        let shared = shared.unwrap_or_else(|| Err(Failure::Refused("the driver failed".into())));
        let shared = Arc::new(shared.map_err(|failure| failure.opening(&name))?);
        if shared.cluster.config.shared {
            bridge.spawn(Shared::keep_watch(Arc::downgrade(&shared)));
        }
        Ok(Self {
            bridge: Arc::new(bridge),
            shared,
            open: Arc::default(),
            membership: Mutex::default(),
        })
    }

    /// Returns the registration of this process. Registers it if it is not, or no longer.
    fn membership(&self) -> Result<Arc<Membership>, KvError> {
        let mut current = self.membership.lock();
        if let Some(membership) = &*current
            && membership.member.lost().is_none()
        {
            return Ok(Arc::clone(membership));
        }
        let shared = &self.shared;
        let begun = Membership::begin(&self.bridge, &shared.cluster, &shared.watch);
        let begun = begun.map_err(|failure| failure.opening(&shared.cluster.config.keyspace))?;
        let begun = Arc::new(begun);
        *shared.member.lock() = Some(Arc::clone(&begun.member));
        *current = Some(Arc::clone(&begun));
        Ok(begun)
    }

    /// Makes all processes on the spaces of a cluster use the consistency of `config`. No process
    /// may have a space open. All rows must be repaired before a space is opened again. An
    /// interrupted change must be repeated, with the new or the old consistency.
    ///
    /// # Errors
    /// [`KvError::InUse`] when a process has a space open; [`KvError::Unavailable`] when this
    /// process cannot make that change; [`KvError::Away`] when the cluster, or most nodes of one of
    /// its datacenters, cannot be reached.
    pub fn change_consistency(config: CassandraConfig) -> Result<ConsistencyChange, KvError> {
        let name = config.keyspace.clone();
        let bridge = Bridge::start(config.io_threads)
            .map_err(|error| unavailable(&name, format!("no threads: {error}")))?;
        let changed = bridge.wait(change::change(config));
        changed.unwrap_or_else(|| Err(unavailable(&name, "the driver failed")))
    }

    /// Removes the list of spaces, which must be empty. For tests, so that nothing is left.
    ///
    /// # Errors
    /// When there are spaces, or the cluster cannot be reached.
    pub fn remove_list(&self) -> Result<(), KvError> {
        let name = self.shared.cluster.config.keyspace.clone();
        let shared = Arc::clone(&self.shared);
        self.membership.lock().take();
        self.wait(&name.clone(), async move {
            if !shared.entries().await?.is_empty() {
                return Err(unavailable(&name, "it lists spaces"));
            }
            let removed = schema::drop_keyspace(&shared.cluster, &name).await;
            removed.map_err(|failure| failure.opening(&name))
        })
    }

    /// Runs `work` on the runtime and waits for it.
    fn wait<T, F>(&self, space: &str, work: F) -> Result<T, KvError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, KvError>> + Send + 'static,
    {
        self.bridge.wait(work).unwrap_or_else(|| {
            Err(KvError::Io {
                space: space.to_owned(),
                detail: "the engine failed, see the log".to_owned(),
            })
        })
    }

    fn reader(&self, source: &Arc<Source>) -> SourceReader {
        SourceReader {
            source: Arc::clone(source),
            bridge: Arc::clone(&self.bridge),
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.open.lock().contains_key(name)
    }
}

impl Engine for CassandraEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "cassandra",
            reads_may_wait: true,
            shared: self.shared.cluster.config.shared,
        }
    }

    fn statistics(&self) -> Vec<Statistic> {
        let cluster = &self.shared.cluster;
        let statistic = |name, help, value| Statistic { name, help, value };
        let mut all = cluster.figures.statistics();
        all.extend([
            statistic(
                "cluster_in_flight",
                "Calls to the cluster in flight.",
                cluster.in_flight() as f64,
            ),
            statistic(
                "cluster_silent_nodes",
                "Nodes that do not answer and are avoided.",
                cluster.silent_nodes() as f64,
            ),
        ]);
        all
    }

    fn stop_waiting(&self) {
        self.shared.cluster.close();
    }

    fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let shared = Arc::clone(&self.shared);
        let name = space.to_owned();
        let is_open = self.is_open(space);
        self.wait(space, async move { shared.leader(&name, is_open).await })
    }

    fn spaces(&self) -> Result<Vec<SpaceId>, KvError> {
        let shared = Arc::clone(&self.shared);
        let name = &self.shared.cluster.config.keyspace;
        self.wait(name, async move {
            let entries = shared.entries().await?;
            let ready = entries.into_iter().filter(Entry::ready);
            // The digits at the end of a keyspace's name make it unique.
            let id = |entry: Entry| SpaceId {
                name: entry.space,
                incarnation: entry.keyspace,
            };
            Ok(ready.map(id).collect())
        })
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        check_space_name(name)?;
        let Some(open) = OpenSpace::begin(name, &self.open) else {
            return Err(in_use(name, "it is open already"));
        };
        let membership = self.membership()?;
        let (shared, member) = (Arc::clone(&self.shared), Arc::clone(&membership.member));
        let space = name.to_owned();
        let core = self.wait(name, async move {
            shared.open(&space, tables, create, &member).await
        })?;
        let core = Arc::new(core);
        open.opened(&core);
        // Each runs as a separate task, so that none waits for a step of another.
        let keepers = [
            self.bridge.spawn(Core::keep(Arc::downgrade(&core))),
            self.bridge.spawn(Core::learn(Arc::downgrade(&core))),
        ];
        let reader = self.reader(&core.source);
        Ok(Arc::new(CassandraSpace {
            core,
            reader,
            bridge: Arc::clone(&self.bridge),
            keepers,
            open: Some(open),
            _membership: membership,
        }))
    }

    fn follow(
        &self,
        space: &SpaceId,
        tables: &'static [TableSpec],
    ) -> Result<Arc<dyn Space>, KvError> {
        let shared = Arc::clone(&self.shared);
        let asked = space.clone();
        let source = self.wait(&space.name, async move {
            let cluster = &shared.cluster;
            let place = (asked.name.as_str(), asked.incarnation.as_str());
            let found = shared.followed.of(cluster, place, tables).await;
            found.map_err(|failure| failure.into_error(&asked.name))
        })?;
        Ok(Arc::new(FollowedSpace(self.reader(&source))))
    }

    fn clear_begun(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<(), KvError> {
        let name = self.shared.cluster.config.keyspace.clone();
        let shared = Arc::clone(&self.shared);
        let entries = self.wait(&name, async move { shared.entries().await })?;
        let begun = entries.into_iter().filter(Entry::begun);
        for entry in begun.filter(|entry| is_meant(&entry.space)) {
            let (space, shared) = (entry.space.clone(), Arc::clone(&self.shared));
            self.wait(&space, async move { shared.remove_begun(&entry).await })?;
        }
        Ok(())
    }

    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError> {
        check_space_name(name)?;
        if self.is_open(name) {
            // The open space may have another incarnation; then there is nothing to remove.
            let is_meant = |space: &SpaceId| {
                space.name == name && incarnation.is_none_or(|it| space.incarnation == it)
            };
            return match incarnation.is_none() || self.spaces()?.iter().any(is_meant) {
                true => Err(in_use(name, "it is open; close it before dropping it")),
                false => Ok(()),
            };
        }
        let membership = self.membership()?;
        let (shared, member) = (Arc::clone(&self.shared), Arc::clone(&membership.member));
        let (space, incarnation) = (name.to_owned(), incarnation.map(str::to_owned));
        self.wait(name, async move {
            shared.remove(&space, incarnation.as_deref(), &member).await
        })
    }
}

impl Shared {
    async fn entries(&self) -> Result<Vec<Entry>, KvError> {
        let entries = self.directory.entries(&self.cluster).await;
        let entries =
            entries.map_err(|failure| failure.into_error(&self.cluster.config.keyspace))?;
        let named = entries.iter().filter(|entry| entry.ready());
        let named = named.map(|entry| (entry.space.clone(), entry.keyspace.clone()));
        *self.listed.lock() = named.collect();
        let is_listed = |keyspace: &String| entries.iter().any(|entry| entry.keyspace == *keyspace);
        self.looks.lock().retain(|keyspace, _| is_listed(keyspace));
        Ok(entries)
    }

    async fn open(
        &self,
        space: &str,
        specs: &'static [TableSpec],
        create: bool,
        member: &Arc<Member>,
    ) -> Result<Core, KvError> {
        let (keyspace, present) = self.keyspace(space, specs, create).await?;
        match self
            .open_in(space, specs, (&keyspace, &present), member)
            .await
        {
            Err(error) => Err(self.or_removed(space, &keyspace, error).await),
            opened => opened,
        }
    }

    /// Replaces the error of a failed opening if the space was removed meanwhile.
    async fn or_removed(&self, space: &str, keyspace: &str, error: KvError) -> KvError {
        if !matches!(error, KvError::Unavailable { .. }) {
            return error;
        }
        match self.directory.find(&self.cluster, space).await {
            Ok(Some(entry)) if entry.ready() && entry.keyspace == keyspace => error,
            Ok(_) => in_use(space, "another process has removed it meanwhile"),
            Err(_) => error,
        }
    }

    async fn open_in(
        &self,
        space: &str,
        specs: &'static [TableSpec],
        (keyspace, present): (&str, &[String]),
        member: &Arc<Member>,
    ) -> Result<Core, KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let lease_table = LeaseTable::open(&self.cluster, keyspace).await;
        let lease_table = lease_table.map_err(failed)?;
        let (lease, left) = Opening {
            space,
            specs,
            cluster: &self.cluster,
            keyspace,
            present,
            definitions: &self.definitions,
            table: &lease_table,
            watch: &self.watch,
            scopes: &self.scopes,
            member,
        }
        .run()
        .await?;
        let Settled {
            store,
            log,
            stamps,
            slices,
        } = left;
        let empty = known::is_empty(&self.cluster, &store, specs).await;
        let known = Known::new(space, specs, empty, &self.known_memory);
        member.leads(keyspace, Some(lease.row.term));
        let written = Arc::new(Notify::new());
        // Slices of before are removed soon.
        written.notify_one();
        let source = Arc::new(Source {
            name: space.into(),
            specs,
            keyspace: keyspace.to_owned(),
            cluster: Arc::clone(&self.cluster),
            store,
            cuts: Cuts::default(),
            widths: Widths::new(specs.len()),
        });
        Ok(Core {
            source,
            log,
            lease,
            lease_table,
            stamps,
            known,
            slices: Mutex::new(slices),
            settled: AtomicI64::new(0),
            positions: tokio::sync::Mutex::default(),
            written,
            given_up: AtomicBool::new(false),
        })
    }

    /// Returns the space's keyspace, and the tables that it has. Some of `specs` may be missing if
    /// an earlier version has created the keyspace.
    async fn keyspace(
        &self,
        space: &str,
        specs: &'static [TableSpec],
        create: bool,
    ) -> Result<(String, Vec<String>), KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let _one_at_a_time = self.definitions.lock().await;
        let found = self.directory.find(&self.cluster, space).await;
        let found = found.map_err(failed)?;
        let Some(entry) = found.filter(Entry::ready) else {
            if !create {
                return Err(unavailable(space, "it does not exist"));
            }
            // Opening checks this again. The early check avoids creating a space that cannot be
            // opened.
            let agreed = self.scopes.check(&self.cluster).await;
            agreed.map_err(failed)?;
            let created = self.directory.create(&self.cluster, space, specs);
            let keyspace = created.await.map_err(failed)?.keyspace;
            let all = specs.iter().map(|spec| spec.name).chain([log::TABLE]);
            return Ok((keyspace, all.map(str::to_owned).collect()));
        };
        let keyspace = entry.keyspace;
        let present = schema::tables(&self.cluster, &keyspace).await;
        let present = present.map_err(failed)?;
        if !present.iter().any(|table| table == lease::TABLE) {
            let detail = format!(
                "its keyspace '{keyspace}' has no table '{}': it is missing, or was restored in part. Restore the whole keyspace, or drop the graph",
                lease::TABLE
            );
            return Err(unavailable(space, detail));
        }
        for table in &present {
            let own = [log::TABLE, log::EARLIER_TABLE, lease::TABLE].contains(&&**table);
            if !own && !specs.iter().any(|spec| spec.name == table) {
                let detail = format!("it has a table '{table}' that this version does not know");
                return Err(unavailable(space, detail));
            }
        }
        Ok((keyspace, present))
    }

    /// Removes the space of that name. If `keyspace` is given, removes the space only if that is
    /// its keyspace. All later steps use the keyspace that was found first.
    async fn remove(
        &self,
        space: &str,
        keyspace: Option<&str>,
        member: &Member,
    ) -> Result<(), KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let _one_at_a_time = self.definitions.lock().await;
        let found = self.directory.find(&self.cluster, space).await;
        let Some(entry) = found.map_err(failed)? else {
            return Ok(());
        };
        if keyspace.is_some_and(|keyspace| keyspace != entry.keyspace) {
            return Ok(());
        }
        if entry.ready() && self.has_lease(&entry.keyspace).await.map_err(failed)? {
            let table = LeaseTable::open(&self.cluster, &entry.keyspace).await;
            let table = table.map_err(failed)?;
            let taken = self.take_for_good(space, &table, member).await?;
            let removed = self.directory.remove(&self.cluster, &entry).await;
            if let Some(taken) = taken.filter(|_| removed.is_err()) {
                // If the release fails too, this server may open the space or remove it.
                let _ = table.release(&self.cluster, &taken).await;
            }
            return removed.map_err(failed);
        }
        let removed = self.directory.remove(&self.cluster, &entry).await;
        removed.map_err(failed)
    }

    /// Removes an unfinished creation, if it still is unfinished.
    async fn remove_begun(&self, entry: &Entry) -> Result<(), KvError> {
        let _one_at_a_time = self.definitions.lock().await;
        let removed = self.directory.remove(&self.cluster, entry).await;
        removed.map_err(|failure| failure.opening(&entry.space))
    }

    /// Whether a keyspace has the table of its lease. Without it no process can open the space.
    async fn has_lease(&self, keyspace: &str) -> Result<bool, Failure> {
        // A node that does not know the tables of a new space yet must not hide its lease.
        self.cluster.agree().await;
        let present = schema::tables(&self.cluster, keyspace).await?;
        Ok(present.iter().any(|table| table == lease::TABLE))
    }

    /// Takes the lease of a space that is to be removed, so that no process opens it meanwhile.
    /// `None` if it has none: then no process can open it.
    async fn take_for_good(
        &self,
        space: &str,
        table: &LeaseTable,
        member: &Member,
    ) -> Result<Option<LeaseRow>, KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let row = table.find_row(&self.cluster).await.map_err(failed)?;
        let Some(row) = row else {
            // No process can open it.
            return Ok(None);
        };
        let ours = claimed_by(member, &row, &self.cluster);
        let is_free = self.is_free(&row, member).await.map_err(failed)?;
        if is_free {
            // The scope of consistency is checked before and after the lease is taken, as in an
            // opening.
            self.scopes.check(&self.cluster).await.map_err(failed)?;
        }
        if is_free
            && table
                .claim(&self.cluster, &row, &ours)
                .await
                .map_err(failed)?
        {
            let agreed = self.scopes.check(&self.cluster).await;
            if agreed.is_err() {
                let _ = table.release(&self.cluster, &ours).await;
            }
            return agreed.map(|()| Some(ours)).map_err(failed);
        }
        let row = table.read(&self.cluster).await.map_err(failed)?;
        Err(in_use(space, format!("{} has it open", holder(&row))))
    }

    /// Whether no other process has a lease.
    async fn is_free(&self, row: &LeaseRow, member: &Member) -> Result<bool, Failure> {
        let Some(owner) = row.living_owner().filter(|owner| *owner != member.name) else {
            return Ok(true);
        };
        let table = &self.watch.table;
        Ok(row.expires.is_none() && !table.exists(&self.cluster, owner).await?)
    }
}
