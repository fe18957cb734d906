//! `…/schema`: property keys, vertex labels, edge labels, index labels; and the jobs that rebuild indexes.

mod handlers;
mod messages;

pub(crate) use handlers::ROUTES;
