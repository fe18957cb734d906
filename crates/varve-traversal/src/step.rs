//! Steps: the edges that a traversal follows, and the vertices that it enters.

use varve_model::{Condition, Direction, EdgeLabelId, PropertyKeyId, VertexLabelId};

/// A filter of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeFilter {
    /// Only edges of this label; `None` = any.
    pub label: Option<EdgeLabelId>,
    /// Conditions on the edge's properties, all of which must hold.
    pub conditions: Vec<Condition>,
}

/// A filter of vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexFilter {
    /// Only vertices of this label; `None` = any.
    pub label: Option<VertexLabelId>,
    /// Conditions on the vertex's properties, all of which must hold.
    pub conditions: Vec<Condition>,
}

/// One step from a vertex to its neighbours.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// The direction of the edges; `None` = both.
    pub direction: Option<Direction>,
    /// Edge labels; empty = all.
    pub labels: Vec<EdgeLabelId>,
    /// The most edges read for each vertex, in storage order, before the filters apply; `None` =
    /// all.
    pub max_degree: Option<u64>,
    /// No edge is followed from a vertex with at least this many edges of `direction` and `labels`;
    /// `None` = no bound.
    pub skip_degree: Option<u64>,
    /// Properties of edges that the traversal itself reads.
    pub reads: Vec<PropertyKeyId>,
    /// Edge filters, of which an edge must pass at least one; empty = every edge passes.
    pub edges: Vec<EdgeFilter>,
    /// Vertex filters, of which both ends must pass at least one; empty = every vertex passes.
    pub vertices: Vec<VertexFilter>,
}

impl Step {
    /// The same step in the opposite direction.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            direction: self.direction.map(Direction::opposite),
            ..self.clone()
        }
    }

    /// Whether vertex filters need properties. For labels alone no vertex is read, since edges
    /// store the labels of their ends.
    pub(crate) fn reads_vertices(&self) -> bool {
        let mut filters = self.vertices.iter();
        filters.any(|filter| !filter.conditions.is_empty())
    }

    /// Whether the label matches a vertex filter, regardless of conditions; false without filters.
    pub(crate) fn enters(&self, label: VertexLabelId) -> bool {
        let mut filters = self.vertices.iter();
        filters.any(|filter| filter.label.is_none_or(|wanted| wanted == label))
    }

    /// The keys of edge properties that the step reads, ascending.
    pub(crate) fn edge_keys(&self) -> Vec<PropertyKeyId> {
        let filtered = self.edges.iter().flat_map(|filter| &filter.conditions);
        keys(
            filtered
                .map(|condition| condition.key)
                .chain(self.reads.iter().copied()),
        )
    }

    /// The keys of vertex properties that the filters read, ascending.
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
