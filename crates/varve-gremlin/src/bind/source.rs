//! How the traversal source is configured.

use varve_query::plan::Operator;
use varve_query::{QueryError, Value};

use super::{Binder, Bound};
use crate::tree::{self, Argument, SourceInstruction, SourceName, Strategy};

impl Binder<'_> {
    /// What the instructions to the source say.
    pub(super) fn source(&self, source: &[SourceInstruction]) -> Result<Bound, QueryError> {
        let mut bound = Bound::default();
        for instruction in source {
            self.instruction(instruction, &mut bound)?;
        }
        Ok(bound)
    }

    fn instruction(
        &self,
        instruction: &SourceInstruction,
        bound: &mut Bound,
    ) -> Result<(), QueryError> {
        let arguments = instruction.arguments.as_slice();
        match (instruction.name, arguments) {
            (SourceName::With, [key]) => bound.with.push((self.name(key)?, Value::Bool(true))),
            (SourceName::With, [key, value]) => {
                bound.with.push((self.name(key)?, self.value(value)?));
            }
            (SourceName::WithPath, _) => bound.options.paths = true,
            // Results are the same; only how they are counted differs.
            (SourceName::WithBulk, [Argument::Bool(true)] | [])
            | (SourceName::WithoutStrategies, _) => {}
            (SourceName::WithSack, [value]) => bound.options.sack = Some(self.value(value)?),
            (SourceName::WithSideEffect, [name, value]) => {
                let effect = (self.name(name)?, self.value(value)?, None);
                bound.options.side_effects.push(effect);
            }
            (SourceName::WithSideEffect, [name, value, Argument::Operator(operator)]) => {
                let effect = (self.name(name)?, self.value(value)?, Some(join(*operator)));
                bound.options.side_effects.push(effect);
            }
            (SourceName::WithStrategies, strategies) => {
                for strategy in strategies {
                    self.strategy(strategy, bound)?;
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

    fn strategy(&self, argument: &Argument, bound: &mut Bound) -> Result<(), QueryError> {
        let Argument::Strategy(strategy) = argument else {
            return Err(QueryError::invalid("withStrategies() takes strategies"));
        };
        let Strategy {
            name,
            configuration,
            ..
        } = strategy.as_ref();
        match name.as_str() {
            "OptionsStrategy" => {
                for (key, value) in configuration {
                    bound.with.push((key.clone(), self.value(value)?));
                }
            }
            "SeedStrategy" => {
                let seed = configuration.iter().find(|(key, _)| key == "seed");
                if let Some((_, seed)) = seed {
                    let seed = self.value(seed)?.as_long().unwrap_or_default();
                    bound.options.seed = Some(seed.cast_unsigned());
                }
            }
            "SubgraphStrategy"
            | "PartitionStrategy"
            | "ProductiveByStrategy"
            | "ElementIdStrategy"
            | "EdgeLabelVerificationStrategy"
            | "ReservedKeysVerificationStrategy"
            | "VertexProgramStrategy" => {
                return Err(QueryError::Unsupported(format!("The strategy {name}")));
            }
            // The others change how the reference runs, and not what it answers.
            _ => {}
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
