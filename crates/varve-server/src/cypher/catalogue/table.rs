//! The table of procedures.

use varve_cypher::tree::{TypeKind, TypeName, ValueType};
use varve_cypher::{Graph, Value};

use super::{Catalogue, Rows, algorithms, apoc, listing, refactor, schema, traversers, writing};

/// Names and types.
type Fields = &'static [(&'static str, &'static str)];

/// A procedure.
pub(super) struct Procedure {
    pub(super) name: &'static str,
    pub(super) arguments: Fields,
    /// How many of the arguments a call must have.
    pub(super) required: usize,
    pub(super) columns: Fields,
    pub(super) writes: bool,
    /// What it does; empty for those that stand for `SHOW`.
    pub(super) description: &'static str,
    pub(super) body: fn(&Catalogue, &[Value], &Graph<'_>) -> Rows,
}

/// The type with a name; `LIST<T>` of names.
pub(super) fn value_type(name: &str) -> ValueType {
    let kind = match name.strip_prefix("LIST<") {
        Some(item) => TypeKind::List(Box::new(value_type(item.trim_end_matches('>')))),
        None => TypeKind::Named(match name {
            "BOOLEAN" => TypeName::Boolean,
            "STRING" => TypeName::String,
            "INTEGER" => TypeName::Integer,
            "FLOAT" => TypeName::Float,
            "MAP" => TypeName::Map,
            "NODE" => TypeName::Node,
            "RELATIONSHIP" => TypeName::Relationship,
            "PATH" => TypeName::Path,
            "ZONED DATETIME" => TypeName::ZonedDateTime,
            _ => TypeName::Any,
        }),
    };
    ValueType {
        kind,
        not_null: false,
    }
}

const fn reads(
    name: &'static str,
    columns: Fields,
    description: &'static str,
    body: fn(&Catalogue, &[Value], &Graph<'_>) -> Rows,
) -> Procedure {
    Procedure {
        name,
        arguments: &[],
        required: 0,
        columns,
        writes: false,
        description,
        body,
    }
}

impl Procedure {
    const fn takes(mut self, arguments: Fields, required: usize) -> Self {
        self.arguments = arguments;
        self.required = required;
        self
    }

    const fn changes(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Whether it needs no graph.
    pub(super) fn works_on_system(&self) -> bool {
        let of_graph = ["varve.show.indexes", "varve.show.constraints"];
        let prefixes = ["dbms.", "varve.show.", "db.ping", "db.info"];
        let has_prefix = prefixes.iter().any(|prefix| self.name.starts_with(prefix));
        has_prefix && !of_graph.contains(&self.name)
    }
}

const STRING: &str = "STRING";
const INTEGER: &str = "INTEGER";
const BOOLEAN: &str = "BOOLEAN";
const STRINGS: &str = "LIST<STRING>";
const DATETIME: &str = "ZONED DATETIME";
const MAP: &str = "MAP";
const CONFIG: Fields = &[("config", MAP)];
const NODE: &str = "NODE";
const ENDS: Fields = &[("source", NODE), ("target", NODE), ("config", MAP)];
const FROM: Fields = &[("source", NODE), ("depth", INTEGER), ("config", MAP)];
const PATH: Fields = &[("path", "PATH"), ("length", INTEGER)];
const SCORE: Fields = &[("node", NODE), ("score", "FLOAT")];
const GROUP: Fields = &[("node", NODE), ("group", INTEGER)];
const GRAPH: Fields = &[("nodes", "LIST<MAP>"), ("relationships", "LIST<MAP>")];

pub(super) static TABLE: &[Procedure] = &[
    reads(
        "dbms.components",
        &[("name", STRING), ("versions", STRINGS), ("edition", STRING)],
        "The name, the versions and the edition that clients expect of the server.",
        listing::components,
    ),
    reads(
        "varve.history",
        &[
            ("version", INTEGER),
            ("recorded_at", DATETIME),
            ("valid_from", DATETIME),
            ("valid_to", DATETIME),
            ("kind", STRING),
            ("properties", MAP),
        ],
        "The versions of a node, a relationship or the element with an elementId, newest first.",
        |_, arguments, graph| {
            varve_cypher::history(arguments.first().unwrap_or(&Value::Null), graph)
        },
    )
    .takes(&[("element", "ANY")], 1),
    reads(
        "db.info",
        &[("id", STRING), ("name", STRING), ("creationDate", STRING)],
        "The database.",
        listing::info,
    ),
    reads(
        "db.ping",
        &[("success", BOOLEAN)],
        "Answers, to show that the database is there.",
        listing::ping,
    ),
    reads(
        "db.labels",
        &[("label", STRING)],
        "The labels of nodes.",
        schema::labels,
    ),
    reads(
        "db.relationshipTypes",
        &[("relationshipType", STRING)],
        "The types of relationships.",
        schema::relationship_types,
    ),
    reads(
        "db.propertyKeys",
        &[("propertyKey", STRING)],
        "The keys of properties.",
        schema::property_keys,
    ),
    reads(
        "db.schema.nodeTypeProperties",
        &[
            ("nodeType", STRING),
            ("nodeLabels", STRINGS),
            ("propertyName", STRING),
            ("propertyTypes", STRINGS),
            ("mandatory", BOOLEAN),
        ],
        "The properties of nodes by their labels, from a sample.",
        schema::node_type_properties,
    ),
    reads(
        "db.schema.relTypeProperties",
        &[
            ("relType", STRING),
            ("propertyName", STRING),
            ("propertyTypes", STRINGS),
            ("mandatory", BOOLEAN),
        ],
        "The properties of relationships by their types, from a sample.",
        schema::rel_type_properties,
    ),
    reads(
        "apoc.meta.data",
        &[
            ("label", STRING),
            ("property", STRING),
            ("count", INTEGER),
            ("unique", BOOLEAN),
            ("index", BOOLEAN),
            ("existence", BOOLEAN),
            ("type", STRING),
            ("array", BOOLEAN),
            ("sample", "LIST<ANY>"),
            ("left", INTEGER),
            ("right", INTEGER),
            ("other", STRINGS),
            ("otherLabels", STRINGS),
            ("elementType", STRING),
        ],
        "Labels, types and properties, from a sample.",
        schema::apoc_data,
    )
    .takes(CONFIG, 0),
    reads(
        "apoc.meta.schema",
        &[("value", MAP)],
        "Labels, types and properties as one map, from a sample.",
        schema::apoc_schema,
    )
    .takes(CONFIG, 0),
    reads(
        "apoc.merge.node",
        &[("node", "NODE")],
        "Finds a node with these labels and properties, or creates it.",
        writing::merge_node,
    )
    .takes(
        &[
            ("labels", STRINGS),
            ("identProps", MAP),
            ("onCreateProps", MAP),
            ("onMatchProps", MAP),
        ],
        2,
    )
    .changes(),
    reads(
        "apoc.merge.relationship",
        &[("rel", "RELATIONSHIP")],
        "Finds a relationship of this type with these properties between two nodes, or creates it.",
        writing::merge_relationship,
    )
    .takes(
        &[
            ("startNode", "NODE"),
            ("relType", STRING),
            ("identProps", MAP),
            ("onCreateProps", MAP),
            ("endNode", "NODE"),
            ("onMatchProps", MAP),
        ],
        5,
    )
    .changes(),
    reads(
        "apoc.meta.graph",
        GRAPH,
        "Labels, types and their numbers as maps, from a sample.",
        apoc::meta_graph,
    )
    .takes(CONFIG, 0),
    reads(
        "apoc.meta.subGraph",
        GRAPH,
        "Labels, types and their numbers as maps, from a sample.",
        apoc::meta_graph,
    )
    .takes(CONFIG, 1),
    reads(
        "apoc.schema.nodes",
        apoc::SCHEMA_NODES,
        "The indexes of nodes.",
        apoc::schema_nodes,
    )
    .takes(CONFIG, 0),
    reads(
        "apoc.schema.properties.distinct",
        &[("value", "LIST<ANY>")],
        "The different values of a property of the nodes with a label.",
        apoc::properties_distinct,
    )
    .takes(&[("label", STRING), ("key", STRING)], 2),
    reads(
        "apoc.util.validate",
        &[],
        "An error with the message if the predicate is true.",
        apoc::validate,
    )
    .takes(
        &[
            ("predicate", BOOLEAN),
            ("message", STRING),
            ("params", "LIST<ANY>"),
        ],
        3,
    ),
    reads(
        "apoc.create.addLabels",
        &[("node", "NODE")],
        "Adds labels to nodes.",
        writing::add_labels,
    )
    .takes(&[("nodes", "ANY"), ("labels", STRINGS)], 2)
    .changes(),
    reads(
        "db.create.setNodeVectorProperty",
        &[],
        "Sets a property of a node to a list of numbers.",
        writing::set_vector,
    )
    .takes(&[("node", "NODE"), ("key", STRING), ("vector", "ANY")], 3)
    .changes(),
    reads(
        "db.create.setRelationshipVectorProperty",
        &[],
        "Sets a property of a relationship to a list of numbers.",
        writing::set_vector,
    )
    .takes(
        &[
            ("relationship", "RELATIONSHIP"),
            ("key", STRING),
            ("vector", "ANY"),
        ],
        3,
    )
    .changes(),
    reads(
        "apoc.refactor.mergeNodes",
        &[("node", NODE)],
        "Moves labels, properties and relationships of nodes to the first, and deletes the others.",
        refactor::merge_nodes,
    )
    .takes(&[("nodes", "LIST<NODE>"), ("config", MAP)], 1)
    .changes(),
    reads(
        "db.schema.visualization",
        GRAPH,
        "Labels with their indexes, and types with the labels at their ends, as maps.",
        apoc::visualization,
    ),
    reads(
        "varve.algo.betweenness",
        SCORE,
        "The shares of the shortest paths that lead through each node.",
        algorithms::betweenness,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.closeness",
        SCORE,
        "How near each node is to the others.",
        algorithms::closeness,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.degree",
        &[("node", NODE), ("degree", INTEGER)],
        "The number of each node's relationships.",
        algorithms::degree,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.eigenvector",
        SCORE,
        "The eigenvector of the adjacency matrix, of length 1.",
        algorithms::eigenvector,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.kcore",
        &[("node", NODE), ("core", INTEGER)],
        "The greatest k of the k-cores that have the node.",
        algorithms::core_numbers,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.lpa",
        GROUP,
        "Communities by label propagation.",
        algorithms::label_propagation,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.louvain",
        GROUP,
        "Communities by greedy modularity.",
        algorithms::louvain,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.pageRank",
        SCORE,
        "PageRank, in sum 1; personal, if there are sources.",
        algorithms::page_rank,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.scc",
        GROUP,
        "The parts whose nodes reach each other along the relationships.",
        algorithms::strong_components,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.stress",
        SCORE,
        "The number of shortest paths that lead through each node.",
        algorithms::stress,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.triangles",
        &[
            ("node", NODE),
            ("triangles", INTEGER),
            ("coefficient", "FLOAT"),
        ],
        "The triangles of each node, and how many of its neighbours are neighbours.",
        algorithms::triangles,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.wcc",
        GROUP,
        "The parts that relationships connect.",
        algorithms::weak_components,
    )
    .takes(CONFIG, 0),
    reads(
        "varve.algo.sssp",
        &[("node", NODE), ("distance", "FLOAT")],
        "The lengths of the shortest paths from a node to those that it reaches.",
        algorithms::distances,
    )
    .takes(&[("source", NODE), ("config", MAP)], 1),
    reads(
        "varve.kout",
        &[("node", NODE)],
        "The nodes at a number of steps from a node.",
        traversers::k_out,
    )
    .takes(FROM, 2),
    reads(
        "varve.kneighbor",
        &[("node", NODE), ("distance", INTEGER)],
        "The nodes within a number of steps from a node, nearest first.",
        traversers::k_neighbor,
    )
    .takes(FROM, 2),
    reads(
        "varve.shortestPath",
        PATH,
        "A path with the fewest relationships between two nodes, or all of them.",
        traversers::shortest_path,
    )
    .takes(ENDS, 2),
    reads(
        "varve.weightedShortestPath",
        &[("path", "PATH"), ("weight", "FLOAT")],
        "The path between two nodes whose relationships have the least sum of a property.",
        traversers::lightest_path,
    )
    .takes(
        &[
            ("source", NODE),
            ("target", NODE),
            ("weight", STRING),
            ("config", MAP),
        ],
        3,
    ),
    reads(
        "varve.paths",
        PATH,
        "The paths between two nodes that visit no node twice, shortest first.",
        traversers::paths,
    )
    .takes(
        &[
            ("source", NODE),
            ("target", NODE),
            ("maxDepth", INTEGER),
            ("config", MAP),
        ],
        3,
    ),
    reads(
        "varve.rings",
        PATH,
        "The walks from a node that return to it.",
        traversers::rings,
    )
    .takes(FROM, 2),
    reads(
        "varve.sameNeighbors",
        &[("node", NODE)],
        "The nodes that are neighbours of both nodes.",
        traversers::same_neighbors,
    )
    .takes(ENDS, 2),
    reads(
        "varve.jaccardSimilarity",
        &[("similarity", "FLOAT")],
        "The share of common neighbours among the neighbours of two nodes.",
        traversers::jaccard,
    )
    .takes(ENDS, 2),
    reads(
        "dbms.clientConfig",
        &[
            ("name", STRING),
            ("description", STRING),
            ("value", STRING),
            ("dynamic", BOOLEAN),
        ],
        "The settings that clients ask for at their start.",
        listing::client_config,
    ),
    reads(
        "varve.show.procedures",
        listing::PROCEDURES,
        "",
        listing::procedures,
    ),
    reads(
        "varve.show.functions",
        listing::FUNCTIONS,
        "",
        listing::functions,
    ),
    reads("varve.show.indexes", listing::INDEXES, "", listing::indexes)
        .takes(&[("kind", STRING)], 1),
    reads(
        "varve.show.constraints",
        listing::CONSTRAINTS,
        "",
        listing::constraints,
    )
    .takes(&[("kind", STRING), ("relationships", BOOLEAN)], 2),
    reads(
        "varve.show.databases",
        listing::DATABASES,
        "",
        listing::databases,
    )
    .takes(&[("name", STRING)], 1),
    reads(
        "varve.show.currentUser",
        listing::CURRENT_USER,
        "",
        listing::current_user,
    ),
];
