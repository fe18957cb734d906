//! Walks over expressions of the tree.

use crate::functions::lookup_aggregate;
use crate::tree::{Expression, ExpressionKind, PathPattern, ProjectionEntry};

/// Calls `visit` with each operand of an expression. Subqueries are left out: their clauses are
/// bound on their own.
pub(crate) fn operands<'e>(expression: &'e Expression, visit: &mut dyn FnMut(&'e Expression)) {
    use ExpressionKind as Kind;
    match &expression.kind {
        Kind::Null
        | Kind::Boolean(_)
        | Kind::Integer(_)
        | Kind::Float(_)
        | Kind::String(_)
        | Kind::Parameter(_)
        | Kind::Variable(_)
        | Kind::CountStar
        | Kind::Subquery(..) => {}
        Kind::List(items) => items.iter().for_each(visit),
        Kind::Map(entries) => entries.iter().for_each(|entry| visit(&entry.value)),
        Kind::Property(subject, _)
        | Kind::Not(subject)
        | Kind::Sign(_, subject)
        | Kind::Is(subject, _)
        | Kind::HasLabels(subject, _) => visit(subject),
        Kind::Index(subject, index) => {
            visit(subject);
            visit(index);
        }
        Kind::Slice(subject, bounds) => {
            visit(subject);
            bounds.from.iter().chain(&bounds.to).for_each(visit);
        }
        Kind::Chain(first, links) => {
            visit(first);
            links.iter().for_each(|link| visit(&link.operand));
        }
        Kind::Call(call) => call.arguments.iter().for_each(visit),
        Kind::Case(case) => {
            case.subject.iter().for_each(&mut *visit);
            for branch in &case.branches {
                branch.operands.iter().for_each(&mut *visit);
                visit(&branch.value);
            }
            case.otherwise.iter().for_each(visit);
        }
        _ => scoped_operands(expression, visit),
    }
}

/// The operands of expressions that declare variables.
fn scoped_operands<'e>(expression: &'e Expression, visit: &mut dyn FnMut(&'e Expression)) {
    use ExpressionKind as Kind;
    match &expression.kind {
        Kind::ListComprehension(one) => {
            visit(&one.list);
            one.filter.iter().chain(&one.result).for_each(visit);
        }
        Kind::PatternComprehension(one) => {
            pattern_operands(&one.pattern, visit);
            one.filter.iter().for_each(&mut *visit);
            visit(&one.result);
        }
        Kind::MapProjection(one) => {
            for entry in &one.entries {
                if let ProjectionEntry::Entry(entry) = entry {
                    visit(&entry.value);
                }
            }
        }
        Kind::Reduce(one) => {
            visit(&one.initial);
            visit(&one.list);
            visit(&one.step);
        }
        Kind::Quantified(one) => {
            visit(&one.list);
            visit(&one.predicate);
        }
        Kind::Pattern(pattern) => pattern_operands(pattern, visit),
        _ => {}
    }
}

fn pattern_operands<'e>(pattern: &'e PathPattern, visit: &mut dyn FnMut(&'e Expression)) {
    let start = &pattern.start;
    start
        .properties
        .iter()
        .chain(&start.filter)
        .for_each(&mut *visit);
    for (relationship, node) in &pattern.steps {
        let properties = relationship.properties.iter().chain(&relationship.filter);
        properties.for_each(&mut *visit);
        node.properties
            .iter()
            .chain(&node.filter)
            .for_each(&mut *visit);
    }
}

/// Whether the expression is a call of an aggregate.
pub(crate) fn is_aggregate(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::CountStar => true,
        ExpressionKind::Call(call) => lookup_aggregate(&call.name.text()).is_some(),
        _ => false,
    }
}

/// Whether some part of an expression satisfies a test.
pub(crate) fn any(expression: &Expression, test: &mut dyn FnMut(&Expression) -> bool) -> bool {
    if test(expression) {
        return true;
    }
    let mut found = false;
    operands(expression, &mut |operand| {
        found = found || any(operand, test);
    });
    found
}

/// Whether an expression contains an aggregate.
pub(crate) fn aggregates(expression: &Expression) -> bool {
    any(expression, &mut is_aggregate)
}

/// Whether an expression mentions a variable by its name.
pub(crate) fn mentions(expression: &Expression, name: &str) -> bool {
    any(expression, &mut |part| match &part.kind {
        ExpressionKind::Variable(variable) => variable.text == name,
        ExpressionKind::MapProjection(one) => one.variable.text == name,
        _ => false,
    })
}
