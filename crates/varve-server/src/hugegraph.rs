//! The HugeGraph REST API of a graph: one room for each kind of resource.

mod algorithms;
mod auth;
mod graph;
mod graphs;
mod jobs;
mod schema;
mod tasks;
mod traversers;
mod variables;

pub use graph::parse_instant;
pub(crate) use graph::{
    commit_version as scope_version, condition_of_right, instant as scope_instant, output,
    scope as graph_scope,
};
pub use jobs::ServerJobs;
pub(crate) use schema::scripts as schema_of_scripts;

use crate::route::Route;

/// The tables of all rooms.
pub(crate) fn tables() -> Vec<&'static [Route]> {
    vec![
        algorithms::ROUTES,
        auth::ROUTES,
        graph::ROUTES,
        graphs::ROUTES,
        schema::ROUTES,
        tasks::ROUTES,
        traversers::ROUTES,
        variables::ROUTES,
    ]
}
