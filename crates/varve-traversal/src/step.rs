//! Which edges a traversal follows, and which vertices it enters.

use varve_model::{Condition, Direction, EdgeLabelId, PropertyKeyId, VertexLabelId};

/// Edges that a step follows.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeFilter {
    /// Only edges of this label; `None` = any.
    pub label: Option<EdgeLabelId>,
    /// What their properties must satisfy.
    pub conditions: Vec<Condition>,
}

/// Vertices that a step enters and leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexFilter {
    /// Only vertices of this label; `None` = any.
    pub label: Option<VertexLabelId>,
    /// What their properties must satisfy.
    pub conditions: Vec<Condition>,
}

/// How one step goes from a vertex to its neighbours.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// Which way; `None` = both.
    pub direction: Option<Direction>,
    /// Edge labels; empty = all.
    pub labels: Vec<EdgeLabelId>,
    /// Edges looked at for each vertex, in storage order; `None` = all. Filters come after it.
    pub max_degree: Option<u64>,
    /// A vertex with so many edges or more is not left at all; `None` = off.
    pub skip_degree: Option<u64>,
    /// Properties of edges that the traversal looks at itself.
    pub reads: Vec<PropertyKeyId>,
    /// An edge must pass one of these; empty = every edge passes.
    pub edges: Vec<EdgeFilter>,
    /// Both ends must pass one of these; empty = every vertex passes.
    pub vertices: Vec<VertexFilter>,
}

impl Step {
    /// The same step walked from its other end.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            direction: self.direction.map(Direction::opposite),
            ..self.clone()
        }
    }

    /// Whether the vertex filters look at more than labels, which edges know of their ends.
    pub(crate) fn reads_vertices(&self) -> bool {
        let mut filters = self.vertices.iter();
        filters.any(|filter| !filter.conditions.is_empty())
    }

    /// Whether a filter names this vertex label, or any.
    pub(crate) fn enters(&self, label: VertexLabelId) -> bool {
        let mut filters = self.vertices.iter();
        filters.any(|filter| filter.label.is_none_or(|wanted| wanted == label))
    }

    /// Properties of edges that are looked at, ascending.
    pub(crate) fn edge_keys(&self) -> Vec<PropertyKeyId> {
        let filtered = self.edges.iter().flat_map(|filter| &filter.conditions);
        keys(
            filtered
                .map(|condition| condition.key)
                .chain(self.reads.iter().copied()),
        )
    }

    /// Properties of vertices that the filters look at, ascending.
    pub(crate) fn vertex_keys(&self) -> Vec<PropertyKeyId> {
        let filtered = self.vertices.iter().flat_map(|filter| &filter.conditions);
        keys(filtered.map(|condition| condition.key))
    }
}

fn keys(keys: impl Iterator<Item = PropertyKeyId>) -> Vec<PropertyKeyId> {
    let mut keys: Vec<_> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
