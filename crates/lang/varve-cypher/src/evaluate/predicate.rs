//! Predicates in three-valued logic: `None` is unknown.

use std::cell::RefCell;

use varve_pattern::{Fault, Pattern};

use super::access::label_of;
use super::{evaluate, held, relates, relationship_type, wrong_type};
use crate::error::{Outcome, argument_error, not_supported};
use crate::expression::{BinaryOp, Expr, Frame, LabelTest};
use crate::labels;
use crate::tree::{TypeKind, TypeName, ValueType};
use crate::value::{Value, equal};

/// The truth of an expression.
///
/// # Errors
/// As [`evaluate`], and when the value is neither a truth value nor null.
pub(super) fn evaluate_predicate(expr: &Expr, frame: &mut Frame<'_>) -> Outcome<Option<bool>> {
    match expr {
        Expr::Not(operand) => Ok(evaluate_predicate(operand, frame)?.map(|truth| !truth)),
        Expr::And(operands) => all(operands, true, frame),
        Expr::Or(operands) => all(operands, false, frame),
        Expr::Xor(operands) => {
            let mut parity = Some(false);
            for operand in operands {
                let truth = evaluate_predicate(operand, frame)?;
                parity = parity.zip(truth).map(|(left, right)| left != right);
            }
            Ok(parity)
        }
        Expr::Compare(first, links) => {
            let mut left = held(first, frame)?;
            let mut known = true;
            for (op, operand) in links {
                let right = held(operand, frame)?;
                match relates(*op, &left, &right) {
                    Some(true) => {}
                    Some(false) => return Ok(Some(false)),
                    None => known = false,
                }
                left = right;
            }
            Ok(known.then_some(true))
        }
        Expr::IsNull(operand, negated) => Ok(Some(held(operand, frame)?.is_null() != *negated)),
        Expr::IsType(operand, wanted, negated) => {
            Ok(Some(has_type(&*held(operand, frame)?, wanted) != *negated))
        }
        Expr::HasLabels(operand, test) => has_labels(&*held(operand, frame)?, test, frame),
        _ => match evaluate(expr, frame)? {
            Value::Boolean(truth) => Ok(Some(truth)),
            Value::Null => Ok(None),
            other => Err(wrong_type("BOOLEAN", &other)),
        },
    }
}

/// AND (`neutral` is true) or OR: the first operand that is not neutral decides.
fn all(operands: &[Expr], neutral: bool, frame: &mut Frame<'_>) -> Outcome<Option<bool>> {
    let mut known = true;
    for operand in operands {
        match evaluate_predicate(operand, frame)? {
            Some(truth) if truth == neutral => {}
            Some(_) => return Ok(Some(!neutral)),
            None => known = false,
        }
    }
    Ok(known.then_some(neutral))
}

/// `item IN list`.
pub(super) fn is_in(item: &Value, list: &Value) -> Outcome<Option<bool>> {
    let items = match list {
        Value::List(items) => items,
        Value::Null => return Ok(None),
        other => return Err(wrong_type("LIST", other)),
    };
    let mut known = true;
    for other in items.iter() {
        match equal(item, other) {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => known = false,
        }
    }
    Ok(known.then_some(false))
}

/// `STARTS WITH`, `ENDS WITH`, `CONTAINS` and `=~`: unknown for values that are no strings.
pub(super) fn strings(op: BinaryOp, left: &Value, right: &Value) -> Outcome<Option<bool>> {
    let (Value::String(text), Value::String(part)) = (left, right) else {
        return Ok(None);
    };
    Ok(Some(match op {
        BinaryOp::StartsWith => text.starts_with(&**part),
        BinaryOp::EndsWith => text.ends_with(&**part),
        BinaryOp::Contains => text.contains(&**part),
        _ => return matches(text, part).map(Some),
    }))
}

/// Whether a pattern matches all of a text. The last pattern of the thread stays compiled.
fn matches(text: &str, pattern: &str) -> Outcome<bool> {
    thread_local! {
        static LAST: RefCell<Option<(String, Pattern)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        if let Some((known, compiled)) = last
            && known == pattern
        {
            return Ok(compiled.matches(text));
        }
        let compiled = Pattern::new(pattern).map_err(|fault| match fault {
            Fault::Syntax(why) => argument_error(
                "InvalidArgumentValue",
                format!("pattern '{pattern}': {why}"),
            ),
            Fault::NotSupported(why) => not_supported(format!("pattern '{pattern}': {why}")),
        })?;
        let found = compiled.matches(text);
        *last = Some((pattern.to_owned(), compiled));
        Ok(found)
    })
}

/// Whether a node has labels, or a relationship a type.
fn has_labels(value: &Value, test: &LabelTest, frame: &Frame<'_>) -> Outcome<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Node(node) => {
            let label = label_of(node, frame)?;
            Ok(Some(labels::node_satisfies(
                frame.graph.schema,
                label,
                test,
            )))
        }
        Value::Relationship(one) => {
            let own = relationship_type(one, frame);
            Ok(Some(test.holds(&|name| own == name, true)))
        }
        other => Err(wrong_type("NODE or RELATIONSHIP", other)),
    }
}

impl LabelTest {
    /// Whether the test holds for an element whose names `has` knows; `any`: it has one.
    pub(crate) fn holds(&self, has: &dyn Fn(&str) -> bool, any: bool) -> bool {
        match self {
            LabelTest::Name(name) => has(name),
            LabelTest::Any => any,
            LabelTest::Not(test) => !test.holds(has, any),
            LabelTest::And(tests) => tests.iter().all(|test| test.holds(has, any)),
            LabelTest::Or(tests) => tests.iter().any(|test| test.holds(has, any)),
        }
    }
}

/// Whether a value belongs to a type. Null belongs to every type that does not exclude it.
fn has_type(value: &Value, wanted: &ValueType) -> bool {
    if value.is_null() {
        let is_nothing = matches!(wanted.kind, TypeKind::Named(TypeName::Nothing));
        let is_union = matches!(wanted.kind, TypeKind::Union(_));
        return match &wanted.kind {
            TypeKind::Union(types) if is_union => types.iter().any(|one| has_type(value, one)),
            _ => !wanted.not_null && !is_nothing,
        };
    }
    match &wanted.kind {
        TypeKind::Union(types) => types.iter().any(|one| has_type(value, one)),
        TypeKind::List(item) => match value {
            Value::List(items) => items.iter().all(|one| has_type(one, item)),
            _ => false,
        },
        TypeKind::Named(name) => has_named_type(value, *name),
    }
}

fn has_named_type(value: &Value, name: TypeName) -> bool {
    match name {
        TypeName::Any => true,
        TypeName::Nothing | TypeName::Null => false,
        TypeName::PropertyValue => match value {
            Value::List(items) => items.iter().all(|item| {
                !matches!(item, Value::List(_)) && has_named_type(item, TypeName::PropertyValue)
            }),
            Value::Map(_) | Value::Node(_) | Value::Relationship(_) | Value::Path(_) => false,
            other => !other.is_null(),
        },
        other => value.type_name() == other.text(),
    }
}
