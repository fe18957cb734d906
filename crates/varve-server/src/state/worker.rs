//! One serving thread's handle of the state.

use std::sync::Arc;

use varve_session::DatabaseHandle;

use super::AppState;
use crate::answers::Underway;
use crate::config::ServerConfig;
use crate::sharing::Peers;

/// The listener that a thread serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The main listener.
    Main,
    /// The listener for `/admin` alone.
    Admin,
    /// The listener for TinkerPop's drivers alone.
    Gremlin,
    /// The listener for Bolt.
    Bolt,
}

/// Threads that serve the listener of `/admin`. Their indexes follow those of the main listener.
pub(crate) const ADMIN_THREADS: usize = 1;

/// Threads of all listeners of HTTP.
pub(crate) fn serving_threads(config: &ServerConfig) -> usize {
    let own = match config.gremlin.listen.is_empty() {
        true => 0,
        false => config.thread_count(),
    };
    config.thread_count() + ADMIN_THREADS + own
}

/// One serving thread's handle of the state. Requests count their references here, so that the
/// count's cache line stays with its core.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    pub(crate) state: Arc<AppState>,
    pub(crate) index: usize,
    pub(crate) door: Door,
    pub(crate) database: Arc<DatabaseHandle>,
    /// This thread's connections to other servers.
    pub(crate) peers: Peers,
    /// The counted answers that this thread sends.
    pub(crate) underway: Underway,
}

impl WorkerHandle {
    /// The handle of the thread with this number among the threads of its listener.
    pub(crate) fn new(state: Arc<AppState>, door: Door, number: usize) -> Self {
        let index = match door {
            Door::Main => number,
            Door::Admin => state.config.thread_count() + number,
            Door::Gremlin => state.config.thread_count() + ADMIN_THREADS + number,
            // Its requests are no requests of routes, and not counted by them.
            Door::Bolt => number,
        };
        let database = Arc::new(DatabaseHandle::new(Arc::clone(&state.database)));
        Self {
            state,
            index,
            door,
            database,
            peers: Peers::default(),
            underway: Underway::default(),
        }
    }
}
