//! An answer before it is put on the wire.

mod body;
mod content_type;
mod failure;
mod growing;

pub use body::{Body, Cut};
pub use content_type::ContentType;
pub(crate) use growing::Growing;

use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};

use crate::answers::Share;
use crate::errors::ApiError;

/// What handlers return: an answer or an error that knows its status.
pub type HandlerResult = Result<Response, ApiError>;

/// An answer: status, body, and the values that its headers need.
#[derive(Debug)]
pub struct Response {
    pub(crate) status: StatusCode,
    pub(crate) content_type: ContentType,
    pub(crate) body: Body,
    /// Extra headers; empty (and without allocation) for nearly every answer.
    pub(crate) headers: HeaderMap,
    pub(crate) close: bool,
    /// Whether `body` is gzip already.
    pub(crate) gzipped: bool,
    /// Whether this is another server's answer, whose `headers` are complete.
    pub(crate) verbatim: bool,
    /// The share of the budget of answers that it already has.
    pub(crate) share: Option<Share>,
}

impl Response {
    /// Any status, type and body.
    pub fn new(status: StatusCode, content_type: ContentType, body: impl Into<Body>) -> Self {
        Self {
            status,
            content_type,
            body: body.into(),
            headers: HeaderMap::new(),
            close: false,
            gzipped: false,
            verbatim: false,
            share: None,
        }
    }

    /// The answer of another server, passed on unchanged.
    pub(crate) fn verbatim(status: StatusCode, headers: HeaderMap, body: Body) -> Self {
        Self {
            headers,
            verbatim: true,
            ..Self::new(status, ContentType::JsonBare, body)
        }
    }

    /// The same answer, which has this share of the budget of answers.
    #[must_use]
    pub(crate) fn holding(mut self, share: impl Into<Option<Share>>) -> Self {
        self.share = share.into();
        self
    }

    /// JSON bytes with the given status.
    pub fn json(status: StatusCode, body: impl Into<Body>) -> Self {
        Self::new(status, ContentType::Json, body)
    }

    /// 200 with JSON bytes.
    pub fn ok(body: impl Into<Body>) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with JSON bytes.
    pub fn created(body: impl Into<Body>) -> Self {
        Self::json(StatusCode::CREATED, body)
    }

    /// 202 with JSON bytes.
    pub fn accepted(body: impl Into<Body>) -> Self {
        Self::json(StatusCode::ACCEPTED, body)
    }

    /// 204 without a body.
    pub fn no_content() -> Self {
        Self::json(StatusCode::NO_CONTENT, Body::default())
    }

    /// JSON of anything that serialises, for places that are not hot.
    pub fn of<T: serde::Serialize + ?Sized>(status: StatusCode, value: &T) -> Self {
        let mut json = crate::json::JsonWriter::with_capacity(128);
        json.value(value);
        Self::json(status, json.finish())
    }

    /// The same answer with another content type.
    #[must_use]
    pub fn content_type(mut self, content_type: ContentType) -> Self {
        self.content_type = content_type;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Adds `Retry-After`.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Replaces the body with JSON and the status with 200; keeps the rest of the answer.
    #[must_use]
    pub(crate) fn replaced_by(mut self, body: Vec<u8>) -> Self {
        self.status = StatusCode::OK;
        self.content_type = ContentType::JsonBare;
        self.body = body.into();
        self
    }

    /// Closes the connection after this answer.
    #[must_use]
    pub(crate) fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Converts the answer for the connection. Its headers reuse the memory of `headers`, whose
    /// content is dropped: the map of the finished request saves an allocation.
    pub(crate) fn into_http(self, mut headers: HeaderMap) -> http::Response<Body> {
        headers.clear();
        if !self.headers.is_empty() {
            headers.extend(self.headers);
        }
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        let headers = response.headers_mut();
        let is_bare = matches!(
            self.status,
            StatusCode::NO_CONTENT | StatusCode::SWITCHING_PROTOCOLS
        );
        if !is_bare && !self.verbatim {
            let content_type = HeaderValue::from_static(self.content_type.as_str());
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        if self.gzipped {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if self.close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
