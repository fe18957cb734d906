//! `/gremlin`: scripts, answered in HugeGraph's flat JSON.
//!
//! Nothing that a client sends is run as code: a script is parsed into a tree, and each traversal
//! of it runs on one view of one graph, within the request's time, `server.max_traversal_rows` and
//! `server.max_traversal_bytes`.

mod answer;
mod brief;
mod host;
mod job;
mod reading;
mod request;
mod scripting;
mod transaction;

use varve_gremlin::{ErrorCode, ParseError, execute, parse_script};
use varve_query::QueryError;
use varve_view::ViewError;

use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::route::{Handler, Parameter, Route, Scope};
use crate::state::AppState;
use host::GraphHost;
use request::GremlinRequest;

pub(crate) use job::GremlinJobs;

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("gremlin", brief::GET)
        .queries(Scope::Graph)
        .of("gremlin", "GremlinAPI")
        .any_query()
        .with(&[
            Parameter::text("gremlin"),
            Parameter::text("language"),
            Parameter::text("as_of"),
            Parameter::text("as_of_tx"),
        ]),
    Route::post("gremlin", brief::POST)
        .queries(Scope::Graph)
        .of("gremlin", "GremlinAPI")
        .with(&[Parameter::text("as_of"), Parameter::text("as_of_tx")]),
    Route::post("graphs/{graph}/jobs/gremlin", Handler::Pooled(job::submit))
        .writes(Scope::Graph)
        .of("job", "GremlinAPI"),
];

fn get(context: &RequestContext) -> HandlerResult {
    answer(context, GremlinRequest::of_query(context.query()?)?)
}

fn post(context: &RequestContext) -> HandlerResult {
    answer(context, GremlinRequest::of_body(context.body())?)
}

/// The graph that a request is about, as far as its aliases say: another server may lead it.
pub(crate) fn graph_of(state: &AppState, context: &RequestContext) -> Option<String> {
    let request = match context.body().is_empty() {
        true => GremlinRequest::of_query(context.query().ok()?).ok()?,
        false => GremlinRequest::of_body(context.body()).ok()?,
    };
    host::graph_named(state, &request.aliases, "g").ok()
}

fn answer(context: &RequestContext, request: GremlinRequest) -> HandlerResult {
    let script = parse_script(&request.script).map_err(|error| unreadable(&error))?;
    let may_write = transaction::may_write(&request.script);
    let run = || {
        let mut host =
            GraphHost::new(context, request.aliases.clone()).map_err(Failure::Refused)?;
        host.may_write = may_write;
        let ran = execute::execute(&script, request.bindings.clone(), &mut host);
        let ran = ran.and_then(|results| host.commit().map(|()| results));
        match ran {
            Ok(results) => Ok((results, host)),
            Err(error) => Err(match host.refused.take() {
                Some(refused) => Failure::Refused(refused),
                None => Failure::Query(error),
            }),
        }
    };
    let is_conflict = |failure: &Failure| match failure {
        Failure::Query(error) => transaction::is_conflict(error),
        Failure::Refused(_) => false,
    };
    let check = || context.check_deadline().is_ok();
    match transaction::until_committed(run, is_conflict, check) {
        Ok((results, host)) => answer::write(context, &host, &results),
        Err(Failure::Refused(error)) => Err(error),
        Err(Failure::Query(error)) => Err(refused(context, error)),
    }
}

/// Why a script has no results.
enum Failure {
    Query(QueryError),
    Refused(ApiError),
}

/// A text that is no Gremlin, with the exception that clients of HugeGraph know.
fn unreadable(error: &ParseError) -> ApiError {
    let message = error.message.clone();
    match error.code {
        ErrorCode::Exit => ApiError::forbidden(message),
        code => ApiError::gremlin(code.groovy_exception(), message),
    }
}

/// Why a script gave no answer, as the client sees it.
fn refused(context: &RequestContext, error: QueryError) -> ApiError {
    match error {
        QueryError::View(ViewError::Deadline | ViewError::Cancelled) => context.too_late(),
        QueryError::View(error @ ViewError::Rows { .. }) => {
            ApiError::limit_exceeded(format!("{error} (server.max_traversal_rows)"))
        }
        QueryError::View(error @ ViewError::Memory { .. }) => {
            ApiError::limit_exceeded(format!("{error} (server.max_traversal_bytes)"))
        }
        QueryError::View(ViewError::NoIndex(message)) => ApiError::no_index(message),
        QueryError::View(ViewError::Store(error)) => {
            match error.downcast::<varve_graph::GraphError>() {
                Ok(error) => (*error).into(),
                Err(error) => ApiError::internal(error.to_string()),
            }
        }
        error @ QueryError::Unbound(_) => {
            ApiError::gremlin("groovy.lang.MissingPropertyException", error.to_string())
        }
        QueryError::Script { exception, message } => ApiError::gremlin(exception, message),
        error @ QueryError::Limit(_) => ApiError::limit_exceeded(error.to_string()),
        error @ QueryError::Arithmetic(_) => {
            ApiError::gremlin("java.lang.ArithmeticException", error.to_string())
        }
        error @ QueryError::Unsupported(_) => ApiError::not_supported(error.to_string()),
        error => ApiError::illegal_argument(error.to_string()),
    }
}
