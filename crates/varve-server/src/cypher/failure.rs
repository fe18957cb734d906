//! Failures of statements: the session's form, and Neo4j's codes.

use std::fmt;

use varve_cypher::{CypherError, Error, ErrorClass};
use varve_graph::GraphError;
use varve_query::QueryError;
use varve_session::{Failure, Session, work};
use varve_view::ErrorKind;

/// Why a statement failed.
#[derive(Debug)]
pub(crate) enum CypherFailure {
    /// The statement is wrong, or its graph failed.
    Cypher(CypherError),
    /// The rules of transactions refuse it.
    Work(QueryError),
    /// The session refuses it.
    Refused(Failure),
}

/// A failure with Neo4j's code.
#[derive(Debug, Clone)]
pub(crate) struct SchemaError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SchemaError {}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self {
            source: Some(Box::new(error.clone())),
            ..Self::new(ErrorKind::InvalidArgument, error.message)
        }
    }
}

impl From<SchemaError> for CypherFailure {
    fn from(error: SchemaError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<CypherError> for CypherFailure {
    fn from(error: CypherError) -> Self {
        Self::Cypher(error)
    }
}

impl From<QueryError> for CypherFailure {
    fn from(error: QueryError) -> Self {
        Self::Work(error)
    }
}

impl From<Failure> for CypherFailure {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<GraphError> for CypherFailure {
    fn from(error: GraphError) -> Self {
        Self::Refused(error.into())
    }
}

impl CypherFailure {
    /// Whether another commit is the reason, so that the statement may run again.
    pub(crate) fn is_conflict(&self) -> bool {
        match self {
            Self::Cypher(CypherError::View(error)) => error.kind() == Some(ErrorKind::Conflict),
            Self::Cypher(CypherError::Error(_)) => false,
            Self::Work(error) => work::is_conflict(error),
            Self::Refused(failure) => failure.kind == ErrorKind::Conflict,
        }
    }

    /// The failure in the session's form.
    pub(crate) fn of(self, session: &Session) -> Failure {
        of_element(match self {
            Self::Cypher(CypherError::View(error)) => session.failed_read(error),
            Self::Cypher(CypherError::Error(error)) => of_statement(*error),
            Self::Work(error) => session.failed(error),
            Self::Refused(failure) => failure,
        })
    }
}

/// The failure of a statement or a commit on a graph that is there: what is not found is an element
/// of it.
pub(crate) fn of_element(failure: Failure) -> Failure {
    if failure.kind != ErrorKind::NotFound || is_of_statement(&failure) {
        return failure;
    }
    let class = ErrorClass::EntityNotFound;
    let error = Error::run(class, "EntityNotFound", failure.message.clone());
    Failure {
        source: Some(Box::new(error)),
        ..failure
    }
}

/// The failure of a statement that is wrong. [`statement_error`] finds the error in it.
fn of_statement(error: Error) -> Failure {
    let kind = match error.class {
        ErrorClass::NotSupported => ErrorKind::NotSupported,
        _ => ErrorKind::InvalidArgument,
    };
    Failure {
        source: Some(Box::new(error.clone())),
        ..Failure::new(kind, error.to_string())
    }
}

/// The error of a statement that is wrong; `None` for other failures.
pub(crate) fn statement_error(failure: &Failure) -> Option<&Error> {
    failure.source.as_ref()?.downcast_ref()
}

/// The error of a command; `None` for other failures.
fn schema_error(failure: &Failure) -> Option<&SchemaError> {
    failure.source.as_ref()?.downcast_ref()
}

/// Whether the statement itself is the reason.
pub(crate) fn is_of_statement(failure: &Failure) -> bool {
    statement_error(failure).is_some() || schema_error(failure).is_some()
}

/// The error of a statement or a procedure on the database `system` that needs a graph.
pub(super) fn needs_graph(text: &str) -> CypherError {
    let message = format!(
        "Not a recognised system command or procedure. This Cypher command can only be executed \
         in a user database: {text}"
    );
    Error::run(ErrorClass::SemanticError, "NotOnSystem", message).into()
}

/// The failure of a statement that writes where its client said that it only reads.
pub(crate) fn read_only() -> Failure {
    let message = "Writing is not allowed with the access mode READ";
    of_statement(Error::run(ErrorClass::ArgumentError, "AccessMode", message))
}

/// The failure of a request for a transaction that is not open.
pub(super) fn no_transaction(id: &str) -> Failure {
    let message = format!(
        "There is no transaction '{id}' of this client: it has ended, or was open for too long \
         (gremlin.transaction_ms)"
    );
    Failure {
        source: Some(Box::new(Error::run(
            ErrorClass::EntityNotFound,
            "TransactionNotFound",
            message.clone(),
        ))),
        ..Failure::new(ErrorKind::NotFound, message)
    }
}

/// Neo4j's code for an error of a statement.
pub(crate) fn code_of(error: &Error) -> &'static str {
    match error.class {
        ErrorClass::SyntaxError => "Neo.ClientError.Statement.SyntaxError",
        ErrorClass::SemanticError => "Neo.ClientError.Statement.SemanticError",
        ErrorClass::TypeError => "Neo.ClientError.Statement.TypeError",
        ErrorClass::ArgumentError if error.detail == "AccessMode" => {
            "Neo.ClientError.Statement.AccessMode"
        }
        ErrorClass::ArgumentError => "Neo.ClientError.Statement.ArgumentError",
        ErrorClass::ArithmeticError => "Neo.ClientError.Statement.ArithmeticError",
        ErrorClass::EntityNotFound if error.detail == "TransactionNotFound" => {
            "Neo.ClientError.Transaction.TransactionNotFound"
        }
        ErrorClass::EntityNotFound => "Neo.ClientError.Statement.EntityNotFound",
        ErrorClass::PropertyNotFound => "Neo.ClientError.Statement.PropertyNotFound",
        ErrorClass::LabelNotFound => "Neo.ClientError.Statement.LabelNotFound",
        ErrorClass::ParameterMissing => "Neo.ClientError.Statement.ParameterMissing",
        ErrorClass::ProcedureError if error.detail == "ProcedureNotFound" => {
            "Neo.ClientError.Procedure.ProcedureNotFound"
        }
        ErrorClass::ProcedureError => "Neo.ClientError.Procedure.ProcedureCallFailed",
        ErrorClass::ConstraintValidationFailed | ErrorClass::ConstraintVerificationFailed => {
            "Neo.ClientError.Schema.ConstraintValidationFailed"
        }
        ErrorClass::NotSupported => "Neo.ClientError.Statement.UnsupportedOperationError",
    }
}

/// Neo4j's code for a failure, by which drivers decide whether to try again.
pub(crate) fn neo4j_code(failure: &Failure) -> &'static str {
    match (statement_error(failure), schema_error(failure)) {
        (Some(error), _) => code_of(error),
        (None, Some(error)) => error.code,
        (None, None) => code_of_kind(failure.kind),
    }
}

const fn code_of_kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Unauthenticated => "Neo.ClientError.Security.Unauthorized",
        ErrorKind::Throttled => "Neo.ClientError.Security.AuthenticationRateLimit",
        ErrorKind::Denied => "Neo.ClientError.Security.Forbidden",
        ErrorKind::NotFound => "Neo.ClientError.Database.DatabaseNotFound",
        ErrorKind::Elsewhere => "Neo.ClientError.Cluster.NotALeader",
        ErrorKind::NotSupported => "Neo.ClientError.Statement.SyntaxError",
        ErrorKind::Existed | ErrorKind::Unique | ErrorKind::Constraint | ErrorKind::NotAllowed => {
            "Neo.ClientError.Schema.ConstraintValidationFailed"
        }
        ErrorKind::Cancelled => "Neo.ClientError.Transaction.TransactionTerminated",
        ErrorKind::Busy => "Neo.TransientError.General.DatabaseUnavailable",
        ErrorKind::Conflict => "Neo.TransientError.Transaction.Outdated",
        // Drivers must not try again by themselves.
        ErrorKind::OutcomeUnknown => "Neo.DatabaseError.Transaction.TransactionCommitFailed",
        ErrorKind::Unwritable
        | ErrorKind::Tombstones
        | ErrorKind::Storage
        | ErrorKind::Internal => "Neo.DatabaseError.General.UnknownError",
        ErrorKind::InvalidArgument
        | ErrorKind::NoIndex
        | ErrorKind::LimitExceeded
        | ErrorKind::TooLarge
        | ErrorKind::IllegalState
        | ErrorKind::BadPage => "Neo.ClientError.Statement.ArgumentError",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_is_the_graph_or_an_element_of_it() {
        let missing = || Failure::new(ErrorKind::NotFound, "Vertex '7' does not exist");
        let graph = "Neo.ClientError.Database.DatabaseNotFound";
        assert_eq!(neo4j_code(&missing()), graph);
        let element = of_element(missing());
        assert_eq!(
            neo4j_code(&element),
            "Neo.ClientError.Statement.EntityNotFound"
        );
        assert_eq!(element.message, missing().message);
        // A command names its own code.
        let dropped = of_element(Failure {
            source: Some(Box::new(SchemaError {
                code: graph,
                message: String::new(),
            })),
            ..missing()
        });
        assert_eq!(neo4j_code(&dropped), graph);
    }
}
