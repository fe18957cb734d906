//! Comprehensions, `reduce` and quantifiers: expressions over the items of a list.

use std::sync::Arc;

use super::predicate::evaluate_predicate;
use super::{evaluate, nesting, truth, wrong_type};
use crate::error::Outcome;
use crate::expression::{ComprehensionExpr, Expr, Frame, QuantifiedExpr, ReduceExpr};
use crate::held::Held;
use crate::tree::Quantifier;
use crate::value::Value;

/// Items between two checks of the deadline and the memory.
const CHECK_EVERY: usize = 1_024;
/// Bytes of an item that are held while the list that it is in is made.
const LARGE: usize = 1_024;

/// The items of a list; `None` if the list is null.
fn items(list: &Expr, frame: &mut Frame<'_>) -> Outcome<Option<Arc<Vec<Value>>>> {
    match evaluate(list, frame)? {
        Value::List(items) => Ok(Some(items)),
        Value::Null => Ok(None),
        other => Err(wrong_type("LIST", &other)),
    }
}

/// Sets the local at a place of the stack, which then ends with it.
fn set_local(frame: &mut Frame<'_>, at: usize, value: Value) {
    frame.locals.resize(at, Value::Null);
    frame.locals.push(value);
}

fn check(frame: &Frame<'_>, at: usize) -> Outcome<()> {
    if at % CHECK_EVERY == CHECK_EVERY - 1 {
        frame.graph.meter.check()?;
    }
    Ok(())
}

pub(super) fn list(one: &ComprehensionExpr, frame: &mut Frame<'_>) -> Outcome<Value> {
    let Some(items) = items(&one.list, frame)? else {
        return Ok(Value::Null);
    };
    let mut kept = Vec::new();
    let mut held = Held::new(frame.graph.meter);
    for (at, item) in items.iter().enumerate() {
        check(frame, at)?;
        set_local(frame, one.local, item.clone());
        if let Some(filter) = &one.filter
            && !truth(filter, frame)?
        {
            continue;
        }
        let value = match &one.result {
            Some(result) => evaluate(result, frame)?,
            None => item.clone(),
        };
        let bytes = value.own_bytes();
        if bytes >= LARGE {
            held.add(bytes)?;
        }
        kept.push(value);
        if kept.len() % CHECK_EVERY == 0 {
            held.add(CHECK_EVERY * size_of::<Value>())?;
        }
    }
    frame.locals.truncate(one.local);
    nesting::list(kept, frame.graph)
}

pub(super) fn reduce(one: &ReduceExpr, frame: &mut Frame<'_>) -> Outcome<Value> {
    let mut total = evaluate(&one.initial, frame)?;
    let Some(items) = items(&one.list, frame)? else {
        return Ok(Value::Null);
    };
    for (at, item) in items.iter().enumerate() {
        check(frame, at)?;
        set_local(frame, one.local, total);
        frame.locals.push(item.clone());
        total = evaluate(&one.step, frame)?;
    }
    frame.locals.truncate(one.local);
    Ok(total)
}

pub(super) fn quantified(one: &QuantifiedExpr, frame: &mut Frame<'_>) -> Outcome<Value> {
    let Some(items) = items(&one.list, frame)? else {
        return Ok(Value::Null);
    };
    let (mut trues, mut unknown) = (0, false);
    let mut decided = None;
    for (at, item) in items.iter().enumerate() {
        check(frame, at)?;
        set_local(frame, one.local, item.clone());
        match (evaluate_predicate(&one.predicate, frame)?, one.quantifier) {
            (None, _) => unknown = true,
            (Some(false), Quantifier::All) | (Some(true), Quantifier::None) => {
                decided = Some(false);
            }
            (Some(true), Quantifier::Any) => decided = Some(true),
            (Some(true), Quantifier::Single) => {
                trues += 1;
                if trues > 1 {
                    decided = Some(false);
                }
            }
            (Some(_), _) => {}
        }
        if decided.is_some() {
            break;
        }
    }
    frame.locals.truncate(one.local);
    let at_end = match one.quantifier {
        Quantifier::All | Quantifier::None => true,
        Quantifier::Any => false,
        Quantifier::Single => trues == 1,
    };
    Ok(decided.or((!unknown).then_some(at_end)).into())
}
