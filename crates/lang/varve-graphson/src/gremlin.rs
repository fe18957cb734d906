//! Conversion of values to arguments of bytecode.

use varve_gremlin::bytecode;
use varve_gremlin::tree::{Argument, ElementLiteral};

use crate::error::{Result, WireError};
use crate::value::{Bytecode, DateTime, Instruction, Temporal, Value};

impl Bytecode {
    /// Converts to the bytecode of `varve_gremlin`.
    ///
    /// # Errors
    ///
    /// If a value has a type that arguments do not have, such as a path.
    pub fn into_gremlin(self) -> Result<bytecode::Bytecode> {
        let instructions = |instructions: Vec<Instruction>| {
            let instruction = |instruction: Instruction| {
                Ok(bytecode::Instruction {
                    name: instruction.name,
                    arguments: all(instruction.arguments)?,
                })
            };
            instructions
                .into_iter()
                .map(instruction)
                .collect::<Result<_>>()
        };
        Ok(bytecode::Bytecode {
            source: instructions(self.source)?,
            steps: instructions(self.steps)?,
        })
    }
}

fn all(values: Vec<Value>) -> Result<Vec<bytecode::Value>> {
    values.into_iter().map(Value::into_gremlin).collect()
}

impl Value {
    /// Converts to an argument of bytecode.
    ///
    /// # Errors
    ///
    /// If arguments do not have this type.
    pub fn into_gremlin(self) -> Result<bytecode::Value> {
        use bytecode::Value as To;
        Ok(match self {
            Value::List(members) => To::List(all(members)?),
            Value::Set(members) => To::Set(all(members)?),
            Value::Map(entries) => {
                let entry =
                    |(key, value): (Value, Value)| Ok((key.into_gremlin()?, value.into_gremlin()?));
                To::Map(entries.into_iter().map(entry).collect::<Result<_>>()?)
            }
            Value::Bytecode(bytecode) => To::Bytecode(bytecode.into_gremlin()?),
            Value::Predicate { name, operands } => To::Predicate {
                name,
                operands: all(operands)?,
            },
            Value::Token { class, name } => To::Token {
                class: class.name().into(),
                name,
            },
            Value::Strategy {
                class,
                configuration,
            } => {
                let entry = |(key, value): (_, Value)| Ok((key, value.into_gremlin()?));
                To::Strategy {
                    class,
                    configuration: configuration
                        .into_iter()
                        .map(entry)
                        .collect::<Result<_>>()?,
                }
            }
            Value::Class(name) => To::Class(name),
            Value::Binding { value, .. } => To::Binding(Box::new(value.into_gremlin()?)),
            Value::Traverser { value, .. } => value.into_gremlin()?,
            Value::Lambda { .. } => To::Lambda,
            other => To::Plain(plain(other)?),
        })
    }
}

/// Converts a value without parts.
fn plain(value: Value) -> Result<Argument> {
    Ok(match value {
        Value::Null => Argument::Null,
        Value::Bool(value) => Argument::Bool(value),
        Value::Byte(value) => Argument::Byte(value),
        Value::Short(value) => Argument::Short(value),
        Value::Int(value) => Argument::Int(value),
        Value::Long(value) => Argument::Long(value),
        Value::BigInt(value) => Argument::BigInt(value),
        Value::Float(value) => Argument::Float(value),
        Value::Double(value) => Argument::Double(value),
        Value::BigDecimal(value) => Argument::BigDecimal(value),
        Value::Char(value) => Argument::Char(value),
        Value::String(value) => Argument::String(value),
        Value::Uuid(value) => Argument::Uuid(value),
        Value::Binary(value) => Argument::Binary(value.into()),
        Value::Date(milliseconds) | Value::Timestamp(milliseconds) => {
            Argument::DateTime(DateTime {
                seconds: milliseconds.div_euclid(1_000),
                nanoseconds: milliseconds.rem_euclid(1_000) as u32 * 1_000_000,
                offset: 0,
            })
        }
        Value::DateTime(value) | Value::Temporal(Temporal::ZonedDateTime(value)) => {
            Argument::DateTime(value)
        }
        Value::Temporal(Temporal::Instant(seconds, nanoseconds)) => Argument::DateTime(DateTime {
            seconds,
            nanoseconds,
            offset: 0,
        }),
        Value::Duration(value) => Argument::Duration(value),
        Value::Vertex(vertex) => element(ElementLiteral::Vertex {
            id: plain(vertex.id)?,
            label: Argument::String(vertex.label),
        }),
        Value::Edge(edge) => element(ElementLiteral::Edge {
            id: plain(edge.id)?,
            label: Argument::String(edge.label),
        }),
        Value::VertexProperty(property) => element(ElementLiteral::VertexProperty {
            id: plain(property.id)?,
            key: Argument::String(property.label),
            value: plain(property.value)?,
        }),
        Value::Property(property) => element(ElementLiteral::Property {
            key: Argument::String(property.key),
            value: plain(property.value)?,
        }),
        other => return Err(WireError::Unsupported(kind(&other).to_owned())),
    })
}

fn element(element: ElementLiteral) -> Argument {
    Argument::Element(Box::new(element))
}

/// The name, in messages, of the type of a value that cannot be an argument.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Path(_) => "Path",
        Value::Tree(_) => "Tree",
        Value::Graph(_) => "Graph",
        Value::BulkSet(_) => "BulkSet",
        Value::Metrics(_) | Value::TraversalMetrics { .. } => "Metrics",
        Value::Temporal(_) => "a type of java.time other than OffsetDateTime, Instant and Duration",
        Value::Address(_) => "InetAddress",
        _ => "a collection inside an element",
    }
}
