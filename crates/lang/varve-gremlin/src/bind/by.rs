//! The modulators `by`, `from` and `to`.

use varve_query::QueryError;
use varve_query::plan::{By, Name, Op, Ordering};

use super::Binder;
use super::arguments::token_of;
use crate::tree::{Argument, Column, Order, Step, StepName};

/// Returns the first steps, as far as they are modulators: they have one of these names, and are
/// not a `to` with a direction.
pub(super) fn modulators<'s>(steps: &'s [Step], names: &[StepName]) -> &'s [Step] {
    let count = steps
        .iter()
        .take_while(|step| names.contains(&step.name) && !is_step_in_direction(step))
        .count();
    &steps[..count]
}

/// Whether a step is `to` with a direction, such as `to(OUT)`. It moves to vertices; any other `to`
/// is a modulator that names the end of a path or an edge.
fn is_step_in_direction(step: &Step) -> bool {
    step.name == StepName::To && matches!(step.arguments.first(), Some(Argument::Direction(_)))
}

impl Binder<'_> {
    /// Binds each `by` among the modulators.
    pub(super) fn bys(&self, modulators: &[Step]) -> Result<Vec<By>, QueryError> {
        let bys = modulators.iter().filter(|step| step.name == StepName::By);
        bys.map(|step| self.by(step.arguments.first())).collect()
    }

    /// Binds the `by` of a step that takes at most one; `None` if there is none.
    ///
    /// # Errors
    /// When there are several, or it cannot be bound.
    pub(super) fn sole_by(
        &self,
        step: &Step,
        modulators: &[Step],
    ) -> Result<Option<By>, QueryError> {
        let mut bys = self.bys(modulators)?;
        if bys.len() > 1 {
            return Err(QueryError::invalid(format!(
                "{} step can only have one by modulator",
                capitalized(step.name.text())
            )));
        }
        Ok(bys.pop())
    }

    fn by(&self, argument: Option<&Argument>) -> Result<By, QueryError> {
        Ok(match argument {
            None => By::Identity,
            Some(Argument::T(token)) => By::Token(token_of(*token)),
            Some(Argument::Column(Column::Keys)) => By::Keys,
            Some(Argument::Column(Column::Values)) => By::Values,
            Some(Argument::Traversal(traversal)) => {
                let plan = self.plan(&traversal.steps)?;
                match plan.ops.as_slice() {
                    [Op::Identity] => By::Identity,
                    _ => By::Child(plan),
                }
            }
            Some(Argument::Predicate(predicate)) => {
                By::Child(varve_query::Plan::new(vec![Op::Is(
                    self.predicate(predicate)?,
                )]))
            }
            Some(other) => By::Key(self.name(other)?),
        })
    }

    /// Binds each `by` of the step `order`, with its sort direction; by default ascending.
    pub(super) fn sortings(&self, modulators: &[Step]) -> Result<Vec<(By, Ordering)>, QueryError> {
        let each = modulators
            .iter()
            .map(|step| match step.arguments.as_slice() {
                [Argument::Order(order)] => Ok((By::Identity, way(*order))),
                [what, Argument::Order(order)] => Ok((self.by(Some(what))?, way(*order))),
                arguments => Ok((self.by(arguments.first())?, Ordering::Ascending)),
            });
        each.collect()
    }

    /// The labels in the modulators `from` and `to` of the step `path`; `None` for a missing one.
    pub(super) fn between(
        &self,
        modulators: &[Step],
    ) -> Result<(Option<Name>, Option<Name>), QueryError> {
        let of = |name: StepName| {
            let found = modulators.iter().find(|step| step.name == name);
            let argument = found.and_then(|step| step.arguments.first());
            argument.map(|argument| self.name(argument)).transpose()
        };
        Ok((of(StepName::From)?, of(StepName::To)?))
    }
}

const fn way(order: Order) -> Ordering {
    match order {
        Order::Asc => Ordering::Ascending,
        Order::Desc => Ordering::Descending,
        Order::Shuffle => Ordering::Shuffled,
    }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
