//! Runs a client's script or bytecode, over HTTP or a WebSocket, and classifies failures.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use varve_graph::registry::ServedGraph;
use varve_gremlin::execute::{self, Environment, Outcome, Results};
use varve_gremlin::tree::Script;
use varve_gremlin::{ErrorCode, ParseError};
use varve_query::QueryError;
use varve_session::work::{self, Work};
use varve_view::{ErrorKind, Meter, ViewError};

use super::host::{Options, ScriptHost};
use super::request::Program;
use crate::errors::ApiError;
use crate::request::RequestContext;

/// The outcome of a program that ran.
pub(super) struct Ran {
    /// The graph that was read, if one was.
    pub(super) graph: Option<Arc<ServedGraph>>,
    pub(super) results: Results,
    /// Counts the bytes that the results hold. They are charged to the memory of all queries until
    /// it is dropped.
    pub(super) meter: Meter,
    /// The options of the traversals' sources.
    pub(super) options: Options,
    /// Whether a change is stored.
    pub(super) is_stored: bool,
}

/// Why there are no results.
#[derive(Debug)]
pub(super) enum Failure {
    /// The text or the bytecode is no Gremlin.
    Unreadable(ParseError),
    /// It ran, and failed.
    Query(QueryError),
    /// It was stopped after its own time limit, in milliseconds.
    Late(u64),
    /// The server refused it before it ran, or after a part of it was stored.
    Refused(ApiError),
}

/// Runs a program. Its graphs are named by the aliases, or by the names of the server's graphs. It
/// must end within `limit`, if given, and within the request's time. Afterwards `environment` has
/// the program's variables. Its changes are committed, or kept in `session` if it belongs to one.
pub(super) fn evaluate(
    context: &RequestContext,
    program: Program,
    environment: &mut Environment,
    (limit, aliases): (Option<Duration>, HashMap<String, String>),
    session: Option<&mut Option<Work>>,
) -> Result<Ran, Failure> {
    let script = program.parsed(environment).map_err(Failure::Unreadable)?;
    let may_write = script.may_write();
    let deadline = limit.map(|limit| Instant::now() + limit);
    let host = || {
        let mut host = ScriptHost::of_client(context, aliases.clone()).map_err(Failure::Refused)?;
        if let Some(deadline) = deadline {
            host.meter.end_by(deadline);
        }
        host.may_write = may_write;
        Ok(host)
    };
    if let Some(kept) = session {
        let mut host = host()?;
        // The requests of a session are one transaction: one may read what the next writes.
        host.may_write = true;
        host.is_in_session = true;
        host.work = kept.take();
        if let Some(work) = &mut host.work {
            work.check_age(context.session.database().transactions.age_max)
                .map_err(Failure::Query)?;
        }
        let ran = run(&script, environment, &mut host);
        *kept = host.work.take();
        return Ok(ran?.of(host));
    }
    let before = environment.clone();
    work::until_committed(
        || {
            *environment = before.clone();
            let mut host = host().map_err(|failure| (failure, false))?;
            let ran = run(&script, environment, &mut host);
            let ran = ran.and_then(|ran| {
                let committed = host.commit();
                committed.map_err(|error| host.failure(error))?;
                Ok(ran)
            });
            match ran {
                Ok(ran) => Ok(ran.of(host)),
                Err(failure) => Err((failure, host.has_committed())),
            }
        },
        |(failure, stored)| {
            let conflict = matches!(failure, Failure::Query(error) if work::is_conflict(error));
            conflict && !stored
        },
        || context.check_deadline().is_ok(),
    )
    .map_err(|(failure, stored)| match (failure, stored) {
        (failure, true) => failure.after_part(),
        (failure, false) => failure,
    })
}

/// The error for a script that is done but not answered: it must not be sent again.
pub(super) fn stored(error: ApiError) -> ApiError {
    ApiError::outcome_unknown_as(format!(
        "The script is done and what it changed is stored, but its results cannot be answered: {}",
        error.message()
    ))
}

/// Runs a script once.
fn run(
    script: &Script,
    environment: &mut Environment,
    host: &mut ScriptHost<'_>,
) -> Result<Done, Failure> {
    let ran = execute::execute_in(script, environment, host).map(Outcome::into_results);
    let ran = ran.and_then(|results| {
        host.meter.measure()?;
        Ok(results)
    });
    match ran {
        Ok(results) => Ok(Done(results)),
        Err(error) => Err(host.failure(error)),
    }
}

impl ScriptHost<'_> {
    /// Why a script failed.
    fn failure(&self, error: QueryError) -> Failure {
        match (error, self.options.timeout_ms) {
            (QueryError::View(ViewError::Deadline), Some(limit)) => Failure::Late(limit),
            (error, _) => Failure::Query(error),
        }
    }
}

/// The results of a script that ran.
struct Done(Results);

impl Done {
    fn of(self, mut host: ScriptHost<'_>) -> Ran {
        host.meter.settle();
        Ran {
            is_stored: host.has_committed(),
            graph: host.graph,
            options: host.options,
            meter: host.meter,
            results: self.0,
        }
    }
}

impl Failure {
    /// The error where a part is committed: it must not invite the client to send the script again.
    fn after_part(self) -> Self {
        let stored = |reason: &dyn std::fmt::Display| {
            format!("What the script committed in between is stored, the rest is not: {reason}")
        };
        match self {
            Self::Query(error) if work::may_run_again(&error) => {
                Self::Refused(ApiError::outcome_unknown_as(stored(&error)))
            }
            Self::Query(error) if work::is_denied(&error) => {
                Self::Refused(ApiError::forbidden(stored(&error)))
            }
            Self::Late(limit) => {
                let reason = format!("its time limit of {limit} ms is over");
                Self::Refused(ApiError::outcome_unknown_as(stored(&reason)))
            }
            other => other,
        }
    }

    /// Records and logs the error, if the server caused it.
    pub(super) fn note(&self, context: &RequestContext) {
        let refused = match self {
            Self::Refused(error) => error,
            // Conflicts are the clients' own.
            Self::Query(QueryError::View(ViewError::Store(error)))
                if error.kind != ErrorKind::Conflict =>
            {
                &varve_session::Failure::new(error.kind, error.message.clone()).into()
            }
            Self::Unreadable(_) | Self::Query(_) | Self::Late(_) => return,
        };
        context.state().note_error(refused, context.uri());
    }

    /// The error in HugeGraph's form.
    pub(super) fn into_api(self, context: &RequestContext) -> ApiError {
        match self {
            Self::Unreadable(error) => unreadable(&error),
            Self::Query(error) => refused(context, error),
            Self::Late(limit) => {
                let limit = Duration::from_millis(limit);
                context.session.too_late_after(limit).into()
            }
            Self::Refused(error) => error,
        }
    }
}

/// The message for a text that is no Gremlin: what is wrong, and where.
pub(super) fn not_interpreted(error: &ParseError) -> String {
    format!("Failed to interpret Gremlin query: {error}")
}

/// The error for a text that is no Gremlin, with the exception that HugeGraph's clients know.
fn unreadable(error: &ParseError) -> ApiError {
    match error.code {
        // HugeGraph's message.
        ErrorCode::Exit => ApiError::new(
            StatusCode::FORBIDDEN,
            "java.lang.SecurityException",
            error.message.clone(),
        ),
        code => ApiError::gremlin(code.groovy_exception(), not_interpreted(error)),
    }
}

/// The error of a script that failed, in HugeGraph's form.
fn refused(context: &RequestContext, error: QueryError) -> ApiError {
    let code = error.code();
    let refused = match error {
        QueryError::View(error) => return context.session.failed_read(error).into(),
        error @ QueryError::Unbound(_) => {
            ApiError::gremlin("groovy.lang.MissingPropertyException", error.to_string())
        }
        QueryError::Script { exception, message } => ApiError::gremlin(exception, message),
        QueryError::NotAllowed(message) => {
            ApiError::gremlin("java.lang.UnsupportedOperationException", message)
        }
        error @ QueryError::Limit(_) => ApiError::limit_exceeded(error.to_string()),
        error @ QueryError::Arithmetic(_) => {
            ApiError::gremlin("java.lang.ArithmeticException", error.to_string())
        }
        error @ QueryError::Unsupported(_) => ApiError::not_supported(error.to_string()),
        error => ApiError::illegal_argument(error.to_string()),
    };
    refused.with_code(code)
}
