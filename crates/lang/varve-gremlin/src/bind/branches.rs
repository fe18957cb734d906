//! Binds steps that choose between child traversals, and loops.

use varve_query::QueryError;
use varve_query::plan::{By, Choice, LoopTest, Modulator, Op, Plan, Repeat};

use super::Binder;
use super::arguments::{first, token_of};
use crate::tree::{Argument, Pick, Step, StepName};

impl Binder<'_> {
    pub(super) fn branch(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let arguments = step.arguments.as_slice();
        let options: Vec<&Step> = behind
            .iter()
            .filter(|step| step.name == StepName::Option)
            .collect();
        if options.is_empty() {
            return match arguments {
                [condition, then] => Ok(Op::IfThenElse {
                    condition: self.child(condition)?,
                    then: self.child(then)?,
                    otherwise: Plan::new(vec![Op::Identity]),
                }),
                [condition, then, otherwise] => Ok(Op::IfThenElse {
                    condition: self.child(condition)?,
                    then: self.child(then)?,
                    otherwise: self.child(otherwise)?,
                }),
                _ => Err(QueryError::invalid(format!(
                    "{}() needs options",
                    step.name
                ))),
            };
        }
        let is_choose = step.name == StepName::Choose;
        let option = |step: &&Step| -> Result<(Choice, Plan), QueryError> {
            match step.arguments.as_slice() {
                [child] => Ok((Choice::Any, self.child(child)?)),
                [Argument::Pick(Pick::None), child] => Ok((Choice::None, self.child(child)?)),
                [Argument::Pick(Pick::Any), child] => Ok((Choice::Any, self.child(child)?)),
                [Argument::Pick(Pick::Unproductive), child] => {
                    Ok((Choice::Unproductive, self.child(child)?))
                }
                [Argument::Traversal(_), _] if is_choose => Err(QueryError::invalid(
                    "Traversal is not allowed as a Pick token for choose()",
                )),
                [Argument::Predicate(predicate), child] => Ok((
                    Choice::Predicate(self.predicate(predicate)?),
                    self.child(child)?,
                )),
                [Argument::Traversal(test), child] => {
                    Ok((Choice::Child(self.plan(&test.steps)?), self.child(child)?))
                }
                [value, child] => Ok((Choice::Value(self.value(value)?), self.child(child)?)),
                _ => Err(QueryError::invalid("option() needs a child")),
            }
        };
        let branch = match first(step)? {
            Argument::T(token) => By::Token(token_of(*token)),
            other => By::Child(self.child(other)?),
        };
        Ok(Op::Branch {
            branch,
            options: options.iter().map(option).collect::<Result<_, _>>()?,
            first: step.name == StepName::Choose,
        })
    }

    pub(super) fn repeat(
        &self,
        step: &Step,
        before: &[&Step],
        after: &[Step],
    ) -> Result<Op, QueryError> {
        let (name, body) = match step.arguments.as_slice() {
            [name, Argument::Traversal(body)] => (Some(self.name(name)?), body),
            [Argument::Traversal(body)] => (None, body),
            _ => return Err(QueryError::invalid("repeat() needs a child")),
        };
        let refused = [StepName::Inject, StepName::Cap];
        if let Some(step) = body.steps.iter().find(|step| refused.contains(&step.name)) {
            return Err(QueryError::invalid(format!(
                "The parent of {}()-step can not be repeat()-step",
                step.name
            )));
        }
        let mut repeat = Repeat {
            body: self.plan(&body.steps)?,
            until: None,
            emit: None,
            name,
        };
        let parts = before.iter().map(|step| (*step, true));
        for (part, first) in parts.chain(after.iter().map(|step| (step, false))) {
            let test = match (part.name, part.arguments.as_slice()) {
                (StepName::Times, [count]) => {
                    LoopTest::Times(u32::try_from(self.number(count)?).unwrap_or(u32::MAX))
                }
                (_, [test]) => LoopTest::Child(self.child(test)?),
                _ => LoopTest::Always,
            };
            let modulator = Some(Modulator { first, test });
            match part.name {
                StepName::Emit => repeat.emit = modulator,
                _ => repeat.until = modulator,
            }
        }
        Ok(Op::Repeat(Box::new(repeat)))
    }
}
