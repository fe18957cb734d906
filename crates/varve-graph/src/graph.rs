//! One graph: combines its space, schema, latches and committer.

mod following;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use varve_encoding::key;
use varve_encoding::row;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{Leadership, Reader, Space, fail_point, state_of};
use varve_model::schema::Retention;
use varve_model::{
    Clock, CommitVersion, Direction, Edge, EdgeId, ElementId, Instant, TemporalScope, Vertex,
    VertexId,
};

use crate::bodies::{ElementBodies, Jobs};
use crate::changes::{Keeping, KeptChanges, list_schema};
use crate::clock_watch::{ahead, check_ahead};
use crate::commit::{
    COMMITTER_IDLE_MAX, Commit, Commits, Committer, CommitterOptions, DurabilityMode, Known,
    KnownPairs, KnownVertices, LatchKey, Latches, Promise, end_of_commit, stored_version,
};
use crate::deadline;
use crate::error::{ErrorKind, GraphError};
use crate::index::{Deriver, DeriverSource};
use crate::limits::Limits;
use crate::maintenance::LastLook;
use crate::notes::Notes;
use crate::numbers::VertexNumbers;
use crate::read::{HistoryPage, Ordered, Point, Version, View, read_element};
use crate::recorded::{self, Recorded};
use crate::registry::check_restored;
use crate::schema::{Catalogue, Schema, SchemaBodies, SchemaTables};
use crate::snowflake::Snowflake;
use crate::tasks::{TaskTables, Tasks};
use crate::variables::Variables;
use crate::write::{self, Contention, PlannedEdge, WriteRequest, Written};

/// How a graph is opened.
#[derive(Clone)]
pub struct GraphOptions {
    /// When a commit is acknowledged.
    pub durability: DurabilityMode,
    /// Bounds on single requests and on the queue of commits.
    pub limits: Limits,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// How far the newest commit version may be ahead of the clock when a graph is opened; if it is
    /// further ahead, opening fails. `None` (the default): no bound.
    pub clock_ahead_max: Option<Duration>,
    /// The source of the derivers of graphs with derived indexes.
    pub derivers: Option<Arc<dyn DeriverSource>>,
    /// The implementation of jobs. `None` (the default): jobs fail.
    pub jobs: Option<Arc<dyn Jobs>>,
    /// How long the list of changes is kept, for [`Graph::visit_changes`]. With
    /// `Some(Retention::None)` (the default) there is no list. With `None` changes are listed if
    /// they were at the last opening, and none are deleted; this is for tools that open a store
    /// between two runs of its server.
    pub changes: Option<Retention>,
    /// The number that identifies a restored copy of a backup ([`crate::backup::restored`]); 0 (the
    /// default): the store is not a restored copy. If the number differs from that of the last
    /// opening, the list of changes starts anew, since commits that followers have seen may be
    /// missing.
    pub restored: u64,
}

impl GraphOptions {
    /// The defaults with the given clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            durability: DurabilityMode::default(),
            limits: Limits::default(),
            clock,
            clock_ahead_max: None,
            derivers: None,
            jobs: None,
            changes: Some(Retention::None),
            restored: 0,
        }
    }
}

/// One graph.
///
/// Isolation: a write is atomic and isolated from other writes to the same elements; reads through
/// one [`View`] see one committed state. Two requests that each read through a view and then write
/// may still interleave (write skew), unless the second is a [`write::Mutation::Modify`], which
/// reads under latches.
pub struct Graph {
    name: String,
    commits: Commits,
    pub(crate) latches: Arc<Latches>,
    catalogue: Arc<Catalogue>,
    space: Arc<dyn Space>,
    /// The space, if its engine cannot copy it itself.
    recorded: Option<Arc<Recorded>>,
    has_states: bool,
    clock: Arc<dyn Clock>,
    limits: Limits,
    known: Arc<Known>,
    snowflake: Snowflake,
    numbers: VertexNumbers,
    deriver: ArcSwapOption<Arc<dyn Deriver>>,
    changes: KeptChanges,
    pub(crate) last_look: LastLook,
}

impl Graph {
    /// Opens the graph stored in `space`; a new space is an empty graph.
    ///
    /// # Errors
    /// When the store fails or is damaged, or its newest commit version is further ahead of the
    /// clock than [`GraphOptions::clock_ahead_max`].
    pub fn open(
        name: &str,
        space: Arc<dyn Space>,
        options: &GraphOptions,
    ) -> Result<Arc<Self>, GraphError> {
        options.limits.validate()?;
        check_restored(name, &*space)?;
        let (space, recorded) = recorded::over(space);
        let has_states = recorded.is_none();
        let (promise, read_past) = Promise::open(Arc::clone(&space))?;
        let stored = stored_version(&*space)?;
        let newest = stored.max(read_past);
        check_ahead(name, newest, options.clock.now(), options.clock_ahead_max)?;
        let source = options.derivers.as_ref();
        let deriver = source.map_or(Ok(None), |source| source.deriver(name, &*space))?;
        let tasks = Arc::new(Tasks::open(
            Arc::clone(&space),
            TaskTables::default(),
            Arc::clone(&options.clock),
        )?);
        let catalogue = Arc::new(Catalogue::open(
            Arc::clone(&space),
            SchemaTables::default(),
            name,
            Arc::clone(&options.clock),
            tasks,
        )?);
        catalogue.set_open_schema_max(options.limits.open_schema_max);
        let known = Arc::<Known>::default();
        let committer = Committer::start(
            Arc::clone(&space),
            Arc::clone(&options.clock),
            Arc::clone(&known),
            CommitterOptions {
                durability: options.durability,
                group_bytes_max: options.limits.commit_group_bytes_max,
                queue_bytes_max: options.limits.commit_queue_bytes_max,
                idle_max: COMMITTER_IDLE_MAX,
            },
        )?;
        committer.settle(read_past)?;
        let snowflake = Snowflake::after(committer.numbered().instant());
        let (numbers, bound) = VertexNumbers::open(&*space, stored)?;
        known.numbers_bound.store(bound, Ordering::Release);
        let notes = Notes::new(Arc::clone(&space));
        let keeping = Keeping {
            retention: options.changes,
            restored: options.restored,
        };
        let changes = KeptChanges::open(&notes, keeping, (newest, options.clock.now()))?;
        let graph = Arc::new(Self {
            name: name.to_owned(),
            commits: Commits::Own { committer, promise },
            latches: Latches::new(),
            catalogue,
            space,
            recorded,
            has_states,
            clock: Arc::clone(&options.clock),
            limits: options.limits,
            known,
            snowflake,
            numbers,
            deriver: ArcSwapOption::new(deriver.map(Arc::new)),
            changes,
            last_look: LastLook::default(),
        });
        graph.present();
        list_schema(&graph)?;
        let elements = Arc::new(ElementBodies::new(&graph, options.jobs.clone()));
        graph
            .tasks()
            .start(Arc::new(SchemaBodies::new(graph.catalogue(), elements)));
        Ok(graph)
    }

    /// The space as one whose writes can be recorded; `None` if its engine can copy it itself, or
    /// another server leads the graph.
    pub(crate) fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_deref()
    }

    /// The graph's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The current schema.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        self.catalogue.current()
    }

    /// The catalogue, to change the schema.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The tasks. They do not run before [`Tasks::start`].
    #[must_use]
    pub fn tasks(&self) -> &Arc<Tasks> {
        self.catalogue.tasks()
    }

    /// The variables that clients keep with the graph.
    #[must_use]
    pub fn variables(&self) -> Variables {
        Variables::new(Arc::clone(&self.space), varve_encoding::tables::META)
    }

    /// The notes that the program keeps with the graph; clients do not see them.
    #[must_use]
    pub fn notes(&self) -> Notes {
        Notes::new(Arc::clone(&self.space))
    }

    /// The space that stores the graph, for maintenance and verification.
    #[must_use]
    pub fn space(&self) -> &Arc<dyn Space> {
        &self.space
    }

    /// Whether this server leads the graph, as far as it knows ([`Leadership::Held`]).
    #[must_use]
    pub fn is_led(&self) -> bool {
        self.space().lease().leadership == Leadership::Held
    }

    /// The bounds this graph was opened with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The instant that counts as now: that of the clock, but not before the newest version that
    /// was assigned to a commit or fixed by a read.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now().max(self.commits.numbered().instant())
    }

    /// How far [`Graph::now`] is ahead of the clock. While it is ahead, it stands still.
    #[must_use]
    pub fn ahead_of_clock(&self) -> Duration {
        ahead(self.commits.numbered().instant(), self.clock.now())
    }

    /// The newest visible commit version.
    #[must_use]
    pub fn published(&self) -> CommitVersion {
        self.commits.published()
    }

    /// How long the commits of this process took since the graph was opened; `None` where another
    /// process makes them.
    #[must_use]
    pub fn commit_latency(&self) -> Option<crate::CommitLatency> {
        self.commits.latency()
    }

    /// A new id for a vertex of id strategy AUTOMATIC. It is greater than all that were made
    /// before.
    #[must_use]
    pub fn next_vertex_id(&self) -> i64 {
        self.numbers.next()
    }

    /// A new number for the sort value that distinguishes an edge from parallel ones
    /// ([`varve_model::sortable::drawn_sort_value`]). It is greater than all that were assigned
    /// before.
    #[must_use]
    pub fn next_edge_number(&self) -> i64 {
        self.snowflake.next(self.now())
    }

    /// The ids that are made for vertices.
    pub(crate) const fn numbers(&self) -> &VertexNumbers {
        &self.numbers
    }

    /// Prepares `request` and hands it to the committer; the returned ticket completes when it is
    /// stored.
    ///
    /// Returns `None` if another commit holds a latch that `request` needs and `contention` says
    /// not to wait; nothing has happened then.
    ///
    /// # Errors
    /// When the request is not acceptable (nothing happened), or the store fails.
    pub fn write(
        self: &Arc<Self>,
        request: &WriteRequest,
        contention: Contention,
    ) -> Result<Option<Written>, GraphError> {
        write::write(self, request, contention)
    }

    /// Writes `request` and waits until it is stored.
    ///
    /// # Errors
    /// As [`Graph::write`].
    pub fn write_now(
        self: &Arc<Self>,
        request: &WriteRequest,
    ) -> Result<CommitVersion, GraphError> {
        match self.write(request, Contention::Wait)? {
            Some(written) => written.ticket.wait(),
            None => Err(GraphError::new(
                ErrorKind::Busy,
                "The elements are being written by others",
            )),
        }
    }

    /// For each edge, why a write of it would be refused for its period or its ends, some of which
    /// may not be stored yet.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn check_planned(
        self: &Arc<Self>,
        edges: &[PlannedEdge],
        access: Option<Arc<varve_view::AccessPolicy>>,
    ) -> Result<Vec<Option<GraphError>>, GraphError> {
        write::check_planned(self, edges, access)
    }

    /// Runs `work` in a transaction and waits until its changes are stored. `touched` lists what it
    /// is known to touch. `work` runs again if it touches something that another commit is
    /// changing, or has changed since `work` began.
    ///
    /// A graph that is written by transactions must not get requests ([`Graph::write`]) that delete
    /// vertices. Such a request latches the deleted vertices and all their edges, but not the other
    /// ends of the edges. A transaction that has listed the edges of a vertex relies on the latch
    /// of that vertex.
    ///
    /// # Errors
    /// What `work` returns (nothing is changed then), or when the store fails.
    pub fn transact<T, E: From<GraphError>>(
        self: &Arc<Self>,
        touched: &[write::Touch<'_>],
        work: &mut dyn FnMut(&mut write::Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        write::transact(self, touched, work)
    }

    /// Opens a view of the committed state at `scope`. A transaction time in `scope` is fixed
    /// first: later commits get greater versions, so a read as of it always gives the same answer.
    ///
    /// # Errors
    /// When the transaction time of `scope` is in the future, this thread's deadline passes before
    /// it is fixed, or the store fails.
    pub fn view(&self, scope: TemporalScope) -> Result<View, GraphError> {
        let scope = self.settle(scope)?;
        // Taken before the snapshot, so that the view's reads see every commit up to `last`.
        let last = (!self.has_states()).then(|| self.published());
        let snapshot = self.snapshot();
        let deriver = self.deriver();
        Ok(View::new(
            snapshot,
            self.schema(),
            deriver,
            scope,
            self.now(),
            last,
        ))
    }

    /// Calls `found` with the content of a vertex's row ([`row::vertex_parts`]); returns whether
    /// the vertex exists. A read of the present usually takes one get and no snapshot.
    ///
    /// # Errors
    /// As [`Graph::view`], or when the store fails or is damaged.
    pub fn with_vertex(
        &self,
        id: &VertexId,
        scope: TemporalScope,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let partition = key::vertex_id(id);
        self.read_one(VERTEX, &partition, key::VERTEX_CLUSTERING, scope, found)
    }

    /// Calls `found` with the content of an edge's row ([`row::edge_parts`]); returns whether the
    /// edge exists.
    ///
    /// # Errors
    /// As [`Graph::with_vertex`].
    pub fn with_edge(
        &self,
        id: &EdgeId,
        scope: TemporalScope,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let partition = key::vertex_id(&id.source);
        let clustering = key::edge_clustering(id, Direction::Out);
        self.read_one(EDGE, &partition, &clustering, scope, found)
    }

    fn read_one(
        &self,
        table: varve_kv::TableId,
        partition: &[u8],
        clustering: &[u8],
        scope: TemporalScope,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let scope = self.settle(scope)?;
        if scope.is_now() {
            let mut decided = None;
            let exists = self
                .space
                .get_with(table, partition, clustering, &mut |row| {
                    if row::decides_always(row) {
                        decided = Some(row::Header::decode(row).map(|(_, content)| found(content)));
                    }
                })?;
            match decided {
                Some(outcome) => return outcome.map(|()| true).map_err(GraphError::from),
                None if !exists => return Ok(false),
                None => {}
            }
        }
        let snapshot = self.snapshot();
        let point = Point {
            scope,
            now: self.now(),
        };
        read_element(&*snapshot, table, partition, clustering, point, found)
    }

    /// The vertex with that id.
    ///
    /// # Errors
    /// As [`Graph::with_vertex`].
    pub fn vertex(
        &self,
        id: &VertexId,
        scope: TemporalScope,
    ) -> Result<Option<Vertex>, GraphError> {
        let mut vertex = None;
        self.with_vertex(id, scope, &mut |content| {
            vertex = Some(row::decode_vertex(id.clone(), content));
        })?;
        Ok(vertex.transpose()?)
    }

    /// The edge with that id.
    ///
    /// # Errors
    /// As [`Graph::with_vertex`].
    pub fn edge(&self, id: &EdgeId, scope: TemporalScope) -> Result<Option<Edge>, GraphError> {
        let mut edge = None;
        self.with_edge(id, scope, &mut |content| {
            edge = Some(row::decode_edge(id.clone(), content));
        })?;
        Ok(edge.transpose()?)
    }

    /// The events of an element, newest first.
    ///
    /// # Errors
    /// As [`Graph::with_vertex`].
    pub fn history(
        &self,
        id: &ElementId,
        scope: TemporalScope,
        page: HistoryPage,
    ) -> Result<Vec<Version>, GraphError> {
        self.view(scope)?.history(id, page)
    }

    /// The reader of a view: a snapshot, or [`Ordered`] if the engine has none.
    fn snapshot(&self) -> Arc<dyn Reader> {
        if self.has_states {
            return state_of(&self.space);
        }
        let progress = self.commits.progress();
        let newest = Arc::clone(&self.space);
        Arc::new(Ordered::new(newest, &self.name, progress))
    }

    /// Whether the engine has snapshots of the whole graph. An engine without them reads over a
    /// network, so each read takes long.
    pub(crate) fn has_states(&self) -> bool {
        self.has_states
    }

    /// Fixes the transaction time of `scope` and rounds it up to the last version of its commit.
    /// [`CommitVersion::MAX`] becomes the present version, or `None` if the engine has snapshots: a
    /// snapshot shows each commit wholly or not at all.
    fn settle(&self, mut scope: TemporalScope) -> Result<TemporalScope, GraphError> {
        if let Some(followed) = self.commits.followed() {
            let version = followed.position().version;
            if scope
                .transaction
                .is_none_or(|asked| asked == CommitVersion::MAX)
            {
                scope.transaction = Some(version);
                return Ok(scope);
            }
            // Whether it is in the future is for the leader's clock to say.
            if scope.transaction > Some(version) {
                return Err(followed.elsewhere());
            }
        }
        if scope.transaction == Some(CommitVersion::MAX) {
            let present = CommitVersion::last_at(self.now());
            scope.transaction = (!self.has_states()).then_some(present);
        }
        if let Some(version) = scope.transaction {
            if version > CommitVersion::last_at(self.now()) {
                return Err(GraphError::invalid(
                    "The as_of_tx must not lie in the future",
                ));
            }
            self.commits.fix(version)?;
            scope.transaction = Some(end_of_commit(self.reader(), version)?);
        }
        Ok(scope)
    }

    /// Whether commits list what they touch, for [`Graph::visit_changes`].
    pub(crate) fn keeps_changes(&self) -> bool {
        self.changes.is_on()
    }

    pub(crate) fn kept_changes(&self) -> &KeptChanges {
        &self.changes
    }

    /// The deriver of the graph's derived indexes.
    #[must_use]
    pub fn deriver(&self) -> Option<Arc<dyn Deriver>> {
        self.deriver.load().as_deref().cloned()
    }

    /// Replaces the deriver, and waits until every write that may use the old one has ended. The
    /// entries of stored elements stay; [`crate::index::rebuild_derived`] adds the missing ones.
    pub fn set_deriver(&self, deriver: Option<Arc<dyn Deriver>>) {
        self.deriver.store(deriver.map(Arc::new));
        self.present();
        self.await_older_writes();
    }

    /// Publishes the schema with the deriver's presentation: after a change of the deriver, and
    /// after the notes were stored by which servers that follow the graph present it.
    pub fn present(&self) {
        let schema = self.schema();
        let deriver = self.deriver();
        self.catalogue
            .present(deriver.and_then(|deriver| deriver.presentation(&schema)));
    }

    /// Waits until every write that may have begun with an older schema is stored or given up.
    pub(crate) fn await_older_writes(&self) {
        let wanted = vec![LatchKey::SCHEMA_EXCLUSIVE];
        // No deadline: the caller must not continue while such writes run.
        drop(deadline::without_end(|| self.latches.acquire(wanted)));
    }

    pub(crate) fn reader(&self) -> &dyn Reader {
        // A space reads the newest committed state. While a commit holds its latches, the rows that
        // it reads do not change.
        let space: &dyn Space = &*self.space;
        space
    }

    pub(crate) fn submit(&self, commit: Commit) -> Result<(), GraphError> {
        self.known.vertices.forget(&commit.batch);
        self.submit_new(commit)
    }

    /// [`Graph::submit`] for a commit whose vertices, if any, had no row before. Such vertices are
    /// not in [`KnownVertices`], so there is nothing to forget.
    pub(crate) fn submit_new(&self, mut commit: Commit) -> Result<(), GraphError> {
        fail_point::COMMIT_PREPARED.pass();
        commit.now = commit.now.max(self.snowflake.reached());
        let stored = self.known.numbers_bound.load(Ordering::Acquire);
        commit.additions.numbers_bound = self.numbers.put_bound(stored, &mut commit.batch);
        self.commits.submit(commit)
    }

    pub(crate) fn known_vertices(&self) -> &KnownVertices {
        &self.known.vertices
    }

    pub(crate) fn pairs(&self) -> &KnownPairs {
        &self.known.pairs
    }
}
