//! Failures in Bolt's form.

use varve_bolt::response::Failure as BoltFailure;
use varve_cypher::ErrorClass;
use varve_session::Failure;

use crate::cypher::{neo4j_code, statement_error};
use crate::errors::without_folders;

/// The failure with Neo4j's code, by which drivers decide whether to try again. The message begins
/// with the stable code; that of a wrong statement with the TCK's names of the error.
pub(super) fn of(failure: &Failure) -> BoltFailure {
    let code = neo4j_code(failure);
    if let Some(error) = statement_error(failure) {
        let bolt = BoltFailure::new(code, failure.message.clone());
        return match error.class {
            ErrorClass::SyntaxError => bolt.with_status(
                "42001",
                "error: syntax error or access rule violation - invalid syntax",
            ),
            _ => bolt,
        };
    }
    let text = match code.starts_with("Neo.DatabaseError.") {
        true => without_folders(&failure.message),
        false => failure.message.as_str().into(),
    };
    BoltFailure::new(code, format!("{}: {text}", failure.kind.code()))
}
