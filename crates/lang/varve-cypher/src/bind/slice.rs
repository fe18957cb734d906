//! `MATCH … FOR VALID_TIME AS OF`: a pattern that is matched at another point of valid time.
//!
//! Within such a `MATCH`, nodes that were bound before have their state at its point, and it is
//! found only if they exist there. After it, they have the state with which they were bound. The
//! same holds for the other patterns of the statement, which are matched at the statement's point.

use super::clauses::Branch;
use super::scope::Variable;
use super::unsupported;
use crate::error::Outcome;
use crate::expression::Expr;
use crate::functions::Types;
use crate::plan::{Op, Pipeline};
use crate::tree::{Name, PathPattern, Slice, Span};

/// A slice whose pattern is being bound.
pub(super) struct BoundSlice {
    /// `None`: the point of the statement, or of the `MATCH` around a subquery.
    at: Option<Expr>,
    /// The variables of nodes that were bound before, and the slots of their states in the slice.
    moved: Vec<(Variable, usize)>,
}

impl Branch<'_, '_> {
    /// Begins a slice; none if the statement has none so far. Until [`Branch::ended`], variables
    /// that the patterns share with earlier clauses are those of the slice.
    ///
    /// # Errors
    /// When the slice is a period, or a relationship was bound before.
    pub(super) fn slice(
        &mut self,
        slice: Option<&Slice>,
        patterns: &[PathPattern],
    ) -> Outcome<Option<BoundSlice>> {
        let at = match slice {
            None if !self.binder.has_slices => return Ok(None),
            None => None,
            Some(Slice::AsOf(at)) => {
                self.binder.has_slices = true;
                Some(self.expr(at)?.0)
            }
            Some(Slice::FromTo(from, _) | Slice::Between(from, _)) => {
                return Err(unsupported(
                    from.span,
                    "a period FOR VALID_TIME of a pattern",
                ));
            }
            Some(Slice::All) => {
                let span = patterns.first().map_or(Span::default(), |path| path.span);
                return Err(unsupported(span, "FOR VALID_TIME ALL"));
            }
        };
        self.pin_all(patterns);
        self.check_relationships(patterns)?;
        let moved = self.moved(patterns);
        self.extend(moved.len());
        Ok(Some(BoundSlice { at, moved }))
    }

    fn check_relationships(&self, patterns: &[PathPattern]) -> Outcome<()> {
        for path in patterns {
            for (relationship, _) in &path.steps {
                if let Some(name) = self.bound(relationship.variable.as_ref()) {
                    let what = format!(
                        "the relationship '{}', which is bound before, in a pattern of a statement \
                         with MATCH FOR VALID_TIME",
                        name.name
                    );
                    let span = relationship.variable.as_ref().map(|name| name.span);
                    return Err(unsupported(span.unwrap_or_default(), &what));
                }
            }
        }
        Ok(())
    }

    /// Declares the variables of nodes that the patterns share with earlier clauses anew.
    fn moved(&mut self, patterns: &[PathPattern]) -> Vec<(Variable, usize)> {
        let nodes = patterns.iter().flat_map(|path| {
            let others = path.steps.iter().map(|(_, node)| node);
            std::iter::once(&path.start).chain(others)
        });
        let mut moved: Vec<(Variable, usize)> = Vec::new();
        for node in nodes {
            let Some(variable) = self.bound(node.variable.as_ref()) else {
                continue;
            };
            let is_known = moved.iter().any(|(_, slot)| *slot == variable.slot);
            if is_known || !variable.typed.may_be(Types::NODE) {
                continue;
            }
            let slot = self.scope.new_slot();
            self.scope.replace(&variable.name, slot);
            moved.push((variable, slot));
        }
        moved
    }

    fn bound(&self, name: Option<&Name>) -> Option<Variable> {
        self.scope.get(&name?.text).cloned()
    }

    /// The operator of a slice whose patterns were bound. Its variables are those of before again.
    pub(super) fn ended(&mut self, slice: BoundSlice, inner: Pipeline) -> Op {
        let mut moved = Vec::with_capacity(slice.moved.len());
        for (before, slot) in slice.moved {
            moved.push((before.slot, slot));
            self.scope.replace(&before.name, before.slot);
        }
        let at = slice.at;
        Op::At { at, moved, inner }
    }
}
