//! The schema of a transaction, which may get new labels and keys while it is read.

use std::sync::{Arc, OnceLock};

use varve_model::{EdgeLabel, EdgeLabelId, PropertyKey, PropertyKeyId, VertexLabel, VertexLabelId};
use varve_view::SchemaView;

use super::OptimisticTransaction;
use crate::error::{ErrorKind, GraphError};
use crate::schema::Schema;

/// Schemas, each newer than the one before. Old ones stay: what was read of them is still in use.
pub(super) struct GrowingSchema {
    schema: Arc<Schema>,
    newer: OnceLock<Box<GrowingSchema>>,
}

/// Schemas that a transaction may see, each a copy of the one before with what is new.
const SCHEMAS_MAX: usize = 1_000;

impl Drop for GrowingSchema {
    /// One after the other: a call for each would exhaust the stack.
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

    /// The newest.
    pub(super) fn current(&self) -> &Arc<Schema> {
        &self.last().schema
    }

    /// Goes on with a newer one, unless it is the same.
    ///
    /// # Errors
    /// Over [`SCHEMAS_MAX`].
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
        // One thread makes the changes of a transaction.
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
