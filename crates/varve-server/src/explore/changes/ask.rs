//! The parameters of a reader of changes.

use http::StatusCode;
use http::header::HeaderName;
use std::sync::Arc;

use varve_graph::Graph;
use varve_graph::changes::{Change, CommitChange, ElementChange};
use varve_graph::schema::Schema;
use varve_model::{CommitVersion, Element, ElementId};

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::wire::time::commit_version as scope_version;

/// Changes of one answer by default.
const LIMIT: i64 = 1_000;
/// The most changes of one answer; a commit is never split.
const LIMIT_MAX: i64 = 100_000;
/// The values of `types`.
const TYPES: [&str; 3] = ["vertex", "edge", "schema"];
/// The header with a reader's cursor.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The code of a cursor whose changes are no longer kept.
const GONE: &str = "VRV-CHANGES-GONE";

#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// Changes after this version.
    pub(super) since: CommitVersion,
    /// Nothing after this version.
    pub(super) until: CommitVersion,
    labels: Vec<String>,
    vertices: bool,
    edges: bool,
    /// Whether changes of the schema are included.
    schema: bool,
    /// Whether the begin and the end of planned states are included.
    effective: bool,
    /// Whether the state before each change is included.
    pub(super) before: bool,
    /// Changes after which an answer ends.
    pub(super) limit: usize,
}

impl Ask {
    pub(super) fn of(
        context: &RequestContext,
        graph: &Graph,
        Kept { began, oldest }: Kept,
    ) -> Result<Self, ApiError> {
        let query = context.query()?;
        if let Some(id) = query.get("graph_id").filter(|id| *id != graph_id(began)) {
            return Err(ApiError::new(
                StatusCode::CONFLICT,
                "java.lang.IllegalStateException",
                format!(
                    "The graph does not continue the changes of '{id}': it was cleared or restored, or kept none for a \
                     time. Dump it again and follow from the version of the dump"
                ),
            ));
        }
        let last_event = context.headers().get(LAST_EVENT_ID);
        let last_event = last_event.and_then(|id| id.to_str().ok());
        let since = match last_event.or_else(|| query.get("since")) {
            // A new graph has no commit yet; `oldest` is then newer than what is published.
            None | Some("" | "now") => graph.published().max(oldest),
            Some("earliest") => oldest,
            Some(text) => since(graph, text, oldest)?,
        };
        let newest = graph.published().max(oldest);
        if since > newest {
            // A reader may have come further than the position at which the graph is followed.
            graph.check_led()?;
        }
        if !(oldest..=newest).contains(&since) {
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
        if let Some(unknown) = types.iter().find(|each| !TYPES.contains(&each.as_str())) {
            return Err(ApiError::illegal_argument(format!(
                "The types of changes must be among {}, but got '{unknown}'",
                TYPES.join(", ")
            )));
        }
        let has = |kind: &str| types.is_empty() || types.iter().any(|each| each == kind);
        Ok(Self {
            since,
            until,
            labels: list("labels"),
            vertices: has("vertex"),
            edges: has("edge"),
            schema: has("schema"),
            effective: query.boolean("effective", false)?,
            before: query.boolean("before", false)?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        })
    }

    /// Whether the reader wants a change.
    pub(super) fn wants(&self, schema: &Schema, change: &CommitChange) -> bool {
        match change {
            CommitChange::Schema { .. } => self.schema,
            CommitChange::Element(change) => self.wants_element(schema, change),
        }
    }

    fn wants_element(&self, schema: &Schema, change: &ElementChange) -> bool {
        let of_type = match change.id {
            ElementId::Vertex(_) => self.vertices,
            ElementId::Edge(_) => self.edges,
        };
        let element = match &change.change {
            Change::Event { element, .. } => element.as_ref(),
            Change::Effective { .. } if !self.effective => return false,
            Change::Effective { before, after, .. } => after.as_ref().or(before.as_ref()),
            Change::Purged | Change::Forgotten => None,
        };
        let label = match (&change.id, element) {
            (ElementId::Edge(id), _) => Some(schema.edge_label_name(id.label)),
            (_, Some(Element::Vertex(vertex))) => Some(schema.vertex_label_name(vertex.label)),
            // The label of a deleted vertex is not known, so all readers get the change.
            _ => None,
        };
        of_type
            && (self.labels.is_empty()
                || label.is_none_or(|name| self.labels.iter().any(|asked| asked == name)))
    }
}

/// A version, or the last version of an instant, at most the newest one: `as_of` of a dump is an
/// instant after the last commit.
fn since(graph: &Graph, text: &str, oldest: CommitVersion) -> Result<CommitVersion, ApiError> {
    let since = scope_version(text)?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    Ok(
        match is_number || since > CommitVersion::last_at(graph.now()) {
            true => since,
            false => since.min(graph.published().max(oldest)),
        },
    )
}

/// 410 for a cursor that cannot be continued.
pub(super) fn gone(oldest: CommitVersion, since: CommitVersion) -> ApiError {
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

/// Which changes a graph keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// The version at which its list began.
    pub(super) began: CommitVersion,
    /// The version after which the list is complete.
    pub(super) oldest: CommitVersion,
}

impl Kept {
    /// 400 if the graph keeps no changes. Blocks.
    pub(super) fn by(graph: &Graph) -> Result<Self, ApiError> {
        let (began, oldest) = graph.changes_kept()?.ok_or_else(|| {
            ApiError::illegal_argument("The graph keeps no changes: see the option graph.changes")
        })?;
        Ok(Self { began, oldest })
    }

    /// The same without blocking: of a followed graph it is read from the store, on the pool.
    pub(super) async fn found(
        context: &RequestContext,
        graph: &Arc<Graph>,
    ) -> Result<Self, ApiError> {
        if !graph.is_followed() {
            return Self::by(graph);
        }
        let graph = Arc::clone(graph);
        let kept = context.state().run_blocking(move || Self::by(&graph));
        kept.await?
    }
}

/// The id of a graph's list of changes. A graph that was cleared or restored, or has kept no
/// changes for a time, gets another one.
pub(super) fn graph_id(began: CommitVersion) -> String {
    format!("{:016x}", began.0)
}
