//! Evaluates bound expressions for a row.

mod access;
mod arithmetic;
mod comprehension;
pub(crate) mod nesting;
mod predicate;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Error, ErrorClass, Outcome, type_error};
use crate::expression::{
    BinaryOp, CaseExpr, CompareOp, Expr, Frame, MapProjection, ProjectionEntry, Row,
};
use crate::functions::Function;
use crate::tree::SubqueryKind;
use crate::value::{Graph, Map, Value, compare, equal, is_unordered};

pub(crate) use access::{
    content_of, keys_of, labels_of, properties_of, property as property_of, relationship_type,
};

/// The value of an expression for the frame's row.
///
/// # Errors
/// When a value has a wrong type or range, a parameter is missing, or the store fails.
pub(crate) fn evaluate(expr: &Expr, frame: &mut Frame<'_>) -> Outcome<Value> {
    match expr {
        Expr::Constant(value) => Ok(value.clone()),
        Expr::Slot(slot) => Ok(frame.row.slot(*slot).clone()),
        Expr::Local(at) => Ok(frame.locals.get(*at).cloned().unwrap_or(Value::Null)),
        Expr::Parameter(name) => parameter(name, frame),
        Expr::List(items) => {
            let items = items.iter().map(|item| evaluate(item, frame));
            let items = items.collect::<Outcome<Vec<Value>>>()?;
            nesting::list(items, frame.graph)
        }
        Expr::Map(entries) => map(entries, frame),
        Expr::MapProjection(projection) => project(projection, frame),
        Expr::Property(subject, key) => {
            let subject = held(subject, frame)?;
            access::property(&subject, key, frame)
        }
        Expr::Index(subject, index) => {
            let (subject, index) = both(subject, index, frame)?;
            access::index(&subject, &index, frame)
        }
        Expr::Slice(subject, from, to) => {
            let subject = held(subject, frame)?;
            let from = optional(from.as_deref(), frame)?;
            let to = optional(to.as_deref(), frame)?;
            access::slice(&subject, from.as_ref(), to.as_ref(), frame.graph)
        }
        Expr::Negate(operand) => arithmetic::negate(&evaluate(operand, frame)?),
        Expr::Plus(operand) => arithmetic::plus(evaluate(operand, frame)?),
        Expr::Binary(op, left, right) => {
            let graph = frame.graph;
            let (left, right) = both(left, right, frame)?;
            binary(*op, &left, &right, graph)
        }
        Expr::Chain(first, rest) => {
            let graph = frame.graph;
            let mut left = evaluate(first, frame)?;
            for (op, right) in rest {
                let right = held(right, frame)?;
                left = binary(*op, &left, &right, graph)?;
            }
            Ok(left)
        }
        Expr::Call(function, arguments) => call(function, arguments, frame),
        Expr::Case(case) => evaluate_case(case, frame),
        Expr::ListComprehension(one) => comprehension::list(one, frame),
        Expr::Reduce(one) => comprehension::reduce(one, frame),
        Expr::Quantified(one) => comprehension::quantified(one, frame),
        Expr::Subquery(kind, plan) => subquery(*kind, *plan, frame),
        _ => Ok(predicate::evaluate_predicate(expr, frame)?.into()),
    }
}

/// Whether a predicate is true for the frame's row: neither false nor null.
///
/// # Errors
/// As [`evaluate`], and when the value is neither a truth value nor null.
pub(crate) fn truth(expr: &Expr, frame: &mut Frame<'_>) -> Outcome<bool> {
    Ok(predicate::evaluate_predicate(expr, frame)? == Some(true))
}

/// The value of an expression, borrowed if it is a constant or a column.
fn held<'x, 'a: 'x>(expr: &'x Expr, frame: &mut Frame<'a>) -> Outcome<Cow<'x, Value>> {
    match expr {
        Expr::Constant(value) => Ok(Cow::Borrowed(value)),
        Expr::Slot(slot) => {
            let row: &'a dyn Row = frame.row;
            Ok(Cow::Borrowed(row.slot(*slot)))
        }
        _ => Ok(Cow::Owned(evaluate(expr, frame)?)),
    }
}

type Pair<'x> = (Cow<'x, Value>, Cow<'x, Value>);

fn both<'x, 'a: 'x>(left: &'x Expr, right: &'x Expr, frame: &mut Frame<'a>) -> Outcome<Pair<'x>> {
    Ok((held(left, frame)?, held(right, frame)?))
}

fn optional(expr: Option<&Expr>, frame: &mut Frame<'_>) -> Outcome<Option<Value>> {
    expr.map(|expr| evaluate(expr, frame)).transpose()
}

fn parameter(name: &str, frame: &Frame<'_>) -> Outcome<Value> {
    match frame.parameters.get(name) {
        Some(value) => Ok(value.clone()),
        None => {
            let message = format!("there is no parameter ${name}");
            let class = ErrorClass::ParameterMissing;
            Err(Error::run(class, "MissingParameter", message).into())
        }
    }
}

fn map(entries: &[(Arc<str>, Expr)], frame: &mut Frame<'_>) -> Outcome<Value> {
    let mut map = Map::new();
    for (key, value) in entries {
        map.insert(Arc::clone(key), evaluate(value, frame)?);
    }
    nesting::map(map, frame.graph)
}

fn project(projection: &MapProjection, frame: &mut Frame<'_>) -> Outcome<Value> {
    let subject = evaluate(&projection.subject, frame)?;
    if subject.is_null() {
        return Ok(Value::Null);
    }
    let mut map = Map::new();
    for entry in &projection.entries {
        match entry {
            ProjectionEntry::Property(key) => {
                let value = access::property(&subject, key, frame)?;
                map.insert(Arc::clone(key), value);
            }
            ProjectionEntry::All => {
                let all = properties_of(&subject, frame)?;
                for (key, value) in all.iter() {
                    map.insert(Arc::clone(key), value.clone());
                }
            }
            ProjectionEntry::Value(key, value) => {
                map.insert(Arc::clone(key), evaluate(value, frame)?);
            }
        }
    }
    nesting::map(map, frame.graph)
}

fn binary(op: BinaryOp, left: &Value, right: &Value, graph: &Graph<'_>) -> Outcome<Value> {
    match op {
        BinaryOp::Add => arithmetic::add(left, right, graph),
        BinaryOp::Subtract => arithmetic::subtract(left, right),
        BinaryOp::Multiply => arithmetic::multiply(left, right),
        BinaryOp::Divide => arithmetic::divide(left, right),
        BinaryOp::Modulo => arithmetic::modulo(left, right),
        BinaryOp::Power => arithmetic::power(left, right),
        BinaryOp::Concatenate => arithmetic::concatenate(left, right, graph),
        BinaryOp::In => Ok(predicate::is_in(left, right)?.into()),
        BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains | BinaryOp::Matches => {
            Ok(predicate::strings(op, left, right)?.into())
        }
    }
}

fn call(function: &Function, arguments: &[Expr], frame: &mut Frame<'_>) -> Outcome<Value> {
    // `coalesce` must not evaluate what comes after the first value that is not null.
    if function.is_coalesce() {
        for argument in arguments {
            let value = evaluate(argument, frame)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        return Ok(Value::Null);
    }
    let arguments = arguments.iter().map(|one| evaluate(one, frame));
    let arguments = arguments.collect::<Outcome<SmallVec<[Value; 3]>>>()?;
    if function.strict && arguments.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let bytes: usize = arguments.iter().map(Value::bytes).sum();
    frame.graph.room(function.copies(bytes))?;
    (function.body)(&arguments, frame)
}

fn evaluate_case(case: &CaseExpr, frame: &mut Frame<'_>) -> Outcome<Value> {
    let subject = optional(case.subject.as_ref(), frame)?;
    for (operands, value) in &case.branches {
        for operand in operands {
            let applies = match &subject {
                Some(subject) => equal(subject, &evaluate(operand, frame)?) == Some(true),
                None => truth(operand, frame)?,
            };
            if applies {
                return evaluate(value, frame);
            }
        }
    }
    Ok(optional(case.otherwise.as_ref(), frame)?.unwrap_or(Value::Null))
}

fn subquery(kind: SubqueryKind, plan: usize, frame: &mut Frame<'_>) -> Outcome<Value> {
    use varve_view::Flow;

    let (subplans, graph) = (frame.subplans, frame.graph);
    let (mut count, mut items) = (0_u64, Vec::new());
    subplans.rows(plan, frame, &mut |value, times| {
        count = count.saturating_add(times);
        match kind {
            SubqueryKind::Exists => Ok(Flow::Break(())),
            SubqueryKind::Count => Ok(Flow::Continue(())),
            SubqueryKind::Collect => {
                graph.push(&mut items, value, times)?;
                Ok(Flow::Continue(()))
            }
        }
    })?;
    Ok(match kind {
        SubqueryKind::Exists => Value::Boolean(count > 0),
        SubqueryKind::Count => Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)),
        SubqueryKind::Collect => nesting::list(items, graph)?,
    })
}

/// `left op right` in three-valued logic.
pub(crate) fn relates(op: CompareOp, left: &Value, right: &Value) -> Option<bool> {
    match op {
        CompareOp::Equal => return equal(left, right),
        CompareOp::NotEqual => return equal(left, right).map(|equal| !equal),
        _ if is_unordered(left, right) => return Some(false),
        _ => {}
    }
    let Some(order) = compare(left, right) else {
        // Values without an order, such as durations, are at most and at least what they equal.
        let is_within = matches!(op, CompareOp::LessEqual | CompareOp::GreaterEqual);
        return (is_within && equal(left, right) == Some(true)).then_some(true);
    };
    Some(match op {
        CompareOp::Less => order.is_lt(),
        CompareOp::LessEqual => order.is_le(),
        CompareOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// An error about the type of a value.
fn wrong_type(expected: &str, found: &Value) -> crate::error::CypherError {
    let found = found.type_name();
    type_error(
        "InvalidArgumentType",
        format!("expected {expected}, found {found}"),
    )
}
