//! The engine: its session, and its spaces by name.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use varve_kv::{
    Capabilities, Engine, KvError, Leader, Space, SpaceId, Statistic, TableSpec, check_space_name,
};

use crate::acquire::{Opening, Settled};
use crate::bridge::Bridge;
use crate::change::{self, ConsistencyChange};
use crate::cluster::Cluster;
use crate::config::CassandraConfig;
use crate::core::Core;
use crate::cuts::Cuts;
use crate::directory::{Directory, Entry};
use crate::failure::Failure;
use crate::known::{self, Known, KnownMemory};
use crate::lease::{self, LeaseRow, LeaseTable, holder, term};
use crate::log::{self, Log};
use crate::open::{OpenSpace, OpenSpaces, owner};
use crate::schema;
use crate::scope::ScopeTable;
use crate::space::CassandraSpace;

/// The engine.
pub struct CassandraEngine {
    bridge: Arc<Bridge>,
    shared: Arc<Shared>,
    open: Arc<Mutex<OpenSpaces>>,
}

struct Shared {
    cluster: Arc<Cluster>,
    directory: Directory,
    scopes: ScopeTable,
    /// For each space whose leader was looked up, by name: its keyspace, and the prepared
    /// statements for its lease. Reading the list of spaces removes the entries whose keyspace is
    /// no longer listed.
    looks: Mutex<HashMap<String, (String, Arc<LeaseTable>)>>,
    /// The memory for the presence filters of all spaces.
    known_memory: Arc<KnownMemory>,
    /// Held while this process creates or removes a keyspace, since concurrent schema changes are a
    /// known source of trouble in Cassandra.
    definitions: tokio::sync::Mutex<()>,
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
                cluster: Arc::new(cluster),
                directory,
                scopes,
                looks: Mutex::default(),
                known_memory,
                definitions: tokio::sync::Mutex::new(()),
            })
        });
        let shared = shared.unwrap_or_else(|| Err(Failure::Refused("the driver failed".into())));
        let shared = shared.map_err(|failure| failure.opening(&name))?;
        Ok(Self {
            bridge: Arc::new(bridge),
            shared: Arc::new(shared),
            open: Arc::default(),
        })
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
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let statistic = |name, help, value| Statistic { name, help, value };
        vec![
            statistic(
                "cluster_requests_total",
                "Requests sent to the cluster.",
                count(&cluster.requests),
            ),
            statistic(
                "cluster_read_waits_total",
                "Times that reads waited for the cluster; requests that are sent together count once.",
                count(&cluster.waits),
            ),
            statistic(
                "cluster_failures_total",
                "Requests to the cluster that failed.",
                count(&cluster.failures),
            ),
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
        ]
    }

    fn stop_waiting(&self) {
        self.shared.cluster.close();
    }

    fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let shared = Arc::clone(&self.shared);
        let name = space.to_owned();
        self.wait(space, async move { shared.leader(&name).await })
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
        let shared = Arc::clone(&self.shared);
        let space = name.to_owned();
        let core = self.wait(
            name,
            async move { shared.open(&space, tables, create).await },
        )?;
        let core = Arc::new(core);
        open.opened(&core);
        // Each runs as a separate task, so that none waits for a step of another.
        let keepers = [
            self.bridge.spawn(Core::keep(Arc::downgrade(&core))),
            self.bridge.spawn(Core::keep_tidy(Arc::downgrade(&core))),
            self.bridge.spawn(Core::learn(Arc::downgrade(&core))),
        ];
        Ok(Arc::new(CassandraSpace {
            core,
            bridge: Arc::clone(&self.bridge),
            keepers,
            open: Some(open),
        }))
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
        let shared = Arc::clone(&self.shared);
        let (space, incarnation) = (name.to_owned(), incarnation.map(str::to_owned));
        self.wait(name, async move {
            shared.remove(&space, incarnation.as_deref()).await
        })
    }
}

impl Shared {
    async fn entries(&self) -> Result<Vec<Entry>, KvError> {
        let entries = self.directory.entries(&self.cluster).await;
        let entries =
            entries.map_err(|failure| failure.into_error(&self.cluster.config.keyspace))?;
        let listed = |space: &String, keyspace: &String| {
            let entry = entries.iter().find(|entry| entry.space == *space);
            entry.is_some_and(|entry| entry.keyspace == *keyspace)
        };
        let mut looks = self.looks.lock();
        looks.retain(|space, (keyspace, _)| listed(space, keyspace));
        drop(looks);
        Ok(entries)
    }

    async fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let failed = |failure: Failure| failure.into_error(space);
        let known = self.looks.lock().get(space).cloned();
        let table = match known {
            Some((_, table)) => table,
            None => {
                let found = self.directory.find(&self.cluster, space).await;
                let Some(entry) = found.map_err(failed)?.filter(Entry::ready) else {
                    return Ok(None);
                };
                let table = LeaseTable::open(&self.cluster, &entry.keyspace).await;
                let look = (entry.keyspace, Arc::new(table.map_err(failed)?));
                self.looks.lock().insert(space.to_owned(), look.clone());
                look.1
            }
        };
        let row = match table.look(&self.cluster).await {
            // The queried node may not have the table; the next call queries all nodes.
            Err(failure @ Failure::NotHere(_)) => {
                self.looks.lock().remove(space);
                return Err(failed(failure));
            }
            row => row.map_err(failed)?,
        };
        let here = &self.cluster.config.address;
        Ok(row.is_held().then(|| Leader {
            is_self: row.address.as_ref() == Some(here),
            term: term(&row),
            address: row.address.unwrap_or_default(),
        }))
    }

    async fn open(
        &self,
        space: &str,
        specs: &'static [TableSpec],
        create: bool,
    ) -> Result<Core, KvError> {
        let (keyspace, present) = self.keyspace(space, specs, create).await?;
        match self.open_in(space, specs, &keyspace, &present).await {
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
        keyspace: &str,
        present: &[String],
    ) -> Result<Core, KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let log = Log::open(&self.cluster, keyspace).await.map_err(failed)?;
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
            log: &log,
            scopes: &self.scopes,
            owner: owner(),
        }
        .run()
        .await?;
        let Settled {
            store,
            stamps,
            slices,
        } = left;
        let empty = known::is_empty(&self.cluster, &store, specs).await;
        let known = Known::new(space, specs, empty, &self.known_memory);
        Ok(Core {
            name: space.into(),
            specs,
            keyspace: keyspace.to_owned(),
            cluster: Arc::clone(&self.cluster),
            store,
            log,
            lease,
            lease_table,
            stamps,
            known,
            cuts: Cuts::default(),
            slices: Mutex::new(BTreeSet::from_iter(slices)),
            settled: AtomicI64::new(0),
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
            let all = specs.iter().map(|spec| spec.name.to_owned());
            return Ok((keyspace, all.collect()));
        };
        let keyspace = entry.keyspace;
        let present = schema::tables(&self.cluster, &keyspace).await;
        let present = present.map_err(failed)?;
        for table in &present {
            let own = [log::TABLE, lease::TABLE].contains(&&**table);
            if !own && !specs.iter().any(|spec| spec.name == table) {
                let detail = format!("it has a table '{table}' that this version does not know");
                return Err(unavailable(space, detail));
            }
        }
        Ok((keyspace, present))
    }

    /// Removes the space of that name. If `keyspace` is given, removes the space only if that is
    /// its keyspace. All later steps use the keyspace that was found first.
    async fn remove(&self, space: &str, keyspace: Option<&str>) -> Result<(), KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let _one_at_a_time = self.definitions.lock().await;
        let found = self.directory.find(&self.cluster, space).await;
        let Some(entry) = found.map_err(failed)? else {
            return Ok(());
        };
        if keyspace.is_some_and(|keyspace| keyspace != entry.keyspace) {
            return Ok(());
        }
        if entry.ready() {
            self.take_for_good(space, &entry).await?;
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

    /// Takes the lease of a space that is to be removed, so that no process opens it meanwhile. If
    /// the removal fails, the lease expires.
    async fn take_for_good(&self, space: &str, entry: &Entry) -> Result<(), KvError> {
        let failed = |failure: Failure| failure.opening(space);
        let table = LeaseTable::open(&self.cluster, &entry.keyspace).await;
        let table = table.map_err(failed)?;
        let row = table.read(&self.cluster).await.map_err(failed)?;
        let ours = LeaseRow {
            owner: Some(owner()),
            address: Some(self.cluster.config.address.clone()),
            term: row.term + 1,
            ..row.clone()
        };
        let free = row.owner.is_none();
        if free {
            // The scope of consistency is checked before and after the lease is taken, as in an
            // opening.
            self.scopes.check(&self.cluster).await.map_err(failed)?;
        }
        if free
            && table
                .claim(&self.cluster, &row, &ours)
                .await
                .map_err(failed)?
        {
            let agreed = self.scopes.check(&self.cluster).await;
            if agreed.is_err() {
                // If the release fails, the lease blocks others until it expires.
                let _ = table.release(&self.cluster, &ours).await;
            }
            return agreed.map_err(failed);
        }
        let row = table.read(&self.cluster).await.map_err(failed)?;
        Err(in_use(space, format!("{} has it open", holder(&row))))
    }
}
