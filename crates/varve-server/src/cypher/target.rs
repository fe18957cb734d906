//! What statements run on: a graph, or the database `system`, which has none.

use std::sync::Arc;

use varve_graph::Graph;
use varve_graph::registry::ServedGraph;
use varve_model::CommitVersion;
use varve_session::{Failure, Session};

use super::bookmarks;
use crate::system_database::{SYSTEM, is_system};

/// What a statement runs on.
#[derive(Clone)]
pub(crate) enum Target {
    /// A graph.
    Graph(Arc<ServedGraph>),
    /// The database `system`, and the graph on which sessions run that name none.
    System(String),
}

impl Target {
    /// The target of this name. `default`: the graph on which sessions run that name none.
    ///
    /// # Errors
    /// [`NotFound`](varve_view::ErrorKind::NotFound) if there is none.
    pub(crate) fn find(session: &Session, name: &str, default: &str) -> Result<Self, Failure> {
        if is_system(session.database(), name) {
            return Ok(Self::System(default.to_owned()));
        }
        Ok(Self::Graph(session.served(name)?))
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Graph(served) => served.graph.name(),
            Self::System(_) => SYSTEM,
        }
    }

    /// The graph, if another server leads it.
    pub(crate) fn followed(&self) -> Option<&Graph> {
        match self {
            Self::Graph(served) => Some(&*served.graph).filter(|graph| graph.is_followed()),
            Self::System(_) => None,
        }
    }

    /// The bookmark of a commit, or of all commits so far.
    pub(crate) fn bookmark(&self, version: Option<CommitVersion>) -> String {
        match self {
            Self::Graph(served) => bookmarks::of(&served.graph, version),
            Self::System(_) => bookmarks::of_system(),
        }
    }

    /// Waits for the commits that bookmarks name.
    ///
    /// # Errors
    /// As [`bookmarks::wait`].
    pub(crate) fn wait(&self, sent: &[String], session: &Session) -> Result<(), Failure> {
        match self {
            Self::Graph(served) => bookmarks::wait(&served.graph, sent, session),
            Self::System(_) => Ok(()),
        }
    }
}
