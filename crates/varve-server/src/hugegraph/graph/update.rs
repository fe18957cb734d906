//! Changes of stored elements: `PUT …/{id}?action=append|eliminate`, and batch updates with
//! strategies.

use std::sync::Arc;

use varve_graph::GraphError;
use varve_graph::element::{Strategies, UpdateAction, change};
use varve_graph::schema::Schema;
use varve_model::ElementId;

use super::batch::{Sizes, null_record};
use super::input::{self, EdgeJson, EdgeUpdateJson, UpdateJson, VertexJson, VertexUpdateJson};
use super::periods::Changes;
use super::submit::{Elements, Target, submit};
use super::vertices::{no_body, one};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::output;

/// Appends to or eliminates from a vertex: 200 and the vertex.
pub(super) async fn vertex(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_vertex, changed).await
}

/// Appends to or eliminates from an edge: 200 and the edge.
pub(super) async fn edge(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_edge, changed).await
}

fn changed(schema: &Schema, elements: Elements<'_, '_>) -> Result<Response, GraphError> {
    Ok(Response::ok(one(schema, elements)?))
}

fn prepare_vertex(context: &RequestContext, target: &Target) -> Result<Changes, ApiError> {
    let VertexJson { input, given, .. } = input::body(context, no_body)?;
    let id = parse_vertex_id(context.path_parameter("id"))?;
    let action = action(context)?;
    let id = ElementId::Vertex(id);
    let change = change(&target.schema, id, input.properties, action)?;
    let mut changes = Changes::new(context, 1)?;
    changes.add(change, &given)?;
    Ok(changes)
}

fn prepare_edge(context: &RequestContext, target: &Target) -> Result<Changes, ApiError> {
    let EdgeJson { input, given, .. } = input::body(context, no_body)?;
    let text = context.path_parameter("id");
    if let Some(sent) = input.id.filter(|sent| sent != text) {
        return Err(ApiError::illegal_argument(format!(
            "The ids are different between url and request body ('{text}' != '{sent}')"
        )));
    }
    let id = parse_edge_id(text, OldForm::Refused)?;
    let action = action(context)?;
    let id = ElementId::Edge(id);
    let change = change(&target.schema, id, input.properties, action)?;
    let mut changes = Changes::new(context, 1)?;
    changes.add(change, &given)?;
    Ok(changes)
}

fn action(context: &RequestContext) -> Result<UpdateAction, ApiError> {
    match context.query()?.get("action") {
        None | Some("") => Err(ApiError::illegal_argument(
            "The action param can't be empty",
        )),
        Some("append") => Ok(UpdateAction::Append),
        Some("eliminate") => Ok(UpdateAction::Eliminate),
        Some(other) => Err(ApiError::unknown_action(other)),
    }
}

/// Updates vertices in a batch, all or none: 200 and the vertices as they are now.
pub(super) async fn vertices(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_vertices, |schema, elements| {
        Ok(Response::ok(list("vertices", schema, elements)?))
    })
    .await
}

/// Updates edges in a batch, all or none: 200 and the edges as they are now.
pub(super) async fn edges(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_edges, |schema, elements| {
        Ok(Response::ok(list("edges", schema, elements)?))
    })
    .await
}

fn list(what: &str, schema: &Schema, elements: Elements<'_, '_>) -> Result<Vec<u8>, GraphError> {
    let mut json = JsonWriter::with_capacity(elements.len() * output::ELEMENT_BYTES);
    json.begin_object().key(what).begin_array();
    for (id, content) in elements {
        if let Some(content) = content {
            output::content(&mut json, schema, id, content)?;
        }
    }
    json.end_array().end_object();
    Ok(json.finish())
}

pub(super) fn prepare_vertices(
    context: &RequestContext,
    target: &Target,
) -> Result<Changes, ApiError> {
    let VertexUpdateJson(body) = input::body(context, || {
        ApiError::illegal_argument("BatchVertexRequest can't be null")
    })?;
    let limit = context.state().config().max_vertices_per_batch;
    let (inputs, strategies) = checked(&target.schema, body, "vertices", Sizes::vertices(limit))?;
    let inputs = inputs.into_iter();
    let inputs = inputs.map(|VertexJson { input, given, .. }| (input, given));
    let mut changes = Changes::new(context, 0)?;
    for (period, group) in changes.by_period(inputs, target.graph.now())? {
        let mutations =
            target.with_rules(|rules| rules.vertex_updates(&target.schema, group, &strategies))?;
        changes.add_all(mutations, period);
    }
    Ok(changes)
}

pub(super) fn prepare_edges(
    context: &RequestContext,
    target: &Target,
) -> Result<Changes, ApiError> {
    let EdgeUpdateJson(body) = input::body(context, || {
        ApiError::illegal_argument("BatchEdgeRequest can't be null")
    })?;
    let check_vertex = body.check_vertex;
    let limit = context.state().config().max_edges_per_batch;
    let (inputs, strategies) = checked(&target.schema, body, "edges", Sizes::edges(limit))?;
    let inputs = inputs.into_iter();
    let inputs = inputs.map(|EdgeJson { input, given, .. }| (input, given));
    let mut changes = Changes::new(context, 0)?;
    for (period, group) in changes.by_period(inputs, target.graph.now())? {
        let mutations = target.with_rules(|rules| {
            rules.edge_updates(&target.schema, group, &strategies, check_vertex)
        })?;
        changes.add_all(mutations, period);
    }
    Ok(changes)
}

/// Checks the parts of a batch update's body that vertices and edges have in common.
fn checked<T>(
    schema: &Schema,
    body: UpdateJson<'_, T>,
    what: &str,
    sizes: Sizes,
) -> Result<(Vec<T>, Arc<Strategies>), ApiError> {
    let Some(elements) = body.elements else {
        return Err(ApiError::illegal_argument(format!(
            "Parameter '{what}' can't be null"
        )));
    };
    if body.strategies.is_empty() {
        return Err(ApiError::illegal_argument(
            "Parameter 'update_strategies' can't be empty",
        ));
    }
    if !body.create_if_not_exist {
        return Err(ApiError::illegal_argument(
            "Parameter 'create_if_not_exist' dose not support false now",
        ));
    }
    sizes.check(elements.count)?;
    let items: Option<Vec<T>> = elements.items.into_iter().collect();
    let named = body.strategies.iter().map(|(name, s)| (name.as_ref(), *s));
    let strategies = Arc::new(Strategies::resolve(schema, named)?);
    Ok((items.ok_or_else(null_record)?, strategies))
}
