//! Parameters written into a text in place of its variables.

use std::collections::HashMap;

use varve_gremlin::parse_script;
use varve_gremlin::tree::{
    Argument, ElementLiteral, Predicate, Script, StatementKind, Text, Traversal,
};

/// Values of variables.
pub(crate) type Parameters = HashMap<Text, Argument>;

/// The script with the values in place of its variables.
pub(crate) fn script(text: &str, parameters: &Parameters) -> Result<Script, String> {
    let mut script = parse_script(text).map_err(|error| error.to_string())?;
    for statement in &mut script.statements {
        if let StatementKind::Expression(argument) = &mut statement.kind {
            put(argument, parameters);
        }
    }
    Ok(script)
}

/// The traversal that a script is.
pub(crate) fn traversal(script: &Script) -> Option<&Traversal> {
    match script.statements.as_slice() {
        [statement] => match &statement.kind {
            StatementKind::Expression(Argument::Traversal(traversal)) => Some(traversal),
            _ => None,
        },
        _ => None,
    }
}

/// An argument as a text has it: an edge is its id.
pub(crate) fn as_text(mut argument: Argument) -> Argument {
    fn edges(argument: &mut Argument) {
        match argument {
            Argument::List(members) | Argument::Set(members) => members.iter_mut().for_each(edges),
            Argument::Map(entries) => entries.iter_mut().for_each(|(key, value)| {
                edges(key);
                edges(value);
            }),
            Argument::Element(element) => {
                if let ElementLiteral::Edge { id, .. } = element.as_ref() {
                    *argument = id.clone();
                }
            }
            _ => {}
        }
    }
    edges(&mut argument);
    argument
}

fn put_all(arguments: &mut [Argument], parameters: &Parameters) {
    for argument in arguments {
        put(argument, parameters);
    }
}

fn put(argument: &mut Argument, parameters: &Parameters) {
    match argument {
        Argument::Variable(name) => {
            if let Some(value) = parameters.get(name) {
                *argument = value.clone();
            }
        }
        Argument::List(members) | Argument::Set(members) => put_all(members, parameters),
        Argument::Map(entries) => {
            for (key, value) in entries {
                put(key, parameters);
                put(value, parameters);
            }
        }
        Argument::Range(ends) => {
            put(&mut ends.0, parameters);
            put(&mut ends.1, parameters);
        }
        Argument::Traversal(traversal) => {
            for instruction in &mut traversal.source {
                put_all(&mut instruction.arguments, parameters);
            }
            for step in &mut traversal.steps {
                put_all(&mut step.arguments, parameters);
            }
        }
        Argument::Predicate(predicate) => put_predicate(predicate, parameters),
        Argument::CardinalityValue(_, value) => put(value, parameters),
        Argument::Strategy(strategy) => {
            for (_, value) in &mut strategy.configuration {
                put(value, parameters);
            }
        }
        _ => {}
    }
}

fn put_predicate(predicate: &mut Predicate, parameters: &Parameters) {
    match predicate {
        Predicate::Test { name, arguments } => {
            let collects = matches!(name.text(), "within" | "without");
            let is_variable = matches!(arguments.as_slice(), [Argument::Variable(_)]);
            put_all(arguments, parameters);
            // A variable may stand for all that is compared with.
            if let ([Argument::List(all) | Argument::Set(all)], true) =
                (arguments.as_mut_slice(), collects && is_variable)
            {
                *arguments = std::mem::take(all);
            }
        }
        Predicate::And(members) | Predicate::Or(members) => {
            for member in members {
                put_predicate(member, parameters);
            }
        }
        Predicate::Not(inner) => put_predicate(inner, parameters),
    }
}
