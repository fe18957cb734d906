//! The language, as the doors use it.

use std::sync::Arc;

use varve_cypher::temporal::Clock;
use varve_cypher::tree::{Command, Mode};
use varve_cypher::{
    Context, Counters, CypherError, Error, ErrorClass, Graph, Map, PlanTree, QueryKind, Sizes,
    Value,
};
use varve_graph::write::WritePeriod;
use varve_model::TemporalScope;
use varve_session::Action;
use varve_view::{EmptyGraph, SchemaView};

use super::catalogue::{self, Catalogue};
use super::commands;
use super::counters;
use super::failure::CypherFailure;
use super::run::Sink;

pub(crate) use varve_cypher::Batch;

/// What a statement has done.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) counters: Counters,
    /// The plan, if the statement asks for it: of `PROFILE` with what was measured.
    pub(crate) plan: Option<PlanTree>,
}

/// A prepared statement, and the procedures that it may call.
pub(crate) struct Prepared {
    inner: varve_cypher::Prepared,
    pub(crate) columns: Vec<String>,
    catalogue: Arc<Catalogue>,
    clock: Clock,
}

/// The failure that names what is not supported.
fn not_supported(what: &str) -> CypherFailure {
    let message = format!("{what} is not supported");
    CypherError::from(Error::run(
        ErrorClass::NotSupported,
        "NotSupported",
        message,
    ))
    .into()
}

impl Prepared {
    pub(crate) fn new(
        text: &str,
        catalogue: Catalogue,
        sizes: Sizes<'_>,
    ) -> Result<Self, CypherFailure> {
        let of_graph = Arc::clone(&catalogue.schema);
        let schema: &dyn SchemaView = match catalogue.is_system {
            // A statement that needs a graph is refused for that reason, and not for its labels.
            true => &EmptyGraph,
            false => &*of_graph,
        };
        let catalogue = Arc::new(catalogue);
        let mut inner = varve_cypher::prepare(text, schema, &*catalogue, sizes)?;
        if let Some(show) = inner.show() {
            let text = catalogue::rewritten(show).map_err(|what| not_supported(&what))?;
            let text = match inner.mode() {
                Mode::Run => text,
                Mode::Explain => format!("EXPLAIN {text}"),
                Mode::Profile => format!("PROFILE {text}"),
            };
            inner = varve_cypher::prepare(&text, schema, &*catalogue, sizes)?;
        }
        if let Some(what) = inner.command().and_then(commands::unsupported) {
            return Err(not_supported(&what));
        }
        let columns = match inner.mode() {
            Mode::Explain => Vec::new(),
            _ => inner.columns().iter().map(ToString::to_string).collect(),
        };
        Ok(Self {
            inner,
            columns,
            catalogue,
            clock: Clock::now(),
        })
    }

    /// The command that it carries out, if it is one.
    pub(crate) fn command(&self) -> Option<&Command> {
        self.inner.command().filter(|_| !self.is_explained())
    }

    /// Whether it reads or changes a graph or its schema, as far as its text shows.
    pub(super) fn needs_graph(&self) -> bool {
        let is_of_graph = |command| commands::action(command) == Action::Schema;
        self.inner.uses_elements() || self.inner.command().is_some_and(is_of_graph)
    }

    fn is_explained(&self) -> bool {
        self.inner.mode() == Mode::Explain
    }

    pub(crate) fn kind(&self) -> QueryKind {
        self.inner.kind()
    }

    /// Whether it changes the graph when it runs.
    pub(crate) fn writes(&self) -> bool {
        self.inner.writes() && !self.is_explained()
    }

    /// Whether it runs in transactions of its own: `IN TRANSACTIONS`.
    pub(crate) fn commits(&self) -> bool {
        self.inner.commits() && !self.is_explained()
    }

    /// The point of both times at which it reads, which is `default` where the text names no other
    /// one, and the valid period of what it writes.
    pub(crate) fn times(
        &self,
        default: TemporalScope,
        graph: Graph<'_>,
        parameters: &Map,
    ) -> Result<(TemporalScope, WritePeriod), CypherFailure> {
        let times = self.inner.times(self.context(graph, parameters))?;
        let scope = TemporalScope {
            valid: times.valid.or(default.valid),
            transaction: times.system.or(default.transaction),
        };
        let period = WritePeriod {
            from: times.from,
            to: times.to,
        };
        Ok((scope, period))
    }

    fn context<'c>(&'c self, graph: Graph<'c>, parameters: &'c Map) -> Context<'c> {
        Context {
            graph,
            parameters,
            clock: self.clock,
            procedures: &*self.catalogue,
        }
    }

    /// Runs it to its end.
    pub(crate) fn run(
        &self,
        graph: Graph<'_>,
        parameters: &Map,
        sink: &mut dyn Sink,
    ) -> Result<Summary, CypherFailure> {
        if self.is_explained() {
            return Ok(Summary {
                plan: self.inner.explain(),
                ..Summary::default()
            });
        }
        // An earlier run has failed.
        self.catalogue.counted.take();
        let mut rows = varve_cypher::run(&self.inner, self.context(graph, parameters))?;
        while let Some(batch) = rows.next()? {
            sink.rows(&graph, &batch)?;
        }
        Ok(Summary {
            counters: counters::sum(rows.counters(), self.catalogue.counted.take()),
            plan: rows.profile(),
        })
    }
}

/// The rows of a query that runs within another one, and what it has changed.
pub(super) fn rows_of(
    text: &str,
    parameters: &Map,
    graph: &Graph<'_>,
) -> Result<(Vec<Vec<Value>>, Counters), CypherError> {
    let procedures = &varve_cypher::NoProcedures;
    let prepared = varve_cypher::prepare(text, graph.schema, procedures, Sizes::UNKNOWN)?;
    let context = Context {
        graph: *graph,
        parameters,
        clock: Clock::now(),
        procedures,
    };
    let mut rows = varve_cypher::run(&prepared, context)?;
    let mut found = Vec::new();
    while let Some(batch) = rows.next()? {
        for (row, count) in batch.rows() {
            for _ in 0..count {
                graph.meter.row()?;
                found.push(row.to_vec());
            }
        }
    }
    Ok((found, rows.counters()))
}
