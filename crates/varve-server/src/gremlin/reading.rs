//! Runs the plan of a traversal, for requests and for jobs.

use varve_gremlin::execute::Results;
use varve_query::{Query, QueryError, Value};
use varve_view::Meter;

/// Results that one traversal may have, as HugeGraph bounds them.
const RESULTS_MAX: usize = 800_000;

/// The results of a traversal, at most `most`.
pub(super) fn results(
    mut query: Query<'_>,
    meter: &Meter,
    most: Option<u64>,
) -> Result<Results, QueryError> {
    let mut results: Vec<(Value, u64)> = Vec::new();
    let most = most.map_or(usize::MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    });
    let mut count = 0_u64;
    while count < most as u64 {
        let demand = usize::try_from(most as u64 - count).unwrap_or(usize::MAX);
        let Some(batch) = query.next(demand)? else {
            break;
        };
        meter.hold(batch.len() * size_of::<(Value, u64)>() * 2)?;
        query.fill(&batch)?;
        count = batch
            .iter()
            .fold(count, |count, (_, bulk)| count.saturating_add(*bulk));
        results.extend(batch);
        if count > RESULTS_MAX as u64 {
            return Err(QueryError::invalid(format!(
                "The traversal has more than {RESULTS_MAX} results: add limit()"
            )));
        }
    }
    cut(&mut results, most as u64);
    Ok(results)
}

/// Keeps the first `most` results; one with a bulk counts as many.
fn cut(results: &mut Results, most: u64) {
    let mut left = most;
    results.retain_mut(|(_, bulk)| {
        *bulk = (*bulk).min(left);
        left -= *bulk;
        *bulk > 0
    });
}
