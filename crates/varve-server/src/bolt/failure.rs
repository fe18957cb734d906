//! Failures in Bolt's form.

use varve_bolt::response::Failure as BoltFailure;
use varve_session::Failure;
use varve_view::ErrorKind;

use crate::errors::without_folders;

/// The failure with Neo4j's code, by which drivers decide whether to try again. The message begins
/// with the stable code.
pub(super) fn of(failure: &Failure) -> BoltFailure {
    let code = code(failure.kind);
    let text = match code.starts_with("Neo.DatabaseError.") {
        true => without_folders(&failure.message),
        false => failure.message.as_str().into(),
    };
    BoltFailure::new(code, format!("{}: {text}", failure.kind.code()))
}

const fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Unauthenticated => "Neo.ClientError.Security.Unauthorized",
        ErrorKind::Throttled => "Neo.ClientError.Security.AuthenticationRateLimit",
        ErrorKind::Denied => "Neo.ClientError.Security.Forbidden",
        ErrorKind::NotFound => "Neo.ClientError.Database.DatabaseNotFound",
        ErrorKind::Elsewhere => "Neo.ClientError.Cluster.NotALeader",
        ErrorKind::NotSupported => "Neo.ClientError.Statement.SyntaxError",
        ErrorKind::Existed | ErrorKind::Unique | ErrorKind::NotAllowed => {
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
