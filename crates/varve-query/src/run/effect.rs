//! Side effects: values that steps store under a name.

use super::child::Reader;
use super::context::{Context, Effect, SharedSegments};
use super::each::drain;
use super::group::whole;
use super::row::Row;
use super::{BoxedOperator, Operator, Reset};
use crate::plan::{By, Name, Op, Operator as Join, Reduce};
use crate::value::number::Arithmetic;
use crate::value::{Tree, ValueMap};
use crate::{QueryError, Value};

/// Adds values to a side effect.
pub(crate) fn add(
    cx: &mut Context<'_>,
    name: &Name,
    reader: &mut Reader,
    rows: &[Row],
) -> Result<(), QueryError> {
    let values = reader.read(cx, rows)?;
    let mut added = Vec::new();
    for (row, value) in rows.iter().zip(values) {
        if let Some(value) = value {
            cx.hold_values(&value, row.bulk)?;
            let bulk = usize::try_from(row.bulk).unwrap_or(usize::MAX);
            added.extend(std::iter::repeat_n(value, bulk));
        }
    }
    for value in &added {
        value.check_bounds()?;
    }
    match cx.effects.get_mut(name) {
        Some(Effect {
            value,
            operator: Some(operator),
        }) if !matches!(operator, Join::Assign | Join::AddAll) => {
            for each in added {
                *value = joined(*operator, value, &each)?;
            }
        }
        Some(Effect {
            value,
            operator: Some(Join::Assign),
        }) => *value = Value::list(added),
        Some(Effect { value, .. }) => extend(value, added)?,
        None => put(cx, name, Value::list(added)),
    }
    Ok(())
}

fn extend(value: &mut Value, added: Vec<Value>) -> Result<(), QueryError> {
    match value {
        Value::List(items) => std::sync::Arc::make_mut(items).extend(added),
        Value::Set(items) => std::sync::Arc::make_mut(items).extend(added),
        other => return Err(QueryError::cast(other, "Collection")),
    }
    Ok(())
}

/// Replaces the value of a side effect.
pub(crate) fn put(cx: &mut Context<'_>, name: &Name, value: Value) {
    match cx.effects.get_mut(name) {
        Some(effect) => effect.value = value,
        None => {
            let operator = None;
            cx.effects.insert(name.clone(), Effect { value, operator });
        }
    }
}

/// A function that combines two values of one key.
pub(crate) type Merge = fn(&Value, Value) -> Result<Value, QueryError>;

/// Adds entries to a side effect that is a map. Values of the same key are combined by `join`.
pub(crate) fn merge(
    cx: &mut Context<'_>,
    name: &Name,
    more: ValueMap,
    join: Merge,
) -> Result<(), QueryError> {
    let Some(effect) = cx.effects.get_mut(name) else {
        put(cx, name, Value::Map(std::sync::Arc::new(more)));
        return Ok(());
    };
    let Value::Map(map) = &mut effect.value else {
        return Err(QueryError::cast(&effect.value, "Map"));
    };
    let map = std::sync::Arc::make_mut(map);
    for (key, value) in more {
        match map.get_mut(&key) {
            Some(old) => *old = join(old, value)?,
            None => drop(map.insert(key, value)),
        }
    }
    Ok(())
}

/// The function that combines the value of a group with a later value for the same key.
pub(crate) fn joins(value: &By) -> Merge {
    let By::Child(plan) = value else {
        return appended;
    };
    match plan.ops.last() {
        Some(Op::Reduce {
            reduce: Reduce::Count | Reduce::Sum,
            ..
        }) => summed,
        _ => appended,
    }
}

/// Merges a tree into a side effect.
pub(crate) fn graft(cx: &mut Context<'_>, name: &Name, tree: Value) -> Result<(), QueryError> {
    fn grow(old: &mut Tree, new: &Tree) {
        for (key, below) in &new.0 {
            grow(old.0.entry(key.clone()).or_default(), below);
        }
    }
    match (
        cx.effects.get_mut(name).map(|effect| &mut effect.value),
        tree,
    ) {
        (Some(Value::Tree(old)), Value::Tree(new)) => {
            grow(std::sync::Arc::make_mut(old), &new);
            Ok(())
        }
        (None, tree) => {
            put(cx, name, tree);
            Ok(())
        }
        (Some(other), _) => Err(QueryError::cast(other, "Tree")),
    }
}

/// Concatenates two lists. Of other values, returns the newer one.
pub(crate) fn appended(old: &Value, new: Value) -> Result<Value, QueryError> {
    Ok(match (old, &new) {
        (Value::List(a), Value::List(b)) => {
            Value::list(a.iter().chain(b.iter()).cloned().collect())
        }
        _ => new,
    })
}

/// The sum of two counts.
pub(crate) fn summed(old: &Value, new: Value) -> Result<Value, QueryError> {
    Arithmetic::Add.apply(old, &new)
}

/// Combines two values by an operator.
pub(crate) fn joined(operator: Join, a: &Value, b: &Value) -> Result<Value, QueryError> {
    let bools = |decide: fn(bool, bool) -> bool| match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(decide(*a, *b))),
        (Value::Bool(_), other) | (other, _) => Err(QueryError::cast(other, "Boolean")),
    };
    match operator {
        Join::Assign => Ok(b.clone()),
        Join::Sum => Arithmetic::Add.apply(a, b),
        Join::Minus => Arithmetic::Subtract.apply(a, b),
        Join::Mult => Arithmetic::Multiply.apply(a, b),
        Join::Div => Arithmetic::Divide.apply(a, b),
        Join::Min => Arithmetic::Min.apply(a, b),
        Join::Max => Arithmetic::Max.apply(a, b),
        Join::And => bools(|a, b| a && b),
        Join::Or => bools(|a, b| a || b),
        Join::AddAll => match (a, b) {
            (Value::Null, other) | (other, Value::Null) => Ok(other.clone()),
            (Value::Map(x), Value::Map(y)) => {
                let mut map = x.as_ref().clone();
                map.extend(y.iter().map(|(key, value)| (key.clone(), value.clone())));
                Ok(Value::Map(std::sync::Arc::new(map)))
            }
            (Value::Set(x), other) => {
                let more = other.items().unwrap_or_else(|| vec![other.clone()]);
                Ok(Value::set(x.iter().cloned().chain(more)))
            }
            (x, y) => {
                let of = |value: &Value| value.items().unwrap_or_else(|| vec![value.clone()]);
                let mut all = of(x);
                all.extend(of(y));
                Ok(Value::list(all))
            }
        },
    }
}

/// Runs all steps before it, then gives side effects.
pub(crate) struct Cap {
    pub(crate) input: BoxedOperator,
    pub(crate) names: Vec<Name>,
    pub(crate) segments: SharedSegments,
    pub(crate) done: bool,
}

impl Operator for Cap {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        while self.input.next(cx, super::BATCH_MAX)?.is_some() {}
        let of = |name: &Name| cx.effects.get(name).map(|effect| effect.value.clone());
        let value = match self.names.as_slice() {
            [name] => of(name)
                .ok_or_else(|| QueryError::invalid(format!("There is no side effect '{name}'")))?,
            names => {
                let entry = |name: &Name| Some((Value::Text(name.clone()), of(name)?));
                Value::map(names.iter().filter_map(entry))
            }
        };
        let segments = self.segments.each().into_iter();
        Ok(Some(
            segments.map(|at| whole(value.clone(), at, cx)).collect(),
        ))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// Waits for all rows, passes them to `observe`, then gives them unchanged.
pub(crate) struct Observe<F> {
    pub(crate) input: BoxedOperator,
    pub(crate) done: bool,
    pub(crate) observe: F,
}

impl<F> Operator for Observe<F>
where
    F: FnMut(&mut Context<'_>, &[Row]) -> Result<(), QueryError>,
{
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let rows = drain(self.input.as_mut(), cx)?;
        (self.observe)(cx, &rows)?;
        Ok(Some(rows))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// Makes one value from all rows of each segment, including segments without rows.
pub(crate) struct Whole<F> {
    pub(crate) input: BoxedOperator,
    pub(crate) segments: SharedSegments,
    pub(crate) done: bool,
    pub(crate) make: F,
}

impl<F> Operator for Whole<F>
where
    F: FnMut(&mut Context<'_>, Vec<Row>) -> Result<Value, QueryError>,
{
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let rows = drain(self.input.as_mut(), cx)?;
        let mut parts = super::each::by_segment(rows).into_iter().peekable();
        let mut out = Vec::new();
        for segment in self.segments.each() {
            let own = parts.next_if(|part| part[0].segment == segment);
            let value = (self.make)(cx, own.unwrap_or_default())?.bounded()?;
            out.push(whole(value, segment, cx));
        }
        Ok(Some(out))
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}
