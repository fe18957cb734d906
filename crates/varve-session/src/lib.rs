//! What every protocol of a server needs between a received request and the graph, and what is
//! neither a protocol nor a language: who asks ([`principal`]), what a request may do ([`action`]),
//! the time, memory and threads that it may take ([`budget`]), and how it fails ([`failure`]).
//!
//! A protocol decodes its requests, asks this crate for room and for a turn, and renders a
//! [`Failure`] in its own form.
//!
//! # What it must not know
//!
//! HTTP, JSON, names of Java classes, any query language, and any engine.

pub mod action;
pub mod audit;
pub mod budget;
pub mod database;
pub mod failure;
pub mod place;
pub mod principal;
mod session;
pub mod task;
pub mod work;

pub use action::{Action, Class};
pub use database::{Database, DatabaseHandle};
pub use failure::Failure;
pub use principal::Identity;
pub use session::Session;
