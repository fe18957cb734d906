//! `…/graph/edges`: creating, reading and deleting edges by id.

use varve_graph::GraphError;
use varve_graph::element::{EdgeForm, not_there};
use varve_graph::write::Mutation;
use varve_model::ElementId;

use super::batch::{self, Sizes};
use super::check_may_delete;
use super::input::{self, EdgeJson};
use super::periods::{Changes, ENDS_EDGE};
use super::submit::{Target, submit, submit_or};
use super::vertices::{missing, no_body, no_such, one};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::wire::ids::{OldForm, parse_edge_id};
use crate::wire::{output, time};

/// Creates an edge, or overwrites it as a whole: 201 and the edge.
pub(super) async fn create(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_one, |schema, elements| {
        Ok(Response::created(one(schema, elements)?))
    })
    .await
}

fn prepare_one(context: &RequestContext, target: &Target) -> Result<Changes, ApiError> {
    const FORM: EdgeForm = EdgeForm {
        labels_required: false,
        ends_checked: true,
    };
    let mut changes = Changes::new(context, 1)?;
    let mut edge: EdgeJson<'_> = input::body(context, no_body)?;
    let mutation = target.with_inserts(|mut inserts| inserts.edge(&mut edge.input, FORM))?;
    changes.add(mutation, &edge.given)?;
    Ok(changes)
}

/// Creates edges, all or none: 201 and their ids in the order of the request. With
/// `check_vertex=false` the existence of their ends is not checked.
pub(super) async fn create_batch(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare_batch, |_, elements| {
        let mut json = JsonWriter::with_capacity(elements.len() * 48);
        batch::ids(&mut json, elements.map(|(id, _)| id));
        Ok(Response::created(json.finish()))
    })
    .await
}

pub(super) fn prepare_batch(
    context: &RequestContext,
    target: &Target,
) -> Result<Changes, ApiError> {
    let query = context.query()?;
    let ends = query.boolean(ENDS_EDGE, false)?;
    if ends {
        check_may_delete(context)?;
    }
    let ends_checked = query.boolean("check_vertex", true)?;
    let form = EdgeForm {
        labels_required: true,
        ends_checked,
    };
    let limit = context.state().config().max_edges_per_batch;
    let sizes = Sizes::edges(limit);
    let mut changes = target.with_inserts(|mut inserts| {
        batch::read_each(context, sizes, |input| inserts.edge(input, form))
    })?;
    changes.ends = ends;
    Ok(changes)
}

/// [`get`] on the serving thread; `None` if the read may have to wait for running commits.
pub(super) fn get_at_once(context: &RequestContext) -> Option<HandlerResult> {
    time::waits_for_nothing(context).then(|| get(context))
}

/// One edge: 200, or 404.
pub(super) fn get(context: &RequestContext) -> HandlerResult {
    let id = parse_edge_id(context.path_parameter("id"), OldForm::Accepted)?;
    let scope = time::scope(context.query()?)?;
    let target = Target::of(context)?;
    let mut json = JsonWriter::with_capacity(output::ELEMENT_BYTES);
    let mut written = Ok(());
    let found = target.with_edge(context, (&id, scope), &mut |row| {
        written = output::edge_row(&mut json, &target.schema, &id, row);
    })?;
    written?;
    if !found {
        return Err(not_there(&ElementId::Edge(id)).into());
    }
    Ok(Response::ok(json.finish()))
}

/// Deletes an edge: 204. If the edge does not exist: 400, as HugeGraph's clients expect; with the
/// parameter `label`, 204.
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
    let text = context.path_parameter("id");
    let id = parse_edge_id(text, OldForm::Refused)
        .map_err(|error| no_such("edge", text, GraphError::not_found(error.message())))?;
    let missing = missing(context)?;
    let id = ElementId::Edge(id);
    Changes::of(context, vec![Mutation::Delete { id, missing }])
}

fn refusal(context: &RequestContext, error: GraphError) -> ApiError {
    no_such("edge", context.path_parameter("id"), error)
}
