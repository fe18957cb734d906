//! Runs the handler of a request whose body has arrived: waits for its turn and keeps its deadline.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use varve_session::task::Task;

use crate::body;
use crate::errors::ApiError;
use crate::negotiate;
use crate::queries;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::route::{Action, Class, Consumes, Handler, Route};
use crate::state::AppState;

/// Bodies up to this size are read in place where the handler runs in place; larger ones on the
/// pool.
const INLINE_BODY_BYTES: usize = 16 * 1024;

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
    context.body = match route.consumes {
        Consumes::Bytes => opened.bytes,
        Consumes::Json | Consumes::JsonOrText => without_mark(opened.bytes),
    };
    context.work_share = opened.share;
    let mut task = begin(state, route, &mut context);
    // Without a body, a brief handler has usually been tried when the head arrived. The few others,
    // whose password was checked first or whose empty body ended late, run on the pool.
    let is_tried = context.body.is_empty() && matches!(route.handler, Handler::Brief { .. });
    let in_place = (!is_tried).then(|| run_in_place(state, route, &context));
    match in_place.flatten() {
        Some(result) => {
            task.answered();
            result
        }
        None => begun(state, route, context, task).await,
    }
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
    Ok(begin(state, route, &mut context)
        .on_pool(move || work(&context))
        .await?)
}

/// Begins the work of a request.
fn begin<'s>(state: &'s AppState, route: &'static Route, context: &mut RequestContext) -> Task<'s> {
    let kind = (route.class, route.access.action);
    // A write that has begun goes on to its end even if nobody waits for it any more.
    let is_read = !route.access.action.changes();
    let listing = is_read.then(|| queries::listing(context));
    context.session.begin(&state.database, kind, listing)
}

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
    result.unwrap_or_else(|panic| Some(Err(state.database().panicked(&*panic).into())))
}

/// Runs the handler of a request whose body is open, and which does not run in place.
async fn begun(
    state: &AppState,
    route: &'static Route,
    context: Box<RequestContext>,
    task: Task<'_>,
) -> HandlerResult {
    match route.handler {
        Handler::Brief { brief, full }
            if state.reads_wait() && route.access.action == Action::Read =>
        {
            let panicked =
                |panic: Box<dyn Any + Send>| Some(Err(state.database().panicked(&*panic).into()));
            let tried = task.tried(
                context,
                |context| {
                    let ran = catch_unwind(AssertUnwindSafe(|| brief(context)));
                    ran.unwrap_or_else(panicked)
                },
                move |context| full(context),
            );
            tried.await?
        }
        Handler::Async(handler) => task.end(handler(context)).await,
        Handler::Inline(handler)
        | Handler::Pooled(handler)
        | Handler::Brief { full: handler, .. } => task.on_pool(move || handler(&context)).await?,
    }
}

/// Whether the handler may have to wait for the storage engine: then it does not run on a thread
/// that serves others.
fn waits(state: &AppState, route: &Route) -> bool {
    state.reads_wait() && route.class != Class::Control
}
