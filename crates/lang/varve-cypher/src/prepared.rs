//! Statements that are ready to run.

use std::cell::{Cell, OnceCell};

use varve_model::{CommitVersion, Instant};
use varve_view::SchemaView;

use crate::bind::{Binder, BoundStatement};
use crate::error::{CypherError, Error, ErrorClass, Outcome, argument_error};
use crate::instants::{instant_of, version_of};
use crate::parser::parse;
use crate::plan::bulk;
use crate::plan::explain::{self, PlanTree};
use crate::plan::properties;
use crate::procedures::Procedures;
use crate::run::build::build_shown;
use crate::run::{Batch, BoxedOperator, Counters, Cx, Measured, Nodes, Profile, Shared, Snapshots};
use crate::sizes::Sizes;
use crate::temporal::Clock;
use crate::tree::{Command, Mode, Options, Show, StatementKind, Text};
use crate::value::{Graph, Map};

/// What a statement does, as Bolt names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueryKind {
    /// It reads.
    Read,
    /// It reads and writes.
    ReadWrite,
    /// It writes.
    Write,
    /// It changes or lists the schema or the databases.
    Schema,
}

impl QueryKind {
    /// Bolt's name: `r`, `rw`, `w` or `s`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            QueryKind::Read => "r",
            QueryKind::ReadWrite => "rw",
            QueryKind::Write => "w",
            QueryKind::Schema => "s",
        }
    }
}

/// A statement that was parsed, bound and planned.
pub struct Prepared {
    options: Options,
    body: Body,
}

enum Body {
    Query(Box<Query>),
    Command(Box<Command>),
    Show(Box<Show>),
}

struct Query {
    bound: BoundStatement,
    columns: Vec<Text>,
    parameters: Vec<Text>,
}

/// The points of both times that a statement reads, and the valid period of what it writes.
/// `None` = now, and without end.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryTimes {
    /// `FOR VALID_TIME AS OF` before the first clause.
    pub valid: Option<Instant>,
    /// `FOR SYSTEM_TIME AS OF`.
    pub system: Option<CommitVersion>,
    /// `FOR VALID_TIME FROM` of the clauses that write.
    pub from: Option<Instant>,
    /// The `TO` of it.
    pub to: Option<Instant>,
}

/// What a query runs in.
#[derive(Clone, Copy)]
pub struct Context<'q> {
    /// The graph.
    pub graph: Graph<'q>,
    /// The parameters, by name.
    pub parameters: &'q Map,
    /// The statement's clock.
    pub clock: Clock,
    /// The procedures that the query may call.
    pub procedures: &'q dyn Procedures,
}

/// Parses, binds and plans a statement. `sizes` decide in which order patterns are matched.
///
/// # Errors
/// What is wrong with the statement, or not supported.
pub fn prepare(
    text: &str,
    schema: &dyn SchemaView,
    procedures: &dyn Procedures,
    sizes: Sizes<'_>,
) -> Result<Prepared, CypherError> {
    let statement = parse(text)?;
    let body = match statement.kind {
        StatementKind::Query(query) => {
            let binder = Binder::new(text, schema, procedures, sizes);
            let bound = binder.statement(&query);
            let mut bound = bound.map_err(|error| placed(error, text))?;
            bulk::improve(&mut bound.plan, schema);
            bound.plan.properties = properties::read(&bound.plan);
            Body::Query(Box::new(Query {
                columns: bound.columns.iter().map(|(name, _)| name.clone()).collect(),
                parameters: bound.parameters.clone(),
                bound,
            }))
        }
        StatementKind::Command(command) => Body::Command(Box::new(command)),
        StatementKind::Show(show) => Body::Show(show),
    };
    Ok(Prepared {
        options: statement.options,
        body,
    })
}

/// The same error with its line and column.
fn placed(error: CypherError, text: &str) -> CypherError {
    match error {
        CypherError::Error(error) => error.placed(text).into(),
        other => other,
    }
}

impl Prepared {
    /// The names of the columns of a query's rows; none of a command, and of a query that returns
    /// nothing.
    #[must_use]
    pub fn columns(&self) -> &[Text] {
        match &self.body {
            Body::Query(query) => &query.columns,
            _ => &[],
        }
    }

    /// What it does.
    #[must_use]
    pub fn kind(&self) -> QueryKind {
        let Body::Query(query) = &self.body else {
            return QueryKind::Schema;
        };
        let reads = query.bound.reads || !query.columns.is_empty();
        match (query.bound.plan.writes, reads) {
            (false, _) => QueryKind::Read,
            (true, true) => QueryKind::ReadWrite,
            (true, false) => QueryKind::Write,
        }
    }

    /// Whether its clauses read or change elements; what its procedures do is not known.
    #[must_use]
    pub fn uses_elements(&self) -> bool {
        match &self.body {
            Body::Query(query) => query.bound.matches || query.bound.plan.writes,
            _ => false,
        }
    }

    /// Whether it needs a [`Graph::writer`].
    #[must_use]
    pub fn writes(&self) -> bool {
        match &self.body {
            Body::Query(query) => query.bound.plan.writes,
            _ => false,
        }
    }

    /// Whether it commits what it has changed so far while it runs
    /// ([`GraphWriter::commit_part`](varve_view::GraphWriter::commit_part)).
    #[must_use]
    pub fn commits(&self) -> bool {
        match &self.body {
            Body::Query(query) => query.bound.plan.commits,
            _ => false,
        }
    }

    /// The options before the statement.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Whether it runs, and whether its plan is returned.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.options.mode
    }

    /// The command, if it is one. The caller carries it out.
    #[must_use]
    pub fn command(&self) -> Option<&Command> {
        match &self.body {
            Body::Command(command) => Some(command),
            _ => None,
        }
    }

    /// The `SHOW`, if it is one. The caller carries it out.
    #[must_use]
    pub fn show(&self) -> Option<&Show> {
        match &self.body {
            Body::Show(show) => Some(show),
            _ => None,
        }
    }

    /// The names of the parameters that it uses.
    #[must_use]
    pub fn parameters(&self) -> &[Text] {
        match &self.body {
            Body::Query(query) => &query.parameters,
            _ => &[],
        }
    }

    /// The plan of a query; `None` of a command.
    #[must_use]
    pub fn explain(&self) -> Option<PlanTree> {
        match &self.body {
            Body::Query(query) => Some(explain::tree(&query.bound.plan, None)),
            _ => None,
        }
    }

    /// The points of both times and the valid period that the query names. The graph is not read.
    ///
    /// # Errors
    /// When a parameter is missing, an expression fails or is no instant, or clauses name different
    /// periods.
    pub fn times(&self, context: Context<'_>) -> Result<QueryTimes, CypherError> {
        let Body::Query(query) = &self.body else {
            return Ok(QueryTimes::default());
        };
        let shared = query.shared(context);
        let cx = Cx {
            shared: &shared,
            locals: &[],
            snapshot: None,
        };
        let bound = &query.bound;
        let instant = |time| instant_of(&cx.evaluate(time, &[])?);
        let mut period: Option<(Instant, Option<Instant>)> = None;
        for (from, to) in &bound.periods.all {
            let own = (instant(from)?, to.as_ref().map(instant).transpose()?);
            if *period.get_or_insert(own) != own {
                let message = "the clauses of a statement that write name different periods FOR \
                               VALID_TIME";
                return Err(argument_error("InvalidArgumentValue", message));
            }
        }
        let (from, to) = period.map_or((None, None), |(from, to)| (Some(from), to));
        let version = |time| version_of(&cx.evaluate(time, &[])?);
        Ok(QueryTimes {
            valid: bound.valid.as_ref().map(instant).transpose()?,
            system: bound.system.as_ref().map(version).transpose()?,
            from,
            to,
        })
    }
}

impl Query {
    fn shared<'q>(&'q self, context: Context<'q>) -> Shared<'q> {
        Shared {
            graph: context.graph,
            parameters: context.parameters,
            clock: context.clock,
            plan: &self.bound.plan,
            procedures: context.procedures,
            counters: Cell::default(),
            nodes: Nodes::default(),
            snapshots: Snapshots::default(),
            profile: None,
            keys: OnceCell::new(),
        }
    }
}

/// Begins to run a query. Rows are computed as they are pulled; a query that writes has written all
/// once it gives its first row, but it must be pulled to its end.
///
/// # Errors
/// When a parameter is missing, or the statement is no query.
pub fn run<'q>(prepared: &'q Prepared, context: Context<'q>) -> Result<Rows<'q>, CypherError> {
    let Body::Query(query) = &prepared.body else {
        return Err(crate::error::not_supported("running a command as a query"));
    };
    if let Some(missing) = query
        .parameters
        .iter()
        .find(|name| context.parameters.get(name).is_none())
    {
        let message = format!("the parameter '{missing}' is missing");
        let mut error = Error::run(ErrorClass::ParameterMissing, "MissingParameter", message);
        error.phase = crate::error::Phase::Compile;
        return Err(error.into());
    }
    let returns = !query.columns.is_empty();
    let mut shared = query.shared(context);
    if prepared.mode() == Mode::Profile {
        shared.profile = Some(Profile::new(context.graph.meter));
    }
    Ok(Rows {
        operator: build_shown(&query.bound.plan.root, Batch::of(Vec::new()), &shared),
        shared,
        returns,
    })
}

/// The rows of a running query.
pub struct Rows<'q> {
    shared: Shared<'q>,
    operator: BoxedOperator<'q>,
    returns: bool,
}

impl Rows<'_> {
    /// The next rows, with the columns of [`Prepared::columns`]; `None` at the end. A query that
    /// returns nothing runs to its end.
    ///
    /// # Errors
    /// When a value has a wrong type or range, a limit of the meter is exceeded, or the store fails
    /// or refuses a change.
    #[allow(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<Batch>, CypherError> {
        let cx = Cx {
            shared: &self.shared,
            locals: &[],
            snapshot: None,
        };
        loop {
            let batch: Outcome<Option<Batch>> = self.operator.next(cx);
            match batch? {
                None => return Ok(None),
                Some(batch) if self.returns && !batch.is_empty() => return Ok(Some(batch)),
                Some(_) => {}
            }
        }
    }

    /// What the query has changed so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.counters.get()
    }

    /// The plan with what each operator has done so far; `None` unless the query says `PROFILE`.
    #[must_use]
    pub fn profile(&self) -> Option<PlanTree> {
        let profile = self.shared.profile.as_ref()?;
        let mut tree = explain::tree(self.shared.plan, Some(profile));
        let given = tree.children.first().and_then(|last| last.measured);
        tree.measured = Some(Measured {
            rows: given.filter(|_| self.returns).map_or(0, |last| last.rows),
            reads: profile.reads_of_results(self.shared.graph.meter),
            ..Measured::default()
        });
        Some(tree)
    }
}
