//! The HugeGraph REST API of a graph: one module for each kind of resource.

mod algorithms;
mod auth;
mod graph;
mod graphs;
mod schema;
mod tasks;
mod traversers;
mod variables;

pub(crate) use algorithms::{Algorithms, TIMES_MAX};
pub(crate) use graph::{check_may_delete, check_may_update, store_batch, store_rows};
pub(crate) use schema::{
    KINDS as SCHEMA_KINDS, Sight as SchemaSight, create as create_schema, json as schema_json,
    scripts as schema_of_scripts,
};
pub(crate) use tasks::{Sight, submit as submit_job};
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
