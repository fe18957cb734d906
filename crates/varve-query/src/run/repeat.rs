//! Loops (`repeat`) in rounds: all rows of one round pass the body before those of the next.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::build::Builder;
use super::child::Child;
use super::context::Context;
use super::each::{by_segment, drain};
use super::row::{Row, merged};
use super::sack;
use super::{BATCH_MAX, BATCH_MIN, BoxedOperator, Operator, Reset};
use crate::QueryError;
use crate::plan::{LoopTest, Modulator, Repeat as Plan};

/// The completed rounds of a running loop.
pub(crate) type Rounds = Rc<Cell<u32>>;

enum Test {
    Always,
    Times(u32),
    Child(Child),
}

struct Check {
    first: bool,
    test: Test,
}

/// A loop.
pub(crate) struct Repeat {
    input: BoxedOperator,
    body: Child,
    until: Option<Check>,
    emit: Option<Check>,
    rounds: Rounds,
    /// Rows of this round that the body has not taken yet.
    waiting: VecDeque<Row>,
    /// Rows of the next round.
    later: Vec<Row>,
    begun: bool,
    /// Whether the body may still hold rows.
    running: bool,
    /// Whether the body must see all rows of a round before it gives output.
    gathers: bool,
}

impl Repeat {
    pub(crate) fn new(
        input: BoxedOperator,
        plan: &Plan,
        builder: &Builder<'_>,
    ) -> Result<Self, QueryError> {
        let rounds = Rounds::default();
        let within = builder.in_loop(plan.name.clone(), &rounds);
        let check = |modulator: &Option<Modulator>| -> Result<Option<Check>, QueryError> {
            let Some(modulator) = modulator else {
                return Ok(None);
            };
            let test = match &modulator.test {
                LoopTest::Always => Test::Always,
                LoopTest::Times(rounds) => Test::Times(*rounds),
                LoopTest::Child(plan) => Test::Child(Child::local(plan, &within)?),
            };
            let first = modulator.first;
            Ok(Some(Check { first, test }))
        };
        Ok(Self {
            input,
            until: check(&plan.until)?,
            emit: check(&plan.emit)?,
            body: Child::global(&plan.body, &within)?,
            rounds,
            waiting: VecDeque::new(),
            later: Vec::new(),
            begun: false,
            running: false,
            gathers: plan.body.gathers(),
        })
    }

    /// Applies `until` and `emit` before the body (`first`) or after it. Adds the rows that leave,
    /// and copies of emitted rows, to `leave`. Returns the other rows.
    fn sort_out(
        &mut self,
        cx: &mut Context<'_>,
        rows: Vec<Row>,
        first: bool,
        leave: &mut Vec<Row>,
    ) -> Result<Vec<Row>, QueryError> {
        let rounds = self.rounds.get();
        let leaves = holds(cx, &mut self.until, &rows, first, rounds)?;
        let mut rest = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            match leaves.as_ref().is_some_and(|leaves| leaves[at]) {
                true => leave.push(row),
                false => rest.push(row),
            }
        }
        if let Some(emits) = holds(cx, &mut self.emit, &rest, first, rounds)? {
            let copies = rest.iter().zip(&emits).filter(|(_, emits)| **emits);
            leave.extend(copies.map(|(row, _)| row.clone()));
        }
        Ok(rest)
    }

    /// Passes waiting rows to the body: some of them, or all if the body must see the whole round.
    fn enter(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
        leave: &mut Vec<Row>,
    ) -> Result<(), QueryError> {
        let most = match self.gathers {
            true => self.waiting.len(),
            false => self.waiting.len().min(demand.clamp(BATCH_MIN, BATCH_MAX)),
        };
        let rows: Vec<Row> = self.waiting.drain(..most).collect();
        cx.meter.release(bytes_of(&rows));
        let stay = self.sort_out(cx, rows, true, leave)?;
        self.running |= !stay.is_empty();
        self.body.feed(stay);
        Ok(())
    }

    /// Takes results of the body in this round.
    fn after_body(
        &mut self,
        cx: &mut Context<'_>,
        rows: Vec<Row>,
        leave: &mut Vec<Row>,
    ) -> Result<(), QueryError> {
        let rounds = self.rounds.get();
        self.rounds.set(rounds + 1);
        let stay = self.sort_out(cx, rows, false, leave)?;
        self.rounds.set(rounds);
        cx.meter.hold(bytes_of(&stay))?;
        self.later.extend(stay);
        Ok(())
    }

    /// Begins the next round. Returns `false` if no row is left.
    fn turn(&mut self, cx: &Context<'_>) -> Result<bool, QueryError> {
        self.body.reset(Reset::Round);
        self.running = false;
        let later = std::mem::take(&mut self.later);
        let before = bytes_of(&later);
        self.waiting.extend(match (cx.once, cx.merges) {
            (true, _) => {
                let parts = by_segment(later).into_iter();
                let met = parts.map(|rows| sack::met(cx, rows));
                met.collect::<Result<Vec<_>, _>>()?.concat()
            }
            (false, true) => merged(later),
            (false, false) => later,
        });
        cx.meter
            .release(before.saturating_sub(bytes_of(&self.waiting)));
        self.rounds.set(self.rounds.get() + 1);
        Ok(!self.waiting.is_empty())
    }
}

/// Charged bytes of waiting rows.
fn bytes_of<'r>(rows: impl IntoIterator<Item = &'r Row>) -> usize {
    rows.into_iter().map(Row::bytes).sum()
}

/// Whether each row meets the condition; `None` if the condition is not tested at this point.
fn holds(
    cx: &mut Context<'_>,
    check: &mut Option<Check>,
    rows: &[Row],
    first: bool,
    rounds: u32,
) -> Result<Option<Vec<bool>>, QueryError> {
    match check {
        Some(check) if check.first == first => Ok(Some(match &mut check.test {
            Test::Always => vec![true; rows.len()],
            Test::Times(times) => vec![rounds >= *times; rows.len()],
            Test::Child(child) => child.exist(cx, rows)?,
        })),
        _ => Ok(None),
    }
}

impl Operator for Repeat {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        cx.meter.check()?;
        let mut leave = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            self.rounds.set(0);
            self.waiting.extend(drain(self.input.as_mut(), cx)?);
            cx.meter.hold(bytes_of(&self.waiting))?;
        }
        let may_enter = !self.gathers || !self.running;
        if may_enter && !self.waiting.is_empty() {
            self.enter(cx, demand, &mut leave)?;
        }
        if self.running
            && let Some(rows) = self.body.pull(cx, demand)?
        {
            self.after_body(cx, rows, &mut leave)?;
            return Ok(Some(leave));
        }
        let goes_on = !self.waiting.is_empty() || self.turn(cx)? || !leave.is_empty();
        Ok(goes_on.then_some(leave))
    }

    fn reset(&mut self, how: Reset) {
        self.begun = false;
        self.running = false;
        self.waiting.clear();
        self.later.clear();
        self.body.reset(how);
        self.input.reset(how);
    }
}
