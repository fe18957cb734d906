//! The database `system`, on which Neo4j's clients ask for databases, users and the server. It has
//! no graph.

use varve_session::Database;

/// Its name. A graph of this name hides it.
pub(crate) const SYSTEM: &str = "system";

/// Whether a name stands for it.
pub(crate) fn is_system(database: &Database, name: &str) -> bool {
    name == SYSTEM && !database.graphs.has(name)
}
