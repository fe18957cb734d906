//! `PROFILE`: what each operator of a running query does.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use varve_view::Meter;

use super::ordered::Order;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::plan::Op;

/// What an operator has done, without the operators that it reads or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measured {
    /// The rows that it gave.
    pub rows: u64,
    /// The rows of the graph's tables that it read, as [`Meter::rows`] counts them.
    pub reads: u64,
    /// The time that it took.
    pub time: Duration,
}

/// What the operators of a query have done so far.
#[derive(Default)]
pub(crate) struct Profile {
    /// By the address of the operator in the plan.
    operators: RefCell<HashMap<usize, Measured, foldhash::fast::RandomState>>,
    /// Reads and time of the operators that the running one has called.
    called: Cell<(u64, Duration)>,
    /// Whether a pipeline runs that is not shown.
    is_hidden: Cell<bool>,
    /// [`Meter::rows`] when the query began.
    before: u64,
}

impl Profile {
    /// The profile of a query that begins.
    pub(crate) fn new(meter: &Meter) -> Profile {
        Profile {
            before: meter.rows(),
            ..Profile::default()
        }
    }

    /// What an operator of the plan has done.
    pub(crate) fn of(&self, op: &Op) -> Measured {
        let operators = self.operators.borrow();
        operators.get(&address(op)).copied().unwrap_or_default()
    }

    /// The rows of tables that were read outside the operators: for the contents of results.
    pub(crate) fn reads_of_results(&self, meter: &Meter) -> u64 {
        let all = meter.rows().saturating_sub(self.before);
        let operators = self.operators.borrow();
        let own: u64 = operators.values().map(|measured| measured.reads).sum();
        all.saturating_sub(own)
    }

    /// Runs a pipeline that is not shown: its cost is that of the operator that runs it.
    pub(crate) fn hidden<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = (self.called.get(), self.is_hidden.replace(true));
        let done = run();
        self.called.set(before.0);
        self.is_hidden.set(before.1);
        done
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.is_hidden.get()
    }

    /// Notes one call of an operator.
    fn note<T>(&self, op: &Op, meter: &Meter, call: impl FnOnce() -> (T, u64)) -> T {
        let (around, reads, began) = (self.called.take(), meter.rows(), Instant::now());
        let (done, rows) = call();
        let (reads, time) = (meter.rows() - reads, began.elapsed());
        let called = self.called.replace((around.0 + reads, around.1 + time));
        let mut operators = self.operators.borrow_mut();
        let own = operators.entry(address(op)).or_default();
        own.rows = own.rows.saturating_add(rows);
        own.reads += reads.saturating_sub(called.0);
        own.time += time.saturating_sub(called.1);
        done
    }
}

/// Identifies an operator: a plan does not move while it runs.
fn address(op: &Op) -> usize {
    std::ptr::from_ref(op).addr()
}

/// An operator that is measured.
pub(crate) struct Profiled<'p> {
    op: &'p Op,
    operator: BoxedOperator<'p>,
}

impl<'p> Profiled<'p> {
    pub(crate) fn new(op: &'p Op, operator: BoxedOperator<'p>) -> Profiled<'p> {
        Profiled { op, operator }
    }
}

impl Operator for Profiled<'_> {
    fn comes_in(&mut self, cx: Cx<'_>, order: &Order<'_>) -> Outcome<bool> {
        let Some(profile) = &cx.shared.profile else {
            return self.operator.comes_in(cx, order);
        };
        profile.note(self.op, cx.graph().meter, || {
            (self.operator.comes_in(cx, order), 0)
        })
    }

    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let Some(profile) = &cx.shared.profile else {
            return self.operator.next(cx);
        };
        profile.note(self.op, cx.graph().meter, || {
            let batch = self.operator.next(cx);
            let rows = match &batch {
                Ok(Some(batch)) => batch
                    .rows()
                    .fold(0, |sum: u64, (_, count)| sum.saturating_add(count)),
                _ => 0,
            };
            (batch, rows)
        })
    }
}
