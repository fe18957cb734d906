//! Patterns to match: their variables get slots, and their properties become conditions.

use std::sync::Arc;

use super::clauses::Branch;
use super::expression::label_test;
use super::{Type, syntax, unsupported};
use crate::error::Outcome;
use crate::expression::{CompareOp, Expr, LabelTest};
use crate::functions::Types;
use crate::tree::{
    Direction, Expression, ExpressionKind, Name, NodePattern, PathKind, PathPattern,
    RelationshipPattern,
};

/// The most nodes and relationships of a pattern that is matched: its order is planned.
const ELEMENTS_MAX: usize = 512;

/// A node of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternNode {
    pub(crate) slot: usize,
    /// Whether its value is known before the pattern is matched.
    pub(crate) is_bound: bool,
    pub(crate) labels: Option<LabelTest>,
}

/// A relationship of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternRelationship {
    pub(crate) slot: usize,
    pub(crate) is_bound: bool,
    /// The nodes at its ends, by number.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) direction: Direction,
    pub(crate) types: Option<LabelTest>,
    /// The bounds of its length, if it is a sequence.
    pub(crate) length: Option<(u64, Option<u64>)>,
    /// A condition on each relationship of a sequence, and the slot for it.
    pub(crate) each: Option<(usize, Expr)>,
}

/// A path of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternPath {
    pub(crate) slot: usize,
    pub(crate) kind: PathKind,
    /// Whether the path has a name.
    pub(crate) is_named: bool,
    pub(crate) start: usize,
    /// Its relationships, by number.
    pub(crate) relationships: Vec<usize>,
}

/// The patterns of one clause.
#[derive(Debug, Clone, Default)]
pub(crate) struct MatchPattern {
    pub(crate) nodes: Vec<PatternNode>,
    pub(crate) relationships: Vec<PatternRelationship>,
    /// Paths that have a name, or are shortest paths.
    pub(crate) paths: Vec<PatternPath>,
    pub(crate) filters: Vec<Expr>,
}

/// The slots of a pattern that is an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatternSlots {
    pub(crate) path: Option<usize>,
}

impl MatchPattern {
    /// Adds a condition; the operands of an AND are conditions of their own.
    pub(crate) fn filter(&mut self, condition: Expr) {
        match condition {
            Expr::And(operands) => operands.into_iter().for_each(|one| self.filter(one)),
            other => self.filters.push(other),
        }
    }
}

/// A pattern that is being bound.
#[derive(Default)]
struct Binding<'t> {
    pattern: MatchPattern,
    /// The numbers of nodes and relationships, path by path, in the order of the text.
    node_uses: Vec<(usize, &'t NodePattern)>,
    relationship_uses: Vec<(usize, &'t RelationshipPattern)>,
    introduces: bool,
}

impl<'b> Branch<'_, 'b> {
    /// Binds patterns. Slots of new variables come after those of the scope; values of outer
    /// variables are put into slots first.
    pub(crate) fn bind_patterns(
        &mut self,
        patterns: &[PathPattern],
        introduces: bool,
    ) -> Outcome<MatchPattern> {
        let elements = patterns.iter().map(|path| 1 + 2 * path.steps.len());
        if elements.sum::<usize>() > ELEMENTS_MAX {
            let message = format!("a pattern has more than {ELEMENTS_MAX} nodes and relationships");
            let span = patterns.first().map(|path| path.span).unwrap_or_default();
            return Err(syntax("TooDeep", span, message));
        }
        self.pin_all(patterns);
        let known = self.scope.width;
        let mut binding = Binding {
            introduces,
            ..Binding::default()
        };
        for path in patterns {
            self.declare_path(path, known, &mut binding)?;
        }
        let nodes = std::mem::take(&mut binding.node_uses);
        for (number, node) in nodes {
            let slot = binding.pattern.nodes[number].slot;
            self.node_conditions(slot, node, &mut binding.pattern)?;
        }
        let relationships = std::mem::take(&mut binding.relationship_uses);
        for (number, relationship) in relationships {
            self.relationship_conditions(number, relationship, &mut binding.pattern)?;
        }
        Ok(binding.pattern)
    }

    /// Puts the outer variables that patterns name into slots.
    pub(super) fn pin_all(&mut self, patterns: &[PathPattern]) {
        for path in patterns {
            let steps = path.steps.iter();
            let names = steps.flat_map(|(relationship, node)| {
                [relationship.variable.as_ref(), node.variable.as_ref()]
            });
            let first = [path.variable.as_ref(), path.start.variable.as_ref()];
            for name in first.into_iter().chain(names).flatten() {
                if self.scope.get(&name.text).is_none() {
                    self.pin(&name.text);
                }
            }
        }
    }

    fn declare_path<'t>(
        &mut self,
        path: &'t PathPattern,
        known: usize,
        binding: &mut Binding<'t>,
    ) -> Outcome<()> {
        let start = self.declare_node(&path.start, known, binding)?;
        let mut from = start;
        let mut relationships = Vec::with_capacity(path.steps.len());
        for (relationship, node) in &path.steps {
            // The relationship is declared first: the text names it before the node.
            let slot = self.declare_relationship(relationship, known, binding)?;
            let to = self.declare_node(node, known, binding)?;
            let number = binding.pattern.relationships.len();
            let length = relationship.length.map(|length| {
                let min = length.min.unwrap_or(1);
                (min, length.max)
            });
            binding.pattern.relationships.push(PatternRelationship {
                slot,
                is_bound: slot < known,
                from,
                to,
                direction: relationship.direction,
                types: relationship.types.as_ref().map(label_test).transpose()?,
                length,
                each: None,
            });
            binding.relationship_uses.push((number, relationship));
            relationships.push(number);
            from = to;
        }
        if path.kind != PathKind::All && relationships.len() != 1 {
            let what = "a shortest path of other than one relationship";
            return Err(unsupported(path.span, what));
        }
        if path.variable.is_none() && path.kind == PathKind::All {
            return Ok(());
        }
        if let Some(name) = &path.variable {
            self.check_new(name)?;
        }
        let slot = self.scope.new_slot();
        if let Some(name) = &path.variable {
            self.scope.declare(name.text.clone(), slot, Type::PATH);
        }
        binding.pattern.paths.push(PatternPath {
            slot,
            kind: path.kind,
            is_named: path.variable.is_some(),
            start,
            relationships,
        });
        Ok(())
    }

    fn declare_node<'t>(
        &mut self,
        node: &'t NodePattern,
        known: usize,
        binding: &mut Binding<'t>,
    ) -> Outcome<usize> {
        let labels = node.labels.as_ref().map(label_test).transpose()?;
        let slot = self.element_slot(node.variable.as_ref(), Type::NODE, binding.introduces)?;
        let nodes = &mut binding.pattern.nodes;
        let number = match nodes.iter().position(|one| one.slot == slot) {
            Some(number) => {
                let own = &mut nodes[number].labels;
                *own = match (own.take(), labels) {
                    (Some(own), Some(labels)) => Some(LabelTest::And(vec![own, labels])),
                    (own, labels) => own.or(labels),
                };
                number
            }
            None => {
                nodes.push(PatternNode {
                    slot,
                    is_bound: slot < known,
                    labels,
                });
                nodes.len() - 1
            }
        };
        binding.node_uses.push((number, node));
        Ok(number)
    }

    fn declare_relationship(
        &mut self,
        relationship: &RelationshipPattern,
        _known: usize,
        binding: &Binding<'_>,
    ) -> Outcome<usize> {
        let typed = match relationship.length {
            Some(_) => Type::list_of(Types::RELATIONSHIP),
            None => Type::RELATIONSHIP,
        };
        let name = relationship.variable.as_ref();
        let slot = self.element_slot(name, typed, binding.introduces)?;
        let all = &binding.pattern.relationships;
        if let Some(name) = name
            && all.iter().any(|one| one.slot == slot)
        {
            let message = format!("the relationship '{}' occurs twice in a pattern", name.text);
            return Err(syntax(
                "RelationshipUniquenessViolation",
                name.span,
                message,
            ));
        }
        Ok(slot)
    }

    /// The slot of a node or relationship.
    fn element_slot(
        &mut self,
        name: Option<&Name>,
        typed: Type,
        introduces: bool,
    ) -> Outcome<usize> {
        let Some(name) = name else {
            return Ok(self.scope.new_slot());
        };
        let Some(found) = self.scope.get(&name.text) else {
            if !introduces {
                let message = format!("the variable '{}' is not defined", name.text);
                return Err(syntax("UndefinedVariable", name.span, message));
            }
            let slot = self.scope.new_slot();
            self.scope.declare(name.text.clone(), slot, typed);
            return Ok(slot);
        };
        let is_list = typed.kinds == Types::LIST;
        let items_fit = !is_list || found.typed.item().may_be(typed.items);
        if !found.typed.may_be(typed.kinds) || !items_fit {
            let message = format!("the variable '{}' has a value of another type", name.text);
            return Err(syntax("VariableTypeConflict", name.span, message));
        }
        Ok(found.slot)
    }

    fn node_conditions(
        &mut self,
        slot: usize,
        node: &NodePattern,
        pattern: &mut MatchPattern,
    ) -> Outcome<()> {
        for condition in self.property_conditions(slot, node.properties.as_ref())? {
            pattern.filter(condition);
        }
        if let Some(filter) = &node.filter {
            pattern.filter(self.condition(filter)?);
        }
        Ok(())
    }

    fn relationship_conditions(
        &mut self,
        number: usize,
        relationship: &RelationshipPattern,
        pattern: &mut MatchPattern,
    ) -> Outcome<()> {
        let slot = pattern.relationships[number].slot;
        let (properties, filter) = (&relationship.properties, &relationship.filter);
        if properties.is_none() && filter.is_none() {
            return Ok(());
        }
        if relationship.length.is_none() {
            for condition in self.property_conditions(slot, properties.as_ref())? {
                pattern.filter(condition);
            }
            if let Some(filter) = filter {
                pattern.filter(self.condition(filter)?);
            }
            return Ok(());
        }
        // Conditions are about each relationship of the sequence.
        let each = self.scope.new_slot();
        let mut all = self.property_conditions(each, properties.as_ref())?;
        if let Some(filter) = filter {
            let outside = self.scope.clone();
            if let Some(name) = &relationship.variable {
                self.scope
                    .declare(name.text.clone(), each, Type::RELATIONSHIP);
            }
            let bound = self.condition(filter);
            self.scope = outside;
            all.push(bound?);
        }
        pattern.relationships[number].each = Some((each, Expr::And(all)));
        Ok(())
    }

    /// `{key: value}` as conditions on the element in a slot.
    fn property_conditions(
        &mut self,
        slot: usize,
        properties: Option<&Expression>,
    ) -> Outcome<Vec<Expr>> {
        let entries = match properties.map(|one| (&one.kind, one.span)) {
            None => return Ok(Vec::new()),
            Some((ExpressionKind::Map(entries), _)) => entries,
            Some((_, span)) => {
                return Err(syntax(
                    "InvalidParameterUse",
                    span,
                    "the properties of a pattern to match are a map",
                ));
            }
        };
        let mut conditions = Vec::with_capacity(entries.len());
        for entry in entries {
            let (value, _) = self.expr(&entry.value)?;
            let key = Arc::from(entry.key.text.as_str());
            let property = Expr::Property(Box::new(Expr::Slot(slot)), key);
            conditions.push(Expr::Compare(
                Box::new(property),
                vec![(CompareOp::Equal, value)],
            ));
        }
        Ok(conditions)
    }
}
