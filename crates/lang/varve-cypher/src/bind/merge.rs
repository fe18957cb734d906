//! `MERGE`.

use std::collections::HashSet;
use std::sync::Arc;

use super::clauses::Branch;
use super::write::{already_bound, type_part};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::plan::{
    CreateNode, CreatePattern, CreateRelationship, Merge, PathParts, Pipeline, WriteStep, order,
};
use crate::tree::{Direction, Expression, ExpressionKind, MergeClause, PathPattern, Text};

type NotNull = Vec<(Arc<str>, Expr)>;

impl Branch<'_, '_> {
    pub(super) fn merge(&mut self, clause: &MergeClause) -> Outcome<()> {
        let path = &clause.pattern;
        self.check_merge(path)?;
        self.binder.matches = true;
        let (first, pins) = (self.scope.width, self.ops.len());
        // The pattern names no variable of the pattern in its properties: they are bound before.
        let not_null = self.not_null(path)?;
        let pattern = self.bind_patterns(std::slice::from_ref(path), true)?;
        let pinned = self.ops.len() - pins;
        self.extend(self.scope.width - first - pinned);
        let find = Pipeline {
            ops: order::plan(&pattern, &self.binder.subplans, self.binder.known())?,
        };
        self.nested += find.ops.len();
        let nodes: Vec<(usize, bool)> = pattern
            .nodes
            .iter()
            .map(|node| (node.slot, node.is_bound))
            .collect();
        let slots = pattern.relationships.iter();
        let steps = slots.map(|one| (one.slot, one.from, one.to)).collect();
        let mut create = self.merged(path, &nodes, steps)?;
        let named = pattern.paths.iter().filter(|path| path.is_named);
        for path in named {
            let all = path.relationships.iter();
            let parts = PathParts {
                start: nodes[path.start].0,
                relationships: all.map(|at| pattern.relationships[*at].slot).collect(),
            };
            create.paths.push((path.slot, parts));
        }
        let on_create = self.set_items(&clause.on_create)?;
        let on_match = self.set_items(&clause.on_match)?;
        let bound = nodes.iter().filter(|(_, is_bound)| *is_bound);
        self.step(WriteStep::Merge(Box::new(Merge {
            find,
            create,
            on_create,
            on_match,
            not_null,
            bound: bound.map(|(slot, _)| *slot).collect(),
        })));
        Ok(())
    }

    /// Fails if the pattern describes something that is bound.
    fn check_merge(&self, path: &PathPattern) -> Outcome<()> {
        let mut seen: HashSet<Text> = HashSet::new();
        let known = |name: &Text| self.scope.get(name).is_some() || self.outer.get(name).is_some();
        let nodes = path.steps.iter().map(|(_, node)| node);
        for node in std::iter::once(&path.start).chain(nodes) {
            let Some(name) = &node.variable else { continue };
            let is_known = known(&name.text) || !seen.insert(name.text.clone());
            let says_more = node.labels.is_some() || node.properties.is_some();
            if is_known && (says_more || path.steps.is_empty()) {
                return Err(already_bound(name));
            }
        }
        let mut names = path
            .steps
            .iter()
            .filter_map(|(one, _)| one.variable.as_ref());
        match names.find(|name| known(&name.text)) {
            Some(name) => Err(already_bound(name)),
            None => Ok(()),
        }
    }

    /// The values of the pattern's properties.
    fn not_null(&mut self, path: &PathPattern) -> Outcome<NotNull> {
        let mut all = Vec::new();
        let mut add = |branch: &mut Self, properties: Option<&Expression>| {
            let Some(ExpressionKind::Map(entries)) = properties.map(|one| &one.kind) else {
                return Ok(());
            };
            for entry in entries {
                all.push((Arc::from(&*entry.key.text), branch.expr(&entry.value)?.0));
            }
            Outcome::Ok(())
        };
        add(self, path.start.properties.as_ref())?;
        for (relationship, node) in &path.steps {
            add(self, relationship.properties.as_ref())?;
            add(self, node.properties.as_ref())?;
        }
        Ok(all)
    }

    /// What is created if nothing matches. `steps` has the slot and the two nodes of each
    /// relationship.
    fn merged(
        &mut self,
        path: &PathPattern,
        nodes: &[(usize, bool)],
        steps: Vec<(usize, usize, usize)>,
    ) -> Outcome<CreatePattern> {
        let mut create = CreatePattern::default();
        let mut made: Vec<bool> = nodes.iter().map(|(_, is_bound)| *is_bound).collect();
        let each = path.steps.iter().map(|(_, node)| node);
        let first = steps.first().map_or(0, |(_, from, _)| *from);
        let numbers = std::iter::once(first).chain(steps.iter().map(|(_, _, to)| *to));
        for (number, node) in numbers.zip(std::iter::once(&path.start).chain(each)) {
            if std::mem::replace(&mut made[number], true) {
                continue;
            }
            let labels = match &node.labels {
                Some(labels) => self.label_parts(labels, node.span)?,
                None => Vec::new(),
            };
            self.check_labels(&labels, node.span)?;
            let properties = self.optional(node.properties.as_ref())?;
            create.nodes.push(CreateNode {
                slot: nodes[number].0,
                labels,
                properties,
            });
        }
        for ((slot, from, to), (relationship, _)) in steps.into_iter().zip(&path.steps) {
            let (from, to) = match relationship.direction {
                Direction::Left => (to, from),
                _ => (from, to),
            };
            create.relationships.push(CreateRelationship {
                slot,
                from: nodes[from].0,
                to: nodes[to].0,
                label: type_part(relationship, self)?,
                properties: self.optional(relationship.properties.as_ref())?,
            });
        }
        Ok(create)
    }
}
