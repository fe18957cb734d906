//! What a failed request says about what it was to do.

use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use varve_kv::KvError;

/// How a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was not carried out: no node could be asked, or too few replicas were up.
    NotDone(String),
    /// It was not carried out and never will be: the cluster does not accept it.
    Refused(String),
    /// It may have been carried out, or may be later.
    Unknown(String),
}

impl Failure {
    /// The words, for people.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::NotDone(text) | Self::Refused(text) | Self::Unknown(text) => text,
        }
    }

    /// What it is to whoever reads, or to a write of which nothing is stored.
    pub(crate) fn away(&self, space: &str) -> KvError {
        KvError::Away {
            space: space.to_owned(),
            detail: self.text().to_owned(),
        }
    }
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        let text = error.to_string();
        match &error {
            ExecutionError::EmptyPlan
            | ExecutionError::ConnectionPoolError(_)
            | ExecutionError::PrepareError(_) => Self::NotDone(text),
            ExecutionError::BadQuery(_) => Self::Refused(text),
            ExecutionError::LastAttemptError(attempt) => of_attempt(attempt, text),
            _ => Self::Unknown(text),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        Self::NotDone(error.to_string())
    }
}

fn of_attempt(error: &RequestAttemptError, text: String) -> Failure {
    match error {
        RequestAttemptError::UnableToAllocStreamId => Failure::NotDone(text),
        RequestAttemptError::SerializationError(_)
        | RequestAttemptError::CqlRequestSerialization(_) => Failure::Refused(text),
        RequestAttemptError::DbError(error, _) => match error {
            DbError::Unavailable { .. } | DbError::IsBootstrapping => Failure::NotDone(text),
            DbError::SyntaxError
            | DbError::Invalid
            | DbError::AlreadyExists { .. }
            | DbError::AuthenticationError
            | DbError::Unauthorized
            | DbError::ConfigError => Failure::Refused(text),
            _ => Failure::Unknown(text),
        },
        _ => Failure::Unknown(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: DbError) -> Failure {
        ExecutionError::from(RequestAttemptError::DbError(error, "why".to_owned())).into()
    }

    #[test]
    fn only_what_cannot_have_happened_is_told_as_not_done() {
        assert!(matches!(of(DbError::IsBootstrapping), Failure::NotDone(_)));
        assert!(matches!(of(DbError::Overloaded), Failure::Unknown(_)));
        assert!(matches!(of(DbError::ServerError), Failure::Unknown(_)));
        assert!(matches!(of(DbError::Invalid), Failure::Refused(_)));
        assert!(matches!(
            ExecutionError::EmptyPlan.into(),
            Failure::NotDone(_)
        ));
        let late = ExecutionError::RequestTimeout(std::time::Duration::from_secs(1));
        assert!(matches!(late.into(), Failure::Unknown(_)));
    }
}
