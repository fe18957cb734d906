//! Names that doors list.

use std::sync::Arc;

use varve_model::VertexLabelId;
use varve_view::SchemaView;

use crate::functions::{Returns, Types};
use crate::{functions, labels};

/// The names of all functions, each with whether it is an aggregate.
pub fn function_names() -> impl Iterator<Item = (&'static str, bool)> {
    let scalar = functions::all().map(|function| (function.name, false));
    scalar.chain(functions::aggregate_names().map(|name| (name, true)))
}

/// A function, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionShown {
    /// Its name.
    pub name: &'static str,
    /// Whether it is an aggregate.
    pub aggregates: bool,
    /// The types of its parameters.
    pub parameters: Vec<String>,
    /// How many of the parameters a call must have.
    pub required: usize,
    /// The type of its result.
    pub returns: String,
}

/// All functions.
pub fn functions_shown() -> impl Iterator<Item = FunctionShown> {
    let scalar = functions::all().map(|one| {
        let required = one.required;
        shown(one.name, (one.parameters, required), one.returns, false)
    });
    let aggregates = functions::aggregates().map(|one| {
        let required = one.parameters.len();
        shown(one.name, (one.parameters, required), one.returns, true)
    });
    scalar.chain(aggregates)
}

fn shown(
    name: &'static str,
    (parameters, required): (&[Types], usize),
    returns: Returns,
    aggregates: bool,
) -> FunctionShown {
    FunctionShown {
        name,
        aggregates,
        parameters: parameters.iter().map(ToString::to_string).collect(),
        required,
        returns: returns.text(parameters),
    }
}

/// The labels of the nodes with a vertex label, sorted.
#[must_use]
pub fn labels_of(schema: &dyn SchemaView, label: VertexLabelId) -> Vec<Arc<str>> {
    labels::names(schema, label)
}
