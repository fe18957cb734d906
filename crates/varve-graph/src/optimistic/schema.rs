//! The schema of a transaction, which may get new labels and keys while it is read.

use std::sync::{Arc, OnceLock};

use varve_model::{EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, VertexLabel, VertexLabelId};
use varve_view::SchemaView;

use super::OptimisticTransaction;
use crate::schema::Schema;

/// Schemas, each newer than the one before. Old ones stay: what was read of them is still in use.
pub(super) struct GrowingSchema {
    schema: Arc<Schema>,
    newer: OnceLock<Box<GrowingSchema>>,
}

impl GrowingSchema {
    pub(super) const fn new(schema: Arc<Schema>) -> Self {
        Self {
            schema,
            newer: OnceLock::new(),
        }
    }

    /// The newest.
    pub(super) fn current(&self) -> &Arc<Schema> {
        &self.last().schema
    }

    /// Goes on with a newer one, unless it is the same.
    pub(super) fn renew(&self, schema: &Arc<Schema>) {
        let last = self.last();
        if !Arc::ptr_eq(&last.schema, schema) {
            // One thread makes the changes of a transaction.
            let _ = last.newer.set(Box::new(Self::new(Arc::clone(schema))));
        }
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

    fn property_key(&self, id: PropertyKeyId) -> Option<&PropertyKey> {
        SchemaView::property_key(&**self.schema.current(), id)
    }

    fn property_key_named(&self, name: &str) -> Option<&PropertyKey> {
        SchemaView::property_key_named(&**self.schema.current(), name)
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

    fn edge_label(&self, id: EdgeLabelId) -> Option<&EdgeLabel> {
        SchemaView::edge_label(&**self.schema.current(), id)
    }

    fn edge_label_named(&self, name: &str) -> Option<&EdgeLabel> {
        SchemaView::edge_label_named(&**self.schema.current(), name)
    }
}
