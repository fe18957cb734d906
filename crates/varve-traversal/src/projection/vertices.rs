//! The keys of a projection's vertices.

use std::cmp::Ordering;
use std::ops::Range;

use varve_model::VertexLabelId;
use varve_view::{Meter, ViewError};

use super::Node;

/// Bytes of a vertex without its key: the key's end (8) and the label (4).
const VERTEX_BYTES: usize = 12;

/// Vertex keys in ascending order, once they are sorted, with the vertices' labels.
#[derive(Debug, Default)]
pub struct Vertices {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<u64>,
    labels: Vec<VertexLabelId>,
}

impl Vertices {
    /// Vertices with label 0 whose keys are their numbers, as 4 bytes in big-endian order.
    pub(super) fn numbered(count: usize) -> Self {
        let numbers = 0..Node::try_from(count).unwrap_or(Node::MAX);
        Self {
            bytes: numbers.clone().flat_map(Node::to_be_bytes).collect(),
            ends: numbers.map(|number| 4 * (u64::from(number) + 1)).collect(),
            labels: vec![VertexLabelId(0); count],
        }
    }

    pub(super) fn push(
        &mut self,
        key: &[u8],
        label: VertexLabelId,
        meter: &Meter,
    ) -> Result<(), ViewError> {
        if self.len() >= Node::MAX as usize {
            return Err(ViewError::Memory {
                max: u64::from(Node::MAX),
            });
        }
        meter.hold(key.len() + VERTEX_BYTES)?;
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u64);
        self.labels.push(label);
        Ok(())
    }

    /// Sorts the vertices by key, which changes their numbers. Does nothing if they are in order,
    /// as after a scan of most engines.
    pub(super) fn sort(&mut self) {
        let mut order: Vec<Node> = self.numbers().collect();
        if order.is_sorted_by_key(|number| self.key(*number)) {
            return;
        }
        order.sort_unstable_by_key(|number| self.key(*number));
        let mut sorted = Self::default();
        for number in order {
            sorted.bytes.extend_from_slice(self.key(number));
            sorted.ends.push(sorted.bytes.len() as u64);
            sorted.labels.push(self.label(number));
        }
        *self = sorted;
    }

    /// The number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The size of all keys, ends and labels, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.len() * VERTEX_BYTES
    }

    /// The key of a vertex.
    #[must_use]
    pub fn key(&self, node: Node) -> &[u8] {
        self.at(&self.place(node))
    }

    /// The range of a vertex's key in `bytes`.
    pub(super) fn place(&self, node: Node) -> Range<usize> {
        let at = node as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[at] as usize
    }

    /// The key in a range of `bytes`.
    pub(super) fn at(&self, place: &Range<usize>) -> &[u8] {
        &self.bytes[place.clone()]
    }

    /// The label of a vertex.
    #[must_use]
    pub fn label(&self, node: Node) -> VertexLabelId {
        self.labels[node as usize]
    }

    /// The number of the vertex with this key; `None` if there is no such vertex. The vertices must
    /// be sorted.
    #[must_use]
    pub fn find(&self, key: &[u8]) -> Option<Node> {
        let (mut low, mut high) = (0, Node::try_from(self.len()).unwrap_or(Node::MAX));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle).cmp(key) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn numbers(&self) -> std::ops::Range<Node> {
        0..Node::try_from(self.len()).unwrap_or(Node::MAX)
    }
}
