//! Optimistic transactions: changes on top of one view, committed together.
//!
//! A transaction reads one committed state and keeps its changes in memory, where its own reads see
//! them at once. It holds no latch until it commits. The commit checks, under the latches, that
//! every changed element still has the row that the transaction first read, and that the searches
//! that must find nothing ([`GraphWriter::expect_absent`](varve_view::GraphWriter)) still find
//! nothing. If a check fails, the commit is refused with [`ErrorKind::Conflict`] and stores
//! nothing, and the caller must run the transaction again. Only earlier commits in between
//! ([`CommitEvery`]) stay.
//!
//! This is snapshot isolation: two transactions that change different elements, each of which the
//! other has read, both commit (write skew).

mod adjacent;
mod budget;
mod commit;
mod index;
mod open;
mod overlay;
mod parts;
mod relabel;
mod schema;
mod writer;

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use parking_lot::RwLock;
use varve_encoding::key;
use varve_model::sortable::given_id;
use varve_model::{
    CommitVersion, Datum, Direction, Edge, EdgeId, Element, ElementId, Properties, TemporalScope,
    Value, Vertex, VertexId,
};

use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::hash::IdMap;
use crate::read::View;
use crate::schema::Schema;
use crate::write::{Absent, WritePeriod};
use adjacent::EdgesByKey;
pub use budget::{HeldBytes, HeldShare};
use index::ChangeIndex;
use schema::GrowingSchema;

/// Limits of one transaction.
#[derive(Debug, Clone)]
pub struct OptimisticLimits {
    /// The number of changed elements, including the edges that are removed with a vertex.
    pub elements_max: usize,
    /// Estimated bytes: of each loaded element, of its state after each change (every change counts
    /// anew), and of the searches that must find nothing.
    pub bytes_max: usize,
    /// The memory budget that all transactions share; `None`: no limit.
    pub all: Option<Arc<HeldBytes>>,
}

impl OptimisticLimits {
    /// The default of `elements_max`.
    pub const ELEMENTS_MAX: usize = 100_000;
    /// The default of `bytes_max`: 64 MiB.
    pub const BYTES_MAX: usize = 64 << 20;
}

impl Default for OptimisticLimits {
    fn default() -> Self {
        Self {
            elements_max: Self::ELEMENTS_MAX,
            bytes_max: Self::BYTES_MAX,
            all: None,
        }
    }
}

/// The options of commits in between: the transaction commits its changes so far and continues on
/// the state after that commit.
#[derive(Clone)]
pub struct CommitEvery {
    /// The number of changed elements at which the transaction commits, before it changes another
    /// one; `None`: it commits only where it is told to
    /// ([`GraphWriter::commit_part`](varve_view::GraphWriter::commit_part)).
    pub elements: Option<usize>,
    /// The valid time of the changes.
    pub period: WritePeriod,
    /// Called before each commit in between; its error prevents the commit.
    pub check: Option<PartCheck>,
}

/// A check that may refuse a commit in between.
pub type PartCheck = Arc<dyn Fn() -> Result<(), GraphError> + Send + Sync>;

/// Uncommitted changes of a graph, on top of one view of it.
pub struct OptimisticTransaction {
    graph: Arc<Graph>,
    /// The committed state at the transaction's start, or after its last commit in between.
    base: ArcSwap<View>,
    schema: GrowingSchema,
    limits: OptimisticLimits,
    state: RwLock<TransactionState>,
}

/// The changes of a transaction since its start or its last commit in between.
#[derive(Default)]
struct TransactionState {
    vertices: IdMap<VertexId, Changed<Vertex>>,
    edges: IdMap<EdgeId, Changed<Edge>>,
    /// The loaded edges at each vertex, by the vertex's key.
    adjacent: IdMap<Vec<u8>, EdgesByKey>,
    /// The changed elements, in the order of their first changes.
    order: Vec<ElementId>,
    index: ChangeIndex,
    /// The loaded edges with a given id, by that id.
    given: IdMap<VertexId, Vec<EdgeId>>,
    changes: u64,
    /// [`TransactionState::changes`] at the last commit in between.
    committed: u64,
    /// The version of the last commit in between that stored something.
    last_part: Option<CommitVersion>,
    every: Option<CommitEvery>,
    bytes: usize,
    /// The share of the budget of all transactions that holds `bytes`.
    share: Option<HeldShare>,
    expected: Vec<Absent>,
}

/// A loaded element and its changes.
struct Changed<T> {
    /// The version of the row when the element was loaded. `Some(None)`: it had no row. `None`: its
    /// id was just generated, so no row was read.
    seen: Option<Option<CommitVersion>>,
    /// Its state in the view.
    base: Option<T>,
    /// Its state with the changes.
    now: Option<T>,
    /// [`TransactionState::changes`] after its first and its last change; 0 before them.
    first: u64,
    last: u64,
    /// Its position in [`TransactionState::order`]; 0 before its first change.
    place: usize,
    /// The changes of its properties: a commit with a period applies them to every state in the
    /// period.
    steps: Vec<Step>,
    /// Whether the commit replaces it as a whole: it was added over a stored one, or was removed at
    /// least once.
    is_replaced: bool,
}

/// A change of an element's properties.
type Step = Arc<dyn Fn(Option<Element>) -> Result<Element, GraphError> + Send + Sync>;

impl Graph {
    /// Begins a transaction on the current committed state.
    ///
    /// # Errors
    /// When the store fails.
    pub fn begin(
        self: &Arc<Self>,
        limits: OptimisticLimits,
    ) -> Result<OptimisticTransaction, GraphError> {
        // The transaction time is fixed: on an engine without snapshots, reads of the present would
        // see later commits.
        let scope = TemporalScope {
            valid: None,
            transaction: Some(CommitVersion::MAX),
        };
        Ok(self.begin_on(self.view(scope)?, limits))
    }

    /// Begins a transaction on a view of the present.
    #[must_use]
    pub fn begin_on(
        self: &Arc<Self>,
        base: View,
        limits: OptimisticLimits,
    ) -> OptimisticTransaction {
        let state = TransactionState {
            share: limits.all.clone().map(HeldBytes::share),
            ..TransactionState::default()
        };
        OptimisticTransaction {
            graph: Arc::clone(self),
            schema: GrowingSchema::new(self.schema()),
            base: ArcSwap::from_pointee(base),
            limits,
            state: RwLock::new(state),
        }
    }
}

impl OptimisticTransaction {
    /// Whether the transaction has changes that are not committed.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        !self.state.read().order.is_empty()
    }

    /// Sets whether to commit in between. A transaction with [`CommitEvery::elements`] also commits
    /// when half of [`OptimisticLimits::bytes_max`] is used, or when the next change would exceed
    /// [`OptimisticLimits::elements_max`]. If it fails later, its commits stay.
    pub fn commit_every(&self, every: Option<CommitEvery>) {
        self.state.write().every = every;
    }

    /// Whether a commit in between has stored changes.
    #[must_use]
    pub fn has_committed(&self) -> bool {
        self.last_part().is_some()
    }

    /// The version of the last commit in between that has stored changes.
    #[must_use]
    pub fn last_part(&self) -> Option<CommitVersion> {
        self.state.read().last_part
    }

    fn base(&self) -> Guard<Arc<View>> {
        self.base.load()
    }

    /// Continues with a newer schema.
    ///
    /// # Errors
    /// When the schema has changed too often in this transaction.
    pub fn renew(&self, schema: &Arc<Schema>) -> Result<(), GraphError> {
        self.schema.renew(schema)
    }

    /// The state of a vertex, with the changes.
    fn vertex(&self, id: &VertexId) -> Result<Option<Vertex>, GraphError> {
        if let Some(changed) = self.state.read().vertices.get(id) {
            return Ok(changed.now.clone());
        }
        self.base().vertex(id)
    }

    /// The state of a loaded edge, with the changes; `None` also if the edge is not loaded.
    fn loaded_edge(&self, id: &EdgeId) -> Option<Edge> {
        self.state.read().edges.get(id)?.now.clone()
    }

    /// Reads a vertex before its first change.
    fn load_vertex(&self, id: &VertexId) -> Result<(), GraphError> {
        if self.state.read().vertices.contains_key(id) {
            return Ok(());
        }
        let (seen, element) = self
            .base()
            .state(self.graph.name(), &ElementId::Vertex(id.clone()))?;
        let base = match element {
            Some(Element::Vertex(vertex)) => Some(vertex),
            _ => None,
        };
        self.state.write().load_vertex(id, Some(seen), base);
        Ok(())
    }

    /// Reads an edge before its first change.
    fn load_edge(&self, id: &EdgeId) -> Result<(), GraphError> {
        if self.state.read().edges.contains_key(id) {
            return Ok(());
        }
        let (seen, element) = self
            .base()
            .state(self.graph.name(), &ElementId::Edge(id.clone()))?;
        let base = match element {
            Some(Element::Edge(edge)) => Some(edge),
            _ => None,
        };
        self.state.write().load_edge(id, Some(seen), base);
        Ok(())
    }

    /// Sets the state of a loaded vertex.
    fn change_vertex(&self, id: &VertexId, now: Option<Vertex>) -> Result<(), GraphError> {
        let state = &mut *self.state.write();
        let bytes = now.as_ref().map_or(0, |vertex| size_of(&vertex.properties));
        state.admit(ElementId::Vertex(id.clone()), bytes, &self.limits)?;
        if let Some(changed) = state.vertices.get_mut(id) {
            changed.set(now, state.changes, state.order.len());
            if let Some(vertex) = &changed.now {
                state.index.add_vertex(changed.place, vertex);
            }
        }
        Ok(())
    }

    /// Sets the state of a loaded edge.
    fn change_edge(&self, id: &EdgeId, now: Option<Edge>) -> Result<(), GraphError> {
        let state = &mut *self.state.write();
        let bytes = now.as_ref().map_or(0, |edge| size_of(&edge.properties));
        state.admit(ElementId::Edge(id.clone()), bytes, &self.limits)?;
        if let Some(changed) = state.edges.get_mut(id) {
            changed.set(now, state.changes, state.order.len());
            if let Some(edge) = &changed.now {
                state.index.add_edge(changed.place, edge);
            }
        }
        Ok(())
    }
}

impl TransactionState {
    fn load_vertex(
        &mut self,
        id: &VertexId,
        seen: Option<Option<CommitVersion>>,
        base: Option<Vertex>,
    ) {
        self.bytes += base
            .as_ref()
            .map_or(0, |vertex| size_of(&vertex.properties));
        self.vertices
            .insert(id.clone(), Changed::unchanged(seen, base));
    }

    fn load_edge(&mut self, id: &EdgeId, seen: Option<Option<CommitVersion>>, base: Option<Edge>) {
        self.bytes += base.as_ref().map_or(0, |edge| size_of(&edge.properties));
        self.edges
            .insert(id.clone(), Changed::unchanged(seen, base));
        if let Some(given) = given_id(&id.sort_values) {
            self.given.entry(given).or_default().push(id.clone());
        }
        for direction in [Direction::Out, Direction::In] {
            let owner = key::vertex_id(id.owner(direction));
            let key = key::edge_clustering(id, direction);
            self.adjacent
                .entry(owner)
                .or_default()
                .insert(key, id.clone());
        }
    }

    /// Records a change of a loaded element's properties.
    fn keep_step(&mut self, id: &ElementId, step: Step) {
        let steps = match id {
            ElementId::Vertex(id) => self.vertices.get_mut(id).map(|own| &mut own.steps),
            ElementId::Edge(id) => self.edges.get_mut(id).map(|own| &mut own.steps),
        };
        if let Some(steps) = steps {
            steps.push(step);
        }
    }

    /// Makes the commit replace an element as a whole.
    fn replace(&mut self, id: &ElementId) {
        let is_replaced = match id {
            ElementId::Vertex(id) => self.vertices.get_mut(id).map(|own| &mut own.is_replaced),
            ElementId::Edge(id) => self.edges.get_mut(id).map(|own| &mut own.is_replaced),
        };
        if let Some(is_replaced) = is_replaced {
            *is_replaced = true;
        }
    }

    /// Counts a change, or refuses it if it exceeds a limit of the transaction or the shared
    /// budget.
    fn admit(
        &mut self,
        id: ElementId,
        bytes: usize,
        limits: &OptimisticLimits,
    ) -> Result<(), GraphError> {
        let is_first = match &id {
            ElementId::Vertex(id) => self.vertices.get(id).is_some_and(|known| known.last == 0),
            ElementId::Edge(id) => self.edges.get(id).is_some_and(|known| known.last == 0),
        };
        if is_first && self.order.len() >= limits.elements_max {
            return Err(GraphError::new(
                ErrorKind::LimitExceeded,
                format!(
                    "A transaction may change {} elements (gremlin.transaction_elements_max): \
                     commit in between, as with('commit_every', n) does, or Cypher's CALL {{ … }} \
                     IN TRANSACTIONS",
                    limits.elements_max
                ),
            ));
        }
        if self.bytes.saturating_add(bytes) > limits.bytes_max {
            return Err(GraphError::new(
                ErrorKind::LimitExceeded,
                format!(
                    "A transaction may change elements of {} bytes (gremlin.transaction_bytes_max): \
                     commit in between, as with('commit_every', n) does, or Cypher's CALL {{ … }} \
                     IN TRANSACTIONS",
                    limits.bytes_max
                ),
            ));
        }
        if let Some(share) = &mut self.share {
            share.resize(self.bytes + bytes)?;
        }
        self.bytes += bytes;
        self.changes += 1;
        if is_first {
            self.order.push(id);
        }
        Ok(())
    }
}

impl<T> Changed<T>
where
    T: Clone,
{
    fn unchanged(seen: Option<Option<CommitVersion>>, base: Option<T>) -> Self {
        Self {
            seen,
            now: base.clone(),
            base,
            first: 0,
            last: 0,
            place: 0,
            steps: Vec::new(),
            is_replaced: false,
        }
    }

    /// Sets the state. `order`: the number of changed elements, including this one.
    fn set(&mut self, now: Option<T>, changes: u64, order: usize) {
        self.is_replaced |= now.is_none();
        self.now = now;
        self.last = changes;
        if self.first == 0 {
            self.first = changes;
            self.place = order - 1;
        }
    }
}

/// Bytes of an element in memory without its properties, with its index entries.
const ELEMENT_BYTES: usize = 384;
/// Bytes of a property without its value, with its index entry.
const PROPERTY_BYTES: usize = 80;
/// Bytes of a search that must find nothing, and is repeated when the transaction commits.
const SEARCH_BYTES: usize = 1_024;
/// Bytes of a member of a collection, without its text.
const MEMBER_BYTES: usize = 64;

/// Estimates the bytes of an element with these properties.
fn size_of(properties: &Properties) -> usize {
    let each = properties
        .iter()
        .map(|(_, stored)| PROPERTY_BYTES + size_of_value(stored));
    ELEMENT_BYTES + each.sum::<usize>()
}

fn size_of_value(value: &Value) -> usize {
    let each = |items: &mut dyn Iterator<Item = &Value>| -> usize {
        items.map(|item| MEMBER_BYTES + size_of_value(item)).sum()
    };
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::List(items) | Value::Set(items) => each(&mut items.iter()),
        Value::Map(entries) => each(&mut entries.iter().flat_map(|(key, value)| [key, value])),
        Value::Many(many) => {
            let each = many.values().iter();
            each.map(|one| MEMBER_BYTES + size_of_value(&one.value) + size_of(&one.meta))
                .sum()
        }
        Value::Object(datum) => size_of_datum(datum),
        Value::BigInt(number) => usize::try_from(number.bits() / 8).unwrap_or(usize::MAX),
        Value::BigDecimal(number) => {
            let (digits, _) = number.as_bigint_and_exponent();
            usize::try_from(digits.bits() / 8).unwrap_or(usize::MAX)
        }
        _ => 0,
    }
}

fn size_of_datum(datum: &Datum) -> usize {
    match datum {
        Datum::Text(text) => text.len(),
        Datum::List(items) => items
            .iter()
            .map(|item| MEMBER_BYTES + size_of_datum(item))
            .sum(),
        Datum::Map(members) => {
            let each = members.iter();
            each.map(|(name, value)| MEMBER_BYTES + name.len() + size_of_datum(value))
                .sum()
        }
        _ => 0,
    }
}
