//! Resolves arguments of steps: replaces what the script computes by values.

use varve_query::{QueryError, Value};

use super::Run;
use super::environment::Item;
use crate::bind::random_uuid;
use crate::tree::{
    Argument, ElementLiteral, Predicate, SourceInstruction, Step, Strategy, Traversal,
};

impl Run<'_> {
    /// Whether a traversal can be bound as it is: nothing in it is computed, and all its variables
    /// have values.
    pub(super) fn is_plain(&self, traversal: &Traversal) -> bool {
        let arguments = |arguments: &[Argument]| arguments.iter().all(|one| self.is_fixed(one));
        traversal.source.iter().all(|one| arguments(&one.arguments))
            && traversal.steps.iter().all(|one| arguments(&one.arguments))
    }

    fn is_fixed(&self, argument: &Argument) -> bool {
        let all = |arguments: &[Argument]| arguments.iter().all(|one| self.is_fixed(one));
        match argument {
            // An unbound variable is reported when the traversal is bound.
            Argument::Variable(name) => {
                matches!(self.environment.get(name), None | Some(Item::Value(_)))
            }
            Argument::Computed(_) | Argument::Now | Argument::RandomUuid => false,
            Argument::List(items) | Argument::Set(items) => all(items),
            Argument::Map(entries) => entries
                .iter()
                .all(|(key, value)| self.is_fixed(key) && self.is_fixed(value)),
            Argument::Range(ends) => self.is_fixed(&ends.0) && self.is_fixed(&ends.1),
            Argument::Traversal(traversal) => {
                traversal.terminal.is_none() && self.is_plain(traversal)
            }
            Argument::Predicate(predicate) => self.is_fixed_predicate(predicate),
            Argument::CardinalityValue(_, value) => self.is_fixed(value),
            Argument::Strategy(strategy) => {
                let mut values = strategy.configuration.iter();
                values.all(|(_, value)| self.is_fixed(value))
            }
            Argument::Element(element) => match element.as_ref() {
                ElementLiteral::Vertex { id, label } | ElementLiteral::Edge { id, label } => {
                    self.is_fixed(id) && self.is_fixed(label)
                }
                _ => true,
            },
            _ => true,
        }
    }

    fn is_fixed_predicate(&self, predicate: &Predicate) -> bool {
        match predicate {
            Predicate::Test { arguments, .. } => arguments.iter().all(|one| self.is_fixed(one)),
            Predicate::And(parts) | Predicate::Or(parts) => {
                parts.iter().all(|one| self.is_fixed_predicate(one))
            }
            Predicate::Not(inner) => self.is_fixed_predicate(inner),
        }
    }

    /// An argument of a step, with variables and computed values replaced.
    pub(super) fn resolve(&mut self, argument: &Argument) -> Result<Argument, QueryError> {
        self.step(1)?;
        Ok(match argument {
            Argument::Variable(name) => {
                let item = self.variable(name)?;
                self.argument_of(item)?
            }
            Argument::Computed(_) => {
                let item = self.eval(argument)?;
                self.argument_of(item)?
            }
            Argument::Now => Argument::Value(now()),
            Argument::RandomUuid => Argument::Value(Value::Uuid(random_uuid())),
            Argument::List(items) => Argument::List(self.resolve_all(items)?),
            Argument::Set(items) => Argument::Set(self.resolve_all(items)?),
            Argument::Map(entries) => {
                let mut resolved = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    resolved.push((self.resolve(key)?, self.resolve(value)?));
                }
                Argument::Map(resolved)
            }
            Argument::Range(ends) => {
                Argument::Range(Box::new((self.resolve(&ends.0)?, self.resolve(&ends.1)?)))
            }
            Argument::Traversal(traversal) if traversal.terminal.is_some() => {
                let item = self.traversal(traversal)?;
                self.argument_of(item)?
            }
            Argument::Traversal(traversal) => {
                Argument::Traversal(Box::new(self.resolve_traversal(traversal)?))
            }
            Argument::Predicate(predicate) => {
                Argument::Predicate(Box::new(self.resolve_predicate(predicate)?))
            }
            Argument::CardinalityValue(cardinality, value) => {
                Argument::CardinalityValue(*cardinality, Box::new(self.resolve(value)?))
            }
            Argument::Strategy(strategy) => {
                Argument::Strategy(Box::new(self.resolve_strategy(strategy)?))
            }
            Argument::Element(element) => match element.as_ref() {
                ElementLiteral::Vertex { id, label } => {
                    let (id, label) = (self.resolve(id)?, self.resolve(label)?);
                    Argument::Element(Box::new(ElementLiteral::Vertex { id, label }))
                }
                _ => argument.clone(),
            },
            other => other.clone(),
        })
    }

    pub(super) fn resolve_all(
        &mut self,
        arguments: &[Argument],
    ) -> Result<Vec<Argument>, QueryError> {
        arguments.iter().map(|one| self.resolve(one)).collect()
    }

    /// The steps and source instructions, with variables replaced. Root and terminal method are
    /// dropped.
    pub(super) fn resolve_traversal(
        &mut self,
        traversal: &Traversal,
    ) -> Result<Traversal, QueryError> {
        let mut resolved = Traversal::anonymous(Vec::new(), traversal.span);
        for instruction in &traversal.source {
            resolved.source.push(SourceInstruction {
                name: instruction.name,
                arguments: self.resolve_all(&instruction.arguments)?,
                span: instruction.span,
            });
        }
        for step in &traversal.steps {
            resolved.steps.push(Step {
                name: step.name,
                arguments: self.resolve_all(&step.arguments)?,
                span: step.span,
            });
        }
        Ok(resolved)
    }

    fn resolve_predicate(&mut self, predicate: &Predicate) -> Result<Predicate, QueryError> {
        let mut each = |parts: &[Predicate]| -> Result<Vec<Predicate>, QueryError> {
            parts
                .iter()
                .map(|one| self.resolve_predicate(one))
                .collect()
        };
        Ok(match predicate {
            Predicate::And(parts) => Predicate::And(each(parts)?),
            Predicate::Or(parts) => Predicate::Or(each(parts)?),
            Predicate::Not(inner) => Predicate::Not(Box::new(self.resolve_predicate(inner)?)),
            Predicate::Test { name, arguments } => Predicate::Test {
                name: *name,
                arguments: self.resolve_all(arguments)?,
            },
        })
    }

    fn resolve_strategy(&mut self, strategy: &Strategy) -> Result<Strategy, QueryError> {
        let mut configuration = Vec::with_capacity(strategy.configuration.len());
        for (key, value) in &strategy.configuration {
            configuration.push((key.clone(), self.resolve(value)?));
        }
        Ok(Strategy {
            name: strategy.name.clone(),
            configuration,
            span: strategy.span,
        })
    }

    /// An item as an argument of a step.
    pub(super) fn argument_of(&mut self, item: Item) -> Result<Argument, QueryError> {
        Ok(match item {
            Item::Argument(argument) => argument,
            // Used as a child, a traversal from a source is the sequence of its steps.
            Item::Traversal(lazy) => {
                self.copies(&Item::Traversal(lazy.clone()))?;
                Argument::Traversal(Box::new(lazy.traversal.clone()))
            }
            other => Argument::Value(self.value_of(other)?),
        })
    }
}

/// The present instant.
fn now() -> Value {
    let micros = jiff::Timestamp::now().as_microsecond();
    Value::DateTime(varve_query::value::DateTime::of_micros(micros, 0))
}
