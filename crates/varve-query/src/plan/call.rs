//! Services that a query calls by name.

use super::{Name, Plan};
use crate::value::ValueMap;

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The names of all services, or a map for each.
    List,
    /// The versions of an element, newest first.
    History,
    /// An element at another point of both times.
    AsOf,
    /// How many edges a vertex has.
    Degree,
    /// Properties whose value is a text with another one in it.
    Search,
}

impl Service {
    /// All that [`Service::List`] lists, in its order.
    pub const LISTED: [Self; 4] = [Self::Search, Self::Degree, Self::AsOf, Self::History];

    /// The name that it is called by.
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

    /// Whether it begins a query; the others take what comes in.
    #[must_use]
    pub const fn is_source(self) -> bool {
        matches!(self, Self::List | Self::Search)
    }

    /// Its parameters, and what each is for.
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

/// A call. What is said later replaces what is said before: the given map, the computed one, and
/// the parameters one by one.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is called.
    pub service: Service,
    /// Parameters by name.
    pub given: ValueMap,
    /// A child whose first result is a map of parameters.
    pub computed: Option<Plan>,
    /// Children whose first results are parameters.
    pub with: Vec<(Name, Plan)>,
}
