//! `…/jobs/gremlin`: scripts as tasks. The task's name is the script's first line, and its result
//! is the script's, in JSON.

use std::collections::HashMap;
use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use varve_graph::optimistic::{HeldBytes, PartCheck};
use varve_graph::tasks::{
    NewTask, TASK_NAME_BYTES_MAX, TASK_RESULT_BYTES_MAX, TaskProgress, TaskSpec, TaskType,
};
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_gremlin::execute::{Environment, Outcome, execute_in};
use varve_gremlin::parse_script_with;
use varve_query::{QueryError, Value};
use varve_session::budget::memory;
use varve_session::budget::transactions::TransactionLimits;
use varve_session::work;
use varve_view::{CancelToken, MeterLimits, ViewError};

use super::answer;
use super::graphs::OwnGraph;
use super::host::ScriptHost;
use super::request::value_of;
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::hugegraph::submit_job;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult};

/// The language if a client names none.
const LANGUAGE: &str = "gremlin-groovy";

/// The body of a request.
#[derive(Debug, Default, Deserialize)]
struct Body {
    gremlin: Option<String>,
    bindings: Option<Map<String, Json>>,
    language: Option<String>,
    aliases: Option<Map<String, Json>>,
}

/// The input that a task stores, with HugeGraph's members.
#[derive(Debug, Serialize, Deserialize)]
struct Input {
    gremlin: String,
    aliases: Map<String, Json>,
    bindings: Map<String, Json>,
    language: String,
}

pub(super) fn submit(context: &RequestContext) -> HandlerResult {
    let body: Body = context.json_object()?;
    let gremlin = body
        .gremlin
        .ok_or_else(|| ApiError::illegal_argument("The gremlin parameter can't be null"))?;
    if body.aliases.is_some_and(|aliases| !aliases.is_empty()) {
        return Err(ApiError::illegal_argument(
            "There is no need to pass gremlin aliases",
        ));
    }
    let graph = context.graph()?;
    let name = first_line(&gremlin).to_owned();
    let input = Input {
        gremlin,
        aliases: Map::from_iter([(context.graph_name().to_owned(), Json::from("graph"))]),
        bindings: body.bindings.unwrap_or_default(),
        language: body.language.unwrap_or_else(|| LANGUAGE.to_owned()),
    };
    let mut json = JsonWriter::with_capacity(256);
    json.value(&input);
    let input = String::from_utf8(json.finish()).map_err(|_| ApiError::internal("not UTF-8"))?;
    let task = NewTask::job(TaskType::Gremlin, name, input);
    submit_job(context, &graph, task)
}

/// The first line of a script, cut to the longest name of a task.
fn first_line(script: &str) -> &str {
    let line = script.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(TASK_NAME_BYTES_MAX)]
}

/// Runs the scripts of all graphs' jobs.
#[derive(Debug)]
pub(crate) struct GremlinJobs {
    /// The bytes that one job may hold, and the budget of all jobs.
    bytes_max: u64,
    memory: Arc<HeldBytes>,
    transactions: TransactionLimits,
}

impl GremlinJobs {
    /// Scripts within the limits of a server.
    pub(crate) fn new(config: &ServerConfig, memory: Arc<HeldBytes>) -> Self {
        Self {
            bytes_max: config.max_traversal_bytes as u64,
            memory,
            transactions: TransactionLimits::new(config.gremlin.transaction_options()),
        }
    }

    /// Runs the script of a task and returns its result as JSON. `check` refuses each commit and
    /// change of the schema once the task's owner may not run it any more.
    pub(crate) fn run(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        (progress, check): (&TaskProgress, Option<PartCheck>),
    ) -> Result<String, GraphError> {
        let input = task.input.as_deref().unwrap_or_default();
        let input: Input = serde_json::from_str(input).map_err(|error| {
            GraphError::invalid(format!("The input of task '{}': {error}", task.id))
        })?;
        let variables = input.bindings.keys().map(String::as_str);
        let script = parse_script_with(&input.gremlin, variables)
            .map_err(|error| exception(error.code.groovy_exception(), &error.message))?;
        let limits = MeterLimits {
            bytes_max: self.bytes_max,
            ..MeterLimits::NONE
        };
        let bindings: HashMap<CompactString, Value> = input
            .bindings
            .iter()
            .map(|(name, value)| (CompactString::new(name), value_of(value)))
            .collect();
        let may_write = script.may_write();
        let run = || {
            let watched = progress.clone();
            let cancel = CancelToken::watching(move || watched.should_end());
            let own = OwnGraph {
                graph,
                owner: task.owner.as_deref(),
                check: check.clone(),
                progress,
                transactions: &self.transactions,
            };
            let meter = memory::within(&self.memory, limits, cancel);
            let mut host = ScriptHost::of_job(own, meter);
            host.may_write = may_write;
            let mut environment = Environment::from(bindings.clone());
            let outcome = execute_in(&script, &mut environment, &mut host);
            let outcome = outcome.map_err(|error| (error, host.has_committed()))?;
            // Rendered before the commit, since nothing may fail after it. A script that was
            // cancelled at its end changes nothing.
            let json = json_of(graph, progress, &outcome).map_err(|error| {
                QueryError::View(ViewError::from(GraphError::invalid(
                    error.message().to_owned(),
                )))
            });
            let done = json.and_then(|json| {
                host.meter.check()?;
                host.commit()?;
                Ok(json)
            });
            done.map_err(|error| (error, host.has_committed()))
        };
        let may_go_on = || progress.check().is_ok();
        let may_run_again =
            |(error, stored): &(QueryError, bool)| !stored && work::is_conflict(error);
        let ran = work::until_committed(run, may_run_again, may_go_on);
        ran.map_err(|(error, stored)| match stored {
            false => failed(error),
            true => failed(error).after_part("what the script committed is stored"),
        })
    }
}

/// The result of the script as JSON: a list of the results of a traversal, else the value.
fn json_of(graph: &Graph, progress: &TaskProgress, outcome: &Outcome) -> Result<String, ApiError> {
    let schema = graph.schema();
    let mut growing = Growing::of_task(progress, TASK_RESULT_BYTES_MAX);
    match outcome {
        Outcome::Nothing => {
            growing.json.null();
        }
        Outcome::Value(value) | Outcome::Whole(value) => {
            answer::value(&mut growing, &schema, value)?
        }
        Outcome::Stream(results) => {
            growing.json.begin_array();
            for (value, bulk) in results {
                for _ in 0..*bulk {
                    answer::value(&mut growing, &schema, value)?;
                }
            }
            growing.json.end_array();
        }
    }
    growing.check()?;
    growing.into_text()
}

/// The exception of a script, as the result of a failed task names it.
fn exception(class: &str, message: &str) -> GraphError {
    GraphError::invalid(format!("javax.script.ScriptException: {class}: {message}"))
}

/// The error of a script, as its task reports it.
fn failed(error: QueryError) -> GraphError {
    match error {
        QueryError::View(ViewError::Store(error)) => (*error).into(),
        QueryError::View(error @ ViewError::Memory { .. }) => GraphError::new(
            ErrorKind::LimitExceeded,
            format!("{error} (server.max_traversal_bytes)"),
        ),
        error => match varve_gremlin::execute::exception_class(&error) {
            Some(class) => exception(class, &error.to_string()),
            None => GraphError::invalid(error.to_string()),
        },
    }
}
