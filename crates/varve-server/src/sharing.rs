//! Several servers on one engine: each graph has one leader, and every server serves every graph:
//! it forwards requests to the leader, or reads the graph as of a position of its leader.
//!
//! `work` carries out a request for a graph of a shared engine. It runs here if this server leads
//! the graph, goes to the leader if another server does, and waits while no server leads. A request
//! is tried again with the next leader if it failed before the leader can have seen it, or only
//! reads. A write whose leader was lost meanwhile, or did not answer in time, is answered as one of
//! unknown outcome. `following` answers reads of graphs that other servers lead, `peers` has the
//! connections to other servers, `status` is `/cluster`, and `users` copies the users of a cluster
//! to all its servers.

mod following;
mod headers;
mod peers;
mod proof;
mod status;
mod users;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use varve_graph::registry::{GraphLocation, SYSTEM_GRAPH};
use varve_graph::{ErrorKind, Graph, Registry};
use varve_kv::Leader;
use varve_session::place::still_leads;

pub(crate) use self::following::{
    Following, ROUTES as FOLLOWING_ROUTES, ask_for_ever, followed, of_message, standing,
};
pub(crate) use self::headers::FORWARDED;
use self::peers::Failed;
pub(crate) use self::peers::Peers;
pub(crate) use self::status::ROUTES;
pub(crate) use self::users::{ROUTES as USERS_ROUTES, SharedUsers, keep_up_for_ever};
use crate::config::{ConfigError, ServerConfig};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Body, HandlerResult, Response};
use crate::route::{Action, Route, Scope};
use crate::service;
use crate::state::AppState;

/// The interval of checks whether the leader of a forwarded request still leads.
const STILL_LEADS_EVERY: Duration = Duration::from_millis(200);

/// Refuses options with which servers on one store could not reach each other.
pub(crate) fn check_tls(config: &ServerConfig, graphs: &Registry) -> Result<(), ConfigError> {
    let lacks = config.tls.is_on() && config.tls.peer_ca_file.as_os_str().is_empty();
    if !graphs.is_shared() || !lacks {
        return Ok(());
    }
    Err(ConfigError {
        option: "tls.peer_ca_file",
        reason:
            "must be given with tls.certificate_file where servers share a store: they forward \
                 requests to each other"
                .to_owned(),
    })
}

/// The graph of a request, if another server may lead it.
pub(crate) fn graph_of(state: &AppState, context: &RequestContext) -> Option<String> {
    if !state.is_shared() {
        return None;
    }
    let route = context.route();
    if route.of_users && state.auth().is_some() {
        return Some(SYSTEM_GRAPH.to_owned());
    }
    match route.access.scope {
        Scope::Metadata => state.repository_graph().map(str::to_owned),
        Scope::Graph => match context.graph_in_path() {
            Some(name) => Some(name.to_owned()),
            None => (route.graph_of_body?)(context),
        },
        Scope::Server | Scope::Administration => None,
    }
}

/// Carries out a request at the leader of its graph. The context has the body as received, perhaps
/// compressed.
pub(crate) async fn work(
    state: &AppState,
    route: &'static Route,
    context: RequestContext,
    graph: String,
) -> HandlerResult {
    let deadline = Instant::now() + state.time_limit(route);
    let was_handed_on = context.headers.contains_key(FORWARDED);
    let mut followed = following::Tries {
        version: following::wanted(state, route, &context.headers)?,
        may_follow: !was_handed_on,
    };
    let mut search = state.database().place(&graph, deadline);
    let mut place = search.first().await;
    loop {
        match place {
            // This server leads the users, but has not loaded them yet.
            Ok(GraphLocation::Here(_))
                if graph == SYSTEM_GRAPH && !state.auth().is_some_and(|auth| auth.leads()) => {}
            Ok(at) if let Some(version) = followed.next_at(&at) => {
                let read = following::Read::new((&graph, version), &at, deadline);
                if let Some(result) = following::answer(state, route, &context, &read).await {
                    return result;
                }
                place = Ok(state.graphs().place(&graph));
                continue;
            }
            Ok(GraphLocation::Here(led)) => {
                let result = service::run(state, route, Box::new(context.again(deadline))).await;
                if let Some(result) = settled(route, &led, result) {
                    return following::of_leader(&led, result);
                }
            }
            Ok(GraphLocation::Unknown) => {
                return service::run(state, route, Box::new(context.again(deadline))).await;
            }
            Ok(GraphLocation::There(leader)) if was_handed_on => {
                return Err(ApiError::misdirected(format!(
                    "Graph '{graph}' is led by the server at {}",
                    leader.address
                )));
            }
            // Forwarded answers are buffered whole, and a stream has no end.
            Ok(GraphLocation::There(leader))
                if route.is_stream.is_some_and(|is_stream| is_stream(&context)) =>
            {
                return redirected(state, &context, &leader);
            }
            Ok(GraphLocation::There(leader)) => {
                match hand_on(state, route, &context, &graph, &leader, deadline).await {
                    Ok(response) => {
                        if users::are_changed(route) && response.status.is_success() {
                            // The client must find its change on this server, too.
                            let limit = tokio::time::Instant::from_std(deadline);
                            let copied = users::keep_up_since(&context.worker, Instant::now());
                            let _ = tokio::time::timeout_at(limit, copied).await;
                        }
                        return Ok(response);
                    }
                    Err(Failed::NotBegun) => {}
                    Err(Failed::Unknown) if !route.access.action.may_change() => {}
                    Err(Failed::Unknown) => return Err(ApiError::outcome_unknown()),
                    Err(Failed::TooMuchHeld) => return Err(state.too_many_answers()),
                }
            }
            Ok(GraphLocation::Suspended | GraphLocation::Nobody) => {}
            Err(error) if error.kind == ErrorKind::Busy && search.has_time() => {}
            Err(_) if route.of_unopened && state.graphs().why_unopened(&graph).is_some() => {
                return service::run(state, route, Box::new(context.again(deadline))).await;
            }
            Err(error) => return Err(error.into()),
        }
        place = search.again().await;
    }
}

/// Redirects the client of a stream to the leader.
fn redirected(state: &AppState, context: &RequestContext, leader: &Leader) -> HandlerResult {
    let path = context.uri.path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    let scheme = if state.tls().is_some() {
        "https"
    } else {
        "http"
    };
    let location = format!("{scheme}://{}{path}", leader.address);
    let location = HeaderValue::try_from(location)
        .map_err(|_| ApiError::internal("The leader's address is not one"))?;
    let response = Response::json(StatusCode::TEMPORARY_REDIRECT, Body::default());
    Ok(response.header(LOCATION, location))
}

/// The result of a request that ran here, if it is final. `None` if the request must run again, at
/// the current leader.
fn settled(route: &Route, led: &Graph, result: HandlerResult) -> Option<HandlerResult> {
    let turned_away =
        matches!(&result, Err(error) if error.status() == StatusCode::MISDIRECTED_REQUEST);
    if turned_away {
        return None;
    }
    if still_leads(led) {
        return Some(result);
    }
    // The read may have missed writes of another leader.
    if !route.access.action.may_change() {
        return None;
    }
    match &result {
        // It is unknown whether the query changed something, or only read stale data.
        Ok(_) if route.access.action == Action::Query => Some(Err(ApiError::outcome_unknown())),
        // The engine checked its lease before it reported the write as stored.
        Ok(_) if route.access.scope != Scope::Metadata => Some(result),
        Err(error) if error.status() == StatusCode::SERVICE_UNAVAILABLE => Some(result),
        Err(error) if error.status().is_client_error() => None,
        _ => Some(Err(ApiError::outcome_unknown())),
    }
}

/// Forwards the request to the leader.
async fn hand_on(
    state: &AppState,
    route: &Route,
    context: &RequestContext,
    graph: &str,
    leader: &Leader,
    deadline: Instant,
) -> Result<Response, Failed> {
    let gate = state.admission().gate(route.class);
    let metrics = state.metrics();
    let sent = AtomicBool::new(false);
    let may_be_done = || sent.load(Ordering::Relaxed);
    let work = async {
        let _slot = match gate {
            None => None,
            Some(gate) => match gate.enter().await {
                Ok(slot) => Some(slot),
                Err(refused) => {
                    let refused = ApiError::from(refused);
                    return Ok(refused.to_response(state.trace()));
                }
            },
        };
        metrics.forwarded.fetch_add(1, Ordering::Relaxed);
        let share = state.answers().share(route.access.action.may_change());
        let peers = &context.worker.peers;
        tokio::select! {
            answer = peers.forward(&leader.address, context, &sent, share) => answer,
            () = leads_no_more(state, graph, leader) => Err(match may_be_done() {
                true => Failed::Unknown,
                false => Failed::NotBegun,
            }),
        }
    };
    let limit = tokio::time::Instant::from_std(deadline);
    let answered = tokio::time::timeout_at(limit, work).await;
    let response = answered.unwrap_or_else(|_| {
        // The leader may still store the write: its own deadline is later.
        if route.access.action.may_change() && may_be_done() {
            return Err(Failed::Unknown);
        }
        let limit = state.time_limit(route);
        Ok(ApiError::from(state.database().timed_out(limit)).to_response(state.trace()))
    })?;
    match response.status == StatusCode::MISDIRECTED_REQUEST {
        true => Err(Failed::NotBegun),
        false => Ok(response),
    }
}

/// Returns once another server is known to lead the graph, or the same one in a new term.
async fn leads_no_more(state: &AppState, graph: &str, leader: &Leader) {
    loop {
        tokio::time::sleep(STILL_LEADS_EVERY).await;
        match state.graphs().place(graph) {
            GraphLocation::There(now) if now.term == leader.term => {}
            GraphLocation::There(_) | GraphLocation::Here(_) | GraphLocation::Unknown => return,
            // No server has taken over yet, so the old leader may still go on.
            GraphLocation::Nobody | GraphLocation::Suspended => {}
        }
    }
}
