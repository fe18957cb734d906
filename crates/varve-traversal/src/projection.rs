//! A compressed copy in memory of the graph that a view shows, for algorithms that walk all of it.
//!
//! Vertices are numbered from 0 in the order of their keys. Each direction is one array of starts
//! and one of neighbours, so an edge takes 4 bytes a direction, and 8 more for a weight. Edges with
//! an end that does not exist are left out. Neighbours come by the number of the other end.

mod build;
mod collect;
mod table;
mod vertices;

use varve_model::{Direction, EdgeLabelId, PropertyKeyId, VertexId, VertexLabelId};
use varve_view::{GraphView, Meter, ViewError};

use crate::TraversalError;

pub use vertices::Vertices;

/// Number of a vertex in a projection.
pub type Node = u32;

/// What of a graph is copied.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectionAsk<'a> {
    /// Edge labels; a parent label stands for its sub labels. Empty = all.
    pub labels: &'a [EdgeLabelId],
    /// Labels of the vertices that are copied, with the edges between them. Empty = all.
    pub vertex_labels: &'a [VertexLabelId],
    /// Which way the edges are walked from a vertex; `None` = both ways.
    pub direction: Option<Direction>,
    /// The property with an edge's weight; an edge without it weighs 1.
    pub weight: Option<PropertyKeyId>,
}

/// Edges of all vertices in one direction.
#[derive(Debug, Clone, Default)]
pub struct Adjacency {
    /// Where the neighbours of each vertex begin; one more for the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) others: Vec<Node>,
    /// The edges' weights beside `others`; empty = each weighs 1.
    pub(crate) weights: Vec<f64>,
}

/// The copy.
#[derive(Debug)]
pub struct Projection {
    vertices: Vertices,
    direction: Option<Direction>,
    /// The edges in the direction asked for; OUT if both were.
    first: Adjacency,
    /// The edges from their targets, if both directions were asked for.
    second: Option<Adjacency>,
    bytes: usize,
}

impl Adjacency {
    /// Edges as (from, to, weight), of a graph with so many vertices. For tests and tools.
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

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.others.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// How many edges a vertex has.
    #[must_use]
    pub fn degree(&self, node: Node) -> u32 {
        let at = node as usize;
        self.starts[at + 1] - self.starts[at]
    }

    /// The other ends of a vertex's edges, ascending; one for each edge.
    #[must_use]
    pub fn of_node(&self, node: Node) -> &[Node] {
        &self.others[self.range(node)]
    }

    /// The weights of the same edges; empty when edges have none.
    #[must_use]
    pub fn weights_of(&self, node: Node) -> &[f64] {
        match self.weights.is_empty() {
            true => &[],
            false => &self.weights[self.range(node)],
        }
    }

    /// The other ends and weights of a vertex's edges.
    pub fn weighted(&self, node: Node) -> impl Iterator<Item = (Node, f64)> + '_ {
        let weights = self.weights_of(node);
        let others = self.of_node(node).iter().enumerate();
        others.map(|(at, other)| (*other, weights.get(at).copied().unwrap_or(1.0)))
    }

    /// The edges from a to b for which `wanted(a, b)` holds, without weights.
    pub(crate) fn filtered(
        &self,
        wanted: &dyn Fn(Node, Node) -> bool,
        meter: &Meter,
    ) -> Result<Self, ViewError> {
        let mut kept = Self::default();
        kept.starts.push(0);
        for node in 0..self.starts.len().saturating_sub(1) as Node {
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
    /// Copies what a view shows.
    ///
    /// # Errors
    /// As the view's reads; over the bytes of the meter; and for a weight that is none.
    pub fn new(
        view: &dyn GraphView,
        ask: &ProjectionAsk<'_>,
        meter: &Meter,
    ) -> Result<Self, TraversalError> {
        build::projection(view, ask, meter)
    }

    /// A projection of these edges, both ways. Vertices have their numbers as ids. For tests and
    /// tools.
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

    /// A projection of these edges without weights, both ways, as [`Projection::of_edges`].
    #[must_use]
    pub fn unweighted(vertices: usize, mut edges: Vec<(Node, Node)>) -> Self {
        let mut side = || {
            edges.sort_unstable();
            let mut starts = vec![0; vertices + 1];
            for (from, _) in &edges {
                starts[*from as usize + 1] += 1;
            }
            for at in 0..vertices {
                starts[at + 1] += starts[at];
            }
            let others = edges.iter().map(|(_, to)| *to).collect();
            edges
                .iter_mut()
                .for_each(|(from, to)| std::mem::swap(from, to));
            Adjacency {
                starts,
                others,
                weights: Vec::new(),
            }
        };
        Self {
            vertices: Vertices::numbered(vertices),
            direction: None,
            first: side(),
            second: Some(side()),
            bytes: 0,
        }
    }

    /// How many vertices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.len() == 0
    }

    /// How many edges there are.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.first.len()
    }

    /// How many bytes it takes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// All vertices.
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
    /// When the view does not know its key.
    pub fn id(&self, view: &dyn GraphView, node: Node) -> Result<VertexId, ViewError> {
        view.vertex_id(self.vertices.key(node))
    }

    /// The simple graph: for each vertex the different other vertices that its edges lead to, in
    /// the directions that were asked for.
    ///
    /// # Errors
    /// Over the bytes of the meter.
    pub fn simple(&self, meter: &Meter) -> Result<Adjacency, ViewError> {
        let mut simple = Adjacency::default();
        simple.starts.push(0);
        let sides = self.sides();
        let mut others: Vec<Node> = Vec::new();
        for node in self.nodes() {
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

    /// The edges in the directions that were asked for, OUT first.
    #[must_use]
    pub fn sides(&self) -> Vec<&Adjacency> {
        std::iter::once(&self.first).chain(&self.second).collect()
    }

    /// Every edge once: from its source, or from its target if only that direction was asked for.
    #[must_use]
    pub const fn first(&self) -> &Adjacency {
        &self.first
    }

    /// The edges from their targets, if they were asked for.
    #[must_use]
    pub const fn back(&self) -> Option<&Adjacency> {
        match self.direction {
            Some(Direction::In) => Some(&self.first),
            _ => self.second.as_ref(),
        }
    }
}
