//! `…/traversers/…`: HugeGraph's traversers, over `varve-traversal`.
//!
//! Every traverser takes `as_of` and `as_of_tx`, and runs on the pool for long reads, where it lets
//! short reads go first. It fails at the request's deadline, when the client has disconnected, and
//! over `server.max_traversal_rows` or `server.max_traversal_bytes`.

mod answer;
mod bodies;
mod customized;
mod fusiform;
mod neighbourhood;
mod parameters;
mod paths;
mod ranks;
mod rings;
mod several;
mod shortest;
mod similarity;
mod sources;
mod weighted;

pub(crate) use bodies::{Way, conditions};

use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope};

const LONG: &str = "long";
const BOOLEAN: &str = "boolean";
const AS_OF: Parameter = Parameter::text("as_of");
const AS_OF_TX: Parameter = Parameter::text("as_of_tx");
const SOURCE: Parameter = Parameter::text("source");
const TARGET: Parameter = Parameter::text("target");
const VERTEX: Parameter = Parameter::text("vertex");
const OTHER: Parameter = Parameter::text("other");
const WEIGHT: Parameter = Parameter::text("weight");
const DIRECTION: Parameter = Parameter::text("direction");
const LABEL: Parameter = Parameter::text("label");
const MAX_DEPTH: Parameter = Parameter::new("max_depth", "int", "0");
const MAX_DEGREE: Parameter = Parameter::new("max_degree", LONG, "10000");
const SKIP_DEGREE: Parameter = Parameter::new("skip_degree", LONG, "0");
const CAPACITY: Parameter = Parameter::new("capacity", LONG, "10000000");
const LIMIT: Parameter = Parameter::new("limit", LONG, "10000000");
const LIMIT_10: Parameter = Parameter::new("limit", LONG, "10");
const COUNT_ONLY: Parameter = Parameter::new("count_only", BOOLEAN, "false");
const WITH_VERTEX: Parameter = Parameter::new("with_vertex", BOOLEAN, "false");
const WITH_EDGE: Parameter = Parameter::new("with_edge", BOOLEAN, "false");

const PAIR: &[Parameter] = &[
    VERTEX, OTHER, DIRECTION, LABEL, MAX_DEGREE, LIMIT, AS_OF, AS_OF_TX,
];
const SHORTEST: &[Parameter] = &[
    SOURCE,
    TARGET,
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
const PATHS: &[Parameter] = &[
    SOURCE, TARGET, DIRECTION, LABEL, MAX_DEPTH, MAX_DEGREE, CAPACITY, LIMIT_10, AS_OF, AS_OF_TX,
];

type Answered = fn(&RequestContext) -> HandlerResult;

/// The route of a traverser with query parameters.
const fn get(
    pattern: &'static str,
    api: &'static str,
    handler: Answered,
    parameters: &'static [Parameter],
) -> Route {
    Route::get(pattern, Handler::Pooled(handler))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_ELEMENTS)
        .of("traversers", api)
        .with(parameters)
}

/// The route of a traverser with a body.
const fn post(pattern: &'static str, api: &'static str, handler: Answered) -> Route {
    Route::post(pattern, Handler::Pooled(handler))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_ELEMENTS)
        .of("traversers", api)
        .with(&[AS_OF, AS_OF_TX])
}

/// The routes of this module.
#[rustfmt::skip]
pub(crate) static ROUTES: &[Route] = &[
    get("graphs/{graph}/traversers/kout", "KoutAPI", neighbourhood::k_out, &[
        SOURCE, DIRECTION, LABEL, MAX_DEPTH, Parameter::new("nearest", BOOLEAN, "true"),
        COUNT_ONLY, MAX_DEGREE, CAPACITY, LIMIT, AS_OF, AS_OF_TX,
    ]),
    post("graphs/{graph}/traversers/kout", "KoutAPI", neighbourhood::k_out_of_body),
    get("graphs/{graph}/traversers/kneighbor", "KneighborAPI", neighbourhood::k_neighbor, &[
        SOURCE, DIRECTION, LABEL, MAX_DEPTH, COUNT_ONLY, MAX_DEGREE, LIMIT, AS_OF, AS_OF_TX,
    ]),
    post("graphs/{graph}/traversers/kneighbor", "KneighborAPI", neighbourhood::k_neighbor_of_body),
    get("graphs/{graph}/traversers/sameneighbors", "SameNeighborsAPI", similarity::same_neighbors, PAIR),
    post("graphs/{graph}/traversers/sameneighbors", "SameNeighborsAPI", similarity::same_neighbors_of_body),
    get("graphs/{graph}/traversers/jaccardsimilarity", "JaccardSimilarityAPI", similarity::jaccard, &[
        VERTEX, OTHER, DIRECTION, LABEL, MAX_DEGREE, AS_OF, AS_OF_TX,
    ]),
    post("graphs/{graph}/traversers/jaccardsimilarity", "JaccardSimilarityAPI", similarity::jaccard_of_near),
    get("graphs/{graph}/traversers/adamicadar", "AdamicAdarAPI", similarity::adamic_adar, PAIR),
    get("graphs/{graph}/traversers/resourceallocation", "ResourceAllocationAPI", similarity::resource_allocation, PAIR),
    get("graphs/{graph}/traversers/shortestpath", "ShortestPathAPI", shortest::one, SHORTEST),
    get("graphs/{graph}/traversers/allshortestpaths", "AllShortestPathsAPI", shortest::all, SHORTEST),
    get("graphs/{graph}/traversers/weightedshortestpath", "WeightedShortestPathAPI", weighted::between, &[
        SOURCE, TARGET, DIRECTION, LABEL, WEIGHT, MAX_DEPTH, MAX_DEGREE, SKIP_DEGREE,
        WITH_VERTEX, WITH_EDGE, CAPACITY, AS_OF, AS_OF_TX,
    ]),
    get("graphs/{graph}/traversers/singlesourceshortestpath", "SingleSourceShortestPathAPI", weighted::from_one, &[
        SOURCE, DIRECTION, LABEL, WEIGHT, MAX_DEPTH, MAX_DEGREE, SKIP_DEGREE, CAPACITY, LIMIT_10,
        WITH_VERTEX, WITH_EDGE, AS_OF, AS_OF_TX,
    ]),
    get("graphs/{graph}/traversers/paths", "PathsAPI", paths::simple, PATHS),
    post("graphs/{graph}/traversers/paths", "PathsAPI", several::paths),
    post("graphs/{graph}/traversers/multinodeshortestpath", "MultiNodeShortestPathAPI", several::shortest),
    post("graphs/{graph}/traversers/customizedpaths", "CustomizedPathsAPI", customized::paths),
    post("graphs/{graph}/traversers/templatepaths", "TemplatePathsAPI", customized::template),
    post("graphs/{graph}/traversers/customizedcrosspoints", "CustomizedCrosspointsAPI", customized::crosspoints),
    post("graphs/{graph}/traversers/fusiformsimilarity", "FusiformSimilarityAPI", fusiform::similar),
    post("graphs/{graph}/traversers/neighborrank", "NeighborRankAPI", ranks::neighbour),
    post("graphs/{graph}/traversers/personalrank", "PersonalRankAPI", ranks::personal),
    post("graphs/{graph}/traversers/count", "CountAPI", ranks::count),
    get("graphs/{graph}/traversers/crosspoints", "CrosspointsAPI", paths::crosspoints, PATHS),
    get("graphs/{graph}/traversers/rings", "RingsAPI", rings::rings, &[
        SOURCE, DIRECTION, LABEL, MAX_DEPTH, Parameter::new("source_in_ring", BOOLEAN, "true"),
        MAX_DEGREE, CAPACITY, LIMIT_10, WITH_VERTEX, WITH_EDGE, AS_OF, AS_OF_TX,
    ]),
    get("graphs/{graph}/traversers/rays", "RaysAPI", rings::rays, &[
        SOURCE, DIRECTION, LABEL, MAX_DEPTH, MAX_DEGREE, CAPACITY, LIMIT_10, WITH_VERTEX, WITH_EDGE,
        AS_OF, AS_OF_TX,
    ]),
    get("graphs/{graph}/traversers/edgeexist", "EdgeExistenceAPI", paths::edge_exist, &[
        SOURCE, TARGET, LABEL, Parameter::text("sort_values"), Parameter::new("limit", LONG, "100"),
        AS_OF, AS_OF_TX,
    ]),
];
