//! The scenarios: their names, the size of their requests, and the data that they need.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;

use super::payload::{self, Naming, VertexKind};
use super::social;

/// A scenario, by the names of the published load tests where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Scenario {
    /// Create 200 property keys, then request the same ones again
    PropertyKeys,
    /// Create vertex labels, likewise
    VertexLabels,
    /// Create edge labels, likewise
    EdgeLabels,
    /// Create one vertex a request
    SingleInsertVertices,
    /// Create one edge a request, its vertices checked
    SingleInsertEdges,
    /// Create `--vertices-per-request` vertices a request
    BatchInsertVertices,
    /// Create `--edges-per-request` edges a request, their vertices checked
    BatchInsertEdges,
    /// The same without the check (`check_vertex=false`)
    BatchInsertEdgesUnchecked,
    /// Read a vertex by its id
    VertexById,
    /// Read an edge by its id
    EdgeById,
    /// Read the edges out of a vertex
    Adjacency,
    /// Overwrite `--vertices-per-request` existing vertices a request
    Overwrite,
    /// Gremlin, on the social graph: a person
    GremlinVertex,
    /// The names of the persons whom a person knows
    GremlinOut,
    /// The number of persons two steps away
    GremlinTwoHops,
    /// The number of persons up to three steps away
    GremlinThreeHops,
    /// A person by name
    GremlinByName,
    /// The ten oldest persons
    GremlinTopAges,
    /// The number of persons of a city whom a person has known since a given year
    GremlinFiltered,
    /// The cities of the persons two steps away, in either direction
    GremlinNeighbourCities,
    /// A path between two persons
    GremlinPath,
    /// The cities of all persons
    GremlinCities,
    /// The number of all walks of two steps
    GremlinAllTwoHops,
    /// Gremlin: change the person with a name by mergeV
    GremlinMerge,
    /// Traversers, on the social graph: k-out of two steps
    #[value(name = "kout_2")]
    KOutTwo,
    /// k-out of three steps
    #[value(name = "kout_3")]
    KOutThree,
    /// k-neighbor of two steps
    #[value(name = "kneighbor_2")]
    KNeighborTwo,
    /// A shortest path
    ShortestPath,
    /// All shortest paths
    AllShortestPaths,
    /// Jaccard similarity of two persons
    Jaccard,
    /// Common neighbours of two persons
    SameNeighbors,
    /// Rings of up to three steps
    Rings,
    /// Create persons
    #[value(hide = true)]
    LoadPersons,
    /// Create edges between persons
    #[value(hide = true)]
    LoadKnows,
}

/// The scenarios of the published tables, in their order.
pub(crate) const PUBLISHED: &[Scenario] = &[
    Scenario::PropertyKeys,
    Scenario::VertexLabels,
    Scenario::EdgeLabels,
    Scenario::SingleInsertVertices,
    Scenario::SingleInsertEdges,
    Scenario::BatchInsertVertices,
    Scenario::BatchInsertEdges,
    Scenario::VertexById,
    Scenario::EdgeById,
];

/// Data that must be loaded before a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Vertices(VertexKind),
    Edges,
    Knows,
}

/// All data, with its name.
pub(crate) const NEEDS: [(Need, &str); 4] = [
    (Need::Vertices(VertexKind::Plain), "vertices"),
    (Need::Edges, "edges"),
    (Need::Vertices(VertexKind::Person), "persons"),
    (Need::Knows, "edges between persons"),
];

impl Need {
    const fn index(self) -> usize {
        match self {
            Self::Vertices(VertexKind::Plain) => 0,
            Self::Edges => 1,
            Self::Vertices(VertexKind::Person) => 2,
            Self::Knows => 3,
        }
    }

    /// What the data is called.
    pub(crate) const fn name(self) -> &'static str {
        NEEDS[self.index()].1
    }

    pub(crate) const fn load(self) -> Scenario {
        match self {
            Self::Vertices(VertexKind::Plain) => Scenario::BatchInsertVertices,
            Self::Vertices(VertexKind::Person) => Scenario::LoadPersons,
            Self::Edges => Scenario::BatchInsertEdgesUnchecked,
            Self::Knows => Scenario::LoadKnows,
        }
    }
}

impl Scenario {
    /// The name in tables, files and on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether the scenario only loads data for others.
    pub(crate) const fn is_load(self) -> bool {
        matches!(self, Self::LoadPersons | Self::LoadKnows)
    }

    /// Whether the scenario reads the social graph.
    pub(crate) fn is_social(self) -> bool {
        self.needs().contains(&Need::Knows)
    }

    pub(crate) const fn needs(self) -> &'static [Need] {
        match self {
            Self::PropertyKeys
            | Self::VertexLabels
            | Self::EdgeLabels
            | Self::SingleInsertVertices
            | Self::BatchInsertVertices
            | Self::LoadPersons
            | Self::LoadKnows => &[],
            Self::SingleInsertEdges
            | Self::BatchInsertEdges
            | Self::BatchInsertEdgesUnchecked
            | Self::VertexById
            | Self::Overwrite => &[Need::Vertices(VertexKind::Plain)],
            Self::EdgeById | Self::Adjacency => &[Need::Vertices(VertexKind::Plain), Need::Edges],
            _ => &[Need::Vertices(VertexKind::Person), Need::Knows],
        }
    }

    /// The kind of elements that the scenario adds, if it adds any that can be read back.
    pub(crate) const fn inserts(self) -> Option<Need> {
        match self {
            Self::SingleInsertVertices | Self::BatchInsertVertices => {
                Some(Need::Vertices(VertexKind::Plain))
            }
            Self::SingleInsertEdges | Self::BatchInsertEdges | Self::BatchInsertEdgesUnchecked => {
                Some(Need::Edges)
            }
            Self::LoadPersons => Some(Need::Vertices(VertexKind::Person)),
            _ => None,
        }
    }

    /// Whether it writes elements that can be read back.
    pub(crate) const fn writes(self) -> bool {
        self.inserts().is_some() || self.is_schema() || matches!(self, Self::Overwrite)
    }

    /// Whether it creates elements of the schema.
    pub(crate) const fn is_schema(self) -> bool {
        matches!(
            self,
            Self::PropertyKeys | Self::VertexLabels | Self::EdgeLabels
        )
    }

    /// Elements that a request writes or reads.
    pub(crate) const fn items(self, sizes: &Sizes) -> u32 {
        match self {
            Self::BatchInsertVertices | Self::LoadPersons | Self::Overwrite => {
                sizes.vertices_per_request
            }
            Self::BatchInsertEdges | Self::BatchInsertEdgesUnchecked | Self::LoadKnows => {
                sizes.edges_per_request
            }
            _ => 1,
        }
    }
}

/// Sizes and shares that options set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) vertices_per_request: u32,
    pub(crate) edges_per_request: u32,
    /// Vertices loaded of each kind, before reads and edges.
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
}

/// The address of the graph on the server, as text in requests.
#[derive(Debug, Clone)]
pub(crate) struct GraphAddress {
    pub(crate) headers: String,
    /// Path of the graph: `/graphs/hugegraph`.
    pub(crate) base: String,
    /// The name of the graph's traversal source in Gremlin: `__g_hugegraph`.
    pub(crate) source: String,
    /// The text between the ids of the two ends in an edge id, percent-encoded: `%3E1%3E1%3E%3E`.
    pub(crate) edge_middle: String,
    /// Whether the bodies of answers are checked, too.
    pub(crate) checked: bool,
}

/// The data that all workers of a run share.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) naming: Naming,
    pub(crate) sizes: Sizes,
    /// The next number of each kind, in the order of [`NEEDS`].
    given: [AtomicU64; NEEDS.len()],
    pub(super) schema: AtomicU64,
}

impl Data {
    pub(crate) fn new(naming: Naming, sizes: Sizes) -> Self {
        Self {
            naming,
            sizes,
            given: Default::default(),
            schema: AtomicU64::default(),
        }
    }

    /// How many numbers of a kind were assigned.
    pub(crate) fn given(&self, need: Need) -> &AtomicU64 {
        &self.given[need.index()]
    }

    /// Assigns `count` numbers and returns the first. `None` if fewer unused numbers are left.
    pub(crate) fn take(&self, need: Need, count: u64) -> Option<u64> {
        let (given, capacity) = (self.given(need), self.capacity(need));
        let next = |first: u64| Some(first + count).filter(|end| *end <= capacity);
        given
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .ok()
    }

    /// The number of different elements of a kind that can exist.
    pub(crate) const fn capacity(&self, need: Need) -> u64 {
        match need {
            Need::Vertices(kind) => kind.capacity(),
            Need::Edges => payload::edge_capacity(self.sizes.vertices),
            // The last request may exceed the planned edges; the surplus ones join any two persons.
            Need::Knows => u64::MAX,
        }
    }

    /// The number of elements to load for a need.
    pub(crate) const fn wanted(&self, need: Need) -> u64 {
        match need {
            Need::Vertices(_) => self.sizes.vertices,
            Need::Edges => self.sizes.edges,
            Need::Knows => self.sizes.vertices * social::KNOWN,
        }
    }

    /// Why the wanted number of elements cannot be loaded, if so.
    pub(crate) fn too_many(&self, need: Need) -> Option<String> {
        let (wanted, capacity) = (self.wanted(need), self.capacity(need));
        let vertices = self.sizes.vertices;
        (wanted > capacity).then(|| match need {
            Need::Vertices(_) => format!(
                "--vertices {wanted}: there are only {capacity} ids for them: use fewer --vertices"
            ),
            Need::Edges | Need::Knows => format!(
                "--edges {wanted}: there are only {capacity} different ones between {vertices} vertices: use more --vertices, or fewer --edges"
            ),
        })
    }

    /// Why a scenario cannot add further elements, if so.
    pub(crate) fn exhausted(&self, scenario: Scenario) -> Option<String> {
        let need = scenario.inserts()?;
        let (given, capacity) = (self.given(need), self.capacity(need));
        let items = u64::from(scenario.items(&self.sizes));
        let left = capacity.saturating_sub(given.load(Ordering::Relaxed));
        (left < items).then(|| match need {
            Need::Vertices(_) => {
                format!("a request has {items} new vertices, and {left} of {capacity} ids are left")
            }
            Need::Edges | Need::Knows => format!(
                "a request has {items} new edges, and {left} of the {capacity} between {} vertices are left: use more --vertices",
                self.sizes.vertices
            ),
        })
    }

    /// A description of the elements of this run in the store.
    pub(crate) fn describe(&self) -> String {
        let parts = NEEDS.iter().filter_map(|(need, what)| {
            let count = self.given(*need).load(Ordering::Relaxed);
            (count > 0).then(|| format!("{count} {what}"))
        });
        let parts: Vec<String> = parts.collect();
        match parts.is_empty() {
            true => "nothing of this run".to_owned(),
            false => parts.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_documented() {
        let page = include_str!("../../../../../docs/bench.md");
        for scenario in Scenario::value_variants().iter().filter(|it| !it.is_load()) {
            let name = format!("`{}`", scenario.name());
            assert!(page.contains(&name), "docs/bench.md does not have {name}");
        }
    }

    #[test]
    fn no_more_is_loaded_than_there_can_be() {
        let too_many = |need, vertices, edges| {
            let sizes = Sizes {
                vertices_per_request: 200,
                edges_per_request: 200,
                vertices,
                edges,
            };
            let naming = Naming {
                prefix: *b"abc",
                seed: 1,
            };
            Data::new(naming, sizes).too_many(need)
        };
        for kind in [VertexKind::Plain, VertexKind::Person] {
            let need = Need::Vertices(kind);
            let most = kind.capacity();
            assert_eq!(too_many(need, most, 0), None, "{kind:?}");
            let why = too_many(need, most + 1, 0).expect("one more than there are ids");
            assert!(why.contains("fewer --vertices"), "{why}");
        }
        assert_eq!(too_many(Need::Edges, 25, 625), None);
        let why = too_many(Need::Edges, 25, 626).expect("one more than there can be");
        assert!(why.contains("more --vertices"), "{why}");
    }
}
