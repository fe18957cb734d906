//! A [`Schema`] as queries read it: [`SchemaView`].

use std::sync::Arc;

use varve_model::schema::IndexType;
use varve_model::{
    EdgeLabel, EdgeLabelId, IndexLabel, PropertyKey, PropertyKeyId, Value, VertexLabel,
    VertexLabelId,
};
use varve_view::{SchemaView, ViewError};

use super::{Presentation, Schema, is_queryable};
use crate::element::{RawValue, convert_condition};

impl SchemaView for Schema {
    fn is_open(&self) -> bool {
        Self::is_open(self)
    }

    fn is_strict(&self) -> bool {
        !Self::is_open(self)
    }

    fn property_key(&self, id: PropertyKeyId) -> Option<&PropertyKey> {
        Self::property_key(self, id).map(AsRef::as_ref)
    }

    fn property_key_named(&self, name: &str) -> Option<&PropertyKey> {
        let stored = || self.property_key_by_name(name);
        let found = match self.presentation() {
            None => stored(),
            Some(presentation) => presentation
                .key_named(name)
                .or_else(|| stored().filter(|key| !presentation.replaces(key.id))),
        };
        found.map(AsRef::as_ref)
    }

    fn condition_value(&self, key: &PropertyKey, value: &Value) -> Result<Value, ViewError> {
        Ok(convert_condition(key, RawValue::from(value))?)
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        let presentation = self.presentation();
        let is_replaced = |key| presentation.is_some_and(|it| it.replaces(key));
        let seen = self.all_property_keys().map(|key| key.id);
        let seen = seen.filter(|key| !self.hides(*key) && !is_replaced(*key));
        let presented = presentation.into_iter().flat_map(Presentation::keys);
        seen.chain(presented).collect()
    }

    fn vertex_label(&self, id: VertexLabelId) -> Option<&VertexLabel> {
        Self::vertex_label(self, id).map(AsRef::as_ref)
    }

    fn vertex_label_named(&self, name: &str) -> Option<&VertexLabel> {
        self.vertex_label_by_name(name).map(AsRef::as_ref)
    }

    fn vertex_labels(&self) -> Option<Vec<VertexLabelId>> {
        Some(self.all_vertex_labels().map(|label| label.id).collect())
    }

    fn vertex_supertypes(&self, id: VertexLabelId) -> &[VertexLabelId] {
        let presentation = self.presentation();
        presentation.map_or(&[], |presentation| presentation.vertex_supertypes(id))
    }

    fn vertex_subtypes(&self, id: VertexLabelId) -> &[VertexLabelId] {
        let presentation = self.presentation();
        presentation.map_or(&[], |presentation| presentation.vertex_subtypes(id))
    }

    fn edge_subtypes(&self, id: EdgeLabelId) -> &[EdgeLabelId] {
        let presentation = self.presentation();
        presentation.map_or(&[], |presentation| presentation.edge_subtypes(id))
    }

    fn edge_supertypes(&self, id: EdgeLabelId) -> &[EdgeLabelId] {
        let presentation = self.presentation();
        presentation.map_or(&[], |presentation| presentation.edge_supertypes(id))
    }

    fn has_edge_index(&self, label: EdgeLabelId, key: PropertyKeyId) -> bool {
        let mut indexes = self.indexes_of_edge_label(label).iter();
        indexes.any(|index| {
            let finds = !matches!(index.index_type, IndexType::Search | IndexType::Unique);
            finds && is_queryable(index) && index.fields.first() == Some(&key)
        })
    }

    fn has_vertex_order(&self, label: VertexLabelId, key: PropertyKeyId) -> bool {
        has_order(self.indexes_of_vertex_label(label), key)
    }

    fn has_edge_order(&self, label: EdgeLabelId, key: PropertyKeyId) -> bool {
        has_order(self.indexes_of_edge_label(label), key)
    }

    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel> {
        Self::edge_label(self, id).map(AsRef::as_ref)
    }

    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel> {
        self.edge_label_by_name(name).map(AsRef::as_ref)
    }

    fn edge_labels(&self) -> Option<Vec<EdgeLabelId>> {
        Some(self.all_edge_labels().map(|label| label.id).collect())
    }
}

/// Whether an index has the values of a key in their order.
fn has_order(indexes: &[Arc<IndexLabel>], key: PropertyKeyId) -> bool {
    indexes.iter().any(|index| {
        let is_ordered = matches!(index.index_type, IndexType::Range | IndexType::Shard);
        is_ordered && is_queryable(index) && index.fields.first() == Some(&key)
    })
}
