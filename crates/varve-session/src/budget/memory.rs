//! The memory that all queries hold together. Each has a limit of its own, but many run at once.
//!
//! A query charges a long list or text before it is allocated. All other memory is measured: what
//! its thread has allocated since the query began. So a step that charges nothing is bounded, too.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use varve_graph::optimistic::{HeldBytes, HeldShare};
use varve_view::{CancelToken, Meter, MeterLimits, SharedBytes, ViewError};

use super::lanes::yield_to_others;

/// Names the owners of the budget of queries in the error about an exhausted budget.
const QUERIES: &str = "All queries together (server.max_traversals_held_bytes)";
/// The same for the queries of one user.
const OF_USER: &str = "All queries of the user together (auth.user_query_bytes_max)";
/// The same for jobs.
const JOBS: &str = "All jobs together (server.max_jobs_held_bytes)";

static ALLOCATED: OnceLock<fn() -> i64> = OnceLock::new();

/// Sets the function that returns how many bytes the calling thread has allocated and not freed
/// since it began; only the first call of a process has an effect. The binary knows its allocator.
/// Without this function, only the bytes that queries charge are counted.
pub fn measure_by(allocated: fn() -> i64) {
    ALLOCATED.get_or_init(|| allocated);
}

/// The budget of all queries, of `max` bytes.
pub fn of_queries(max: usize) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(max, QUERIES))
}

/// The budget of all jobs, of `max` bytes.
pub fn of_jobs(max: usize) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(max, JOBS))
}

/// The budget of one user's queries, of `max` bytes.
pub fn of_user(max: usize) -> Arc<HeldBytes> {
    Arc::new(HeldBytes::new(max, OF_USER))
}

/// Shares of equal size in several budgets.
#[derive(Debug)]
struct Shares(Mutex<Vec<HeldShare>>);

impl SharedBytes for Shares {
    /// Resizes all shares. If one budget has no room, restores the former sizes and fails.
    fn resize(&self, bytes: u64) -> Result<(), ViewError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut shares = self.0.lock();
        let before: Vec<usize> = shares.iter().map(HeldShare::bytes).collect();
        let resized = shares.iter_mut().try_for_each(|share| share.resize(bytes));
        resized.map_err(|error| {
            for (share, before) in shares.iter_mut().zip(before) {
                // Shrinking cannot fail.
                let _ = share.resize(before);
            }
            error.into()
        })
    }
}

/// The meter of a query within these limits, which charges its memory to a budget. The query runs
/// on the calling thread.
pub fn within(budget: &Arc<HeldBytes>, limits: MeterLimits, cancel: CancelToken) -> Meter {
    of_budgets(std::iter::once(Arc::clone(budget)), limits, cancel)
}

/// The meter of a query within these limits, which charges its memory to each of the budgets, and
/// pauses for waiting work of its lane. The query runs on the calling thread.
pub fn pausing(
    budgets: impl Iterator<Item = Arc<HeldBytes>>,
    limits: MeterLimits,
    cancel: CancelToken,
) -> Meter {
    of_budgets(budgets, limits, cancel).pausing(yield_to_others)
}

fn of_budgets(
    budgets: impl Iterator<Item = Arc<HeldBytes>>,
    limits: MeterLimits,
    cancel: CancelToken,
) -> Meter {
    let shares = Shares(Mutex::new(budgets.map(HeldBytes::share).collect()));
    let meter = Meter::new(limits, cancel).sharing(Box::new(shares));
    match ALLOCATED.get() {
        Some(allocated) => meter.measuring(*allocated),
        None => meter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_takes_what_it_holds_from_the_budget_of_all_and_from_its_users() {
        // The bytes that a query reserves at a time.
        const STEP: usize = 256 * 1024;
        let all = Arc::new(HeldBytes::new(3 * STEP, QUERIES));
        let (ann, bob) = (of_user(2 * STEP), of_user(2 * STEP));
        let meter = |user: &Arc<HeldBytes>| {
            let budgets = [Arc::clone(&all), Arc::clone(user)].into_iter();
            of_budgets(budgets, MeterLimits::NONE, CancelToken::default())
        };
        let refused = |meter: &Meter| {
            let refused = meter.hold(STEP).map_err(|error| error.to_string());
            refused.expect_err("no room")
        };
        let first = meter(&ann);
        first.hold(2 * STEP).expect("room");
        let second = meter(&ann);
        assert!(refused(&second).contains("auth.user_query_bytes_max"));
        drop(second);
        let other = meter(&bob);
        other.hold(STEP).expect("room");
        assert!(refused(&other).contains("max_traversals_held_bytes"));
        drop((first, other));
        assert_eq!((all.held(), ann.held(), bob.held()), (0, 0, 0));
    }
}
