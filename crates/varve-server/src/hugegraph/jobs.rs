//! What the tasks of graphs do that clients submit as jobs.

use std::sync::Arc;

use varve_graph::tasks::{TaskProgress, TaskSpec, TaskType};
use varve_graph::{ErrorKind, Graph, GraphError, Jobs};

use super::algorithms::Algorithms;
use crate::config::ServerConfig;
use crate::gremlin::GremlinJobs;
use crate::query_memory;

/// The jobs that a server runs: graph algorithms and Gremlin scripts.
#[derive(Debug)]
pub struct ServerJobs {
    algorithms: Algorithms,
    gremlin: GremlinJobs,
}

impl ServerJobs {
    /// Jobs within the limits of a server.
    #[must_use]
    pub fn new(config: &ServerConfig) -> Self {
        let memory = query_memory::of_jobs(config);
        Self {
            algorithms: Algorithms::new(config, Arc::clone(&memory)),
            gremlin: GremlinJobs::new(config, memory),
        }
    }
}

impl Jobs for ServerJobs {
    fn run(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<String, GraphError> {
        match task.task_type {
            TaskType::Algorithm => self.algorithms.run(graph, task, progress),
            TaskType::Gremlin => self.gremlin.run(graph, task, progress),
            _ => Err(GraphError::new(
                ErrorKind::NotSupported,
                format!("Tasks of the type of '{}' are not supported", task.name),
            )),
        }
    }
}
