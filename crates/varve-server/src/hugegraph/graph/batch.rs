//! Batches: reading their elements one by one, and `…/graph/batch`, which stores vertices and edges
//! together.

use std::cell::OnceCell;

use bytes::Bytes;
use varve_graph::GraphError;
use varve_graph::element::EdgeForm;
use varve_graph::write::{IdRef, Missing, Mutation, WriteRequest};
use varve_model::{CommitVersion, ElementId};

use super::edges;
use super::input::{self, EachOf, EdgeJson, ElementJson, GraphBatchJson, Input, Listed};
use super::periods::{Changes, of_element};
use super::submit::{Prepare, Target, request, submit};
use super::update;
use super::vertices::{self, no_body};
use crate::JsonWriter;
use crate::config::BATCH_ELEMENTS_MAX;
use crate::errors::ApiError;
use crate::json::quick;
use crate::request::{Query, RequestContext};
use crate::respond::{HandlerResult, Response};
use crate::wire::output;

/// Bytes of an element in a batch request, about; for the initial capacity of buffers.
const ELEMENT_JSON_BYTES: usize = 64;

/// The most elements of a kind in one request.
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

    /// Returns 400 if there are too many elements, or none.
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

/// Reads the body, an array, and turns each element into a mutation as it is read. Elements over
/// the limit are only counted.
pub(super) fn read_each<'a, I: Input<'a>>(
    context: &'a RequestContext,
    sizes: Sizes,
    mut make: impl FnMut(&mut I) -> Result<Mutation, GraphError>,
) -> Result<Changes, ApiError> {
    let capacity = (context.body().len() / ELEMENT_JSON_BYTES).min(sizes.limit);
    let mut read = Each::with_capacity(context, capacity)?;
    let each = EachOf::new(sizes.limit, |item| read.add(item, &mut make));
    let count = match quick::read(context.body(), each) {
        Some(count) => count,
        None => {
            read = Each::with_capacity(context, 0)?;
            context.json_seed(EachOf::new(sizes.limit, |item| read.add(item, &mut make)))?
        }
    };
    sizes.check(count)?;
    read.failed.map_or(Ok(read.changes), Err)
}

/// The changes of the elements that were read so far, and the error of the first bad element.
struct Each {
    changes: Changes,
    failed: Option<ApiError>,
}

impl Each {
    fn with_capacity(context: &RequestContext, capacity: usize) -> Result<Self, ApiError> {
        Ok(Self {
            changes: Changes::new(context, capacity)?,
            failed: None,
        })
    }

    fn add<I>(
        &mut self,
        item: Option<&mut ElementJson<'_, I>>,
        make: &mut impl FnMut(&mut I) -> Result<Mutation, GraphError>,
    ) {
        if self.failed.is_none() {
            self.failed = self.added(item, make).err();
        }
    }

    fn added<I>(
        &mut self,
        item: Option<&mut ElementJson<'_, I>>,
        make: &mut impl FnMut(&mut I) -> Result<Mutation, GraphError>,
    ) -> Result<(), ApiError> {
        let element = item.ok_or_else(null_record)?;
        let at = self.changes.mutations.len();
        let added = self.changes.add(make(&mut element.input)?, &element.given);
        added.map_err(|error| of_element("element", at, error))
    }
}

/// Writes ids as an array.
pub(super) fn ids<'a>(json: &mut JsonWriter, ids: impl Iterator<Item = IdRef<'a>>) {
    json.begin_array();
    ids.for_each(|id| output::id(json, id));
    json.end_array();
}

/// Stores vertices and edges, all or none: 201 and all ids. Edges may connect vertices of the same
/// request.
pub(super) async fn create(context: Box<RequestContext>) -> HandlerResult {
    submit(context, prepare, |_, elements| {
        let mut json = JsonWriter::with_capacity(elements.len() * 40);
        let mut left = elements.map(|(id, _)| id).peekable();
        json.begin_object().key("vertices").begin_array();
        while let Some(id) = left.next_if(|id| matches!(id, IdRef::Vertex(_))) {
            output::id(&mut json, id);
        }
        json.end_array().key("edges");
        ids(&mut json, left);
        json.end_object();
        Ok(Response::created(json.finish()))
    })
    .await
}

fn prepare(context: &RequestContext, target: &Target) -> Result<Changes, ApiError> {
    let ends_checked = context.query()?.boolean("check_vertex", true)?;
    let body: GraphBatchJson<'_> = input::body(context, no_body)?;
    changes_of(context, target, body, ends_checked)
}

/// The changes of a batch.
fn changes_of(
    context: &RequestContext,
    target: &Target,
    body: GraphBatchJson<'_>,
    ends_checked: bool,
) -> Result<Changes, ApiError> {
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
    let mut changes = Changes::new(context, vertices.len() + edges.len())?;
    target.with_inserts(|mut inserts| {
        for (at, mut vertex) in vertices.into_iter().enumerate() {
            let added = changes.add(inserts.vertex(&mut vertex.input)?, &vertex.given);
            added.map_err(|error| of_element("vertex", at, error))?;
        }
        for (at, mut edge) in edges.into_iter().enumerate() {
            let added = changes.add(inserts.edge(&mut edge.input, form)?, &edge.given);
            added.map_err(|error| of_element("edge", at, error))?;
        }
        Ok::<_, ApiError>(())
    })?;
    Ok(changes)
}

/// Stores a batch that the server itself has made: in one commit, puts the elements of `put`, and
/// deletes each edge of `end` for the edge's period. Waits until the commit is stored, and returns
/// its version.
pub(crate) fn store(
    context: &RequestContext,
    put: &serde_json::Value,
    end: &serde_json::Value,
) -> Result<CommitVersion, ApiError> {
    let target = Target::of(context)?;
    let (put, end) = (put.to_string(), end.to_string());
    let mut changes = changes_of(context, &target, serde_json::from_str(&put)?, true)?;
    let ended: GraphBatchJson<'_> = serde_json::from_str(&end)?;
    let edges = listed(ended.edges, Sizes::edges(BATCH_ELEMENTS_MAX))?;
    for EdgeJson { input, given, .. } in edges {
        let form = EdgeForm {
            labels_required: false,
            ends_checked: true,
        };
        let edge = target.with_rules(|rules| rules.edge(input, form))?.edge;
        let delete = Mutation::Delete {
            id: ElementId::Edge(edge.id),
            missing: Missing::Ignore,
        };
        changes.add(delete, &given)?;
    }
    let request = WriteRequest {
        mutations: changes.mutations,
        period: changes.period,
        periods: changes.periods,
        access: context.access_to(&target),
        ..WriteRequest::default()
    };
    Ok(target.graph.write_now(&request)?)
}

/// Stores rows that the server has read, all or none: a client's batch with the query parameters of
/// such a request, or a batch update. Waits until the commit is stored.
pub(crate) fn store_rows(
    context: &RequestContext,
    (is_edges, is_update): (bool, bool),
    (body, query): (&str, &str),
) -> Result<(), ApiError> {
    let mut of_batch = context.again(context.deadline());
    of_batch.body = Bytes::copy_from_slice(body.as_bytes());
    of_batch.query = OnceCell::from(Query::parse(query)?);
    let target = Target::of(&of_batch)?;
    let prepare: Prepare = match (is_edges, is_update) {
        (true, false) => edges::prepare_batch,
        (false, false) => vertices::prepare_batch,
        (true, true) => update::prepare_edges,
        (false, true) => update::prepare_vertices,
    };
    context.check_deadline()?;
    let stored = request(&of_batch, &target, prepare)?;
    target.graph.write_now(&stored)?;
    Ok(())
}

/// Returns the elements of a list that may be absent or empty; 400 for a null element or too many
/// elements.
fn listed<T>(list: Option<Listed<T>>, sizes: Sizes) -> Result<Vec<T>, ApiError> {
    let Some(list) = list.filter(|list| list.count > 0) else {
        return Ok(Vec::new());
    };
    sizes.check(list.count)?;
    let items: Option<Vec<T>> = list.items.into_iter().collect();
    items.ok_or_else(null_record)
}
