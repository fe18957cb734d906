//! The meters of queries: the limits of one query, and the budgets that it shares with others
//! ([`varve_session::budget::memory`]).

use std::sync::Arc;
use std::time::Instant;

use varve_graph::{ErrorKind, GraphError};
pub use varve_session::budget::memory::measure_by;
use varve_session::budget::memory::pausing;
use varve_view::{CancelToken, Meter, MeterLimits, ViewError};

use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::identity::Identity;
use crate::request::RequestContext;
use crate::state::AppState;

/// The limits of one query of a request.
pub(crate) fn limits(config: &ServerConfig, deadline: Instant) -> MeterLimits {
    MeterLimits {
        rows_max: config.max_traversal_rows,
        bytes_max: config.max_traversal_bytes as u64,
        deadline: Some(deadline),
    }
}

/// The meter of a request's query within these limits, and those of the client.
pub(crate) fn meter(
    (state, client): (&AppState, &Identity),
    limits: MeterLimits,
    cancel: CancelToken,
) -> Meter {
    let own = state.user_limits.query_memory(client);
    let budgets = [Some(Arc::clone(state.query_memory())), own];
    pausing(budgets.into_iter().flatten(), limits, cancel)
}

/// The client's error for a failed read through a view.
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
        ViewError::Store(error) => GraphError::from(*error).into(),
    }
}
