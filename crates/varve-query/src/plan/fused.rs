//! Steps that only rules make: several steps of a language in one.

use super::{ElementKind, Expanded, Name, Plan, Repeat};
use crate::Value;
use crate::predicate::Predicate;
use varve_model::Direction;

/// What [`Fused::Counts`] counts.
#[derive(Debug, Clone)]
pub enum Counted {
    /// All that a source gives which begins a query: [`Op::Source`](super::Op::Source).
    Source(Box<super::Op>),
    /// The other ends of the edges of the vertices that come in.
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
    /// As [`Op::Expand`](super::Op::Expand), where nobody needs more than `most` of each vertex.
    Few {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// What it gives.
        to: Expanded,
        /// How many of each vertex, at least one.
        most: u64,
    },
    /// An expansion and the count of what it gives. A vertex counts up to `most`.
    Degrees {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// How many of each vertex are counted.
        most: u64,
        /// The direction and labels of an expansion to vertices before it that is part of the step.
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
    /// Elements, and how many of them have each value of a property, as a map.
    Counts {
        /// Which elements.
        of: Counted,
        /// The property, of which an element's first value counts.
        key: Name,
    },
    /// An expansion to vertices, and one property of each that has it.
    NeighbourValues {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// The property, which has one value.
        key: Name,
    },
    /// A loop along simple paths until vertices with given ids.
    Towards {
        /// Which way the edges are walked; `None` = both.
        direction: Option<Direction>,
        /// Edge labels. Empty = all.
        labels: Vec<Name>,
        /// The ids that may be meant, each once.
        targets: Vec<Value>,
        /// What the ids must satisfy.
        predicate: Predicate,
        /// The loop.
        repeat: Box<Repeat>,
    },
}
