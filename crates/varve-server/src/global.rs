//! Resources about the server itself, not about one graph.

mod metrics;
mod openapi;
mod prometheus;
mod system;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use crate::errors::ApiError;
use crate::json::JsonWriter;
use crate::negotiate;
use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Parameter, Route, Scope};
use crate::router::DEFAULT_GRAPH_SPACE;
use crate::version;

/// The version of HugeGraph's server whose paths and answers this server reproduces. Clients choose
/// their path style by this version.
pub const CORE_VERSION: &str = "1.7.0";
/// The version of TinkerPop's Gremlin.
pub const GREMLIN_VERSION: &str = "3.5.1";
/// The version of HugeGraph's REST API. Clients refuse a server outside 0.38 to 0.81.
pub const API_VERSION: &str = "0.71.0.0";

const TYPE: &[Parameter] = &[Parameter::text("type")];

/// A route of this module. Its requests are small and count against no budget.
const fn control(pattern: &'static str, handler: fn(&RequestContext) -> HandlerResult) -> Route {
    Route::get(pattern, Handler::Inline(handler))
        .reads(Scope::Server)
        .class(Class::Control)
        .needs(Needs::Nothing)
}

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    control("", root)
        .without_graphs()
        .any_accept()
        .of("profile", "ProfileAPI"),
    control("apis", apis)
        .without_graphs()
        .of("profile", "ProfileAPI"),
    control("versions", versions)
        .without_graphs()
        .of("profile", "VersionAPI"),
    control("openapi.json", openapi::get)
        .without_graphs()
        .gzip()
        .of("profile", "OpenApi"),
    control("health", health)
        .without_graphs()
        .of("profile", "HealthAPI"),
    control("exception/trace", get_trace)
        .needs(Needs::Administrator)
        .without_graphs()
        .of("resources", "ExceptionAPI"),
    Route::put("exception/trace", Handler::Inline(put_trace))
        .administers(Scope::Server)
        .without_graphs()
        .of("resources", "ExceptionAPI")
        .class(Class::Control),
    control("graphspaces", graph_spaces)
        .needs(Needs::User)
        .of("space", "GraphSpaceAPI"),
    control("graphspaces/profile", graph_space_profile)
        .needs(Needs::User)
        .of("space", "GraphSpaceAPI")
        .with(&[Parameter::text("prefix")]),
    control("graphspaces/{graphspace}", graph_space)
        .needs(Needs::User)
        .of("space", "GraphSpaceAPI"),
    control("metrics", metrics::all)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI")
        .with(TYPE)
        .text(),
    control("metrics/system", metrics::system)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/backend", metrics::backend)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/gauges", metrics::gauges)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/counters", metrics::counters)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/histograms", metrics::histograms)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/meters", metrics::meters)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/timers", metrics::timers)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI"),
    control("metrics/statistics", metrics::statistics)
        .without_graphs()
        .needs(Needs::Metrics)
        .of("metrics", "MetricsAPI")
        .with(TYPE)
        .text(),
];

/// The versions of the APIs, and Varve's own.
fn versions(_: &RequestContext) -> HandlerResult {
    static BODY: LazyLock<Bytes> = LazyLock::new(|| {
        let (varve, commit) = (version::VERSION, version::commit());
        let body = format!(
            r#"{{"versions":{{"version":"v1","core":"{CORE_VERSION}","gremlin":"{GREMLIN_VERSION}","api":"{API_VERSION}","varve":"{varve}","commit":"{commit}"}}}}"#
        );
        body.into()
    });
    Ok(Response::ok(Bytes::clone(&BODY)))
}

/// Redirects a browser to the explorer. Answers other clients with the address of the documentation
/// and the groups of resources.
fn root(context: &RequestContext) -> HandlerResult {
    if let Some(redirect) = crate::ui::redirect_of(context.headers()) {
        return Ok(redirect);
    }
    let host = context
        .headers()
        .get(header::HOST)
        .and_then(|value| value.to_str().ok());
    let categories: std::collections::BTreeSet<_> = hugegraph_routes(context)
        .map(|route| route.category)
        .collect();
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("service").string("varve");
    json.key("version").string(CORE_VERSION);
    json.key("doc").string("https://hugegraph.apache.org/docs/");
    json.key("api_doc")
        .string("https://hugegraph.apache.org/docs/clients/");
    json.key("swagger_ui")
        .string_parts(&["http://", host.unwrap_or("localhost"), "/openapi.json"]);
    json.key("apis").begin_array();
    for category in categories {
        json.string(category);
    }
    json.end_array();
    if asks_for_json(context.headers()) {
        put_discovery(context, host.unwrap_or("localhost"), &mut json);
    }
    json.end_object();
    Ok(Response::ok(json.finish())
        .content_type(ContentType::JsonBare)
        .header(header::VARY, HeaderValue::from_static("Accept")))
}

/// Whether a client names JSON as what it accepts, as Neo4j's drivers do.
fn asks_for_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    let mut media = negotiate::accepted(accept.unwrap_or_default());
    media.any(|media| media.split(';').next() == Some("application/json"))
}

/// What Neo4j's clients look for at `/`: the version, and the addresses of the Query API and Bolt.
fn put_discovery(context: &RequestContext, host: &str, json: &mut JsonWriter) {
    let config = context.state().config();
    let is_secure = context.state().tls().is_some();
    let (http, plus) = if is_secure {
        ("https", "+s")
    } else {
        ("http", "")
    };
    json.key("neo4j_version").string(version::NEO4J);
    json.key("neo4j_edition").string("community");
    json.key("query")
        .string_parts(&[http, "://", host, "/db/{databaseName}/query/v2"]);
    let port = config.bolt.listen.rsplit_once(':').map(|(_, port)| port);
    // Port 0 is any free one.
    let Some(port) = port.filter(|port| *port != "0") else {
        return;
    };
    let name = match host.rsplit_once(':') {
        Some((name, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    json.key("bolt_direct")
        .string_parts(&["bolt", plus, "://", name, ":", port]);
    json.key("bolt_routing")
        .string_parts(&["neo4j", plus, "://", name, ":", port]);
}

/// The resources that are listed to clients of HugeGraph.
fn hugegraph_routes(context: &RequestContext) -> impl Iterator<Item = &'static Route> {
    let routes = context.state().router().routes().iter().copied();
    routes.filter(|route| route.access.scope != Scope::Metadata)
}

/// Lists all resources with their parameters.
fn apis(context: &RequestContext) -> HandlerResult {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<&Route>>> = BTreeMap::new();
    for route in hugegraph_routes(context) {
        groups
            .entry(route.category)
            .or_default()
            .entry(route.api)
            .or_default()
            .push(route);
    }
    let mut json = JsonWriter::with_capacity(32 * 1024);
    json.begin_object().key("apis").begin_object();
    for (category, classes) in groups {
        json.key(category).begin_object();
        for (class, routes) in classes {
            json.key(class).begin_array();
            for route in routes {
                describe(route, &mut json);
            }
            json.end_array();
        }
        json.end_object();
    }
    json.end_object().end_object();
    Ok(Response::ok(json.finish()).content_type(ContentType::JsonBare))
}

fn describe(route: &Route, json: &mut JsonWriter) {
    json.begin_object();
    json.key("url").string(route.pattern);
    json.key("method").string(route.verb.as_str());
    json.key("parameters").begin_array();
    for parameter in route.parameters {
        json.begin_object();
        json.key("name").string(parameter.name);
        json.key("type").string(parameter.kind);
        json.key("default_value");
        match parameter.default {
            Some(default) => json.string(default),
            None => json.null(),
        };
        json.end_object();
    }
    json.end_array().end_object();
}

/// Answers 200 while the server serves requests. The body has the reasons if some requests fail,
/// and the graphs that cannot be opened. Answers 503 until the graphs are open and once the server
/// stops, so that load balancers choose another server.
fn health(context: &RequestContext) -> HandlerResult {
    if context.state().is_stopping() || context.state().is_waiting() {
        return Ok(Response::json(
            StatusCode::SERVICE_UNAVAILABLE,
            r#"{"status":"DOWN"}"#,
        ));
    }
    let reasons = context
        .state()
        .health()
        .reasons(context.state().writes_done());
    let unopened = context.state().graphs().unopened();
    if reasons.is_empty() && unopened.is_empty() {
        return Ok(Response::ok(r#"{"status":"UP"}"#));
    }
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object().key("status").string("DEGRADED");
    json.key("reasons").begin_array();
    for reason in reasons {
        json.begin_object().key("code").string(reason.code);
        json.key("message").string(&reason.message).end_object();
    }
    // The names of graphs are for clients that may know them.
    if !unopened.is_empty() && context.state().auth().is_some() {
        json.begin_object().key("code").string("unopened");
        json.key("message")
            .string("graphs cannot be opened: see the server's log");
        json.end_object();
    }
    json.end_array();
    if !unopened.is_empty() && context.state().auth().is_none() {
        json.key("graphs").begin_object();
        for (graph, _) in unopened {
            json.key(&graph).string("cannot be opened");
        }
        json.end_object();
    }
    json.end_object();
    Ok(Response::ok(json.finish()))
}

fn trace_answer(on: bool) -> Response {
    Response::ok(if on {
        r#"{"trace":true}"#
    } else {
        r#"{"trace":false}"#
    })
}

fn get_trace(context: &RequestContext) -> HandlerResult {
    Ok(trace_answer(context.state().trace()))
}

fn put_trace(context: &RequestContext) -> HandlerResult {
    let on: bool = context.json()?;
    context.state().set_trace(on);
    Ok(trace_answer(on))
}

fn graph_spaces(_: &RequestContext) -> HandlerResult {
    Ok(Response::ok(format!(
        r#"{{"graphSpaces":["{DEFAULT_GRAPH_SPACE}"]}}"#
    )))
}

fn graph_space(context: &RequestContext) -> HandlerResult {
    match context.path_parameter("graphspace") {
        DEFAULT_GRAPH_SPACE => Ok(Response::ok(default_graph_space())),
        name => Err(ApiError::not_found(format!(
            "Graph space '{name}' does not exist"
        ))),
    }
}

fn graph_space_profile(context: &RequestContext) -> HandlerResult {
    let prefix = context.query()?.get("prefix").unwrap_or("");
    let mut json = JsonWriter::with_capacity(512);
    json.begin_array();
    if DEFAULT_GRAPH_SPACE.starts_with(prefix) {
        json.raw(&default_graph_space());
    }
    json.end_array();
    Ok(Response::ok(json.finish()))
}

/// The only graph space. It has no limits of its own.
fn default_graph_space() -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    json.key("name").string(DEFAULT_GRAPH_SPACE);
    json.key("nickname").string(DEFAULT_GRAPH_SPACE);
    json.key("description").string("The only graph space");
    for unlimited in [
        "cpu_limit",
        "memory_limit",
        "storage_limit",
        "max_graph_number",
        "max_role_number",
    ] {
        json.key(unlimited).integer(i64::from(i32::MAX));
    }
    json.key("auth").boolean(false);
    json.key("configs").begin_object().end_object();
    json.end_object();
    json.finish()
}

/// The answer to OPTIONS: the methods in `Allow`, and a minimal valid WADL document.
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
