//! The catalogue, through which all changes of a graph's schema go.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, Guard};
use parking_lot::Mutex;
use varve_kv::{
    Batch, ClusteringRange, Durability, ReaderExt, ScanRequest, Space, TableId, fail_point,
};
use varve_model::{Clock, EdgeLabel, IndexLabel, PropertyKey, VertexLabel};

use super::definition::{self, Definition};
use super::draft::{Draft, LAST_ID, LastIds};
use super::kind::SchemaKind;
use super::mode::{GraphMode, ReadMode};
use super::note::note_changed;
use super::open::FirstUse;
use super::presentation::Presentation;
use super::record::Record;
use super::request::{
    Action, EdgeLabelChange, IndexLabelChange, NewEdgeLabel, NewIndexLabel, NewPropertyKey,
    NewVertexLabel, PropertyKeyChange, VertexLabelChange, WithTask,
};
use super::snapshot::Schema;
use super::{edge_label, index_label, open, property_key, vertex_label};
use crate::tasks::Tasks;
use crate::{ErrorKind, GraphError};

/// The tables of a schema.
#[derive(Debug, Clone, Copy)]
pub struct SchemaTables {
    /// Records: partition kind (1 byte), clustering id (4 bytes big endian).
    pub schema: TableId,
    /// The last id assigned in each kind: partition kind, empty clustering, 8 bytes big endian.
    pub counter: TableId,
    /// Settings, including the schema's mode.
    pub meta: TableId,
}

impl Default for SchemaTables {
    fn default() -> Self {
        Self {
            schema: varve_encoding::tables::SCHEMA,
            counter: varve_encoding::tables::COUNTER,
            meta: varve_encoding::tables::META,
        }
    }
}

/// The schema of one graph: look-ups read an immutable snapshot, and changes are applied one at a
/// time.
///
/// A change is stored durably, together with the tasks that complete it, before it becomes visible.
/// After a crash in between, it is visible when the graph is opened again. A change that could not
/// be stored never becomes visible.
pub struct Catalogue {
    space: Arc<dyn Space>,
    tables: SchemaTables,
    graph_name: String,
    clock: Arc<dyn Clock>,
    tasks: Arc<Tasks>,
    current: ArcSwap<Schema>,
    /// The version of `current`; for a moment during a change, the previous version.
    version: AtomicU64,
    /// The last assigned ids; its lock serializes changes of the schema.
    last_ids: Mutex<LastIds>,
    /// The index of the graph's mode in [`GraphMode::ALL`]. It has no lock, since every write reads
    /// it.
    mode: AtomicU8,
    /// When mode LOADING was set or a write last saw it, in microseconds since 1970.
    loaded: AtomicI64,
    /// The most labels and keys of an open schema.
    open_schema_max: AtomicUsize,
    /// Lists changes, if the graph records changes.
    lister: OnceLock<Box<Lister>>,
    /// Changed elements that could not be listed yet.
    unlisted: Mutex<Vec<(SchemaKind, u32)>>,
}

/// Lists changed elements. Returns whether it succeeded.
pub(crate) type Lister = dyn Fn(&[(SchemaKind, u32)]) -> bool + Send + Sync;

/// How long a graph stays in mode LOADING after its last write (microseconds).
const LOADING_LAPSES_AFTER: i64 = 3_600_000_000;

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue")
            .field("graph", &self.graph_name)
            .field("version", &self.current().version())
            .finish_non_exhaustive()
    }
}

impl Catalogue {
    /// Reads the schema of a graph from its space. `graph_name` appears in messages.
    ///
    /// # Errors
    /// When records cannot be read or are damaged.
    pub fn open(
        space: Arc<dyn Space>,
        tables: SchemaTables,
        graph_name: &str,
        clock: Arc<dyn Clock>,
        tasks: Arc<Tasks>,
    ) -> Result<Self, GraphError> {
        let mut schema = Schema::default();
        schema.set_mode(open::stored_mode(&*space, tables)?);
        let mut last_ids = LastIds::default();
        for kind in SchemaKind::ALL {
            let last = &mut last_ids[kind as usize - 1];
            *last = read_last_id(&*space, tables, kind)?;
            let greatest = match kind {
                SchemaKind::PropertyKey => load::<PropertyKey>(&*space, tables, &mut schema)?,
                SchemaKind::VertexLabel => load::<VertexLabel>(&*space, tables, &mut schema)?,
                SchemaKind::EdgeLabel => load::<EdgeLabel>(&*space, tables, &mut schema)?,
                SchemaKind::IndexLabel => load::<IndexLabel>(&*space, tables, &mut schema)?,
            };
            *last = greatest.max(*last);
        }
        load_definitions(&*space, tables, &mut schema)?;
        Ok(Self {
            space,
            tables,
            graph_name: graph_name.to_owned(),
            clock,
            tasks,
            version: AtomicU64::new(schema.version()),
            current: ArcSwap::from_pointee(schema),
            last_ids: Mutex::new(last_ids),
            mode: AtomicU8::new(GraphMode::default() as u8),
            loaded: AtomicI64::new(0),
            open_schema_max: AtomicUsize::new(open::OPEN_SCHEMA_MAX),
            lister: OnceLock::new(),
            unlisted: Mutex::default(),
        })
    }

    /// Registers `lister` to list every change before the change becomes visible. Only the first
    /// call has an effect.
    pub(crate) fn list_by(&self, lister: Box<Lister>) {
        let _ = self.lister.set(lister);
    }

    /// Returns the current schema. This costs one atomic increment, so a request should call it
    /// once and keep the result.
    #[must_use]
    pub fn current(&self) -> Arc<Schema> {
        self.current.load_full()
    }

    /// Returns the current schema for the duration of one write. Unlike [`Catalogue::current`], it
    /// increments no reference count, whose cache line all cores would write.
    pub(crate) fn current_guard(&self) -> Guard<Arc<Schema>> {
        self.current.load()
    }

    /// Returns the version of the current schema, to check whether a snapshot is still the newest.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The tasks that complete changes.
    #[must_use]
    pub const fn tasks(&self) -> &Arc<Tasks> {
        &self.tasks
    }

    /// Returns how the graph treats writes.
    #[must_use]
    pub fn mode(&self) -> GraphMode {
        match GraphMode::ALL[usize::from(self.mode.load(Ordering::Acquire))] {
            GraphMode::Loading if self.is_loading_over() => GraphMode::None,
            mode => mode,
        }
    }

    /// [`Catalogue::mode`] for a write, which keeps mode LOADING from lapsing.
    #[must_use]
    pub fn mode_of_write(&self) -> GraphMode {
        let mode = self.mode();
        if mode == GraphMode::Loading {
            self.loaded.store(self.clock.now().0, Ordering::Relaxed);
        }
        mode
    }

    fn is_loading_over(&self) -> bool {
        let idle = self.clock.now().0 - self.loaded.load(Ordering::Relaxed);
        idle > LOADING_LAPSES_AFTER
    }

    /// Sets how the graph treats writes.
    pub fn set_mode(&self, mode: GraphMode) {
        self.loaded.store(self.clock.now().0, Ordering::Relaxed);
        self.mode.store(mode as u8, Ordering::Release);
    }

    /// Returns which properties are visible to queries.
    #[must_use]
    pub fn read_mode(&self) -> ReadMode {
        self.current.load().read_mode()
    }

    /// Sets which properties are visible to queries.
    pub fn set_read_mode(&self, mode: ReadMode) {
        // The lock blocks changes of the schema.
        let _changes = self.last_ids.lock();
        let mut schema = Schema::clone(&self.current.load());
        schema.set_read_mode(mode);
        schema.next_version();
        let version = schema.version();
        self.current.store(Arc::new(schema));
        self.version.store(version, Ordering::Release);
    }

    /// Sets how queries see the elements of the graph; `None` = as they are stored.
    pub(crate) fn present(&self, presentation: Option<Presentation>) {
        if presentation.is_none() && self.current.load().presentation().is_none() {
            return;
        }
        // The lock blocks changes of the schema.
        let _changes = self.last_ids.lock();
        let mut schema = Schema::clone(&self.current.load());
        schema.present(presentation.map(Arc::new));
        schema.next_version();
        let version = schema.version();
        self.current.store(Arc::new(schema));
        self.version.store(version, Ordering::Release);
    }

    /// Applies one change: `apply` makes the draft, which is then stored and published. If `apply`
    /// fails or changes nothing, nothing is stored.
    pub(super) fn change<T>(
        &self,
        apply: impl FnOnce(&mut Draft<'_>) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        self.change_by(None, apply)
    }

    /// As [`Catalogue::change`]; the tasks of the change belong to `owner`.
    pub(super) fn change_by<T>(
        &self,
        owner: Option<&str>,
        apply: impl FnOnce(&mut Draft<'_>) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        let mut last_ids = self.last_ids.lock();
        let mut draft = Draft {
            schema: Schema::clone(&self.current.load()),
            batch: Batch::new(),
            changed: Vec::new(),
            last_ids: *last_ids,
            submission: None,
            owner,
            now: self.clock.now(),
            mode: self.mode(),
            graph_name: &self.graph_name,
            tables: self.tables,
            tasks: &self.tasks,
        };
        let outcome = apply(&mut draft)?;
        definition::serve_changed(&mut draft, &self.current.load())?;
        if let Some(submission) = &draft.submission {
            submission.write_into(&mut draft.batch);
        }
        if draft.batch.is_empty() {
            return Ok(outcome);
        }
        let lister = self.lister.get().filter(|_| !draft.changed.is_empty());
        let mut unlisted = self.unlisted.lock();
        if lister.is_some() {
            draft.changed.extend(unlisted.iter());
            note_changed(&mut draft.batch, &draft.changed);
        }
        self.space.write(&draft.batch, Durability::Sync)?;
        fail_point::SCHEMA_STORED.pass();
        if let Some(list) = lister {
            // Changes that could not be listed stay in `unlisted`, and the next change lists them,
            // too.
            *unlisted = match list(&draft.changed) {
                true => Vec::new(),
                false => std::mem::take(&mut draft.changed),
            };
        }
        drop(unlisted);
        *last_ids = draft.last_ids;
        draft.schema.next_version();
        let version = draft.schema.version();
        self.current.store(Arc::new(draft.schema));
        self.version.store(version, Ordering::Release);
        // After the publication, since a task must find the element that it is about.
        if let Some(submission) = draft.submission {
            fail_point::SCHEMA_CHANGED.pass();
            submission.commit();
            fail_point::TASK_QUEUED.pass();
        }
        Ok(outcome)
    }

    /// Creates a property key.
    ///
    /// # Errors
    /// When a rule is violated or the change cannot be stored. This holds for every change below.
    pub fn create_property_key(
        &self,
        new: NewPropertyKey,
    ) -> Result<WithTask<PropertyKey>, GraphError> {
        self.change(|draft| property_key::create(draft, new))
    }

    /// Changes a property key's user data.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`]; [`ErrorKind::NotFound`] when there is no key with
    /// that name.
    pub fn change_property_key(
        &self,
        action: Action,
        change: PropertyKeyChange,
    ) -> Result<Arc<PropertyKey>, GraphError> {
        self.change(|draft| property_key::change(draft, action, change))
    }

    /// Creates a vertex label.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`].
    pub fn create_vertex_label(&self, new: NewVertexLabel) -> Result<Arc<VertexLabel>, GraphError> {
        self.change(|draft| vertex_label::create(draft, new))
    }

    /// Creates the elements that do not exist yet, in one change: property keys, then vertex
    /// labels, then edge labels.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`].
    pub fn create_many(
        &self,
        property_keys: Vec<NewPropertyKey>,
        vertex_labels: Vec<NewVertexLabel>,
        edge_labels: Vec<NewEdgeLabel>,
    ) -> Result<(), GraphError> {
        if property_keys.is_empty() && vertex_labels.is_empty() && edge_labels.is_empty() {
            return Ok(());
        }
        self.change(|draft| {
            for new in property_keys {
                property_key::create(draft, new)?;
            }
            for new in vertex_labels {
                vertex_label::create(draft, new)?;
            }
            for new in edge_labels {
                edge_label::create(draft, new)?;
            }
            Ok(())
        })
    }

    /// Returns a schema that contains everything in `used`. Missing labels and keys are created and
    /// stored before this returns, and stay even if the data that needs them is never committed. If
    /// nothing is missing, the cost is some look-ups.
    ///
    /// A key has the type of its first value. A value of another type turns it into a key of type
    /// OBJECT, which takes any value; no row is rewritten.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllowed`] in a graph whose schema is declared, and for a value of another
    /// type where an index, an id, a sort key or a time to live needs the key's type;
    /// [`ErrorKind::LimitExceeded`] over `gremlin.open_schema_max` labels and keys; else as
    /// [`Catalogue::create_property_key`].
    pub fn ensure(&self, used: &FirstUse<'_>) -> Result<Arc<Schema>, GraphError> {
        let current = self.current();
        if open::has_all(&current, used) {
            return Ok(current);
        }
        let max = self.open_schema_max.load(Ordering::Relaxed);
        self.change(|draft| open::make(draft, used, max))?;
        Ok(self.current())
    }

    /// Sets the most labels and keys that the graph may have for further ones to be created on
    /// first use.
    pub fn set_open_schema_max(&self, max: usize) {
        self.open_schema_max.store(max, Ordering::Relaxed);
    }

    /// Changes a vertex label.
    ///
    /// # Errors
    /// As [`Catalogue::change_property_key`].
    pub fn change_vertex_label(
        &self,
        action: Action,
        change: VertexLabelChange,
    ) -> Result<Arc<VertexLabel>, GraphError> {
        self.change(|draft| vertex_label::change(draft, action, change))
    }

    /// Creates an edge label.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`]; [`ErrorKind::NotFound`] for an unknown parent.
    pub fn create_edge_label(&self, new: NewEdgeLabel) -> Result<Arc<EdgeLabel>, GraphError> {
        self.change(|draft| edge_label::create(draft, new))
    }

    /// Changes an edge label.
    ///
    /// # Errors
    /// As [`Catalogue::change_property_key`].
    pub fn change_edge_label(
        &self,
        action: Action,
        change: EdgeLabelChange,
    ) -> Result<Arc<EdgeLabel>, GraphError> {
        self.change(|draft| edge_label::change(draft, action, change))
    }

    /// Creates an index label. The task that comes with it indexes existing elements.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`].
    pub fn create_index_label(
        &self,
        new: NewIndexLabel,
    ) -> Result<WithTask<IndexLabel>, GraphError> {
        self.change(|draft| index_label::create(draft, new, false))
    }

    /// Changes an index label's user data.
    ///
    /// # Errors
    /// As [`Catalogue::change_property_key`].
    pub fn change_index_label(
        &self,
        action: Action,
        change: IndexLabelChange,
    ) -> Result<Arc<IndexLabel>, GraphError> {
        self.change(|draft| index_label::change(draft, action, change))
    }
}

fn load_definitions(
    space: &dyn Space,
    tables: SchemaTables,
    schema: &mut Schema,
) -> Result<(), GraphError> {
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: tables.meta,
        partition: definition::PARTITION,
        range: &range,
        reverse: false,
    };
    let mut read = Vec::new();
    space.scan(request, &mut |key, value| {
        read.push(Definition::from_row(key, value));
        ControlFlow::Continue(())
    })?;
    for definition in read {
        schema.put_definition(definition?);
    }
    Ok(())
}

pub(super) fn damaged(what: &str) -> GraphError {
    GraphError::new(
        ErrorKind::Storage,
        format!("Stored data is damaged: {what}"),
    )
}

fn read_last_id(
    space: &dyn Space,
    tables: SchemaTables,
    kind: SchemaKind,
) -> Result<u32, GraphError> {
    let stored = space.get(tables.counter, &[kind.byte()], LAST_ID)?;
    let Some(bytes) = stored else {
        return Ok(0);
    };
    let id: Option<[u8; 8]> = bytes.try_into().ok();
    id.and_then(|id| u32::try_from(u64::from_be_bytes(id)).ok())
        .ok_or_else(|| damaged(&format!("the counter of {} ids", kind.readable())))
}

/// Reads every record of a kind into a snapshot. Returns the greatest id.
fn load<T: Record>(
    space: &dyn Space,
    tables: SchemaTables,
    schema: &mut Schema,
) -> Result<u32, GraphError> {
    let range = ClusteringRange::all();
    let request = ScanRequest {
        table: tables.schema,
        partition: &[T::KIND.byte()],
        range: &range,
        reverse: false,
    };
    let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    space.scan(request, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    let mut greatest = 0;
    for (key, value) in rows {
        let id: Option<[u8; 4]> = key.try_into().ok();
        let id = id.map(u32::from_be_bytes);
        let id = id.ok_or_else(|| damaged(&format!("the key of a {}", T::KIND.readable())))?;
        let record = varve_encoding::datum::decode(&value)?;
        T::from_record(id, &record)?.place(schema);
        greatest = greatest.max(id);
    }
    Ok(greatest)
}
