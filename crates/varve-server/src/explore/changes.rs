//! `…/changes`: what commits did, in order, for those who follow a graph.
//!
//! ```json
//! {"graph_id":"06…","since":"459609792938234112","oldest":"459600000000000000"}
//! {"version":"459609792938234200","n":0,"of":2,"recorded_at":"…","kind":"put","ref":"\"1:ann\"","type":"vertex",
//!  "valid_from":"…","valid_to":null,"element":{…},"before":{…}}
//! {"caught_up_to":"459609792938234900"}
//! ```
//! A client that stores the cursor (`caught_up_to`, or the `version` of a commit that has arrived
//! whole) in one transaction with the effect of the changes applies each change exactly once. A
//! reader that waits counts as a follower, and holds neither a thread nor a snapshot.

mod ask;
mod config;
mod followers;
mod page;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http::header::ACCEPT;
use tokio::sync::OwnedSemaphorePermit;
use varve_graph::Graph;
use varve_session::budget::lanes::Turn;

use self::ask::{Ask, Kept};
pub use self::config::ChangesConfig;
pub(crate) use self::followers::Followers;
use self::followers::{FollowerSlot, WaitEnd};
use self::page::{Form, Page};
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, Cut, HandlerResult, Response};

/// Interval of keep-alive comments in a stream without changes.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// How long a reader may wait at most.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The pause of a waiting reader after commits without a requested change.
const EMPTY_PAUSE: Duration = Duration::from_millis(250);

/// Whether a request is answered by a stream of events.
pub(super) fn is_stream(context: &RequestContext) -> bool {
    let accept = context.headers().get(ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// Answers with changes: as lines once, or as a stream of events.
pub(super) async fn changes(mut context: Box<RequestContext>) -> HandlerResult {
    let graph = context.graph()?;
    if is_stream(&context) {
        // A followed graph does not change, and a stream has no end.
        graph.check_led()?;
    }
    let kept = Kept::found(&context, &graph).await?;
    let mut ask = Ask::of(&context, &graph, kept)?;
    if is_stream(&context) {
        return events(&context, graph, ask);
    }
    let mut text = page::head(kept, &ask);
    let state = context.shared_state();
    let wait = wait(&context)?;
    let place = match wait.is_zero() {
        true => None,
        false => Some(state.feature::<Followers>().enter(&context)?),
    };
    let end = Instant::now() + wait;
    loop {
        let wait_end = match wait.is_zero() {
            true => WaitEnd::TimeOver,
            false => {
                state
                    .feature::<Followers>()
                    .wait(&state, &graph, ask.since, end)
                    .await
            }
        };
        context.renew_identity()?;
        let page = read(&context, &graph, (&ask, Form::Lines), place.as_ref()).await?;
        ask.since = page.next;
        if page.changes == 0 && !wait.is_zero() {
            // The leader sees the next commit.
            graph.check_led()?;
        }
        if page.changes > 0 || wait_end != WaitEnd::Commit || ask.since >= ask.until {
            text.extend_from_slice(&page.text);
            break;
        }
        let left = end.saturating_duration_since(Instant::now());
        tokio::time::sleep(EMPTY_PAUSE.min(left)).await;
    }
    page::put_end(&mut text, ask.since);
    let content = ContentType::Other("application/x-ndjson");
    Ok(Response::new(StatusCode::OK, content, text))
}

/// Reads a page of changes on the pool, in its turn and well within the request's deadline. A
/// follower waits for its turn until the deadline, since the number of followers is limited. A
/// request without a follower's slot waits at most `admission_wait_ms`.
fn read(
    context: &RequestContext,
    graph: &Arc<Graph>,
    (ask, form): (&Ask, Form),
    place: Option<&FollowerSlot>,
) -> impl Future<Output = Result<Page, ApiError>> + Send + use<> {
    let (state, route) = (context.shared_state(), context.route());
    let (graph, ask) = (Arc::clone(graph), ask.clone());
    let (deadline, cancel) = (context.deadline(), context.cancel_token());
    let most = Duration::from_millis(state.config().changes.read_ms);
    let end_of_wait = match place {
        Some(_) => deadline,
        None => deadline.min(Instant::now() + state.config().admission_wait()),
    };
    let work = move |_turn: OwnedSemaphorePermit| {
        let now = Instant::now();
        let left = deadline.saturating_duration_since(now) / 2;
        page::read(&graph, &ask, form, (now + most.min(left), &cancel))
    };
    async move {
        let own = state
            .feature::<Followers>()
            .turn_to_read(end_of_wait)
            .await?;
        let turn = Turn::until(deadline);
        state
            .run_request(route, (deadline, &turn), move || work(own))
            .await?
    }
}

/// How long a reader waits for the first change: `30s`, `500ms`, or a number of seconds.
fn wait(context: &RequestContext) -> Result<Duration, ApiError> {
    let text = context.query()?.get("wait").unwrap_or_default();
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1_000),
    };
    if text.is_empty() {
        return Ok(Duration::ZERO);
    }
    let millis = digits.parse::<u64>().ok();
    let wait = millis.and_then(|number| number.checked_mul(unit));
    let wait = wait.map(Duration::from_millis).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The wait must be a time such as '30s' or '500ms', but got '{text}'"
        ))
    })?;
    // The wait must end before the request's deadline.
    let left = context.state().config().request_timeout() / 2;
    Ok(wait.min(WAIT_MAX).min(left))
}

/// The state of a stream of events between two pieces.
struct Following {
    reader: RequestContext,
    graph: Arc<Graph>,
    ask: Ask,
    place: FollowerSlot,
}

/// A stream of events. It ends when the client closes the connection, reads too slowly or loses
/// its rights, when the server stops or the graph is dropped.
fn events(context: &RequestContext, graph: Arc<Graph>, ask: Ask) -> HandlerResult {
    let place = context.state().feature::<Followers>().enter(context)?;
    let following = Box::new(Following {
        reader: context.again(context.deadline()),
        graph,
        ask,
        place,
    });
    let pieces = stream::unfold(Some(following), |at| async { at?.next().await });
    let content = ContentType::Other("text/event-stream");
    Ok(Response::new(
        StatusCode::OK,
        content,
        Body::streamed(pieces),
    ))
}

type Piece = (Result<Bytes, Cut>, Option<Box<Following>>);

impl Following {
    /// The next events, once there are some, or a keep-alive comment.
    async fn next(mut self: Box<Self>) -> Option<Piece> {
        let state = self.reader.shared_state();
        let (end, written) = (Instant::now() + ALIVE_EVERY, self.ask.since);
        loop {
            if self.ask.since >= self.ask.until {
                return None;
            }
            let followers = state.feature::<Followers>();
            let wait_end = followers
                .wait(&state, &self.graph, self.ask.since, end)
                .await;
            if wait_end == WaitEnd::Gone {
                return None;
            }
            self.reader.renew_identity().ok()?;
            self.reader.session.deadline = Instant::now() + state.config().request_timeout();
            let asked = (&self.ask, Form::Events);
            let page = match read(&self.reader, &self.graph, asked, Some(&self.place)).await {
                Ok(page) => page,
                Err(error) => return Some((Err(Cut(error.message().to_owned())), None)),
            };
            self.ask.since = page.next;
            let (changes, mut text) = (page.changes, page.text);
            if changes > 0 || wait_end == WaitEnd::TimeOver {
                page::put_event_of_end(&mut text, (self.ask.since > written).then_some(page.next));
                return Some((Ok(Bytes::from(text)), Some(self)));
            }
            let left = end.saturating_duration_since(Instant::now());
            tokio::time::sleep(EMPTY_PAUSE.min(left)).await;
        }
    }
}
