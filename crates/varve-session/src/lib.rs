//! What every protocol of a server needs between a received request and the graph, and what is
//! neither a protocol nor a language.
//!
//! [`Database`] is what all sessions share. A [`Session`] is one client's work: who asks
//! ([`principal`]), what the request may do ([`action`]), where it belongs ([`place`]), the time,
//! memory and threads that it may take ([`budget`]), how it runs ([`task`]), its reads and changes
//! ([`work`]), and how it fails ([`failure`]). [`audit`] is the trail of all of them.
//!
//! A protocol decodes its requests, begins a task of a session, and renders a [`Failure`] in its
//! own form. A language makes a [`work::Prepared`] query of a text.
//!
//! # What it must not know
//!
//! HTTP, names of Java classes, any query language, and any engine. Statuses in the audit trail are
//! numbered as HTTP does, since the trail had that form before there were other protocols.

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
