//! Scans: reads of elements from an index, a label or the whole graph, not from a vertex.

use varve_model::{Condition, EdgeLabelId, ElementId, Properties, PropertyKeyId, VertexLabelId};

use crate::{GraphView, VertexFound, ViewError};

/// What a scan reads.
#[derive(Debug, Clone, Copy)]
pub struct ScanAsk<'a> {
    /// Vertices or edges, and of which labels.
    pub elements: Elements<'a>,
    /// The conditions that their properties must all satisfy. A scan with conditions needs an
    /// index.
    pub conditions: &'a [Condition],
    /// The order of the elements; `None` = any order that is the same each time.
    pub order: Option<ScanOrder>,
    /// Properties that are read, ascending. Empty = none.
    pub properties: &'a [PropertyKeyId],
}

/// Vertices or edges of these labels. Empty = all labels. A PARENT label includes its SUB labels. A
/// label that is not in the schema has no elements.
#[derive(Debug, Clone, Copy)]
pub enum Elements<'a> {
    /// Vertices.
    Vertices(&'a [VertexLabelId]),
    /// Edges, each once.
    Edges(&'a [EdgeLabelId]),
}

/// Order by the value of a property. Elements without the property are left out. Allowed only for
/// one label without SUB labels, and for numbers and dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOrder {
    /// The property.
    pub key: PropertyKeyId,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

/// The position at which a scan continues. It belongs to one [`ScanAsk`] and one point of both
/// times, and only the view knows its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPosition(Vec<u8>);

impl ScanPosition {
    /// A position from the view's own encoding.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The view's own encoding of the position.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// An element in a scan.
#[derive(Debug, Clone, Copy)]
pub enum ScannedElement<'a> {
    /// A vertex.
    Vertex {
        /// Its vertex key.
        key: &'a [u8],
        /// Its label and properties.
        vertex: VertexFound<'a>,
    },
    /// An edge.
    Edge(ScannedEdge<'a>),
}

impl ScannedElement<'_> {
    /// Returns the id of the element, which `view` returned.
    ///
    /// # Errors
    /// When the keys are not from this view.
    pub fn id(&self, view: &dyn GraphView) -> Result<ElementId, ViewError> {
        Ok(match self {
            Self::Vertex { key, .. } => ElementId::Vertex(view.vertex_id(key)?),
            Self::Edge(edge) => ElementId::Edge(view.edge_id(edge.source, edge.edge)?),
        })
    }
}

/// An edge in a scan.
#[derive(Debug, Clone, Copy)]
pub struct ScannedEdge<'a> {
    /// The vertex key of its source.
    pub source: &'a [u8],
    /// The vertex key of its target.
    pub target: &'a [u8],
    /// Its key on the source's side: see [`crate::GraphView::edge_id`].
    pub edge: &'a [u8],
    /// Its label.
    pub label: EdgeLabelId,
    /// The label of its source.
    pub source_label: VertexLabelId,
    /// The label of its target.
    pub target_label: VertexLabelId,
    /// The requested properties that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}
