//! Plans that count equal rows instead of making them.
//!
//! What no later operator reads is not made: a relationship that is only matched has no value, and
//! the paths to a node that is only matched are counted. Where a pattern begins with such a node,
//! it is begun at the other end of its first relationship instead.

use std::collections::{BTreeSet, HashMap};

use varve_view::SchemaView;

use super::{Expand, NodeScan, Op, Pipeline, Plan, Subplan, Use, early};
use crate::expression::{Expr, LabelTest};
use crate::plan::slots::{self, reads};
use crate::tree::Direction;
use crate::value::Value;

/// Improves a plan. Its results stay the same.
pub(crate) fn improve(plan: &mut Plan, schema: &dyn SchemaView) {
    let pipelines = plan.subplans.iter().map(|one| &one.pipeline);
    let mut pipelines = std::iter::once(&plan.root).chain(pipelines);
    // Each of equal rows has its own random number.
    if plan.writes || pipelines.any(|one| one.ops.iter().any(is_random)) {
        return;
    }
    let inputs: Vec<Subplan> = plan.subplans.iter().map(Subplan::inputs_only).collect();
    let bulk = Bulk {
        subplans: &inputs,
        schema,
    };
    bulk.pipeline(&mut plan.root, &Needs::everything());
    for subplan in &mut plan.subplans {
        let mut needs = Needs::default();
        if subplan.reads_value {
            needs.add(&Expr::Slot(0), &inputs);
        }
        bulk.pipeline(&mut subplan.pipeline, &needs);
    }
}

/// What later operators read.
#[derive(Debug, Clone, Default)]
struct Needs {
    /// Every slot.
    all: bool,
    slots: BTreeSet<usize>,
    /// Those of the slots that expressions read, or the client.
    values: BTreeSet<usize>,
    /// Slots of relationships that are compared with others, to which they can only be equal if
    /// they are loops.
    loops: BTreeSet<usize>,
}

impl Needs {
    fn everything() -> Needs {
        Needs {
            all: true,
            ..Needs::default()
        }
    }

    fn has(&self, slot: usize) -> bool {
        self.all || self.slots.contains(&slot)
    }

    fn add(&mut self, expr: &Expr, subplans: &[Subplan]) {
        reads(expr, subplans, &mut |slot| {
            self.slots.insert(slot);
            self.values.insert(slot);
        });
    }

    fn remove(&mut self, slot: usize) {
        self.slots.remove(&slot);
        self.values.remove(&slot);
        self.loops.remove(&slot);
    }

    fn of_relationship(&self, slot: usize) -> Use {
        match (self.has(slot), self.loops.contains(&slot)) {
            (true, _) => Use::Always,
            (false, true) => Use::Loops,
            (false, false) => Use::Never,
        }
    }
}

/// The slots of the ends of a relationship with a direction, by the relationship's slot.
type Directed = HashMap<usize, (usize, usize)>;

fn directed(ops: &[Op]) -> Directed {
    let expands = ops.iter().filter_map(|op| match op {
        Op::Expand(one) => Some((one.relationship, ends(one)?)),
        _ => None,
    });
    expands.collect()
}

/// Start and end of a step; `None` if it has no direction.
fn ends(one: &Expand) -> Option<(usize, usize)> {
    match one.direction {
        Direction::Right => Some((one.from, one.to)),
        Direction::Left => Some((one.to, one.from)),
        Direction::Either | Direction::Both => None,
    }
}

struct Bulk<'b> {
    subplans: &'b [Subplan],
    schema: &'b dyn SchemaView,
}

impl Bulk<'_> {
    /// Improves a pipeline of whose result so much is read.
    fn pipeline(&self, pipeline: &mut Pipeline, end: &Needs) {
        for op in &mut pipeline.ops {
            match op {
                Op::Union(branches) => {
                    for branch in branches {
                        self.pipeline(branch, &Needs::everything());
                    }
                }
                Op::Apply(apply) => self.pipeline(&mut apply.inner, &Needs::everything()),
                _ => {}
            }
        }
        self.count_rows(&mut pipeline.ops);
        self.turn(&mut pipeline.ops, end);
        early::check(&mut pipeline.ops, self.schema);
        let needs = self.needs(&pipeline.ops, end);
        for (op, needs) in pipeline.ops.iter_mut().zip(needs) {
            match op {
                Op::Expand(one) => {
                    one.keeps_relationship = needs.of_relationship(one.relationship);
                    one.keeps_to = one.is_to_bound || needs.has(one.to);
                }
                Op::NodeScan(scan) => {
                    scan.reads_properties = needs.all || needs.values.contains(&scan.node);
                }
                _ => {}
            }
        }
        Self::pair(&mut pipeline.ops);
    }

    /// Makes two steps from one node one operator, if both are only counted.
    fn pair(ops: &mut Vec<Op>) {
        let mut at = 0;
        while at + 1 < ops.len() {
            if let [Op::Expand(first), Op::Expand(second)] = &mut ops[at..at + 2]
                && are_pair(first, second)
            {
                first.second = Some(Box::new(second.clone()));
                ops.remove(at + 1);
            }
            at += 1;
        }
    }

    /// For each operator, what those behind it read.
    fn needs(&self, ops: &[Op], end: &Needs) -> Vec<Needs> {
        let directed = directed(ops);
        let mut needs = end.clone();
        let mut behind: Vec<Needs> = Vec::with_capacity(ops.len());
        for op in ops.iter().rev() {
            behind.push(needs.clone());
            self.before(op, &mut needs, &directed);
        }
        behind.reverse();
        behind
    }

    /// Makes what is read behind an operator what is read from it on.
    fn before(&self, op: &Op, needs: &mut Needs, directed: &Directed) {
        let add = |needs: &mut Needs, expr: &Expr| needs.add(expr, self.subplans);
        match op {
            Op::Project { items, kept } => {
                if *kept == 0 {
                    *needs = Needs::default();
                }
                items.iter().for_each(|item| add(needs, item));
            }
            Op::Keep(slots) => {
                let kept = slots.iter().enumerate();
                let kept = kept.filter(|(at, _)| needs.has(*at)).map(|(_, slot)| *slot);
                let slots: BTreeSet<usize> = kept.collect();
                *needs = Needs {
                    values: slots.clone(),
                    slots,
                    ..Needs::default()
                };
            }
            Op::Aggregate { keys, aggregates } => {
                *needs = Needs::default();
                keys.iter().for_each(|key| add(needs, key));
                let arguments = aggregates.iter().flat_map(|call| &call.arguments);
                arguments.for_each(|argument| add(needs, argument));
            }
            Op::Extend(_) => {}
            Op::Filter(one) | Op::Unwind(one) | Op::Skip(one) => add(needs, one),
            Op::Limit { count, .. } => add(needs, count),
            Op::Sort { keys, .. } => keys.iter().for_each(|key| add(needs, &key.value)),
            Op::NodeScan(scan) => {
                needs.remove(scan.node);
                scan.by.iter().for_each(|by| add(needs, &by.value));
                scan.id.iter().for_each(|id| add(needs, &id.value));
            }
            Op::Expand(one) => self.before_expand(one, needs, directed),
            Op::MakePath { path, parts } => {
                needs.remove(*path);
                needs.slots.insert(parts.start);
                needs.slots.extend(&parts.relationships);
            }
            _ => *needs = Needs::everything(),
        }
    }

    fn before_expand(&self, one: &Expand, needs: &mut Needs, directed: &Directed) {
        needs.remove(one.relationship);
        if !one.is_to_bound {
            needs.remove(one.to);
        }
        needs.slots.insert(one.from);
        if one.is_to_bound {
            needs.slots.insert(one.to);
        }
        for other in &one.unlike {
            let both = ends(one).zip(directed.get(other));
            // Equal relationships have equal ends; where one begins at the node at which the other
            // ends, all ends are one node.
            let is_loop =
                both.is_some_and(|((start, end), (from, to))| start == *to || end == *from);
            match is_loop {
                true => needs.loops.insert(*other),
                false => needs.slots.insert(*other),
            };
        }
    }

    /// `count(n)` of what is never null counts rows.
    fn count_rows(&self, ops: &mut [Op]) {
        let mut bound: HashMap<usize, Option<LabelTest>> = HashMap::new();
        for op in ops {
            match op {
                Op::NodeScan(scan) => {
                    bound.insert(scan.node, scan.labels.clone());
                }
                Op::Expand(one) => {
                    bound.insert(one.relationship, None);
                    if !one.is_to_bound {
                        bound.insert(one.to, one.to_labels.clone());
                    }
                }
                Op::Aggregate { aggregates, .. } => {
                    for call in aggregates.iter_mut() {
                        if call.function.name == "count"
                            && !call.distinct
                            && let [argument] = &mut *call.arguments
                            && self.is_never_null(argument, &bound)
                        {
                            *argument = Expr::Constant(Value::Boolean(true));
                        }
                    }
                    bound.clear();
                }
                Op::Extend(_) | Op::Filter(_) | Op::Sort { .. } => {}
                Op::Project { kept, .. } if *kept > 0 => {}
                _ => bound.clear(),
            }
        }
    }

    fn is_never_null(&self, expr: &Expr, bound: &HashMap<usize, Option<LabelTest>>) -> bool {
        match expr {
            Expr::Slot(slot) => bound.contains_key(slot),
            Expr::Property(subject, key) => {
                let Expr::Slot(slot) = **subject else {
                    return false;
                };
                let Some(Some(LabelTest::Name(label))) = bound.get(&slot) else {
                    return false;
                };
                let label = self.schema.vertex_label_named(label);
                let key = self.schema.property_key_named(key);
                // An open graph's label may be one of several.
                !self.schema.is_open()
                    && label
                        .zip(key)
                        .is_some_and(|(label, key)| label.primary_keys.contains(&key.id))
            }
            _ => false,
        }
    }

    /// Begins a pattern at the second node if the first is only matched: the paths to it are then
    /// counted. Conditions on the node at which it begins come before the first step.
    fn turn(&self, ops: &mut Vec<Op>, end: &Needs) {
        let needs = self.needs(ops, end);
        for at in 0..ops.len().saturating_sub(1) {
            let [Op::NodeScan(scan), Op::Expand(one)] = &ops[at..at + 2] else {
                continue;
            };
            let needs = &needs[at + 1];
            let is_only_matched = scan.by.is_empty()
                && scan.id.is_none()
                && one.from == scan.node
                && !one.is_to_bound
                && !needs.has(one.from)
                && needs.of_relationship(one.relationship) != Use::Always;
            if !is_only_matched || (one.to_labels.is_none() && scan.labels.is_some()) {
                continue;
            }
            let turned = Expand {
                from: one.to,
                to: one.from,
                direction: one.direction.reversed(),
                to_labels: scan.labels.clone(),
                ..one.clone()
            };
            let begun = NodeScan {
                node: one.to,
                labels: one.to_labels.clone(),
                ..scan.clone()
            };
            let node = begun.node;
            ops[at] = Op::NodeScan(begun);
            ops[at + 1] = Op::Expand(turned);
            self.filter_first(ops, at + 1, node);
            return;
        }
    }

    /// Moves conditions that only read `node` before the operator at `place`.
    fn filter_first(&self, ops: &mut Vec<Op>, place: usize, node: usize) {
        let mut at = place + 1;
        let mut to = place;
        while let Some(Op::Filter(_) | Op::Expand(_)) = ops.get(at) {
            if let Some(Op::Filter(condition)) = ops.get(at) {
                let mut is_own = true;
                reads(condition, self.subplans, &mut |slot| is_own &= slot == node);
                if is_own {
                    let filter = ops.remove(at);
                    ops.insert(to, filter);
                    to += 1;
                }
            }
            at += 1;
        }
    }
}

/// Whether two steps can be counted together. Relationships of both are equal only if they are
/// loops.
fn are_pair(first: &Expand, second: &Expand) -> bool {
    let is_counted = |one: &Expand| {
        ends(one).is_some() && !one.is_to_bound && !one.keeps_to && one.condition.is_none()
    };
    (first.from, &first.types) == (second.from, &second.types)
        && is_counted(first)
        && is_counted(second)
        && first.keeps_relationship != Use::Always
        && second.keeps_relationship == Use::Never
        && first.unlike.is_empty()
        && second.unlike.iter().all(|slot| *slot == first.relationship)
}

/// Whether an operator evaluates a function whose results differ from call to call.
fn is_random(op: &Op) -> bool {
    let random = |all: &Pipeline| all.ops.iter().any(is_random);
    match op {
        Op::Unwind(one) | Op::Filter(one) => slots::is_random(one),
        Op::Project { items, .. } => items.iter().any(slots::is_random),
        Op::Aggregate { keys, aggregates } => {
            let arguments = aggregates.iter().flat_map(|call| &call.arguments);
            keys.iter().chain(arguments).any(slots::is_random)
        }
        Op::Sort { keys, .. } => keys.iter().any(|key| slots::is_random(&key.value)),
        Op::Call(_) => true,
        Op::Apply(apply) => apply.inputs.iter().any(slots::is_random) || random(&apply.inner),
        Op::Transactions(_) => true,
        Op::Union(all) => all.iter().any(random),
        Op::Optional { inner, .. } => random(inner),
        Op::At { at, inner, .. } => at.as_ref().is_some_and(slots::is_random) || random(inner),
        _ => false,
    }
}
