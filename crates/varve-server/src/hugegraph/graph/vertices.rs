//! `…/graph/vertices`: creating, reading and deleting vertices by id.

use varve_graph::element::not_there;
use varve_graph::schema::Schema;
use varve_graph::write::{Missing, Mutation};
use varve_graph::{ErrorKind, GraphError};
use varve_model::ElementId;

use super::batch::{self, Sizes};
use super::input::{self, VertexJson};
use super::periods::Changes;
use super::submit::{Elements, Target, submit, submit_or};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::wire::ids::parse_vertex_id;
use crate::wire::{output, time};

/// Creates a vertex, or overwrites it as a whole: 201 and the vertex.
pub(super) async fn create(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_one, |schema, elements| {
        Ok(Response::created(one(schema, elements)?))
    })
    .await
}

fn prepare_one(context: &RequestContext, target: &Target) -> Result<Changes, ApiError> {
    let mut changes = Changes::new(context, 1)?;
    let mut vertex: VertexJson<'_> = input::body(context, no_body)?;
    let mutation = target.with_inserts(|mut inserts| inserts.vertex(&mut vertex.input))?;
    changes.add(mutation, &vertex.given)?;
    Ok(changes)
}

/// The error for a body that is `null`.
pub(super) fn no_body() -> ApiError {
    ApiError::illegal_argument("The request body can't be empty")
}

/// The JSON of the one element that was written.
pub(super) fn one(schema: &Schema, elements: Elements<'_, '_>) -> Result<Vec<u8>, GraphError> {
    let mut json = JsonWriter::with_capacity(output::ELEMENT_BYTES);
    match elements.next() {
        Some((id, Some(content))) => output::content(&mut json, schema, id, content)?,
        _ => {
            json.null();
        }
    }
    Ok(json.finish())
}

/// Creates vertices, all or none: 201 and their ids in the order of the request.
pub(super) async fn create_batch(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_batch, |_, elements| {
        let mut json = JsonWriter::with_capacity(elements.len() * 24);
        batch::ids(&mut json, elements.map(|(id, _)| id));
        Ok(Response::created(json.finish()))
    })
    .await
}

pub(super) fn prepare_batch(
    context: &RequestContext,
    target: &Target,
) -> Result<Changes, ApiError> {
    let limit = context.state().config().max_vertices_per_batch;
    let sizes = Sizes::vertices(limit);
    target
        .with_inserts(|mut inserts| batch::read_each(context, sizes, |input| inserts.vertex(input)))
}

/// [`get`] on the serving thread; `None` if the read may have to wait for running commits.
pub(super) fn get_at_once(context: &RequestContext) -> Option<HandlerResult> {
    time::waits_for_nothing(context).then(|| get(context))
}

/// One vertex: 200, or 404.
pub(super) fn get(context: &RequestContext) -> HandlerResult {
    let id = parse_vertex_id(context.path_parameter("id"))?;
    let scope = time::scope(context.query()?)?;
    let target = Target::of(context)?;
    let mut json = JsonWriter::with_capacity(output::ELEMENT_BYTES);
    let mut written = Ok(());
    let found = target.with_vertex(context, (&id, scope), &mut |row| {
        written = output::vertex_row(&mut json, &target.schema, &id, row);
    })?;
    written?;
    if !found {
        return Err(not_there(&ElementId::Vertex(id)).into());
    }
    Ok(Response::ok(json.finish()))
}

/// Deletes a vertex and its edges: 204. If the vertex does not exist: 400, as HugeGraph's clients
/// expect; with the parameter `label`, 204.
pub(super) async fn delete(context: Box<RequestContext>) -> HandlerResult {
    submit_or(
        context,
        prepare_delete,
        |_, _| Ok(Response::no_content()),
        refusal,
    )
    .await
}

fn prepare_delete(context: &RequestContext, _: &Target) -> Result<Changes, ApiError> {
    let id = ElementId::Vertex(parse_vertex_id(context.path_parameter("id"))?);
    let missing = missing(context)?;
    Changes::of(context, vec![Mutation::Delete { id, missing }])
}

/// Returns whether deleting an element that does not exist is refused: only without the parameter
/// `label`.
pub(super) fn missing(context: &RequestContext) -> Result<Missing, ApiError> {
    Ok(match context.query()?.get("label") {
        Some(_) => Missing::Ignore,
        None => Missing::Refuse,
    })
}

fn refusal(context: &RequestContext, error: GraphError) -> ApiError {
    let shown = parse_vertex_id(context.path_parameter("id"))
        .map_or_else(|_| String::new(), |id| id.to_string());
    no_such("vertex", &shown, error)
}

/// The error for deleting an element that does not exist.
pub(super) fn no_such(kind: &str, id: &str, error: GraphError) -> ApiError {
    if error.kind != ErrorKind::NotFound {
        return error.into();
    }
    ApiError::illegal_argument(format!(
        "No such {kind} with id: '{id}', org.apache.hugegraph.exception.NotFoundException: {}",
        error.message
    ))
}
