//! Batches: reading their elements one by one, and `…/graph/batch`, which stores vertices and edges together.

use serde::Deserialize;
use varve_graph::GraphError;
use varve_graph::element::EdgeForm;
use varve_graph::write::Mutation;
use varve_model::Element;

use super::edges::put;
use super::input::{EachOf, EdgeJson, GraphBatchJson, Listed, VertexJson};
use super::output;
use super::submit::{Target, submit};
use super::vertices::no_body;
use crate::JsonWriter;
use crate::errors::{ApiError, HandlerResult};
use crate::request::RequestContext;
use crate::respond::Response;

/// How many elements of a kind one request may carry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    what: &'static str,
    limit: usize,
}

impl Sizes {
    pub(super) fn vertices(limit: usize) -> Self {
        let what = "vertices";
        Self { what, limit }
    }

    pub(super) fn edges(limit: usize) -> Self {
        let what = "edges";
        Self { what, limit }
    }

    /// 400 when there are too many, or none.
    pub(super) fn check(self, count: usize) -> Result<(), ApiError> {
        let Self { what, limit } = self;
        if count > limit {
            return Err(ApiError::illegal_argument(format!(
                "Too many {what} for one time post, the maximum number is '{limit}'"
            )));
        }
        if count == 0 {
            return Err(ApiError::illegal_argument(format!(
                "The number of {what} can't be 0"
            )));
        }
        Ok(())
    }
}

/// The error for an element that is `null`.
pub(super) fn null_record() -> ApiError {
    ApiError::illegal_argument("The batch body can't contain null record")
}

/// Reads the body, an array, and makes each element a mutation as it is read. Nothing is kept of what is too much.
pub(super) fn read_each<'a, T: Deserialize<'a>>(
    context: &'a RequestContext,
    sizes: Sizes,
    mut make: impl FnMut(T) -> Result<Mutation, GraphError>,
) -> Result<Vec<Mutation>, ApiError> {
    let mut mutations = Vec::new();
    let mut failed = None;
    let count = context.json_seed(EachOf::new(sizes.limit, |item: Option<T>| {
        if failed.is_some() {
            return;
        }
        match item.map(&mut make) {
            Some(Ok(mutation)) => mutations.push(mutation),
            Some(Err(error)) => failed = Some(ApiError::from(error)),
            None => failed = Some(null_record()),
        }
    }))?;
    sizes.check(count)?;
    failed.map_or(Ok(mutations), Err)
}

/// Writes the ids of elements as an array.
pub(super) fn ids(json: &mut JsonWriter, elements: &[Option<Element>]) {
    json.begin_array();
    for element in elements {
        match element {
            Some(Element::Vertex(vertex)) => output::vertex_id(json, &vertex.id),
            Some(Element::Edge(edge)) => output::edge_id(json, &edge.id),
            None => {
                json.null();
            }
        }
    }
    json.end_array();
}

/// Stores vertices and edges, all or none; edges may run between vertices of the same request. 201 and all ids.
pub(super) async fn create(context: RequestContext) -> HandlerResult {
    submit(context, prepare, |_, elements| {
        let edges_at = elements
            .iter()
            .position(|element| matches!(element, Some(Element::Edge(_))))
            .unwrap_or(elements.len());
        let (vertices, edges) = elements.split_at(edges_at);
        let mut json = JsonWriter::with_capacity(elements.len() * 40);
        json.begin_object().key("vertices");
        ids(&mut json, vertices);
        json.key("edges");
        ids(&mut json, edges);
        json.end_object();
        Response::created(json.finish())
    })
    .await
}

fn prepare(context: &RequestContext, target: &Target) -> Result<Vec<Mutation>, ApiError> {
    let ends_checked = context.query()?.boolean("check_vertex", true)?;
    let body = context
        .json::<Option<GraphBatchJson<'_>>>()?
        .ok_or_else(no_body)?;
    let config = context.state().config();
    let vertices = listed(
        body.vertices,
        Sizes::vertices(config.max_vertices_per_batch),
    )?;
    let edges = listed(body.edges, Sizes::edges(config.max_edges_per_batch))?;
    if vertices.is_empty() && edges.is_empty() {
        return Err(ApiError::illegal_argument(
            "The number of vertices and edges can't be 0",
        ));
    }
    let form = EdgeForm {
        labels_required: !ends_checked,
        ends_checked,
    };
    let mut mutations = Vec::with_capacity(vertices.len() + edges.len());
    for VertexJson(input) in vertices {
        let new = target.with_rules(|rules| rules.vertex(input))?;
        mutations.push(Mutation::PutVertex {
            vertex: new.vertex,
            fresh: new.fresh,
        });
    }
    for EdgeJson(input) in edges {
        let new = target.with_rules(|rules| rules.edge(input, form))?;
        mutations.push(put(new, ends_checked));
    }
    Ok(mutations)
}

/// The elements of a list that may be absent or empty; no null, and not too many.
fn listed<T>(list: Option<Listed<T>>, sizes: Sizes) -> Result<Vec<T>, ApiError> {
    let Some(list) = list.filter(|list| list.count > 0) else {
        return Ok(Vec::new());
    };
    sizes.check(list.count)?;
    let items: Option<Vec<T>> = list.items.into_iter().collect();
    items.ok_or_else(null_record)
}
