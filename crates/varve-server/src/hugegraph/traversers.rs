//! `…/traversers/…`: HugeGraph's traversers, over `varve-traversal`.
//!
//! Every traverser takes `as_of` and `as_of_tx`, and runs on the pool for long reads, where it lets
//! short reads go first. It ends with the request's time, when the client is gone, at
//! `server.max_traversal_rows` and at `server.max_traversal_bytes`.

mod answer;
mod bodies;
mod neighbourhood;
mod parameters;
mod paths;
mod shortest;
mod similarity;
mod weighted;

use crate::route::{Handler, Parameter, Route, Scope};

const LONG: &str = "long";
const BOOLEAN: &str = "boolean";
const AS_OF: Parameter = Parameter::text("as_of");
const AS_OF_TX: Parameter = Parameter::text("as_of_tx");
const DIRECTION: Parameter = Parameter::text("direction");
const LABEL: Parameter = Parameter::text("label");
const MAX_DEPTH: Parameter = Parameter::new("max_depth", "int", "0");
const MAX_DEGREE: Parameter = Parameter::new("max_degree", LONG, "10000");
const SKIP_DEGREE: Parameter = Parameter::new("skip_degree", LONG, "0");
const CAPACITY: Parameter = Parameter::new("capacity", LONG, "10000000");
const LIMIT: Parameter = Parameter::new("limit", LONG, "10000000");
const COUNT_ONLY: Parameter = Parameter::new("count_only", BOOLEAN, "false");
const WITH_VERTEX: Parameter = Parameter::new("with_vertex", BOOLEAN, "false");
const WITH_EDGE: Parameter = Parameter::new("with_edge", BOOLEAN, "false");

const PAIR: [Parameter; 8] = [
    Parameter::text("vertex"),
    Parameter::text("other"),
    DIRECTION,
    LABEL,
    MAX_DEGREE,
    LIMIT,
    AS_OF,
    AS_OF_TX,
];
const PATH: [Parameter; 12] = [
    Parameter::text("source"),
    Parameter::text("target"),
    DIRECTION,
    LABEL,
    MAX_DEPTH,
    MAX_DEGREE,
    SKIP_DEGREE,
    WITH_VERTEX,
    WITH_EDGE,
    CAPACITY,
    AS_OF,
    AS_OF_TX,
];
const SCOPE: [Parameter; 2] = [AS_OF, AS_OF_TX];

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[
    Route::get(
        "graphs/{graph}/traversers/kout",
        Handler::Pooled(neighbourhood::k_out),
    )
    .reads(Scope::Graph)
    .of("traversers", "KoutAPI")
    .with(&[
        Parameter::text("source"),
        DIRECTION,
        LABEL,
        MAX_DEPTH,
        Parameter::new("nearest", BOOLEAN, "true"),
        COUNT_ONLY,
        MAX_DEGREE,
        CAPACITY,
        LIMIT,
        AS_OF,
        AS_OF_TX,
    ]),
    Route::post(
        "graphs/{graph}/traversers/kout",
        Handler::Pooled(neighbourhood::k_out_of_body),
    )
    .reads(Scope::Graph)
    .of("traversers", "KoutAPI")
    .with(&SCOPE),
    Route::get(
        "graphs/{graph}/traversers/kneighbor",
        Handler::Pooled(neighbourhood::k_neighbor),
    )
    .reads(Scope::Graph)
    .of("traversers", "KneighborAPI")
    .with(&[
        Parameter::text("source"),
        DIRECTION,
        LABEL,
        MAX_DEPTH,
        COUNT_ONLY,
        MAX_DEGREE,
        LIMIT,
        AS_OF,
        AS_OF_TX,
    ]),
    Route::post(
        "graphs/{graph}/traversers/kneighbor",
        Handler::Pooled(neighbourhood::k_neighbor_of_body),
    )
    .reads(Scope::Graph)
    .of("traversers", "KneighborAPI")
    .with(&SCOPE),
    Route::get(
        "graphs/{graph}/traversers/sameneighbors",
        Handler::Pooled(similarity::same_neighbors),
    )
    .reads(Scope::Graph)
    .of("traversers", "SameNeighborsAPI")
    .with(&PAIR),
    Route::post(
        "graphs/{graph}/traversers/sameneighbors",
        Handler::Pooled(similarity::same_neighbors_of_body),
    )
    .reads(Scope::Graph)
    .of("traversers", "SameNeighborsAPI")
    .with(&SCOPE),
    Route::get(
        "graphs/{graph}/traversers/jaccardsimilarity",
        Handler::Pooled(similarity::jaccard),
    )
    .reads(Scope::Graph)
    .of("traversers", "JaccardSimilarityAPI")
    .with(&[PAIR[0], PAIR[1], PAIR[2], PAIR[3], PAIR[4], AS_OF, AS_OF_TX]),
    Route::get(
        "graphs/{graph}/traversers/adamicadar",
        Handler::Pooled(similarity::adamic_adar),
    )
    .reads(Scope::Graph)
    .of("traversers", "AdamicAdarAPI")
    .with(&PAIR),
    Route::get(
        "graphs/{graph}/traversers/resourceallocation",
        Handler::Pooled(similarity::resource_allocation),
    )
    .reads(Scope::Graph)
    .of("traversers", "ResourceAllocationAPI")
    .with(&PAIR),
    Route::get(
        "graphs/{graph}/traversers/shortestpath",
        Handler::Pooled(shortest::one),
    )
    .reads(Scope::Graph)
    .of("traversers", "ShortestPathAPI")
    .with(&PATH),
    Route::get(
        "graphs/{graph}/traversers/allshortestpaths",
        Handler::Pooled(shortest::all),
    )
    .reads(Scope::Graph)
    .of("traversers", "AllShortestPathsAPI")
    .with(&PATH),
    Route::get(
        "graphs/{graph}/traversers/weightedshortestpath",
        Handler::Pooled(weighted::between),
    )
    .reads(Scope::Graph)
    .of("traversers", "WeightedShortestPathAPI")
    .with(&[
        Parameter::text("source"),
        Parameter::text("target"),
        DIRECTION,
        LABEL,
        Parameter::text("weight"),
        MAX_DEPTH,
        MAX_DEGREE,
        SKIP_DEGREE,
        WITH_VERTEX,
        WITH_EDGE,
        CAPACITY,
        AS_OF,
        AS_OF_TX,
    ]),
    Route::get(
        "graphs/{graph}/traversers/singlesourceshortestpath",
        Handler::Pooled(weighted::from_one),
    )
    .reads(Scope::Graph)
    .of("traversers", "SingleSourceShortestPathAPI")
    .with(&[
        Parameter::text("source"),
        DIRECTION,
        LABEL,
        Parameter::text("weight"),
        MAX_DEPTH,
        MAX_DEGREE,
        SKIP_DEGREE,
        CAPACITY,
        Parameter::new("limit", LONG, "10"),
        WITH_VERTEX,
        WITH_EDGE,
        AS_OF,
        AS_OF_TX,
    ]),
    Route::get(
        "graphs/{graph}/traversers/paths",
        Handler::Pooled(paths::simple),
    )
    .reads(Scope::Graph)
    .of("traversers", "PathsAPI")
    .with(&[
        Parameter::text("source"),
        Parameter::text("target"),
        DIRECTION,
        LABEL,
        MAX_DEPTH,
        MAX_DEGREE,
        CAPACITY,
        Parameter::new("limit", LONG, "10"),
        AS_OF,
        AS_OF_TX,
    ]),
    Route::get(
        "graphs/{graph}/traversers/edgeexist",
        Handler::Pooled(paths::edge_exist),
    )
    .reads(Scope::Graph)
    .of("traversers", "EdgeExistenceAPI")
    .with(&[
        Parameter::text("source"),
        Parameter::text("target"),
        LABEL,
        Parameter::text("sort_values"),
        Parameter::new("limit", LONG, "100"),
        AS_OF,
        AS_OF_TX,
    ]),
];
