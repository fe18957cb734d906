//! Nodes, relationships and paths, and the graph that has them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;
use varve_model::{
    EdgeId, EdgeLabelId, ElementId, Properties, PropertyKey, PropertyKeyId, VertexLabelId,
};
use varve_view::{GraphView, GraphWriter, Meter, SchemaView, VertexFound};

use super::Value;
use crate::error::Outcome;

/// The graph that a query reads, and may change.
#[derive(Clone, Copy)]
pub struct Graph<'g> {
    /// The view; of a query that writes, the writer itself.
    pub view: &'g dyn GraphView,
    /// The schema; of a query that writes, the writer's.
    pub schema: &'g dyn SchemaView,
    /// The writer, if the query may change the graph.
    pub writer: Option<&'g dyn GraphWriter>,
    /// The query's cost.
    pub meter: &'g Meter,
}

/// What a node or relationship contains.
#[derive(Debug, Clone)]
pub struct Content {
    /// The label of a node; none of a relationship.
    pub label: Option<VertexLabelId>,
    /// All properties.
    pub properties: Properties,
}

/// The content that was read last.
#[derive(Default)]
struct Cached {
    /// The number of the writer's changes when the content was read; `None`: never read.
    changes: Option<u64>,
    /// `None`: the element does not exist.
    content: Option<Arc<Content>>,
}

/// The point of valid time of the elements of a `MATCH … FOR VALID_TIME AS OF`.
pub(crate) struct Snapshot {
    pub(crate) view: Box<dyn GraphView>,
}

/// A vertex key; most are short.
pub type NodeKey = SmallVec<[u8; 24]>;

/// A node.
pub struct Node {
    /// Its vertex key in the view.
    pub key: NodeKey,
    /// Its vertex label when it was found.
    pub label: VertexLabelId,
    /// Where its content is read; `None`: in the query's view. Nodes are equal also between
    /// snapshots.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    cached: Mutex<Cached>,
}

/// A relationship.
pub struct Relationship {
    /// Its edge label.
    pub label: EdgeLabelId,
    /// Its start.
    pub start: Arc<Node>,
    /// Its end.
    pub end: Arc<Node>,
    /// Its id. The key of an edge depends on the end at which it was found; its id does not.
    pub id: EdgeId,
    /// As [`Node::snapshot`].
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    cached: Mutex<Cached>,
}

/// A path: one node more than relationships.
#[derive(Debug, Clone)]
pub struct Path {
    /// The nodes in the order of the walk.
    pub nodes: Vec<Arc<Node>>,
    /// The relationships between them, each in its own direction.
    pub relationships: Vec<Arc<Relationship>>,
}

impl Graph<'_> {
    /// The number of the writer's changes so far.
    pub(crate) fn changes(&self) -> u64 {
        self.writer.map_or(0, GraphWriter::changes)
    }

    /// The key whose type a property's value must have. In an open graph, a key has values of any
    /// types.
    pub(crate) fn declared_key(&self, name: &str) -> Option<&PropertyKey> {
        match self.schema.is_open() {
            true => None,
            false => self.schema.property_key_named(name),
        }
    }

    /// The ids of all property keys, ascending.
    pub(crate) fn keys(&self) -> Vec<PropertyKeyId> {
        self.schema.property_keys()
    }

    /// Reads those of `keys` (ascending) that nodes have, in one batch, if the nodes are not known
    /// yet or may have changed. A node that is known is not read again, so within one query `keys`
    /// must have all properties that it reads.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub(crate) fn fetch(&self, nodes: Vec<&Arc<Node>>, keys: &[PropertyKeyId]) -> Outcome<()> {
        let changes = self.changes();
        let mut stale = nodes;
        stale.retain(|node| !node.is_known(self, changes));
        if stale.is_empty() {
            return Ok(());
        }
        // Rows often share nodes.
        stale.sort_unstable_by_key(|node| (node.snapshot_address(), Arc::as_ptr(node)));
        stale.dedup_by_key(|node| Arc::as_ptr(node));
        for nodes in stale.chunk_by(|one, other| one.snapshot_address() == other.snapshot_address())
        {
            let places: Vec<&[u8]> = nodes.iter().map(|node| &*node.key).collect();
            let mut found: Vec<Option<Arc<Content>>> = vec![None; nodes.len()];
            let show = &mut |at: usize, label, properties| {
                let label = Some(label);
                if let Some(slot) = found.get_mut(at) {
                    *slot = Some(Arc::new(Content { label, properties }));
                }
            };
            let view = nodes[0].view(self);
            view.vertices(&places, keys, self.meter, show)?;
            for (node, content) in nodes.iter().zip(found) {
                node.set(changes, content);
            }
        }
        Ok(())
    }

    /// Checks, before a value of so many bytes is made, that the query may have it.
    ///
    /// # Errors
    /// When the query would need too much memory.
    pub(crate) fn room(&self, bytes: usize) -> Outcome<()> {
        Ok(self.meter.room(bytes)?)
    }

    /// Adds a value so many times to the items of a list.
    ///
    /// # Errors
    /// As [`Graph::room`].
    pub(crate) fn push(&self, items: &mut Vec<Value>, value: &Value, times: u64) -> Outcome<()> {
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        self.room(times.saturating_mul(size_of::<Value>()))?;
        items.extend(std::iter::repeat_n(value, times).cloned());
        Ok(())
    }

    /// Notes the content of a node that was found with all its properties.
    pub(crate) fn found(&self, node: &Arc<Node>, vertex: &VertexFound<'_>) {
        let changes = self.changes();
        if node.known(self, changes).is_none() {
            let content = Content {
                label: Some(vertex.label),
                properties: vertex.properties.clone(),
            };
            node.set(changes, Some(Arc::new(content)));
        }
    }

    /// As [`Graph::fetch`], of relationships.
    ///
    /// # Errors
    /// As [`Graph::fetch`].
    pub(crate) fn fetch_relationships(
        &self,
        all: Vec<&Arc<Relationship>>,
        keys: &[PropertyKeyId],
    ) -> Outcome<()> {
        let changes = self.changes();
        let mut stale = all;
        stale.retain(|one| !one.is_known(self, changes));
        if stale.is_empty() {
            return Ok(());
        }
        stale.sort_by_key(|one| one.snapshot_address());
        for same in stale.chunk_by(|one, other| one.snapshot_address() == other.snapshot_address())
        {
            let ids: Vec<EdgeId> = same.iter().map(|one| one.id.clone()).collect();
            let mut found: Vec<Option<Arc<Content>>> = vec![None; same.len()];
            let view = same[0].view(self);
            view.edges(&ids, keys, self.meter, &mut |at, edge| {
                let properties = edge.properties.clone();
                if let Some(slot) = found.get_mut(at) {
                    let label = None;
                    *slot = Some(Arc::new(Content { label, properties }));
                }
            })?;
            for (one, content) in same.iter().zip(found) {
                one.set(changes, content);
            }
        }
        Ok(())
    }
}

macro_rules! cached {
    ($type:ty) => {
        impl $type {
            /// The content, if it was read and has not changed since; `changes` is the number of
            /// the writer's changes. The inner `None` says that the element does not exist.
            fn known(&self, graph: &Graph<'_>, changes: u64) -> Option<Option<Arc<Content>>> {
                let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
                let read_at = cached.changes?;
                if read_at != changes {
                    // Other elements changed; a query that writes many reads each but once.
                    if self.last_change(graph) > read_at {
                        return None;
                    }
                    cached.changes = Some(changes);
                }
                Some(cached.content.clone())
            }

            /// Whether [`Self::known`] would give something.
            fn is_known(&self, graph: &Graph<'_>, changes: u64) -> bool {
                let read_at = {
                    let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
                    cached.changes
                };
                read_at == Some(changes) || self.known(graph, changes).is_some()
            }

            /// The view that has its content.
            pub(crate) fn view<'v>(&'v self, graph: &Graph<'v>) -> &'v dyn GraphView {
                match &self.snapshot {
                    Some(snapshot) => &*snapshot.view,
                    None => graph.view,
                }
            }

            /// Identifies the snapshot.
            fn snapshot_address(&self) -> Option<*const Snapshot> {
                self.snapshot.as_ref().map(Arc::as_ptr)
            }

            /// Sets the content as it is after so many changes of the writer.
            pub(crate) fn set(&self, changes: u64, content: Option<Arc<Content>>) {
                let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
                let changes = Some(changes);
                *cached = Cached { changes, content };
            }
        }
    };
}

cached!(Node);
cached!(Relationship);

impl Node {
    /// The number of the writer's changes after the last one that may concern it.
    fn last_change(&self, graph: &Graph<'_>) -> u64 {
        match (graph.writer, self.id(graph)) {
            (None, _) => 0,
            (Some(writer), Ok(id)) => writer.changed_at(&id),
            (Some(_), Err(_)) => u64::MAX,
        }
    }

    /// A node whose content is read when it is asked for.
    #[must_use]
    pub fn new(key: &[u8], label: VertexLabelId) -> Node {
        Node {
            key: NodeKey::from_slice(key),
            label,
            snapshot: None,
            cached: Mutex::default(),
        }
    }

    /// The same node, read in a snapshot.
    pub(crate) fn within(mut self, snapshot: Option<&Arc<Snapshot>>) -> Node {
        self.snapshot = snapshot.cloned();
        self
    }

    /// The content now; `None` if the node was deleted.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub(crate) fn content(self: &Arc<Node>, graph: &Graph<'_>) -> Outcome<Option<Arc<Content>>> {
        let changes = graph.changes();
        if let Some(content) = self.known(graph, changes) {
            return Ok(content);
        }
        graph.fetch(vec![self], &graph.keys())?;
        Ok(self.known(graph, changes).flatten())
    }

    /// Its id as an element of the view.
    ///
    /// # Errors
    /// When its key is not one of the view's.
    pub(crate) fn id(&self, graph: &Graph<'_>) -> Outcome<ElementId> {
        Ok(ElementId::Vertex(graph.view.vertex_id(&self.key)?))
    }
}

impl Relationship {
    /// The number of the writer's changes after the last one that may concern it. An edge changes
    /// with its ends: it is removed with them, and moves when one gets another label.
    fn last_change(&self, graph: &Graph<'_>) -> u64 {
        let Some(writer) = graph.writer else {
            return 0;
        };
        let own = writer.changed_at(&ElementId::Edge(self.id.clone()));
        own.max(self.start.last_change(graph))
            .max(self.end.last_change(graph))
    }

    /// A relationship whose content is read when it is asked for.
    #[must_use]
    pub fn new(id: EdgeId, start: Arc<Node>, end: Arc<Node>) -> Relationship {
        Relationship {
            label: id.label,
            start,
            end,
            id,
            snapshot: None,
            cached: Mutex::default(),
        }
    }

    /// The same relationship, read in a snapshot.
    pub(crate) fn within(mut self, snapshot: Option<&Arc<Snapshot>>) -> Relationship {
        self.snapshot = snapshot.cloned();
        self
    }

    /// The content now; `None` if the relationship was deleted.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub(crate) fn content(
        self: &Arc<Relationship>,
        graph: &Graph<'_>,
    ) -> Outcome<Option<Arc<Content>>> {
        let changes = graph.changes();
        if let Some(content) = self.known(graph, changes) {
            return Ok(content);
        }
        graph.fetch_relationships(vec![self], &graph.keys())?;
        Ok(self.known(graph, changes).flatten())
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.key == other.key
    }
}

impl PartialEq for Relationship {
    fn eq(&self, other: &Relationship) -> bool {
        self.id == other.id
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Node");
        out.field("key", &self.key).field("label", &self.label);
        out.finish_non_exhaustive()
    }
}

impl fmt::Debug for Relationship {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Relationship");
        out.field("id", &self.id)
            .field("start", &self.start)
            .field("end", &self.end);
        out.finish_non_exhaustive()
    }
}
