//! Runs the handler of a request whose body has arrived: waits for its turn and keeps its deadline.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use varve_session::budget::lanes::Turn;
use varve_view::CancelToken;

use crate::body;
use crate::errors::ApiError;
use crate::negotiate;
use crate::queries::{Queries, Running as Listed};
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::route::{Class, Handler, HandlerFuture, Route};
use crate::state::AppState;

/// Bodies up to this size are read in place where the handler runs in place; larger ones on the
/// pool.
const INLINE_BODY_BYTES: usize = 16 * 1024;

/// How long after its deadline a write that has begun may still report its outcome.
const OUTCOME_WAIT: Duration = Duration::from_millis(500);

/// The message about a write whose outcome is not known by then.
const TIME_OVER: &str = "The request's time was over before it was known whether its write is stored. Read what it was \
                         to change before sending it again";

/// A body without the byte order mark that some editors write before a text. No format of bodies
/// begins with its bytes.
fn without_mark(body: Bytes) -> Bytes {
    match body.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => body.slice_ref(rest),
        None => body,
    }
}

/// Opens the body, which has arrived, and runs the handler.
pub(crate) async fn run(
    state: &AppState,
    route: &'static Route,
    mut context: Box<RequestContext>,
) -> HandlerResult {
    let encoding = negotiate::body_encoding(&context.headers)?;
    let opened = body::open(state, route, encoding, std::mem::take(&mut context.body)).await?;
    context.body = without_mark(opened.bytes);
    context.work_share = opened.share;
    let turn = Turn::until(context.deadline);
    if route.access.action.changes() {
        turn.will_change();
    }
    context.turn = Some(Arc::clone(&turn));
    let mut ends = Ends::of(state, route, &mut context);
    // Without a body, a brief handler has usually been tried when the head arrived. The few others,
    // whose password was checked first or whose empty body ended late, run on the pool.
    let is_tried = context.body.is_empty() && matches!(route.handler, Handler::Brief { .. });
    let in_place = (!is_tried).then(|| run_in_place(state, route, &context));
    let result = match in_place.flatten() {
        Some(result) => result,
        None => {
            let running = context.running.clone();
            let result = begun(state, route, context, &turn);
            cancellable(running.as_deref(), &turn, result).await
        }
    };
    ends.is_answered = true;
    result
}

/// Runs work for one message of a connection that is no longer HTTP, by the rules of a handler of
/// the route: on the pool, in its turn, until its deadline, and cancelled when the future is
/// dropped.
pub(crate) async fn run_work<T, F>(
    state: &AppState,
    route: &'static Route,
    mut context: RequestContext,
    work: F,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    F: FnOnce(&RequestContext) -> T + Send + 'static,
{
    let (deadline, turn) = (context.deadline, Turn::until(context.deadline));
    context.turn = Some(Arc::clone(&turn));
    let mut ends = Ends::of(state, route, &mut context);
    let listed = context.running.clone();
    let worker = Arc::clone(&context.worker);
    let begun = Arc::clone(&turn);
    let running: Running<T> = Box::pin(async move {
        let work = move || work(&context);
        worker
            .state
            .run_request(route, (deadline, &begun), work)
            .await
    });
    let result = in_turn(state, route, (deadline, &turn), running);
    let result = cancellable(listed.as_deref(), &turn, result).await;
    ends.is_answered = true;
    result
}

/// Waits for the end of a request's work, or until a client cancels it. Work that may have changed
/// something goes on to its end.
async fn cancellable<T>(
    running: Option<&Listed>,
    turn: &Turn,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let mut work = pin!(work);
    let Some(running) = running else {
        return work.await;
    };
    tokio::select! {
        biased;
        result = &mut work => return result,
        () = running.cancelled() => {}
    }
    if turn.give_up() || !turn.changes() {
        return Err(ApiError::cancelled());
    }
    work.await
}

/// Work that a request waits for.
type Running<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// Runs the handler on this thread if it neither waits nor has much to read; `None` if it must run
/// elsewhere.
pub(super) fn run_in_place(
    state: &AppState,
    route: &Route,
    context: &RequestContext,
) -> Option<HandlerResult> {
    if waits(state, route) || context.body.len() > INLINE_BODY_BYTES {
        return None;
    }
    // A panic leaves only the request's own values half-made; shared state is behind locks and
    // atomics.
    let result = catch_unwind(AssertUnwindSafe(|| match route.handler {
        Handler::Inline(handler) => Some(handler(context)),
        Handler::Brief { brief, .. } => brief(context),
        Handler::Async(_) | Handler::Pooled(_) => None,
    }));
    result.unwrap_or_else(|panic| Some(Err(state.panicked(&*panic))))
}

/// Runs the handler of a request whose body is open, and which does not run in place.
async fn begun(
    state: &AppState,
    route: &'static Route,
    context: Box<RequestContext>,
    turn: &Arc<Turn>,
) -> HandlerResult {
    let deadline = context.deadline;
    let running: HandlerFuture = match route.handler {
        Handler::Async(handler) => handler(context),
        Handler::Inline(handler)
        | Handler::Pooled(handler)
        | Handler::Brief { full: handler, .. } => pooled(route, context, turn, handler),
    };
    in_turn(state, route, (deadline, turn), running).await
}

/// The future of the handler on the pool.
fn pooled(
    route: &'static Route,
    context: Box<RequestContext>,
    turn: &Arc<Turn>,
    handler: fn(&RequestContext) -> HandlerResult,
) -> HandlerFuture {
    let worker = Arc::clone(&context.worker);
    let turn = Arc::clone(turn);
    Box::pin(async move {
        let deadline = context.deadline;
        worker
            .state
            .run_request(route, (deadline, &turn), move || handler(&context))
            .await?
    })
}

/// Waits for the request's turn and then for its end. Work that ends at its first poll takes no
/// slot and no timer: it has run in place, and a core runs one such piece of work at a time.
async fn in_turn<T>(
    state: &AppState,
    route: &Route,
    (deadline, turn): (Instant, &Turn),
    mut running: Running<T>,
) -> Result<T, ApiError> {
    let _slot = match state.admission().gate(route.class) {
        None => None,
        Some(gate) if gate.has_room() => {
            if let Some(result) = poll_once(state, &mut running).await {
                return result;
            }
            // The work has begun and goes on, with a slot or without: so at most one request for
            // each core exceeds the budget.
            gate.try_enter()
        }
        Some(gate) => Some(gate.enter().await?),
    };
    let deadline = tokio::time::Instant::from_std(deadline);
    let in_time = tokio::time::timeout_at(deadline, catch(state, &mut running)).await;
    if let Ok(result) = in_time {
        return result;
    }
    if turn.give_up() || !turn.changes() {
        return Err(state.timed_out(state.time_limit(route)));
    }
    // The waits inside the work end at the deadline too, and the work then reports its outcome.
    tokio::time::timeout(OUTCOME_WAIT, catch(state, &mut running))
        .await
        .unwrap_or_else(|_| Err(ApiError::outcome_unknown_as(TIME_OVER)))
}

/// Polls the work once; returns its result if it has ended.
async fn poll_once<T>(state: &AppState, running: &mut Running<T>) -> Option<Result<T, ApiError>> {
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context)));
        Poll::Ready(match polled {
            Ok(Poll::Ready(result)) => Some(result),
            Ok(Poll::Pending) => None,
            Err(panic) => Some(Err(state.panicked(&*panic))),
        })
    })
    .await
}

/// Ends the work of a read when nobody waits for its answer any more: its time is over, its
/// connection is closed, or its stream is reset.
struct Ends<'a> {
    token: Option<CancelToken>,
    running: Option<Arc<Listed>>,
    queries: &'a Queries,
    abandoned: &'a AtomicU64,
    is_answered: bool,
}

impl<'a> Ends<'a> {
    fn of(state: &'a AppState, route: &Route, context: &mut RequestContext) -> Self {
        // A write that has begun goes on to its end even if nobody waits for it any more.
        context.cancel = (!route.access.action.changes()).then(CancelToken::default);
        if let Some(token) = &context.cancel {
            context.running = Some(state.queries().begin(context, token));
        }
        Self {
            token: context.cancel.clone(),
            running: context.running.clone(),
            queries: state.queries(),
            abandoned: &state.metrics().reads_abandoned,
            is_answered: false,
        }
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let Some(token) = &self.token else {
            return;
        };
        token.cancel();
        if let Some(running) = &self.running {
            self.queries.end(running);
        }
        if !self.is_answered {
            self.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Whether the handler may have to wait for the storage engine: then it does not run on a thread
/// that serves others.
fn waits(state: &AppState, route: &Route) -> bool {
    state.reads_wait() && route.class != Class::Control
}

/// Polls a handler's future; a panic in it becomes a 500.
async fn catch<T>(state: &AppState, future: &mut Running<T>) -> Result<T, ApiError> {
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(state.panicked(&*panic))),
        },
    )
    .await
}
