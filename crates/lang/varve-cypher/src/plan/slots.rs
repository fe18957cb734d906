//! Which slots an expression reads.

use crate::expression::{Expr, ProjectionEntry};
use crate::plan::Subplan;

/// Calls `visit` with each operand of a bound expression.
pub(crate) fn operands<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match expr {
        Expr::Constant(_)
        | Expr::Parameter(_)
        | Expr::Slot(_)
        | Expr::Local(_)
        | Expr::Subquery(..) => {}
        Expr::List(items)
        | Expr::And(items)
        | Expr::Or(items)
        | Expr::Xor(items)
        | Expr::Call(_, items) => items.iter().for_each(visit),
        Expr::Map(entries) => entries.iter().for_each(|(_, value)| visit(value)),
        Expr::Property(one, _)
        | Expr::Not(one)
        | Expr::Negate(one)
        | Expr::Plus(one)
        | Expr::IsNull(one, _)
        | Expr::IsType(one, ..)
        | Expr::HasLabels(one, _) => visit(one),
        Expr::Index(one, two) | Expr::Binary(_, one, two) => {
            visit(one);
            visit(two);
        }
        Expr::Slice(one, from, to) => {
            visit(one);
            for bound in [from, to].into_iter().flatten() {
                visit(bound);
            }
        }
        Expr::Compare(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, operand)| visit(operand));
        }
        Expr::Chain(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, operand)| visit(operand));
        }
        _ => scoped_operands(expr, visit),
    }
}

fn scoped_operands<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match expr {
        Expr::MapProjection(one) => {
            visit(&one.subject);
            for entry in &one.entries {
                if let ProjectionEntry::Value(_, value) = entry {
                    visit(value);
                }
            }
        }
        Expr::Case(case) => {
            case.subject.iter().for_each(&mut *visit);
            for (operands, value) in &case.branches {
                operands.iter().for_each(&mut *visit);
                visit(value);
            }
            case.otherwise.iter().for_each(visit);
        }
        Expr::ListComprehension(one) => {
            visit(&one.list);
            one.filter.iter().chain(&one.result).for_each(visit);
        }
        Expr::Reduce(one) => {
            visit(&one.initial);
            visit(&one.list);
            visit(&one.step);
        }
        Expr::Quantified(one) => {
            visit(&one.list);
            visit(&one.predicate);
        }
        _ => {}
    }
}

/// Calls `visit` with each slot that an expression reads, its subplans' inputs included.
pub(crate) fn reads(expr: &Expr, subplans: &[Subplan], visit: &mut dyn FnMut(usize)) {
    match expr {
        Expr::Slot(slot) => visit(*slot),
        Expr::Subquery(_, number) => {
            let inputs = subplans.get(*number).map(|plan| &plan.inputs);
            for input in inputs.into_iter().flatten() {
                if let Expr::Slot(slot) = input {
                    visit(*slot);
                }
            }
        }
        _ => operands(expr, &mut |operand| reads(operand, subplans, visit)),
    }
}

/// Whether an expression calls a function whose results differ from call to call.
pub(crate) fn is_random(expr: &Expr) -> bool {
    if let Expr::Call(function, _) = expr {
        // Random numbers and ids, and the clock of the moment.
        let name = function.name;
        if name.starts_with("rand") || name.ends_with("realtime") {
            return true;
        }
    }
    let mut found = false;
    operands(expr, &mut |operand| found = found || is_random(operand));
    found
}

/// Whether an expression has one value for one row, in whatever subquery.
pub(crate) fn is_fixed(expr: &Expr) -> bool {
    let mut fixed = !matches!(expr, Expr::Subquery(..) | Expr::Local(_)) && !is_random(expr);
    operands(expr, &mut |operand| fixed = fixed && is_fixed(operand));
    fixed
}
