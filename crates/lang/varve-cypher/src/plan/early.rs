//! Conditions that are checked before the nodes of a step or a scan are made.

use std::sync::Arc;

use varve_model::Cardinality;
use varve_view::SchemaView;

use super::slots::{is_fixed, operands};
use super::{NodeCondition, Op};
use crate::expression::{BinaryOp, Expr};

/// Makes conditions that follow a step or a scan part of it, if they read one property of its node
/// only.
pub(super) fn check(ops: &mut Vec<Op>, schema: &dyn SchemaView) {
    // In an open graph, a node may have several values of a property.
    if schema.is_open() {
        return;
    }
    // A scan in the order of an index looks at the conditions behind it.
    let is_sorted = ops.iter().any(|op| matches!(op, Op::Sort { .. }));
    let mut at = 0;
    while at + 1 < ops.len() {
        let [op, Op::Filter(condition)] = &mut ops[at..at + 2] else {
            at += 1;
            continue;
        };
        let own = match op {
            // Relationships are compared later, so there may be no row for which a condition fails.
            Op::Expand(one)
                if !one.is_to_bound && (one.unlike.is_empty() || never_fails(condition)) =>
            {
                Some((one.to, &mut one.condition))
            }
            Op::NodeScan(scan) if scan.id.is_none() && !is_sorted => {
                Some((scan.node, &mut scan.condition))
            }
            _ => None,
        };
        match own.is_some_and(|(node, own)| add(node, own, condition, schema)) {
            true => drop(ops.remove(at + 1)),
            false => at += 1,
        }
    }
}

/// Adds a condition to those of a node, if it reads one property of it only, and they the same.
fn add(
    node: usize,
    own: &mut Option<NodeCondition>,
    condition: &Expr,
    schema: &dyn SchemaView,
) -> bool {
    let mut name = None;
    if !is_fixed(condition) || !reads_only(condition, node, &mut name) {
        return false;
    }
    let Some(key) = name.and_then(|name| schema.property_key_named(name)) else {
        return false;
    };
    let is_same = own.as_ref().is_none_or(|own| own.key == key.id);
    if key.cardinality != Cardinality::Single || !is_same {
        return false;
    }
    let holds = match own.take() {
        Some(before) => Expr::And(vec![before.holds, condition.clone()]),
        None => condition.clone(),
    };
    *own = Some(NodeCondition { key: key.id, holds });
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
        Expr::Constant(_) => true,
        Expr::Property(subject, _) => matches!(**subject, Expr::Slot(_)),
        _ => false,
    }
}
