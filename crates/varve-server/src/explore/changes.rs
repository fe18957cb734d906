//! `…/changes`: what commits did, in order, for those who follow a graph.
//!
//! ```json
//! {"graph_id":"06…","since":"459609792938234112","oldest":"459600000000000000"}
//! {"version":"459609792938234200","n":0,"of":2,"recorded_at":"…","kind":"put","ref":"\"1:ann\"","type":"vertex",
//!  "valid_from":"…","valid_to":null,"element":{…},"before":{…}}
//! {"caught_up_to":"459609792938234900"}
//! ```
//! Who stores the cursor (`version` of a commit whose `n` have all come, or `caught_up_to`)
//! together with what it made of the changes has each exactly once. A long poll waits without a
//! thread, a place or a snapshot: nothing is kept for a reader that is slow or gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http::header::{ACCEPT, HeaderName};
use varve_graph::Graph;
use varve_graph::changes::{Change, CommitChanges, ElementChange};
use varve_graph::schema::Schema;
use varve_kv::Flow;
use varve_model::{CommitVersion, Element, ElementId, TemporalScope};
use varve_view::{GraphView as _, Meter};

use super::output::{element_members, element_ref};
use super::read_request::write_instant;
use crate::errors::{ApiError, HandlerResult};
use crate::hugegraph::scope_version;
use crate::json::JsonWriter;
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, Cut, Response};

/// Changes of one answer unless another number is asked for.
const LIMIT: i64 = 1_000;
/// The most changes of one answer; a commit comes whole, whatever it has.
const LIMIT_MAX: i64 = 100_000;
/// Bytes of lines after which an answer ends with the commit that it is in.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
/// How often a reader that waits looks whether there is something new.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Interval of keep-alive comments in a stream without changes.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// How long a reader may wait at most.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The header with a reader's cursor.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The code of a cursor whose changes are not there any more.
const GONE: &str = "VRV-CHANGES-GONE";

/// What a reader asks for.
#[derive(Debug, Clone)]
struct Ask {
    since: CommitVersion,
    until: CommitVersion,
    labels: Vec<String>,
    vertices: bool,
    edges: bool,
    before: bool,
    limit: usize,
}

impl Ask {
    fn of(context: &RequestContext, graph: &Graph) -> Result<Self, ApiError> {
        let query = context.query()?;
        let (began, oldest) = kept(graph)?;
        if let Some(id) = query.get("graph_id").filter(|id| *id != graph_id(began)) {
            return Err(ApiError::new(
                StatusCode::CONFLICT,
                "java.lang.IllegalStateException",
                format!(
                    "The graph is not the one with the changes of '{id}': dump it again and follow from the version of the dump"
                ),
            ));
        }
        let last_event = context.headers().get(LAST_EVENT_ID);
        let last_event = last_event.and_then(|id| id.to_str().ok());
        let since = match last_event.or_else(|| query.get("since")) {
            None | Some("" | "now") => graph.published(),
            Some("earliest") => oldest,
            Some(text) => scope_version(text.split('.').next().unwrap_or(text))?,
        };
        if since < oldest || since > graph.published().max(oldest) {
            return Err(gone(oldest, since));
        }
        let until = match query.get("until").filter(|text| !text.is_empty()) {
            Some(text) => scope_version(text)?,
            None => CommitVersion::MAX,
        };
        let limit = query.integer("limit", LIMIT)?;
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(ApiError::illegal_argument(format!(
                "The limit of changes must be in [1, {LIMIT_MAX}], but got {limit}"
            )));
        }
        let list = |name: &str| {
            let given = query.get(name).unwrap_or_default().split(',');
            let given = given.filter(|each| !each.is_empty()).map(str::to_owned);
            given.collect::<Vec<String>>()
        };
        let types = list("types");
        let has = |kind: &str| types.is_empty() || types.iter().any(|each| each == kind);
        Ok(Self {
            since,
            until,
            labels: list("labels"),
            vertices: has("vertex"),
            edges: has("edge"),
            before: query.boolean("before", false)?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        })
    }

    fn wants(&self, schema: &Schema, change: &ElementChange) -> bool {
        let of_type = match change.id {
            ElementId::Vertex(_) => self.vertices,
            ElementId::Edge(_) => self.edges,
        };
        let label = match (&change.id, &change.change) {
            (ElementId::Edge(id), _) => Some(schema.edge_label_name(id.label)),
            (
                _,
                Change::Event {
                    element: Some(Element::Vertex(vertex)),
                    ..
                },
            ) => Some(schema.vertex_label_name(vertex.label)),
            // The label of a vertex that is gone is not known: it comes to everybody.
            _ => None,
        };
        of_type
            && (self.labels.is_empty()
                || label.is_none_or(|name| self.labels.iter().any(|asked| asked == name)))
    }
}

/// 410 for a cursor that cannot be gone on from.
fn gone(oldest: CommitVersion, since: CommitVersion) -> ApiError {
    ApiError::new(
        StatusCode::GONE,
        "java.lang.IllegalStateException",
        format!(
            "There are no changes after version {since}: they are kept since version {oldest}. Dump \
             the graph again and follow from the version of the dump"
        ),
    )
    .with_cause(GONE)
}

fn kept(graph: &Graph) -> Result<(CommitVersion, CommitVersion), ApiError> {
    graph.changes_kept().ok_or_else(|| {
        ApiError::illegal_argument("The graph keeps no changes: see the option graph.changes")
    })
}

fn graph_id(began: CommitVersion) -> String {
    format!("{:016x}", began.0)
}

/// Answers with changes: as lines once, or as a stream of events.
pub(super) async fn changes(mut context: RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    let ask = Ask::of(&context, &graph)?;
    let accept = context.headers().get(ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/event-stream")) {
        return Ok(events(&context, graph, ask));
    }
    let wait = wait(&context)?;
    let end = Instant::now() + wait;
    while graph.published() <= ask.since && Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY.min(wait)).await;
    }
    context.renew_identity()?;
    let state = context.shared_state();
    let page = state
        .run_blocking(move || Page::lines(&graph, &ask))
        .await??;
    let content = ContentType::Other("application/x-ndjson");
    Ok(Response::new(StatusCode::OK, content, page.text))
}

/// How long a reader waits for the first change: `30s`, `500ms`, or a number of seconds.
fn wait(context: &RequestContext) -> Result<Duration, ApiError> {
    let text = context.query()?.get("wait").unwrap_or_default();
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1_000),
    };
    if text.is_empty() {
        return Ok(Duration::ZERO);
    }
    let millis = digits.parse::<u64>().ok();
    let wait = millis.and_then(|number| number.checked_mul(unit));
    let wait = wait.map(Duration::from_millis).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The wait must be a time such as '30s' or '500ms', but got '{text}'"
        ))
    })?;
    // The request's own time must not be over before.
    let left = context.state().config().request_timeout() / 2;
    Ok(wait.min(WAIT_MAX).min(left))
}

/// Some changes as text.
struct Page {
    text: Vec<u8>,
    /// Where to go on.
    next: CommitVersion,
}

impl Page {
    /// As lines of JSON, with a first line that names the graph and a last one that says where to
    /// go on.
    fn lines(graph: &Arc<Graph>, ask: &Ask) -> Result<Self, ApiError> {
        let (began, oldest) = kept(graph)?;
        let mut json = JsonWriter::with_capacity(1_024);
        json.begin_object().key("graph_id").string(&graph_id(began));
        json.key("since").string(&ask.since.to_string());
        json.key("oldest").string(&oldest.to_string()).end_object();
        let mut text = json.finish();
        text.push(b'\n');
        let next = write(graph, ask, &mut |line, _| {
            text.extend_from_slice(line);
            text.push(b'\n');
            text.len()
        })?;
        let mut json = JsonWriter::with_capacity(64);
        json.begin_object();
        json.key("caught_up_to")
            .string(&next.to_string())
            .end_object();
        text.extend_from_slice(&json.finish());
        text.push(b'\n');
        Ok(Self { text, next })
    }

    /// As events, of which the last one of each commit has the commit's version as its id.
    fn events(graph: &Arc<Graph>, ask: &Ask) -> Result<Self, ApiError> {
        let mut text = Vec::new();
        let next = write(graph, ask, &mut |line, id| {
            text.extend_from_slice(b"event: change\nid: ");
            text.extend_from_slice(id.as_bytes());
            text.extend_from_slice(b"\ndata: ");
            text.extend_from_slice(line);
            text.extend_from_slice(b"\n\n");
            text.len()
        })?;
        if next > ask.since {
            let last =
                format!("event: caught_up\nid: {next}\ndata: {{\"caught_up_to\":\"{next}\"}}\n\n");
            text.extend_from_slice(last.as_bytes());
        }
        Ok(Self { text, next })
    }
}

/// Takes a line and where to go on if nothing comes after it; returns how long the text is.
type Taken<'t> = dyn FnMut(&[u8], &str) -> usize + 't;

/// Writes changes, whole commits only, until there are enough. Returns where to go on.
fn write(graph: &Arc<Graph>, ask: &Ask, take: &mut Taken<'_>) -> Result<CommitVersion, ApiError> {
    let schema = graph.schema();
    let view = match ask.before {
        true => Some(graph.view(TemporalScope::NOW)?),
        false => None,
    };
    let (mut count, mut failed, mut before) = (0, None, ask.since);
    let mut over = false;
    let caught_up = graph.visit_changes(ask.since, &mut |commit| {
        if commit.version > ask.until {
            over = true;
            return Flow::Break(());
        }
        let wanted: Vec<&ElementChange> = commit
            .changes
            .iter()
            .filter(|change| ask.wants(&schema, change))
            .collect();
        let mut bytes = 0;
        for (n, change) in wanted.iter().enumerate() {
            let line = match line(&schema, view.as_ref(), (&commit, change), (n, wanted.len())) {
                Ok(line) => line,
                Err(error) => {
                    failed = Some(error);
                    return Flow::Break(());
                }
            };
            // A reader that ends within a commit begins with it again.
            let id = match n + 1 == wanted.len() {
                true => commit.version,
                false => before,
            };
            bytes = take(&line, &id.to_string());
        }
        before = commit.version;
        count += wanted.len();
        match count >= ask.limit || bytes >= PIECE_BYTES {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let Some(caught_up) = caught_up else {
        let (_, oldest) = kept(graph)?;
        return Err(gone(oldest, ask.since));
    };
    Ok(if over {
        before.max(ask.since)
    } else {
        caught_up
    })
}

fn line(
    schema: &Schema,
    view: Option<&varve_graph::read::View>,
    (commit, change): (&CommitChanges, &ElementChange),
    (n, of): (usize, usize),
) -> Result<Vec<u8>, ApiError> {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("version").string(&commit.version.to_string());
    json.key("n")
        .unsigned(n as u64)
        .key("of")
        .unsigned(of as u64);
    write_instant(&mut json, "recorded_at", commit.version.instant());
    json.key("kind").string(match &change.change {
        Change::Event {
            element: Some(_), ..
        } => "put",
        Change::Event { element: None, .. } => "delete",
        Change::Purged => "purge",
        Change::Forgotten => "forgotten",
    });
    json.key("ref").string(&element_ref(&change.id));
    json.key("type").string(match change.id {
        ElementId::Vertex(_) => "vertex",
        ElementId::Edge(_) => "edge",
    });
    if let Change::Event { period, element } = &change.change {
        write_instant(&mut json, "valid_from", period.from);
        write_instant(&mut json, "valid_to", period.to);
        if let Some(element) = element {
            json.key("element");
            object(&mut json, schema, element);
        }
        if let Some(view) = view {
            let at = TemporalScope {
                valid: Some(period.from),
                transaction: Some(CommitVersion(change.version.0.saturating_sub(1))),
            };
            let before = view.element_at(&change.id, at, &Meter::unlimited());
            let before = before.map_err(|error| ApiError::storage(error.to_string()))?;
            json.key("before");
            match &before {
                Some(element) => object(&mut json, schema, element),
                None => {
                    json.null();
                }
            }
        }
    }
    json.end_object();
    Ok(json.finish())
}

fn object(json: &mut JsonWriter, schema: &Schema, element: &Element) {
    json.begin_object();
    element_members(json, schema, element);
    json.end_object();
}

/// A stream of events that goes on until the client goes or may not read any more, the server stops
/// or the graph is gone.
fn events(context: &RequestContext, graph: Arc<Graph>, ask: Ask) -> Response {
    let start = Some((context.again(context.deadline()), graph, ask));
    let pieces = stream::unfold(start, |at| async {
        let (reader, graph, ask) = at?;
        next_events(reader, graph, ask).await
    });
    let content = ContentType::Other("text/event-stream");
    Response::new(StatusCode::OK, content, Body::streamed(pieces))
}

type At = (RequestContext, Arc<Graph>, Ask);
type Next = Option<(Result<Bytes, Cut>, Option<At>)>;

/// The next events, once there are some, or a sign of life.
async fn next_events(mut reader: RequestContext, graph: Arc<Graph>, mut ask: Ask) -> Next {
    let (state, name) = (reader.shared_state(), reader.graph_name().to_owned());
    let end = Instant::now() + ALIVE_EVERY;
    while graph.published() <= ask.since && Instant::now() < end {
        let is_current = state
            .graphs()
            .get(&name)
            .is_ok_and(|now| Arc::ptr_eq(&now, &graph));
        if state.is_stopping() || !is_current || ask.since >= ask.until {
            return None;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    reader.renew_identity().ok()?;
    let (of, asked) = (Arc::clone(&graph), ask.clone());
    let page = state.run_blocking(move || Page::events(&of, &asked)).await;
    match page.and_then(|page| page) {
        Ok(page) => {
            ask.since = page.next;
            let text = match page.text.is_empty() {
                true => Bytes::from_static(b": alive\n\n"),
                false => Bytes::from(page.text),
            };
            Some((Ok(text), Some((reader, graph, ask))))
        }
        Err(error) => Some((Err(Cut(error.message().to_owned())), None)),
    }
}
