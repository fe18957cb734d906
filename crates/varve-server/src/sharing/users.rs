//! The users of a cluster: one server leads them, as it leads a graph, and the others have a copy.
//!
//! Requests about users go to their leader. Every server checks identities itself, with its copy,
//! and answers 503 when that is too old. `/cluster/users` gives the copy, with the hashes of
//! passwords, to servers that have the cluster's key.

mod shared;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bytes::Buf;
use http::StatusCode;
use http::header::HeaderValue;
use serde::{Deserialize, Serialize};
use varve_auth::{Auth, AuthError, DirectoryCopy, Store};
use varve_graph::registry::{GraphLocation, SYSTEM_GRAPH};
use varve_kv::Leader;

pub(crate) use self::shared::SharedUsers;
use super::peers::Asked;
use super::proof::{PROOF, proof_in, request};
use crate::errors::ApiError;
use crate::jobs::check_owners;
use crate::request::RequestContext;
use crate::respond::{Body, HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Route, Scope, Verb};
use crate::state::{AppState, WorkerHandle};

/// The interval at which a server asks the leader for the users.
const EVERY: Duration = Duration::from_millis(250);
/// How long the answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// The interval at which a server reports uses of API tokens, and the most uses of one report.
const USES_EVERY: Duration = Duration::from_secs(60);
const USES_MAX: usize = 1_000;

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[Route::post(
    "cluster/users",
    Handler::Async(|context| Box::pin(copy(context))),
)
.reads(Scope::Server)
.needs(Needs::Nothing)
.of("cluster", "ClusterAPI")
.class(Class::Control)];

/// A server's request for the users.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// The version of that server's users.
    known: String,
    /// The uses of API tokens on that server: their ids, and milliseconds since 1970.
    uses: Vec<(String, i64)>,
}

/// Answers another server of the cluster with the users; 204 if that server's are current.
async fn copy(context: Box<RequestContext>) -> HandlerResult {
    let state = context.state();
    let proof = proof_in(context.headers());
    let is_proved = |shared: &&SharedUsers| shared.key.verifies(proof, &context.body);
    let shared = state.find_feature::<SharedUsers>().filter(is_proved);
    let Some((auth, shared)) = state.auth().zip(shared) else {
        return Err(ApiError::forbidden(
            "Only servers of this cluster may ask for its users",
        ));
    };
    let ask: Ask = context.json_object()?;
    auth.note_uses(&ask.uses);
    let (status, body) = if auth.leads() && auth.version() == ask.known {
        (StatusCode::NO_CONTENT, Vec::new())
    } else {
        let auth = Arc::clone(auth);
        let whole = move || {
            let copy = auth.copy()?;
            Ok::<_, AuthError>(serde_json::to_vec(&copy).unwrap_or_default())
        };
        (StatusCode::OK, state.run_blocking(whole).await??)
    };
    let answer = shared.key.proof_of_answer(proof, &body);
    let answer = HeaderValue::try_from(answer)
        .map_err(|_| ApiError::internal("The proof of the answer is no header"))?;
    let response = match status {
        StatusCode::OK => Response::json(status, Body::from(body)),
        _ => Response::no_content(),
    };
    Ok(response.header(PROOF, answer))
}

/// Keeps the users of this server current.
pub(crate) async fn keep_up_for_ever(worker: &WorkerHandle) {
    if worker.state.find_feature::<SharedUsers>().is_none() {
        return;
    }
    loop {
        keep_up_since(worker, Instant::now()).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// Whether a request of a route may change users.
pub(super) fn are_changed(route: &Route) -> bool {
    let is_login = route.verb == Verb::Post && route.needs == Needs::Nothing;
    route.of_users && route.access.action.may_change() && route.verb != Verb::Get && !is_login
}

/// Updates the users of this server to the cluster's, as of `since` or later. A failure is tried
/// again in the next round.
pub(super) async fn keep_up_since(worker: &WorkerHandle, since: Instant) {
    let state = &*worker.state;
    let (Some(auth), Some(shared)) = (state.auth(), state.find_feature::<SharedUsers>()) else {
        return;
    };
    let mut asked = shared.asking.lock().await;
    if asked.is_some_and(|asked| asked >= since) {
        return;
    }
    let began = Instant::now();
    let kept = match state.graphs().place(SYSTEM_GRAPH) {
        GraphLocation::Here(_) if auth.has_store() => Ok(()),
        GraphLocation::Here(graph) => {
            let auth = Arc::clone(auth);
            let lead = move || auth.lead(Store::open(graph)?);
            match state.run_blocking(lead).await {
                Ok(led) => led.map_err(|error| error.to_string()),
                Err(error) => Err(format!("{:?}", error.status())),
            }
        }
        GraphLocation::There(leader) => {
            let_go(state, auth).await;
            fetch(worker, (auth, shared), &leader).await
        }
        GraphLocation::Nobody | GraphLocation::Unknown => {
            let_go(state, auth).await;
            Ok(())
        }
        GraphLocation::Suspended => Ok(()),
    };
    if auth.is_current() {
        shared.jobs.call_once(|| check_owners(state.graphs(), auth));
    }
    if kept.is_ok() {
        *asked = Some(began);
    }
    if let Err(error) = kept {
        match auth.is_current() {
            true => tracing::debug!(error, "the users of the cluster are requested again"),
            false => tracing::warn!(
                error,
                "the copy of the cluster's users has expired: requests are answered 503"
            ),
        }
    }
}

/// Gives up the users that this server has led.
async fn let_go(state: &AppState, auth: &Arc<Auth>) {
    if auth.has_store() {
        let auth = Arc::clone(auth);
        // A change that is under way may wait for the cluster.
        let _ = state.run_blocking(move || auth.follow()).await;
    }
}

/// Fetches the users from the server that leads them.
async fn fetch(
    worker: &WorkerHandle,
    (auth, shared): (&Auth, &SharedUsers),
    leader: &Leader,
) -> Result<(), String> {
    let state = &*worker.state;
    let asked = Instant::now();
    let mut uses = Vec::new();
    if shared.uses_sent.lock().elapsed() >= USES_EVERY {
        uses = auth.uses(USES_MAX);
        *shared.uses_sent.lock() = asked;
    }
    let ask = Ask {
        known: auth.version(),
        uses,
    };
    let body = serde_json::to_vec(&ask).map_err(|error| error.to_string())?;
    let proof = shared.key.proof(&body);
    let header = HeaderValue::try_from(&proof).map_err(|error| error.to_string())?;
    let make = || request("/cluster/users", Some(&header), body.clone());
    let sent = AtomicBool::new(false);
    let asked_of = Asked {
        request: &make,
        sent: &sent,
        share: state.answers().share(false),
    };
    let asking = worker.peers.ask(state, &leader.address, asked_of);
    let unanswered = || format!("the server at {} does not answer", leader.address);
    let answer = tokio::time::timeout(ANSWER_WAIT, asking).await;
    let (head, body, _share) = answer
        .map_err(|_| unanswered())?
        .map_err(|_| unanswered())?;
    if !matches!(head.status, StatusCode::OK | StatusCode::NO_CONTENT) {
        return Err(format!(
            "the server at {} answers {}",
            leader.address, head.status
        ));
    }
    let mut text = vec![0; body.remaining()];
    let mut body = body;
    body.copy_to_slice(&mut text);
    if !shared
        .key
        .verifies_answer(proof_in(&head.headers), &proof, &text)
    {
        return Err(format!("the server at {} has another key", leader.address));
    }
    let copy: Option<DirectoryCopy> = match head.status {
        StatusCode::NO_CONTENT => None,
        _ => serde_json::from_slice(&text)
            .map_err(|error| format!("the users of {}: {error}", leader.address))?,
    };
    auth.take_copy(copy, asked);
    Ok(())
}
