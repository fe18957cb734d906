//! The schema as queries read it.

use varve_model::{
    EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, Value, VertexLabel, VertexLabelId,
};

use crate::ViewError;

/// Names and types of the labels and keys in a [`GraphView`](crate::GraphView).
///
/// Elements may have labels and keys that the schema no longer has; these have no name.
pub trait SchemaView: Send + Sync {
    /// Whether labels and keys are created on first use.
    fn is_open(&self) -> bool {
        false
    }

    /// Whether the labels and keys of a query's conditions must exist, and their values must fit
    /// the keys.
    fn is_strict(&self) -> bool {
        false
    }

    /// The property key with this id.
    fn property_key(&self, id: PropertyKeyId) -> Option<&PropertyKey>;

    /// The property key with this name.
    fn property_key_named(&self, name: &str) -> Option<&PropertyKey>;

    /// Converts a value that a condition compares with to the type of the key's values, as writing
    /// converts it.
    ///
    /// # Errors
    /// When the value does not fit the key.
    fn condition_value(&self, _: &PropertyKey, value: &Value) -> Result<Value, ViewError> {
        Ok(value.clone())
    }

    /// All property keys, ascending.
    fn property_keys(&self) -> Vec<PropertyKeyId>;

    /// The vertex label with this id.
    fn vertex_label(&self, id: VertexLabelId) -> Option<&VertexLabel>;

    /// The vertex label with this name.
    fn vertex_label_named(&self, name: &str) -> Option<&VertexLabel>;

    /// All vertex labels, in any order; `None` if they cannot be listed.
    fn vertex_labels(&self) -> Option<Vec<VertexLabelId>> {
        None
    }

    /// The labels that the vertices of a label also have: its supertypes, nearest first. A
    /// scan of a label does not include its subtypes.
    fn vertex_supertypes(&self, _: VertexLabelId) -> &[VertexLabelId] {
        &[]
    }

    /// As [`SchemaView::vertex_supertypes`], of edge labels.
    fn edge_supertypes(&self, _: EdgeLabelId) -> &[EdgeLabelId] {
        &[]
    }

    /// The subtypes of a vertex label, direct and indirect, in any order.
    fn vertex_subtypes(&self, _: VertexLabelId) -> &[VertexLabelId] {
        &[]
    }

    /// As [`SchemaView::vertex_subtypes`], of edge labels.
    fn edge_subtypes(&self, _: EdgeLabelId) -> &[EdgeLabelId] {
        &[]
    }

    /// Whether an index finds the edges of a label by the value of a property.
    fn has_edge_index(&self, _: EdgeLabelId, _: PropertyKeyId) -> bool {
        false
    }

    /// Whether an index finds the vertices of a label by bounds of a property
    /// ([`varve_model::Predicate::Near`]).
    fn has_vertex_order(&self, _: VertexLabelId, _: PropertyKeyId) -> bool {
        false
    }

    /// As [`SchemaView::has_vertex_order`], of edges.
    fn has_edge_order(&self, _: EdgeLabelId, _: PropertyKeyId) -> bool {
        false
    }

    /// The edge label with this id.
    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel>;

    /// The edge label with this name.
    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel>;

    /// All edge labels, in any order; `None` if they cannot be listed.
    fn edge_labels(&self) -> Option<Vec<EdgeLabelId>> {
        None
    }
}
