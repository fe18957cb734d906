//! Services that a query calls by name.

use super::{Name, Plan};
use crate::value::ValueMap;

/// The services that a query can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The names of all services, or a map that describes each.
    List,
    /// The versions of an element, newest first.
    History,
    /// An element at another point of both times.
    AsOf,
    /// The number of edges of a vertex.
    Degree,
    /// Properties whose value is a text that contains the given one.
    Search,
}

impl Service {
    /// All services that [`Service::List`] lists, in this order.
    pub const LISTED: [Self; 4] = [Self::Search, Self::Degree, Self::AsOf, Self::History];

    /// The service's name in queries.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "--list",
            Self::History => "varve.history",
            Self::AsOf => "varve.as_of",
            Self::Degree => "tinker.degree.centrality",
            Self::Search => "tinker.search",
        }
    }

    /// The service with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::LISTED.into_iter().chain([Self::List]);
        all.find(|service| service.name() == name)
    }

    /// Whether the service begins a query; the others process the input of the step.
    #[must_use]
    pub const fn is_source(self) -> bool {
        matches!(self, Self::List | Self::Search)
    }

    /// The names of the parameters, each with a description.
    #[must_use]
    pub const fn parameters(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::List => &[
                ("service", "the name of the only service to list"),
                ("verbose", "whether to describe each service"),
            ],
            Self::History => &[("limit", "the most versions; 100 without it")],
            Self::AsOf => &[
                ("as_of", "valid time: a date, or its text"),
                (
                    "as_of_tx",
                    "transaction time: a version, a date or its text",
                ),
            ],
            Self::Degree => &[("direction", "IN, OUT or BOTH; IN without it")],
            Self::Search => &[
                ("search", "the text to look for"),
                ("type", "Vertex, Edge or VertexProperty; all without it"),
            ],
        }
    }
}

/// A call. A parameter in `computed` replaces the same one in `given`; one in `with` replaces both.
#[derive(Debug, Clone)]
pub struct Call {
    /// The service.
    pub service: Service,
    /// Parameters by name.
    pub given: ValueMap,
    /// A child whose first result is a map of parameters.
    pub computed: Option<Plan>,
    /// Children whose first results are the values of parameters, by name.
    pub with: Vec<(Name, Plan)>,
}
