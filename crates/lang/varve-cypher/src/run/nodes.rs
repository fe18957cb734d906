//! The nodes that a query has met.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use varve_model::VertexLabelId;

use crate::error::Outcome;
use crate::value::{Graph, Node, Snapshot};

/// The most nodes that are remembered; then all are forgotten.
const NODES_MAX: usize = 262_144;
/// Bytes that a remembered node takes beside its key, without its content.
const NODE_BYTES: usize = 192;

/// Keys up to this length are copied into the table.
const SHORT: usize = 23;

/// A node by its key.
struct ByKey {
    /// A copy of a short key, so that a look-up does not read the node.
    short: [u8; SHORT],
    /// The length of the copy; 0 if the key is long.
    length: u8,
    node: Arc<Node>,
}

impl ByKey {
    fn new(node: Arc<Node>) -> ByKey {
        let (mut short, mut length) = ([0; SHORT], 0);
        if let Some(copy) = short.get_mut(..node.key.len()) {
            copy.copy_from_slice(&node.key);
            length = u8::try_from(node.key.len()).unwrap_or(0);
        }
        ByKey {
            short,
            length,
            node,
        }
    }

    fn key(&self) -> &[u8] {
        match self.length {
            0 => &self.node.key,
            length => &self.short[..usize::from(length)],
        }
    }
}

impl Borrow<[u8]> for ByKey {
    fn borrow(&self) -> &[u8] {
        self.key()
    }
}

impl Hash for ByKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &ByKey) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByKey {}

/// Nodes that a query has met, so that the content of each is read once, however many rows have it.
/// Rows keep nodes that were forgotten.
#[derive(Default)]
pub(crate) struct Nodes {
    known: RefCell<HashSet<ByKey, foldhash::fast::RandomState>>,
    /// Bytes that are held for them.
    bytes: Cell<usize>,
}

impl Nodes {
    /// The bytes that are held for the nodes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The node with this key.
    ///
    /// # Errors
    /// When the query needs too much memory.
    pub(crate) fn of(
        &self,
        (graph, snapshot): (&Graph<'_>, Option<&Arc<Snapshot>>),
        key: &[u8],
        label: VertexLabelId,
    ) -> Outcome<Arc<Node>> {
        // A node whose label is changed must be found with its new one.
        if graph.writer.is_some() {
            return Ok(Arc::new(Node::new(key, label).within(snapshot)));
        }
        let mut known = self.known.borrow_mut();
        if let Some(node) = known.get(key) {
            return Ok(Arc::clone(&node.node));
        }
        if known.len() >= NODES_MAX {
            graph.meter.release(self.bytes.take());
            known.clear();
        }
        let bytes = NODE_BYTES + key.len();
        self.bytes.set(self.bytes.get() + bytes);
        graph.meter.hold(bytes)?;
        let node = Arc::new(Node::new(key, label).within(snapshot));
        known.insert(ByKey::new(Arc::clone(&node)));
        Ok(node)
    }
}
