//! From a bound traversal to a query that is ready to run: the options of its source.

use varve_graph::write::WritePeriod;
use varve_gremlin::bind::Bound;
use varve_model::TemporalScope;
use varve_query::QueryError;
use varve_session::work::Prepared;

use crate::errors::ApiError;
use crate::wire::time::{commit_version as scope_version, instant as scope_instant};

/// The query of a traversal, which reads at `scope` unless its source names another point.
///
/// # Errors
/// When an option of the source is invalid.
pub(super) fn prepared(bound: &Bound, scope: TemporalScope) -> Result<Prepared<'_>, QueryError> {
    let writes = bound.plan.writes();
    Ok(Prepared {
        plan: &bound.plan,
        options: bound.options.clone(),
        scope: scope_of(scope, bound)?,
        period: match writes {
            true => period_of(bound)?,
            false => WritePeriod::default(),
        },
        commit_every: match writes {
            true => elements_of(bound)?,
            false => None,
        },
    })
}

/// The point of both times at which a traversal reads: `scope`, unless its source names another
/// one.
fn scope_of(mut scope: TemporalScope, bound: &Bound) -> Result<TemporalScope, QueryError> {
    for (key, value) in &bound.with {
        let text = value.shown().to_string();
        match key.as_str() {
            "as_of" => scope.valid = Some(scope_instant("as_of", &text).map_err(invalid)?),
            "as_of_tx" => scope.transaction = Some(scope_version(&text).map_err(invalid)?),
            _ => {}
        }
    }
    Ok(scope)
}

/// The valid period of a traversal's changes, as its source names it.
fn period_of(bound: &Bound) -> Result<WritePeriod, QueryError> {
    let mut period = WritePeriod::default();
    for (key, value) in &bound.with {
        let instant = |name| scope_instant(name, &value.shown().to_string()).map_err(invalid);
        match key.as_str() {
            "valid_from" => period.from = Some(instant("valid_from")?),
            "valid_to" => period.to = Some(instant("valid_to")?),
            _ => {}
        }
    }
    Ok(period)
}

/// The option of a source: after how many changed elements to commit.
pub(super) const COMMIT_EVERY: &str = "commit_every";

/// The value of [`COMMIT_EVERY`] in a traversal's source.
fn elements_of(bound: &Bound) -> Result<Option<usize>, QueryError> {
    let mut own = bound.with.iter().rev();
    let Some((_, value)) = own.find(|(key, _)| key == COMMIT_EVERY) else {
        return Ok(None);
    };
    let elements = value
        .as_long()
        .and_then(|number| usize::try_from(number).ok());
    match elements.filter(|elements| *elements > 0) {
        Some(elements) => Ok(Some(elements)),
        None => Err(QueryError::invalid(format!(
            "{COMMIT_EVERY} is a number of changed elements, 1 or more, but got {}",
            value.shown()
        ))),
    }
}

fn invalid(error: ApiError) -> QueryError {
    QueryError::invalid(error.message().to_owned())
}
