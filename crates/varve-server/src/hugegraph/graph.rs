//! Vertices and edges: `…/graph/vertices`, `…/graph/edges`, `…/graph/batch`, their histories, and
//! elements by several ids.
//!
//! Every read takes `as_of` (valid time) and `as_of_tx` (transaction time), every write
//! `valid_from` and `valid_to`; see [`crate::wire::time`]. A small write is prepared on the serving
//! thread and awaits its commit without blocking that thread. Large bodies, writes that must wait
//! for a latch, and listings go to the pool, except short listings of a vertex's edges.

mod batch;
mod edges;
#[cfg(test)]
mod fuzz;
mod history;
mod input;
mod listing;
mod periods;
mod scan;
mod submit;
mod timed;
mod timeline;
mod update;
mod vertices;

pub(crate) use batch::{store as store_batch, store_rows};
pub(super) use listing::{direction, named};
pub(super) use submit::Target;
pub(super) use timed::Timed;

use crate::access;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::rights::{self, Needs};
use crate::route::{Handler, Parameter, Route, Scope, Verb};

const SCOPE: [Parameter; 2] = [Parameter::text("as_of"), Parameter::text("as_of_tx")];
const PERIOD: [Parameter; 2] = [Parameter::text("valid_from"), Parameter::text("valid_to")];
/// The query parameters of a write of elements.
const WRITE: [Parameter; 3] = [
    PERIOD[0],
    PERIOD[1],
    Parameter::new("skip_unchanged", BOOLEAN, "false"),
];
/// Whether an answer also has properties that the read mode hides: see
/// [`crate::wire::time::detail`].
const STORED: Parameter = Parameter::new("stored", BOOLEAN, "false");
const BOOLEAN: &str = "boolean";
const LONG: &str = "long";

const VERTICES: &str = "graphs/{graph}/graph/vertices";
const VERTICES_BATCH: &str = "graphs/{graph}/graph/vertices/batch";
const VERTEX: &str = "graphs/{graph}/graph/vertices/{id}";
const EDGES: &str = "graphs/{graph}/graph/edges";
const EDGES_BATCH: &str = "graphs/{graph}/graph/edges/batch";
const EDGE: &str = "graphs/{graph}/graph/edges/{id}";

/// Refuses a client that may not delete edges by their resource.
pub(crate) fn check_may_delete(context: &RequestContext) -> Result<(), ApiError> {
    check_may(context, Verb::Delete, EDGE)
}

/// Refuses a client that may not update edges, or vertices, in a batch.
pub(crate) fn check_may_update(context: &RequestContext, of_edges: bool) -> Result<(), ApiError> {
    let pattern = if of_edges {
        EDGES_BATCH
    } else {
        VERTICES_BATCH
    };
    check_may(context, Verb::Put, pattern)
}

fn check_may(context: &RequestContext, verb: Verb, pattern: &str) -> Result<(), ApiError> {
    let mut routes = ROUTES.iter();
    let route = routes.find(|it| it.verb == verb && it.pattern == pattern);
    let Some(route) = route else {
        return Err(ApiError::internal(format!("no such route of {pattern}")));
    };
    access::check_identity(
        context.state(),
        route,
        context.identity(),
        context.graph_in_path(),
    )
}

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::post(VERTICES, Handler::Async(|c| Box::pin(vertices::create(c))))
        .writes(Scope::Graph)
        .needs(rights::WRITE_VERTICES)
        .of("graph", "VertexAPI")
        .with(&WRITE),
    Route::get(VERTICES, Handler::Pooled(listing::vertices))
        .reads(Scope::Graph)
        .followed()
        .needs(rights::READ_VERTICES)
        .of("graph", "VertexAPI")
        .with(&[
            Parameter::text("label"),
            Parameter::text("properties"),
            Parameter::new("keep_start_p", BOOLEAN, "false"),
            Parameter::new("offset", LONG, "0"),
            Parameter::text("page"),
            Parameter::new("limit", LONG, "100"),
            STORED,
            SCOPE[0],
            SCOPE[1],
        ])
        .gzip(),
    Route::post(
        VERTICES_BATCH,
        Handler::Async(|c| Box::pin(vertices::create_batch(c))),
    )
    .writes(Scope::Graph)
    .needs(rights::WRITE_VERTICES)
    .of("graph", "VertexAPI")
    .with(&WRITE)
    .batch(),
    Route::put(
        VERTICES_BATCH,
        Handler::Async(|c| Box::pin(update::vertices(c))),
    )
    .writes(Scope::Graph)
    .needs(rights::CHANGE_VERTICES)
    .of("graph", "VertexAPI")
    .with(&WRITE)
    .batch(),
    Route::get(
        VERTEX,
        Handler::Brief {
            brief: vertices::get_at_once,
            full: vertices::get,
        },
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("graph", "VertexAPI")
    .with(&SCOPE),
    Route::put(VERTEX, Handler::Async(|c| Box::pin(update::vertex(c))))
        .writes(Scope::Graph)
        .needs(rights::CHANGE_VERTICES)
        .of("graph", "VertexAPI")
        .with(&[Parameter::text("action"), WRITE[0], WRITE[1], WRITE[2]]),
    Route::delete(VERTEX, Handler::Async(|c| Box::pin(vertices::delete(c))))
        .writes(Scope::Graph)
        .needs(rights::DELETE_VERTICES)
        .of("graph", "VertexAPI")
        .with(&[Parameter::text("label"), PERIOD[0], PERIOD[1]]),
    Route::get(
        "graphs/{graph}/graph/vertices/history",
        Handler::Pooled(history::all_vertices),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("graph", "HistoryAPI")
    .with(&ALL_HISTORIES),
    Route::get(
        "graphs/{graph}/graph/edges/history",
        Handler::Pooled(history::all_edges),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("graph", "HistoryAPI")
    .with(&ALL_HISTORIES),
    Route::get(
        "graphs/{graph}/graph/vertices/{id}/history",
        Handler::Pooled(history::vertex),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("graph", "HistoryAPI")
    .with(&HISTORY),
    Route::get(
        "graphs/{graph}/graph/vertices/{id}/timeline",
        Handler::Pooled(timeline::vertex),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("graph", "HistoryAPI")
    .with(&TIMELINE),
    Route::delete(
        "graphs/{graph}/graph/vertices/{id}/history",
        Handler::Pooled(history::purge_vertex),
    )
    .writes(Scope::Graph)
    .needs(Needs::Administrator)
    .of("graph", "HistoryAPI")
    .with(&[Parameter::text("confirm_message")]),
    Route::post(EDGES, Handler::Async(|c| Box::pin(edges::create(c))))
        .writes(Scope::Graph)
        .needs(rights::WRITE_EDGES)
        .of("graph", "EdgeAPI")
        .with(&WRITE),
    Route::get(
        EDGES,
        Handler::Brief {
            brief: listing::few_edges,
            full: listing::edges,
        },
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("graph", "EdgeAPI")
    .with(&[
        Parameter::text("vertex_id"),
        Parameter::text("direction"),
        Parameter::text("label"),
        Parameter::text("properties"),
        Parameter::new("keep_start_p", BOOLEAN, "false"),
        Parameter::new("offset", LONG, "0"),
        Parameter::text("page"),
        Parameter::new("limit", LONG, "100"),
        STORED,
        SCOPE[0],
        SCOPE[1],
    ])
    .gzip(),
    Route::post(
        EDGES_BATCH,
        Handler::Async(|c| Box::pin(edges::create_batch(c))),
    )
    .writes(Scope::Graph)
    .needs(rights::WRITE_EDGES)
    .of("graph", "EdgeAPI")
    .with(&[
        Parameter::new("check_vertex", BOOLEAN, "true"),
        Parameter::new(periods::ENDS_EDGE, BOOLEAN, "false"),
        WRITE[0],
        WRITE[1],
        WRITE[2],
    ])
    .batch(),
    Route::put(EDGES_BATCH, Handler::Async(|c| Box::pin(update::edges(c))))
        .writes(Scope::Graph)
        .needs(rights::CHANGE_EDGES)
        .of("graph", "EdgeAPI")
        .with(&WRITE)
        .batch(),
    Route::get(
        EDGE,
        Handler::Brief {
            brief: edges::get_at_once,
            full: edges::get,
        },
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("graph", "EdgeAPI")
    .with(&SCOPE),
    Route::put(EDGE, Handler::Async(|c| Box::pin(update::edge(c))))
        .writes(Scope::Graph)
        .needs(rights::CHANGE_EDGES)
        .of("graph", "EdgeAPI")
        .with(&[Parameter::text("action"), WRITE[0], WRITE[1], WRITE[2]]),
    Route::delete(EDGE, Handler::Async(|c| Box::pin(edges::delete(c))))
        .writes(Scope::Graph)
        .needs(rights::DELETE_EDGES)
        .of("graph", "EdgeAPI")
        .with(&[Parameter::text("label"), PERIOD[0], PERIOD[1]]),
    Route::get(
        "graphs/{graph}/graph/edges/{id}/history",
        Handler::Pooled(history::edge),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("graph", "HistoryAPI")
    .with(&HISTORY),
    Route::get(
        "graphs/{graph}/graph/edges/{id}/timeline",
        Handler::Pooled(timeline::edge),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("graph", "HistoryAPI")
    .with(&TIMELINE),
    Route::delete(
        "graphs/{graph}/graph/edges/{id}/history",
        Handler::Pooled(history::purge_edge),
    )
    .writes(Scope::Graph)
    .needs(Needs::Administrator)
    .of("graph", "HistoryAPI")
    .with(&[Parameter::text("confirm_message")]),
    Route::post(
        "graphs/{graph}/graph/batch",
        Handler::Async(|c| Box::pin(batch::create(c))),
    )
    .writes(Scope::Graph)
    .needs(rights::WRITE_ELEMENTS)
    .of("graph", "BatchAPI")
    .with(&[
        Parameter::new("check_vertex", BOOLEAN, "true"),
        WRITE[0],
        WRITE[1],
        WRITE[2],
    ])
    .batch(),
    Route::get(
        "graphs/{graph}/traversers/vertices",
        Handler::Pooled(listing::vertices_by_id),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("traversers", "VerticesAPI")
    .with(&[Parameter::text("ids"), SCOPE[0], SCOPE[1]])
    .gzip(),
    Route::get(
        "graphs/{graph}/traversers/edges",
        Handler::Pooled(listing::edges_by_id),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("traversers", "EdgesAPI")
    .with(&[Parameter::text("ids"), SCOPE[0], SCOPE[1]])
    .gzip(),
    Route::get(
        "graphs/{graph}/traversers/vertices/shards",
        Handler::Inline(scan::shards),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_META)
    .of("traversers", "VerticesAPI")
    .with(&[Parameter::new("split_size", LONG, "0")])
    .gzip(),
    Route::get(
        "graphs/{graph}/traversers/vertices/scan",
        Handler::Pooled(scan::vertices),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_VERTICES)
    .of("traversers", "VerticesAPI")
    .with(&SCAN)
    .gzip(),
    Route::get(
        "graphs/{graph}/traversers/edges/shards",
        Handler::Inline(scan::shards),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_META)
    .of("traversers", "EdgesAPI")
    .with(&[Parameter::new("split_size", LONG, "0")])
    .gzip(),
    Route::get(
        "graphs/{graph}/traversers/edges/scan",
        Handler::Pooled(scan::edges),
    )
    .reads(Scope::Graph)
    .followed()
    .needs(rights::READ_EDGES)
    .of("traversers", "EdgesAPI")
    .with(&SCAN)
    .gzip(),
];

const SCAN: [Parameter; 6] = [
    Parameter::text("start"),
    Parameter::text("end"),
    Parameter::text("page"),
    Parameter::new("page_limit", LONG, "100000"),
    SCOPE[0],
    SCOPE[1],
];

const ALL_HISTORIES: [Parameter; 5] = [
    Parameter::text("page"),
    Parameter::new("limit", LONG, "100"),
    Parameter::new("versions", "boolean", "false"),
    STORED,
    SCOPE[1],
];

const HISTORY: [Parameter; 5] = [
    Parameter::text("page"),
    Parameter::new("limit", LONG, "100"),
    STORED,
    SCOPE[0],
    SCOPE[1],
];

const TIMELINE: [Parameter; 3] = [
    Parameter::text("page"),
    Parameter::new("limit", LONG, "100"),
    SCOPE[1],
];
