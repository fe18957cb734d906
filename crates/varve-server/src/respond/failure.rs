//! The answer to a request that failed.

use http::StatusCode;
use http::header::{HeaderValue, WWW_AUTHENTICATE};

use super::{ContentType, Response};
use crate::errors::ApiError;

/// The authentication schemes that a 401 offers (RFC 7617).
const CHALLENGE: &str = "Basic realm=\"varve\", charset=\"UTF-8\"";

impl ApiError {
    /// The answer; with `trace`, it names the line of the source that raised the error.
    pub fn to_response(&self, trace: bool) -> Response {
        let mut response = Response::new(self.status(), ContentType::JsonBare, self.body(trace));
        if let Some(seconds) = self.retry_after_seconds() {
            response = response.retry_after(seconds);
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            response = response.header(WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
        }
        match self.is_closing() {
            true => response.closing(),
            false => response,
        }
    }
}
