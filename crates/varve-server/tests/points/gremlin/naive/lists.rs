//! Steps over the members of a list, a set, a map or a path.

use super::super::step::{Argument, Step};
use super::super::value::{Value, operate};
use super::barriers::{by_keys, kept, orders};
use super::{LeftOut, Naive, Walker, set_of};

/// What a reducer makes of values; `None`: nothing.
pub(super) fn reduced(name: &str, values: &[Value]) -> Option<Value> {
    if name == "count" {
        return Some(Value::Long(values.len() as i64));
    }
    let values = values
        .iter()
        .filter(|value| **value != Value::Null)
        .cloned();
    match name {
        "sum" => values.reduce(|a, b| operate("sum", &a, &b)),
        "min" => values.reduce(|a, b| if b.order(&a).is_lt() { b } else { a }),
        "max" => values.reduce(|a, b| if b.order(&a).is_gt() { b } else { a }),
        "mean" => {
            let numbers: Vec<f64> = values
                .map(|value| value.as_f64().expect("a number"))
                .collect();
            let count = numbers.len() as f64;
            (count > 0.0).then(|| Value::Double(numbers.iter().sum::<f64>() / count))
        }
        other => unreachable!("{other} is no reducer"),
    }
}

/// The keys or the values of a map or an entry, the labels or the objects of a path.
pub(super) fn column(value: &Value, word: &str) -> Value {
    let is_keys = word == "keys";
    match value {
        Value::Map(entries) if is_keys => set_of(entries.iter().map(|(key, _)| key.clone())),
        Value::Map(entries) => {
            Value::List(entries.iter().map(|(_, value)| value.clone()).collect())
        }
        Value::Entry(entry) if is_keys => entry.0.clone(),
        Value::Entry(entry) => entry.1.clone(),
        Value::Path(objects) => Value::List(match is_keys {
            true => {
                let labels = objects.iter().map(|(_, labels)| labels);
                let set = |labels: &Vec<String>| set_of(labels.iter().cloned().map(Value::Text));
                labels.map(set).collect()
            }
            false => objects.iter().map(|(value, _)| value.clone()).collect(),
        }),
        other => panic!("{other:?} has no {word}"),
    }
}

impl Naive<'_> {
    pub(super) fn combined(&self, step: &Step, walker: &Walker) -> Result<Vec<Value>, LeftOut> {
        let value = &walker.value;
        let own = value.members().unwrap_or_else(|| vec![value.clone()]);
        let other = match step.arguments.first() {
            Some(Argument::Child(child)) => self.child(child, walker)?.into_iter().next(),
            Some(Argument::Value(value)) => Some(value.clone()),
            _ => None,
        };
        let other = other.and_then(|other| other.members()).unwrap_or_default();
        let is_in = |all: &[Value], value: &Value| all.iter().any(|own| own.is_equivalent(value));
        let without = |all: &[Value], gone: &[Value]| {
            let kept = all.iter().filter(|value| !is_in(gone, value));
            kept.cloned().collect::<Vec<_>>()
        };
        Ok(vec![match step.name {
            "count" => Value::Long(match value {
                Value::Map(entries) => entries.len() as i64,
                _ => own.len() as i64,
            }),
            "sum" | "min" | "max" | "mean" => {
                return Ok(reduced(step.name, &own).into_iter().collect());
            }
            "dedup" => set_of(own),
            "order" => self.ordered_within(step, value)?,
            "limit" | "skip" | "range" | "tail" => match value {
                Value::Map(entries) => {
                    let (from, to) = kept(step, entries.len());
                    Value::Map(entries[from..to].to_vec())
                }
                _ => {
                    let (from, to) = kept(step, own.len());
                    Value::List(own[from..to].to_vec())
                }
            },
            "index" => {
                let numbered = own.into_iter().zip(0..);
                match step.behind.as_slice() {
                    [] => Value::List(
                        numbered
                            .map(|(value, at)| Value::List(vec![value, Value::Int(at)]))
                            .collect(),
                    ),
                    _ => Value::Map(
                        numbered
                            .map(|(value, at)| (Value::Int(at), value))
                            .collect(),
                    ),
                }
            }
            "combine" => Value::List([own, other].concat()),
            "merge" => set_of([own, other].concat()),
            "intersect" => set_of(own.into_iter().filter(|value| is_in(&other, value))),
            "difference" => set_of(without(&own, &other)),
            "disjunct" => set_of([without(&own, &other), without(&other, &own)].concat()),
            "product" => {
                let pair = |a: &Value| {
                    let a = a.clone();
                    other
                        .iter()
                        .map(move |b| Value::List(vec![a.clone(), b.clone()]))
                };
                Value::List(own.iter().flat_map(pair).collect())
            }
            "conjoin" => {
                let texts: Vec<String> = own.iter().map(Value::as_text).collect();
                Value::Text(texts.join(step.names()[0]))
            }
            other => panic!("no test has {other}"),
        }])
    }

    /// `order(local)`: members of a list, entries of a map.
    fn ordered_within(&self, step: &Step, value: &Value) -> Result<Value, LeftOut> {
        let (bys, down) = orders(step);
        let members = match value {
            Value::Map(entries) => {
                let entries = entries.iter().cloned();
                entries.map(|entry| Value::Entry(Box::new(entry))).collect()
            }
            other => other.members().expect("a collection"),
        };
        let mut keyed = Vec::new();
        for member in members {
            let walker = Walker::new(member.clone());
            let keys: Result<Vec<_>, _> = bys.iter().map(|by| self.by(*by, &walker)).collect();
            if let Some(keys) = keys?.into_iter().collect::<Option<Vec<Value>>>() {
                keyed.push((keys, member));
            }
        }
        keyed.sort_by(|(a, _), (b, _)| by_keys(a, b, &down));
        let members = keyed.into_iter().map(|(_, member)| member);
        Ok(match value {
            Value::Map(_) => Value::Map(
                members
                    .map(|member| match member {
                        Value::Entry(entry) => *entry,
                        other => unreachable!("{other:?} is no entry"),
                    })
                    .collect(),
            ),
            _ => Value::List(members.collect()),
        })
    }
}
