//! A transaction of a connection.

use varve_bolt::request::Extra;

use crate::cypher;

/// A transaction between BEGIN and COMMIT.
pub(super) struct Transaction {
    /// What the client asked for with BEGIN.
    pub(super) extra: Extra,
    /// Queries that were run.
    pub(super) queries: u64,
    pub(super) own: cypher::Transaction,
}
