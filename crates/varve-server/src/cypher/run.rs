//! Runs statements in a session: alone, with their own commit, or within a transaction.

use std::sync::Arc;

use varve_cypher::{Graph, Map, Sizes};
use varve_graph::GraphError;
use varve_graph::optimistic::PartCheck;
use varve_graph::registry::ServedGraph;
use varve_graph::write::WritePeriod;
use varve_model::{CommitVersion, TemporalScope};
use varve_session::place::still_leads;
use varve_session::work::{Change, Parts, State, Work, until_committed};
use varve_session::{Action, Failure, Session};
use varve_view::{EmptyGraph, ErrorKind, GraphView, GraphWriter, Meter, SchemaView};

use super::catalogue::{Catalogue, Counted};
use super::commands;
use super::engine::{Batch, Prepared, Summary};
use super::failure::{CypherFailure, SchemaError, needs_graph};
use super::target::Target;
use crate::hugegraph::SchemaSight;
use crate::system_database::SYSTEM;

/// A statement that is ready to run.
pub(crate) struct Statement {
    pub(crate) prepared: Prepared,
    pub(crate) parameters: Map,
    /// What it runs on.
    pub(crate) target: Target,
    /// The point of both times at which it reads, unless its text names another one.
    pub(crate) scope: TemporalScope,
    /// Checks the client's rights before each commit of a statement that commits in parts.
    pub(crate) check: Option<PartCheck>,
}

/// Takes the rows of a statement.
pub(crate) trait Sink {
    /// Takes rows; the graph has the contents of their elements.
    ///
    /// # Errors
    /// When they cannot be taken.
    fn rows(&mut self, graph: &Graph<'_>, batch: &Batch) -> Result<(), CypherFailure>;

    /// Drops the rows that it has: the statement runs again. A statement that may run again gives
    /// its rows to a sink that passes nothing on before its end.
    fn restart(&mut self) {}
}

/// How a statement has ended.
pub(crate) struct Ran {
    pub(crate) summary: Summary,
    /// The version of its own commit.
    pub(crate) version: Option<CommitVersion>,
}

impl Statement {
    /// Reads a statement.
    ///
    /// # Errors
    /// When it is no Cypher, or fits no graph with this schema.
    pub(crate) fn new(
        text: &str,
        (session, target): (&Session, Target),
        parameters: Map,
        scope: TemporalScope,
    ) -> Result<Self, CypherFailure> {
        let prepared = match &target {
            Target::Graph(served) => prepared(text, session, served)?,
            Target::System(default) => {
                let catalogue = catalogue_of_system(session, default);
                let prepared = Prepared::new(text, catalogue, Sizes::UNKNOWN)?;
                if prepared.needs_graph() {
                    return Err(needs_graph(text).into());
                }
                prepared
            }
        };
        Ok(Self {
            prepared,
            parameters,
            target,
            scope,
            check: None,
        })
    }

    /// Checks the client's rights before it runs.
    ///
    /// # Errors
    /// When the client may not run it.
    pub(crate) fn admit(&self, session: &Session) -> Result<(), Failure> {
        let graph = self.target.name();
        if matches!(self.target, Target::Graph(_)) {
            session.decide(Action::Read, graph)?;
        }
        if let Some(command) = self.prepared.command() {
            commands::admit(command, session, graph)?;
        } else if self.prepared.writes() {
            session.decide(Action::Write, graph)?;
        }
        if self.action() != Action::Read {
            session.check_may_change()?;
        }
        Ok(())
    }

    /// What it does.
    pub(crate) fn action(&self) -> Action {
        match (self.prepared.command(), self.prepared.writes()) {
            (Some(command), _) => commands::action(command),
            (None, true) => Action::Write,
            (None, false) => Action::Read,
        }
    }

    /// The graph that it makes or drops.
    pub(crate) fn database(&self) -> Option<String> {
        let command = self.prepared.command()?;
        commands::database(command, &self.parameters)
    }

    /// Runs it as a transaction of its own. If another commit is in its way, it runs again.
    ///
    /// # Errors
    /// As the statement, or its commit.
    pub(crate) fn run_alone(
        &self,
        session: &Session,
        sink: &mut dyn Sink,
    ) -> Result<Ran, CypherFailure> {
        let served = match &self.target {
            Target::Graph(served) => served,
            Target::System(_) => return self.run_on_system(session, sink),
        };
        let database = session.database();
        let run = || {
            sink.restart();
            let own = (Arc::clone(&served.graph), session.access_to(served));
            let mut work = Work::new(own, self.prepared.writes(), &database.transactions);
            work.check = self.part_check(served);
            let ran = self.run(session, &mut work, &mut *sink);
            let ran = ran.and_then(|summary| {
                still_led(&served.graph)?;
                let version = work.commit()?.or(work.last_part);
                Ok(Ran { summary, version })
            });
            ran.map_err(|failure| (failure, work.has_committed))
        };
        let may_run_again =
            |(failure, stored): &(CypherFailure, bool)| !stored && failure.is_conflict();
        let ran = until_committed(run, may_run_again, || session.check_deadline().is_ok());
        ran.map_err(|(failure, stored)| match stored {
            false => failure,
            true => after_part(failure.of(session)).into(),
        })
    }

    /// The check before each commit in between.
    fn part_check(&self, served: &Arc<ServedGraph>) -> Option<PartCheck> {
        if !self.prepared.commits() {
            return None;
        }
        let (check, served) = (self.check.clone(), Arc::clone(served));
        Some(Arc::new(move || {
            still_led(&served.graph).map_err(graph_error)?;
            check.as_ref().map_or(Ok(()), |check| check())
        }))
    }

    /// Checks that it may run within a transaction.
    ///
    /// # Errors
    /// Neo4j's, if it commits in parts.
    pub(crate) fn check_within(&self) -> Result<(), Failure> {
        match self.prepared.commits() {
            true => Err(SchemaError {
                code: "Neo.DatabaseError.Transaction.TransactionStartFailed",
                message: "A query with 'CALL { ... } IN TRANSACTIONS' can only be executed in an \
                          implicit transaction, but tried to execute in an explicit transaction."
                    .to_owned(),
            }
            .into()),
            false => Ok(()),
        }
    }

    /// Runs it within the transaction of this work; without one, as a transaction of its own.
    ///
    /// # Errors
    /// As the statement, or its commit.
    pub(crate) fn run_in(
        &self,
        session: &Session,
        work: Option<&mut Work>,
        sink: &mut dyn Sink,
    ) -> Result<Ran, CypherFailure> {
        match work {
            Some(work) => self.run_within(session, work, sink),
            None => self.run_alone(session, sink),
        }
    }

    /// Runs it within a transaction, without a commit.
    ///
    /// # Errors
    /// As the statement.
    fn run_within(
        &self,
        session: &Session,
        work: &mut Work,
        sink: &mut dyn Sink,
    ) -> Result<Ran, CypherFailure> {
        let summary = self.run(session, work, sink)?;
        still_led(&work.graph)?;
        let version = None;
        Ok(Ran { summary, version })
    }

    /// Runs it without a graph.
    fn run_on_system(&self, session: &Session, sink: &mut dyn Sink) -> Result<Ran, CypherFailure> {
        let version = None;
        if let Some(command) = self.prepared.command() {
            commands::run_on_databases(command, (session, SYSTEM), &self.parameters)?;
            let summary = Summary::default();
            return Ok(Ran { summary, version });
        }
        let meter = session.meter();
        let graph = Graph {
            view: &EmptyGraph,
            schema: &EmptyGraph,
            writer: None,
            meter: &meter,
        };
        let summary = self.prepared.run(graph, &self.parameters, sink)?;
        Ok(Ran { summary, version })
    }

    fn run(
        &self,
        session: &Session,
        work: &mut Work,
        sink: &mut dyn Sink,
    ) -> Result<Summary, CypherFailure> {
        if let Some(command) = self.prepared.command() {
            if work.is_changed() {
                return Err(SchemaError {
                    code: "Neo.ClientError.Transaction.ForbiddenDueToTransactionType",
                    message: "A transaction that has changed data cannot change the schema"
                        .to_owned(),
                }
                .into());
            }
            let counters = commands::run(command, (session, &work.graph), &self.parameters)?;
            return Ok(Summary {
                counters,
                plan: None,
            });
        }
        let meter = session.meter();
        let (scope, period) = self.times(work, &meter)?;
        let change = self.prepared.writes().then_some(Change {
            period,
            parts: match self.prepared.commits() {
                true => Parts::Explicit,
                false => Parts::Whole,
            },
        });
        let is_limited = work.access().is_some();
        let mut summary = work.on(scope, change, |state| {
            let graph = graph_of(&state, change.is_some(), &meter);
            self.prepared.run(graph, &self.parameters, sink)
        })?;
        if let Some(plan) = summary.plan.as_mut().filter(|_| is_limited) {
            plan.hide_reads();
        }
        Ok(summary)
    }
}

impl Statement {
    /// The point of both times at which it reads, and the valid period of what it writes. The
    /// expressions that name them read no graph.
    fn times(
        &self,
        work: &mut Work,
        meter: &Meter,
    ) -> Result<(TemporalScope, WritePeriod), CypherFailure> {
        work.on(TemporalScope::NOW, None, |state| {
            let graph = graph_of(&state, false, meter);
            self.prepared.times(self.scope, graph, &self.parameters)
        })
    }
}

/// Prepares a statement for a graph.
fn prepared(
    text: &str,
    session: &Session,
    served: &ServedGraph,
) -> Result<Prepared, CypherFailure> {
    let catalogue = catalogue(session, served);
    if session.database().graphs.capabilities().reads_may_wait {
        // Estimates would wait for the network, on the serving thread.
        return Prepared::new(text, catalogue, Sizes::UNKNOWN);
    }
    let view = session
        .view(served, TemporalScope::NOW)
        .map_err(Failure::from)?;
    let meter = session.meter();
    let graph = Some((&view as &dyn GraphView, &meter));
    Prepared::new(text, catalogue, Sizes { graph })
}

/// The procedures of a statement.
fn catalogue(session: &Session, served: &ServedGraph) -> Catalogue {
    let graph = served.graph.name().to_owned();
    Catalogue {
        home: graph.clone(),
        graph,
        is_system: false,
        schema: Arc::clone(&served.schema),
        sight: SchemaSight::of_client(session, served),
        ..catalogue_of_system(session, "")
    }
}

/// The procedures of a statement on the database `system`.
fn catalogue_of_system(session: &Session, default: &str) -> Catalogue {
    let graphs = &session.database().graphs;
    let mut names = graphs.names();
    names.retain(|name| session.identity.check_query(Action::Read, name).is_ok());
    Catalogue {
        graph: SYSTEM.to_owned(),
        home: default.to_owned(),
        is_system: true,
        graphs: names,
        user: session
            .identity
            .user()
            .map_or_else(String::new, |user| user.name.to_string()),
        schema: Arc::default(),
        sight: SchemaSight::of_nothing(),
        counted: Counted::default(),
    }
}

/// The graph in the state that the transaction reads.
fn graph_of<'w>(state: &State<'w>, writes: bool, meter: &'w Meter) -> Graph<'w> {
    let (view, schema, writer): (&dyn GraphView, &dyn SchemaView, Option<&dyn GraphWriter>) =
        match *state {
            State::View(view) => (view, view.schema(), None),
            State::Changes(changes) => {
                let writer = writes.then_some(changes as &dyn GraphWriter);
                (changes, changes, writer)
            }
        };
    Graph {
        view,
        schema,
        writer,
        meter,
    }
}

/// # Errors
/// [`ErrorKind::Elsewhere`] if another server may have written meanwhile.
fn still_led(graph: &varve_graph::Graph) -> Result<(), Failure> {
    match still_leads(graph) || graph.is_followed() {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorKind::Elsewhere,
            "Another server leads the graph now",
        )),
    }
}

fn graph_error(failure: Failure) -> GraphError {
    GraphError::new(failure.kind, failure.message)
}

/// The failure of a statement of which a part is stored: it must not be sent again.
fn after_part(failure: Failure) -> Failure {
    let message = format!(
        "What the statement committed in between is stored, the rest is not: {}",
        failure.message
    );
    Failure::new(ErrorKind::OutcomeUnknown, message)
}
