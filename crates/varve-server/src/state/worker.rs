//! The state as one serving thread holds it.

use std::sync::Arc;

use varve_graph::GraphError;
use varve_graph::registry::{GraphCache, ServedGraph};

use super::AppState;
use crate::answers::Underway;
use crate::config::ServerConfig;
use crate::sharing::Peers;

/// Which listener a thread serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// That of everybody.
    Main,
    /// That of `/admin` alone.
    Admin,
    /// That of TinkerPop's drivers alone.
    Gremlin,
}

/// Threads that serve the listener of `/admin`. They come after the others.
pub(crate) const ADMIN_THREADS: usize = 1;

/// Threads of all listeners.
pub(super) fn serving_threads(config: &ServerConfig) -> usize {
    let own = match config.gremlin.listen.is_empty() {
        true => 0,
        false => config.thread_count(),
    };
    config.thread_count() + ADMIN_THREADS + own
}

/// The state as one serving thread holds it. Requests count their references here, so that the
/// count's cache line stays with its core.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    pub(crate) state: Arc<AppState>,
    pub(crate) index: usize,
    pub(crate) door: Door,
    cache: Arc<GraphCache>,
    /// This thread's connections to other servers.
    pub(crate) peers: Peers,
    /// The counted answers that this thread sends.
    pub(crate) underway: Underway,
}

impl WorkerHandle {
    /// That of the thread with this number among those of its listener.
    pub(crate) fn new(state: Arc<AppState>, door: Door, number: usize) -> Self {
        let index = match door {
            Door::Main => number,
            Door::Admin => state.config.thread_count() + number,
            Door::Gremlin => state.config.thread_count() + ADMIN_THREADS + number,
        };
        let cache = state.graphs.graph_cache();
        Self {
            state,
            index,
            door,
            cache,
            peers: Peers::default(),
            underway: Underway::default(),
        }
    }

    /// A graph and its schema.
    pub(crate) fn served(&self, graph: &str) -> Result<Arc<ServedGraph>, GraphError> {
        self.cache.get(&self.state.graphs, graph)
    }
}
