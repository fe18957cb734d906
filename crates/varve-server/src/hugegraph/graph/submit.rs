//! The way of a write from request to commit: the thread that does the work, and the wait for its
//! end.

use std::ops::Deref;
use std::sync::Arc;

use varve_graph::GraphError;
use varve_graph::element::{Inserts, Rules};
use varve_graph::registry::ServedGraph;
use varve_graph::schema::Schema;
use varve_graph::write::{Contention, IdRef, Ticket, WriteRequest, Written};
use varve_model::{EdgeId, TemporalScope, VertexId};

use super::periods::Changes;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

/// Bodies up to this size are read, checked and prepared on the serving thread; larger ones would
/// delay its other connections.
const INLINE_BODY_BYTES: usize = 16 * 1024;

/// A graph and its schema as one request sees them.
#[derive(Clone)]
pub(in crate::hugegraph) struct Target {
    served: Arc<ServedGraph>,
}

impl Deref for Target {
    type Target = ServedGraph;

    fn deref(&self) -> &ServedGraph {
        &self.served
    }
}

impl Target {
    /// The graph that the path names.
    pub(in crate::hugegraph) fn of(context: &RequestContext) -> Result<Self, ApiError> {
        let served = context.served()?;
        Ok(Self { served })
    }

    /// Calls `found` with the content of a vertex's row, if the vertex exists and the client may
    /// see it; returns whether it did. Without a policy, a read of the present takes no snapshot.
    pub(super) fn with_vertex(
        &self,
        context: &RequestContext,
        (id, scope): (&VertexId, TemporalScope),
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        match context.access_to(self) {
            None => self.graph.with_vertex(id, scope, found),
            Some(_) => context.view(self, scope)?.with_vertex(id, found),
        }
    }

    /// [`Target::with_vertex`] of an edge.
    pub(super) fn with_edge(
        &self,
        context: &RequestContext,
        (id, scope): (&EdgeId, TemporalScope),
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        match context.access_to(self) {
            None => self.graph.with_edge(id, scope, found),
            Some(_) => context.view(self, scope)?.with_edge(id, found),
        }
    }

    /// Calls `work` with an [`Inserts`], which turns elements into mutations of this graph.
    pub(super) fn with_inserts<T>(&self, work: impl FnOnce(Inserts<'_>) -> T) -> T {
        self.with_rules(|rules| work(Inserts::new(rules, &self.schema)))
    }

    /// Calls `work` with the rules for elements of this graph.
    pub(super) fn with_rules<T>(&self, work: impl FnOnce(&Rules<'_>) -> T) -> T {
        let next = || self.graph.next_vertex_id();
        let next_edge = || self.graph.next_edge_number();
        work(&Rules {
            schema: &self.schema,
            mode: self.graph.catalogue().mode_of_write(),
            next_vertex_id: &next,
            next_edge_number: &next_edge,
        })
    }
}

/// Turns the body into mutations; must have no side effects.
pub(super) type Prepare = fn(&RequestContext, &Target) -> Result<Changes, ApiError>;

/// The elements of a request, each with its content after the commit; `None` for deletions.
pub(super) type Elements<'e, 'a> =
    &'e mut (dyn ExactSizeIterator<Item = (IdRef<'a>, Option<&'a [u8]>)> + 'e);

/// Makes the answer that is sent once the elements are stored.
pub(super) type Answer = fn(&Schema, Elements<'_, '_>) -> Result<Response, GraphError>;

/// Turns an error of the commit into the client's error.
pub(super) type Refusal = fn(&RequestContext, GraphError) -> ApiError;

/// Prepares and writes the mutations of a request, waits until they are stored, and answers.
pub(super) fn submit(
    context: Box<RequestContext>,
    prepare: Prepare,
    answer: Answer,
) -> impl Future<Output = HandlerResult> {
    submit_or(context, prepare, answer, |_, error| error.into())
}

/// [`submit`] with the errors that `refusal` makes.
pub(super) async fn submit_or(
    context: Box<RequestContext>,
    prepare: Prepare,
    answer: Answer,
    refusal: Refusal,
) -> HandlerResult {
    let target = Target::of(&context)?;
    // This keeps the state alive without a change of its reference count, whose cache line all
    // cores would write.
    let worker = Arc::clone(&context.worker);
    let state = &worker.state;
    let large = context.body().len() > INLINE_BODY_BYTES;
    let (route, deadline, turn) = (context.route(), context.deadline(), context.turn());
    // The futures of work on the pool are boxed. Otherwise the future of every write would have
    // their size, also without such work.
    let (response, ticket) = if large || state.reads_wait() {
        let pooled = {
            let work = move || {
                let request = request(&context, &target, prepare)?;
                wait_and_write(&context, &target, &request, answer, refusal)
            };
            Box::pin(state.run_request(route, (deadline, &turn), work))
        };
        pooled.await??
    } else {
        let request = request(&context, &target, prepare)?;
        if !turn.begin() {
            return Err(context.too_late());
        }
        let attempt = target.graph.write(&request, Contention::Refuse);
        match attempt.map_err(|error| refusal(&context, error))? {
            Some(written) => answered(&target, &request, written, answer)?,
            None => {
                turn.has_changed_nothing();
                let pooled = {
                    let work = move || wait_and_write(&context, &target, &request, answer, refusal);
                    Box::pin(state.run_request(route, (deadline, &turn), work))
                };
                pooled.await??
            }
        }
    };
    ticket.await?;
    Ok(response)
}

/// The write of a request.
pub(super) fn request(
    context: &RequestContext,
    target: &Target,
    prepare: Prepare,
) -> Result<WriteRequest, ApiError> {
    let changes = prepare(context, target)?;
    Ok(WriteRequest {
        mutations: changes.mutations,
        period: changes.period,
        periods: changes.periods,
        skip_unchanged: changes.skip_unchanged,
        ends: changes.ends,
        access: context.access_to(target),
        ..WriteRequest::default()
    })
}

/// Writes on a thread that may block.
fn wait_and_write(
    context: &RequestContext,
    target: &Target,
    request: &WriteRequest,
    answer: Answer,
    refusal: Refusal,
) -> Result<(Response, Ticket), ApiError> {
    context.check_deadline()?;
    let written = target.graph.write(request, Contention::Wait);
    let written = written
        .map_err(|error| refusal(context, error))?
        .ok_or_else(|| ApiError::internal("A write that may wait returned without a result"))?;
    answered(target, request, written, answer)
}

/// Makes the answer from the written elements; the caller sends it once they are stored.
fn answered(
    target: &Target,
    request: &WriteRequest,
    written: Written,
    answer: Answer,
) -> Result<(Response, Ticket), ApiError> {
    let response = {
        let mut elements = written.contents(request);
        answer(&target.schema, &mut elements)?
    };
    Ok((response, written.ticket))
}
