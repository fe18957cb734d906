//! `/gremlin`: scripts over HTTP, answered in HugeGraph's flat JSON, and the protocol of
//! TinkerPop's drivers over a WebSocket.
//!
//! Nothing that a client sends is run as code: a script is parsed into a tree, and each traversal
//! of it runs on one view of one graph, within the request's time, `server.max_traversal_rows` and
//! `server.max_traversal_bytes`.

mod answer;
mod brief;
mod driver;
mod evaluate;
mod graphs;
mod host;
mod http;
mod job;
mod message;
mod parts;
mod prepared;
mod reading;
mod request;
mod scripting;
mod session;
mod socket;
mod status;
mod weight;
mod wire;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::rights::{self, Needs};
use crate::route::{Handler, Parameter, Route, Scope};
use graphs::Names;
use request::GremlinRequest;
use varve_gremlin::execute::Environment;

pub(crate) use job::GremlinJobs;

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("gremlin", brief::GET)
        .queries(Scope::Graph)
        .followed()
        .needs(Needs::Scripts)
        .of("gremlin", "GremlinAPI")
        .graph_of_body(graph_of)
        .any_query()
        .gremlin()
        .socket(socket::serve)
        .with(&[
            Parameter::text("gremlin"),
            Parameter::text("language"),
            Parameter::text("as_of"),
            Parameter::text("as_of_tx"),
        ]),
    Route::post("gremlin", brief::POST)
        .queries(Scope::Graph)
        .followed()
        .needs(Needs::Scripts)
        .of("gremlin", "GremlinAPI")
        .graph_of_body(graph_of)
        .gremlin()
        .with(&[Parameter::text("as_of"), Parameter::text("as_of_tx")]),
    Route::post("graphs/{graph}/jobs/gremlin", Handler::Pooled(job::submit))
        .writes(Scope::Graph)
        .needs(rights::RUN_GREMLIN_JOB)
        .of("job", "GremlinAPI"),
];

fn get(context: &RequestContext) -> HandlerResult {
    if let Some(wanted) = http::wanted(context) {
        return http::answer(context, wanted);
    }
    let request = match context.kept() {
        Some(request) => Ok(request),
        None => GremlinRequest::of_query(context.query()?),
    };
    let answered = request.and_then(|request| answer(context, request));
    answered.map_err(ApiError::of_script)
}

fn post(context: &RequestContext) -> HandlerResult {
    if let Some(wanted) = http::wanted(context) {
        return http::answer(context, wanted);
    }
    let request = match context.kept() {
        Some(request) => Ok(request),
        None => GremlinRequest::of_body(context.body()),
    };
    let answered = request.and_then(|request| answer(context, request));
    answered.map_err(ApiError::of_script)
}

/// The graph that a request's aliases name; another server may lead it.
fn graph_of(context: &RequestContext) -> Option<String> {
    let request = match context.body().is_empty() {
        true => GremlinRequest::of_query(context.query().ok()?).ok()?,
        false => GremlinRequest::of_body(context.body()).ok()?,
    };
    Names::of(context).graph_named(&request.aliases, "g")
}

/// A random UUID of version 4.
pub(crate) fn request_id() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = |salt: u64| u128::from(RandomState::new().hash_one(salt));
    let random = (half(0) << 64) | half(1);
    (random & !(0xf000 << 64) & !(0xc << 60)) | (0x4000 << 64) | (0x8 << 60)
}

fn answer(context: &RequestContext, request: GremlinRequest) -> HandlerResult {
    let mut environment = Environment::from(request.bindings);
    let limits = (None, request.aliases);
    let ran = evaluate::evaluate(context, request.program, &mut environment, limits, None);
    let ran = ran.map_err(|failure| failure.into_api(context))?;
    let written = answer::write(context, ran.graph.as_deref(), &ran.results);
    match ran.is_stored {
        true => written.map_err(evaluate::stored),
        false => written,
    }
}
