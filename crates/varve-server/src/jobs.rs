//! The work of the tasks that clients submit as jobs: graph algorithms and Gremlin scripts.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use varve_auth::{Account, Auth};
use varve_graph::optimistic::PartCheck;
use varve_graph::tasks::{TaskProgress, TaskSpec, TaskType};
use varve_graph::{ErrorKind, Graph, GraphError, Jobs, OwnerCheck, Registry};
use varve_session::budget::memory;

use crate::config::ServerConfig;
use crate::gremlin::GremlinJobs;
use crate::hugegraph::Algorithms;
use crate::rights;
use varve_session::Identity;

/// How often a job checks, while the server starts, whether owners can be checked yet.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// The jobs that a server runs: graph algorithms and Gremlin scripts.
pub struct ServerJobs {
    algorithms: Algorithms,
    gremlin: GremlinJobs,
    /// Whether jobs with an owner wait for `check`.
    has_users: bool,
    check: OnceLock<Arc<OwnerCheck>>,
}

impl fmt::Debug for ServerJobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerJobs")
    }
}

impl ServerJobs {
    /// Jobs with the limits of a server's configuration.
    #[must_use]
    pub fn new(config: &ServerConfig) -> Self {
        let memory = memory::of_jobs(config.max_jobs_held_bytes);
        Self {
            algorithms: Algorithms::new(config, Arc::clone(&memory)),
            gremlin: GremlinJobs::new(config, memory),
            has_users: config.auth.enabled,
            check: OnceLock::new(),
        }
    }

    /// Returns a check of whether the owner of a task may still run it. Waits for the check while
    /// the server starts. `None` without an owner or without users.
    fn owner_check(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<Option<PartCheck>, GraphError> {
        let Some(owner) = task.owner.clone() else {
            return Ok(None);
        };
        while self.has_users && self.check.get().is_none() {
            progress.check()?;
            std::thread::sleep(CHECK_EVERY);
        }
        let check = self.check.get().map(Arc::clone);
        let (graph, of) = (graph.name().to_owned(), task.task_type);
        Ok(check.map(|check| Arc::new(move || check(&graph, of, &owner)) as PartCheck))
    }
}

impl Jobs for ServerJobs {
    fn run(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<String, GraphError> {
        let check = self.owner_check(graph, task, progress)?;
        check.as_ref().map_or(Ok(()), |check| check())?;
        match task.task_type {
            TaskType::Algorithm => self.algorithms.run(graph, task, (progress, check.as_ref())),
            TaskType::Gremlin => self.gremlin.run(graph, task, (progress, check)),
            _ => Err(GraphError::new(
                ErrorKind::NotSupported,
                format!("Tasks of the type of '{}' are not supported", task.name),
            )),
        }
    }

    fn check_owners_by(&self, check: Arc<OwnerCheck>) {
        let _ = self.check.set(check);
    }
}

/// Returns a check of the owners of jobs against the users of a server.
fn owner_check(auth: &Arc<Auth>) -> Arc<OwnerCheck> {
    let auth = Arc::clone(auth);
    Arc::new(move |graph: &str, of: TaskType, owner: &str| {
        let denied = |message: &str| GraphError::new(ErrorKind::Denied, message);
        let account = owner
            .parse::<Account>()
            .map_err(|_| denied("The job was submitted to an earlier version, submit it again"))?;
        let user = auth.user_of(&account);
        let user = user.ok_or_else(|| denied("The user that has submitted the job is removed"))?;
        let needed = match of {
            TaskType::Gremlin => rights::GREMLIN_JOB,
            _ => rights::ALGORITHM,
        };
        Ok(Identity::User(user).check(graph, needed)?)
    })
}

/// Makes the jobs of these graphs check whether their owners may still run them.
pub(crate) fn check_owners(graphs: &Registry, auth: &Arc<Auth>) {
    if let Some(jobs) = &graphs.options().jobs {
        jobs.check_owners_by(owner_check(auth));
    }
}
