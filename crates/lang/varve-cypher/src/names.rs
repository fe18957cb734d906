//! Names that doors list.

use std::sync::Arc;

use varve_model::VertexLabelId;
use varve_view::SchemaView;

use crate::{functions, labels};

/// The names of all functions, each with whether it is an aggregate.
pub fn function_names() -> impl Iterator<Item = (&'static str, bool)> {
    let scalar = functions::all().map(|function| (function.name, false));
    scalar.chain(functions::aggregate_names().map(|name| (name, true)))
}

/// The labels of the nodes with a vertex label, sorted.
#[must_use]
pub fn labels_of(schema: &dyn SchemaView, label: VertexLabelId) -> Vec<Arc<str>> {
    labels::names(schema, label)
}
