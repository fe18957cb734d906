//! The system graph: the server's own data, such as its users.
//!
//! Its space has a name that no graph can have. So no listing contains it, no request can clear or
//! drop it, and no request can name it.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use varve_encoding::tables::TABLES;
use varve_kv::{Leader, Leadership};
use varve_model::schema::Retention;

use super::making::is_in_use;
use super::{Change, GraphLocation, Registry};
use crate::commit::DurabilityMode;
use crate::error::{ErrorKind, GraphError};
use crate::graph::{Graph, GraphOptions};

/// The name of the system graph, and of its space.
pub const SYSTEM_GRAPH: &str = "_system";

/// The state of the system graph on this server.
#[derive(Default)]
pub(super) struct SystemGraph {
    place: RwLock<SystemPlace>,
    /// Held while a thread looks for it.
    looking: Mutex<()>,
}

#[derive(Default)]
enum SystemPlace {
    /// No request has needed it yet, or it does not exist.
    #[default]
    Unknown,
    /// This server leads it.
    Open(Arc<Graph>),
    /// Another server leads it.
    Led(Leader),
    /// No server is known to lead it.
    Nobody,
}

impl SystemGraph {
    fn set(&self, place: SystemPlace) {
        let before = std::mem::replace(&mut *self.place.write(), place);
        // Closing a graph may take long, and other threads must not wait for that.
        drop(before);
    }

    /// Releases it; it closes when its last user has released it.
    pub(super) fn close(&self) {
        self.set(SystemPlace::Unknown);
    }
}

impl Registry {
    /// Returns the system graph, if it exists and no other server leads it. Its commits are
    /// acknowledged when they are on stable storage, whatever the durability of other graphs.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn system(&self) -> Result<Option<Arc<Graph>>, GraphError> {
        Ok(match self.look_at_system(false)? {
            GraphLocation::Here(graph) => Some(graph),
            _ => None,
        })
    }

    /// Returns the system graph, and creates it if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Elsewhere`] when another server leads it; when it cannot be opened or created.
    pub fn make_system(&self) -> Result<Arc<Graph>, GraphError> {
        let elsewhere = |detail: String| Err(GraphError::new(ErrorKind::Elsewhere, detail));
        match self.look_at_system(true)? {
            GraphLocation::Here(graph) => Ok(graph),
            GraphLocation::There(leader) => elsewhere(format!(
                "The server at {} leads the users of this cluster",
                leader.address
            )),
            _ => elsewhere("Another server leads the users of this cluster".to_owned()),
        }
    }

    /// Returns where the system graph is served, as far as this server knows.
    pub(super) fn system_place(&self) -> GraphLocation {
        match &*self.system.place.read() {
            SystemPlace::Unknown => GraphLocation::Unknown,
            SystemPlace::Nobody => GraphLocation::Nobody,
            SystemPlace::Led(leader) => GraphLocation::There(leader.clone()),
            SystemPlace::Open(graph) => match graph.space().lease().leadership {
                Leadership::Held => GraphLocation::Here(Arc::clone(graph)),
                Leadership::Suspended => GraphLocation::Suspended,
                Leadership::Lost => GraphLocation::Nobody,
            },
        }
    }

    /// Reads from the engine where the system graph is served, and takes it if no server leads it.
    /// Blocks. While the engine cannot be read, what is known about other servers stays.
    ///
    /// # Errors
    /// When the engine cannot be read, or the graph cannot be opened or created.
    pub fn look_at_system(&self, create: bool) -> Result<GraphLocation, GraphError> {
        // Another thread is looking and may wait for a cluster; this caller tries again later.
        let Some(_alone) = self.system.looking.try_lock() else {
            return Ok(self.system_place());
        };
        if let place @ (GraphLocation::Here(_) | GraphLocation::Suspended) = self.system_place() {
            return Ok(place);
        }
        let is_lost = matches!(&*self.system.place.read(), SystemPlace::Open(_));
        if is_lost {
            self.changed(SYSTEM_GRAPH, Change::Lost);
            self.system.set(SystemPlace::Nobody);
        }
        self.check_not_closed(SYSTEM_GRAPH)?;
        if !create && !self.has_system()? {
            self.system.set(SystemPlace::Unknown);
            return Ok(GraphLocation::Unknown);
        }
        self.system.set(self.find_system(create)?);
        Ok(self.system_place())
    }

    fn find_system(&self, create: bool) -> Result<SystemPlace, GraphError> {
        match self.engine.leader(SYSTEM_GRAPH)? {
            // Its lease has not expired yet, or this server is opening it.
            Some(leader) if leader.is_self || leader.address.is_empty() => {
                return Ok(SystemPlace::Nobody);
            }
            Some(leader) => return Ok(SystemPlace::Led(leader)),
            None => {}
        }
        let opened = self.engine.open(SYSTEM_GRAPH, TABLES, create);
        let space = match opened.map_err(GraphError::from) {
            Ok(space) => space,
            // Another server was faster, or the lost space is still in use.
            Err(error)
                if self.is_shared()
                    && (error.kind == ErrorKind::Elsewhere || is_in_use(&error)) =>
            {
                return Ok(SystemPlace::Nobody);
            }
            Err(error) => return Err(error),
        };
        let options = GraphOptions {
            durability: DurabilityMode::Sync,
            derivers: None,
            jobs: None,
            changes: Some(Retention::None),
            ..self.options.clone()
        };
        let graph = Graph::open(SYSTEM_GRAPH, space, &options)?;
        if self.is_shared() {
            let term = graph.space().lease().term;
            self.changed(SYSTEM_GRAPH, Change::Leads { term });
        }
        Ok(SystemPlace::Open(graph))
    }

    /// Reads who leads the system graph, if a request to this server has needed it.
    pub(super) fn tend_system(&self) -> Result<(), GraphError> {
        match self.system_place() {
            GraphLocation::Unknown => Ok(()),
            _ => self.look_at_system(false).map(drop),
        }
    }

    fn has_system(&self) -> Result<bool, GraphError> {
        let spaces = self.engine.spaces()?;
        Ok(spaces.iter().any(|space| space.name == SYSTEM_GRAPH))
    }

    /// The names of all graphs, and of the system graph if it exists.
    ///
    /// # Errors
    /// When the system graph cannot be opened.
    pub fn names_with_system(&self) -> Result<Vec<String>, GraphError> {
        let mut names = self.names();
        names.extend(self.system()?.map(|_| SYSTEM_GRAPH.to_owned()));
        Ok(names)
    }

    /// Returns the graph with that name, which may be the system graph: for backups and
    /// verification.
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
