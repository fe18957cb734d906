//! Steps over collections: `merge`, `combine`, `product`, `difference`, `intersect`, `disjunct`,
//! `conjoin`, `all`, `any`, and `none` with a predicate.

use std::sync::Arc;

use varve_query::plan::{Combination, Op, Plan};
use varve_query::value::{Size, TextBuilder, ValueSet};
use varve_query::{Custom, QueryError, Value};

use super::Binder;
use super::arguments::first;
use crate::tree::{Argument, Step, StepName};

impl Binder<'_> {
    /// Binds a step over collections; `None` for other steps, and for `none()` without a predicate.
    pub(super) fn list_step(&self, step: &Step) -> Result<Option<Op>, QueryError> {
        let name = step.name;
        Ok(Some(match name {
            StepName::Merge
            | StepName::Combine
            | StepName::Product
            | StepName::Difference
            | StepName::Intersect
            | StepName::Disjunct => self.join(name, first(step)?)?,
            StepName::Conjoin => {
                let Value::Text(between) = self.value(first(step)?)? else {
                    return Err(QueryError::invalid(
                        "Input delimiter to conjoin step can't be null.",
                    ));
                };
                combination(name.text(), Vec::new(), move |value, _| {
                    let items = incoming(name, value)?.into_iter();
                    let mut text = TextBuilder::default();
                    for (at, item) in items.filter(|item| !item.is_null()).enumerate() {
                        if at > 0 {
                            text.push(&between)?;
                        }
                        text.push_value(&item)?;
                    }
                    Ok(Value::Text(text.finish()))
                })
            }
            StepName::All | StepName::Any => self.members_that(name, first(step)?)?,
            StepName::None if !step.arguments.is_empty() => {
                self.members_that(name, first(step)?)?
            }
            _ => return Ok(None),
        }))
    }

    /// Binds a filter of collections by a predicate that all, some or no members must satisfy. A
    /// value that is not a collection does not pass.
    fn members_that(&self, name: StepName, wanted: &Argument) -> Result<Op, QueryError> {
        let predicate = self.predicate_or_value(wanted)?;
        Ok(Op::Is(varve_query::Predicate::Custom(Custom {
            name: name.text(),
            decide: Arc::new(move |value| {
                let Some(items) = items(value) else {
                    return Ok(false);
                };
                // `all` is decided by the first member that does not satisfy the predicate, `any`
                // and `none` by the first that does.
                let ends_at = name != StepName::All;
                for item in items {
                    if predicate.holds(&item)? == ends_at {
                        return Ok(name == StepName::Any);
                    }
                }
                Ok(name != StepName::Any)
            }),
        })))
    }

    /// Binds a step that combines two collections.
    fn join(&self, name: StepName, other: &Argument) -> Result<Op, QueryError> {
        if let Argument::Traversal(child) = other {
            let children = vec![self.plan(&child.steps)?];
            return Ok(combination(name.text(), children, move |value, results| {
                let other = results.first().unwrap_or(&Value::Null);
                if let (StepName::Merge, Value::Map(_)) = (name, value) {
                    return merged(value, other);
                }
                let left = incoming(name, value)?;
                let right = items(other).ok_or_else(|| refused_child(name, other))?;
                joined(name, left, right)
            }));
        }
        let other = self.value(other)?;
        let right = items(&other);
        if right.is_none() && !matches!(other, Value::Map(_)) {
            return Err(QueryError::invalid(match other {
                Value::Null => format!("Argument provided for {name} step can't be null"),
                other => format!(
                    "{name} step can only take an array or an Iterable as an argument, \
                     encountered {}",
                    other.type_name()
                ),
            }));
        }
        Ok(combination(name.text(), Vec::new(), move |value, _| {
            if let (StepName::Merge, Value::Map(_)) = (name, value) {
                return merged(value, &other);
            }
            let left = incoming(name, value)?;
            let Some(right) = right.clone() else {
                return Err(QueryError::invalid(format!(
                    "{name} step type mismatch: expected argument to be Iterable but got Map"
                )));
            };
            joined(name, left, right)
        }))
    }
}

/// A step that computes a value from the input value and the results of its child traversals.
pub(super) fn combination(
    name: &'static str,
    children: Vec<Plan>,
    apply: impl Fn(&Value, &[Value]) -> Result<Value, QueryError> + Send + Sync + 'static,
) -> Op {
    let apply = Arc::new(apply);
    let function = Combination { name, apply };
    Op::Combine { children, function }
}

/// The members of a list, set or path; `None` for anything else, maps and trees included.
fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Map(_) | Value::Tree(_) => None,
        other => other.items(),
    }
}

fn incoming(name: StepName, value: &Value) -> Result<Vec<Value>, QueryError> {
    items(value).ok_or_else(|| {
        QueryError::invalid(match value {
            Value::Null => format!("Incoming traverser for {name} step can't be null"),
            other => format!(
                "{name} step can only take an array or an Iterable type for incoming traversers, \
                 encountered {}",
                other.type_name()
            ),
        })
    })
}

fn refused_child(name: StepName, value: &Value) -> QueryError {
    QueryError::invalid(match value {
        Value::Null => format!(
            "Provided traversal argument for {name} step must yield an iterable type, not null"
        ),
        other => format!(
            "Provided traversal argument for {name} step must yield an iterable type, \
             encountered {}",
            other.type_name()
        ),
    })
}

/// Merges two maps. Entries of the second replace those of the first. An error if one is not a map.
fn merged(map: &Value, other: &Value) -> Result<Value, QueryError> {
    match (map, other) {
        (Value::Map(map), Value::Map(other)) => {
            let entries = map.iter().chain(other.iter());
            Ok(Value::map(
                entries.map(|(key, value)| (key.clone(), value.clone())),
            ))
        }
        _ => Err(QueryError::invalid(format!(
            "merge step expected provided argument to evaluate to a Map, encountered {}",
            other.type_name()
        ))),
    }
}

fn joined(name: StepName, left: Vec<Value>, right: Vec<Value>) -> Result<Value, QueryError> {
    let as_set = |items: Vec<Value>| items.into_iter().collect::<ValueSet>();
    let size = |items: &[Value]| -> Result<Size, QueryError> {
        let mut sizes = items.iter().map(Value::size);
        sizes.try_fold(Size::default(), |all, size| Ok(all.plus(size?)))
    };
    let (of_left, of_right) = (size(&left)?, size(&right)?);
    // Checked before the members are copied.
    match name {
        StepName::Product => {
            let pairs = Size {
                members: left.len().saturating_mul(right.len()),
                bytes: 0,
            };
            let copies = of_left.times(right.len()).plus(of_right.times(left.len()));
            pairs.plus(copies).check()?;
        }
        _ => of_left.plus(of_right).check()?,
    }
    Ok(match name {
        StepName::Combine => Value::list(left.into_iter().chain(right).collect()),
        StepName::Product => {
            let pairs = left.iter().flat_map(|a| {
                let pair = |b: &Value| Value::list(vec![a.clone(), b.clone()]);
                right.iter().map(pair)
            });
            Value::list(pairs.collect())
        }
        StepName::Difference => {
            let right = as_set(right);
            Value::set(left.into_iter().filter(|item| !right.contains(item)))
        }
        StepName::Intersect => {
            let right = as_set(right);
            Value::set(left.into_iter().filter(|item| right.contains(item)))
        }
        StepName::Disjunct => {
            let (left, right) = (as_set(left), as_set(right));
            Value::set(left.symmetric_difference(&right).cloned())
        }
        _ => Value::set(left.into_iter().chain(right)),
    })
}
