//! Scans: elements that come from an index, a label or the whole graph instead of from a vertex.

use varve_model::{Condition, EdgeLabelId, ElementId, Properties, PropertyKeyId, VertexLabelId};

use crate::{GraphView, VertexFound, ViewError};

/// Which elements a scan shows.
#[derive(Debug, Clone, Copy)]
pub struct ScanAsk<'a> {
    /// Vertices or edges, and of which labels.
    pub elements: Elements<'a>,
    /// What their properties must satisfy, all of it. With conditions the scan needs an index.
    pub conditions: &'a [Condition],
    /// The order of the elements; `None` = any, but the same each time.
    pub order: Option<ScanOrder>,
    /// Properties that the visitor wants to see, ascending. Empty = none are read.
    pub properties: &'a [PropertyKeyId],
}

/// Vertices or edges, of these labels. Empty = of any label. An edge label that is a parent stands
/// for its sub labels too. Labels that the schema does not know have no elements.
#[derive(Debug, Clone, Copy)]
pub enum Elements<'a> {
    /// Vertices.
    Vertices(&'a [VertexLabelId]),
    /// Edges, each once.
    Edges(&'a [EdgeLabelId]),
}

/// Order by the value of a property. Elements without the property do not come. Only for one label
/// that has no sub labels, and for numbers and dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOrder {
    /// The property.
    pub key: PropertyKeyId,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

/// Where a scan goes on. Belongs to one ask and one point of both times; opaque to all but the
/// view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPosition(Vec<u8>);

impl ScanPosition {
    /// A place that a view remembers as these bytes.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes it was made of.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// An element that a scan shows.
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
    /// The id of the element, which `view` showed.
    ///
    /// # Errors
    /// When the keys are none of the view's.
    pub fn id(&self, view: &dyn GraphView) -> Result<ElementId, ViewError> {
        Ok(match self {
            Self::Vertex { key, .. } => ElementId::Vertex(view.vertex_id(key)?),
            Self::Edge(edge) => ElementId::Edge(view.edge_id(edge.source, edge.edge)?),
        })
    }
}

/// An edge that a scan shows.
#[derive(Debug, Clone, Copy)]
pub struct ScannedEdge<'a> {
    /// The vertex key of its source.
    pub source: &'a [u8],
    /// The vertex key of its target.
    pub target: &'a [u8],
    /// Its key at its source: see [`GraphView::edge_id`](crate::GraphView::edge_id).
    pub edge: &'a [u8],
    /// Its label.
    pub label: EdgeLabelId,
    /// The label of its source.
    pub source_label: VertexLabelId,
    /// The label of its target.
    pub target_label: VertexLabelId,
    /// Those of the properties asked for that it has. Whole numbers may come as LONG.
    pub properties: &'a Properties,
}
