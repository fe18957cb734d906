//! `CREATE`, `SET`, `REMOVE`, `DELETE` and `FOREACH`.

use std::sync::Arc;

use super::clauses::Branch;
use super::{Type, syntax, unsupported};
use crate::error::{Error, ErrorClass, Outcome};
use crate::expression::Expr;
use crate::functions::Types;
use crate::plan::{
    CreateNode, CreatePattern, CreateRelationship, LabelChange, LabelPart, PathParts, Pipeline,
    RemoveOp, SetOp, WriteStep,
};
use crate::tree::{
    DeleteClause, Direction, Expression, ExpressionKind, Foreach, LabelExpression, Name,
    NodePattern, PathPattern, RelationshipPattern, RemoveItem, SetItem, SetLabel, Span,
    WriteClause,
};
use crate::value::Value;

impl Branch<'_, '_> {
    pub(super) fn write(&mut self, clause: &WriteClause) -> Outcome<()> {
        let step = match clause {
            WriteClause::Create(patterns) => return self.create(patterns),
            WriteClause::Set(items) => WriteStep::Set(self.set_items(items)?),
            WriteClause::Remove(items) => WriteStep::Remove(self.remove_items(items)?),
            WriteClause::Delete(clause) => self.delete(clause)?,
        };
        self.step(step);
        Ok(())
    }

    fn create(&mut self, patterns: &[PathPattern]) -> Outcome<()> {
        let (first, pins) = (self.scope.width, self.ops.len());
        self.pin_all(patterns);
        let pinned = self.ops.len() - pins;
        let mut created = CreatePattern::default();
        for path in patterns {
            self.create_path(path, &mut created)?;
        }
        self.extend(self.scope.width - first - pinned);
        self.step(WriteStep::Create(Box::new(created)));
        Ok(())
    }

    fn create_path(&mut self, path: &PathPattern, created: &mut CreatePattern) -> Outcome<()> {
        let is_alone = path.steps.is_empty();
        let start = self.create_node(&path.start, is_alone, created)?;
        let mut parts = PathParts {
            start,
            relationships: Vec::with_capacity(path.steps.len()),
        };
        let mut from = start;
        for (relationship, node) in &path.steps {
            if let Some(name) = &relationship.variable {
                self.check_new(name)?;
            }
            let label = type_part(relationship, self)?;
            let properties = self.optional(relationship.properties.as_ref())?;
            let slot = self.scope.new_slot();
            if let Some(name) = &relationship.variable {
                self.scope
                    .declare(name.text.clone(), slot, Type::RELATIONSHIP);
            }
            let to = self.create_node(node, false, created)?;
            let (source, target) = match relationship.direction {
                Direction::Left => (to, from),
                _ => (from, to),
            };
            created.relationships.push(CreateRelationship {
                slot,
                from: source,
                to: target,
                label,
                properties,
            });
            parts.relationships.push(slot);
            from = to;
        }
        if let Some(name) = &path.variable {
            self.check_new(name)?;
            let slot = self.scope.new_slot();
            self.scope.declare(name.text.clone(), slot, Type::PATH);
            created.paths.push((slot, parts));
        }
        Ok(())
    }

    fn create_node(
        &mut self,
        node: &NodePattern,
        is_alone: bool,
        created: &mut CreatePattern,
    ) -> Outcome<usize> {
        if let Some(name) = &node.variable
            && let Some(found) = self.scope.get(&name.text)
        {
            let (slot, typed) = (found.slot, found.typed);
            if !typed.may_be(Types::NODE) {
                let message = format!("the variable '{}' is no node", name.text);
                return Err(syntax("VariableTypeConflict", name.span, message));
            }
            if is_alone || node.labels.is_some() || node.properties.is_some() {
                return Err(already_bound(name));
            }
            return Ok(slot);
        }
        let labels = match &node.labels {
            Some(labels) => self.label_parts(labels, node.span)?,
            None => Vec::new(),
        };
        self.check_labels(&labels, node.span)?;
        let properties = self.optional(node.properties.as_ref())?;
        let slot = self.scope.new_slot();
        if let Some(name) = &node.variable {
            self.scope.declare(name.text.clone(), slot, Type::NODE);
        }
        created.nodes.push(CreateNode {
            slot,
            labels,
            properties,
        });
        Ok(slot)
    }

    /// Fails if nodes of the graph cannot have these labels.
    pub(super) fn check_labels(&self, labels: &[LabelPart], span: Span) -> Outcome<()> {
        let names = labels.iter().map(|label| match label {
            LabelPart::Name(name) => Some(Arc::clone(name)),
            LabelPart::Dynamic(_) => None,
        });
        let Some(names) = names.collect::<Option<Vec<_>>>() else {
            return Ok(());
        };
        match crate::labels::vertex_label(self.binder.schema, names) {
            Ok(_) => Ok(()),
            Err(reason) => {
                let class = ErrorClass::NotSupported;
                Err(Error::compile(class, "NotSupported", span, reason).into())
            }
        }
    }

    /// Fails if labels of nodes cannot change.
    fn check_relabel(&self, name: &Name) -> Outcome<()> {
        match self.binder.schema.is_open() {
            true => Ok(()),
            false => Err(unsupported(
                name.span,
                "changing the label of a node of a graph with a declared schema",
            )),
        }
    }

    pub(super) fn optional(&mut self, expression: Option<&Expression>) -> Outcome<Option<Expr>> {
        let bound = expression.map(|one| self.expr(one)).transpose()?;
        Ok(bound.map(|(bound, _)| bound))
    }

    /// The labels of a node to create.
    pub(super) fn label_parts(
        &mut self,
        labels: &LabelExpression,
        span: Span,
    ) -> Outcome<Vec<LabelPart>> {
        match labels {
            LabelExpression::Name(name) => Ok(vec![LabelPart::Name(Arc::from(&*name.text))]),
            LabelExpression::Dynamic(label) => Ok(vec![LabelPart::Dynamic(self.expr(label)?.0)]),
            LabelExpression::And(all) => {
                let mut parts = Vec::with_capacity(all.len());
                for label in all {
                    parts.extend(self.label_parts(label, span)?);
                }
                Ok(parts)
            }
            _ => Err(unsupported(
                span,
                "this label expression in CREATE or MERGE",
            )),
        }
    }

    fn set_labels(&mut self, labels: &[SetLabel]) -> Outcome<Vec<LabelPart>> {
        let mut parts = Vec::with_capacity(labels.len());
        for label in labels {
            parts.push(match label {
                SetLabel::Name(name) => LabelPart::Name(Arc::from(&*name.text)),
                SetLabel::Dynamic(label) => LabelPart::Dynamic(self.expr(label)?.0),
            });
        }
        Ok(parts)
    }

    fn label_change(&mut self, name: &Name, labels: &[SetLabel]) -> Outcome<LabelChange> {
        self.check_relabel(name)?;
        Ok(LabelChange {
            element: self.element(name, Types::NODE)?,
            labels: self.set_labels(labels)?,
            in_period: self.has_period(),
        })
    }

    fn element(&mut self, name: &Name, kinds: Types) -> Outcome<Expr> {
        let (element, typed) = self.exprs().variable(name)?;
        if !typed.may_be(kinds) {
            let message = format!("'{}' is no element of the graph", name.text);
            return Err(syntax("InvalidArgumentType", name.span, message));
        }
        Ok(element)
    }

    /// `a.key` or `a[key]` as a target.
    fn target(&mut self, target: &Expression) -> Outcome<(Expr, Expr)> {
        let (subject, key) = match &target.kind {
            ExpressionKind::Property(subject, key) => {
                (subject, Expr::Constant(Value::string(&key.text)))
            }
            ExpressionKind::Index(subject, key) => (subject, self.expr(key)?.0),
            _ => return Err(unsupported(target.span, "SET or REMOVE of this expression")),
        };
        let (element, typed) = self.expr(subject)?;
        if !typed.may_be(Types::ELEMENT) {
            let message = "only nodes and relationships have properties that change";
            return Err(syntax("InvalidArgumentType", subject.span, message));
        }
        Ok((element, key))
    }

    pub(super) fn set_items(&mut self, items: &[SetItem]) -> Outcome<Vec<SetOp>> {
        let mut ops = Vec::with_capacity(items.len());
        for item in items {
            ops.push(match item {
                SetItem::Property(target, value) => {
                    let (element, key) = self.target(target)?;
                    let value = self.expr(value)?.0;
                    SetOp::Property {
                        element,
                        key,
                        value,
                    }
                }
                SetItem::Replace(name, map) => self.set_map(name, map, false)?,
                SetItem::Add(name, map) => self.set_map(name, map, true)?,
                SetItem::Labels(name, labels) => SetOp::Labels(self.label_change(name, labels)?),
            });
        }
        Ok(ops)
    }

    fn set_map(&mut self, name: &Name, map: &Expression, keeps: bool) -> Outcome<SetOp> {
        if self.has_period() && !keeps {
            // Other states in the period may have other keys, which would stay.
            let what = "SET n = map FOR VALID_TIME (use SET n += map)";
            return Err(unsupported(name.span, what));
        }
        let element = self.element(name, Types::ELEMENT)?;
        let (bound, typed) = self.expr(map)?;
        if !typed.may_be(Types::MAP | Types::ELEMENT) {
            let message = "properties are set from a map, a node or a relationship";
            return Err(syntax("InvalidArgumentType", map.span, message));
        }
        Ok(SetOp::Properties {
            element,
            map: bound,
            keeps,
        })
    }

    fn remove_items(&mut self, items: &[RemoveItem]) -> Outcome<Vec<RemoveOp>> {
        let mut ops = Vec::with_capacity(items.len());
        for item in items {
            ops.push(match item {
                RemoveItem::Property(target) => {
                    let (element, key) = self.target(target)?;
                    RemoveOp::Property { element, key }
                }
                RemoveItem::Labels(name, labels) => {
                    RemoveOp::Labels(self.label_change(name, labels)?)
                }
            });
        }
        Ok(ops)
    }

    fn delete(&mut self, clause: &DeleteClause) -> Outcome<WriteStep> {
        let mut elements = Vec::with_capacity(clause.elements.len());
        for element in &clause.elements {
            let (bound, typed) = self.expr(element)?;
            if !typed.may_be(Types::ELEMENT | Types::PATH) {
                let message = "only nodes, relationships and paths are deleted";
                return Err(syntax("InvalidArgumentType", element.span, message));
            }
            if self.has_period() && !clause.detach && typed.may_be(Types::NODE | Types::PATH) {
                let what = "DELETE of a node FOR VALID_TIME (its relationships in the period are \
                            deleted with it: use DETACH DELETE)";
                return Err(unsupported(element.span, what));
            }
            elements.push(bound);
        }
        Ok(WriteStep::Delete {
            elements,
            detach: clause.detach,
        })
    }

    pub(super) fn foreach(&mut self, clause: &Foreach) -> Outcome<()> {
        let (list, typed) = self.expr(&clause.list)?;
        if !typed.may_be(Types::LIST) {
            let message = "FOREACH takes a list";
            return Err(syntax("InvalidArgumentType", clause.list.span, message));
        }
        let mut inner = Branch::new(&mut *self.binder, self.outer);
        inner.scope = self.scope.clone();
        let width = inner.scope.width;
        let slot = inner.scope.new_slot();
        inner
            .scope
            .declare(clause.variable.text.clone(), slot, typed.item());
        for clause in &clause.clauses {
            inner.clause(clause)?;
        }
        let (ops, nested) = (inner.ops, inner.nested);
        self.nested += ops.len() + nested;
        let inner = Pipeline { ops };
        self.step(WriteStep::Foreach { list, width, inner });
        Ok(())
    }
}

/// The type of a relationship to create.
pub(super) fn type_part(
    relationship: &RelationshipPattern,
    branch: &mut Branch<'_, '_>,
) -> Outcome<LabelPart> {
    match &relationship.types {
        Some(LabelExpression::Name(name)) => Ok(LabelPart::Name(Arc::from(&*name.text))),
        Some(LabelExpression::Dynamic(label)) => Ok(LabelPart::Dynamic(branch.expr(label)?.0)),
        _ => {
            let message = "a relationship to create has exactly one type";
            let span = relationship.span;
            Err(syntax("NoSingleRelationshipType", span, message))
        }
    }
}

pub(super) fn already_bound(name: &Name) -> crate::CypherError {
    let message = format!("the variable '{}' is bound already", name.text);
    syntax("VariableAlreadyBound", name.span, message)
}
