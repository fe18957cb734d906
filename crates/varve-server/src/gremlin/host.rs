//! The graphs that scripts work on, by the names that clients use for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use varve_graph::optimistic::PartCheck;
use varve_graph::registry::ServedGraph;
use varve_graph::{ErrorKind, GraphError};
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{Host, Named, Results, SchemaRequest, Source, TransactionEnd, sleep};
use varve_model::TemporalScope;
use varve_query::work::Watched;
use varve_query::{QueryError, Value};
use varve_session::budget::lanes::aside;
use varve_view::{Meter, MeterLimits, ViewError};

use super::request::unreadable;
use super::scripting;
use super::transaction::{COMMIT_EVERY, Work};
use crate::errors::ApiError;
use crate::gremlin::TransactionLimits;
use crate::identity::Identity;
use crate::query_memory;
use crate::request::RequestContext;
use crate::rights;
use crate::route::Action;
use crate::state::AppState;
use crate::wire::time::scope as graph_scope;

/// The prefix of a graph's name in the name of its traversal source.
pub(super) const SOURCE_PREFIX: &str = "__g_";
/// The graph space of every graph; clients of HugeGraph 1.7 put it before the graph's name.
pub(super) const SPACE_PREFIX: &str = "DEFAULT-";
/// The graph that `g` means if there are several graphs and no alias names one.
const DEFAULT_GRAPH: &str = "hugegraph";

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

/// Runs the traversals of one request.
pub(super) struct GraphHost<'c> {
    context: &'c RequestContext,
    began: Instant,
    aliases: HashMap<String, String>,
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
    /// The server's error, if it refused a traversal.
    pub(super) refused: Option<ApiError>,
}

impl<'c> GraphHost<'c> {
    pub(super) fn new(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
    ) -> Result<Self, ApiError> {
        let limits = query_memory::limits(context.state().config(), context.deadline());
        Self::within(context, aliases, limits)
    }

    /// As [`GraphHost::new`], with limits of its own.
    pub(super) fn within(
        context: &'c RequestContext,
        aliases: HashMap<String, String>,
        limits: MeterLimits,
    ) -> Result<Self, ApiError> {
        let host = Self {
            context,
            began: Instant::now(),
            scope: graph_scope(context.query()?)?,
            meter: query_memory::meter(context.client(), limits, context.cancel_token()),
            options: Options::default(),
            graph: None,
            work: None,
            may_write: false,
            is_in_session: false,
            refused: None,
            aliases,
        };
        if let Some((name, wanted)) = Names::of(context).unknown_alias(&host.aliases) {
            return Err(unreadable(format!(
                "Could not rebind [{name}] to [{wanted}] as [{wanted}] not in the Graph or \
                 TraversalSource global bindings"
            )));
        }
        Ok(host)
    }

    /// Finds the graph of a traversal.
    fn work(&mut self, source: &Source, bound: &Bound) -> Result<(), ApiError> {
        let (Source::Traversal(name) | Source::Graph(name)) = source;
        let name = Names::of(self.context).graph_named(&self.aliases, name)?;
        let action = match bound.plan.writes() {
            true => Action::Write,
            false => Action::Read,
        };
        self.context.decide(action, &name)?;
        let served = self.context.served_named(&name)?;
        for (key, value) in &bound.with {
            self.options.take(key, value);
            if self.is_in_session && key == COMMIT_EVERY {
                return Err(ApiError::illegal_argument(format!(
                    "{COMMIT_EVERY} is not for sessions, which commit by g.tx().commit()"
                )));
            }
        }
        if let Some(limit) = self.options.timeout_ms {
            self.meter.end_by(self.began + Duration::from_millis(limit));
        }
        // Results are rendered with the names of one schema.
        match &self.work {
            Some(work) if !Arc::ptr_eq(&work.graph, &served.graph) => {
                return Err(ApiError::not_supported("A script works on one graph"));
            }
            _ => {}
        }
        let access = self.context.access_to(&served);
        let in_parts = bound.with.iter().any(|(key, _)| key == COMMIT_EVERY);
        let check = in_parts.then(|| self.part_check());
        match &mut self.work {
            Some(work) => work.admit(access)?,
            None => {
                let limits = self.context.state().feature::<TransactionLimits>();
                let graph = Arc::clone(&served.graph);
                self.work = Some(Work::new((graph, access), self.may_write, limits));
            }
        }
        if let (Some(work), Some(check)) = (&mut self.work, check) {
            work.check = Some(check);
        }
        self.graph = Some(served);
        Ok(())
    }

    /// A check that refuses further commits once the client has lost rights since the script's
    /// start.
    fn part_check(&self) -> PartCheck {
        let still_allowed = self.context.still_allowed();
        let denied = |error: ApiError| GraphError::new(ErrorKind::Denied, error.message());
        Arc::new(move || still_allowed().map_err(denied))
    }

    /// Checks that the graph of the script still exists and may be changed.
    fn check_graph(&mut self) -> Result<(), ApiError> {
        let Some(work) = &mut self.work else {
            return Ok(());
        };
        let name = work.graph.name().to_owned();
        self.context.decide(Action::Write, &name)?;
        let served = self.context.served_named(&name)?;
        if Arc::ptr_eq(&served.graph, &work.graph) {
            return work.admit(self.context.access_to(&served));
        }
        work.roll_back();
        Err(ApiError::illegal_argument(format!(
            "The graph '{name}' was cleared or removed meanwhile: the transaction is rolled back"
        )))
    }

    /// Commits the script's changes.
    ///
    /// # Errors
    /// As [`Work::commit`].
    pub(super) fn commit(&mut self) -> Result<(), QueryError> {
        if let Some(work) = self.work.as_ref().filter(|work| work.is_changed()) {
            if let Some(check) = work.check.as_ref().filter(|_| work.has_committed) {
                check().map_err(ViewError::from)?;
            }
            let checked = self.check_graph();
            checked.map_err(|error| self.refuse(error))?;
        }
        if let Some(work) = &mut self.work {
            // The memory of committed changes belongs to the graph, not to the query.
            let committed = self.meter.apart(|| work.commit());
            committed.map_err(ViewError::from)?;
            // Results are rendered with the current names.
            let graph = Arc::clone(&work.graph);
            let schema = graph.schema();
            self.graph = Some(Arc::new(ServedGraph { graph, schema }));
        }
        Ok(())
    }
}

impl GraphHost<'_> {
    /// Ends the script: no script can catch a refusal by the server.
    fn refuse(&mut self, error: ApiError) -> QueryError {
        // The kind is not read: the refusal is answered as it is.
        let reported = ViewError::failed(ErrorKind::Denied, error.message().to_owned());
        self.refused = Some(error);
        QueryError::View(reported)
    }

    /// Carries out a script's request on the schema.
    fn apply(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, ApiError> {
        let name = Names::of(self.context).graph_named(&self.aliases, graph)?;
        let action = match scripting::changes(request.action) {
            true => Action::Schema,
            false => Action::Read,
        };
        self.context.decide(action, &name)?;
        let identity = self.context.identity();
        let reads = identity.check(&name, rights::GREMLIN_READS);
        reads.or_else(|_| identity.check(&name, rights::GREMLIN_READS_SCHEMA))?;
        let served = self.context.served_named(&name)?;
        let owner = identity.owner();
        let applied = scripting::apply((&served.graph, owner.as_deref()), request, || {
            self.meter.check().map_err(|_| self.context.too_late())
        });
        if action.changes() {
            let status = applied
                .as_ref()
                .map_or_else(ApiError::status, |_| StatusCode::OK);
            self.context.audit(Some(action), Some(&name), status);
        }
        applied
    }
}

/// The graphs by the names that a client uses for them. A graph that the client may not know of
/// has no name.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    state: &'a AppState,
    identity: &'a Identity,
}

impl<'a> Names<'a> {
    pub(super) fn of(context: &'a RequestContext) -> Self {
        let (state, identity) = context.client();
        Self { state, identity }
    }

    /// An alias that names no graph: the alias, and the name that it should stand for.
    pub(super) fn unknown_alias(self, aliases: &HashMap<String, String>) -> Option<(&str, &str)> {
        let mut each = aliases.iter();
        let unknown = each.find(|(_, wanted)| self.meant(wanted).is_none());
        unknown.map(|(name, wanted)| (name.as_str(), wanted.as_str()))
    }

    /// The graph that a name in a script means: an alias or a global name.
    pub(super) fn graph_named(
        self,
        aliases: &HashMap<String, String>,
        name: &str,
    ) -> Result<String, ApiError> {
        let wanted = aliases.get(name).map_or(name, String::as_str);
        self.meant(wanted).ok_or_else(|| missing(wanted))
    }

    fn has(self, graph: &str) -> bool {
        self.state.graphs().has(graph) && self.identity.sees(graph)
    }

    /// The graph that a global name means: `X`, `__g_X`, `DEFAULT-X` or `__g_DEFAULT-X`.
    fn global(self, name: &str) -> Option<String> {
        let plain = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
        let inner = plain.strip_prefix(SPACE_PREFIX).unwrap_or(plain);
        let mut meant = [name, plain, inner].into_iter();
        let found = meant.find(|name| self.has(name));
        found.or_else(|| self.source(name)).map(str::to_owned)
    }

    /// The graph of a traversal source in the configuration, if the graph exists.
    fn source(self, name: &str) -> Option<&'a str> {
        let mut sources = self.state.config().gremlin_sources();
        let (_, graph) = sources.find(|(source, _)| *source == name)?;
        Some(graph).filter(|graph| self.has(graph))
    }

    /// The graph of a global name. If no graph has the name, `g` and `graph` mean the default
    /// graph, or the only one.
    fn meant(self, name: &str) -> Option<String> {
        if let Some(graph) = self.global(name) {
            return Some(graph);
        }
        if !matches!(name, "g" | "graph") {
            return None;
        }
        if self.has(DEFAULT_GRAPH) {
            return Some(DEFAULT_GRAPH.to_owned());
        }
        let mut seen = self.state.graphs().names();
        seen.retain(|name| self.identity.sees(name));
        match seen.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}

fn missing(name: &str) -> ApiError {
    ApiError::gremlin(
        "groovy.lang.MissingPropertyException",
        format!("No such property: {name}"),
    )
}

impl Host for GraphHost<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(self.meter.check()?)
    }

    fn watched(&self) -> Option<Watched> {
        Some(self.meter.watched())
    }

    fn hold(&self, bytes: usize) -> Result<(), QueryError> {
        Ok(self.meter.hold(bytes)?)
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
        let wanted = self.aliases.get(name).map_or(name, String::as_str);
        let names = Names::of(self.context);
        names.graph_named(&self.aliases, name).ok()?;
        let is_source = names.source(wanted).is_some();
        match name == "g" || is_source || wanted.starts_with(SOURCE_PREFIX) {
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
        let found = self.work(source, bound);
        found.map_err(|error| self.refuse(error))?;
        let (scope, meter) = (self.scope, &self.meter);
        match &mut self.work {
            Some(work) => work.run(scope, (bound, most), meter),
            None => Ok(Results::new()),
        }
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
        let done = self.apply(graph, request);
        if let Some(work) = &mut self.work {
            work.renew().map_err(ViewError::from)?;
        }
        done.map_err(|error| match scripting::catchable(error) {
            Ok(reported) => reported,
            Err(refused) => self.refuse(refused),
        })
    }
}
