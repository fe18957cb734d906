//! `match`: all ways to bind the labels so that every pattern holds.

use super::super::step::{Argument, Step};
use super::super::value::Value;
use super::{LeftOut, Naive, Walker, Walkers};

/// Labels with the values that they are bound to.
type Bound = Vec<(String, Value)>;

fn value_of<'a>(bound: &'a Bound, label: &str) -> Option<&'a Value> {
    let mut all = bound.iter();
    all.find(|(own, _)| own == label).map(|(_, value)| value)
}

/// The label of `as` at the start or the end of a pattern.
fn label_of(step: Option<&Step>) -> Option<&str> {
    let step = step.filter(|step| step.name == "as")?;
    step.names().first().copied()
}

impl Naive<'_> {
    /// The first pattern begins at the value that comes in.
    pub(super) fn matched(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let mut all = Vec::new();
        for walker in walkers {
            let first = label_of(step.child(0).first()).expect("a first label");
            let start: Bound = vec![(first.to_owned(), walker.value.clone())];
            let mut found = vec![start];
            let mut left: Vec<&[Step]> = step.children().collect();
            while !left.is_empty() {
                // Any pattern whose start is bound; `not` and `where` when nothing else is left.
                let at = left.iter().position(|pattern| {
                    let start = label_of(pattern.first());
                    start.is_some_and(|start| value_of(&found_first(&found), start).is_some())
                });
                if found.is_empty() {
                    break;
                }
                let pattern = left.remove(at.unwrap_or(0));
                let mut next = Vec::new();
                for bound in found {
                    next.extend(self.extended(pattern, bound, walker)?);
                }
                found = next;
            }
            all.extend(found.into_iter().map(|bound| {
                let entries = bound.into_iter();
                walker.to(Value::Map(
                    entries
                        .map(|(label, value)| (Value::Text(label), value))
                        .collect(),
                ))
            }));
        }
        Ok(all)
    }

    /// What a pattern makes of bound labels.
    fn extended(
        &self,
        pattern: &[Step],
        bound: Bound,
        walker: &Walker,
    ) -> Result<Vec<Bound>, LeftOut> {
        if let [not] = pattern
            && not.name == "not"
        {
            let holds = !self
                .extended(not.child(0), bound.clone(), walker)?
                .is_empty();
            return Ok(if holds { Vec::new() } else { vec![bound] });
        }
        if let [filter] = pattern
            && filter.name == "where"
        {
            let Argument::Name(left) = &filter.arguments[0] else {
                panic!("no test has {filter}")
            };
            let Argument::Test(super::super::step::Test::Is(name, labels)) = &filter.arguments[1]
            else {
                panic!("no test has {filter}")
            };
            let Value::Text(right) = &labels[0] else {
                panic!("no test has {filter}")
            };
            let same = value_of(&bound, left)
                .expect("it is bound")
                .equals(value_of(&bound, right).expect("it is bound"));
            let holds = same == (*name == "eq");
            return Ok(if holds { vec![bound] } else { Vec::new() });
        }
        let start = label_of(pattern.first()).expect("a start");
        let start = value_of(&bound, start).expect("it is bound").clone();
        let end = label_of(pattern.last());
        let steps = &pattern[1..pattern.len() - usize::from(end.is_some())];
        let results = self.child(steps, &walker.to(start))?;
        let Some(end) = end else {
            return Ok(results.iter().map(|_| bound.clone()).collect());
        };
        let mut next = Vec::new();
        for value in results {
            match value_of(&bound, end) {
                Some(own) if !own.equals(&value) => {}
                Some(_) => next.push(bound.clone()),
                None => {
                    let mut bound = bound.clone();
                    bound.push((end.to_owned(), value));
                    next.push(bound);
                }
            }
        }
        Ok(next)
    }
}

/// All have the same labels.
fn found_first(found: &[Bound]) -> Bound {
    found.first().cloned().unwrap_or_default()
}
