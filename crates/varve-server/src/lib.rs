//! HTTP for Varve: listeners, routes, messages, status codes and limits. The only crate that knows HTTP and JSON.
pub mod admission;
pub mod blocking;
mod body;
pub mod config;
pub mod errors;
pub mod global;
pub mod json;
pub mod metrics;
mod negotiate;
mod path;
pub mod request;
pub mod respond;
pub mod route;
pub mod router;
mod routes;
pub mod runtime;
mod service;
pub mod state;

pub use config::ServerConfig;
pub use errors::{ApiError, HandlerResult};
pub use json::JsonWriter;
pub use request::{Query, RequestContext};
pub use respond::Response;
pub use route::{Class, Handler, HandlerFuture, Route};
pub use runtime::{RunningServer, start};
pub use state::{AppState, SetupError};
