//! `/queries`: the running requests that can be cancelled; `/admin/slow`: the last slow requests.
//!
//! Every read and every query is listed while it is in work, unless it is answered in place on its
//! serving thread. Every running job is listed, too. Cancelled work ends at its next check. The
//! request is answered at once, or, if the work may have written, at the end of the work. Users see
//! and cancel their own requests, and jobs by the rules of tasks; an administrator sees and cancels
//! all. Each server lists its own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode, Uri};
use parking_lot::Mutex;
use varve_auth::Principal;
use varve_graph::tasks::{Task, TaskId, TaskQuery, TaskStatus, TaskType};
use varve_model::Instant as WallInstant;
use varve_model::time::{Clock as _, SystemClock};
use varve_session::Identity;
use varve_session::budget::running::{Listing, Running, Shown};

use crate::errors::ApiError;
use crate::hugegraph::Sight;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights::{self, Needs};
use crate::route::{Class, Handler, Route, Scope};
use crate::router::RouteMatch;
use crate::state::AppState;
use crate::wire::time::instant_text;

/// Characters of a query that are shown.
const TEXT_MAX: usize = 1_000;
/// A name that a client gives to a request, so that it can cancel it.
const TAG: HeaderName = HeaderName::from_static("varve-query-tag");
/// The longest tag, in bytes.
const TAG_BYTES_MAX: usize = 64;
/// Slow requests that are remembered.
const SLOW_MAX: usize = 200;
/// The largest body that is parsed for its script, in bytes; of a larger one the start is shown.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// The prefix of a task's id in the list.
const TASK: &str = "task:";

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    Route::get("queries", Handler::Inline(list))
        .reads(Scope::Server)
        .needs(Needs::User)
        .of("queries", "QueriesAPI")
        .class(Class::Control),
    Route::delete("queries/{id}", Handler::Inline(cancel))
        .writes(Scope::Server)
        .needs(Needs::User)
        .of("queries", "QueriesAPI")
        .class(Class::Control),
    Route::get("admin/slow", Handler::Inline(slow))
        .reads(Scope::Administration)
        .of("admin", "AdminAPI")
        .class(Class::Control),
];

fn write_running(running: &Running, json: &mut JsonWriter) {
    json.begin_object();
    json.key("id").string(&running.id.to_string());
    json.key("kind").string(running.listing.kind);
    write_who(
        json,
        running.listing.graph.as_deref(),
        running.user.as_deref(),
    );
    json.key("method").string(running.listing.shown.method());
    json.key("path").string(running.listing.shown.path());
    optional(json, "text", text_of(running).as_deref());
    write_instant(json, "started_at", running.at);
    json.key("elapsed_ms")
        .unsigned(millis(running.began.elapsed()));
    optional(json, "tag", running.listing.tag.as_deref());
    json.end_object();
}

/// The beginning of the query's text.
fn text_of(running: &Running) -> Option<String> {
    let text = running.listing.shown.text()?;
    Some(text.chars().take(TEXT_MAX).collect())
}

/// A request over HTTP.
#[derive(Debug)]
struct HttpRequest {
    method: Method,
    uri: Uri,
    body: Bytes,
}

impl Shown for HttpRequest {
    fn method(&self) -> &str {
        self.method.as_str()
    }

    fn path(&self) -> &str {
        self.uri.path()
    }

    /// The script of a body that has one, else the body or the parameters.
    fn text(&self) -> Option<String> {
        let script = || {
            if self.body.len() > BODY_BYTES_MAX {
                return None;
            }
            let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
            Some(body.get("gremlin")?.as_str()?.to_owned())
        };
        let beginning = self.body.get(..self.body.len().min(BODY_BYTES_MAX))?;
        Some(match self.body.is_empty() {
            true => self.uri.query()?.to_owned(),
            false => script().unwrap_or_else(|| String::from_utf8_lossy(beginning).into_owned()),
        })
    }
}

/// The entry of a request in the list of running work.
pub(crate) fn listing(context: &RequestContext) -> Listing {
    let tag = context.headers().get(TAG);
    let tag = tag
        .and_then(|tag| tag.to_str().ok())
        .filter(|tag| is_tag(tag));
    Listing {
        kind: context.route().category,
        graph: context.graph_in_path().map(str::to_owned),
        tag: tag.map(str::to_owned),
        shown: Box::new(HttpRequest {
            method: context.method().clone(),
            uri: context.uri().clone(),
            body: context.body().clone(),
        }),
    }
}

fn is_tag(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=TAG_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_part)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn optional(json: &mut JsonWriter, name: &str, text: Option<&str>) {
    json.key(name);
    match text {
        Some(text) => json.string(text),
        None => json.null(),
    };
}

fn write_instant(json: &mut JsonWriter, name: &str, at: WallInstant) {
    optional(json, name, instant_text(at).as_deref());
}

fn write_who(json: &mut JsonWriter, graph: Option<&str>, user: Option<&Principal>) {
    optional(json, "graph", graph);
    optional(json, "user", user.map(|user| user.name.as_str()));
}

fn list(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    let mut json = JsonWriter::with_capacity(1_024);
    json.begin_object().key("queries").begin_array();
    for running in state.database().running.seen_by(context.identity()) {
        write_running(&running, &mut json);
    }
    for name in state.graphs().names() {
        write_jobs(state, context.identity(), &name, &mut json);
    }
    json.end_array().end_object();
    Ok(Response::ok(json.finish()))
}

/// Writes the running jobs of a graph that the client may see as tasks, if the graph is open here.
fn write_jobs(state: &AppState, identity: &Identity, name: &str, json: &mut JsonWriter) {
    if identity.check(name, rights::TASKS_READ).is_err() {
        return;
    }
    let Ok(graph) = state.graphs().get(name) else {
        return;
    };
    let sight = Sight::of(identity, name);
    let is_seen = |task: &Task| job_kind(task.task_type).is_some() && sight.shows(task);
    let running = TaskQuery {
        status: Some(TaskStatus::Running),
        ..TaskQuery::default()
    };
    let Ok(page) = graph.tasks().list_those(running, &is_seen) else {
        return;
    };
    for task in page.tasks {
        let began = WallInstant::from_millis(task.update);
        let elapsed = SystemClock.now().millis().saturating_sub(task.update);
        json.begin_object();
        json.key("id")
            .string(&format!("{TASK}{name}:{}", task.id.0));
        json.key("kind")
            .string(job_kind(task.task_type).unwrap_or_default());
        write_who(json, Some(name), owner_of(state, &task).as_deref());
        json.key("method").string("POST");
        let path = format!("/graphs/{name}/jobs");
        json.key("path").string(&path);
        json.key("text").string(&task.name);
        write_instant(json, "started_at", began);
        json.key("elapsed_ms").integer(elapsed.max(0));
        json.key("tag").null().end_object();
    }
}

/// The kind under which a task is listed; `None` if it is not a job.
const fn job_kind(of: TaskType) -> Option<&'static str> {
    match of {
        TaskType::Algorithm => Some("algorithm"),
        TaskType::Gremlin => Some("gremlin"),
        _ => None,
    }
}

/// The user that submitted a task, if the user still exists.
fn owner_of(state: &AppState, task: &Task) -> Option<Arc<Principal>> {
    let account = task.owner.as_ref()?.parse().ok()?;
    state.auth()?.user_of(&account)
}

fn cancel(context: &RequestContext) -> HandlerResult {
    let asked = context.path_parameter("id");
    let identity = context.identity();
    if let Some(task) = asked.strip_prefix(TASK) {
        return cancel_job(context.state(), identity, task);
    }
    let seen = context.state().database().running.seen_by(identity);
    let is_asked = |running: &&Arc<Running>| {
        running.listing.tag.as_deref() == Some(asked) || running.id.to_string() == asked
    };
    let found: Vec<_> = seen.iter().filter(is_asked).collect();
    for running in &found {
        running.cancel();
    }
    match found.is_empty() {
        false => Ok(Response::no_content()),
        true => Err(ApiError::not_found(format!(
            "Query '{asked}' is not running"
        ))),
    }
}

/// Cancels a job that the client may see as a task and may cancel.
fn cancel_job(state: &AppState, identity: &Identity, asked: &str) -> HandlerResult {
    let none = || ApiError::not_found(format!("Query '{TASK}{asked}' is not running"));
    let (name, id) = asked.rsplit_once(':').ok_or_else(none)?;
    let id = TaskId(id.parse().map_err(|_| none())?);
    identity
        .check(name, rights::TASKS_READ)
        .map_err(|_| none())?;
    let graph = state.graphs().get(name).map_err(|_| none())?;
    let task = graph.tasks().task(id).map_err(|_| none())?;
    if !Sight::of(identity, name).shows(&task) {
        return Err(none());
    }
    identity.check(name, rights::TASKS_WRITTEN)?;
    graph.tasks().cancel(id)?;
    Ok(Response::no_content())
}

fn slow(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    let mut json = JsonWriter::with_capacity(1_024);
    json.begin_object();
    json.key("threshold_ms")
        .unsigned(state.config().slow_request_ms);
    json.key("requests").begin_array();
    for (at, slow) in state.slow_requests().0.lock().iter().rev() {
        json.begin_object();
        write_instant(&mut json, "at", *at);
        json.key("method").string(slow.method.as_str());
        let path = slow.uri.path_and_query().map_or("", |path| path.as_str());
        json.key("path").string(path);
        let graph = graph_of(state, slow);
        write_who(&mut json, graph.as_deref(), slow.user.as_deref());
        json.key("status").unsigned(u64::from(slow.status.as_u16()));
        json.key("elapsed_ms").unsigned(millis(slow.elapsed));
        json.end_object();
    }
    json.end_array().end_object();
    Ok(Response::ok(json.finish()))
}

/// The graph that a request's path names.
fn graph_of(state: &AppState, slow: &Slow) -> Option<String> {
    let path = slow.uri.path();
    let Ok(RouteMatch::Route {
        index, captures, ..
    }) = state.router().find(&slow.method, path)
    else {
        return None;
    };
    let is_of_graph = state.router().parameter_names(index).first() == Some(&"graph");
    let graph = captures.first().filter(|_| is_of_graph);
    graph.map(|graph| graph.text(path).to_owned())
}

/// A request that was slow.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) user: Option<Arc<Principal>>,
    pub(crate) status: StatusCode,
    pub(crate) elapsed: Duration,
}

/// The last slow requests, oldest first, each with when it ended.
#[derive(Debug, Default)]
pub(crate) struct SlowRequests(Mutex<VecDeque<(WallInstant, Slow)>>);

impl SlowRequests {
    pub(crate) fn note(&self, slow: Slow) {
        let mut all = self.0.lock();
        if all.len() == SLOW_MAX {
            all.pop_front();
        }
        all.push_back((SystemClock.now(), slow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_short_words() {
        assert!(is_tag("a-1_b.C") && is_tag(&"x".repeat(TAG_BYTES_MAX)));
        assert!(!is_tag("") && !is_tag("a b") && !is_tag(&"x".repeat(TAG_BYTES_MAX + 1)));
    }
}
