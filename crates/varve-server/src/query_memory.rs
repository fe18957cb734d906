//! The memory that all queries hold together. Each has a limit of its own, but many run at once.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_graph::optimistic::{HeldBytes, HeldShare};
use varve_view::{CancelToken, Meter, MeterLimits, SharedBytes, ViewError};

use crate::blocking::yield_to_others;
use crate::state::AppState;

/// Who shares the budget, for the error of who finds no room.
const WHOSE: &str = "All queries together (server.max_traversals_held_bytes)";

/// The budget of so many bytes.
pub(crate) fn budget(bytes: usize) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(bytes, WHOSE))
}

#[derive(Debug)]
struct Share(Mutex<HeldShare>);

impl SharedBytes for Share {
    fn resize(&self, bytes: u64) -> Result<(), ViewError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.0.lock().resize(bytes).map_err(ViewError::store)
    }
}

/// The meter of a query within these limits, which takes what it holds from the budget of all.
pub(crate) fn meter(state: &AppState, limits: MeterLimits, cancel: CancelToken) -> Meter {
    let share = Share(Mutex::new(Arc::clone(state.query_memory()).share()));
    Meter::new(limits, cancel)
        .sharing(Box::new(share))
        .pausing(yield_to_others)
}
