//! The memory that all queries hold together. Each has a limit of its own, but many run at once.
//!
//! A query counts what it is about to hold where that may be much at once, a long list or text. All
//! else is measured: what its thread has allocated since the query began. So a step that counts
//! nothing is bounded all the same.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use varve_graph::optimistic::{HeldBytes, HeldShare};
use varve_graph::{ErrorKind, GraphError};
use varve_view::{CancelToken, Meter, MeterLimits, SharedBytes, ViewError};

use crate::blocking::yield_to_others;
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::state::AppState;

/// Who shares the budget of queries, for the error of who finds no room.
const QUERIES: &str = "All queries together (server.max_traversals_held_bytes)";
/// The same for jobs.
const JOBS: &str = "All jobs together (server.max_jobs_held_bytes)";

static ALLOCATED: OnceLock<fn() -> i64> = OnceLock::new();

/// Says how many bytes the calling thread has allocated and not freed since it began; only the
/// first call of a process counts. The binary knows its allocator. Without it queries hold what
/// they count.
pub fn measure_by(allocated: fn() -> i64) {
    ALLOCATED.get_or_init(|| allocated);
}

/// The budget of all queries.
pub(crate) fn of_queries(config: &ServerConfig) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(config.max_traversals_held_bytes, QUERIES))
}

/// The budget of all jobs.
pub(crate) fn of_jobs(config: &ServerConfig) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(config.max_jobs_held_bytes, JOBS))
}

#[derive(Debug)]
struct Share(Mutex<HeldShare>);

impl SharedBytes for Share {
    fn resize(&self, bytes: u64) -> Result<(), ViewError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.0.lock().resize(bytes).map_err(ViewError::store)
    }
}

/// What one query of a request may cost until `deadline`.
pub(crate) fn limits(config: &ServerConfig, deadline: Instant) -> MeterLimits {
    MeterLimits {
        rows_max: config.max_traversal_rows,
        bytes_max: config.max_traversal_bytes as u64,
        deadline: Some(deadline),
    }
}

/// The meter of a request's query within these limits.
pub(crate) fn meter(state: &AppState, limits: MeterLimits, cancel: CancelToken) -> Meter {
    within(state.query_memory(), limits, cancel).pausing(yield_to_others)
}

/// The meter of a query within these limits, which takes what it holds from a budget. The query
/// runs on the calling thread.
pub(crate) fn within(budget: &Arc<HeldBytes>, limits: MeterLimits, cancel: CancelToken) -> Meter {
    let share = Share(Mutex::new(Arc::clone(budget).share()));
    let meter = Meter::new(limits, cancel).sharing(Box::new(share));
    match ALLOCATED.get() {
        Some(allocated) => meter.measuring(*allocated),
        None => meter,
    }
}

/// Why a read through a view gave no answer, as the client sees it.
#[track_caller]
pub(crate) fn ended(context: &RequestContext, error: ViewError) -> ApiError {
    match error {
        ViewError::Deadline | ViewError::Cancelled => context.too_late(),
        error @ ViewError::Rows { .. } => {
            ApiError::limit_exceeded(format!("{error} (server.max_traversal_rows)"))
        }
        error @ ViewError::Memory { .. } => {
            ApiError::limit_exceeded(format!("{error} (server.max_traversal_bytes)"))
        }
        ViewError::NoIndex(message) => GraphError::new(ErrorKind::NoIndex, message).into(),
        ViewError::Store(error) => match error.downcast::<GraphError>() {
            Ok(error) => (*error).into(),
            Err(error) => ApiError::internal(error.to_string()),
        },
    }
}
