//! `CALL { … } IN TRANSACTIONS`.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use varve_model::CommitVersion;
use varve_view::{ErrorKind, ViewError};

use super::drain::{Given, all};
use super::nested::counted;
use super::number::number;
use super::write::unfolded;
use super::{Batch, BoxedOperator, Cx, Operator, subquery};
use crate::error::{CypherError, Outcome, argument_error};
use crate::held::Held;
use crate::plan;
use crate::tree::OnError;
use crate::value::{Map, Value};

/// The rows of a transaction, if the query does not say how many.
const ROWS_DEFAULT: usize = 1_000;
/// The most runs of one transaction whose commits conflict with others.
const RUNS_MAX: u32 = 20;
/// The longest wait before a transaction runs again; earlier waits are shorter.
const WAIT_MAX: Duration = Duration::from_millis(32);

/// Runs a subquery for each row, and commits after every so many rows. All is done before the
/// first row is given.
pub(crate) struct Transactions<'p> {
    input: BoxedOperator<'p>,
    plan: &'p plan::Transactions,
    given: Option<Given>,
    /// Bytes of the rows, while they are given.
    held: usize,
}

/// How one transaction has ended.
enum Ended {
    /// With its rows, and the version of its commit, if it has changed something.
    Committed(Batch, Option<CommitVersion>),
    /// With an error; what it had changed is dropped.
    Failed(String),
    /// It was not begun: an earlier one has failed.
    Left,
}

impl<'p> Transactions<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, plan: &'p plan::Transactions) -> Self {
        Transactions {
            input,
            plan,
            given: None,
            held: 0,
        }
    }

    /// Runs all transactions.
    fn run(&self, cx: Cx<'_>, mut rows: Batch, held: &mut Held<'_>) -> Outcome<Batch> {
        let size = self.size(cx)?;
        let new = self.plan.apply.columns.unwrap_or(0) + usize::from(self.plan.reports);
        let mut out = Batch::new(rows.width() + new);
        let (mut from, mut is_broken) = (0, false);
        while from < rows.len() {
            let part = rows.take(from..from.saturating_add(size));
            from += part.len();
            let ended = match is_broken {
                true => Ended::Left,
                false => self.part(cx, &part)?,
            };
            is_broken |= matches!(ended, Ended::Failed(_)) && self.plan.on_error == OnError::Break;
            self.put(&part, &ended, &mut out);
            held.grow_to(rows.bytes() + out.bytes())?;
        }
        Ok(out)
    }

    /// The rows of each transaction.
    fn size(&self, cx: Cx<'_>) -> Outcome<usize> {
        let Some(expr) = &self.plan.rows else {
            return Ok(ROWS_DEFAULT);
        };
        match number(cx, expr, "OF")? {
            0 => Err(argument_error(
                "NumberOutOfRange",
                "the number after OF is not positive",
            )),
            number => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        }
    }

    /// Runs one transaction; again, if its commit conflicts with another one.
    fn part(&self, cx: Cx<'_>, rows: &Batch) -> Outcome<Ended> {
        let meter = cx.graph().meter;
        let mut runs = 1;
        loop {
            let before = (cx.shared.counters.get(), cx.shared.procedures.counters());
            let held = counted(cx);
            let error = match self.once(cx, rows) {
                Ok(ended) => return Ok(ended),
                Err(error) => error,
            };
            cx.shared.counters.set(before.0);
            cx.shared.procedures.set_counters(before.1);
            meter.release(counted(cx).saturating_sub(held));
            let runs_again = is_conflict(&error) && runs < RUNS_MAX;
            if !runs_again && (self.plan.on_error == OnError::Fail || !is_of_part(&error)) {
                return Err(error);
            }
            if let Some(writer) = cx.graph().writer {
                writer.drop_part(meter)?;
            }
            if !runs_again {
                return Ok(Ended::Failed(error.to_string()));
            }
            meter.check()?;
            wait(runs);
            runs += 1;
        }
    }

    fn once(&self, cx: Cx<'_>, rows: &Batch) -> Outcome<Ended> {
        let done = subquery::apply(cx, &self.plan.apply, rows)?;
        let graph = cx.graph();
        graph.meter.check()?;
        let writer = graph.writer;
        let version = writer.map(|writer| writer.commit_part(graph.meter));
        Ok(Ended::Committed(done, version.transpose()?.flatten()))
    }

    /// Adds the rows of a transaction that had these rows.
    fn put(&self, rows: &Batch, ended: &Ended, out: &mut Batch) {
        let status = self.plan.reports.then(|| ended.status());
        let Ended::Committed(done, _) = ended else {
            let nulls = self.plan.apply.columns.unwrap_or(0);
            for (row, count) in rows.rows() {
                let nulls = std::iter::repeat_n(Value::Null, nulls);
                out.push_both(row, nulls.chain(status.clone()), count);
            }
            return;
        };
        for (row, count) in done.rows() {
            out.push_both(row, status.clone(), count);
        }
    }
}

impl Operator for Transactions<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.given.is_none() {
            let mut held = Held::new(cx.graph().meter);
            let rows = all(&mut self.input, cx, &mut held)?;
            let rows = unfolded(rows, &mut held)?;
            let out = self.run(cx, rows, &mut held)?;
            self.held = held.keep();
            self.given = Some(Given::new(out));
        }
        let given = self.given.as_mut().and_then(Given::next);
        if given.is_none() {
            cx.graph().meter.release(std::mem::take(&mut self.held));
        }
        Ok(given)
    }
}

impl Ended {
    /// The value of `REPORT STATUS`.
    fn status(&self) -> Value {
        let (id, error) = match self {
            Ended::Committed(_, version) => (version.map(|version| version.0.to_string()), None),
            Ended::Failed(error) => (None, Some(error.as_str())),
            Ended::Left => (None, None),
        };
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::string);
        let entries = [
            ("started", Value::Boolean(!matches!(self, Ended::Left))),
            (
                "committed",
                Value::Boolean(matches!(self, Ended::Committed(..))),
            ),
            ("transactionId", text(id.as_deref())),
            ("errorMessage", text(error)),
        ];
        let entries = entries.into_iter();
        let entries: Map = entries
            .map(|(key, value)| (Arc::from(key), value))
            .collect();
        Value::map(entries)
    }
}

/// Whether a commit failed because of another one.
fn is_conflict(error: &CypherError) -> bool {
    match error {
        CypherError::View(error) => {
            matches!(error.kind(), Some(ErrorKind::Conflict | ErrorKind::Busy))
        }
        CypherError::Error(_) => false,
    }
}

/// Whether the next transaction may succeed. After other errors, such as a deadline or the loss of
/// a right, it cannot, or it is not known whether this one is stored.
fn is_of_part(error: &CypherError) -> bool {
    match error {
        CypherError::Error(_) | CypherError::View(ViewError::Memory { .. }) => true,
        CypherError::View(error) => matches!(
            error.kind(),
            Some(
                ErrorKind::InvalidArgument
                    | ErrorKind::Existed
                    | ErrorKind::Unique
                    | ErrorKind::Constraint
                    | ErrorKind::NotAllowed
                    | ErrorKind::NoIndex
                    | ErrorKind::NotSupported
                    | ErrorKind::NotFound
                    | ErrorKind::LimitExceeded
                    | ErrorKind::TooLarge
                    | ErrorKind::Busy
                    | ErrorKind::Conflict
            )
        ),
    }
}

/// Waits at random, so that transactions do not conflict again and again.
fn wait(runs: u32) {
    let most = Duration::from_millis(1 << runs.min(16)).min(WAIT_MAX);
    let random = RandomState::new().hash_one(runs) % 1_000;
    let random = u32::try_from(random).unwrap_or(0);
    std::thread::sleep(most * random / 1_000);
}
