//! Fused steps, which only rules create: several steps of a language in one.

use super::{ElementKind, Expanded, Name, Plan, Repeat};
use crate::Value;
use crate::predicate::Predicate;
use varve_model::Direction;

/// The elements that [`Fused::Counts`] counts.
#[derive(Debug, Clone)]
pub enum Counted {
    /// All elements of a source that begins a query: [`Op::Source`](super::Op::Source).
    Source(Box<super::Op>),
    /// The neighbours of the input vertices, once for each edge.
    Neighbours {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
    },
}

/// Several steps in one.
#[derive(Debug, Clone)]
pub enum Fused {
    /// As [`Op::Expand`](super::Op::Expand), where later steps need at most `most` results for each
    /// vertex.
    Few {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// Edges or vertices.
        to: Expanded,
        /// The number of results for each vertex, at least 1.
        most: u64,
    },
    /// An expansion and the count of its results; at most `most` are counted for each vertex.
    Degrees {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// The largest number counted for each vertex.
        most: u64,
        /// The direction and labels of a preceding expansion to vertices that is part of the step.
        through: Option<(Option<Direction>, Vec<Name>)>,
    },
    /// A source that begins a query, and the count of its elements.
    Elements {
        /// Vertices or edges.
        kind: ElementKind,
        /// Labels; `None` = all.
        labels: Option<Vec<Name>>,
    },
    /// A source that begins a query, its filters, and an order by one property.
    Ordered {
        /// The source and its filters.
        source: Plan,
        /// The property.
        key: Name,
        /// Whether the greatest comes first.
        descending: bool,
    },
    /// A source that begins a query, and one property or the label of each element.
    Column {
        /// The source: [`Op::Source`](super::Op::Source).
        source: Box<super::Op>,
        /// The property or the label.
        by: super::By,
    },
    /// A map from each value of a property to the number of elements that have it.
    Counts {
        /// The elements.
        of: Counted,
        /// The property; only the first value of each element counts.
        key: Name,
    },
    /// An expansion to vertices, and the values of one property of each vertex.
    NeighbourValues {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// The property.
        key: Name,
    },
    /// A loop along simple paths that ends at vertices with given ids.
    Towards {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// The possible ids of the targets, without repeats.
        targets: Vec<Value>,
        /// The predicate that the ids must satisfy.
        predicate: Predicate,
        /// The loop.
        repeat: Box<Repeat>,
    },
}
