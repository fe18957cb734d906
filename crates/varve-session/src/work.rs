//! The reads and changes of a script, or of a transaction: they read one state of one graph, and
//! all changes are committed together.
//!
//! The first query takes a view of the graph, and all that follow read the same one, so that what
//! is written may depend on what was read before. The first change begins a transaction on it; from
//! then on queries see what was changed. It is committed when the script has ended well, or where
//! it says so; a script that fails leaves no trace. If another commit has changed what this commit
//! depends on, the script runs again from its beginning ([`until_committed`]).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use varve_graph::optimistic::{CommitEvery, OptimisticLimits, OptimisticTransaction, PartCheck};
use varve_graph::read::View;
use varve_graph::write::WritePeriod;
use varve_graph::{Graph, GraphError};
use varve_model::{CommitVersion, TemporalScope};
use varve_query::plan::Plan;
use varve_query::{Query, QueryError, QueryOptions};
use varve_view::{AccessPolicy, ErrorKind, Meter, ViewError};

use crate::Failure;
use crate::budget::transactions::TransactionLimits;

/// The most runs of a script whose commits conflict with others.
const RUNS_MAX: u32 = 8;
/// The longest wait before a script runs again; earlier waits are shorter.
const WAIT_MAX: Duration = Duration::from_millis(64);

/// A query that is ready to run: its plan, and how it runs.
#[derive(Debug)]
pub struct Prepared<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The initial state of the query.
    pub options: QueryOptions,
    /// The point of both times at which it reads.
    pub scope: TemporalScope,
    /// The valid period of its changes.
    pub period: WritePeriod,
    /// After how many changed elements it commits what it has changed so far; `None` to commit at
    /// the end.
    pub commit_every: Option<usize>,
}

/// How a query changes the graph.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change {
    /// The valid period of its changes.
    pub period: WritePeriod,
    /// When they are committed.
    pub parts: Parts,
}

/// When the changes of a query are committed.
#[derive(Debug, Clone, Copy, Default)]
pub enum Parts {
    /// Together, with the work.
    #[default]
    Whole,
    /// As [`Prepared::commit_every`].
    Every(usize),
    /// At explicit points of the query.
    Explicit,
}

/// What a query reads, and may change.
pub enum State<'w> {
    /// A committed state, which the query may only read.
    View(&'w View),
    /// The state of the present with the changes of the transaction.
    Changes(&'w OptimisticTransaction),
}

/// The work of a script or a transaction on one graph.
pub struct Work {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The client's policy for the graph's elements.
    access: Option<Arc<AccessPolicy>>,
    /// Checks the client's rights before each commit in between.
    pub check: Option<PartCheck>,
    /// Whether the script may change something. Then its view must not change, even on an engine
    /// without snapshots.
    may_write: bool,
    /// The view that traversals of the present read.
    view: Option<View>,
    changes: Option<OptimisticTransaction>,
    /// The valid period of the changes.
    period: WritePeriod,
    /// Whether a part of the script's changes is stored.
    pub has_committed: bool,
    /// The version of the last commit in between.
    pub last_part: Option<CommitVersion>,
    /// When the transaction began: it took its first view then.
    begun: Instant,
    limits: OptimisticLimits,
    /// Whether changes were dropped because the transaction was open for too long.
    is_late: bool,
}

impl Work {
    /// Work that has not begun, of a client with this policy.
    pub fn new(
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
            last_part: None,
            begun: Instant::now(),
            limits: limits.one.clone(),
            is_late: false,
        }
    }

    /// Runs a query. `read` takes its rows.
    ///
    /// # Errors
    /// When it changes the past, has another valid period than earlier changes, or fails.
    pub fn run<T>(
        &mut self,
        query: &Prepared<'_>,
        meter: &Meter,
        read: impl FnOnce(Query<'_>) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let (plan, options) = (query.plan, query.options.clone());
        let change = query.plan.writes().then_some(Change {
            period: query.period,
            parts: query.commit_every.map_or(Parts::Whole, Parts::Every),
        });
        self.on(query.scope, change, |state| match state {
            State::View(view) => read(Query::new(plan, view, view.schema(), meter, options)?),
            State::Changes(changes) => Query::writing(plan, changes, meter, options).and_then(read),
        })
    }

    /// Runs a query of any language on the state at a point of both times. A query with a `change`
    /// gets [`State::Changes`]. So does one of the present after the transaction's first change.
    /// One of another valid time reads the committed state that the transaction reads.
    ///
    /// # Errors
    /// When it changes the past, has another valid period than earlier changes, or fails; when it
    /// reads another valid time, and there are uncommitted changes.
    pub fn on<T, E: From<QueryError>>(
        &mut self,
        scope: TemporalScope,
        change: Option<Change>,
        query: impl FnOnce(State<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(change) = change {
            self.begin(scope, change)?;
        }
        if !scope.is_now() {
            let scope = self.pinned(scope)?;
            let view = self.view_at(scope).map_err(QueryError::from)?.remembering();
            return query(State::View(&view));
        }
        if let Some(changes) = &self.changes {
            let ran = query(State::Changes(changes));
            self.has_committed |= changes.has_committed();
            self.last_part = changes.last_part().or(self.last_part);
            return ran;
        }
        let view = self.view()?.remembering();
        query(State::View(&view))
    }

    /// The client's policy; `None` if it sees every element.
    #[must_use]
    pub fn access(&self) -> Option<&Arc<AccessPolicy>> {
        self.access.as_ref()
    }

    /// Continues with the client's current rights: a session outlives a request.
    ///
    /// # Errors
    /// When the rights have changed and there are uncommitted changes.
    pub fn admit(&mut self, access: Option<Arc<AccessPolicy>>) -> Result<(), Failure> {
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
        Err(Failure::new(
            ErrorKind::InvalidArgument,
            "The client's rights or the schema were changed meanwhile: the transaction is rolled back",
        ))
    }

    /// A point of both times, in the state that the transaction reads.
    fn pinned(&mut self, scope: TemporalScope) -> Result<TemporalScope, QueryError> {
        // Commits do not affect the past of transaction time.
        if scope.transaction.is_some() || !self.may_write {
            return Ok(scope);
        }
        if self.is_changed() {
            return Err(QueryError::invalid(
                "Uncommitted changes are not visible at another valid time: commit before a read \
                 with as_of, or give it as_of_tx, too",
            ));
        }
        if self.changes.is_some() && self.view.is_none() {
            // What commits in between reads no single state.
            return Ok(scope);
        }
        let view = self.view()?;
        let last = view.last_commit().map_err(ViewError::from)?;
        Ok(TemporalScope {
            transaction: Some(last.min(view.version())),
            ..scope
        })
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
    fn begin(&mut self, scope: TemporalScope, change: Change) -> Result<(), QueryError> {
        if !scope.is_now() {
            return Err(QueryError::invalid(
                "The past can't be changed: as_of and as_of_tx are for reading",
            ));
        }
        let period = change.period;
        let elements = match change.parts {
            Parts::Whole => None,
            Parts::Every(elements) => Some(Some(elements)),
            Parts::Explicit => Some(None),
        };
        let every = elements.map(|elements| CommitEvery {
            elements,
            period,
            check: self.check.clone(),
        });
        let has_parts = every.is_some();
        if self.is_changed() && self.period != period {
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
    pub fn is_changed(&self) -> bool {
        self.changes
            .as_ref()
            .is_some_and(OptimisticTransaction::is_changed)
    }

    /// Commits the changes; later traversals read the state after the commit. Returns the commit
    /// version; `None` without changes.
    ///
    /// # Errors
    /// As [`OptimisticTransaction::commit`].
    pub fn commit(&mut self) -> Result<Option<CommitVersion>, GraphError> {
        self.view = None;
        let Some(changes) = self.changes.take() else {
            return Ok(None);
        };
        let version = changes.commit(self.period)?;
        self.has_committed |= version.is_some();
        Ok(version)
    }

    /// Ends a transaction that has been open for too long: its view keeps old versions in memory.
    pub fn end_late(&mut self, age_max: Duration) {
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
    pub fn check_age(&mut self, age_max: Duration) -> Result<(), QueryError> {
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
    pub fn roll_back(&mut self) {
        self.view = None;
        self.changes = None;
    }

    /// Continues with the current schema, which the script has changed.
    ///
    /// # Errors
    /// As [`OptimisticTransaction::renew`].
    pub fn renew(&mut self) -> Result<(), GraphError> {
        self.view = None;
        match &self.changes {
            Some(changes) => changes.renew(&self.graph.schema()),
            None => Ok(()),
        }
    }
}

/// Runs a script until its commit succeeds, at most [`RUNS_MAX`] times. `run` uses a new host each
/// time, and commits. `may_run_again` is false for a script of which a part is stored.
///
/// # Errors
/// As the last run.
pub fn until_committed<T, E>(
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
pub fn is_conflict(error: &QueryError) -> bool {
    kind_of(error) == Some(ErrorKind::Conflict)
}

/// Whether a script ended because its client lacks a right.
pub fn is_denied(error: &QueryError) -> bool {
    kind_of(error) == Some(ErrorKind::Denied)
}

fn kind_of(error: &QueryError) -> Option<ErrorKind> {
    match error {
        QueryError::View(error) => error.kind(),
        _ => None,
    }
}

/// Whether an error means that nothing was stored and the request may be repeated.
pub fn may_run_again(error: &QueryError) -> bool {
    let QueryError::View(error) = error else {
        return false;
    };
    match error {
        ViewError::Deadline | ViewError::Cancelled => true,
        error => matches!(
            error.kind(),
            Some(ErrorKind::Conflict | ErrorKind::Busy | ErrorKind::Cancelled)
        ),
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
    fn work_that_was_given_up_may_be_sent_again() {
        let failed = |kind| QueryError::View(ViewError::failed(kind, ""));
        for (kind, wanted) in [
            (ErrorKind::Conflict, true),
            (ErrorKind::Busy, true),
            (ErrorKind::Cancelled, true),
            (ErrorKind::OutcomeUnknown, false),
            (ErrorKind::Denied, false),
        ] {
            assert_eq!(may_run_again(&failed(kind)), wanted, "{kind:?}");
        }
        assert!(may_run_again(&QueryError::View(ViewError::Deadline)));
        assert!(!may_run_again(&QueryError::invalid("")));
    }

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
