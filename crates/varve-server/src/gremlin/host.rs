//! The host of a script, for requests and for jobs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::registry::ServedGraph;
use varve_graph::tasks::TaskProgress;
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{
    Host, Named, Results, SCRIPT_STEPS_MAX, SchemaRequest, Source, TransactionEnd, sleep,
};
use varve_model::TemporalScope;
use varve_query::work::Watched;
use varve_query::{QueryError, Value};
use varve_session::Failure;
use varve_session::budget::lanes::aside;
use varve_session::work::Work;
use varve_view::{ErrorKind, Meter, MeterLimits, ViewError};

use super::graphs::{Graphs, Names, OwnGraph, failed};
use super::prepared::{COMMIT_EVERY, prepared};
use super::reading;
use super::request::unreadable;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::route::Action;
use crate::wire::time::scope as graph_scope;

/// Steps that the script of a job may take.
const JOB_STEPS_MAX: u64 = 1_000_000_000;

/// The options of a traversal's source for running and answering it, as in
/// `g.with('batchSize', 10)`.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// The time limit, in milliseconds.
    pub(super) timeout_ms: Option<u64>,
    /// Results of one part of the answer.
    pub(super) batch: Option<u64>,
    /// Whether elements are answered without their properties.
    pub(super) references: Option<bool>,
}

impl Options {
    /// Sets the option with this name; ignores other names.
    pub(super) fn take(&mut self, name: &str, value: &Value) {
        let number = || {
            value
                .as_long()
                .and_then(|number| u64::try_from(number).ok())
        };
        match name {
            // 0 sets no limit.
            "evaluationTimeout" | "scriptEvaluationTimeout" => {
                self.timeout_ms = number().filter(|number| *number > 0);
            }
            "batchSize" => self.batch = number().filter(|number| *number > 0),
            "materializeProperties" => {
                self.references = Some(matches!(value, Value::Text(text) if text == "tokens"));
            }
            _ => {}
        }
    }
}

/// Runs the traversals of one script.
pub(super) struct ScriptHost<'c> {
    graphs: Graphs<'c>,
    began: Instant,
    pub(super) scope: TemporalScope,
    pub(super) meter: Meter,
    /// The options of the traversals' sources.
    pub(super) options: Options,
    /// The graph of the last traversal.
    pub(super) graph: Option<Arc<ServedGraph>>,
    /// The script's work on that graph.
    pub(super) work: Option<Work>,
    /// Whether the script may change something.
    pub(super) may_write: bool,
    /// Whether the script is a request of a session: its changes belong to the session's
    /// transaction.
    pub(super) is_in_session: bool,
}

impl<'c> ScriptHost<'c> {
    /// The host of a request's script.
    pub(super) fn of_client(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
    ) -> Result<Self, ApiError> {
        Self::within(context, aliases, context.session.meter())
    }

    /// As [`ScriptHost::of_client`], with limits of its own.
    pub(super) fn limited(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
        limits: MeterLimits,
    ) -> Result<Self, ApiError> {
        let (session, token) = (&context.session, context.cancel_token());
        let meter = session.database().meter(session.identity(), limits, token);
        Self::within(context, aliases, meter)
    }

    fn within(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
        meter: Meter,
    ) -> Result<Self, ApiError> {
        if let Some((name, wanted)) = Names::of(context).unknown_alias(&aliases) {
            return Err(unreadable(format!(
                "Could not rebind [{name}] to [{wanted}] as [{wanted}] not in the Graph or \
                 TraversalSource global bindings"
            )));
        }
        let scope = graph_scope(context.query()?)?;
        Ok(Self::new(Graphs::OfClient(context, aliases), scope, meter))
    }

    /// The host of a job's script.
    pub(super) fn of_job(own: OwnGraph<'c>, meter: Meter) -> Self {
        Self::new(Graphs::OfJob(own), TemporalScope::NOW, meter)
    }

    fn new(graphs: Graphs<'c>, scope: TemporalScope, meter: Meter) -> Self {
        Self {
            graphs,
            began: Instant::now(),
            scope,
            meter,
            options: Options::default(),
            graph: None,
            work: None,
            may_write: false,
            is_in_session: false,
        }
    }

    /// Prepares the work on the graph of a traversal.
    fn prepare(&mut self, source: &Source, bound: &Bound) -> Result<&mut Work, QueryError> {
        let (Source::Traversal(name) | Source::Graph(name)) = source;
        let action = match bound.plan.writes() {
            true => Action::Write,
            false => Action::Read,
        };
        let (served, access) = self.graphs.find(name, action)?;
        for (key, value) in &bound.with {
            self.options.take(key, value);
            if self.is_in_session && key == COMMIT_EVERY {
                return Err(refused(
                    ErrorKind::InvalidArgument,
                    format!("{COMMIT_EVERY} is not for sessions, which commit by g.tx().commit()"),
                ));
            }
        }
        // A job has no deadline.
        if let (Some(limit), None) = (self.options.timeout_ms, self.job()) {
            self.meter.end_by(self.began + Duration::from_millis(limit));
        }
        // Results are rendered with the names of one schema.
        match &self.work {
            Some(work) if !Arc::ptr_eq(&work.graph, &served.graph) => {
                let message = "A script works on one graph";
                return Err(refused(ErrorKind::NotSupported, message));
            }
            _ => {}
        }
        let work = match &mut self.work {
            Some(work) => {
                work.admit(access).map_err(failed)?;
                work
            }
            none => {
                let graph = (Arc::clone(&served.graph), access);
                let limits = self.graphs.transactions();
                none.insert(Work::new(graph, self.may_write, limits))
            }
        };
        if bound.with.iter().any(|(key, _)| key == COMMIT_EVERY) {
            work.check = self.graphs.part_check();
        }
        self.graph = Some(served);
        Ok(work)
    }

    /// Commits the script's changes.
    ///
    /// # Errors
    /// As [`Work::commit`].
    pub(super) fn commit(&mut self) -> Result<(), QueryError> {
        let Some(work) = &mut self.work else {
            return Ok(());
        };
        if work.is_changed() {
            self.graphs.check_commit(work)?;
        }
        // The memory of committed changes belongs to the graph, not to the query.
        let committed = self.meter.apart(|| work.commit());
        committed.map_err(ViewError::from)?;
        // Results are rendered with the current names.
        let graph = Arc::clone(&work.graph);
        let schema = graph.schema();
        self.graph = Some(Arc::new(ServedGraph { graph, schema }));
        Ok(())
    }

    /// Whether a part of the script's changes is stored.
    pub(super) fn has_committed(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.has_committed)
    }

    /// The progress of the job.
    fn job(&self) -> Option<&'c TaskProgress> {
        match &self.graphs {
            Graphs::OfClient(..) => None,
            Graphs::OfJob(own) => Some(own.progress),
        }
    }
}

/// A refusal, which ends the script.
fn refused(kind: ErrorKind, message: impl Into<String>) -> QueryError {
    failed(Failure::new(kind, message))
}

impl Host for ScriptHost<'_> {
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
        match self.job() {
            Some(_) => JOB_STEPS_MAX,
            None => SCRIPT_STEPS_MAX,
        }
    }

    fn sleep(&self, time: Duration) -> Result<(), QueryError> {
        let slept = aside(|| sleep(time, || self.check()));
        slept.unwrap_or_else(|| {
            Err(QueryError::Limit(
                "Too many scripts and long reads wait for sleep() to hold one more thread: try \
                 again later, or run the script as a job"
                    .to_owned(),
            ))
        })
    }

    fn named(&self, name: &str) -> Option<Named> {
        self.graphs.named(name)
    }

    fn run(
        &mut self,
        source: &Source,
        bound: &Bound,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        self.prepare(source, bound)?;
        let query = prepared(bound, self.scope)?;
        let (meter, work) = (&self.meter, &mut self.work);
        let ran = work
            .as_mut()
            .map(|work| work.run(&query, meter, |query| reading::results(query, meter, most)));
        ran.unwrap_or_else(|| Ok(Results::new()))
    }

    fn end(&mut self, _: &Source, end: TransactionEnd) -> Result<(), QueryError> {
        match (&mut self.work, end) {
            (Some(_), TransactionEnd::Commit) => self.commit()?,
            (Some(work), TransactionEnd::Rollback) => self.meter.apart(|| work.roll_back()),
            (None, _) => {}
        }
        Ok(())
    }

    fn schema(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, QueryError> {
        let done = self.graphs.change_schema(graph, request, &self.meter);
        if let Some(work) = &mut self.work {
            work.renew().map_err(ViewError::from)?;
        }
        done
    }

    fn progress(&mut self, progress: u64) -> Result<(), QueryError> {
        let job = self.job();
        let job = job.ok_or_else(|| QueryError::Unbound("gremlinJob".to_owned()))?;
        job.set(progress);
        Ok(())
    }
}
