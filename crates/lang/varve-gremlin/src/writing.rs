//! Whether a script may change the graph, as its tree shows before it runs.
//!
//! A script may: if a traversal in it has a step that writes, wherever it stands, or if it calls a
//! method that may write. What a plan does is known exactly, but only once its traversal is bound.

use crate::script::method_may_write;
use crate::tree::{
    Argument, Computed, ComputedKind, ElementLiteral, Predicate, Root, Script, SourceInstruction,
    Statement, StatementKind, Step, Terminal, Traversal,
};

impl Script {
    /// Whether a run of this script may change elements of a graph. A change of the schema is none.
    /// A variable that is a traversal before the script begins is not looked into.
    #[must_use]
    pub fn may_write(&self) -> bool {
        block(&self.statements)
    }
}

fn block(statements: &[Statement]) -> bool {
    statements.iter().any(statement)
}

fn statement(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Expression(value) => argument(value),
        StatementKind::Define { value, .. } | StatementKind::Return(value) => {
            value.as_ref().is_some_and(argument)
        }
        StatementKind::If {
            condition,
            then,
            otherwise,
        } => argument(condition) || block(then) || block(otherwise),
        StatementKind::For {
            first,
            condition,
            each,
            body,
        } => {
            first.as_deref().is_some_and(self::statement)
                || condition.iter().chain(each).any(argument)
                || block(body)
        }
        StatementKind::ForIn { items, body, .. } => argument(items) || block(body),
        StatementKind::While { condition, body } => argument(condition) || block(body),
        StatementKind::Try {
            body,
            catches,
            finally,
        } => block(body) || catches.iter().any(|one| block(&one.body)) || block(finally),
        StatementKind::Break | StatementKind::Continue => false,
    }
}

fn traversal(traversal: &Traversal) -> bool {
    let is_written = |step: &Step| step.name.writes() || step.arguments.iter().any(argument);
    let configured = |one: &SourceInstruction| one.arguments.iter().any(argument);
    traversal.steps.iter().any(is_written)
        || traversal.source.iter().any(configured)
        || matches!(&traversal.root, Root::Computed(source) if argument(source))
        || matches!(&traversal.terminal, Some(Terminal::NextMany(count)) if argument(count))
}

fn argument(held: &Argument) -> bool {
    match held {
        Argument::Traversal(nested) => traversal(nested),
        Argument::Computed(expression) => computed(expression),
        Argument::List(items) | Argument::Set(items) => items.iter().any(argument),
        Argument::Map(entries) => entries
            .iter()
            .any(|(key, value)| argument(key) || argument(value)),
        Argument::Range(ends) => argument(&ends.0) || argument(&ends.1),
        Argument::Predicate(test) => predicate(test),
        Argument::CardinalityValue(_, value) => argument(value),
        Argument::Strategy(strategy) => {
            let mut settings = strategy.configuration.iter();
            settings.any(|(_, value)| argument(value))
        }
        Argument::Element(element) => match element.as_ref() {
            ElementLiteral::Vertex { id, label } | ElementLiteral::Edge { id, label } => {
                argument(id) || argument(label)
            }
            // From bytecode, whose parts are values.
            ElementLiteral::VertexProperty { .. } | ElementLiteral::Property { .. } => false,
        },
        // Literals, tokens and variables have no parts.
        _ => false,
    }
}

fn predicate(test: &Predicate) -> bool {
    match test {
        Predicate::Test { arguments, .. } => arguments.iter().any(argument),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(predicate),
        Predicate::Not(inner) => predicate(inner),
    }
}

fn computed(expression: &Computed) -> bool {
    match &expression.kind {
        ComputedKind::Call {
            receiver,
            name,
            arguments,
        } => method_may_write(name) || receiver.iter().chain(arguments).any(argument),
        ComputedKind::Member { receiver, .. } => argument(receiver),
        ComputedKind::Index { receiver, index } => argument(receiver) || argument(index),
        ComputedKind::Assign { target, value, .. } => argument(target) || argument(value),
        ComputedKind::Step { target, .. } => argument(target),
        ComputedKind::Unary(_, operand) => argument(operand),
        ComputedKind::Binary(_, left, right) => argument(left) || argument(right),
        ComputedKind::Ternary {
            condition,
            then,
            otherwise,
        } => argument(condition) || then.iter().any(argument) || argument(otherwise),
    }
}

#[cfg(test)]
mod tests;
