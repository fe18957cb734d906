//! The headers of requests and answers between servers.

use http::HeaderMap;
use http::header::HeaderName;

/// Marks a request that another server has forwarded: it is not forwarded again.
pub(crate) const FORWARDED: HeaderName = HeaderName::from_static("x-varve-forwarded");

/// Whether a header is about one connection, and so is not forwarded.
fn is_of_connection(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "expect"
            | "content-length"
    )
}

/// The headers that are forwarded.
pub(super) fn forwarded_headers(headers: &HeaderMap) -> HeaderMap {
    headers
        .iter()
        .filter(|(name, _)| !is_of_connection(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
