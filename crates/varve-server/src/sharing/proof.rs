//! Requests of servers of a cluster to each other, and the proof that they come from one.

use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri};

use super::FORWARDED;
use crate::respond::Body;

/// The header that proves that a request, or its answer, comes from a server of the cluster.
pub(super) const PROOF: HeaderName = HeaderName::from_static("x-varve-cluster-proof");

/// The proof in these headers; empty if there is none.
pub(super) fn proof_in(headers: &HeaderMap) -> &str {
    let proof = headers.get(PROOF);
    proof.and_then(|proof| proof.to_str().ok()).unwrap_or("")
}

/// A request to another server of the cluster.
pub(super) fn request(
    path: &'static str,
    proof: Option<&HeaderValue>,
    body: Vec<u8>,
) -> Request<Body> {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static(path);
    let headers = request.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.extend(proof.map(|proof| (PROOF, proof.clone())));
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    // Every server accepts this host, whatever its name.
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    request
}
