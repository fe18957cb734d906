//! Changes as text: lines of JSON, or events.

use std::sync::Arc;
use std::time::Instant;

use varve_graph::Graph;
use varve_graph::changes::{Change, CommitChange, ElementChange};
use varve_graph::read::View;
use varve_graph::schema::{Schema, SchemaKind};
use varve_kv::Flow;
use varve_model::{CommitVersion, Element, ElementId, TemporalScope};
use varve_session::budget::lanes::yield_to_others;
use varve_view::{CancelToken, GraphView as _, Meter};

use super::ask::{Ask, Kept, gone, graph_id};
use crate::errors::ApiError;
use crate::explore::output::{element_members, element_ref};
use crate::explore::read_request::write_instant;
use crate::json::JsonWriter;

/// Bytes of lines after which an answer ends, with the end of the current commit.
const LINES_BYTES: usize = 4 * 1024 * 1024;
/// The same for a piece of events: a stream has one at a time.
const EVENTS_BYTES: usize = 256 * 1024;

/// How changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One line for each change.
    Lines,
    /// One event for each change. The last one of each commit has the commit's version as its id.
    Events,
}

impl Form {
    const fn bytes_max(self) -> usize {
        match self {
            Self::Lines => LINES_BYTES,
            Self::Events => EVENTS_BYTES,
        }
    }

    /// Appends a change; `id`: the cursor after it.
    fn put(self, text: &mut Vec<u8>, line: &[u8], id: CommitVersion) {
        match self {
            Self::Lines => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            Self::Events => {
                text.extend_from_slice(format!("event: change\nid: {id}\ndata: ").as_bytes());
                text.extend_from_slice(line);
                text.extend_from_slice(b"\n\n");
            }
        }
    }
}

/// A page of changes as text.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: Vec<u8>,
    /// The number of changes.
    pub(super) changes: usize,
    /// The cursor after them.
    pub(super) next: CommitVersion,
}

/// The first line, which names the graph.
pub(super) fn head(Kept { began, oldest }: Kept, ask: &Ask) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(1_024);
    json.begin_object().key("graph_id").string(&graph_id(began));
    json.key("since").string(&ask.since.to_string());
    json.key("oldest").string(&oldest.to_string()).end_object();
    let mut text = json.finish();
    text.push(b'\n');
    text
}

/// Appends the last line, which has the cursor.
pub(super) fn put_end(text: &mut Vec<u8>, next: CommitVersion) {
    let line = format!("{{\"caught_up_to\":\"{next}\"}}\n");
    text.extend_from_slice(line.as_bytes());
}

/// Appends the event with the cursor, or a comment if the reader has that cursor.
pub(super) fn put_event_of_end(text: &mut Vec<u8>, next: Option<CommitVersion>) {
    let line = match next {
        None => ": alive\n\n".to_owned(),
        Some(next) => {
            format!("event: caught_up\nid: {next}\ndata: {{\"caught_up_to\":\"{next}\"}}\n\n")
        }
    };
    text.extend_from_slice(line.as_bytes());
}

/// Reads the changes after `ask.since`, whole commits only, until there are enough, the time is
/// over or the request is cancelled.
pub(super) fn read(
    graph: &Arc<Graph>,
    ask: &Ask,
    form: Form,
    (end, cancel): (Instant, &CancelToken),
) -> Result<Page, ApiError> {
    let (mut schema, mut view) = (None, None);
    let (mut text, mut changes) = (Vec::new(), 0);
    let (mut before, mut over, mut failed) = (ask.since, false, None);
    let mut goes_on = || {
        yield_to_others();
        !cancel.is_cancelled() && Instant::now() < end
    };
    let shown = graph.visit_changes(ask.since, &mut goes_on, &mut |commit| {
        if commit.version > ask.until {
            over = true;
            return Flow::Break(());
        }
        // Loaded after the changes are read: it has all their labels.
        let schema: &Schema = schema.get_or_insert_with(|| graph.schema());
        let wanted = commit.changes.iter();
        let wanted: Vec<_> = wanted.filter(|change| ask.wants(schema, change)).collect();
        // Opened after the changes are read: it has all their commits.
        if ask.before && view.is_none() {
            match graph.view(TemporalScope::NOW) {
                Ok(opened) => view = Some(opened),
                Err(error) => {
                    failed = Some(error.into());
                    return Flow::Break(());
                }
            }
        }
        let versions = (commit.version, before);
        if let Err(error) = put_commit(&mut text, form, schema, view.as_ref(), versions, &wanted) {
            failed = Some(error);
            return Flow::Break(());
        }
        before = commit.version;
        changes += wanted.len();
        match changes >= ask.limit || text.len() >= form.bytes_max() {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let Some(shown) = shown else {
        return Err(gone(Kept::by(graph)?.oldest, ask.since));
    };
    let next = match over {
        true => ask.until.min(shown).max(before),
        false => shown,
    };
    Ok(Page {
        text,
        changes,
        next,
    })
}

/// Writes the requested changes of a commit; `before` is the commit before it.
fn put_commit(
    text: &mut Vec<u8>,
    form: Form,
    schema: &Schema,
    view: Option<&View>,
    (version, before): (CommitVersion, CommitVersion),
    wanted: &[&CommitChange],
) -> Result<(), ApiError> {
    for (n, change) in wanted.iter().enumerate() {
        let line = line(schema, view, (version, n, wanted.len()), change)?;
        // A reader that stops within a commit gets it again.
        let id = match n + 1 == wanted.len() {
            true => version,
            false => before,
        };
        form.put(text, &line, id);
    }
    Ok(())
}

/// A change as an object, with the version of its commit, its number in the commit, and the number
/// of the commit's changes.
fn line(
    schema: &Schema,
    view: Option<&View>,
    (version, n, of): (CommitVersion, usize, usize),
    change: &CommitChange,
) -> Result<Vec<u8>, ApiError> {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    json.key("version").string(&version.to_string());
    json.key("n").unsigned(n as u64);
    json.key("of").unsigned(of as u64);
    write_instant(&mut json, "recorded_at", version.instant());
    match change {
        CommitChange::Schema { kind, name } => {
            json.key("kind").string("schema");
            json.key("type").string(match kind {
                SchemaKind::PropertyKey => "propertykey",
                SchemaKind::VertexLabel => "vertexlabel",
                SchemaKind::EdgeLabel => "edgelabel",
                SchemaKind::IndexLabel => "indexlabel",
            });
            json.key("name").string(name);
        }
        CommitChange::Element(change) => of_element(&mut json, schema, view, change)?,
    }
    json.end_object();
    Ok(json.finish())
}

fn of_element(
    json: &mut JsonWriter,
    schema: &Schema,
    view: Option<&View>,
    change: &ElementChange,
) -> Result<(), ApiError> {
    json.key("kind").string(match &change.change {
        Change::Event {
            element: Some(_), ..
        } => "put",
        Change::Event { element: None, .. } => "delete",
        Change::Purged => "purge",
        Change::Forgotten => "forgotten",
        Change::Effective { after: Some(_), .. } => "began",
        Change::Effective { after: None, .. } => "ended",
    });
    json.key("ref").string(&element_ref(&change.id));
    json.key("type").string(match change.id {
        ElementId::Vertex(_) => "vertex",
        ElementId::Edge(_) => "edge",
    });
    match &change.change {
        Change::Event { period, element } => {
            write_instant(json, "valid_from", period.from);
            write_instant(json, "valid_to", period.to);
            if element.is_some() {
                object(json, "element", schema, element.as_ref());
            }
            if let Some(view) = view {
                let at = TemporalScope {
                    valid: Some(period.from),
                    transaction: Some(CommitVersion(change.version.0.saturating_sub(1))),
                };
                let before = view.element_at(&change.id, at, &Meter::unlimited());
                let before = before.map_err(|error| ApiError::storage(error.to_string()))?;
                object(json, "before", schema, before.as_ref());
            }
        }
        Change::Effective { at, before, after } => {
            write_instant(json, "effective_at", *at);
            if after.is_some() {
                object(json, "element", schema, after.as_ref());
            }
            if view.is_some() {
                object(json, "before", schema, before.as_ref());
            }
        }
        Change::Purged | Change::Forgotten => {}
    }
    Ok(())
}

/// Writes an element as a member, or null.
fn object(json: &mut JsonWriter, name: &str, schema: &Schema, element: Option<&Element>) {
    json.key(name);
    match element {
        Some(element) => {
            json.begin_object();
            element_members(json, schema, element);
            json.end_object();
        }
        None => {
            json.null();
        }
    }
}
