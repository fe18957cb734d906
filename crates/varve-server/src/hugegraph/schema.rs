//! `…/schema`: property keys, vertex labels, edge labels, index labels; and the jobs that rebuild
//! indexes.

mod changes;
mod handlers;
mod messages;
pub(crate) mod scripts;
mod sight;

pub(crate) use handlers::ROUTES;
pub(crate) use sight::Sight;
