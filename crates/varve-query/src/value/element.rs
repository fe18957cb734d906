//! Elements of the graph as values: handles with an id and the content that a query has read.

use std::sync::{Arc, OnceLock};

use compact_str::CompactString;
use varve_model::many::values_of;
use varve_model::sortable::given_id;
use varve_model::{
    Direction, EdgeId, EdgeLabelId, Properties, PropertyKeyId, VertexId, VertexLabelId,
};

use super::{Value, Walked};

/// A change number after all others: content with this number is never replaced.
const DETACHED: u64 = u64::MAX;

/// The label and the properties of a vertex, limited to those that the query reads.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexContent {
    /// The label.
    pub label: VertexLabelId,
    /// The properties that the query reads.
    pub properties: Properties,
}

/// A vertex of the graph.
#[derive(Debug)]
pub struct VertexHandle {
    id: VertexId,
    label: Option<VertexLabelId>,
    content: OnceLock<Option<VertexContent>>,
    /// The same vertex as of a later change of this query, and the number of the change.
    newer: OnceLock<(u64, Arc<Self>)>,
}

impl Drop for VertexHandle {
    /// Unlinks the chain in a loop: recursion would exhaust the stack.
    fn drop(&mut self) {
        let mut next = self.newer.take();
        while let Some((_, handle)) = next {
            next = match Arc::try_unwrap(handle) {
                Ok(mut last) => last.newer.take(),
                Err(_) => None,
            };
        }
    }
}

impl Drop for EdgeHandle {
    /// As for [`VertexHandle`].
    fn drop(&mut self) {
        let mut next = self.newer.0.take();
        while let Some((_, handle)) = next {
            next = match Arc::try_unwrap(handle) {
                Ok(mut last) => last.newer.0.take(),
                Err(_) => None,
            };
        }
    }
}

impl VertexHandle {
    /// A vertex whose content is not read. The label is known if the vertex was reached by an edge.
    #[must_use]
    pub const fn new(id: VertexId, label: Option<VertexLabelId>) -> Self {
        Self {
            id,
            label,
            content: OnceLock::new(),
            newer: OnceLock::new(),
        }
    }

    /// A vertex whose content was read.
    #[must_use]
    pub fn read(id: VertexId, content: VertexContent) -> Self {
        let handle = Self::new(id, Some(content.label));
        handle.fill(Some(content));
        handle
    }

    /// A vertex at another point of both times than that of the query: it is never read again.
    #[must_use]
    pub fn detached(id: VertexId, content: VertexContent) -> Self {
        let then = Arc::new(Self::read(id.clone(), content));
        let handle = Self::new(id, None);
        let _ = handle.newer.set((DETACHED, then));
        handle
    }

    /// The state of a detached vertex.
    pub(super) fn other_state(&self) -> Option<&VertexContent> {
        match self.newer.get() {
            Some((DETACHED, then)) => then.content()?,
            _ => None,
        }
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> &VertexId {
        &self.id
    }

    /// The label, if it is known.
    #[must_use]
    pub fn label(&self) -> Option<VertexLabelId> {
        let latest = self.latest();
        let read = || latest.content.get()?.as_ref().map(|content| content.label);
        latest.label.or_else(read)
    }

    fn latest(&self) -> &Self {
        let mut latest = self;
        while let Some((_, newer)) = latest.newer.get() {
            latest = newer;
        }
        latest
    }

    /// Discards content that was read before the change with this number.
    pub(crate) fn renew(&self, change: u64) {
        let mut latest = self;
        let mut known = 0;
        while let Some((own, newer)) = latest.newer.get() {
            (latest, known) = (newer, *own);
        }
        if known < change {
            let newer = Arc::new(Self::new(self.id.clone(), None));
            // Cannot fail: only one thread runs a query.
            let _ = latest.newer.set((change, newer));
        }
    }

    /// The content that was read: `None` = not read yet, `Some(None)` = the vertex does not exist.
    #[must_use]
    pub fn content(&self) -> Option<Option<&VertexContent>> {
        self.latest().content.get().map(Option::as_ref)
    }

    /// Stores the content that was read, unless there is content already.
    pub fn fill(&self, content: Option<VertexContent>) {
        // If content is there, it is equal: both were read from one view.
        let _ = self.latest().content.set(content);
    }
}

/// An edge of the graph.
#[derive(Debug)]
pub struct EdgeHandle {
    /// The id.
    pub id: EdgeId,
    /// Whether the writer of the edge gave it an id of its own, which is part of `id`.
    pub is_given: bool,
    /// The label's name.
    pub label_name: CompactString,
    /// The label of its source.
    pub source_label: VertexLabelId,
    /// The label of its target.
    pub target_label: VertexLabelId,
    /// The properties that the query reads, as they were when the edge was read.
    pub properties: Properties,
    /// The same edge as of a later change of this query.
    pub newer: NewerEdge,
}

/// An edge as of a later change of its query, and the number of the change.
#[derive(Debug, Default)]
pub struct NewerEdge(OnceLock<(u64, Arc<EdgeHandle>)>);

impl EdgeHandle {
    /// Marks the edge as one at another point of both times than that of the query.
    #[must_use]
    pub fn detached(self) -> Self {
        let then = Arc::new(Self {
            id: self.id.clone(),
            label_name: self.label_name.clone(),
            newer: NewerEdge::default(),
            properties: self.properties.clone(),
            ..self
        });
        let _ = self.newer.0.set((DETACHED, then));
        self
    }

    /// The id that the writer of the edge gave, if it gave one.
    #[must_use]
    pub fn given_id(&self) -> Option<VertexId> {
        match self.is_given {
            true => given_id(&self.id.sort_values),
            false => None,
        }
    }

    /// The id as clients see it: the one that the writer of the edge gave, else the whole
    /// [`EdgeId`] as text.
    #[must_use]
    pub fn id_value(&self) -> Value {
        match self.given_id() {
            Some(given) => Value::of_id(&given),
            None => Value::text(&self.id.to_string()),
        }
    }

    /// The properties of a detached edge.
    pub(super) fn other_state(&self) -> Option<&Properties> {
        match self.newer.0.get() {
            Some((DETACHED, then)) => Some(&then.properties),
            _ => None,
        }
    }

    fn latest(&self) -> (u64, &Self) {
        let (mut known, mut latest) = (0, self);
        while let Some((own, newer)) = latest.newer.0.get() {
            (known, latest) = (*own, newer);
        }
        (known, latest)
    }

    /// The properties that the query reads.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.latest().1.properties
    }

    /// Whether the edge was read before the change with this number.
    pub(crate) fn is_older(&self, change: u64) -> bool {
        self.latest().0 < change
    }

    /// Stores the edge as it was read after the change with this number.
    pub(crate) fn renew(&self, change: u64, newer: Arc<Self>) {
        // Cannot fail: only one thread runs a query.
        let _ = self.latest().1.newer.0.set((change, newer));
    }

    /// The label.
    #[must_use]
    pub const fn label(&self) -> EdgeLabelId {
        self.id.label
    }

    /// The vertex at one end: the source for OUT, the target for IN.
    #[must_use]
    pub fn end(&self, direction: Direction) -> Value {
        let label = match direction {
            Direction::Out => self.source_label,
            Direction::In => self.target_label,
        };
        let id = self.id.owner(direction).clone();
        Value::Vertex(Arc::new(VertexHandle::new(id, Some(label))))
    }
}

/// A property of a vertex.
#[derive(Debug)]
pub struct VertexProperty {
    /// The vertex.
    pub vertex: Arc<VertexHandle>,
    /// The property key.
    pub key: PropertyKeyId,
    /// Its name.
    pub name: CompactString,
    /// Its number among the values of the key.
    pub number: u32,
    /// Its value.
    pub value: Value,
    /// Its meta-properties when it was read; most have none.
    pub meta: Properties,
}

impl VertexProperty {
    /// Its meta-properties in the content of the vertex that was read last: a step may have changed
    /// them since the property was read.
    #[must_use]
    pub fn current_meta(&self) -> &Properties {
        static NONE: Properties = Properties::new();
        let content = self.vertex.content().flatten();
        let stored = content.and_then(|content| content.properties.get(self.key));
        let mut values = values_of(stored);
        match values.find(|one| one.number == self.number) {
            Some(one) => one.meta.unwrap_or(&NONE),
            None => &self.meta,
        }
    }

    /// The property's id: the vertex id, the key, and the number if it is not 0.
    #[must_use]
    pub fn id(&self) -> String {
        let (vertex, name) = (self.vertex.id(), &self.name);
        match self.number {
            0 => format!("{vertex}>{name}"),
            number => format!("{vertex}>{name}>{number}"),
        }
    }
}

/// The owner of a [`Property`].
#[derive(Debug, Clone)]
pub enum Owner {
    /// An edge.
    Edge(Arc<EdgeHandle>),
    /// A property of a vertex.
    VertexProperty(Arc<VertexProperty>),
}

impl Property {
    /// The edge or the vertex property that this property belongs to.
    #[must_use]
    pub fn owner(&self) -> Value {
        match &self.owner {
            Owner::Edge(edge) => Value::Edge(Arc::clone(edge), Walked::No),
            Owner::VertexProperty(owner) => Value::VertexProperty(Arc::clone(owner)),
        }
    }
}

/// A property of an edge or of a vertex property.
#[derive(Debug)]
pub struct Property {
    /// The edge or the vertex property that it belongs to.
    pub owner: Owner,
    /// Its name.
    pub name: CompactString,
    /// Its value.
    pub value: Value,
}
