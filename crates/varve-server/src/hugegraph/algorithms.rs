//! `…/jobs/algorithm/{name}`: graph algorithms as tasks, over `varve-traversal`.
//!
//! The request checks the parameters and submits a task. The task copies the graph at one point of
//! both times. Its result is a text that contains JSON, as HugeGraph's. Nothing is written to the
//! graph unless `write_property` names a property.

mod answer;
mod parameters;
mod run;
mod write;

use std::sync::Arc;

use varve_graph::optimistic::{HeldBytes, PartCheck};
use varve_graph::schema::Schema;
use varve_graph::tasks::{NewTask, TaskProgress, TaskSpec, TaskType};
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_model::{CommitVersion, TemporalScope};
use varve_session::budget::memory;
use varve_traversal::TraversalError;
use varve_view::{CancelToken, MeterLimits, ViewError};

use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::hugegraph::submit_job;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::rights;
use crate::route::{Handler, Parameter, Route, Scope};
use crate::wire::time::{scope, scope_of};

pub(crate) use parameters::TIMES_MAX;
use parameters::{Given, Parameters};
use run::{ALGORITHMS, Algorithm, Job};

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[Route::post(
    "graphs/{graph}/jobs/algorithm/{name}",
    Handler::Pooled(submit),
)
.writes(Scope::Graph)
.needs(rights::RUN_ALGORITHM)
.of("job", "AlgorithmAPI")
.with(&[Parameter::text("as_of"), Parameter::text("as_of_tx")])];

fn submit(context: &RequestContext) -> HandlerResult {
    let name = context.path_parameter("name");
    let algorithm = algorithm(name)
        .ok_or_else(|| ApiError::resource_not_found(format!("Not found algorithm: {name}")))?;
    let query = context.query()?;
    scope(query)?;
    let given: Given = match context.body().is_empty() {
        true => Given::default(),
        false => context.json::<Option<Given>>()?.unwrap_or_default(),
    };
    let graph = context.graph()?;
    let parameters = Parameters::of(algorithm, &given)?;
    parameters.check(&graph.schema())?;
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("algorithm").string(name);
    json.key("parameters").value(&given);
    for point in ["as_of", "as_of_tx"] {
        if let Some(text) = query.get(point) {
            json.key(point).string(text);
        }
    }
    json.end_object();
    let input = String::from_utf8(json.finish()).map_err(|_| ApiError::internal("not UTF-8"))?;
    let task = NewTask::job(TaskType::Algorithm, format!("algorithm:{name}"), input);
    submit_job(context, &graph, task)
}

fn algorithm(name: &str) -> Option<&'static Algorithm> {
    let is_it = |one: &&Algorithm| one.name == name || one.alias == Some(name);
    ALGORITHMS.iter().find(is_it)
}

/// The input of a task.
#[derive(Debug, serde::Deserialize)]
struct Input {
    algorithm: String,
    parameters: Given,
    as_of: Option<String>,
    as_of_tx: Option<String>,
}

/// Runs the algorithms of all graphs.
#[derive(Debug)]
pub(crate) struct Algorithms {
    /// The most bytes that one algorithm may hold; `memory` counts those of all jobs.
    bytes_max: u64,
    memory: Arc<HeldBytes>,
}

impl Algorithms {
    /// A runner with the limits of this server.
    pub(crate) fn new(config: &ServerConfig, memory: Arc<HeldBytes>) -> Self {
        Self {
            bytes_max: config.max_algorithm_bytes as u64,
            memory,
        }
    }

    pub(crate) fn run(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        (progress, check): (&TaskProgress, Option<&PartCheck>),
    ) -> Result<String, GraphError> {
        let damaged = |error: &dyn std::fmt::Display| {
            GraphError::invalid(format!("The input of task '{}': {error}", task.id))
        };
        let input = task.input.as_deref().unwrap_or_default();
        let input: Input = serde_json::from_str(input).map_err(|error| damaged(&error))?;
        let unknown = || damaged(&format!("Not found algorithm: {}", input.algorithm));
        let algorithm = algorithm(&input.algorithm).ok_or_else(unknown)?;
        let refused = |error: ApiError| GraphError::invalid(error.message().to_owned());
        let parameters = Parameters::of(algorithm, &input.parameters).map_err(refused)?;
        let schema: Arc<Schema> = graph.schema();
        parameters.check(&schema).map_err(refused)?;
        let asked = scope_of(input.as_of.as_deref(), input.as_of_tx.as_deref());
        let asked = asked.map_err(refused)?;
        let view = graph.view(TemporalScope {
            // On an engine without snapshots, several reads see the same state only as of a
            // transaction time.
            transaction: asked.transaction.or(Some(CommitVersion::MAX)),
            ..asked
        })?;
        let limits = MeterLimits {
            bytes_max: self.bytes_max,
            ..MeterLimits::NONE
        };
        let watched = progress.clone();
        let cancel = CancelToken::watching(move || watched.should_end());
        let meter = memory::within(&self.memory, limits, cancel);
        let job = Job {
            graph,
            schema: &schema,
            view: &view,
            parameters: &parameters,
            meter: &meter,
            progress,
            check,
        };
        let result = (algorithm.run)(&job)?;
        // An algorithm that is cancelled just before its end must not count as done, either.
        progress.check()?;
        Ok(result)
    }
}

/// The error of an algorithm, as the error of its task.
fn failed(error: TraversalError) -> GraphError {
    match error {
        TraversalError::View(ViewError::Store(error)) => (*error).into(),
        TraversalError::View(error @ ViewError::Memory { .. }) => GraphError::new(
            ErrorKind::LimitExceeded,
            format!("{error} (server.max_algorithm_bytes)"),
        ),
        error => GraphError::invalid(error.to_string()),
    }
}
