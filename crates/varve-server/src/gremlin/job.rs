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
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{
    Environment, Host, Named, Outcome, Results, SchemaRequest, Source, TransactionEnd, execute_in,
};
use varve_gremlin::parse_script_with;
use varve_model::TemporalScope;
use varve_query::work::Watched;
use varve_query::{QueryError, Value};
use varve_session::budget::memory;
use varve_view::{CancelToken, Meter, MeterLimits, ViewError};

use super::host::{SOURCE_PREFIX, SPACE_PREFIX};
use super::request::value_of;
use super::transaction::{self, TransactionLimits, Work};
use super::{answer, scripting};
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::hugegraph::submit_job;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{Growing, HandlerResult};

/// Steps that the script of a job may take.
const JOB_STEPS_MAX: u64 = 1_000_000_000;
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
            transactions: TransactionLimits::new(&config.gremlin),
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
            let mut work = Work::new((Arc::clone(graph), None), may_write, &self.transactions);
            work.check = check.clone();
            let mut host = JobHost {
                graph,
                owner: task.owner.as_deref(),
                progress,
                meter: memory::within(&self.memory, limits, cancel),
                work,
            };
            let mut environment = Environment::from(bindings.clone());
            let outcome = execute_in(&script, &mut environment, &mut host);
            let outcome = outcome.map_err(|error| (error, host.work.has_committed))?;
            // Rendered before the commit, since nothing may fail after it. A script that was
            // cancelled at its end changes nothing.
            let json = host.json(&outcome).map_err(|error| {
                QueryError::View(ViewError::from(GraphError::invalid(
                    error.message().to_owned(),
                )))
            });
            let done = json.and_then(|json| {
                host.meter.check()?;
                host.commit()?;
                Ok(json)
            });
            done.map_err(|error| (error, host.work.has_committed))
        };
        let may_go_on = || progress.check().is_ok();
        let may_run_again =
            |(error, stored): &(QueryError, bool)| !stored && transaction::is_conflict(error);
        let ran = transaction::until_committed(run, may_run_again, may_go_on);
        ran.map_err(|(error, stored)| match stored {
            false => failed(error),
            true => failed(error).after_part("what the script committed is stored"),
        })
    }
}

/// The host of a job's script, which works on the one graph of its task.
struct JobHost<'j> {
    graph: &'j Arc<Graph>,
    /// The user that submitted the job.
    owner: Option<&'j str>,
    progress: &'j TaskProgress,
    meter: Meter,
    work: Work,
}

impl JobHost<'_> {
    /// The name of the graph that a name in the script means, without the prefixes of clients.
    fn is_own<'n>(&self, name: &'n str) -> Option<&'n str> {
        let plain = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
        let plain = plain.strip_prefix(SPACE_PREFIX).unwrap_or(plain);
        let own = self.graph.name() == plain || matches!(name, "g" | "graph");
        own.then_some(plain)
    }

    /// Commits the script's changes; their memory then belongs to the graph.
    fn commit(&mut self) -> Result<(), QueryError> {
        if self.work.is_changed() {
            self.check_owner()?;
        }
        let committed = self.meter.apart(|| self.work.commit());
        Ok(committed.map_err(ViewError::from)?)
    }

    /// Whether the owner may still run the job.
    fn check_owner(&self) -> Result<(), QueryError> {
        let checked = self.work.check.as_ref().map_or(Ok(()), |check| check());
        Ok(checked.map_err(ViewError::from)?)
    }

    /// The result of the script as JSON: a list of the results of a traversal, else the value.
    fn json(&self, outcome: &Outcome) -> Result<String, ApiError> {
        let schema = self.graph.schema();
        let mut growing = Growing::of_task(self.progress, TASK_RESULT_BYTES_MAX);
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
}

impl Host for JobHost<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(self.meter.check()?)
    }

    fn watched(&self) -> Option<Watched> {
        Some(self.meter.watched())
    }

    fn hold(&self, bytes: usize) -> Result<(), QueryError> {
        Ok(self.meter.hold(bytes)?)
    }

    fn steps_max(&self) -> u64 {
        JOB_STEPS_MAX
    }

    fn named(&self, name: &str) -> Option<Named> {
        self.is_own(name)?;
        match name == "g" || name.starts_with(SOURCE_PREFIX) {
            true => Some(Named::Source),
            false => Some(Named::Graph),
        }
    }

    fn run(
        &mut self,
        source: &Source,
        bound: &Bound,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        let (Source::Traversal(name) | Source::Graph(name)) = source;
        if self.is_own(name).is_none() {
            return Err(QueryError::Unbound(name.to_string()));
        }
        let scope = TemporalScope::NOW;
        self.work.run(scope, (bound, most), &self.meter)
    }

    fn end(&mut self, _: &Source, end: TransactionEnd) -> Result<(), QueryError> {
        match end {
            TransactionEnd::Commit => self.commit()?,
            TransactionEnd::Rollback => self.meter.apart(|| self.work.roll_back()),
        }
        Ok(())
    }

    fn schema(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, QueryError> {
        if self.is_own(graph).is_none() {
            return Err(QueryError::Unbound(graph.to_owned()));
        }
        if scripting::changes(request.action) {
            self.check_owner()?;
        }
        let check = || Ok(self.progress.check()?);
        let done = scripting::apply((self.graph, self.owner), request, check);
        self.work.renew().map_err(ViewError::from)?;
        done.map_err(|error| match scripting::catchable(error) {
            Ok(reported) => reported,
            Err(refused) => {
                let message = refused.message().to_owned();
                QueryError::View(ViewError::failed(ErrorKind::InvalidArgument, message))
            }
        })
    }

    fn progress(&mut self, progress: u64) -> Result<(), QueryError> {
        self.progress.set(progress);
        Ok(())
    }
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
