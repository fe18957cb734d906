//! `match`: children as patterns.

use varve_query::pattern::{Pattern, solved};
use varve_query::plan::{Name, Op};
use varve_query::{Predicate, QueryError, Value};

use super::Binder;
use crate::tree::{Argument, Step, StepName};

impl Binder<'_> {
    /// Binds `match` to the steps that solve its patterns.
    pub(super) fn matching(&self, step: &Step) -> Result<Vec<Op>, QueryError> {
        let seen = self.labels.borrow().clone();
        let patterns = self.patterns_of(&step.arguments)?;
        let ops = solved(patterns, &seen)?;
        if let Some(Op::Bound { labels, .. }) = ops.last() {
            self.labels.borrow_mut().extend(labels.iter().cloned());
        }
        Ok(ops)
    }

    fn patterns_of(&self, arguments: &[Argument]) -> Result<Vec<Pattern>, QueryError> {
        let mut patterns = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Traversal(child) => self.patterns(&child.steps, &mut patterns)?,
                _ => return Err(QueryError::invalid("match() takes traversals")),
            }
        }
        Ok(patterns)
    }

    /// Converts the steps of a child into patterns.
    fn patterns(&self, steps: &[Step], out: &mut Vec<Pattern>) -> Result<(), QueryError> {
        let joint = |name| move |step: &Step| step.name == name && step.arguments.is_empty();
        if steps.iter().any(joint(StepName::Or)) {
            let groups = steps.split(joint(StepName::Or)).map(|part| {
                let mut group = Vec::new();
                self.patterns(part, &mut group)?;
                Ok(group)
            });
            out.push(Pattern::Or(groups.collect::<Result<_, QueryError>>()?));
            return Ok(());
        }
        if steps.iter().any(joint(StepName::And)) {
            let mut parts = steps.split(joint(StepName::And));
            return parts.try_for_each(|part| self.patterns(part, out));
        }
        if let [step] = steps {
            match (step.name, step.arguments.as_slice()) {
                (StepName::And, children) => {
                    out.extend(self.patterns_of(children)?);
                    return Ok(());
                }
                (StepName::Or, children) => {
                    let each = children.iter();
                    let group = |child| self.patterns_of(std::slice::from_ref(child));
                    out.push(Pattern::Or(each.map(group).collect::<Result<_, _>>()?));
                    return Ok(());
                }
                (StepName::Not | StepName::Where, [Argument::Traversal(_)]) => {
                    let not = step.name == StepName::Not;
                    let patterns = self.patterns_of(&step.arguments)?;
                    out.push(Pattern::Exists { patterns, not });
                    return Ok(());
                }
                _ => {}
            }
        }
        out.push(match self.comparison(steps)? {
            Some(filter) => filter,
            None => self.walk(steps)?,
        });
        Ok(())
    }

    /// The pattern of `where('a', neq('b'))` with its `by` modulators.
    fn comparison(&self, steps: &[Step]) -> Result<Option<Pattern>, QueryError> {
        let Some((step, behind)) = steps.split_first() else {
            return Ok(None);
        };
        let [start, Argument::Predicate(predicate)] = step.arguments.as_slice() else {
            return Ok(None);
        };
        let compares =
            step.name == StepName::Where && behind.iter().all(|step| step.name == StepName::By);
        if !compares {
            return Ok(None);
        }
        let mut names = vec![self.name(start)?];
        named(&self.predicate(predicate)?, &mut names);
        let op = Box::new(self.filter(step, behind)?);
        Ok(Some(Pattern::Filter { names, op }))
    }

    /// The pattern of `as('a')…as('b')`.
    fn walk(&self, steps: &[Step]) -> Result<Pattern, QueryError> {
        let label = |step: &Step| match (step.name, step.arguments.as_slice()) {
            (StepName::As, [name]) => self.name(name).map(Some),
            _ => Ok(None),
        };
        let start = match steps.first() {
            Some(first) => label(first)?,
            None => None,
        };
        let Some(start) = start else {
            return Err(QueryError::invalid(
                "All match()-traversals must have a single start label (i.e. variable)",
            ));
        };
        let end = match &steps[1..] {
            [.., last] => label(last)?,
            [] => None,
        };
        let last = steps.len() - usize::from(end.is_some());
        let body = self.plan(&steps[1..last])?;
        Ok(Pattern::Walk { start, body, end })
    }
}

/// The labels that a predicate compares with.
fn named(predicate: &Predicate, out: &mut Vec<Name>) {
    match predicate {
        Predicate::Test(_, Value::Text(name)) => out.push(name.clone()),
        Predicate::Test(_, Value::List(items)) => {
            out.extend(items.iter().filter_map(|item| match item {
                Value::Text(name) => Some(name.clone()),
                _ => None,
            }));
        }
        Predicate::Test(..) | Predicate::Custom(_) => {}
        Predicate::And(all) | Predicate::Or(all) => all.iter().for_each(|each| named(each, out)),
        Predicate::Not(inner) => named(inner, out),
    }
}
