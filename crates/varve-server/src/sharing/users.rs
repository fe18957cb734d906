//! The users of a cluster: one server leads them, as it would a graph, and the others have a copy.
//!
//! Requests about users go to the server that leads them. Who a client is every server says by
//! itself, from its copy, and says 503 when that is too old. `/cluster/users` hands out the copy,
//! with the hashes of passwords, to whoever has the cluster's key.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use bytes::Buf;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, StatusCode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use varve_auth::{Auth, ClusterKey, DirectoryCopy, Store};
use varve_graph::Registry;
use varve_graph::registry::{GraphLocation, SYSTEM_GRAPH};
use varve_kv::Leader;

use super::FORWARDED;
use super::peers::Asked;
use crate::config::{ConfigError, ServerConfig};
use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::respond::{Body, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Route, Scope};
use crate::state::{AppState, SetupError, WorkerHandle, check_owners};

/// How often a server asks for the users of the one that leads them.
const EVERY: Duration = Duration::from_millis(250);
/// How long the answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How often it tells when API tokens were used.
const USES_EVERY: Duration = Duration::from_secs(60);

/// The header with the proof that a server belongs to the cluster.
const PROOF: HeaderName = HeaderName::from_static("x-varve-cluster-proof");

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[Route::post("cluster/users", Handler::Pooled(copy))
    .reads(Scope::Server)
    .needs(Needs::Nothing)
    .of("cluster", "ClusterAPI")
    .class(Class::Control)];

/// What a server needs to have the users that another one leads.
#[derive(Debug)]
pub(crate) struct SharedUsers {
    key: ClusterKey,
    /// Held by whoever asks, so that an older copy does not replace a newer one.
    asking: tokio::sync::Mutex<()>,
    uses_told: Mutex<Instant>,
    /// Lets jobs run, once the users are known.
    jobs: Once,
}

impl SharedUsers {
    /// Where several servers have the same users. Reads the cluster's key.
    ///
    /// # Errors
    /// When an option is missing that they need, or the file does not have a key.
    pub(crate) fn open(
        config: &ServerConfig,
        graphs: &Registry,
    ) -> Result<Option<Self>, SetupError> {
        if !graphs.is_shared() {
            return Ok(None);
        }
        let refused = |option, reason: &str| {
            Err(SetupError::Config(ConfigError {
                option,
                reason: reason.to_owned(),
            }))
        };
        if config.tls.is_on() && config.tls.peer_ca_file.as_os_str().is_empty() {
            return refused(
                "tls.peer_ca_file",
                "must be given with tls.certificate_file where servers share a store: they forward requests to \
                 each other",
            );
        }
        if !config.auth.enabled {
            return Ok(None);
        }
        let file = &config.auth.cluster_key_file;
        if file.as_os_str().is_empty() {
            return refused(
                "auth.cluster_key_file",
                "must be given with auth.enabled where servers share a store: they ask each other for the users",
            );
        }
        let key = std::fs::read_to_string(file).map_err(|source| SetupError::Io {
            what: format!("read {} (auth.cluster_key_file)", file.display()),
            source,
        })?;
        let Some(key) = ClusterKey::new(key.trim().as_bytes()) else {
            return refused(
                "auth.cluster_key_file",
                "must have a key of at least 32 bytes",
            );
        };
        Ok(Some(Self {
            key,
            asking: tokio::sync::Mutex::default(),
            uses_told: Mutex::new(Instant::now()),
            jobs: Once::new(),
        }))
    }
}

/// What a server asks for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// The version of the users that it has.
    known: String,
    /// When API tokens were used there: their ids, and milliseconds since 1970.
    uses: Vec<(String, i64)>,
}

/// The users, for another server of the cluster; 204 if it has them.
fn copy(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    let proof = context.headers().get(PROOF);
    let proof = proof.and_then(|proof| proof.to_str().ok());
    let is_proved = |shared: &&SharedUsers| proof.is_some_and(|proof| shared.key.verifies(proof));
    let shared = state.shared_users.as_ref().filter(is_proved);
    let Some(auth) = shared.and(state.auth()) else {
        return Err(ApiError::forbidden(
            "Only servers of this cluster may ask for its users",
        ));
    };
    let ask: Ask = context.json_object()?;
    auth.note_uses(&ask.uses);
    Ok(match auth.copy_unless(&ask.known)? {
        None => Response::no_content(),
        Some(copy) => Response::of(StatusCode::OK, &copy),
    })
}

/// Keeps the users of this server those of the cluster.
pub(crate) async fn keep_up_for_ever(worker: &WorkerHandle) {
    if worker.state.shared_users.is_none() {
        return;
    }
    loop {
        keep_up(worker).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// Brings the users of this server to those of the cluster, as they are now or later. What fails is
/// tried again with the next round.
pub(super) async fn keep_up(worker: &WorkerHandle) {
    let state = &*worker.state;
    let (Some(auth), Some(shared)) = (state.auth(), &state.shared_users) else {
        return;
    };
    let _alone = shared.asking.lock().await;
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
    if let Err(error) = kept {
        match auth.is_current() {
            true => tracing::debug!(error, "the users of the cluster are asked for again"),
            false => tracing::warn!(
                error,
                "the users of the cluster are not known: requests are answered 503"
            ),
        }
    }
}

/// Lets go of users that this server has led.
async fn let_go(state: &AppState, auth: &Arc<Auth>) {
    if auth.has_store() {
        let auth = Arc::clone(auth);
        // A change that is under way may wait for the cluster.
        let _ = state.run_blocking(move || auth.follow()).await;
    }
}

/// Asks the server that leads the users for them.
async fn fetch(
    worker: &WorkerHandle,
    (auth, shared): (&Auth, &SharedUsers),
    leader: &Leader,
) -> Result<(), String> {
    let state = &*worker.state;
    let asked = Instant::now();
    let is_time = shared.uses_told.lock().elapsed() >= USES_EVERY;
    let ask = Ask {
        known: auth.version(),
        uses: if is_time { auth.uses() } else { Vec::new() },
    };
    let body = serde_json::to_vec(&ask).map_err(|error| error.to_string())?;
    let proof = HeaderValue::try_from(shared.key.proof()).map_err(|error| error.to_string())?;
    let make = || request(&leader.address, &proof, body.clone());
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
    let copy: Option<DirectoryCopy> = match head.status {
        StatusCode::NO_CONTENT => None,
        StatusCode::OK => {
            let copy = serde_json::from_reader(body.reader());
            Some(copy.map_err(|error| format!("the users of {}: {error}", leader.address))?)
        }
        status => return Err(format!("the server at {} answers {status}", leader.address)),
    };
    if is_time {
        *shared.uses_told.lock() = asked;
    }
    auth.take_copy(copy, asked);
    Ok(())
}

fn request(address: &str, proof: &HeaderValue, body: Vec<u8>) -> Request<Body> {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = http::Uri::from_static("/cluster/users");
    let headers = request.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(PROOF, proof.clone());
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    if let Ok(host) = HeaderValue::from_str(address) {
        headers.insert(header::HOST, host);
    }
    request
}
