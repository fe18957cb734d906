//! Answers without results, with the codes that TinkerPop's drivers know.

use compact_str::CompactString;
use http::StatusCode;
use varve_graphson::{Response, Value};
use varve_gremlin::ParseError;
use varve_query::QueryError;
use varve_view::ViewError;

use super::evaluate::{Failure, not_interpreted};
use crate::errors::ApiError;

/// Part of the results; more follow.
pub(super) const PARTIAL: i32 = 206;
/// All results, or the last of them.
pub(super) const SUCCESS: i32 = 200;
/// There are no results.
pub(super) const NO_CONTENT: i32 = 204;
const UNAUTHORIZED: i32 = 401;
const FORBIDDEN: i32 = 403;
const AUTHENTICATE: i32 = 407;
const MALFORMED: i32 = 498;
const INVALID_ARGUMENTS: i32 = 499;
const SERVER_ERROR: i32 = 500;
const FAIL_STEP: i32 = 595;
const TEMPORARY: i32 = 596;
const EVALUATION: i32 = 597;
const TIMEOUT: i32 = 598;
const SERIALIZATION: i32 = 599;

const FAIL_EXCEPTION: &str =
    "org.apache.tinkerpop.gremlin.process.traversal.step.sideEffect.FailStep$FailException";

/// The response to a request that is done and has no results.
pub(super) const fn nothing(id: Option<u128>) -> Response {
    Response {
        id,
        code: NO_CONTENT,
        message: CompactString::const_new(""),
        attributes: Vec::new(),
        data: Value::Null,
    }
}

/// The response to a request that waits until its client is authenticated.
pub(super) fn challenge(id: Option<u128>) -> Response {
    Response {
        code: AUTHENTICATE,
        ..nothing(id)
    }
}

/// The answer to a message that failed.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
    /// The exception that TinkerPop's server reports in this case.
    pub(super) exception: CompactString,
    /// The stable code (`VRV-…`).
    pub(super) own_code: &'static str,
    fail: bool,
}

/// The request that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Whether it was a script.
    pub(super) is_script: bool,
    pub(super) id: u128,
    /// Its time limit, in milliseconds.
    pub(super) limit_ms: u128,
}

impl Refusal {
    fn new(code: i32, exception: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            exception: CompactString::new(exception),
            own_code: match code {
                UNAUTHORIZED => "VRV-UNAUTHENTICATED",
                EVALUATION | SERIALIZATION => "VRV-QUERY",
                FAIL_STEP => "VRV-QUERY-FAIL",
                TEMPORARY => "VRV-BUSY",
                TIMEOUT => "VRV-TIMEOUT",
                _ => "VRV-ARG",
            },
            fail: false,
        }
    }

    /// The message does not follow the protocol.
    pub(super) fn malformed(message: impl Into<String>) -> Self {
        let exception = "org.apache.tinkerpop.gremlin.server.op.OpProcessorException";
        Self::new(MALFORMED, exception, message)
    }

    /// An argument is missing or invalid.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        let exception = "org.apache.tinkerpop.gremlin.server.op.OpProcessorException";
        Self::new(INVALID_ARGUMENTS, exception, message)
    }

    /// The client is not authenticated.
    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        let exception = "javax.security.sasl.AuthenticationException";
        Self::new(UNAUTHORIZED, exception, message)
    }

    /// The request may be tried again.
    pub(super) fn temporary(message: impl Into<String>) -> Self {
        let exception = "java.lang.IllegalStateException";
        Self::new(TEMPORARY, exception, message)
    }

    /// An alias names no graph.
    pub(super) fn unknown_alias(name: &str, wanted: &str) -> Self {
        Self::invalid(format!(
            "Could not alias [{name}] to [{wanted}] as [{wanted}] not in the Graph or \
             TraversalSource global bindings"
        ))
    }

    /// A text or bytecode is no Gremlin.
    pub(super) fn unreadable(error: &ParseError, is_script: bool) -> Self {
        let exception = error.code.groovy_exception();
        match is_script {
            true => Self::new(EVALUATION, exception, not_interpreted(error)),
            // TinkerPop's server finds this error while it reads the message.
            false => Self::new(SERIALIZATION, exception, error.to_string()),
        }
    }

    /// The time of a request is over.
    pub(super) fn timeout(asked: Asked) -> Self {
        Self::new(
            TIMEOUT,
            "java.util.concurrent.TimeoutException",
            format!(
                "Evaluation exceeded the configured 'evaluationTimeout' threshold of {} ms or \
                 evaluation was otherwise cancelled directly for request [{}]",
                asked.limit_ms,
                varve_model::value::Uuid(asked.id)
            ),
        )
    }

    /// The failure of a request that ran.
    pub(super) fn of(failure: Failure, asked: Asked) -> Self {
        let general = match asked.is_script {
            true => EVALUATION,
            false => SERVER_ERROR,
        };
        match failure {
            Failure::Unreadable(error) => Self::unreadable(&error, asked.is_script),
            Failure::Refused(error) => Self::of_api(&error, general),
            Failure::Query(QueryError::View(ViewError::Deadline | ViewError::Cancelled)) => {
                Self::timeout(asked)
            }
            Failure::Late(limit) => Self::timeout(Asked {
                limit_ms: asked.limit_ms.min(u128::from(limit)),
                ..asked
            }),
            Failure::Query(QueryError::View(ViewError::Store(error))) => {
                Self::of_api(&varve_graph::GraphError::from(*error).into(), general)
            }
            Failure::Query(QueryError::Fail(message)) => Self {
                fail: true,
                ..Self::new(FAIL_STEP, FAIL_EXCEPTION, message)
            },
            Failure::Query(error) => {
                let exception = match &error {
                    QueryError::Script { exception, .. } => exception.as_ref(),
                    QueryError::Unbound(_) => "groovy.lang.MissingPropertyException",
                    QueryError::Cast { .. } => "java.lang.ClassCastException",
                    QueryError::Arithmetic(_) => "java.lang.ArithmeticException",
                    QueryError::Unsupported(_) | QueryError::NotAllowed(_) => {
                        "java.lang.UnsupportedOperationException"
                    }
                    _ => "java.lang.IllegalArgumentException",
                };
                Self {
                    own_code: error.code(),
                    ..Self::new(general, exception, error.to_string())
                }
            }
        }
    }

    /// The failure of a request that the server refused, or could not finish.
    pub(super) fn of_server(error: &ApiError, asked: Asked, is_late: bool) -> Self {
        match is_late && error.status() == StatusCode::SERVICE_UNAVAILABLE {
            true if !error.is_outcome_unknown() => Self::timeout(asked),
            _ => Self::of_api(error, SERVER_ERROR),
        }
    }

    fn of_api(error: &ApiError, general: i32) -> Self {
        let code = match error.status() {
            StatusCode::UNAUTHORIZED => UNAUTHORIZED,
            StatusCode::FORBIDDEN => FORBIDDEN,
            StatusCode::PAYLOAD_TOO_LARGE => INVALID_ARGUMENTS,
            // The outcome is unknown: a second try might apply the change twice.
            StatusCode::SERVICE_UNAVAILABLE if error.is_outcome_unknown() => SERVER_ERROR,
            StatusCode::SERVICE_UNAVAILABLE => TEMPORARY,
            status if status.is_server_error() => SERVER_ERROR,
            _ => general,
        };
        // Drivers have no field for a code of Varve's own, so the message has it.
        let message = match error.own_code() {
            Some(own) => format!("{own}: {}", error.client_text()),
            None => error.client_text().into(),
        };
        Self {
            own_code: error.code(),
            ..Self::new(code, error.exception(), message)
        }
    }

    /// Its HTTP status at TinkerPop's server.
    pub(super) fn http_status(&self) -> StatusCode {
        match self.code {
            UNAUTHORIZED => StatusCode::UNAUTHORIZED,
            FORBIDDEN => StatusCode::FORBIDDEN,
            MALFORMED | INVALID_ARGUMENTS => StatusCode::BAD_REQUEST,
            TEMPORARY => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The status under which it is counted.
    pub(super) fn status(&self) -> StatusCode {
        match self.code {
            UNAUTHORIZED => StatusCode::UNAUTHORIZED,
            FORBIDDEN => StatusCode::FORBIDDEN,
            TEMPORARY | TIMEOUT => StatusCode::SERVICE_UNAVAILABLE,
            SERVER_ERROR => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The response to the request with this id.
    pub(super) fn response(self, id: Option<u128>) -> Response {
        let text = |text: &str| Value::String(CompactString::new(text));
        let key = CompactString::const_new;
        let mut attributes = vec![
            (key("exceptions"), Value::List(vec![text(&self.exception)])),
            (key("stackTrace"), text(&self.message)),
            (key("code"), text(self.own_code)),
        ];
        if self.fail {
            attributes.push((key("failStepMessage"), text(&self.message)));
        }
        Response {
            id,
            code: self.code,
            message: CompactString::from(self.message),
            attributes,
            data: Value::Null,
        }
    }
}
