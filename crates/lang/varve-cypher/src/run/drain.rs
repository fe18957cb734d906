//! Operators that read their whole input, or remember it.

#![allow(
    clippy::mutable_key_type,
    reason = "elements are compared by their keys, not by their cached contents"
)]

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::Arc;

use super::batch::ROWS;
use super::{Batch, BoxedOperator, Cx, Operator, matching};
use crate::error::Outcome;
use crate::evaluate::nesting;
use crate::expression::Expr;
use crate::functions::Accumulator;
use crate::held::Held;
use crate::plan::AggregateCall;
use crate::plan::slots::{is_fixed, reads};
use crate::value::{Key, Node, Value};

/// Bytes that a group or a remembered row takes beside its values.
pub(super) const ENTRY_BYTES: usize = 64;

/// Rows to give, in batches.
#[derive(Default)]
pub(super) struct Given {
    rows: Batch,
    at: usize,
}

impl Given {
    pub(super) fn new(rows: Batch) -> Given {
        Given { rows, at: 0 }
    }

    pub(super) fn next(&mut self) -> Option<Batch> {
        if self.at == 0 && self.rows.len() <= ROWS {
            let rows = std::mem::take(&mut self.rows);
            return (!rows.is_empty()).then_some(rows);
        }
        let end = self.rows.len().min(self.at + ROWS);
        let mut out = Batch::new(self.rows.width());
        for at in self.at..end {
            out.push(self.rows.row(at), self.rows.count(at));
        }
        self.at = end;
        (!out.is_empty()).then_some(out)
    }
}

/// All rows of an input.
pub(super) fn all(
    input: &mut BoxedOperator<'_>,
    cx: Cx<'_>,
    held: &mut Held<'_>,
) -> Outcome<Batch> {
    let mut all = Batch::default();
    while let Some(batch) = input.next(cx)? {
        held.add(batch.bytes())?;
        all.append(batch);
    }
    Ok(all)
}

/// Reads all rows before the first is given.
pub(crate) struct Eager<'p> {
    input: BoxedOperator<'p>,
    given: Option<Given>,
    /// Bytes of the rows, while they are given.
    held: usize,
}

impl<'p> Eager<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>) -> Eager<'p> {
        Eager {
            input,
            given: None,
            held: 0,
        }
    }
}

impl Operator for Eager<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.given.is_none() {
            let mut held = Held::new(cx.graph().meter);
            self.given = Some(Given::new(all(&mut self.input, cx, &mut held)?));
            self.held = held.keep();
        }
        let given = self.given.as_mut().and_then(Given::next);
        if given.is_none() {
            cx.graph().meter.release(std::mem::take(&mut self.held));
        }
        Ok(given)
    }
}

/// Reads all rows and gives none.
pub(crate) struct Finish<'p> {
    pub(crate) input: BoxedOperator<'p>,
}

impl Operator for Finish<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        while self.input.next(cx)?.is_some() {}
        Ok(None)
    }
}

/// Gives each row once.
pub(crate) struct Distinct<'p> {
    input: BoxedOperator<'p>,
    seen: HashSet<Vec<Key>, foldhash::fast::RandomState>,
}

impl<'p> Distinct<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>) -> Distinct<'p> {
        let seen = HashSet::default();
        Distinct { input, seen }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let Some(batch) = self.input.next(cx)? else {
            return Ok(None);
        };
        let mut out = Batch::new(batch.width());
        for (row, _) in batch.rows() {
            let key: Vec<Key> = row.iter().cloned().map(Key).collect();
            let bytes = ENTRY_BYTES + size_of_val(row);
            if self.seen.insert(key) {
                cx.graph().meter.hold(bytes)?;
                out.push(row, 1);
            }
        }
        Ok(Some(out))
    }
}

/// The aggregates of a group so far.
type Group = Vec<Box<dyn Accumulator>>;

/// The places of groups, by their keys.
type Places = HashMap<Vec<Key>, usize, foldhash::fast::RandomState>;

/// The group of the last row, if nodes determine its keys: rows that follow each other often have
/// the same.
struct Last {
    nodes: Vec<(usize, Arc<Node>)>,
    place: usize,
}

impl Last {
    fn of(slots: &[usize], row: &[Value], place: usize) -> Option<Last> {
        let nodes = slots.iter().map(|slot| match row.get(*slot) {
            Some(Value::Node(node)) => Some((*slot, Arc::clone(node))),
            _ => None,
        });
        let nodes = nodes.collect::<Option<Vec<_>>>()?;
        Some(Last { nodes, place })
    }

    fn has(&self, row: &[Value]) -> bool {
        self.nodes.iter().all(|(slot, own)| {
            matches!(row.get(*slot), Some(Value::Node(node)) if Arc::ptr_eq(node, own))
        })
    }
}

/// Makes groups of rows.
pub(crate) struct Grouping<'p> {
    input: BoxedOperator<'p>,
    keys: &'p [Expr],
    aggregates: &'p [AggregateCall],
    given: Option<Given>,
}

impl<'p> Grouping<'p> {
    pub(crate) fn new(
        input: BoxedOperator<'p>,
        keys: &'p [Expr],
        aggregates: &'p [AggregateCall],
    ) -> Grouping<'p> {
        Grouping {
            input,
            keys,
            aggregates,
            given: None,
        }
    }

    /// A new group, whose extra arguments are those of a row.
    fn start(&self, cx: Cx<'_>, row: &[Value]) -> Outcome<Group> {
        let mut states = Vec::with_capacity(self.aggregates.len());
        for call in self.aggregates {
            let mut extra = Vec::new();
            for argument in call.arguments.iter().skip(1) {
                extra.push(cx.evaluate(argument, row)?);
            }
            states.push(call.function.start(call.distinct, &extra)?);
        }
        Ok(states)
    }

    /// The place of a row's group.
    fn place(
        &self,
        cx: Cx<'_>,
        row: &[Value],
        groups: &mut Vec<Group>,
        places: &mut Places,
    ) -> Outcome<usize> {
        let mut key = Vec::with_capacity(self.keys.len());
        for one in self.keys {
            key.push(Key(cx.evaluate(one, row)?));
        }
        Ok(match places.entry(key) {
            Entry::Occupied(at) => *at.get(),
            Entry::Vacant(place) => {
                let meter = cx.graph().meter;
                meter.hold(ENTRY_BYTES * (1 + self.aggregates.len()))?;
                groups.push(self.start(cx, row)?);
                *place.insert(groups.len() - 1)
            }
        })
    }

    /// The slots whose values determine the keys.
    fn slots(&self, cx: Cx<'_>) -> Option<Vec<usize>> {
        let mut slots = Vec::new();
        for key in self.keys {
            reads(key, &[], &mut |slot| slots.push(slot));
        }
        (cx.graph().writer.is_none() && self.keys.iter().all(is_fixed)).then_some(slots)
    }

    fn grouped(&mut self, cx: Cx<'_>) -> Outcome<Batch> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places = Places::default();
        let (slots, mut last) = (self.slots(cx), None::<Last>);
        while let Some(batch) = self.input.next(cx)? {
            for call in self.aggregates {
                for argument in &call.arguments {
                    matching::prefetch(cx, argument, batch.values())?;
                }
            }
            for key in self.keys {
                matching::prefetch(cx, key, batch.values())?;
            }
            for (row, count) in batch.rows() {
                let at = match &last {
                    Some(last) if last.has(row) => last.place,
                    _ => {
                        let place = self.place(cx, row, &mut groups, &mut places)?;
                        last = slots.as_ref().and_then(|slots| Last::of(slots, row, place));
                        place
                    }
                };
                for (call, state) in self.aggregates.iter().zip(&mut groups[at]) {
                    if let Some(argument) = call.arguments.first() {
                        let value = cx.evaluate(argument, row)?;
                        state.add(&value, count, cx.graph())?;
                    }
                }
            }
        }
        if groups.is_empty() && self.keys.is_empty() {
            groups.push(self.start(cx, &[])?);
        }
        let mut keys: Vec<Vec<Key>> = Vec::new();
        keys.resize_with(groups.len(), Vec::new);
        for (key, at) in places {
            keys[at] = key;
        }
        let mut out = Batch::new(self.keys.len() + self.aggregates.len());
        for (key, group) in keys.into_iter().zip(groups) {
            let mut values = Vec::with_capacity(group.len());
            for state in group {
                let value = state.finish()?;
                nesting::check(&value, cx.graph())?;
                values.push(value);
            }
            let key = key.into_iter().map(|key| key.0);
            out.push_both(&[], key.chain(values), 1);
        }
        Ok(out)
    }
}

impl Operator for Grouping<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        if self.given.is_none() {
            let _watched = cx.graph().meter.watched();
            self.given = Some(Given::new(self.grouped(cx)?));
            cx.graph().meter.check()?;
        }
        Ok(self.given.as_mut().and_then(Given::next))
    }
}
