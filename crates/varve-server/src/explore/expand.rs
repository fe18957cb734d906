//! `…/explore/expand`: the edges of some vertices, taken from all groups in turn, and their counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use varve_model::schema::EdgeLabelType;
use varve_model::{
    Condition, Direction, EdgeId, EdgeLabelId, ElementId, PropertyKeyId, VertexId, VertexLabelId,
};
use varve_view::{Expand, Flow, GraphView, Meter, ViewError};

use super::bodies::{at_most, limit, vertex_ids};
use super::output::{Answer, vertex_ref};
use super::read_request::{ReadRequest, vertex_key};
use crate::errors::ApiError;
use crate::hugegraph::{Way, edge_conditions};
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::wire::raw::PropertiesJson;

/// Edges shown unless another number is asked for.
const LIMIT: i64 = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    ids: Vec<String>,
    #[serde(default)]
    direction: Way,
    #[serde(default, borrow)]
    labels: Vec<Cow<'a, str>>,
    #[serde(default, borrow)]
    properties: Option<PropertiesJson<'a>>,
    limit: Option<i64>,
    per_label: Option<i64>,
    #[serde(default)]
    counts: bool,
}

/// The parameters of an expansion.
struct Ask {
    /// The vertex keys.
    keys: Vec<Vec<u8>>,
    directions: Vec<Direction>,
    /// Edge labels; empty = all.
    labels: Vec<EdgeLabelId>,
    conditions: Vec<Condition>,
    /// The properties of the conditions, ascending.
    properties: Vec<PropertyKeyId>,
    /// Edges of each group that are kept.
    kept: usize,
    /// Edges of each group that are counted.
    counted: usize,
}

/// The edges of a vertex in one direction with one label.
#[derive(Default)]
struct Group {
    /// The number of edges, by the label of the other end.
    by_other: BTreeMap<VertexLabelId, usize>,
    /// The number of edges, as far as they were counted.
    seen: usize,
    /// Whether there may be more.
    more: bool,
    /// The first edges, each with the vertex key of its other end.
    edges: Vec<(EdgeId, Vec<u8>)>,
}

/// By vertex, whether the edges are incoming, and label: OUT before IN.
type Groups = BTreeMap<(usize, bool, EdgeLabelId), Group>;

const fn is_in(direction: Direction) -> bool {
    matches!(direction, Direction::In)
}

pub(super) fn expand(context: &RequestContext) -> HandlerResult {
    let body: Body<'_> = context.json()?;
    let request = ReadRequest::of(context)?;
    let limits = request.limits();
    at_most(
        "vertices",
        body.ids.len(),
        limits.expand_ids_max,
        "expand_ids_max",
    )?;
    let ids = vertex_ids(&body.ids)?;
    if ids.is_empty() {
        return Err(ApiError::illegal_argument("The ids can't be empty"));
    }
    let option = "expand_edges_max";
    let bounds = (0, limits.expand_edges_max);
    let default = LIMIT.min(i64::try_from(limits.expand_edges_max).unwrap_or(LIMIT));
    let most = limit("limit", body.limit.unwrap_or(default), bounds, option)?;
    let per_label = body
        .per_label
        .map(|each| limit("per_label", each, bounds, option));
    let schema = request.schema();
    let mut labels = Vec::new();
    for name in &body.labels {
        labels.push(schema.require_edge_label(name)?.id);
    }
    let conditions = edge_conditions(schema, body.properties)?;
    let mut properties: Vec<_> = conditions.iter().map(|condition| condition.key).collect();
    properties.sort_unstable();
    properties.dedup();
    let view = request.snapshot.view();
    let ask = Ask {
        keys: ids.iter().map(|id| vertex_key(view, id)).collect(),
        directions: match body.direction.direction() {
            Some(direction) => vec![direction],
            None => vec![Direction::Out, Direction::In],
        },
        labels,
        conditions,
        properties,
        kept: per_label.transpose()?.unwrap_or(most).min(most),
        counted: limits.count_max,
    };
    let groups = request.or_refuse(groups(&request, &ask))?;
    answer(&request, &ids, &groups, (most, body.counts))
}

/// The edges of all vertices in groups. A vertex with more edges than are counted at once is
/// expanded label by label.
fn groups(request: &ReadRequest<'_>, ask: &Ask) -> Result<Groups, ViewError> {
    let view = request.snapshot.view();
    let mut groups = Groups::new();
    let all: Vec<usize> = (0..ask.keys.len()).collect();
    for direction in &ask.directions {
        let mut first = Groups::new();
        let over = collect(
            view,
            ask,
            (*direction, &ask.labels),
            &all,
            &request.meter,
            &mut first,
        )?;
        first.retain(|(vertex, ..), _| !over.contains(vertex));
        groups.append(&mut first);
        if over.is_empty() {
            continue;
        }
        let over: Vec<usize> = all.iter().copied().filter(|at| over.contains(at)).collect();
        for label in leaves(request, &ask.labels) {
            let of_label = (*direction, std::slice::from_ref(&label));
            let more = collect(view, ask, of_label, &over, &request.meter, &mut groups)?;
            for vertex in more {
                let key = (vertex, is_in(*direction), label);
                groups.entry(key).or_default().more = true;
            }
        }
    }
    Ok(groups)
}

/// The requested edge labels, with sub labels in place of their parents.
fn leaves(request: &ReadRequest<'_>, asked: &[EdgeLabelId]) -> Vec<EdgeLabelId> {
    let labels = request.schema().all_edge_labels();
    let labels = labels.filter(|label| label.label_type != EdgeLabelType::Parent);
    let is_asked = |id: EdgeLabelId, parent: Option<EdgeLabelId>| {
        asked.is_empty()
            || asked.contains(&id)
            || parent.is_some_and(|parent| asked.contains(&parent))
    };
    labels
        .filter(|label| is_asked(label.id, label.parent))
        .map(|label| label.id)
        .collect()
}

/// Adds the edges of some vertices in one direction to their groups, up to the number that is
/// counted. Returns the vertices that have more.
fn collect(
    view: &dyn GraphView,
    ask: &Ask,
    (direction, labels): (Direction, &[EdgeLabelId]),
    vertices: &[usize],
    meter: &Meter,
    groups: &mut Groups,
) -> Result<HashSet<usize>, ViewError> {
    let keys: Vec<&[u8]> = vertices.iter().map(|at| ask.keys[*at].as_slice()).collect();
    let of = Expand {
        direction: Some(direction),
        labels,
        properties: &ask.properties,
    };
    let (mut looked_at, mut over, mut failed) = (vec![0; keys.len()], HashSet::new(), None);
    view.neighbours(&keys, &of, meter, &mut |at, edge| {
        looked_at[at] += 1;
        if looked_at[at] > ask.counted {
            over.insert(vertices[at]);
            return Flow::Break(());
        }
        if !view.satisfies(&ask.conditions, edge.properties) {
            return Flow::Continue(());
        }
        let key = (vertices[at], is_in(direction), edge.label);
        let group = groups.entry(key).or_default();
        group.seen += 1;
        *group.by_other.entry(edge.other_label).or_default() += 1;
        if group.edges.len() < ask.kept {
            match view.edge_id(keys[at], edge.edge) {
                Ok(id) => group.edges.push((id, edge.other.to_vec())),
                Err(error) => failed = Some(error),
            }
        }
        Flow::Continue(())
    })?;
    failed.map_or(Ok(over), Err)
}

/// Edges of all groups in turn, up to `limit`, and the keys of their other ends.
fn chosen(groups: &Groups, limit: usize) -> Vec<&(EdgeId, Vec<u8>)> {
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    let deepest = groups.values().map(|group| group.edges.len()).max();
    for turn in 0..deepest.unwrap_or(0) {
        for edge in groups.values().filter_map(|group| group.edges.get(turn)) {
            if chosen.len() >= limit {
                return chosen;
            }
            if seen.insert(&edge.0) {
                chosen.push(edge);
            }
        }
    }
    chosen
}

fn answer(
    request: &ReadRequest<'_>,
    ids: &[VertexId],
    groups: &Groups,
    (limit, counts): (usize, bool),
) -> HandlerResult {
    let (snapshot, meter) = (&request.snapshot, &request.meter);
    let chosen = chosen(groups, limit);
    let shown: HashSet<&EdgeId> = chosen.iter().map(|(id, _)| id).collect();
    let more = |group: &Group| {
        let own = group.edges.iter().filter(|(id, _)| shown.contains(id));
        group.more || own.count() < group.seen
    };
    let truncated = groups.values().any(more);
    let (mut vertices, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        match request.or_refuse(snapshot.state(&ElementId::Vertex(id.clone()), meter))? {
            Some(state) => vertices.push(state),
            None => missing.push(vertex_ref(id)),
        }
    }
    let mut known: HashSet<VertexId> = ids.iter().cloned().collect();
    let mut others = Vec::new();
    for (_, other) in &chosen {
        let id = request.or_refuse(snapshot.view().vertex_id(other))?;
        if known.insert(id.clone()) {
            others.push(id);
        }
    }
    vertices.extend(request.or_refuse(snapshot.vertices(others, meter))?);
    let edges = chosen.iter().map(|(id, _)| id.clone());
    let edges = request.or_refuse(snapshot.edges(edges, meter))?;
    let mut answer = Answer::start(request);
    answer.states("vertices", &vertices)?;
    answer.states("edges", &edges)?;
    answer.texts("missing", missing);
    if counts {
        write_counts(&mut answer, request, ids, groups);
    }
    Ok(answer.finish(truncated))
}

fn write_counts(
    answer: &mut Answer<'_>,
    request: &ReadRequest<'_>,
    ids: &[VertexId],
    groups: &Groups,
) {
    let schema = request.schema();
    let json = answer.json();
    json.key("counts").begin_array();
    for (at, id) in ids.iter().enumerate() {
        json.begin_object().key("ref").string(&vertex_ref(id));
        json.key("groups").begin_array();
        let first = (at, false, EdgeLabelId(0));
        let own = groups
            .range(first..)
            .take_while(|((vertex, ..), _)| *vertex == at);
        for ((_, is_in, label), group) in own {
            for (other, count) in &group.by_other {
                json.begin_object();
                json.key("direction")
                    .string(if *is_in { "IN" } else { "OUT" });
                json.key("label").string(schema.edge_label_name(*label));
                json.key("other_label")
                    .string(schema.vertex_label_name(*other));
                json.key("count").unsigned(*count as u64);
                json.key("at_least").boolean(group.more);
                json.end_object();
            }
        }
        json.end_array().end_object();
    }
    json.end_array();
}
