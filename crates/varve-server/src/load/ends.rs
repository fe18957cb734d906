//! `…/load/ends`: why edges would be refused for their ends, some of which a load has yet to store.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use varve_graph::write::{PlannedEdge, PlannedEnd, WritePeriod};
use varve_load::PLANNED_MAX;
use varve_model::VertexId;
use varve_model::schema::IdStrategy;
use varve_model::value::Uuid;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::wire::time;

/// The most edges of one request.
const EDGES_MAX: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndsJson {
    edges: Vec<EdgeJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeJson {
    label: String,
    valid_from: Option<String>,
    valid_to: Option<String>,
    /// Its source and its target.
    ends: [EndJson; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndJson {
    id: Json,
    label: String,
    /// When the vertex will exist, whatever is stored of it.
    #[serde(default)]
    planned: Vec<PeriodJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeriodJson {
    valid_from: Option<String>,
    valid_to: Option<String>,
}

/// Answers with the reason for each edge, or null.
pub(super) fn check(context: &RequestContext) -> HandlerResult {
    let refused = refused(context, context.json_object()?)?;
    Ok(Response::ok(json!({ "refused": refused }).to_string()))
}

/// The reasons for a body of such a request.
pub(super) fn of_body(
    context: &RequestContext,
    body: &str,
) -> Result<Vec<Option<String>>, ApiError> {
    refused(context, serde_json::from_str(body)?)
}

fn refused(context: &RequestContext, asked: EndsJson) -> Result<Vec<Option<String>>, ApiError> {
    if asked.edges.len() > EDGES_MAX {
        return Err(ApiError::illegal_argument(format!(
            "Too many edges for one time post, the maximum number is '{EDGES_MAX}'"
        )));
    }
    let served = context.served()?;
    let end = |end: EndJson| {
        if end.planned.len() > PLANNED_MAX {
            return Err(ApiError::illegal_argument(format!(
                "Too many planned states of a vertex, the maximum number is '{PLANNED_MAX}'"
            )));
        }
        let label = served.schema.vertex_label_by_name(&end.label);
        let id = id(&end.id, label.map(|label| label.id_strategy))?;
        let planned: Result<Vec<WritePeriod>, ApiError> = end
            .planned
            .iter()
            .map(|it| period(it.valid_from.as_deref(), it.valid_to.as_deref()))
            .collect();
        Ok::<_, ApiError>(PlannedEnd {
            id,
            label: end.label,
            planned: planned?,
        })
    };
    // What is no edge is refused as such, and the others are checked.
    let (mut edges, mut reasons) = (Vec::new(), Vec::new());
    for edge in asked.edges {
        let [source, target] = edge.ends;
        let period = period(edge.valid_from.as_deref(), edge.valid_to.as_deref());
        let planned = period.and_then(|period| {
            Ok(PlannedEdge {
                label: edge.label,
                period,
                ends: [end(source)?, end(target)?],
            })
        });
        reasons.push(planned.as_ref().err().map(|it| it.message().to_owned()));
        edges.extend(planned);
    }
    let access = context.access_to(&served);
    let mut refused = served.graph.check_planned(&edges, access)?.into_iter();
    for reason in reasons.iter_mut().filter(|reason| reason.is_none()) {
        *reason = refused.next().flatten().map(|error| error.message);
    }
    Ok(reasons)
}

fn period(from: Option<&str>, to: Option<&str>) -> Result<WritePeriod, ApiError> {
    let instant = |name, text: Option<&str>| text.map(|text| time::instant(name, text)).transpose();
    Ok(WritePeriod {
        from: instant("valid_from", from)?,
        to: instant("valid_to", to)?,
    })
}

/// The id of a vertex in a body. The label decides whether a text is a UUID.
fn id(id: &Json, strategy: Option<IdStrategy>) -> Result<VertexId, ApiError> {
    match id {
        Json::String(text) => {
            let is_uuid = strategy == Some(IdStrategy::CustomizeUuid);
            let uuid = Uuid::parse(text).filter(|_| is_uuid);
            Ok(uuid.map_or_else(|| VertexId::text(text), |uuid| VertexId::Uuid(uuid.0)))
        }
        number => match number.as_i64() {
            Some(number) => Ok(VertexId::Number(number)),
            None => Err(ApiError::illegal_argument(format!(
                "The vertex id must be formatted as Number/String/UUID, but got '{number}'"
            ))),
        },
    }
}
