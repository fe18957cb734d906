//! The repository of a server. It is opened once or, if servers share the store, each time that the
//! server becomes the leader of the repository's graph.
//!
//! Opening reads from the store, which may take long. One call opens the repository; calls in the
//! meantime are turned away and repeated later, without a waiting thread.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use varve_graph::{Graph, Registry};
use varve_omrs::OmrsError;
use varve_omrs::repository::Repository;

use crate::errors::ApiError;

/// Opens the repository in a graph.
type Opener = Box<dyn Fn(Arc<Graph>) -> Result<Arc<Repository>, OmrsError> + Send + Sync>;

/// `Retry-After` when the store is not available, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The source of a server's repository.
pub struct RepositoryOf(Source);

enum Source {
    Open(Arc<Repository>),
    OfGraph {
        name: String,
        answer_bytes_max: usize,
        opener: Opener,
        /// The repository, with the graph on which it was opened. Locked for moments only.
        current: Mutex<Option<(Weak<Graph>, Arc<Repository>)>>,
        /// Locked by the call that opens the repository.
        opening: Mutex<()>,
    },
}

impl From<Arc<Repository>> for RepositoryOf {
    fn from(repository: Arc<Repository>) -> Self {
        Self(Source::Open(repository))
    }
}

impl RepositoryOf {
    /// A repository that `opener` opens on its graph, again each time that the graph was lost to
    /// another server and came back. While none is open, `name` is its name and `answer_bytes_max`
    /// its longest answer, in bytes.
    #[must_use]
    pub fn graph(
        name: String,
        answer_bytes_max: usize,
        opener: impl Fn(Arc<Graph>) -> Result<Arc<Repository>, OmrsError> + Send + Sync + 'static,
    ) -> Self {
        Self(Source::OfGraph {
            name,
            answer_bytes_max,
            opener: Box::new(opener),
            current: Mutex::default(),
            opening: Mutex::default(),
        })
    }

    /// The repository in the graph of this name.
    ///
    /// # Errors
    /// 421 when another server leads the graph, or another call is opening the repository; 503 when
    /// the store is not available or busy; 500 when the repository cannot be opened.
    pub fn get(&self, graphs: &Registry, graph: &str) -> Result<Arc<Repository>, ApiError> {
        let (opener, current, opening) = match &self.0 {
            Source::Open(repository) => return Ok(Arc::clone(repository)),
            Source::OfGraph {
                opener,
                current,
                opening,
                ..
            } => (opener, current, opening),
        };
        let graph = graphs.get(graph)?;
        let of_graph = || {
            let current = current.lock();
            let (of, repository) = current.as_ref()?;
            (of.as_ptr() == Arc::as_ptr(&graph)).then(|| Arc::clone(repository))
        };
        if let Some(repository) = of_graph() {
            return Ok(repository);
        }
        let Some(_opening) = opening.try_lock() else {
            let message = "The metadata repository is being opened";
            return Err(ApiError::misdirected(message));
        };
        if let Some(repository) = of_graph() {
            return Ok(repository);
        }
        // A repository opened on a graph that was lost is invalid.
        *current.lock() = None;
        let opened = opener(Arc::clone(&graph)).map_err(|error| match error.related_http_code() {
            503 => ApiError::unavailable(error.to_string(), RETRY_AFTER_SECONDS),
            _ => ApiError::storage(error.to_string()),
        });
        let repository = opened?;
        *current.lock() = Some((Arc::downgrade(&graph), Arc::clone(&repository)));
        Ok(repository)
    }

    /// The repository's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Source::Open(repository) => repository.name(),
            Source::OfGraph { name, .. } => name,
        }
    }

    /// The longest answer, in bytes.
    pub(crate) fn answer_bytes_max(&self) -> usize {
        match &self.0 {
            Source::Open(repository) => repository.limits().answer_bytes_max,
            Source::OfGraph {
                answer_bytes_max, ..
            } => *answer_bytes_max,
        }
    }
}
