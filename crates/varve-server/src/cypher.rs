//! Cypher as all doors run it: statements of a session on one graph, with its rights, its limits
//! and its transactions. Each door reads parameters and writes results in its own form.

pub(crate) mod bookmarks;
mod catalogue;
mod commands;
mod counters;
mod databases;
mod engine;
mod failure;
mod hugegraph;
mod json;
mod open;
mod parameters;
mod query_api;
mod rules;
mod run;
pub(crate) mod summary;
mod target;
mod transaction;
mod typed;

pub(crate) use engine::Batch;
pub(crate) use failure::{
    CypherFailure, is_of_statement, neo4j_code, of_element, read_only, statement_error,
};
pub(crate) use open::{OpenTransactions, end_late};
pub(crate) use run::{Ran, Sink, Statement};
pub(crate) use target::Target;
pub(crate) use transaction::{Transaction, check_commit};
pub(crate) use typed::is_typed;

use http::StatusCode;
use query_api::transactions;
use varve_cypher::{CypherError, Graph};
use varve_session::{Action, Failure, audit};
use varve_view::ErrorKind;

use crate::request::RequestContext;
use crate::route::Route;
use crate::state::Features;

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    hugegraph::GET,
    hugegraph::POST,
    query_api::POST,
    transactions::BEGIN,
    transactions::RUN,
    transactions::COMMIT,
    transactions::ROLL_BACK,
];

/// What this module keeps for as long as the server runs.
pub(crate) fn add_to(features: &mut Features) {
    features.add(OpenTransactions::default());
}

/// The copies of a row after which the time is checked.
const COPIES: u64 = 1_024;

/// Writes all copies of a row.
///
/// # Errors
/// When the time is over, and those of `write`.
pub(crate) fn copies(
    count: u64,
    graph: &Graph<'_>,
    mut write: impl FnMut() -> Result<(), CypherFailure>,
) -> Result<(), CypherFailure> {
    for copy in 1..=count {
        if copy.is_multiple_of(COPIES) {
            graph.meter.check().map_err(CypherError::from)?;
        }
        write()?;
    }
    Ok(())
}

/// Runs a statement of a request. A command has a line of its own in the audit trail.
///
/// # Errors
/// Those of `run`.
fn audited(
    context: &RequestContext,
    statement: &Statement,
    run: impl FnOnce() -> Result<Ran, CypherFailure>,
) -> Result<Ran, CypherFailure> {
    let ran = run();
    if matches!(statement.action(), Action::Schema | Action::Administer) {
        let status = match &ran {
            Ok(_) => StatusCode::OK,
            Err(CypherFailure::Refused(failure)) => {
                let status = StatusCode::from_u16(audit::status_of(failure));
                status.unwrap_or(StatusCode::BAD_REQUEST)
            }
            Err(_) => StatusCode::BAD_REQUEST,
        };
        let database = statement.database();
        let graph = database.as_deref().unwrap_or_else(|| context.graph_name());
        context.audit(Some(statement.action()), Some(graph), status);
    }
    ran
}

/// Checks the size of an answer.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] over the limit.
fn check_size(bytes: usize, bytes_max: usize) -> Result<(), CypherFailure> {
    match bytes <= bytes_max {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorKind::LimitExceeded,
            format!(
                "The answer is larger than the limit of {bytes_max} bytes \
                 (server.max_answer_bytes): ask for less"
            ),
        )
        .into()),
    }
}
