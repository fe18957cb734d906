//! `…/schema`: property keys, vertex labels, edge labels, index labels; and the jobs that rebuild indexes.

mod changes;
mod handlers;
mod messages;
pub(crate) mod scripts;

pub(crate) use handlers::ROUTES;
