//! The HugeGraph REST API of a graph: one module for each kind of resource.

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
    OldForm, PropertiesJson, commit_version as scope_version, condition_of_right,
    instant as scope_instant, instant_text, output, parse_edge_id, parse_vertex_id,
    scope as graph_scope, scope_of as graph_scope_of, store_batch,
};
pub use jobs::ServerJobs;
pub(crate) use jobs::{owner_check, submit as submit_job};
pub(crate) use schema::scripts as schema_of_scripts;
pub(crate) use tasks::Sight;
pub(crate) use traversers::{Way, conditions as edge_conditions};

pub(crate) use self::auth::session;
use crate::route::Route;

/// The tables of all modules.
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
