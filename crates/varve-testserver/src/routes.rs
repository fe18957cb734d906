//! Routes for tests: of each kind of handler, with bodies and answers of any size.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use http::StatusCode;
use varve_server::{
    Action, ApiError, Handler, HandlerResult, Parameter, RequestContext, Response, Route, Scope,
};
use varve_testkit::http::TIMEOUT;

/// The routes.
pub static ROUTES: &[Route] = &[
    Route::get("test/panic", Handler::Inline(|_| panic!("on purpose"))).reads(Scope::Server),
    Route::get(
        "test/panic-async",
        Handler::Async(|_| Box::pin(async { panic!("on purpose") })),
    )
    .reads(Scope::Server),
    Route::get(
        "test/panic-pooled",
        Handler::Pooled(|_| panic!("on purpose")),
    )
    .reads(Scope::Server),
    Route::get("test/list", Handler::Inline(list))
        .reads(Scope::Server)
        .with(&[Parameter::new("count", "long", "2000")])
        .gzip(),
    Route::post("test/echo", Handler::Inline(echo)).writes(Scope::Server),
    Route::put(
        "test/echo",
        Handler::Async(|context| Box::pin(async move { echo(&context) })),
    )
    .writes(Scope::Server)
    .batch(),
    Route::delete("test/echo", Handler::Inline(|_| Ok(Response::no_content())))
        .writes(Scope::Server),
    Route::post("test/typed", Handler::Inline(typed)).writes(Scope::Server),
    Route::put("test/held", Handler::Pooled(held)).writes(Scope::Server),
    Route::get("test/held", Handler::Pooled(held)).reads(Scope::Server),
    Route::get(
        "test/forever",
        Handler::Async(|_| Box::pin(std::future::pending())),
    )
    .reads(Scope::Server),
    Route::get("graphs/{graph}/test/{id}", Handler::Inline(parameters)).reads(Scope::Graph),
    Route::post("graphs/{graph}/test/query", Handler::Pooled(query)).queries(Scope::Graph),
];

/// Answers 2000 numbers, or as many as asked for.
fn list(context: &RequestContext) -> HandlerResult {
    let count = context.query()?.integer("count", 2000)?;
    let numbers: Vec<i64> = (0..count).collect();
    Ok(Response::of(StatusCode::OK, &numbers))
}

fn echo(context: &RequestContext) -> HandlerResult {
    Ok(Response::ok(context.body().clone()))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    name: String,
}

fn typed(context: &RequestContext) -> HandlerResult {
    let typed: Typed = context.json()?;
    if typed.name.is_empty() {
        return Err(ApiError::illegal_argument("The name can't be empty"));
    }
    Ok(Response::created(format!("{:?}", typed.name)))
}

fn parameters(context: &RequestContext) -> HandlerResult {
    let form = format!("{:?}", context.path_form());
    let values = [context.graph_name(), context.path_parameter("id"), &form];
    Ok(Response::of(StatusCode::OK, &values))
}

/// Reads or writes, as its body says.
fn query(context: &RequestContext) -> HandlerResult {
    let action = match context.json::<&str>()? {
        "write" => Action::Write,
        _ => Action::Read,
    };
    context.decide(action, context.graph_name())?;
    Ok(Response::ok("true"))
}

/// Where `PUT /test/held` waits until [`Gate::open`].
pub static GATE: Gate = Gate {
    open: Mutex::new(false),
    changed: Condvar::new(),
    inside: AtomicUsize::new(0),
};

/// Something that handlers of one test wait at. Only one test may use [`GATE`] at a time: see
/// [`Gate::take`].
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    inside: AtomicUsize,
}

static GATE_OWNER: Mutex<()> = Mutex::new(());

impl Gate {
    /// Closes the gate for the time of one test.
    pub fn take(&self) -> std::sync::MutexGuard<'static, ()> {
        let owner = GATE_OWNER
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *self.open.lock().unwrap() = false;
        self.inside.store(0, Ordering::SeqCst);
        owner
    }

    /// Lets all that wait go on.
    pub fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// Waits until so many handlers are waiting inside.
    pub fn wait_for(&self, count: usize) {
        let mut open = self.open.lock().unwrap();
        while self.inside.load(Ordering::SeqCst) < count {
            let (guard, timeout) = self.changed.wait_timeout(open, TIMEOUT).unwrap();
            assert!(!timeout.timed_out(), "no handler came to the gate");
            open = guard;
        }
    }
}

fn held(_: &RequestContext) -> HandlerResult {
    let mut open = GATE.open.lock().unwrap();
    GATE.inside.fetch_add(1, Ordering::SeqCst);
    GATE.changed.notify_all();
    while !*open {
        open = GATE.changed.wait(open).unwrap();
    }
    Ok(Response::ok("true"))
}
