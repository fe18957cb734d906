//! Binds steps that choose between child traversals, and loops.

use varve_query::QueryError;
use varve_query::plan::{By, Choice, LoopTest, Modulator, Op, Plan, Reduce, Repeat, Scope};

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
                // Without options, `choose` passes every value and `branch` none. The branch runs
                // all the same: it may change the graph.
                [_] => Ok(Op::Branch {
                    branch: self.branch_by(step)?,
                    options: Vec::new(),
                    first: step.name == StepName::Choose,
                }),
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
                [_] | [Argument::Pick(Pick::Any), _] if is_choose => Err(QueryError::invalid(
                    "choose() takes no option for any value: each value has one option",
                )),
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
        Ok(Op::Branch {
            branch: self.branch_by(step)?,
            options: options.iter().map(option).collect::<Result<_, _>>()?,
            first: step.name == StepName::Choose,
        })
    }

    /// What decides which options a value takes.
    fn branch_by(&self, step: &Step) -> Result<By, QueryError> {
        Ok(match first(step)? {
            Argument::T(token) => By::Token(token_of(*token)),
            other => By::Child(self.child(other)?),
        })
    }

    /// Binds a loop.
    ///
    /// # Errors
    /// If `repeat` has no child, or its child begins or ends a stream of values, which a round
    /// cannot do.
    pub(super) fn repeat(&self, steps: &Loop<'_>) -> Result<Op, QueryError> {
        let (name, body) = match steps.repeat.arguments.as_slice() {
            [name, Argument::Traversal(body)] => (Some(self.name(name)?), body),
            [Argument::Traversal(body)] => (None, body),
            _ => return Err(QueryError::invalid("repeat() needs a child")),
        };
        if let Some(step) = body.steps.iter().find(|step| step.name == StepName::Inject) {
            return Err(QueryError::invalid(format!(
                "The parent of {}()-step can not be repeat()-step",
                step.name
            )));
        }
        let body = self.plan(&body.steps)?;
        if let Some(name) = body.ops.iter().find_map(reduces) {
            return Err(QueryError::invalid(format!(
                "The parent of a reducing or supplying barrier can not be repeat()-step: {name}() \
                 must be within local()"
            )));
        }
        let modulator = |part: Option<(&Step, bool)>| -> Result<Option<Modulator>, QueryError> {
            let Some((step, first)) = part else {
                return Ok(None);
            };
            let test = match (step.name, step.arguments.as_slice()) {
                (StepName::Times, [count]) => LoopTest::Times(self.rounds(count)?),
                (_, [test]) => LoopTest::Child(self.child(test)?),
                _ => LoopTest::Always,
            };
            Ok(Some(Modulator { first, test }))
        };
        Ok(Op::Repeat(Box::new(Repeat {
            body,
            until: modulator(steps.until)?,
            emit: modulator(steps.emit)?,
            name,
        })))
    }

    /// The argument of `times`. A negative number counts as 0.
    fn rounds(&self, count: &Argument) -> Result<u32, QueryError> {
        let count = self.whole_number(count)?.max(0);
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// The steps of a loop: `repeat` and its modulators.
pub(super) struct Loop<'s> {
    repeat: &'s Step,
    /// `until` or `times`, and whether it precedes `repeat`.
    until: Option<(&'s Step, bool)>,
    /// `emit`, and whether it precedes `repeat`.
    emit: Option<(&'s Step, bool)>,
    /// The `as` between the modulators. They label what leaves the loop.
    pub(super) labels: Vec<&'s Step>,
}

impl<'s> Loop<'s> {
    /// The loop at the start of these steps and the number of its steps; `None` if they start with
    /// another step. A modulator behind `repeat` belongs to the loop unless the loop has one of its
    /// kind already; then it begins another loop.
    ///
    /// # Errors
    /// If a modulator has no `repeat`.
    pub(super) fn at_start(steps: &'s [Step]) -> Result<Option<(Self, usize)>, QueryError> {
        let (mut repeat, mut until, mut emit) = (None, None, None);
        let (mut labels, mut length) = (Vec::new(), 0);
        for (at, step) in steps.iter().enumerate() {
            let modulator = Some((step, repeat.is_none()));
            match step.name {
                StepName::Repeat if repeat.is_none() => repeat = Some(step),
                StepName::Emit if emit.is_none() => emit = modulator,
                StepName::Until | StepName::Times if until.is_none() => until = modulator,
                StepName::As if at > 0 => labels.push(step),
                _ => break,
            }
            length = at + 1;
        }
        match (repeat, length) {
            (_, 0) => Ok(None),
            (None, _) => Err(QueryError::invalid(
                "The repeat()-traversal was not defined",
            )),
            (Some(repeat), length) => Ok(Some((
                Self {
                    repeat,
                    until,
                    emit,
                    labels,
                },
                length,
            ))),
        }
    }
}

/// The name of a step that gives values only after its whole input, as in no round of a loop.
const fn reduces(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::Reduce {
            reduce,
            scope: Scope::Global,
        } => match reduce {
            Reduce::Count => "count",
            Reduce::Sum => "sum",
            Reduce::Min => "min",
            Reduce::Max => "max",
            Reduce::Mean => "mean",
            Reduce::Fold => "fold",
        },
        Op::FoldWith { .. } => "fold",
        Op::Group { into: None, .. } => "group",
        Op::GroupCount { into: None, .. } => "groupCount",
        Op::Tree { into: None, .. } => "tree",
        Op::Cap(_) => "cap",
        _ => return None,
    })
}
