//! The repository of a server: opened once, or anew whenever the server comes to lead the graph
//! that keeps it.
//!
//! Opening reads from the store, which may take long. One call does it; those that come meanwhile
//! are turned away, to be tried again without a thread that waits.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use varve_graph::{Graph, Registry};
use varve_omrs::OmrsError;
use varve_omrs::repository::Repository;

use crate::errors::ApiError;

/// Opens the repository that a graph keeps.
type Opener = Box<dyn Fn(Arc<Graph>) -> Result<Arc<Repository>, OmrsError> + Send + Sync>;

/// `Retry-After` where the store is away.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Where the repository comes from.
pub struct RepositoryOf(Source);

enum Source {
    Open(Arc<Repository>),
    OfGraph {
        name: String,
        answer_bytes_max: usize,
        opener: Opener,
        /// The repository, and the graph that it was opened on. Held for moments only.
        current: Mutex<Option<(Weak<Graph>, Arc<Repository>)>>,
        /// Held by the call that is opening it.
        opening: Mutex<()>,
    },
}

impl From<Arc<Repository>> for RepositoryOf {
    fn from(repository: Arc<Repository>) -> Self {
        Self(Source::Open(repository))
    }
}

impl RepositoryOf {
    /// A repository that `opener` opens on its graph, anew whenever that was lost to another server
    /// and came back. `name` and `answer_bytes_max` are what it is called and how long an answer
    /// may be, as long as none is open.
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

    /// The repository that the graph of that name keeps.
    ///
    /// # Errors
    /// 421 when another server leads the graph, or another call is opening the repository; 503 when
    /// the store is away or busy, 500 when the repository cannot be opened.
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
        // What was opened on a graph that was lost is worth nothing.
        *current.lock() = None;
        let opened = opener(Arc::clone(&graph)).map_err(|error| match error.related_http_code() {
            503 => ApiError::unavailable(error.to_string(), RETRY_AFTER_SECONDS),
            _ => ApiError::storage(error.to_string()),
        });
        let repository = opened?;
        *current.lock() = Some((Arc::downgrade(&graph), Arc::clone(&repository)));
        Ok(repository)
    }

    /// What the repository is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Source::Open(repository) => repository.name(),
            Source::OfGraph { name, .. } => name,
        }
    }

    /// How many bytes an answer may have.
    pub(crate) fn answer_bytes_max(&self) -> usize {
        match &self.0 {
            Source::Open(repository) => repository.limits().answer_bytes_max,
            Source::OfGraph {
                answer_bytes_max, ..
            } => *answer_bytes_max,
        }
    }
}
