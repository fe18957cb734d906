//! Failures in HugeGraph's form.

use http::StatusCode;
use varve_graph::{ErrorKind, GraphError};
use varve_session::Failure;

use super::ApiError;

/// `Retry-After` for an overloaded engine.
const RETRY_AFTER_SECONDS: u32 = 1;

impl From<GraphError> for ApiError {
    #[track_caller]
    fn from(error: GraphError) -> Self {
        Failure::from(error).into()
    }
}

impl ApiError {
    /// The kind of failure that has this error's code.
    pub(crate) fn kind(&self) -> ErrorKind {
        let mut kinds = ErrorKind::ALL.into_iter();
        let known = kinds.find(|kind| kind.code() == self.code());
        known.unwrap_or(ErrorKind::Internal)
    }
}

impl From<Failure> for ApiError {
    /// [`ErrorKind::NotFound`] becomes 404, so it must be about an object in the path; a handler
    /// that looks up a name from a body returns 400 itself.
    #[track_caller]
    fn from(error: Failure) -> Self {
        let retry_after = error.retry_after_seconds.unwrap_or(RETRY_AFTER_SECONDS);
        let cause = error.source.as_ref().map(ToString::to_string);
        let (message, code) = (error.message, error.kind.code());
        let answer = match error.kind {
            ErrorKind::InvalidArgument | ErrorKind::Unique | ErrorKind::Constraint => {
                Self::illegal_argument(message)
            }
            ErrorKind::Existed => Self::existed(message),
            ErrorKind::NotAllowed => Self::not_allowed_change(message),
            ErrorKind::NoIndex => Self::no_index(message),
            ErrorKind::NotSupported => Self::not_supported(message),
            ErrorKind::NotFound => Self::not_found(message),
            ErrorKind::LimitExceeded => Self::limit_exceeded(message),
            ErrorKind::TooLarge => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "jakarta.ws.rs.ClientErrorException",
                message,
            ),
            ErrorKind::IllegalState => Self::bad_request(message),
            ErrorKind::BadPage => Self::backend(message),
            ErrorKind::Denied => Self::forbidden(message),
            ErrorKind::Busy | ErrorKind::Conflict => Self::unavailable(message, retry_after),
            ErrorKind::OutcomeUnknown => Self::outcome_unknown_as(message),
            ErrorKind::Unwritable => Self::insufficient_storage(message),
            ErrorKind::Elsewhere => Self::misdirected(message),
            ErrorKind::Tombstones | ErrorKind::Storage => Self::storage(message),
            ErrorKind::Unauthenticated => Self::not_authorized(message),
            ErrorKind::Throttled => Self::too_many_requests(message, retry_after),
            ErrorKind::Cancelled => Self::cancelled(message),
            ErrorKind::Internal => Self::internal(message),
        }
        .with_code(code);
        match cause {
            // The answer's cause is its code.
            Some(_) if error.kind == ErrorKind::OutcomeUnknown => answer,
            Some(cause) => answer.with_cause(cause),
            None => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_has_its_code_as_cause_whatever_is_below() {
        let below = varve_kv::KvError::OutcomeUnknown {
            space: "s".to_owned(),
            detail: "the server ended".to_owned(),
        };
        let answer = ApiError::from(GraphError::from(below)).to_response(false);
        assert_eq!(answer.status, 503);
        let pieces: Vec<_> = answer.body.pieces().cloned().collect();
        let body = String::from_utf8(pieces.concat()).expect("text");
        assert!(body.contains(r#""cause":"VRV-OUTCOME-UNKNOWN""#), "{body}");
    }

    #[test]
    fn kinds_have_their_status_and_class() {
        let check = |kind, status: u16, class: &str| {
            let error = ApiError::from(GraphError::new(kind, "why"));
            assert_eq!((error.status().as_u16(), error.message()), (status, "why"));
            assert!(
                error.exception().ends_with(class),
                "{kind:?} {}",
                error.exception()
            );
        };
        check(
            ErrorKind::InvalidArgument,
            400,
            "java.lang.IllegalArgumentException",
        );
        check(
            ErrorKind::NotFound,
            404,
            "hugegraph.exception.NotFoundException",
        );
        check(
            ErrorKind::BadPage,
            400,
            "hugegraph.backend.BackendException",
        );
        for kind in [ErrorKind::Busy, ErrorKind::Conflict] {
            check(kind, 503, "jakarta.ws.rs.ServiceUnavailableException");
        }
        check(
            ErrorKind::OutcomeUnknown,
            503,
            "jakarta.ws.rs.ServiceUnavailableException",
        );
        check(
            ErrorKind::Unwritable,
            507,
            "hugegraph.backend.BackendException",
        );
        // Not retryable: the state lasts for days.
        check(
            ErrorKind::Tombstones,
            500,
            "hugegraph.backend.BackendException",
        );
        check(
            ErrorKind::Storage,
            500,
            "hugegraph.backend.BackendException",
        );
    }
}
