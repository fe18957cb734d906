//! The HTTP server of Varve: listeners, routes, messages, status codes and limits. The only crate
//! that serves HTTP.
//!
//! # The key decision
//!
//! A request costs the engine microseconds, so it must cost the server less. Each core has one
//! single-threaded runtime with its own listener and connections; a handler that never waits runs
//! in place, without a box, a spawn or a lock. The price: long work must be sent elsewhere
//! explicitly, or it holds up its core's other connections. The alternative, one work-stealing
//! runtime with a general router, was rejected: a small GET costs a third more.
//!
//! # The request path
//!
//! `runtime` (accept, connection, time limits) → `service` (one request) → `router` (path and verb
//! to a [`Route`]) → `access` (rights) → `negotiate` (types, compression) → `body` (size and time
//! limits, budget of `varve_session`) → the handler → compression, [`metrics`], answer.
//!
//! # Writing a handler
//!
//! A module with handlers has a `static ROUTES: &[Route]`, which `routes::tables` lists; the table
//! alone makes a resource known to the router, to `/apis`, to the per-route counters and to the
//! test against `docs/openapi.json`. A query parameter that the table does not list is 400.
//!
//! ```
//! use varve_server::{
//!     ApiError, Handler, HandlerResult, JsonWriter, Parameter, RequestContext, Response, Route,
//!     Scope,
//! };
//!
//! static ROUTES: &[Route] = &[
//!     Route::get("graphs/{graph}/greeting/{name}", Handler::Inline(greet))
//!         .reads(Scope::Graph)
//!         .of("graph", "GreetingAPI")
//!         .with(&[Parameter::new("limit", "long", "100")]),
//!     Route::post("graphs/{graph}/greeting", Handler::Async(|context| Box::pin(store(context))))
//!         .writes(Scope::Graph)
//!         .batch(),
//! ];
//!
//! /// In place: microseconds, never waits.
//! fn greet(context: &RequestContext) -> HandlerResult {
//!     let query = context.query()?;
//!     if query.integer("limit", 100)? == 0 {
//!         return Err(ApiError::illegal_argument("The limit must be > 0"));
//!     }
//!     let mut json = JsonWriter::with_capacity(64);
//!     json.begin_object();
//!     json.key("graph").string(context.graph_name());
//!     json.key("name").string(context.path_parameter("name"));
//!     json.end_object();
//!     Ok(Response::ok(json.finish()))
//! }
//!
//! /// Waits for a commit without blocking its core, or moves to the pool if the request is large.
//! async fn store(context: Box<RequestContext>) -> HandlerResult {
//!     if context.body().len() > 64 * 1024 {
//!         let state = context.shared_state();
//!         return state.run_blocking(move || parse(&context)).await?;
//!     }
//!     parse(&context)
//! }
//!
//! fn parse(context: &RequestContext) -> HandlerResult {
//!     // Straight from the received bytes; `json_seed` takes a seed that knows the schema.
//!     let names: Vec<&str> = context.json()?;
//!     Ok(Response::of(http::StatusCode::CREATED, &names))
//! }
//!
//! let graphs = varve_server::in_memory()?;
//! let state = varve_server::AppState::with_routes(Default::default(), graphs, &[ROUTES])?;
//! # Ok::<(), varve_server::SetupError>(())
//! ```
//!
//! - [`Handler::Inline`] takes `&RequestContext` and runs in place. [`Handler::Pooled`] takes the
//!   same and runs on the pool for long work; if the pool's queue is full, the request waits, then
//!   it is answered 503. [`Handler::Async`] owns the context and may await.
//! - Everything a handler returns as `Err` is an [`ApiError`]: its constructors name the cases of
//!   HugeGraph's error table, so no handler names a status or a Java class. Panics become a 500
//!   with a request id.
//! - `.reads(scope)`, `.writes(scope)`, `.changes_schema(scope)`, `.administers(scope)` or
//!   `.queries(scope)` declares the action and the scope of a request; a route without it does not
//!   compile. `access` checks them, and admission, forwarding and answers depend on them.
//!   `.batch()` raises the body limit, `.gzip()` compresses answers for clients that accept it.
//! - Loops in long work call [`RequestContext::check_deadline`] regularly.
//!
//! # What it must not know
//!
//! The bytes of keys and rows, and the name of any engine, except as text in answers.

mod access;
mod admin;
mod answers;
mod body;
mod bolt;
pub mod config;
mod cypher;
pub mod datum;
pub mod errors;
mod explore;
mod forwarded;
pub mod global;
mod gremlin;
mod health;
pub mod hugegraph;
mod identity;
mod jobs;
pub mod json;
mod load;
pub mod metrics;
mod negotiate;
pub mod omrs;
mod origin;
mod parameters;
mod path;
mod queries;
pub mod request;
pub mod respond;
pub mod rights;
pub mod route;
pub mod router;
mod routes;
pub mod runtime;
mod section;
mod service;
mod setup;
mod sharing;
pub mod state;
mod system_database;
pub mod tls;
mod ui;
mod upgrade;
pub mod version;
mod wire;

pub use admin::{end_jobs, schedule_backups};
pub use bolt::BoltConfig;
pub use config::{AuthConfig, BackupConfig, GremlinConfig, ReadConsistency, ServerConfig};
pub use errors::ApiError;
pub use explore::{ChangesConfig, ExploreConfig};
pub use forwarded::ForwardedHeader;
pub use jobs::ServerJobs;
pub use json::JsonWriter;
pub use load::LoadConfig;
pub use omrs::{Metadata, OmrsConfig, RepositoryOf};
pub use request::{Query, RequestContext};
pub use respond::{ContentType, HandlerResult, Response};
pub use route::{
    Access, Action, Class, Handler, HandlerFuture, Parameter, Refusal, Route, Scope, Undeclared,
};
pub use runtime::{Listeners, RunningServer, start, start_on};
pub use section::OptionDoc;
pub use setup::{SetupError, in_memory};
pub use state::AppState;
pub use tls::{ClientName, TlsConfig};
pub use varve_session::place::LockedGraphs;
pub use wire::time::parse_instant;
