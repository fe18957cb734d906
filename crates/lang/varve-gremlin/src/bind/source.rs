//! The configuration of the traversal source: `g.with(…)`, `g.withSack(…)` and the like.

use varve_query::plan::Operator;
use varve_query::{QueryError, Value};

use super::strategies::{Strategies, check_known};
use super::{Binder, Bound};
use crate::tree::{self, Argument, SourceInstruction, SourceName};

impl Binder<'_> {
    /// Binds the instructions to the source, in order.
    ///
    /// # Errors
    /// For an instruction with unsupported arguments, and for a name or value that cannot be bound.
    pub(super) fn source(
        &self,
        source: &[SourceInstruction],
    ) -> Result<(Bound, Strategies), QueryError> {
        let (mut bound, mut strategies) = (Bound::default(), Strategies::default());
        for instruction in source {
            self.instruction(instruction, &mut bound, &mut strategies)?;
        }
        Ok((bound, strategies))
    }

    fn instruction(
        &self,
        instruction: &SourceInstruction,
        bound: &mut Bound,
        strategies: &mut Strategies,
    ) -> Result<(), QueryError> {
        let arguments = instruction.arguments.as_slice();
        match (instruction.name, arguments) {
            (SourceName::With, [key]) => bound.with.push((self.name(key)?, Value::Bool(true))),
            (SourceName::With, [key, value]) => {
                bound.with.push((self.name(key)?, self.value(value)?));
            }
            (SourceName::WithPath, _) => bound.options.paths = true,
            // Bulking is the default.
            (SourceName::WithBulk, [Argument::Bool(true)] | []) => {}
            (SourceName::WithoutStrategies, names) => {
                for name in names {
                    if let Argument::Strategy(strategy) = name {
                        check_known(strategy)?;
                        strategies.remove(&strategy.name);
                        if strategy.name == "ConnectiveStrategy" {
                            self.infix.set(false);
                        }
                    }
                }
            }
            (SourceName::WithBulk, [Argument::Bool(false)]) => bound.options.once = true,
            (SourceName::WithSack, [value, Argument::Operator(operator)]) => {
                bound.options.sack = Some(self.value(value)?);
                bound.options.sack_merge = Some(join(*operator));
            }
            (SourceName::WithSack, [value]) => bound.options.sack = Some(self.value(value)?),
            (SourceName::WithSideEffect, [name, value]) => {
                let effect = (self.name(name)?, self.value(value)?, None);
                bound.options.side_effects.push(effect);
            }
            (SourceName::WithSideEffect, [name, value, Argument::Operator(operator)]) => {
                let effect = (self.name(name)?, self.value(value)?, Some(join(*operator)));
                bound.options.side_effects.push(effect);
            }
            (SourceName::WithStrategies, added) => {
                for strategy in added {
                    self.strategy(strategy, bound, strategies)?;
                }
            }
            (name, _) => {
                return Err(QueryError::Unsupported(format!(
                    "{}() with these arguments",
                    name.text()
                )));
            }
        }
        Ok(())
    }
}

pub(super) const fn join(operator: tree::Operator) -> Operator {
    match operator {
        tree::Operator::AddAll => Operator::AddAll,
        tree::Operator::And => Operator::And,
        tree::Operator::Assign => Operator::Assign,
        tree::Operator::Div => Operator::Div,
        tree::Operator::Max => Operator::Max,
        tree::Operator::Min => Operator::Min,
        tree::Operator::Minus => Operator::Minus,
        tree::Operator::Mult => Operator::Mult,
        tree::Operator::Or => Operator::Or,
        tree::Operator::Sum | tree::Operator::SumLong => Operator::Sum,
    }
}
