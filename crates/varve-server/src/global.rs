//! Resources about the server itself, not about one graph.

use http::{HeaderValue, StatusCode, Uri, header};

use crate::errors::HandlerResult;
use crate::request::RequestContext;
use crate::respond::{ContentType, Response};
use crate::route::{Class, Handler, Route};

/// The version of HugeGraph's server whose paths and answers are spoken. Clients choose their path style by it.
pub const CORE_VERSION: &str = "1.7.0";
/// The version of TinkerPop's Gremlin.
pub const GREMLIN_VERSION: &str = "3.5.1";
/// The version of HugeGraph's REST API. Clients refuse to start outside 0.38 to 0.81.
pub const API_VERSION: &str = "0.71.0.0";

/// The routes of this room.
pub(crate) static ROUTES: &[Route] = &[Route::get("versions", Handler::Inline(versions))
    .of("profile", "VersionAPI")
    .class(Class::Control)];

fn versions(_: &RequestContext) -> HandlerResult {
    let body = format!(
        r#"{{"versions":{{"version":"v1","core":"{CORE_VERSION}","gremlin":"{GREMLIN_VERSION}","api":"{API_VERSION}"}}}}"#
    );
    Ok(Response::ok(body))
}

/// The answer to OPTIONS: the verbs in `Allow`, and as little WADL as is valid.
pub(crate) fn wadl(uri: &Uri, allow: &str) -> Response {
    let methods: String = allow
        .split(',')
        .filter(|verb| !matches!(*verb, "OPTIONS" | "HEAD"))
        .map(|verb| format!("<method name=\"{verb}\"/>"))
        .collect();
    let path = uri
        .path()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\
         <application xmlns=\"http://wadl.dev.java.net/2009/02\"><resources base=\"/\">\
         <resource path=\"{path}\">{methods}</resource></resources></application>"
    );
    let response = Response::new(StatusCode::OK, ContentType::Wadl, body);
    match HeaderValue::from_str(allow) {
        Ok(value) => response.header(header::ALLOW, value),
        Err(_) => response,
    }
}
