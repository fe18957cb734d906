//! The schema of the database `system`: an open one without elements, so that statements that need
//! a graph are refused for that reason, and not for their labels.

use varve_model::{EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, VertexLabel, VertexLabelId};
use varve_view::SchemaView;

pub(super) struct NoSchema;

impl SchemaView for NoSchema {
    fn is_open(&self) -> bool {
        true
    }

    fn property_key(&self, _: PropertyKeyId) -> Option<&PropertyKey> {
        None
    }

    fn property_key_named(&self, _: &str) -> Option<&PropertyKey> {
        None
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        Vec::new()
    }

    fn vertex_label(&self, _: VertexLabelId) -> Option<&VertexLabel> {
        None
    }

    fn vertex_label_named(&self, _: &str) -> Option<&VertexLabel> {
        None
    }

    fn edge_label(&self, _: EdgeLabelId) -> Option<&EdgeLabel> {
        None
    }

    fn edge_label_named(&self, _: &str) -> Option<&EdgeLabel> {
        None
    }
}
