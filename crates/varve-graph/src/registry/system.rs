//! The system graph: what belongs to the server itself, such as its users.
//!
//! It lies beside the other graphs, in a space whose name no graph can have. So no listing has it,
//! nobody clears or drops it, and no request can name it.

use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_model::schema::Retention;

use super::Registry;
use crate::commit::DurabilityMode;
use crate::error::{ErrorKind, GraphError};
use crate::graph::{Graph, GraphOptions};

/// The name of the system graph, and of its space.
pub const SYSTEM_GRAPH: &str = "_system";

impl Registry {
    /// The system graph, if there is one. Its commits are acknowledged when they are on stable
    /// storage, whatever those of other graphs are.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn system(&self) -> Result<Option<Arc<Graph>>, GraphError> {
        self.open_system(false)
    }

    /// The system graph, made if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::NotSupported`] where several servers share the engine; when it cannot be opened
    /// or made.
    pub fn make_system(&self) -> Result<Arc<Graph>, GraphError> {
        let graph = self.open_system(true)?;
        graph.ok_or_else(|| GraphError::new(ErrorKind::Storage, "The system graph is not made"))
    }

    fn open_system(&self, create: bool) -> Result<Option<Arc<Graph>>, GraphError> {
        if self.is_shared() {
            return match create {
                true => Err(GraphError::new(
                    ErrorKind::NotSupported,
                    "Users are not supported yet where several servers share one store (storage.engine)",
                )),
                false => Ok(None),
            };
        }
        let mut system = self.system.lock();
        if system.is_none() && (create || self.has_system()?) {
            self.check_not_closed(SYSTEM_GRAPH)?;
            let space = self.engine.open(SYSTEM_GRAPH, TABLES, create)?;
            let options = GraphOptions {
                durability: DurabilityMode::Sync,
                derivers: None,
                jobs: None,
                changes: Some(Retention::None),
                ..self.options.clone()
            };
            *system = Some(Graph::open(SYSTEM_GRAPH, space, &options)?);
        }
        Ok(system.as_ref().map(Arc::clone))
    }

    fn has_system(&self) -> Result<bool, GraphError> {
        let spaces = self.engine.spaces()?;
        Ok(spaces.iter().any(|space| space == SYSTEM_GRAPH))
    }

    /// The names of all graphs and of the system graph, if there is one.
    ///
    /// # Errors
    /// When the system graph cannot be opened.
    pub fn names_with_system(&self) -> Result<Vec<String>, GraphError> {
        let mut names = self.names();
        names.extend(self.system()?.map(|_| SYSTEM_GRAPH.to_owned()));
        Ok(names)
    }

    /// The graph of that name, which may be the system graph's: for backups and verification.
    ///
    /// # Errors
    /// As [`Registry::get`].
    pub fn get_with_system(&self, name: &str) -> Result<Arc<Graph>, GraphError> {
        match name {
            SYSTEM_GRAPH => self.system()?.ok_or_else(|| super::not_found(name)),
            _ => self.get(name),
        }
    }
}
