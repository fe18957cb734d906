//! The parameters of traversers: bounds, steps and vertices, checked with HugeGraph's messages.

use std::time::Instant;

use varve_graph::read::View;
use varve_graph::schema::Schema;
use varve_model::{Direction, VertexId};
use varve_traversal::{Capacity, Search, Step, TraversalError, VertexNumber};
use varve_view::Meter;

use crate::errors::ApiError;
use crate::hugegraph::graph::{Target, direction, named};
use crate::request::{Query, RequestContext};
use crate::wire::ids::parse_vertex_id;
use crate::wire::time::scope;

/// The value that means no bound.
pub(super) const NO_LIMIT: i64 = -1;
/// The most edges of a vertex that are read, unless the client names another number.
pub(super) const DEGREE: i64 = 10_000;
/// The most vertices of a traversal, unless the client names another number.
pub(super) const CAPACITY: i64 = 10_000_000;
/// The most elements of an answer, unless the client names another number.
pub(super) const LIMIT: i64 = 10_000_000;
/// The largest `skip_degree`.
const SKIP_DEGREE_MAX: i64 = 800_000;

/// The graph of a request, its view, and the meter of the traversal's cost.
pub(super) struct Ground {
    pub(super) target: Target,
    pub(super) view: View,
    pub(super) meter: Meter,
    pub(super) began: Instant,
}

impl Ground {
    pub(super) fn of(context: &RequestContext) -> Result<Self, ApiError> {
        let began = Instant::now();
        let target = Target::of(context)?;
        let view = context
            .view(&target, scope(context.query()?)?)?
            .remembering();
        Ok(Self {
            target,
            view,
            meter: context.session.meter(),
            began,
        })
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.target.schema
    }

    pub(super) fn search(&self) -> Search<'_> {
        Search::new(&self.view, &self.meter)
    }
}

/// Turns the error of a traversal into the client's error.
#[track_caller]
pub(super) fn refused(context: &RequestContext, error: TraversalError) -> ApiError {
    match error {
        TraversalError::Capacity(message) => ApiError::huge(message),
        error @ (TraversalError::Weight(_) | TraversalError::NotANumber(_)) => {
            ApiError::illegal_argument(error.to_string())
        }
        TraversalError::View(error) => context.session.failed_read(error).into(),
    }
}

/// Reads the vertex id in a required query parameter; `what` names it in the error message.
pub(super) fn vertex_of(query: &Query, name: &str, what: &str) -> Result<VertexId, ApiError> {
    let text = named(query, name)
        .ok_or_else(|| ApiError::illegal_argument(format!("The '{what} id' can't be null")))?;
    parse_vertex_id(text)
}

/// The number of a vertex that must exist.
pub(super) fn existing(
    context: &RequestContext,
    search: &mut Search<'_>,
    id: &VertexId,
    what: &str,
) -> Result<VertexNumber, ApiError> {
    let number = search.number(id).map_err(|error| refused(context, error))?;
    match search.exists(number) {
        Ok(true) => Ok(number),
        Ok(false) => Err(ApiError::illegal_argument(format!(
            "The {what} with id '{id}' does not exist"
        ))
        .with_cause(format!(
            "org.apache.hugegraph.exception.NotFoundException: Vertex '{id}' does not exist"
        ))),
        Err(error) => Err(refused(context, error)),
    }
}

/// A number greater than 0; `what` names it in the error message.
pub(super) fn positive(value: i64, what: &str) -> Result<u64, ApiError> {
    match u64::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(ApiError::illegal_argument(format!(
            "The {what} parameter must be > 0, but got {value}"
        ))),
    }
}

/// A number greater than 0, or `None` for -1; `what` names it in the error message.
pub(super) fn bounded(value: i64, what: &str) -> Result<Option<u64>, ApiError> {
    match u64::try_from(value) {
        Ok(bound) if bound > 0 => Ok(Some(bound)),
        _ if value == NO_LIMIT => Ok(None),
        _ => Err(ApiError::illegal_argument(format!(
            "The {what} parameter must be > 0 or == -1, but got: {value}"
        ))),
    }
}

/// A capacity: [`bounded`].
pub(super) fn capacity(value: i64) -> Result<Capacity, ApiError> {
    Ok(bounded(value, "capacity")?.map_or(Capacity::NONE, Capacity::of))
}

/// A limit of the answer: [`bounded`].
pub(super) fn limit(value: i64) -> Result<u64, ApiError> {
    Ok(bounded(value, "limit")?.unwrap_or(u64::MAX))
}

/// The number of best results in the answer; `None` for 0, which means all.
pub(super) fn top(value: i64) -> Result<Option<u64>, ApiError> {
    match u64::try_from(value) {
        Ok(top) => Ok(Some(top).filter(|top| *top > 0)),
        Err(_) => Err(ApiError::illegal_argument(format!(
            "The top must be >= 0, but got: {value}"
        ))),
    }
}

/// A fraction above 0 and at most 1; `what` names its request in the error message.
pub(super) fn alpha(value: f64, what: &str) -> Result<f64, ApiError> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(ApiError::illegal_argument(format!(
        "The alpha of {what} must be in range (0, 1], but got '{value:?}'"
    )))
}

/// A required member of a body.
pub(super) fn required<T>(member: Option<T>, name: &str) -> Result<T, ApiError> {
    member.ok_or_else(|| ApiError::illegal_argument(format!("The {name} of request can't be null")))
}

/// [`CAPACITY`], for bodies without it.
pub(super) const fn default_capacity() -> i64 {
    CAPACITY
}

/// [`LIMIT`], for bodies without it.
pub(super) const fn default_limit() -> i64 {
    LIMIT
}

/// `max_degree` and `skip_degree`, as a step has them.
pub(super) fn degrees(
    max_degree: i64,
    skip_degree: i64,
) -> Result<(Option<u64>, Option<u64>), ApiError> {
    let most = bounded(max_degree, "max degree")?;
    if !(0..=SKIP_DEGREE_MAX).contains(&skip_degree) {
        return Err(ApiError::illegal_argument(format!(
            "The skipped degree must be in [0, {SKIP_DEGREE_MAX}], but got '{skip_degree}'"
        )));
    }
    if skip_degree > 0 && (max_degree == NO_LIMIT || skip_degree < max_degree) {
        return Err(ApiError::illegal_argument(format!(
            "The skipped degree must be >= max degree, but got skipped degree '{skip_degree}' and max degree '{max_degree}'"
        )));
    }
    let skip = u64::try_from(skip_degree).ok().filter(|skip| *skip > 0);
    Ok((most, skip))
}

/// Refuses degrees that are not below the capacity, as HugeGraph does for shortest paths.
pub(super) fn degrees_below_capacity(query: &Query) -> Result<(), ApiError> {
    let capacity = query.integer("capacity", CAPACITY)?;
    if capacity == NO_LIMIT {
        return Ok(());
    }
    let max_degree = query.integer("max_degree", DEGREE)?;
    if max_degree == NO_LIMIT || max_degree >= capacity {
        return Err(ApiError::illegal_argument(
            "The max degree must be < capacity",
        ));
    }
    if query.integer("skip_degree", 0)? >= capacity {
        return Err(ApiError::illegal_argument(
            "The skipped degree must be < capacity",
        ));
    }
    Ok(())
}

/// The step that `direction`, `label`, `max_degree` and `skip_degree` describe.
pub(super) fn step(query: &Query, schema: &Schema) -> Result<Step, ApiError> {
    let direction: Option<Direction> = direction(query)?;
    let labels = match named(query, "label") {
        Some(name) => vec![schema.require_edge_label(name)?.id],
        None => Vec::new(),
    };
    let max_degree = query.integer("max_degree", DEGREE)?;
    let (max_degree, skip_degree) = degrees(max_degree, query.integer("skip_degree", 0)?)?;
    Ok(Step {
        direction,
        labels,
        max_degree,
        skip_degree,
        ..Step::default()
    })
}
