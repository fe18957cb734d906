//! Runs statements in a session: alone, with their own commit, or within a transaction.

use std::sync::Arc;

use varve_cypher::{Graph, Map, Sizes};
use varve_graph::registry::ServedGraph;
use varve_graph::write::WritePeriod;
use varve_model::{CommitVersion, TemporalScope};
use varve_session::place::still_leads;
use varve_session::work::{Change, State, Work, until_committed};
use varve_session::{Action, Failure, Session};
use varve_view::{ErrorKind, GraphView, GraphWriter, Meter, SchemaView};

use super::catalogue::{Catalogue, Counted};
use super::commands;
use super::engine::{Batch, Prepared, Summary};
use super::failure::{CypherFailure, SchemaError};
use crate::hugegraph::SchemaSight;

/// A statement that is ready to run.
pub(crate) struct Statement {
    pub(crate) prepared: Prepared,
    pub(crate) parameters: Map,
    /// The point of both times at which it reads, unless its text names another one.
    pub(crate) scope: TemporalScope,
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
        (session, served): (&Session, &ServedGraph),
        parameters: Map,
        scope: TemporalScope,
    ) -> Result<Self, CypherFailure> {
        let catalogue = catalogue(session, served);
        let prepared = match session.database().graphs.capabilities().reads_may_wait {
            // Estimates would wait for the network, on the serving thread.
            true => Prepared::new(text, catalogue, Sizes::UNKNOWN)?,
            false => {
                let view = session
                    .view(served, TemporalScope::NOW)
                    .map_err(Failure::from)?;
                let meter = session.meter();
                let graph = Some((&view as &dyn GraphView, &meter));
                Prepared::new(text, catalogue, Sizes { graph })?
            }
        };
        Ok(Self {
            prepared,
            parameters,
            scope,
        })
    }

    /// Checks the client's rights before it runs.
    ///
    /// # Errors
    /// When the client may not run it.
    pub(crate) fn admit(&self, session: &Session, graph: &str) -> Result<(), Failure> {
        session.decide(Action::Read, graph)?;
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
        served: &ServedGraph,
        sink: &mut dyn Sink,
    ) -> Result<Ran, CypherFailure> {
        let database = session.database();
        let run = || {
            sink.restart();
            let own = (Arc::clone(&served.graph), session.access_to(served));
            let mut work = Work::new(own, self.prepared.writes(), &database.transactions);
            let ran = self.run(session, &mut work, &mut *sink);
            let ran = ran.and_then(|summary| {
                still_led(served)?;
                let version = work.commit()?;
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

    /// Runs it within a transaction, without a commit.
    ///
    /// # Errors
    /// As the statement.
    pub(crate) fn run_within(
        &self,
        session: &Session,
        served: &ServedGraph,
        work: &mut Work,
        sink: &mut dyn Sink,
    ) -> Result<Ran, CypherFailure> {
        let summary = self.run(session, work, sink)?;
        still_led(served)?;
        let version = None;
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
            commit_every: None,
        });
        work.on(scope, change, |state| {
            let graph = graph_of(&state, change.is_some(), &meter);
            self.prepared.run(graph, &self.parameters, sink)
        })
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

/// The procedures of a statement.
fn catalogue(session: &Session, served: &ServedGraph) -> Catalogue {
    let graphs = &session.database().graphs;
    let mut names = graphs.names();
    names.retain(|name| session.identity.check_query(Action::Read, name).is_ok());
    Catalogue {
        graph: served.graph.name().to_owned(),
        graphs: names,
        user: session
            .identity
            .user()
            .map_or_else(String::new, |user| user.name.to_string()),
        schema: Arc::clone(&served.schema),
        sight: SchemaSight::of_client(session, served),
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
fn still_led(served: &ServedGraph) -> Result<(), Failure> {
    match still_leads(&served.graph) {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorKind::Elsewhere,
            "Another server leads the graph now",
        )),
    }
}

/// The failure of a statement of which a part is stored: it must not be sent again.
fn after_part(failure: Failure) -> Failure {
    let message = format!(
        "What the statement committed in between is stored, the rest is not: {}",
        failure.message
    );
    Failure::new(ErrorKind::OutcomeUnknown, message)
}
