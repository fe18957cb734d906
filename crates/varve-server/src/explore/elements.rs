//! `…/explore/elements`: elements by id, and the edges among vertices.

use std::collections::HashSet;

use serde::Deserialize;
use varve_model::{Direction, EdgeId, ElementId, VertexId};
use varve_view::{Expand, Flow, ViewError};

use super::bodies::{at_most, edge_ids, vertex_ids};
use super::output::{Answer, edge_ref, vertex_ref};
use super::read_request::{ReadRequest, vertex_key};
use super::state::State;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;

/// Elements by id.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Ids {
    pub(super) vertices: Vec<String>,
    pub(super) edges: Vec<String>,
    /// Whether all edges among the vertices are included, too.
    pub(super) between: bool,
}

/// The states of elements, and the ids of those that do not exist.
#[derive(Debug, Default)]
pub(super) struct ElementStates {
    pub(super) vertices: Vec<State>,
    pub(super) edges: Vec<State>,
    pub(super) missing_vertices: Vec<VertexId>,
    pub(super) missing_edges: Vec<EdgeId>,
    /// Whether there may be more edges among the vertices.
    pub(super) truncated: bool,
}

impl Ids {
    /// 400 if there are too many.
    pub(super) fn check(&self, request: &ReadRequest<'_>) -> Result<(), ApiError> {
        let count = self.vertices.len() + self.edges.len();
        at_most(
            "elements",
            count,
            request.limits().elements_max,
            "elements_max",
        )
    }
}

/// The states of these elements at the times of `request`.
pub(super) fn find(
    request: &ReadRequest<'_>,
    vertices: &[VertexId],
    edges: &[EdgeId],
    between: bool,
) -> Result<ElementStates, ApiError> {
    let mut found = ElementStates::default();
    let (snapshot, meter) = (&request.snapshot, &request.meter);
    for id in vertices {
        match request.or_refuse(snapshot.state(&ElementId::Vertex(id.clone()), meter))? {
            Some(state) => found.vertices.push(state),
            None => found.missing_vertices.push(id.clone()),
        }
    }
    for id in edges {
        match request.or_refuse(snapshot.state(&ElementId::Edge(id.clone()), meter))? {
            Some(state) => found.edges.push(state),
            None => found.missing_edges.push(id.clone()),
        }
    }
    if between {
        let most = request.limits().elements_max;
        let (among, truncated) = request.or_refuse(edges_among(request, vertices, most))?;
        let known: HashSet<&EdgeId> = edges.iter().collect();
        let among = among.into_iter().filter(|id| !known.contains(id));
        let among: Vec<EdgeId> = among.collect();
        found
            .edges
            .extend(request.or_refuse(snapshot.edges(among, meter))?);
        found.truncated = truncated;
    }
    Ok(found)
}

/// The edges among these vertices, up to `most`, and whether there may be more. Of a vertex with
/// very many edges only the first ones are read: the others are found from their other ends.
pub(super) fn edges_among(
    request: &ReadRequest<'_>,
    vertices: &[VertexId],
    most: usize,
) -> Result<(Vec<EdgeId>, bool), ViewError> {
    let (view, limits) = (request.snapshot.view(), request.limits());
    let keys: Vec<Vec<u8>> = vertices.iter().map(|id| vertex_key(view, id)).collect();
    let from: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let set: HashSet<&[u8]> = from.iter().copied().collect();
    let (mut edges, mut seen) = (Vec::new(), HashSet::new());
    let (mut left, mut truncated) = (limits.between_rows_max, false);
    let mut dense: HashSet<&[u8]> = HashSet::new();
    for direction in [Direction::Out, Direction::In] {
        // From the targets, edges are searched only if a dense source left some out.
        if direction == Direction::In && dense.is_empty() {
            break;
        }
        let ask = Expand {
            direction: Some(direction),
            ..Expand::default()
        };
        let mut looked_at = vec![0; from.len()];
        let (mut over, mut failed) = (HashSet::new(), None);
        view.neighbours(&from, &ask, &request.meter, &mut |at, edge| {
            looked_at[at] += 1;
            left = left.saturating_sub(1);
            if looked_at[at] > limits.count_max || left == 0 {
                over.insert(from[at]);
                return Flow::Break(());
            }
            if !set.contains(edge.other) {
                return Flow::Continue(());
            }
            match view.edge_id(from[at], edge.edge) {
                Ok(id) if edges.len() >= most => truncated |= !seen.contains(&id),
                Ok(id) => {
                    if seen.insert(id.clone()) {
                        edges.push(id);
                    }
                }
                Err(error) => failed = Some(error),
            }
            Flow::Continue(())
        })?;
        failed.map_or(Ok(()), Err)?;
        match direction {
            Direction::Out => dense = over,
            Direction::In => truncated |= !over.is_empty(),
        }
    }
    Ok((edges, truncated || left == 0))
}

/// Answers with the states of elements.
pub(super) fn elements(context: &RequestContext) -> HandlerResult {
    let body: Ids = context.json_object()?;
    let request = ReadRequest::of(context)?;
    body.check(&request)?;
    let (vertices, edges) = (vertex_ids(&body.vertices)?, edge_ids(&body.edges)?);
    let found = find(&request, &vertices, &edges, body.between)?;
    let mut answer = Answer::start(&request);
    answer.states("vertices", &found.vertices)?;
    answer.states("edges", &found.edges)?;
    answer.json().key("missing").begin_object();
    answer.texts("vertices", found.missing_vertices.iter().map(vertex_ref));
    answer.texts("edges", found.missing_edges.iter().map(edge_ref));
    answer.json().end_object();
    Ok(answer.finish(found.truncated))
}
