//! The repository of a server: opened once, or anew whenever the server comes to lead the graph that keeps it.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use varve_graph::{Graph, Registry};
use varve_omrs::repository::Repository;

use crate::errors::ApiError;

/// Opens the repository that a graph keeps; the text says why it cannot.
type Opener = Box<dyn Fn(Arc<Graph>) -> Result<Arc<Repository>, String> + Send + Sync>;

/// Where the repository comes from.
pub struct RepositoryOf(Source);

enum Source {
    Open(Arc<Repository>),
    OfGraph {
        name: String,
        answer_bytes_max: usize,
        opener: Opener,
        /// The repository, and the graph that it was opened on.
        current: Mutex<Option<(Weak<Graph>, Arc<Repository>)>>,
    },
}

impl From<Arc<Repository>> for RepositoryOf {
    fn from(repository: Arc<Repository>) -> Self {
        Self(Source::Open(repository))
    }
}

impl RepositoryOf {
    /// A repository that `opener` opens on its graph, anew whenever that was lost to another server and came back. `name` and
    /// `answer_bytes_max` are what it is called and how long an answer may be, as long as none is open.
    #[must_use]
    pub fn graph(
        name: String,
        answer_bytes_max: usize,
        opener: impl Fn(Arc<Graph>) -> Result<Arc<Repository>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Source::OfGraph {
            name,
            answer_bytes_max,
            opener: Box::new(opener),
            current: Mutex::default(),
        })
    }

    /// The repository that the graph of that name keeps.
    ///
    /// # Errors
    /// When another server leads the graph, or the repository cannot be opened.
    pub fn get(&self, graphs: &Registry, graph: &str) -> Result<Arc<Repository>, ApiError> {
        let (opener, current) = match &self.0 {
            Source::Open(repository) => return Ok(Arc::clone(repository)),
            Source::OfGraph {
                opener, current, ..
            } => (opener, current),
        };
        let graph = graphs.get(graph)?;
        let mut current = current.lock();
        if let Some((of, repository)) = &*current
            && of.as_ptr() == Arc::as_ptr(&graph)
        {
            return Ok(Arc::clone(repository));
        }
        // What was opened on a graph that was lost is worth nothing.
        *current = None;
        let repository = opener(Arc::clone(&graph)).map_err(ApiError::storage)?;
        *current = Some((Arc::downgrade(&graph), Arc::clone(&repository)));
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
