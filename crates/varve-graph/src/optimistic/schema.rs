//! The schema of a transaction, which may get new labels and keys while references to it are in
//! use.

use std::sync::{Arc, OnceLock};

use varve_model::{
    EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, Value, VertexLabel, VertexLabelId,
};
use varve_view::{SchemaView, ViewError};

use super::OptimisticTransaction;
use crate::error::{ErrorKind, GraphError};
use crate::schema::Schema;

/// A linked list of schemas, each newer than the one before. Old ones stay, since references to
/// them may be in use.
pub(super) struct GrowingSchema {
    schema: Arc<Schema>,
    newer: OnceLock<Box<GrowingSchema>>,
}

/// The most schemas of a transaction (count); each is a copy of the one before with the new
/// elements.
const SCHEMAS_MAX: usize = 1_000;

impl Drop for GrowingSchema {
    /// Drops the list in a loop: a recursive drop would exhaust the stack.
    fn drop(&mut self) {
        let mut next = self.newer.take();
        while let Some(mut schema) = next {
            next = schema.newer.take();
        }
    }
}

impl GrowingSchema {
    pub(super) const fn new(schema: Arc<Schema>) -> Self {
        Self {
            schema,
            newer: OnceLock::new(),
        }
    }

    pub(super) fn current(&self) -> &Arc<Schema> {
        &self.last().schema
    }

    /// Appends a newer schema, unless it is the current one.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] over [`SCHEMAS_MAX`].
    pub(super) fn renew(&self, schema: &Arc<Schema>) -> Result<(), GraphError> {
        let (mut last, mut count) = (self, 1);
        while let Some(newer) = last.newer.get() {
            (last, count) = (newer, count + 1);
        }
        if Arc::ptr_eq(&last.schema, schema) {
            return Ok(());
        }
        if count >= SCHEMAS_MAX {
            return Err(GraphError::new(
                ErrorKind::LimitExceeded,
                format!(
                    "The schema has changed {SCHEMAS_MAX} times in one transaction: commit in \
                     between"
                ),
            ));
        }
        // Only one thread changes a transaction, so this cannot fail.
        let _ = last.newer.set(Box::new(Self::new(Arc::clone(schema))));
        Ok(())
    }

    fn last(&self) -> &Self {
        let mut last = self;
        while let Some(newer) = last.newer.get() {
            last = newer;
        }
        last
    }
}

impl SchemaView for OptimisticTransaction {
    fn is_open(&self) -> bool {
        self.schema.current().is_open()
    }

    fn is_strict(&self) -> bool {
        !self.schema.current().is_open()
    }

    fn property_key(&self, id: PropertyKeyId) -> Option<&PropertyKey> {
        SchemaView::property_key(&**self.schema.current(), id)
    }

    fn property_key_named(&self, name: &str) -> Option<&PropertyKey> {
        SchemaView::property_key_named(&**self.schema.current(), name)
    }

    fn condition_value(&self, key: &PropertyKey, value: &Value) -> Result<Value, ViewError> {
        SchemaView::condition_value(&**self.schema.current(), key, value)
    }

    fn property_keys(&self) -> Vec<PropertyKeyId> {
        SchemaView::property_keys(&**self.schema.current())
    }

    fn vertex_label(&self, id: VertexLabelId) -> Option<&VertexLabel> {
        SchemaView::vertex_label(&**self.schema.current(), id)
    }

    fn vertex_label_named(&self, name: &str) -> Option<&VertexLabel> {
        SchemaView::vertex_label_named(&**self.schema.current(), name)
    }

    fn vertex_labels(&self) -> Option<Vec<VertexLabelId>> {
        SchemaView::vertex_labels(&**self.schema.current())
    }

    fn vertex_supertypes(&self, id: VertexLabelId) -> &[VertexLabelId] {
        SchemaView::vertex_supertypes(&**self.schema.current(), id)
    }

    fn edge_supertypes(&self, id: EdgeLabelId) -> &[EdgeLabelId] {
        SchemaView::edge_supertypes(&**self.schema.current(), id)
    }

    fn vertex_subtypes(&self, id: VertexLabelId) -> &[VertexLabelId] {
        SchemaView::vertex_subtypes(&**self.schema.current(), id)
    }

    fn edge_subtypes(&self, id: EdgeLabelId) -> &[EdgeLabelId] {
        SchemaView::edge_subtypes(&**self.schema.current(), id)
    }

    fn has_edge_index(&self, label: EdgeLabelId, key: PropertyKeyId) -> bool {
        SchemaView::has_edge_index(&**self.schema.current(), label, key)
    }

    fn has_vertex_order(&self, label: VertexLabelId, key: PropertyKeyId) -> bool {
        SchemaView::has_vertex_order(&**self.schema.current(), label, key)
    }

    fn has_edge_order(&self, label: EdgeLabelId, key: PropertyKeyId) -> bool {
        SchemaView::has_edge_order(&**self.schema.current(), label, key)
    }

    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel> {
        SchemaView::edge_label(&**self.schema.current(), id)
    }

    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel> {
        SchemaView::edge_label_named(&**self.schema.current(), name)
    }

    fn edge_labels(&self) -> Option<Vec<EdgeLabelId>> {
        SchemaView::edge_labels(&**self.schema.current())
    }
}
