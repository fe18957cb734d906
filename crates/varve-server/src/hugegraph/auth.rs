//! Users, groups and their rights, and raft: resources that the original has and that answer with
//! its own words for "not configured", so that clients which ask are told why.

use http::StatusCode;

use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::route::{Class, Handler, Route, Scope, Verb};

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[
    unconfigured(Verb::Get, "graphs/{graph}/auth/{kind}"),
    unconfigured(Verb::Post, "graphs/{graph}/auth/{kind}"),
    unconfigured(Verb::Delete, "graphs/{graph}/auth/{kind}"),
    unconfigured(Verb::Get, "graphs/{graph}/auth/{kind}/{id}"),
    unconfigured(Verb::Put, "graphs/{graph}/auth/{kind}/{id}"),
    unconfigured(Verb::Delete, "graphs/{graph}/auth/{kind}/{id}"),
    unconfigured(Verb::Get, "graphs/{graph}/auth/{kind}/{id}/role"),
    of_auth(Verb::Post, "auth/login", refuse_auth, Scope::Server),
    of_auth(Verb::Get, "auth/verify", refuse_auth, Scope::Server),
    of_auth(Verb::Delete, "auth/logout", refuse_auth, Scope::Server),
    of_auth(Verb::Get, "whiteiplist", refuse_auth, Scope::Server),
    of_auth(Verb::Post, "whiteiplist", refuse_auth, Scope::Server),
    of_auth(Verb::Put, "whiteiplist", refuse_auth, Scope::Server),
    no_raft(Verb::Get, "graphs/{graph}/raft/{operation}"),
    no_raft(Verb::Post, "graphs/{graph}/raft/{operation}"),
];

/// A resource below `graphs/{graph}/auth/{kind}`.
const fn unconfigured(verb: Verb, pattern: &'static str) -> Route {
    of_auth(verb, pattern, refuse_auth_of_graph, Scope::Graph)
}

const fn of_auth(
    verb: Verb,
    pattern: &'static str,
    refuse: fn(&RequestContext) -> HandlerResult,
    scope: Scope,
) -> Route {
    Route::new(verb, pattern, Handler::Inline(refuse))
        .administers(scope)
        .keeps_content()
        .of("auth", "AuthAPI")
        .any_query()
        .class(Class::Control)
}

const fn no_raft(verb: Verb, pattern: &'static str) -> Route {
    Route::new(verb, pattern, Handler::Inline(refuse_raft))
        .administers(Scope::Graph)
        .keeps_content()
        .of("raft", "RaftAPI")
        .class(Class::Control)
}

/// What can be asked for below `auth`.
const KINDS: [&str; 9] = [
    "users", "groups", "targets", "belongs", "accesses", "projects", "login", "verify", "logout",
];

fn refuse_auth_of_graph(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    if !KINDS.contains(&context.path_parameter("kind")) {
        return Err(ApiError::unknown_path());
    }
    refuse_auth(context)
}

fn refuse_auth(_: &RequestContext) -> HandlerResult {
    Err(ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "java.lang.IllegalStateException",
        "Unconfigured authenticator, please config auth.authenticator option in rest-server.properties",
    )
    .by_design())
}

fn refuse_raft(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    let operation = context.path_parameter("operation");
    Err(ApiError::huge(format!(
        "Allowed {operation} operation only when working on raft mode"
    )))
}
