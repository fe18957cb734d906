//! A compressed in-memory copy of the graph of a view, for algorithms that read the whole graph.
//!
//! Vertices are numbered from 0 in the order of their keys. Each direction is an array of starts
//! and an array of neighbours: an edge takes 4 bytes in each direction, and 8 more if edges have
//! weights. Edges with an end that is not copied are left out. A vertex's neighbours are sorted by
//! number.

mod build;
mod collect;
mod table;
mod vertices;

use varve_model::{Direction, EdgeLabelId, PropertyKeyId, VertexId, VertexLabelId};
use varve_view::{GraphView, Meter, ViewError};

use crate::TraversalError;

pub use vertices::Vertices;

/// Vertices between two checks of the clock and the cancel token.
const CHECK_EVERY: Node = 4_096;

/// The number of a vertex in a projection.
pub type Node = u32;

/// The part of a graph to copy.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectionAsk<'a> {
    /// Edge labels; a parent label includes its sub labels. Empty = all.
    pub labels: &'a [EdgeLabelId],
    /// Labels of the vertices to copy, with the edges between them. Empty = all.
    pub vertex_labels: &'a [VertexLabelId],
    /// The direction in which edges are walked; `None` = both.
    pub direction: Option<Direction>,
    /// The property with an edge's weight; an edge without it has weight 1.
    pub weight: Option<PropertyKeyId>,
}

/// The edges of all vertices in one direction, as a compressed sparse row structure.
#[derive(Debug, Clone, Default)]
pub struct Adjacency {
    /// The index of each vertex's first neighbour, and one more entry for the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) others: Vec<Node>,
    /// The weights of the edges, parallel to `others`; empty = each edge has weight 1.
    pub(crate) weights: Vec<f64>,
}

/// A copied graph.
#[derive(Debug)]
pub struct Projection {
    vertices: Vertices,
    direction: Option<Direction>,
    /// The edges in the requested direction; OUT if both were requested.
    first: Adjacency,
    /// The edges from their targets, if both directions were requested.
    second: Option<Adjacency>,
    bytes: usize,
}

impl Adjacency {
    /// An adjacency of edges (from, to, weight) between `vertices` vertices. For tests and tools.
    #[must_use]
    pub fn of(vertices: usize, edges: &[(Node, Node, f64)]) -> Self {
        let mut sorted = edges.to_vec();
        sorted.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut starts = vec![0; vertices + 1];
        for edge in &sorted {
            starts[edge.0 as usize + 1] += 1;
        }
        for at in 0..vertices {
            starts[at + 1] += starts[at];
        }
        Self {
            starts,
            others: sorted.iter().map(|edge| edge.1).collect(),
            weights: sorted.iter().map(|edge| edge.2).collect(),
        }
    }

    /// The number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.others.len()
    }

    /// Whether there are no edges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// The number of edges of a vertex.
    #[must_use]
    pub fn degree(&self, node: Node) -> u32 {
        let at = node as usize;
        self.starts[at + 1] - self.starts[at]
    }

    /// The neighbours of a vertex, ascending, once for each edge.
    #[must_use]
    pub fn of_node(&self, node: Node) -> &[Node] {
        &self.others[self.range(node)]
    }

    /// The weights of the same edges; empty if the projection has no weights.
    #[must_use]
    pub fn weights_of(&self, node: Node) -> &[f64] {
        match self.weights.is_empty() {
            true => &[],
            false => &self.weights[self.range(node)],
        }
    }

    /// The neighbours of a vertex with the weights of the edges.
    pub fn weighted(&self, node: Node) -> impl Iterator<Item = (Node, f64)> + '_ {
        let weights = self.weights_of(node);
        let others = self.of_node(node).iter().enumerate();
        others.map(|(at, other)| (*other, weights.get(at).copied().unwrap_or(1.0)))
    }

    /// The edges (a, b) for which `wanted(a, b)` holds, without weights.
    pub(crate) fn filtered(
        &self,
        wanted: &dyn Fn(Node, Node) -> bool,
        meter: &Meter,
    ) -> Result<Self, ViewError> {
        let mut kept = Self::default();
        kept.starts.push(0);
        for node in 0..self.starts.len().saturating_sub(1) as Node {
            if node.is_multiple_of(CHECK_EVERY) {
                meter.check()?;
            }
            let others = self.of_node(node).iter().copied();
            kept.others
                .extend(others.filter(|other| wanted(node, *other)));
            kept.starts.push(kept.others.len() as u32);
        }
        meter.hold(kept.starts.len() * 4 + kept.others.len() * size_of::<Node>())?;
        Ok(kept)
    }

    fn range(&self, node: Node) -> std::ops::Range<usize> {
        let at = node as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }
}

impl Projection {
    /// Copies the graph of a view.
    ///
    /// # Errors
    ///
    /// Those of the view, an exceeded memory limit of the meter, and invalid weights.
    pub fn new(
        view: &dyn GraphView,
        ask: &ProjectionAsk<'_>,
        meter: &Meter,
    ) -> Result<Self, TraversalError> {
        build::projection(view, ask, meter)
    }

    /// A projection of these edges in both directions. The vertex keys are the vertex numbers. For
    /// tests and tools.
    #[must_use]
    pub fn of_edges(vertices: usize, edges: &[(Node, Node, f64)]) -> Self {
        let reversed: Vec<_> = edges.iter().map(|(a, b, w)| (*b, *a, *w)).collect();
        Self {
            vertices: Vertices::numbered(vertices),
            direction: None,
            first: Adjacency::of(vertices, edges),
            second: Some(Adjacency::of(vertices, &reversed)),
            bytes: 0,
        }
    }

    /// The number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.len() == 0
    }

    /// The number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.first.len()
    }

    /// The size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The numbers of all vertices.
    pub fn nodes(&self) -> std::ops::Range<Node> {
        0..Node::try_from(self.len()).unwrap_or(Node::MAX)
    }

    /// The keys and labels of the vertices.
    #[must_use]
    pub const fn vertices(&self) -> &Vertices {
        &self.vertices
    }

    /// The number of a vertex.
    #[must_use]
    pub fn node(&self, view: &dyn GraphView, id: &VertexId) -> Option<Node> {
        let mut key = Vec::new();
        view.put_vertex_key(id, &mut key);
        self.vertices.find(&key)
    }

    /// The id of a vertex.
    ///
    /// # Errors
    ///
    /// If the view cannot decode its key.
    pub fn id(&self, view: &dyn GraphView, node: Node) -> Result<VertexId, ViewError> {
        view.vertex_id(self.vertices.key(node))
    }

    /// The simple graph: for each vertex the distinct other vertices that its edges lead to, in the
    /// projection's directions.
    ///
    /// # Errors
    ///
    /// If the memory limit of the meter is exceeded.
    pub fn simple(&self, meter: &Meter) -> Result<Adjacency, ViewError> {
        let mut simple = Adjacency::default();
        simple.starts.push(0);
        let sides = self.sides();
        let mut others: Vec<Node> = Vec::new();
        for node in self.nodes() {
            if node.is_multiple_of(CHECK_EVERY) {
                meter.check()?;
            }
            others.clear();
            for side in &sides {
                others.extend_from_slice(side.of_node(node));
            }
            others.sort_unstable();
            others.dedup();
            others.retain(|other| *other != node);
            meter.hold((others.len() + 1) * size_of::<Node>())?;
            simple.others.extend_from_slice(&others);
            let full = |_| ViewError::Memory {
                max: u64::from(u32::MAX),
            };
            simple
                .starts
                .push(u32::try_from(simple.others.len()).map_err(full)?);
        }
        Ok(simple)
    }

    /// The edges in each of the projection's directions, OUT first.
    #[must_use]
    pub fn sides(&self) -> Vec<&Adjacency> {
        std::iter::once(&self.first).chain(&self.second).collect()
    }

    /// Every edge once: from its source, or from its target if the projection has only that
    /// direction.
    #[must_use]
    pub const fn first(&self) -> &Adjacency {
        &self.first
    }

    /// The edges from their targets, if the projection has that direction.
    #[must_use]
    pub const fn back(&self) -> Option<&Adjacency> {
        match self.direction {
            Some(Direction::In) => Some(&self.first),
            _ => self.second.as_ref(),
        }
    }
}
