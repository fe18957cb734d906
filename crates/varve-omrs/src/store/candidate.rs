//! The candidates that searches buffer. Of its results, a search needs only their JSON: building
//! objects would be wasted work.

use varve_model::{ElementId, VertexId};

/// An instance as a search or a traversal buffers it: the id of its element of the graph, and the
/// content of its row, which only the store can decode.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub(crate) id: ElementId,
    pub(crate) content: Box<[u8]>,
}

impl Candidate {
    /// The size of the content, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.content.len()
    }

    /// The instance's GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        match &self.id {
            ElementId::Vertex(VertexId::Text(guid)) => guid,
            ElementId::Vertex(_) => "",
            ElementId::Edge(id) => &id.sort_values,
        }
    }
}
