//! Limits on traversals that scripts assemble from variables.
//!
//! The parser limits the traversals of a text. In a script, a variable may contain a whole
//! traversal. So each copy of one is charged as steps and as memory, and the assembled traversal
//! has the limits of a text.

use varve_query::QueryError;

use super::environment::Item;
use super::{Run, heap};
use crate::parser::{NESTING_MAX, STEPS_MAX};
use crate::tree::{Argument, ElementLiteral, Predicate, SourceInstruction, Traversal};

/// Smaller copies are not charged as memory: they are freed with their expression.
const SMALL_BYTES: usize = 4_096;

/// The size of a tree.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// The number of arguments, steps and predicates.
    nodes: u64,
    /// The number of steps and source instructions, including those of children.
    steps: usize,
    /// The largest nesting of arguments and predicates.
    height: usize,
    /// Bytes of texts.
    texts: usize,
}

impl Extent {
    pub(super) fn of(item: &Item) -> Self {
        let mut extent = Self::default();
        match item {
            Item::Argument(argument) => extent.argument(argument, 1),
            Item::Traversal(lazy) => extent.traversal(&lazy.traversal, 1),
            Item::Source(_, with) => extent.instructions(with, 1),
            _ => {}
        }
        extent
    }

    fn bytes(&self) -> usize {
        let nodes = usize::try_from(self.nodes).unwrap_or(usize::MAX);
        let each = size_of::<Argument>() + size_of::<crate::tree::Step>();
        nodes.saturating_mul(each).saturating_add(self.texts)
    }

    fn traversal(&mut self, traversal: &Traversal, level: usize) {
        self.instructions(&traversal.source, level);
        self.steps += traversal.steps.len();
        for step in &traversal.steps {
            self.node(level);
            self.arguments(&step.arguments, level);
        }
    }

    fn instructions(&mut self, source: &[SourceInstruction], level: usize) {
        self.steps += source.len();
        for instruction in source {
            self.node(level);
            self.arguments(&instruction.arguments, level);
        }
    }

    fn arguments(&mut self, arguments: &[Argument], level: usize) {
        for argument in arguments {
            self.argument(argument, level + 1);
        }
    }

    fn node(&mut self, level: usize) {
        self.nodes += 1;
        self.height = self.height.max(level);
    }

    fn argument(&mut self, argument: &Argument, level: usize) {
        self.node(level);
        match argument {
            Argument::Value(value) => self.texts += heap(value),
            Argument::String(text) => self.texts += text.len(),
            Argument::List(items) | Argument::Set(items) => self.arguments(items, level),
            Argument::Map(entries) => {
                for (key, value) in entries {
                    self.argument(key, level + 1);
                    self.argument(value, level + 1);
                }
            }
            Argument::Range(ends) => {
                self.argument(&ends.0, level + 1);
                self.argument(&ends.1, level + 1);
            }
            Argument::Traversal(traversal) => self.traversal(traversal, level),
            Argument::Predicate(predicate) => self.predicate(predicate, level),
            Argument::CardinalityValue(_, value) => self.argument(value, level + 1),
            Argument::Strategy(strategy) => {
                for (_, value) in &strategy.configuration {
                    self.argument(value, level + 1);
                }
            }
            Argument::Element(element) => match element.as_ref() {
                ElementLiteral::Vertex { id, label } | ElementLiteral::Edge { id, label } => {
                    self.argument(id, level + 1);
                    self.argument(label, level + 1);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn predicate(&mut self, predicate: &Predicate, level: usize) {
        self.node(level);
        match predicate {
            Predicate::Test { arguments, .. } => self.arguments(arguments, level),
            Predicate::And(parts) | Predicate::Or(parts) => {
                for part in parts {
                    self.predicate(part, level + 1);
                }
            }
            Predicate::Not(inner) => self.predicate(inner, level + 1),
        }
    }
}

impl Run<'_> {
    /// Charges a copy of an item, before it is made.
    pub(super) fn copies(&mut self, item: &Item) -> Result<(), QueryError> {
        self.copied(&Extent::of(item))
    }

    /// Charges a copy of this size.
    pub(super) fn copied(&mut self, extent: &Extent) -> Result<(), QueryError> {
        self.step(extent.nodes)?;
        match extent.bytes() {
            small if small < SMALL_BYTES => Ok(()),
            bytes => self.host.hold(bytes),
        }
    }

    /// Charges an item that is stored under a name which the script computed.
    pub(super) fn keeps(&mut self, name: &str, item: &Item) -> Result<(), QueryError> {
        let bytes = Extent::of(item).bytes() + name.len() + size_of::<Item>();
        self.host.hold(bytes)
    }
}

/// Refuses a traversal or another argument that is larger than a text may contain.
pub(super) fn bounded(item: Item) -> Result<Item, QueryError> {
    let extent = Extent::of(&item);
    if extent.steps > STEPS_MAX {
        return Err(QueryError::Limit(format!(
            "A traversal that a script puts together may have {STEPS_MAX} steps"
        )));
    }
    if extent.height > usize::from(NESTING_MAX) {
        return Err(QueryError::Limit(format!(
            "A traversal that a script puts together may be nested {NESTING_MAX} levels deep"
        )));
    }
    Ok(item)
}
