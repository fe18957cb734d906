//! Instances as walks visit them, and the candidates that searches buffer. A search needs few
//! fields of most instances, and of its results only their JSON: building objects would be wasted
//! work.

use varve_model::{ElementId, VertexId};

use super::LifeStatus;
use crate::matching::Facts;
use crate::types::TypeIndex;

/// An entity or relationship as a walk visits it.
pub trait Instance: Facts {
    /// Its GUID.
    fn guid(&self) -> &str;

    /// Its type.
    fn of(&self) -> Option<TypeIndex>;

    /// Its status.
    fn life_status(&self) -> LifeStatus;

    /// The candidate for this instance, which can be rendered after the walk.
    fn to_candidate(&self) -> Candidate;
}

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
