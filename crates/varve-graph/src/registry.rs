//! The graphs of a server: listing, creating, clearing and dropping them.
//!
//! A graph is a space. Clearing a graph opens a new, empty space (its next *generation*), which
//! replaces the old one at once. Requests that still use the old space finish on it. It is removed
//! when the last of them has released it, or at the next start. So clearing and dropping never
//! block, and after a crash the graph is complete, or empty, or gone, never partial.
//!
//! Space names: generation 0 is the graph's name; generation *n* is `_<n>_<name>`. Graph names
//! begin with a letter, so the two forms differ. A clear or a drop takes effect by a *drop mark* in
//! the old space, which is stored before the new space is visible: the graph is its oldest space
//! without a mark. So a clear that failed or crashed before its mark has had no effect, and its new
//! space is removed.
//!
//! The name of a space can be reused once all spaces of a graph are removed. So a space is
//! remembered beyond one call by its [`SpaceId`], which distinguishes it from a later space with
//! the same name, which another server may have created.

mod graph_cache;
mod making;
mod names;
mod places;
mod removal;
mod replicas;
mod restoring;
mod system;
mod tending;
mod unopened;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, RwLock};
use varve_kv::{Capabilities, Engine, Leader, SpaceId, Statistic, fail_point};

use crate::error::{ErrorKind, GraphError};
use crate::graph::{Graph, GraphOptions};
use crate::schema::SchemaMode;

pub use self::graph_cache::{GraphCache, ServedGraph};
pub use self::names::{GRAPH_NAME_BYTES_MAX, graph_of_space};
use self::names::{check_name, parse_space_name, space_name};
pub use self::places::{Change, GraphLocation};
pub(crate) use self::removal::is_marked;
use self::removal::{Doomed, doom, mark_dropped};
pub use self::replicas::Replica;
use self::replicas::Replicas;
pub(crate) use self::restoring::{check_restored, end_restoring, mark_restoring};
pub use self::system::SYSTEM_GRAPH;
use self::system::SystemGraph;
pub use self::tending::Tending;
use self::unopened::{UnopenedGraphs, is_for_good};

/// The graphs of one engine.
pub struct Registry {
    engine: Arc<dyn Engine>,
    options: GraphOptions,
    graphs: RwLock<BTreeMap<String, Open>>,
    /// Spaces to remove once they are no longer in use. The lock is held for every change of the
    /// set of graphs.
    doomed: Mutex<Vec<Doomed>>,
    /// Whether no further graph may be opened. Read and written under the lock of `doomed`.
    closed: AtomicBool,
    /// How often a graph was replaced or removed.
    changes: AtomicU64,
    caches: Mutex<Vec<Weak<GraphCache>>>,
    /// On a shared engine, the graphs that are not open here, and their leaders as far as known.
    followed: RwLock<BTreeMap<String, Option<Leader>>>,
    /// The graphs among them that cannot be opened here.
    unopened: UnopenedGraphs,
    replicas: Replicas,
    /// Spaces that are known to have the drop mark and are not removed yet.
    marked: Mutex<BTreeSet<SpaceId>>,
    observer: OnceLock<Observer>,
    system: SystemGraph,
}

/// Called with every [`Change`] of a graph: of its leader, or a space that cannot be removed.
type Observer = Box<dyn Fn(&str, Change) + Send + Sync>;

#[derive(Clone)]
struct Open {
    graph: Arc<Graph>,
    generation: u32,
}

impl Open {
    fn space(&self) -> SpaceId {
        SpaceId {
            name: space_name(self.graph.name(), self.generation),
            incarnation: self.graph.space().lease().incarnation.to_owned(),
        }
    }
}

/// The stored spaces of each graph, by ascending generation.
type Generations = BTreeMap<String, Vec<(u32, SpaceId)>>;

impl Registry {
    /// Opens all graphs of the engine, and removes what clears and drops before a crash or stop
    /// left behind. A graph that cannot be opened does not affect the others
    /// ([`Registry::unopened`]).
    ///
    /// A space that cannot be removed is no error: the removal is tried again.
    ///
    /// # Errors
    /// When the engine cannot be reached, or fails.
    pub fn open(engine: Arc<dyn Engine>, options: GraphOptions) -> Result<Self, GraphError> {
        let registry = Self {
            engine,
            options,
            graphs: RwLock::default(),
            doomed: Mutex::default(),
            closed: AtomicBool::new(false),
            changes: AtomicU64::new(0),
            caches: Mutex::default(),
            followed: RwLock::default(),
            unopened: UnopenedGraphs::default(),
            replicas: Replicas::default(),
            marked: Mutex::default(),
            observer: OnceLock::new(),
            system: SystemGraph::default(),
        };
        if registry.is_shared() {
            registry.look_at_all()?;
            return Ok(registry);
        }
        let mut doomed = registry.doomed.lock();
        for (name, generations) in registry.generations()? {
            match registry.open_oldest(&name, &generations, &mut doomed) {
                Ok(Some(open)) => drop(registry.graphs.write().insert(name, open)),
                Ok(None) => {}
                Err(error) if is_for_good(&error) => {
                    registry.followed.write().insert(name.clone(), None);
                    let _ = registry.note_unopened(&name, error);
                }
                Err(error) => return Err(error),
            }
        }
        registry.reap(&mut doomed);
        drop(doomed);
        Ok(registry)
    }

    /// Lists the stored spaces, without those that are known to have the drop mark.
    fn generations(&self) -> Result<Generations, GraphError> {
        let spaces = self.engine.spaces()?;
        let marked = self.marked.lock();
        let mut generations = Generations::new();
        for space in spaces.into_iter().filter(|space| !marked.contains(space)) {
            if let Some((name, generation)) = parse_space_name(&space.name) {
                let known = generations.entry(name.to_owned()).or_default();
                known.push((generation, space));
            }
        }
        for known in generations.values_mut() {
            known.sort_unstable();
        }
        Ok(generations)
    }

    /// The engine's name, for clients.
    #[must_use]
    pub fn engine_name(&self) -> &'static str {
        self.engine.capabilities().name
    }

    /// The engine's capabilities.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    /// The options with which graphs are opened.
    #[must_use]
    pub fn options(&self) -> &GraphOptions {
        &self.options
    }

    /// The names of all graphs, ascending, including those that other servers lead.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> = self.graphs.read().keys().cloned().collect();
        names.extend(self.followed.read().keys().cloned());
        names.into_iter().collect()
    }

    /// Whether [`Registry::names`] has this name.
    pub fn has(&self, name: &str) -> bool {
        self.graphs.read().contains_key(name) || self.followed.read().contains_key(name)
    }

    /// The names of all stored graphs, ascending. Reads them from the engine if it is shared.
    ///
    /// # Errors
    /// When the engine cannot be read.
    pub fn stored_names(&self) -> Result<Vec<String>, GraphError> {
        match self.is_shared() {
            true => Ok(self.generations()?.into_keys().collect()),
            false => Ok(self.names()),
        }
    }

    /// The names of the graphs that are open here, ascending.
    #[must_use]
    pub fn open_names(&self) -> Vec<String> {
        self.graphs.read().keys().cloned().collect()
    }

    /// Returns the graph with that name.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no such graph; [`ErrorKind::Elsewhere`] when another
    /// server leads it.
    pub fn get(&self, name: &str) -> Result<Arc<Graph>, GraphError> {
        let open = self
            .graphs
            .read()
            .get(name)
            .map(|open| Arc::clone(&open.graph));
        open.ok_or_else(|| self.not_open(name))
    }

    fn open_of(&self, name: &str) -> Result<Open, GraphError> {
        let open = self.graphs.read().get(name).cloned();
        open.ok_or_else(|| self.not_open(name))
    }

    /// A cache for one thread, faster than [`Registry::get`].
    #[must_use]
    pub fn graph_cache(&self) -> Arc<GraphCache> {
        let cache = Arc::new(GraphCache::default());
        let mut caches = self.caches.lock();
        caches.retain(|cache| cache.strong_count() > 0);
        caches.push(Arc::downgrade(&cache));
        cache
    }

    /// How often a graph was replaced or removed.
    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Records that a graph was replaced or removed, and empties all graph caches.
    fn empty_caches(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        for cache in self.caches.lock().iter().filter_map(Weak::upgrade) {
            cache.end();
        }
    }

    /// Creates an empty graph.
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidArgument`] for a name that is not 1 to [`GRAPH_NAME_BYTES_MAX`]
    ///   letters, digits and `_`, the first a letter, or that no space may have
    ///   ([`varve_kv::is_space_name`]);
    /// - [`ErrorKind::Existed`] when there is a graph with that name;
    /// - [`ErrorKind::LimitExceeded`] when there are
    ///   [`Limits::graphs_max`](crate::Limits::graphs_max) graphs;
    /// - [`ErrorKind::Busy`] after [`Registry::close`].
    pub fn create(&self, name: &str) -> Result<Arc<Graph>, GraphError> {
        self.create_with(name, SchemaMode::Declared)
    }

    /// Creates an empty graph with this schema mode.
    ///
    /// # Errors
    /// As [`Registry::create`].
    pub fn create_with(&self, name: &str, mode: SchemaMode) -> Result<Arc<Graph>, GraphError> {
        check_name(name)?;
        let mut doomed = self.doomed.lock();
        self.check_not_closed(name)?;
        if self.graphs.read().contains_key(name) {
            return Err(existed(name));
        }
        if let Some(error) = self.cannot_be_opened(name).filter(|_| !self.is_shared()) {
            return Err(error);
        }
        let open = match self.is_shared() {
            true => self.open_first(name, mode, &mut doomed)?,
            false => {
                self.check_room(name)?;
                self.open_next(name, mode, None, &mut doomed)?
            }
        };
        let graph = Arc::clone(&open.graph);
        self.graphs.write().insert(name.to_owned(), open);
        self.followed.write().remove(name);
        self.unopened.forget(name);
        Ok(graph)
    }

    /// Returns the graph with that name, and creates it if there is none.
    ///
    /// # Errors
    /// As [`Registry::create`], except [`ErrorKind::Existed`].
    pub fn get_or_create(&self, name: &str) -> Result<Arc<Graph>, GraphError> {
        match self.get(name) {
            Err(error) if error.kind == ErrorKind::NotFound => match self.create(name) {
                // Another thread has created it meanwhile.
                Err(error) if error.kind == ErrorKind::Existed => self.get(name),
                created => created,
            },
            found => found,
        }
    }

    /// Writes a copy of the graph's committed state to the new folder `folder`. Meanwhile no graph
    /// is cleared or dropped, so the copied space never has a drop mark.
    ///
    /// # Errors
    /// As [`Registry::get`], or when the copy cannot be written.
    pub fn checkpoint(&self, name: &str, folder: &Path) -> Result<(), GraphError> {
        let _unchanged = self.doomed.lock();
        Ok(self.get_with_system(name)?.space().checkpoint(folder)?)
    }

    /// Removes everything in a graph: data, history, schema, tasks, variables. Ids restart. Returns
    /// the empty graph. A call while the graph is being cleared waits for that and does not clear
    /// it again.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no graph with that name.
    pub fn clear(&self, name: &str) -> Result<Arc<Graph>, GraphError> {
        let asked_for = self.open_of(name)?.generation;
        self.clear_generation(name, asked_for)
    }

    /// Clears a graph if it still has this generation. If not, its contents have already been
    /// cleared.
    fn clear_generation(&self, name: &str, generation: u32) -> Result<Arc<Graph>, GraphError> {
        let mut doomed = self.doomed.lock();
        let old = self.open_of(name)?;
        if old.generation != generation {
            return Ok(old.graph);
        }
        let mode = old.graph.schema().mode();
        // The new space exists before the mark is stored. So if a crash follows, the
        // graph is empty, not gone.
        let open = self.open_next(name, mode, Some(&old), &mut doomed)?;
        if let Err(error) = mark_dropped(&**old.graph.space()) {
            // If the mark may be stored, the new space must stay, since the next start then finds
            // it as the graph. If it is certainly not stored, the new space must go: a later clear
            // would make it the oldest space without a mark.
            if !matches!(error.kind, ErrorKind::Storage | ErrorKind::OutcomeUnknown) {
                self.give_up(open, &mut doomed);
            }
            return Err(error);
        }
        fail_point::GRAPH_MARKED.pass();
        self.marked.lock().insert(old.space());
        let graph = Arc::clone(&open.graph);
        self.graphs.write().insert(name.to_owned(), open);
        self.empty_caches();
        doom(&mut doomed, old.space());
        old.graph.tasks().stop();
        drop(old);
        fail_point::GRAPH_SWAPPED.pass();
        self.reap_changed(name, &mut doomed)?;
        Ok(graph)
    }

    /// Removes a graph with everything in it, also a graph that cannot be opened here.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no graph with that name.
    pub fn drop_graph(&self, name: &str) -> Result<(), GraphError> {
        let mut doomed = self.doomed.lock();
        if !self.graphs.read().contains_key(name) && self.why_unopened(name).is_some() {
            return self.drop_unopened(name, &mut doomed);
        }
        let old = self.open_of(name)?;
        self.clear_the_way(name, &mut doomed)?;
        mark_dropped(&**old.graph.space())?;
        fail_point::GRAPH_MARKED.pass();
        self.marked.lock().insert(old.space());
        self.graphs.write().remove(name);
        self.empty_caches();
        doom(&mut doomed, old.space());
        old.graph.tasks().stop();
        drop(old);
        fail_point::GRAPH_SWAPPED.pass();
        self.reap_changed(name, &mut doomed)
    }

    /// Stops the tasks of all graphs and releases the graphs: each closes when its last request has
    /// released it. Afterwards there are no graphs, and none is created or opened any more.
    pub fn close(&self) {
        let mut doomed = self.doomed.lock();
        self.closed.store(true, Ordering::Relaxed);
        self.replicas.keep_only(|_| false);
        let graphs = std::mem::take(&mut *self.graphs.write());
        for open in graphs.values() {
            open.graph.tasks().stop();
        }
        drop(graphs);
        self.system.close();
        self.empty_caches();
        // A space that cannot be removed now has the mark, so the next start removes it.
        self.reap(&mut doomed);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn check_not_closed(&self, name: &str) -> Result<(), GraphError> {
        if !self.is_closed() {
            return Ok(());
        }
        let message = format!("The graph '{name}' is not created: the server stops");
        Err(GraphError::new(ErrorKind::Busy, message))
    }

    /// The engine's statistics that belong to no single graph.
    #[must_use]
    pub fn engine_statistics(&self) -> Vec<Statistic> {
        self.engine.statistics()
    }

    /// The engine's statistics of each graph.
    #[must_use]
    pub fn statistics(&self) -> Vec<(String, Vec<Statistic>)> {
        let graphs: Vec<(String, Open)> = self
            .graphs
            .read()
            .iter()
            .map(|(name, open)| (name.clone(), open.clone()))
            .collect();
        graphs
            .into_iter()
            .map(|(name, open)| (name, open.graph.space().statistics()))
            .collect()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.names();
        formatter
            .debug_struct("Registry")
            .field("names", &names)
            .finish_non_exhaustive()
    }
}

fn not_found(name: &str) -> GraphError {
    GraphError::not_found(format!("Graph '{name}' does not exist"))
}

fn existed(name: &str) -> GraphError {
    let message = format!("The graph name '{name}' has existed");
    GraphError::new(ErrorKind::Existed, message)
}

#[cfg(test)]
mod tests;
