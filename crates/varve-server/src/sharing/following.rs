//! Reads as of a position of a graph's leader, on the leader and on the servers that follow it.
//!
//! The leader states its *position*: a commit version up to which everything is stored. A server
//! that follows the graph answers reads as of that version itself, and asks again when the position
//! is older than the client accepts. What needs the leader is forwarded. The leader answers such
//! reads as of its own position, so that no running commit shows in part.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Buf;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use varve_graph::registry::{GraphLocation, Replica, SYSTEM_GRAPH, ServedGraph};
use varve_graph::{AskLeader, ErrorKind, Graph, Position, Standing, deadline};
use varve_kv::SpaceId;
use varve_model::CommitVersion;
use varve_session::budget::lanes::{Lane, aside};

use super::peers::Asked;
use super::proof::{proof_in, request};
use super::users::SharedUsers;
use crate::config::ReadConsistency;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Body, HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Route, Scope};
use crate::service;
use crate::state::{AppState, WorkerHandle};

/// How long the leader's answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How long a read waits for a new position before it is forwarded.
const POSITION_WAIT: Duration = Duration::from_secs(1);

/// Which servers may answer a read: `leader`, or `bounded`.
pub(crate) const CONSISTENCY: HeaderName = HeaderName::from_static("varve-consistency");
/// The commit version that a read must see at least: a [`VERSION`] of an earlier answer.
pub(crate) const BOOKMARK: HeaderName = HeaderName::from_static("varve-bookmark");
/// The commit version of an answer: what it shows, or changed, is no newer.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("varve-version");

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[Route::post(
    "cluster/position",
    Handler::Async(|context| Box::pin(position(context))),
)
.reads(Scope::Server)
.needs(Needs::Nothing)
.of("cluster", "ClusterAPI")
.class(Class::Control)];

/// A server's question for the position of a graph.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    graph: String,
}

/// The answer: a [`Position`].
#[derive(Serialize, Deserialize)]
struct PositionBody {
    space: String,
    incarnation: String,
    term: u64,
    version: u64,
    schema: u64,
    layout: u64,
}

impl From<Position> for PositionBody {
    fn from(position: Position) -> Self {
        Self {
            space: position.space.name,
            incarnation: position.space.incarnation,
            term: position.term,
            version: position.version.0,
            schema: position.schema,
            layout: position.layout,
        }
    }
}

impl From<PositionBody> for Position {
    fn from(given: PositionBody) -> Self {
        Self {
            space: SpaceId {
                name: given.space,
                incarnation: given.incarnation,
            },
            term: given.term,
            version: CommitVersion(given.version),
            schema: given.schema,
            layout: given.layout,
        }
    }
}

/// Gives another server the position of a graph that this one leads; 421 if it does not.
async fn position(context: Box<RequestContext>) -> HandlerResult {
    let state = context.state();
    if state.auth().is_some() {
        let proof = proof_in(context.headers());
        let shared = state.find_feature::<SharedUsers>();
        if !shared.is_some_and(|shared| shared.key.verifies(proof, &context.body)) {
            return Err(ApiError::forbidden(
                "Only servers of this cluster may ask for positions",
            ));
        }
    }
    let ask: Ask = context.json_object()?;
    let given = PositionBody::from(position_here(state, ask.graph).await?);
    let body = serde_json::to_vec(&given).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Response::json(StatusCode::OK, Body::from(body)))
}

/// The position of a graph that this server leads.
async fn position_here(state: &AppState, graph: String) -> Result<Position, ApiError> {
    // Usually no commit is running, and nothing waits.
    let at_once = deadline::until(Instant::now(), || state.graphs().position(&graph));
    match at_once {
        Err(error) if error.kind == ErrorKind::Busy => {
            let (graphs, end) = (Arc::clone(state.graphs()), Instant::now() + ANSWER_WAIT);
            let position = move || deadline::until(end, || graphs.position(&graph));
            // Not among the reads, which may all be waiting for positions of the other server.
            Ok(state.run_beside(Lane::Writes, position).await??)
        }
        at_once => Ok(at_once?),
    }
}

type Reply = Box<dyn FnOnce(Option<Position>) + Send>;

/// Asks the leaders of graphs for their positions, for all threads of this server.
pub(crate) struct Following {
    asks: mpsc::UnboundedSender<(String, Reply)>,
    /// Taken by the task that asks.
    asked: Mutex<Option<mpsc::UnboundedReceiver<(String, Reply)>>>,
    /// For each graph, held while a new replica is made. The value is when that last failed.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Instant>>>>>,
    leader: Arc<dyn AskLeader>,
}

impl Default for Following {
    fn default() -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        Self {
            leader: Arc::new(Questions(asks.clone())),
            asks,
            asked: Mutex::new(Some(asked)),
            turns: Mutex::default(),
        }
    }
}

/// Where threads that may wait ask.
struct Questions(mpsc::UnboundedSender<(String, Reply)>);

impl AskLeader for Questions {
    fn position(&self, graph: &str) -> Option<Position> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let reply: Reply = Box::new(move |position| {
            // The thread may have given up.
            let _ = sender.try_send(position);
        });
        self.0.send((graph.to_owned(), reply)).ok()?;
        let left = varve_kv::deadline::current()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.unwrap_or(ANSWER_WAIT).min(ANSWER_WAIT);
        // Other work of the pool goes on meanwhile, if there is room for it.
        aside(|| receiver.recv_timeout(left).ok()).flatten()?
    }
}

impl Following {
    async fn position(&self, graph: &str) -> Option<Position> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let reply: Reply = Box::new(move |position| {
            let _ = sender.send(position);
        });
        self.asks.send((graph.to_owned(), reply)).ok()?;
        receiver.await.ok()?
    }

    fn turn(&self, graph: &str) -> Arc<tokio::sync::Mutex<Option<Instant>>> {
        let mut turns = self.turns.lock();
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(graph.to_owned()).or_default())
    }
}

/// Asks the leaders, on behalf of all threads. While a graph's leader is being asked, further
/// questions for that graph wait, and share the next answer: it must have been asked after them.
pub(crate) async fn ask_for_ever(worker: &Arc<WorkerHandle>) {
    let Some(following) = worker.state.find_feature::<Following>() else {
        return;
    };
    let Some(mut asks) = following.asked.lock().take() else {
        return;
    };
    let mut waiting: HashMap<String, Vec<Reply>> = HashMap::new();
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            Some((graph, reply)) = asks.recv() => match waiting.get_mut(&graph) {
                Some(waiting) => waiting.push(reply),
                None => {
                    waiting.insert(graph.clone(), Vec::new());
                    running.spawn_local(ask(Arc::clone(worker), graph, vec![reply]));
                }
            },
            Some(Ok(graph)) = running.join_next() => {
                let next = waiting.get_mut(&graph).map(std::mem::take).unwrap_or_default();
                if next.is_empty() {
                    waiting.remove(&graph);
                } else {
                    running.spawn_local(ask(Arc::clone(worker), graph, next));
                }
            }
            else => return,
        }
    }
}

/// Asks once; returns the graph's name.
async fn ask(worker: Arc<WorkerHandle>, graph: String, replies: Vec<Reply>) -> String {
    let asking = ask_leader(&worker, &graph);
    let answer = tokio::time::timeout(ANSWER_WAIT, asking)
        .await
        .ok()
        .flatten();
    for reply in replies {
        reply(answer.clone());
    }
    graph
}

async fn ask_leader(worker: &WorkerHandle, graph: &str) -> Option<Position> {
    let state = &*worker.state;
    let leader = match state.graphs().place(graph) {
        GraphLocation::There(leader) => leader,
        GraphLocation::Here(_) => {
            let position = position_here(state, graph.to_owned()).await;
            return position.ok();
        }
        _ => return None,
    };
    let ask = Ask {
        graph: graph.to_owned(),
    };
    let body = serde_json::to_vec(&ask).ok()?;
    let proof = match state.find_feature::<SharedUsers>() {
        Some(shared) => HeaderValue::try_from(shared.key.proof(&body)).ok(),
        None => None,
    };
    let sent = AtomicBool::new(false);
    let asked = Asked {
        request: &|| request("/cluster/position", proof.as_ref(), body.clone()),
        sent: &sent,
        share: state.answers().share(false),
    };
    let answer = worker.peers.ask(state, &leader.address, asked).await.ok();
    let (_, mut body, _share) = answer.filter(|(head, ..)| head.status == StatusCode::OK)?;
    let text = body.copy_to_bytes(body.remaining());
    let given: PositionBody = serde_json::from_slice(&text).ok()?;
    Some(given.into())
}

/// The commit version that a request's bookmark names, if it may be answered by a server that
/// follows its graph; 400 for headers that are none.
pub(super) fn wanted(
    state: &AppState,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Option<CommitVersion>, ApiError> {
    let text = |name: &HeaderName| {
        let value = headers.get(name)?;
        Some(value.to_str().unwrap_or("?"))
    };
    let bookmark = match text(&BOOKMARK) {
        None => None,
        Some(text) => Some(CommitVersion(text.parse().map_err(|_| {
            let message =
                format!("The {BOOKMARK} must be the {VERSION} of an answer, but got '{text}'");
            ApiError::illegal_argument(message)
        })?)),
    };
    let consistency = match text(&CONSISTENCY) {
        Some(text) => ReadConsistency::named(text).ok_or_else(|| {
            let message =
                format!("The {CONSISTENCY} must be 'leader' or 'bounded', but got '{text}'");
            ApiError::illegal_argument(message)
        })?,
        None if bookmark.is_some() => ReadConsistency::Bounded,
        None => state.config().read_consistency,
    };
    let is_bounded = route.is_followed && consistency == ReadConsistency::Bounded;
    Ok(is_bounded.then_some(bookmark.unwrap_or(CommitVersion::ZERO)))
}

/// A read that may be answered as of a position.
pub(super) struct Read<'r> {
    graph: &'r str,
    /// The version that it must show at least.
    version: CommitVersion,
    /// Whether this server leads the graph.
    is_led: bool,
    deadline: Instant,
}

impl<'r> Read<'r> {
    /// A read of a graph at this place, which must end by `deadline`.
    pub(super) fn new(
        (graph, version): (&'r str, CommitVersion),
        place: &GraphLocation,
        deadline: Instant,
    ) -> Self {
        let is_led = matches!(place, GraphLocation::Here(_));
        Self {
            graph,
            version,
            is_led,
            deadline,
        }
    }
}

/// The tries of a request to read as of a position: one as a follower, and one as the leader, which
/// this server may become meanwhile.
pub(super) struct Tries {
    /// The version that the read must show at least; `None` for reads of the present.
    pub(super) version: Option<CommitVersion>,
    /// Whether another server may be the leader. A request that another server has forwarded is for
    /// the leader.
    pub(super) may_follow: bool,
}

impl Tries {
    /// The version for a try at this place; `None` if there is none.
    pub(super) fn next_at(&mut self, place: &GraphLocation) -> Option<CommitVersion> {
        match place {
            // What it cannot answer so needs the leader's present.
            GraphLocation::Here(_) => self.version.take(),
            GraphLocation::There(_) if std::mem::take(&mut self.may_follow) => self.version,
            _ => None,
        }
    }
}

/// A replica of a graph that has every commit up to `version` and is not too old; `None` if the
/// leader must answer, or it is not there by `end`. A new one at the leader (`is_led`) has every
/// commit that was acknowledged, whatever the client believes to have seen.
async fn replica(
    state: &AppState,
    (graph, version, is_led): (&str, CommitVersion, bool),
    end: Instant,
) -> Option<Arc<Replica>> {
    let (graphs, came) = (state.graphs(), Instant::now());
    // A replica that was asked for after this read came is new enough for any bound.
    let since = came.checked_sub(state.config().staleness());
    if let Some(kept) = graphs.replica(graph, since, version) {
        return Some(kept);
    }
    let following = state.feature::<Following>();
    let turn = following.turn(graph);
    let mut failed = turn.lock().await;
    if let Some(made) = graphs.replica(graph, since, version) {
        return Some(made);
    }
    if failed.is_some_and(|at| at >= came) {
        return None;
    }
    let asked = Instant::now();
    let limit = tokio::time::Instant::from_std(end);
    let made = tokio::time::timeout_at(limit, follow(state, graph, asked)).await;
    match made.ok().flatten() {
        Some(made) => (is_led || made.position.version >= version).then_some(made),
        None => {
            *failed = Some(Instant::now());
            None
        }
    }
}

/// Follows a graph at a position that is asked for at `asked`.
async fn follow(state: &AppState, graph: &str, asked: Instant) -> Option<Arc<Replica>> {
    let following = state.feature::<Following>();
    let position = following.position(graph).await?;
    let (graphs, leader) = (Arc::clone(state.graphs()), Arc::clone(&following.leader));
    let name = graph.to_owned();
    let made = move || graphs.follow(&name, (position, asked), &leader);
    match state.run_blocking(made).await.ok()? {
        Ok(made) => Some(made),
        Err(error) => {
            tracing::debug!(graph, %error, "the graph cannot be followed");
            None
        }
    }
}

/// The most positions that are tried for a read at the graph's leader.
const TRIES_LED: usize = 3;

/// Answers a read here as of a position of its graph's leader. `None` if the leader must read its
/// own graph, or another server must answer.
pub(super) async fn answer(
    state: &AppState,
    route: &'static Route,
    context: &RequestContext,
    read: &Read<'_>,
) -> Option<HandlerResult> {
    if read.graph == SYSTEM_GRAPH {
        return None;
    }
    if !read.is_led {
        // The leader may still answer in time.
        let end = read.deadline.min(Instant::now() + POSITION_WAIT);
        return answer_once(state, route, context, (read, end)).await.ok();
    }
    for _ in 0..TRIES_LED {
        match answer_once(state, route, context, (read, read.deadline)).await {
            Ok(result) => return Some(result),
            Err(Standing::NeedsLeader) => return None,
            Err(Standing::Holds | Standing::Passed) => {}
        }
    }
    // A read of the present would show running commits in part.
    let message = format!(
        "The commits of the graph '{}' that run do not end in time",
        read.graph
    );
    Some(Err(state.database().unavailable(message).into()))
}

/// Answers a read as of one position, which must be known by `end`; otherwise says why not.
async fn answer_once(
    state: &AppState,
    route: &'static Route,
    context: &RequestContext,
    (read, end): (&Read<'_>, Instant),
) -> Result<HandlerResult, Standing> {
    let replica = replica(state, (read.graph, read.version, read.is_led), end).await;
    let replica = replica.ok_or(Standing::Passed)?;
    let served = replica.for_request();
    let mut own = context.again(read.deadline);
    own.session = own.session.on_followed(Arc::clone(&served));
    let result = service::run(state, route, Box::new(own)).await;
    match standing(state, served).await {
        Standing::Holds => {}
        standing => return Err(standing),
    }
    let status = match &result {
        Ok(response) => response.status,
        Err(error) => error.status(),
    };
    // Another graph of the request may be led there; and what fails here may succeed at the leader,
    // since the space may be gone.
    let is_failed = status.is_server_error() && !read.is_led;
    if is_failed || status == StatusCode::MISDIRECTED_REQUEST {
        return Err(Standing::NeedsLeader);
    }
    state.metrics().followed.fetch_add(1, Ordering::Relaxed);
    Ok(result.map(|response| with_version(response, replica.position.version)))
}

/// The graph for one message of a connection that is no longer HTTP, where another server leads it
/// and the request for the connection accepts a read here.
pub(crate) async fn of_message(
    state: &AppState,
    context: &RequestContext,
    graph: &str,
) -> Option<Arc<ServedGraph>> {
    let version = wanted(state, context.route(), &context.headers).ok()??;
    followed(state, graph, version).await
}

/// The graph for one request or transaction, where another server leads it; it has every commit up
/// to `version`. `None` if that server must answer.
pub(crate) async fn followed(
    state: &AppState,
    graph: &str,
    version: CommitVersion,
) -> Option<Arc<ServedGraph>> {
    let is_elsewhere = matches!(state.graphs().place(graph), GraphLocation::There(_));
    match state.is_shared() && is_elsewhere && graph != SYSTEM_GRAPH {
        true => {
            let end = Instant::now() + POSITION_WAIT;
            let replica = replica(state, (graph, version, false), end).await?;
            state.metrics().followed.fetch_add(1, Ordering::Relaxed);
            Some(replica.for_request())
        }
        false => None,
    }
}

/// Whether what was read of a followed graph may be answered.
pub(crate) async fn standing(state: &AppState, served: Arc<ServedGraph>) -> Standing {
    match served.graph.standing() {
        Some(standing) => standing,
        None => {
            let asked = move || served.graph.ask_standing();
            state.run_blocking(asked).await.unwrap_or(Standing::Passed)
        }
    }
}

/// The answer of the graph's leader, with the version that it shows at most.
pub(super) fn of_leader(led: &Graph, result: HandlerResult) -> HandlerResult {
    result.map(|response| with_version(response, led.newest_shown()))
}

fn with_version(response: Response, version: CommitVersion) -> Response {
    response.header(VERSION, HeaderValue::from(version.0))
}
