//! Conditions that are checked before the nodes of a step are made.

use std::sync::Arc;

use varve_model::Cardinality;
use varve_view::SchemaView;

use super::slots::operands;
use super::{Expand, NodeCondition, Op};
use crate::expression::{BinaryOp, Expr};

/// Makes conditions that follow a step part of it, if they read one property of its node only, and
/// none of them can fail: they are evaluated once for a value, whether or not a row has it.
pub(super) fn check(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    // In an open graph, a node may have several values of a property.
    if schema.is_open() {
        return;
    }
    let mut at = 0;
    while at + 1 < ops.len() {
        let is_part = match &mut ops[at..at + 2] {
            [Op::Expand(one), Op::Filter(condition)] if !one.is_to_bound => {
                add(one, condition, schema)
            }
            _ => false,
        };
        match is_part {
            true => drop(ops.remove(at + 1)),
            false => at += 1,
        }
    }
}

/// Adds a condition to those of a step's node, if it reads one property of it only, and they the
/// same.
fn add(one: &mut Expand, condition: &Expr, schema: &dyn SchemaView) -> bool {
    let mut name = None;
    if !never_fails(condition) || !reads_only(condition, one.to, &mut name) {
        return false;
    }
    let Some(key) = name.and_then(|name| schema.property_key_named(name)) else {
        return false;
    };
    let is_same = |own: &NodeCondition| own.key == key.id;
    if key.cardinality != Cardinality::Single || !one.condition.as_ref().is_none_or(is_same) {
        return false;
    }
    let holds = match one.condition.take() {
        Some(before) => Expr::And(vec![before.holds, condition.clone()]),
        None => condition.clone(),
    };
    one.condition = Some(NodeCondition { key: key.id, holds });
    true
}

/// Whether an expression reads no slot but `slot`, and of it only one property, which it names.
fn reads_only<'e>(expr: &'e Expr, slot: usize, name: &mut Option<&'e Arc<str>>) -> bool {
    if let Expr::Property(subject, own) = expr
        && let Expr::Slot(of) = **subject
    {
        return of == slot && *name.get_or_insert(own) == own;
    }
    let mut is_only = !matches!(expr, Expr::Slot(_));
    operands(expr, &mut |operand| {
        is_only = is_only && reads_only(operand, slot, name)
    });
    is_only
}

/// Whether evaluating a condition gives no error, whatever the values of properties are.
fn never_fails(condition: &Expr) -> bool {
    match condition {
        Expr::And(all) | Expr::Or(all) => all.iter().all(never_fails),
        Expr::Not(one) => never_fails(one),
        Expr::Compare(first, rest) => {
            is_value(first) && rest.iter().all(|(_, operand)| is_value(operand))
        }
        Expr::IsNull(one, _) => is_value(one),
        Expr::Binary(BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains, one, two) => {
            is_value(one) && is_value(two)
        }
        _ => false,
    }
}

fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Parameter(_) => true,
        Expr::Property(subject, _) => matches!(**subject, Expr::Slot(_)),
        _ => false,
    }
}
