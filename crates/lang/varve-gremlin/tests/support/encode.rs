//! Encodes a traversal as bytecode, as a driver does.

use varve_gremlin::bytecode::{Bytecode, Instruction, Value};
use varve_gremlin::tree::{Argument, Predicate, Traversal};

/// The bytecode of a traversal; `None` if it has variables or computed values, which drivers
/// replace.
pub(crate) fn encode(traversal: &Traversal) -> Option<Bytecode> {
    let instruction = |name: &str, arguments: &[Argument]| {
        let arguments = arguments
            .iter()
            .map(value)
            .collect::<Option<Vec<Value>>>()?;
        Some(Instruction {
            name: name.into(),
            arguments,
        })
    };
    let source = traversal.source.iter();
    let steps = traversal.steps.iter();
    Some(Bytecode {
        source: source
            .map(|each| instruction(each.name.text(), &each.arguments))
            .collect::<Option<_>>()?,
        steps: steps
            .map(|each| instruction(each.name.text(), &each.arguments))
            .collect::<Option<_>>()?,
    })
}

fn values(arguments: &[Argument]) -> Option<Vec<Value>> {
    arguments.iter().map(value).collect()
}

pub(crate) fn value(argument: &Argument) -> Option<Value> {
    Some(match argument {
        Argument::Variable(_) | Argument::Computed(_) | Argument::Range(_) => return None,
        Argument::List(members) => Value::List(values(members)?),
        Argument::Set(members) => Value::Set(values(members)?),
        Argument::Map(entries) => {
            let entry = |(key, of): &(Argument, Argument)| Some((value(key)?, value(of)?));
            Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        Argument::Traversal(traversal) if traversal.terminal.is_some() => return None,
        Argument::Traversal(traversal) => Value::Bytecode(encode(traversal)?),
        Argument::Predicate(tree) => predicate(tree)?,
        Argument::CardinalityValue(cardinality, of) => Value::Bytecode(Bytecode {
            source: vec![Instruction {
                name: "CardinalityValueTraversal".into(),
                arguments: vec![value(&Argument::Cardinality(*cardinality))?, value(of)?],
            }],
            steps: Vec::new(),
        }),
        Argument::Strategy(strategy) => {
            let configuration = strategy.configuration.iter();
            Value::Strategy {
                class: format!("org.apache.tinkerpop.{}", strategy.name).into(),
                configuration: configuration
                    .map(|(key, of)| Some((key.clone(), value(of)?)))
                    .collect::<Option<_>>()?,
            }
        }
        plain => match plain.token() {
            Some((class, name)) => Value::Token {
                class: class.into(),
                name: name.into(),
            },
            None => Value::Plain(plain.clone()),
        },
    })
}

fn predicate(tree: &Predicate) -> Option<Value> {
    let (name, operands) = match tree {
        Predicate::Test { name, arguments } if arguments.len() == 1 => {
            (name.text(), values(arguments)?)
        }
        // In GraphSON, several operands are a list.
        Predicate::Test { name, arguments } => (name.text(), vec![Value::List(values(arguments)?)]),
        Predicate::And(members) => ("and", members.iter().map(predicate).collect::<Option<_>>()?),
        Predicate::Or(members) => {
            let members = members.iter().map(predicate).collect::<Option<_>>()?;
            ("or", vec![Value::List(members)])
        }
        Predicate::Not(inner) => ("not", vec![predicate(inner)?]),
    };
    Some(Value::Predicate {
        name: name.into(),
        operands,
    })
}
