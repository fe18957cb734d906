//! A [`Schema`] as queries read it: [`SchemaView`].

use varve_model::{
    EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, Value, VertexLabel, VertexLabelId,
};
use varve_view::{SchemaView, ViewError};

use super::Schema;
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
        self.property_key_by_name(name).map(AsRef::as_ref)
    }

    fn condition_value(&self, key: &PropertyKey, value: &Value) -> Result<Value, ViewError> {
        Ok(convert_condition(key, RawValue::from(value))?)
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        let seen = self.all_property_keys().filter(|key| !self.hides(key.id));
        seen.map(|key| key.id).collect()
    }

    fn vertex_label(&self, id: VertexLabelId) -> Option<&VertexLabel> {
        Self::vertex_label(self, id).map(AsRef::as_ref)
    }

    fn vertex_label_named(&self, name: &str) -> Option<&VertexLabel> {
        self.vertex_label_by_name(name).map(AsRef::as_ref)
    }

    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel> {
        Self::edge_label(self, id).map(AsRef::as_ref)
    }

    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel> {
        self.edge_label_by_name(name).map(AsRef::as_ref)
    }
}
