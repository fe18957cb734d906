//! The one place that decides whether a request may do what its route declares ([`crate::Access`]).
//!
//! It looks at scope, action and graph, never at the text of a path. [`check`] runs between the
//! router and everything else, before a body is read. The action of a query is known once its
//! handler has parsed it ([`crate::RequestContext::decide`]).

use std::net::IpAddr;

use http::request::Parts;

use varve_auth::{Permission, ResourceType};
use varve_session::Identity;

use crate::errors::ApiError;
use crate::origin;
use crate::rights::Needs;
use crate::route::{Action, Class, Route, Scope};
use crate::state::{AppState, Door};
use crate::system_database::is_system;

/// The pattern of the white list's routes.
const WHITE_LIST: &str = "whiteiplist";

/// The graph name in targets that apply to the server.
pub(crate) const SERVER: &str = "";

/// Refuses a request that may not do what its route declares. `graph` is the name in its path.
pub(crate) fn check(
    state: &AppState,
    door: Door,
    route: &Route,
    parts: &Parts,
    graph: Option<&str>,
) -> Result<(), ApiError> {
    check_door(state, door, route, parts)?;
    if route.access.action.may_change() {
        origin::check_page(state.config(), parts)?;
    }
    check_open(state, route)?;
    match graph {
        Some(graph) if route.access.scope == Scope::Graph && !route.keeps_content => {
            Ok(state.database().check_action(route.access.action, graph)?)
        }
        _ => Ok(()),
    }
}

/// 403 if the white list refuses the client's address. Routes that need no identity stay open,
/// except logins; so does the list itself, for the administrator.
pub(crate) fn check_address(
    state: &AppState,
    route: &Route,
    address: IpAddr,
) -> Result<(), ApiError> {
    let is_permitted = state.auth().is_none_or(|auth| auth.permits(address));
    let is_login = route.access.action == Action::Administer;
    let is_open = (route.needs == Needs::Nothing && !is_login) || route.pattern == WHITE_LIST;
    match is_permitted || is_open {
        true => Ok(()),
        false => Err(ApiError::forbidden(format!(
            "Remote ip '{address}' is not permitted"
        ))),
    }
}

/// 403 if the client may not use the route, as far as the request's head shows. `graph` is the name
/// in its path.
pub(crate) fn check_identity(
    state: &AppState,
    route: &Route,
    identity: &Identity,
    graph: Option<&str>,
) -> Result<(), ApiError> {
    // A restricted token could otherwise lift its restriction, for example by setting a password.
    if identity.is_restricted() && route.access.action == Action::Administer {
        return Err(ApiError::forbidden("User not authorized."));
    }
    let is_allowed = match route.needs {
        Needs::Nothing => true,
        Needs::User => !matches!(identity, Identity::Unknown),
        Needs::Scripts => identity.may_query(),
        Needs::Graph(rights) => return Ok(identity.check(graph.unwrap_or_default(), rights)?),
        Needs::OneOf(rights) => return Ok(identity.check_one(graph.unwrap_or_default(), rights)?),
        Needs::Database(_) if is_system(state.database(), graph.unwrap_or_default()) => {
            !matches!(identity, Identity::Unknown)
        }
        Needs::Elements(rights) | Needs::Database(rights) => {
            return Ok(identity.check_elements(graph.unwrap_or_default(), rights)?);
        }
        Needs::Repository(rights) => {
            let graph = state.repository_graph();
            return Ok(identity.check(graph.unwrap_or_default(), rights)?);
        }
        Needs::Metrics => {
            let needed = &[(Permission::Read, ResourceType::Metrics)];
            return Ok(identity.check(SERVER, needed)?);
        }
        Needs::Administrator => identity.is_administrator(),
    };
    match is_allowed {
        true => Ok(()),
        false => Err(ApiError::forbidden("User not authorized.")),
    }
}

/// Refuses a route at a listener that does not serve it.
fn check_door(state: &AppState, door: Door, route: &Route, parts: &Parts) -> Result<(), ApiError> {
    let is_admin = route.access.scope == Scope::Administration;
    let config = state.config();
    match door {
        Door::Admin if is_admin || route.class == Class::Control => Ok(()),
        Door::Admin => Err(ApiError::resource_not_found(
            "This listener (server.admin_listen) serves /admin, /health, /metrics and /versions",
        )),
        Door::Gremlin if route.gremlin || route.class == Class::Control => Ok(()),
        Door::Gremlin => Err(ApiError::resource_not_found(
            "This listener (gremlin.listen) serves /gremlin, /health, /metrics and /versions",
        )),
        Door::Bolt => Err(ApiError::unknown_path()),
        Door::Main if !is_admin => Ok(()),
        Door::Main if !config.admin_listen.is_empty() => Err(ApiError::forbidden(
            "/admin answers only at the listener that the option server.admin_listen names",
        )),
        // A proxy on this machine is a loopback client too, but its clients use another host name.
        Door::Main if config.host.is_loopback() && origin::is_for_loopback(parts) => Ok(()),
        Door::Main if config.host.is_loopback() => Err(ApiError::forbidden(
            "/admin answers to this machine alone: ask for it at localhost or at a loopback address, or give \
             it a listener of its own, as in server.admin_listen=127.0.0.1:8081",
        )),
        Door::Main => Err(ApiError::forbidden(
            "The server listens on a non-loopback address: /admin needs a separate listener, as in \
             server.admin_listen=127.0.0.1:8081",
        )),
    }
}

/// 503 if the route needs the graphs and they are not open yet.
fn check_open(state: &AppState, route: &Route) -> Result<(), ApiError> {
    if !state.is_waiting() || route.without_graphs {
        return Ok(());
    }
    Err(ApiError::unavailable(
        "The graphs are not open yet: the server waits until it can reach its store",
        state.config().retry_after_seconds,
    ))
}
