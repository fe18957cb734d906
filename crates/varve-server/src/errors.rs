//! Errors as HugeGraph's clients know them: `{"exception":"class …","message":…,"cause":…}` and a
//! status. The member `code` is Varve's own.
//!
//! This is the only place that knows which Java class name goes with which status.

mod failure;

use std::borrow::Cow;
use std::panic::Location;

use http::StatusCode;

use crate::json::JsonWriter;

/// An error as a client sees it.
#[derive(Debug)]
pub struct ApiError {
    detail: Box<Detail>,
}

#[derive(Debug)]
struct Detail {
    status: StatusCode,
    exception: Cow<'static, str>,
    message: Cow<'static, str>,
    cause: String,
    code: &'static str,
    form: Form,
    retry_after_seconds: Option<u32>,
    close: bool,
    by_design: bool,
    origin: &'static Location<'static>,
}

/// How the body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The JSON object that the module describes.
    Object,
    /// The object of a script's error: the class has no prefix, and the cause repeats it.
    Script,
}

/// The code of [`ApiError::outcome_unknown`], which is in `cause`, too.
pub const OUTCOME_UNKNOWN: &str = "VRV-OUTCOME-UNKNOWN";

/// The code of [`ApiError::cancelled`], which is in `cause`, too.
const CANCELLED: &str = "VRV-CANCELLED";

/// The code of a status, for errors without a more exact one.
const fn code_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "VRV-UNAUTHENTICATED",
        403 => "VRV-DENIED",
        404 => "VRV-NOT-FOUND",
        405 => "VRV-METHOD",
        406 => "VRV-NOT-ACCEPTABLE",
        408 => "VRV-BODY-TIMEOUT",
        413 | 414 | 431 => "VRV-TOO-LARGE",
        415 => "VRV-MEDIA-TYPE",
        421 => "VRV-ELSEWHERE",
        429 => "VRV-TOO-MANY-REQUESTS",
        503 => "VRV-BUSY",
        507 => "VRV-UNWRITABLE",
        500.. => "VRV-INTERNAL",
        _ => "VRV-ARG",
    }
}

impl ApiError {
    /// Any status and Java class name, for cases that have no constructor of their own.
    #[track_caller]
    pub fn new(
        status: StatusCode,
        exception: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            detail: Box::new(Detail {
                status,
                exception: exception.into(),
                message: message.into(),
                cause: String::new(),
                code: code_of(status),
                form: Form::Object,
                retry_after_seconds: None,
                close: false,
                by_design: false,
                origin: Location::caller(),
            }),
        }
    }

    /// 400 `IllegalArgumentException`: a bad argument, an undefined name in a body or query, a
    /// failed validation.
    #[track_caller]
    pub fn illegal_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "java.lang.IllegalArgumentException",
            message,
        )
    }

    /// 400 with the exception that a Gremlin script ended with, by its Java or Groovy name.
    #[track_caller]
    pub fn gremlin(
        exception: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(StatusCode::BAD_REQUEST, exception, message)
            .with_code("VRV-QUERY")
            .of_script()
    }

    /// 400 `ExistedException`: a schema element exists already.
    #[track_caller]
    pub fn existed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::BAD_REQUEST,
            "exception.ExistedException",
            message,
        )
        .with_code("VRV-EXISTED")
    }

    /// 400 `NotAllowException`: the change is not allowed.
    #[track_caller]
    pub fn not_allowed_change(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::BAD_REQUEST,
            "exception.NotAllowException",
            message,
        )
        .with_code("VRV-NOT-ALLOWED")
    }

    /// 400 `NoIndexException`: a query that no index can answer.
    #[track_caller]
    pub fn no_index(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::BAD_REQUEST,
            "exception.NoIndexException",
            message,
        )
        .with_code("VRV-NO-INDEX")
    }

    /// 400 `NotSupportException`: a predicate or a feature that is unknown.
    #[track_caller]
    pub fn not_supported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::BAD_REQUEST,
            "exception.NotSupportException",
            message,
        )
        .with_code("VRV-NOT-SUPPORTED")
    }

    /// 400 `LimitExceedException`: a named limit of a query was reached.
    #[track_caller]
    pub fn limit_exceeded(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::BAD_REQUEST,
            "exception.LimitExceedException",
            message,
        )
        .with_code("VRV-LIMIT")
    }

    /// 400 `HugeException`: other limits and failures that HugeGraph reports with its base class.
    #[track_caller]
    pub fn huge(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(StatusCode::BAD_REQUEST, "HugeException", message)
    }

    /// 400 `BackendException`: a bad page token, or a failure of the store that the request caused.
    #[track_caller]
    pub fn backend(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(StatusCode::BAD_REQUEST, "backend.BackendException", message)
            .with_code("VRV-PAGE")
    }

    /// 404 `NotFoundException` of HugeGraph: a schema element, vertex, edge, task or graph named in
    /// the path is unknown.
    #[track_caller]
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::NOT_FOUND,
            "exception.NotFoundException",
            message,
        )
    }

    /// 404 `jakarta.ws.rs.NotFoundException`: an unknown variable or algorithm.
    #[track_caller]
    pub fn resource_not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "jakarta.ws.rs.NotFoundException",
            message,
        )
    }

    /// 404: no resource has this path.
    #[track_caller]
    pub fn unknown_path() -> Self {
        Self::resource_not_found("HTTP 404 Not Found")
    }

    /// 404: the path belongs to a part of HugeGraph's API that is not supported yet.
    #[track_caller]
    pub(crate) fn not_there_yet(part: &str) -> Self {
        Self::resource_not_found(format!(
            "Not supported yet: {part}. GET /apis lists the supported resources"
        ))
    }

    /// 405: the path exists, the verb does not.
    #[track_caller]
    pub fn wrong_verb() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "jakarta.ws.rs.NotAllowedException",
            "HTTP 405 Method Not Allowed",
        )
    }

    /// 406: the client accepts nothing that this resource produces.
    #[track_caller]
    pub fn not_acceptable() -> Self {
        Self::new(
            StatusCode::NOT_ACCEPTABLE,
            "jakarta.ws.rs.NotAcceptableException",
            "HTTP 406 Not Acceptable",
        )
    }

    /// 415: the body's type or encoding is not understood.
    #[track_caller]
    pub fn unsupported_media_type() -> Self {
        Self::unsupported("HTTP 415 Unsupported Media Type")
    }

    /// 415 "Not support action 'foo'": an unknown `action=` value.
    #[track_caller]
    pub fn unknown_action(action: &str) -> Self {
        Self::unsupported(format!("Not support action '{action}'"))
    }

    #[track_caller]
    fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "jakarta.ws.rs.NotSupportedException",
            message,
        )
    }

    /// 400 `jakarta.ws.rs.BadRequestException`: a malformed path, header, or a request out of
    /// order.
    #[track_caller]
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "jakarta.ws.rs.BadRequestException",
            message,
        )
    }

    /// 401: missing or wrong credentials.
    #[track_caller]
    pub fn not_authorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "jakarta.ws.rs.NotAuthorizedException",
            message,
        )
    }

    /// 403: the client is known, but may not do this.
    #[track_caller]
    pub fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "jakarta.ws.rs.ForbiddenException",
            message,
        )
    }

    /// 429 with `Retry-After`: too many failed logins or requests of this client.
    #[track_caller]
    pub fn too_many_requests(
        message: impl Into<Cow<'static, str>>,
        retry_after_seconds: u32,
    ) -> Self {
        let exception = "jakarta.ws.rs.ClientErrorException";
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, exception, message);
        error.detail.retry_after_seconds = Some(retry_after_seconds);
        error
    }

    /// 408: the body came too slowly. The connection is closed.
    #[track_caller]
    pub fn request_timeout(message: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::REQUEST_TIMEOUT;
        Self::new(status, "jakarta.ws.rs.ClientErrorException", message).closing()
    }

    /// 413: the body is over its limit (in bytes). The connection is closed.
    #[track_caller]
    pub fn body_too_large(limit_bytes: usize) -> Self {
        let message = format!("The request body is larger than the limit of {limit_bytes} bytes");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        Self::new(status, "jakarta.ws.rs.ClientErrorException", message).closing()
    }

    /// 503 with `Retry-After`: too busy, or the time for a request ran out.
    #[track_caller]
    pub fn unavailable(message: impl Into<Cow<'static, str>>, retry_after_seconds: u32) -> Self {
        let exception = "jakarta.ws.rs.ServiceUnavailableException";
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, exception, message);
        error.detail.retry_after_seconds = Some(retry_after_seconds);
        error
    }

    /// 421: another server leads the graph; nothing happened here.
    #[track_caller]
    pub fn misdirected(message: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::MISDIRECTED_REQUEST;
        Self::new(status, "jakarta.ws.rs.ClientErrorException", message)
    }

    /// 503 without `Retry-After`: the server that led the graph was lost during the write, or did
    /// not answer in time. Whether the write is stored is unknown.
    #[track_caller]
    pub fn outcome_unknown() -> Self {
        let message = "The server that led the graph was lost while it carried out this request, or did not answer in \
                       time: whether it is stored is unknown. Read what it was to change before sending it again";
        Self::outcome_unknown_as(message)
    }

    /// The same for another reason, which the message names.
    #[track_caller]
    pub fn outcome_unknown_as(message: impl Into<Cow<'static, str>>) -> Self {
        let exception = "jakarta.ws.rs.ServiceUnavailableException";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, exception, message)
            .with_cause(OUTCOME_UNKNOWN)
            .with_code(OUTCOME_UNKNOWN)
    }

    /// 503 without `Retry-After`: a client has cancelled the query.
    #[track_caller]
    pub(crate) fn cancelled(message: impl Into<Cow<'static, str>>) -> Self {
        let exception = "jakarta.ws.rs.ServiceUnavailableException";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, exception, message)
            .with_cause(CANCELLED)
            .with_code(CANCELLED)
            .by_design()
    }

    /// 507: the disk is full, or may be: writes are refused, reads go on.
    #[track_caller]
    pub fn insufficient_storage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(
            StatusCode::INSUFFICIENT_STORAGE,
            "backend.BackendException",
            message,
        )
    }

    /// 500 `BackendException`: the store failed or holds damaged data.
    #[track_caller]
    pub fn storage(message: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::hugegraph(status, "backend.BackendException", message).with_code("VRV-STORAGE")
    }

    /// 500: a defect of the server, or a failure of the system below it.
    #[track_caller]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::hugegraph(StatusCode::INTERNAL_SERVER_ERROR, "HugeException", message)
    }

    /// 400: the body is not JSON, or not of the wanted shape.
    #[track_caller]
    pub fn malformed_json(message: impl Into<Cow<'static, str>>) -> Self {
        let exception = "com.fasterxml.jackson.core.JsonProcessingException";
        Self::new(StatusCode::BAD_REQUEST, exception, message).with_code("VRV-JSON")
    }

    #[track_caller]
    fn hugegraph(status: StatusCode, class: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, format!("org.apache.hugegraph.{class}"), message)
    }

    /// Adds the text of the cause.
    #[must_use]
    pub fn with_cause(mut self, cause: impl ToString) -> Self {
        self.detail.cause = cause.to_string();
        self
    }

    /// Sets the stable code (`VRV-…`).
    #[must_use]
    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.detail.code = code;
        self
    }

    /// Writes the error as `/gremlin` does: the class without a prefix, and again as the cause.
    #[must_use]
    pub(crate) fn of_script(mut self) -> Self {
        self.detail.form = Form::Script;
        self
    }

    /// Closes the connection after this answer.
    #[must_use]
    pub(crate) fn closing(mut self) -> Self {
        self.detail.close = true;
        self
    }

    /// Marks the answer as expected by clients, whatever its status: it is not logged.
    #[must_use]
    pub(crate) fn by_design(mut self) -> Self {
        self.detail.by_design = true;
        self
    }

    /// The stable code (`VRV-…`).
    pub(crate) fn code(&self) -> &'static str {
        self.detail.code
    }

    /// The text of the cause, if there is one.
    pub(crate) fn cause(&self) -> Option<&str> {
        let cause = self.detail.cause.as_str();
        (!cause.is_empty()).then_some(cause)
    }

    /// The stable code, if the error is one that other servers do not have.
    pub(crate) fn own_code(&self) -> Option<&str> {
        let cause = self.detail.cause.as_str();
        cause.starts_with("VRV-").then_some(cause)
    }

    /// Whether the outcome of the request's write is unknown.
    pub(crate) fn is_outcome_unknown(&self) -> bool {
        self.detail.cause == OUTCOME_UNKNOWN
    }

    pub(crate) fn is_by_design(&self) -> bool {
        self.detail.by_design
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.detail.status
    }

    /// The message, with the folders of paths.
    pub fn message(&self) -> &str {
        &self.detail.message
    }

    /// The message with folders removed, if it is a server error.
    pub(crate) fn client_text(&self) -> Cow<'_, str> {
        client_text(&self.detail, &self.detail.message)
    }

    /// The Java class name, without the prefix `class `.
    pub fn exception(&self) -> &str {
        &self.detail.exception
    }

    /// The seconds of `Retry-After`, if the client should send the request again.
    pub(crate) fn retry_after_seconds(&self) -> Option<u32> {
        self.detail.retry_after_seconds
    }

    /// Whether the connection is closed after the answer.
    pub(crate) fn is_closing(&self) -> bool {
        self.detail.close
    }

    /// The body of the answer. With `trace`, it names the line of the source that raised the error.
    pub(crate) fn body(&self, trace: bool) -> Vec<u8> {
        error_object(&self.detail, trace)
    }
}

/// A text of an error for clients. Server errors lose the folders of paths; other errors quote the
/// request, whose words may look like paths.
fn client_text<'t>(detail: &Detail, text: &'t str) -> Cow<'t, str> {
    match detail.status.is_server_error() {
        true => without_folders(text),
        false => Cow::Borrowed(text),
    }
}

fn error_object(detail: &Detail, trace: bool) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(128 + detail.message.len());
    json.begin_object();
    let is_script = detail.form == Form::Script;
    json.key("exception");
    match is_script {
        true => json.string(&detail.exception),
        false => json.string_parts(&["class ", &detail.exception]),
    };
    json.key("message")
        .string(&client_text(detail, &detail.message));
    json.key("cause");
    match is_script && detail.cause.is_empty() && !detail.exception.is_empty() {
        true => json.string_parts(&["[", &detail.exception, "]"]),
        false => json.string(&client_text(detail, &detail.cause)),
    };
    json.key("code").string(detail.code);
    if trace {
        json.key("trace").begin_array();
        json.string(&detail.origin.to_string());
        json.end_array();
    }
    json.end_object();
    json.finish()
}

/// Reduces each absolute path in a text to its last part: clients learn the name of a file, but not
/// where the server stores it.
pub(crate) fn without_folders(text: &str) -> Cow<'_, str> {
    let is_boundary =
        |character: char| character.is_whitespace() || "\"'`()[]{}<>,;=".contains(character);
    if !text.contains('/') {
        return Cow::Borrowed(text);
    }
    let mut short = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_boundary) {
        let word = piece.trim_end_matches(is_boundary);
        let name = match word.starts_with('/') {
            true => word.trim_end_matches(['/', ':', '.']).rsplit('/').next(),
            false => None,
        };
        match name {
            Some(name) => {
                short.push_str(name);
                short.push_str(&piece[word.trim_end_matches(['/', ':', '.']).len()..]);
            }
            None => short.push_str(piece),
        }
    }
    Cow::Owned(short)
}

impl From<serde_json::Error> for ApiError {
    /// An error for a body that is not JSON or has the wrong shape, worded like Jackson where
    /// clients look for the words.
    #[track_caller]
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // The reader of an array puts the number of the element first.
        let (element, wrong) = match text.split_once(": ") {
            Some((element, wrong)) if element.starts_with("element ") => (Some(element), wrong),
            _ => (None, text.as_str()),
        };
        let text = match wrong
            .strip_prefix("unknown field `")
            .and_then(|rest| rest.split_once('`'))
        {
            Some((field, rest)) => {
                let of = element.map_or_else(String::new, |element| format!(" of {element}"));
                format!("Unrecognized field \"{field}\"{of}, not marked as ignorable{rest}")
            }
            None => text,
        };
        Self::malformed_json(text)
    }
}

#[cfg(test)]
mod tests;
