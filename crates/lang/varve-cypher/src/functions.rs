//! The table of functions and aggregates: names, arities, static types and implementations.

mod aggregates;
mod apoc;
mod conversions;
mod elements;
#[cfg(test)]
mod examples;
mod function;
mod lists;
mod numbers;
mod points;
mod strings;
mod temporals;
#[cfg(test)]
mod tests;
mod types;
mod vectors;
pub(crate) mod versions;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use aggregates::{Accumulator, Aggregate};
pub(crate) use function::{Function, bad_value, integer};
pub(crate) use types::{Returns, Types};

/// The scalar function with a name, in any case, such as `date.truncate`.
pub(crate) fn lookup(name: &str) -> Option<&'static Function> {
    static TABLE: LazyLock<HashMap<String, &'static Function>> = LazyLock::new(|| {
        all()
            .map(|function| (function.name.to_lowercase(), function))
            .collect()
    });
    TABLE.get(&name.to_lowercase()).copied()
}

/// Whether a function of Cypher 5 or Cypher 25 has this name, in any case, but Varve lacks it.
pub(crate) fn is_missing(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "allReduce",
        "coll.distinct",
        "coll.flatten",
        "coll.indexOf",
        "coll.insert",
        "coll.max",
        "coll.min",
        "coll.remove",
        "coll.sort",
        "date.epoch",
        "db.nameFromElementId",
        "file",
        "graph.byElementId",
        "graph.byName",
        "graph.names",
        "graph.propertiesByName",
        "linenumber",
        "normalize",
        "vector",
        "vector_dimension_count",
        "vector_distance",
        "vector_norm",
    ];
    NAMES.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// The aggregate with a name, in any case.
pub(crate) fn lookup_aggregate(name: &str) -> Option<&'static Aggregate> {
    aggregates::TABLE
        .iter()
        .find(|aggregate| aggregate.name.eq_ignore_ascii_case(name))
}

/// All scalar functions.
pub(crate) fn all() -> impl Iterator<Item = &'static Function> {
    [
        lists::TABLE,
        elements::TABLE,
        numbers::TABLE,
        strings::TABLE,
        conversions::TABLE,
        points::TABLE,
        vectors::TABLE,
        versions::TABLE,
        apoc::TABLE,
    ]
    .into_iter()
    .chain(temporals::TABLES)
    .flatten()
}

/// All aggregates.
pub(crate) fn aggregates() -> impl Iterator<Item = &'static Aggregate> {
    aggregates::TABLE.iter()
}

/// The names of all aggregates.
pub(crate) fn aggregate_names() -> impl Iterator<Item = &'static str> {
    aggregates().map(|aggregate| aggregate.name)
}
