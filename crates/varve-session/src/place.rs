//! Where the work belongs: here, at the server that leads the graph, or nowhere for the moment. And
//! whether the graph can be changed at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::Graph;
use varve_graph::registry::GraphLocation;
use varve_kv::Leadership;
use varve_view::ErrorKind;

use crate::budget::lanes::{Lane, Turn};
use crate::{Action, Database, Failure};

/// The first and the longest wait before a graph's leader is looked up again; each wait doubles.
const AGAIN_FIRST: Duration = Duration::from_millis(20);
const AGAIN_LAST: Duration = Duration::from_millis(500);

/// Graphs of metadata repositories that this server does not serve: they are read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedGraphs {
    /// The graphs with these names.
    These(Vec<String>),
    /// Every graph that keeps a repository, checked with each request: on a cluster, the graphs
    /// that a server leads change.
    WithRepositories,
}

impl From<Vec<String>> for LockedGraphs {
    fn from(names: Vec<String>) -> Self {
        Self::These(names)
    }
}

/// The graphs that can only be read.
#[derive(Debug)]
pub struct ReadOnlyGraphs {
    /// The graph of the metadata repository, if this server serves one. Only the repository may
    /// change it.
    pub repository: Option<String>,
    /// The graphs of other repositories.
    pub locked: LockedGraphs,
}

impl Database {
    /// # Errors
    /// [`ErrorKind::Denied`] for an action that changes a graph which can only be read.
    pub fn check_action(&self, action: Action, graph: &str) -> Result<(), Failure> {
        match action.changes() {
            true => self.check_not_of_repository(graph),
            false => Ok(()),
        }
    }

    /// # Errors
    /// [`ErrorKind::Denied`] if this is the graph of a metadata repository.
    pub fn check_not_of_repository(&self, graph: &str) -> Result<(), Failure> {
        let denied = |message| Err(Failure::new(ErrorKind::Denied, message));
        match &self.read_only.repository {
            Some(own) if own == graph => denied(format!(
                "The graph '{graph}' belongs to the metadata repository and can only be read here"
            )),
            _ if self.is_locked(graph) => denied(format!(
                "The graph '{graph}' keeps a metadata repository, which is not enabled, and can only be read \
                 (omrs.unlock_graphs)"
            )),
            _ => Ok(()),
        }
    }

    fn is_locked(&self, graph: &str) -> bool {
        match &self.read_only.locked {
            LockedGraphs::These(names) => names.iter().any(|locked| locked == graph),
            LockedGraphs::WithRepositories => {
                let graph = self.graphs.get(graph);
                graph.is_ok_and(|graph| graph.deriver().is_some())
            }
        }
    }

    /// The place of work on a graph that another server may lead, which must be found by
    /// `deadline`.
    pub fn place<'d>(&'d self, graph: &'d str, deadline: Instant) -> Place<'d> {
        Place {
            database: self,
            graph,
            deadline,
            pause: AGAIN_FIRST,
        }
    }
}

/// The search for the place of a piece of work.
#[derive(Debug)]
pub struct Place<'d> {
    database: &'d Database,
    graph: &'d str,
    deadline: Instant,
    pause: Duration,
}

impl Place<'_> {
    /// The location of the graph: as known here, else looked up.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if no server leads it, or it cannot be looked up now; those of the
    /// engine.
    pub async fn first(&self) -> Result<GraphLocation, Failure> {
        match self.database.graphs.place(self.graph) {
            place @ (GraphLocation::Here(_) | GraphLocation::There(_)) => Ok(place),
            _ => self.look().await,
        }
    }

    /// Whether there is time to look again.
    pub fn has_time(&self) -> bool {
        Instant::now() + self.pause < self.deadline
    }

    /// Waits for a while, and looks again.
    ///
    /// # Errors
    /// As [`Place::first`]; [`ErrorKind::Busy`] without time to wait.
    pub async fn again(&mut self) -> Result<GraphLocation, Failure> {
        if !self.has_time() {
            return Err(self.no_leader());
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (2 * self.pause).min(AGAIN_LAST);
        self.look().await
    }

    async fn look(&self) -> Result<GraphLocation, Failure> {
        let graphs = Arc::clone(&self.database.graphs);
        let name = self.graph.to_owned();
        let time_max = self.database.options.lengthy_time_max;
        let turn = Turn::until(Instant::now() + time_max);
        let looked = self
            .database
            .in_lane(Lane::Reads, (&turn, time_max), move || graphs.look(&name));
        looked.await?.map_err(|error| match error.kind {
            ErrorKind::Elsewhere => self.no_leader(),
            _ => error.into(),
        })
    }

    fn no_leader(&self) -> Failure {
        let graph = self.graph;
        self.database.unavailable(format!(
            "No server leads the graph '{graph}' for the moment"
        ))
    }
}

/// Whether this server still leads a graph that it has led.
pub fn still_leads(led: &Graph) -> bool {
    led.space().lease().leadership == Leadership::Held
}
