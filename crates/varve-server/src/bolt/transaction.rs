//! A transaction of a connection.

use std::sync::Arc;

use varve_bolt::request::Extra;
use varve_graph::registry::ServedGraph;

use crate::cypher;

/// A transaction between BEGIN and COMMIT.
pub(super) struct Transaction {
    /// What the client asked for with BEGIN.
    pub(super) extra: Extra,
    /// Queries that were run.
    pub(super) queries: u64,
    pub(super) own: cypher::Transaction,
    /// The graph that it reads, if another server leads it.
    pub(super) followed: Option<Arc<ServedGraph>>,
}
