//! The reads and changes of a script: it reads one state of one graph, and all its changes are one
//! transaction.
//!
//! The first traversal takes a view of the graph, and all that follow read the same one, so that
//! what a script writes may depend on what it has read before. The first change begins a
//! transaction on it; from then on traversals see what was changed. It is committed when the script
//! has ended well, or where the script says so; a script that fails leaves no trace. If another
//! commit has changed what this commit depends on, the script runs again from its beginning.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use varve_graph::optimistic::{
    CommitEvery, HeldBytes, OptimisticLimits, OptimisticTransaction, PartCheck,
};
use varve_graph::read::View;
use varve_graph::write::WritePeriod;
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_gremlin::bind::Bound;
use varve_gremlin::execute::Results;
use varve_model::{CommitVersion, TemporalScope};
use varve_query::{Query, QueryError};
use varve_view::{AccessPolicy, Meter, ViewError};

use super::reading;
use crate::config::GremlinConfig;
use crate::errors::ApiError;
use crate::wire::time::{commit_version as scope_version, instant as scope_instant};

/// The most runs of a script whose commits conflict with others.
const RUNS_MAX: u32 = 8;
/// The longest wait before a script runs again; earlier waits are shorter.
const WAIT_MAX: Duration = Duration::from_millis(64);

/// Names the owners of the budget in the error about an exhausted budget.
const WHOSE: &str = "All open transactions and sessions together (gremlin.held_bytes_max)";

/// The limits of transactions and sessions, and the sessions that are open.
#[derive(Debug)]
pub(crate) struct TransactionLimits {
    /// The limits of one transaction.
    one: OptimisticLimits,
    /// The bytes that all transactions and the variables of sessions hold together.
    pub(crate) held: Arc<HeldBytes>,
    /// How long the transaction of a session may be open.
    pub(super) age_max: Duration,
    /// Open sessions.
    pub(super) sessions: AtomicUsize,
}

impl TransactionLimits {
    /// The limits of a server's configuration, with a budget of their own.
    pub(crate) fn new(config: &GremlinConfig) -> Self {
        let held = Arc::new(HeldBytes::new(config.held_bytes_max, WHOSE));
        Self {
            one: OptimisticLimits {
                elements_max: config.transaction_elements_max,
                bytes_max: config.transaction_bytes_max,
                all: Some(Arc::clone(&held)),
            },
            held,
            age_max: Duration::from_millis(config.transaction_ms),
            sessions: AtomicUsize::new(0),
        }
    }

    /// Sessions that are open now.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Bytes that open transactions and the variables of sessions hold now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held.held()
    }
}

/// The work of a script on one graph.
pub(super) struct Work {
    pub(super) graph: Arc<Graph>,
    /// The client's policy for the graph's elements.
    access: Option<Arc<AccessPolicy>>,
    /// Checks the client's rights before each commit in between.
    pub(super) check: Option<PartCheck>,
    /// Whether the script may change something. Then its view must not change, even on an engine
    /// without snapshots.
    may_write: bool,
    /// The view that traversals of the present read.
    view: Option<View>,
    changes: Option<OptimisticTransaction>,
    /// The valid period of the changes.
    period: WritePeriod,
    /// Whether a part of the script's changes is stored.
    pub(super) has_committed: bool,
    /// When the transaction began: it took its first view then.
    begun: Instant,
    limits: OptimisticLimits,
    /// Whether changes were dropped because the transaction was open for too long.
    is_late: bool,
}

impl Work {
    pub(super) fn new(
        (graph, access): (Arc<Graph>, Option<Arc<AccessPolicy>>),
        may_write: bool,
        limits: &TransactionLimits,
    ) -> Self {
        Self {
            graph,
            access,
            check: None,
            may_write,
            view: None,
            changes: None,
            period: WritePeriod::default(),
            has_committed: false,
            begun: Instant::now(),
            limits: limits.one.clone(),
            is_late: false,
        }
    }

    /// Runs a traversal at a point of both times, unless its source names another one, and returns
    /// at most `most` results.
    ///
    /// # Errors
    /// When it changes the past, has another valid period than earlier changes, or the traversal
    /// fails.
    pub(super) fn run(
        &mut self,
        scope: TemporalScope,
        (bound, most): (&Bound, Option<u64>),
        meter: &Meter,
    ) -> Result<Results, QueryError> {
        let scope = scope_of(scope, bound)?;
        let writes = bound.plan.writes();
        if writes {
            self.begin(scope, bound)?;
        }
        let options = bound.options.clone();
        if !scope.is_now() {
            // The script's changes do not affect the past.
            let view = self.view_at(scope)?;
            let query = Query::new(&bound.plan, &view, view.schema(), meter, options)?;
            return reading::results(query, meter, most);
        }
        if let Some(changes) = &self.changes {
            let query = Query::writing(&bound.plan, changes, meter, options);
            let ran = query.and_then(|query| reading::results(query, meter, most));
            self.has_committed |= changes.has_committed();
            return ran;
        }
        let view = self.view()?;
        let query = Query::new(&bound.plan, &view, view.schema(), meter, options)?;
        reading::results(query, meter, most)
    }

    /// Continues with the client's current rights: a session outlives a request.
    ///
    /// # Errors
    /// When the rights have changed and there are uncommitted changes.
    pub(super) fn admit(&mut self, access: Option<Arc<AccessPolicy>>) -> Result<(), ApiError> {
        if self.access == access {
            return Ok(());
        }
        self.access = access;
        let view = self.view.take();
        self.view = view.map(|view| view.guarded_by(self.access.as_ref()));
        if self.changes.take().is_none() {
            return Ok(());
        }
        self.roll_back();
        Err(ApiError::illegal_argument(
            "The client's rights or the schema were changed meanwhile: the transaction is rolled back",
        ))
    }

    /// The client's view at a point of both times.
    fn view_at(&self, scope: TemporalScope) -> Result<View, ViewError> {
        let view = self.graph.view(scope)?;
        Ok(view.guarded_by(self.access.as_ref()))
    }

    /// The view that the script reads.
    fn view(&mut self) -> Result<View, QueryError> {
        if let Some(view) = &self.view {
            return Ok(view.clone());
        }
        let scope = TemporalScope {
            valid: None,
            transaction: self.may_write.then_some(CommitVersion::MAX),
        };
        let view = self.view_at(scope)?;
        self.begun = Instant::now();
        self.view = Some(view.clone());
        Ok(view)
    }

    /// Begins the transaction, unless it has begun.
    fn begin(&mut self, scope: TemporalScope, bound: &Bound) -> Result<(), QueryError> {
        if !scope.is_now() {
            return Err(QueryError::invalid(
                "The past can't be changed: as_of and as_of_tx are for reading",
            ));
        }
        let period = period_of(bound)?;
        let every = elements_of(bound)?.map(|elements| CommitEvery {
            elements,
            period,
            check: self.check.clone(),
        });
        let has_parts = every.is_some();
        if self.changes.is_some() && self.period != period {
            return Err(QueryError::invalid(
                "All that a transaction changes has one valid period: commit in between",
            ));
        }
        self.may_write = true;
        self.period = period;
        let changes = match self.changes.take() {
            Some(changes) => changes,
            None => {
                let view = self.view()?;
                self.graph.begin_on(view, self.limits.clone())
            }
        };
        changes.commit_every(every);
        self.changes = Some(changes);
        if has_parts {
            // The view would keep old versions in memory; the transaction has newer views.
            self.view = None;
        }
        Ok(())
    }

    /// Whether there are uncommitted changes.
    pub(super) fn is_changed(&self) -> bool {
        self.changes
            .as_ref()
            .is_some_and(OptimisticTransaction::is_changed)
    }

    /// Commits the changes; later traversals read the state after the commit.
    ///
    /// # Errors
    /// As [`OptimisticTransaction::commit`].
    pub(super) fn commit(&mut self) -> Result<(), GraphError> {
        self.view = None;
        if let Some(changes) = self.changes.take() {
            self.has_committed |= changes.commit(self.period)?.is_some();
        }
        Ok(())
    }

    /// Ends a transaction that has been open for too long: its view keeps old versions in memory.
    pub(super) fn end_late(&mut self, age_max: Duration) {
        let is_open = self.view.is_some() || self.changes.is_some();
        if is_open && self.begun.elapsed() >= age_max {
            self.is_late |= self.is_changed();
            self.roll_back();
        }
    }

    /// As [`Work::end_late`], before the next request.
    ///
    /// # Errors
    /// When changes were dropped.
    pub(super) fn check_age(&mut self, age_max: Duration) -> Result<(), QueryError> {
        self.end_late(age_max);
        match std::mem::take(&mut self.is_late) {
            false => Ok(()),
            true => Err(QueryError::View(ViewError::from(GraphError::new(
                ErrorKind::Conflict,
                format!(
                    "The transaction was open for more than {} ms (gremlin.transaction_ms) and is \
                     rolled back",
                    age_max.as_millis()
                ),
            )))),
        }
    }

    /// Drops the changes.
    pub(super) fn roll_back(&mut self) {
        self.view = None;
        self.changes = None;
    }

    /// Continues with the current schema, which the script has changed.
    ///
    /// # Errors
    /// As [`OptimisticTransaction::renew`].
    pub(super) fn renew(&mut self) -> Result<(), GraphError> {
        self.view = None;
        match &self.changes {
            Some(changes) => changes.renew(&self.graph.schema()),
            None => Ok(()),
        }
    }
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

/// Runs a script until its commit succeeds, at most [`RUNS_MAX`] times. `run` uses a new host each
/// time, and commits. `may_run_again` is false for a script of which a part is stored.
///
/// # Errors
/// As the last run.
pub(super) fn until_committed<T, E>(
    mut run: impl FnMut() -> Result<T, E>,
    may_run_again: impl Fn(&E) -> bool,
    check: impl Fn() -> bool,
) -> Result<T, E> {
    let mut runs = 1;
    loop {
        match run() {
            Err(error) if runs < RUNS_MAX && may_run_again(&error) && check() => {
                std::thread::sleep(wait(runs));
                runs += 1;
            }
            done => return done,
        }
    }
}

/// Whether a script ended because of another commit.
pub(super) fn is_conflict(error: &QueryError) -> bool {
    kind_of(error) == Some(ErrorKind::Conflict)
}

/// Whether a script ended because its client lacks a right.
pub(super) fn is_denied(error: &QueryError) -> bool {
    kind_of(error) == Some(ErrorKind::Denied)
}

fn kind_of(error: &QueryError) -> Option<ErrorKind> {
    match error {
        QueryError::View(error) => error.kind(),
        _ => None,
    }
}

/// Whether an error means that nothing was stored and the request may be repeated.
pub(super) fn may_run_again(error: &QueryError) -> bool {
    let QueryError::View(error) = error else {
        return false;
    };
    match error {
        ViewError::Deadline | ViewError::Cancelled => true,
        error => matches!(error.kind(), Some(ErrorKind::Conflict | ErrorKind::Busy)),
    }
}

/// A random wait, so that conflicting scripts do not collide again.
#[allow(clippy::cast_precision_loss, reason = "small")]
fn wait(runs: u32) -> Duration {
    let most = Duration::from_millis(1 << runs.min(16)).min(WAIT_MAX);
    let random = RandomState::new().hash_one(runs) % 1_000;
    most.mul_f64(random as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_again_unless_a_part_of_it_is_stored() {
        for (stored, wanted) in [(false, RUNS_MAX), (true, 1)] {
            let mut runs = 0;
            let done: Result<(), bool> = until_committed(
                || {
                    runs += 1;
                    Err(stored)
                },
                |stored| !stored,
                || true,
            );
            assert_eq!((done, runs), (Err(stored), wanted));
        }
    }
}
