//! Steps that see all values at once: reducers, groups, orders, cuts, side effects.

use std::cmp::Ordering;

use super::super::step::{Argument, Step};
use super::super::value::{Value, operate};
use super::lists::reduced;
use super::{LeftOut, Naive, Walker, Walkers, distinct, set_of};

fn one(value: Value) -> Option<Vec<Walker>> {
    Some(vec![Walker::new(value)])
}

fn values(walkers: &[Walker]) -> Vec<Value> {
    walkers.iter().map(|walker| walker.value.clone()).collect()
}

/// The first and the last but one place that a cut keeps of so many.
pub(super) fn kept(step: &Step, count: usize) -> (usize, usize) {
    let rest: Vec<usize> = step
        .rest()
        .iter()
        .map(|argument| match argument {
            Argument::Value(Value::Int(number)) => *number as usize,
            other => panic!("{step}: {other}"),
        })
        .collect();
    let (from, to) = match (step.name, rest.as_slice()) {
        ("limit" | "sample", [most]) => (0, *most),
        ("skip", [first]) => (*first, count),
        ("range", [from, to]) => (*from, *to),
        ("tail", []) => (count.saturating_sub(1), count),
        ("tail", [most]) => (count.saturating_sub(*most), count),
        other => panic!("no test has {other:?}"),
    };
    let to = to.min(count);
    (from.min(to), to)
}

/// The order of keys, each one up or down.
pub(super) fn by_keys(a: &[Value], b: &[Value], down: &[bool]) -> Ordering {
    let pairs = a.iter().zip(b).zip(down);
    let mut compared = pairs.map(|((a, b), down)| match down {
        true => b.order(a),
        false => a.order(b),
    });
    let first = compared.find(|found| found.is_ne());
    first.unwrap_or(Ordering::Equal)
}

/// Which `by` of an order goes down, and all of them.
pub(super) fn orders(step: &Step) -> (Vec<Option<&Step>>, Vec<bool>) {
    let mut bys: Vec<Option<&Step>> = step.all_behind("by").into_iter().map(Some).collect();
    if bys.is_empty() {
        bys.push(None);
    }
    let down = bys.iter().map(|by| by.is_some_and(|by| by.says("desc")));
    let down = down.collect();
    (bys, down)
}

impl Naive<'_> {
    /// `None`: the step sees one value at a time.
    pub(super) fn barrier(
        &self,
        step: &Step,
        walkers: &[Walker],
    ) -> Result<Option<Vec<Walker>>, LeftOut> {
        if step.says("local") {
            return Ok(None);
        }
        Ok(match step.name {
            "count" | "sum" | "min" | "max" | "mean" => Some(
                reduced(step.name, &values(walkers))
                    .map(Walker::new)
                    .into_iter()
                    .collect(),
            ),
            "fold" => one(folded(step, values(walkers))),
            "inject" => {
                let injected = step.arguments.iter().map(|argument| match argument {
                    Argument::Value(value) => Walker {
                        sack: walkers[0].sack.clone(),
                        ..Walker::new(value.clone())
                    },
                    other => panic!("no test has inject({other})"),
                });
                Some(injected.collect())
            }
            "limit" | "sample" | "skip" | "range" | "tail" => {
                let (from, to) = kept(step, walkers.len());
                Some(walkers[from..to].to_vec())
            }
            "order" => Some(self.ordered(step, walkers)?),
            "dedup" => Some(self.deduplicated(step, walkers)?),
            "group" | "groupCount" | "tree" | "aggregate" | "store" | "subgraph" => {
                self.gathered(step, walkers)?
            }
            "cap" => {
                let effects = self.effects.borrow();
                let named = |name: &&str| (Value::text(name), effects[*name].clone());
                let mut all: Vec<(Value, Value)> = step.names().iter().map(named).collect();
                match all.len() {
                    1 => one(all.remove(0).1),
                    _ => one(Value::Map(all)),
                }
            }
            _ => None,
        })
    }

    fn ordered(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let (bys, down) = orders(step);
        let mut keyed = Vec::new();
        for walker in walkers {
            let keys: Result<Vec<_>, _> = bys.iter().map(|by| self.by(*by, walker)).collect();
            if let Some(keys) = keys?.into_iter().collect::<Option<Vec<Value>>>() {
                keyed.push((keys, walker));
            }
        }
        keyed.sort_by(|(a, _), (b, _)| by_keys(a, b, &down));
        Ok(keyed
            .into_iter()
            .map(|(_, walker)| walker.clone())
            .collect())
    }

    /// By the value, or by what the labels stand for; without it a value is dropped.
    fn deduplicated(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let (labels, by) = (step.names(), step.all_behind("by").first().copied());
        let mut keyed = Vec::new();
        for walker in walkers {
            let key = match labels.as_slice() {
                [] => self.by(by, walker)?,
                labels => {
                    let mut found = Vec::new();
                    for label in labels {
                        found.push(match self.named(label, walker) {
                            Some(value) => self.by(by, &walker.to(value))?,
                            None => None,
                        });
                    }
                    let found: Option<Vec<Value>> = found.into_iter().collect();
                    found.map(|values| {
                        let texts: Vec<String> = values.iter().map(Value::canonical).collect();
                        Value::Text(texts.join(" and "))
                    })
                }
            };
            if let Some(key) = key {
                keyed.push((key, walker));
            }
        }
        let firsts = distinct(keyed.iter().map(|(key, _)| key.clone())).into_iter();
        Ok(firsts
            .map(|(_, places)| keyed[places[0]].1.clone())
            .collect())
    }

    /// Steps that gather: with a name into a side effect, else as their only result.
    fn gathered(&self, step: &Step, walkers: &[Walker]) -> Result<Option<Vec<Walker>>, LeftOut> {
        let names = step.names();
        let before = names
            .first()
            .and_then(|name| self.effects.borrow().get(*name).cloned());
        let gathered = match step.name {
            "aggregate" | "store" => {
                let mut all = before
                    .and_then(|before| before.members())
                    .unwrap_or_default();
                for walker in walkers {
                    all.extend(self.by(step.behind.first(), walker)?);
                }
                Value::List(all)
            }
            "groupCount" => {
                let mut keys = Vec::new();
                for walker in walkers {
                    match self.by(step.behind.first(), walker)? {
                        Some(key) => keys.push(key),
                        // An error, as the reference's tests say.
                        None if !names.is_empty() => return Err(LeftOut),
                        None => {}
                    }
                }
                let counted = distinct(keys).into_iter();
                let entry =
                    |(key, places): (Value, Vec<usize>)| (key, Value::Long(places.len() as i64));
                Value::Map(counted.map(entry).collect())
            }
            "group" => self.grouped(step, walkers)?,
            "tree" => {
                let mut paths = Vec::new();
                for walker in walkers {
                    let path = self.read_path(step, walker)?.expect("a path");
                    paths.push(path.into_iter().map(|(value, _)| value).collect());
                }
                tree(paths)
            }
            "subgraph" => self.subgraph(walkers),
            other => unreachable!("{other} gathers nothing"),
        };
        Ok(match names.first() {
            None => one(gathered),
            Some(name) => {
                self.effects
                    .borrow_mut()
                    .insert((*name).to_owned(), gathered);
                Some(walkers.to_vec())
            }
        })
    }

    /// The second `by` runs over the values of a group together.
    fn grouped(&self, step: &Step, walkers: &[Walker]) -> Result<Value, LeftOut> {
        let bys = step.all_behind("by");
        let mut keyed = Vec::new();
        for walker in walkers {
            if let Some(key) = self.by(bys.first().copied(), walker)? {
                keyed.push((key, walker));
            }
        }
        let mut map = Vec::new();
        for (key, places) in distinct(keyed.iter().map(|(key, _)| key.clone())) {
            let members: Vec<Walker> = places.iter().map(|at| keyed[*at].1.clone()).collect();
            let value = match bys.get(1) {
                None => Some(Value::List(values(&members))),
                Some(by) => self
                    .run(by.child(0), members)?
                    .into_iter()
                    .next()
                    .map(|w| w.value),
            };
            map.extend(value.map(|value| (key, value)));
        }
        Ok(Value::Map(map))
    }

    fn subgraph(&self, walkers: &[Walker]) -> Value {
        let mut members = Vec::new();
        for walker in walkers {
            let Value::Edge(id, _) = &walker.value else {
                panic!("a subgraph of {:?}", walker.value)
            };
            let ends = [&id.source, &id.target].map(|id| Value::Vertex(id.clone()));
            members.push(Value::Edge(id.clone(), None));
            members.extend(ends);
        }
        match set_of(members) {
            Value::Set(members) => Value::Graph(members),
            _ => unreachable!("a set"),
        }
    }
}

fn folded(step: &Step, values: Vec<Value>) -> Value {
    match step.arguments.as_slice() {
        [Argument::Value(seed), Argument::Word(operator)] => values
            .iter()
            .fold(seed.clone(), |all, value| operate(operator, &all, value)),
        _ => Value::List(values),
    }
}

/// Each first object with the tree of what follows it.
fn tree(paths: Vec<Vec<Value>>) -> Value {
    let paths: Vec<Vec<Value>> = paths.into_iter().filter(|path| !path.is_empty()).collect();
    let firsts = distinct(paths.iter().map(|path| path[0].clone())).into_iter();
    let branch = |(first, places): (Value, Vec<usize>)| {
        let below = places.iter().map(|at| paths[*at][1..].to_vec()).collect();
        (first, tree(below))
    };
    Value::Tree(firsts.map(branch).collect())
}
