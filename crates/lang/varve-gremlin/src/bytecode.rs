//! Converts bytecode into the syntax tree of the equivalent text.
//!
//! The decoders of GraphSON and GraphBinary build a [`Bytecode`] of [`Value`]s.

use crate::calls;
use crate::error::{ErrorCode, ParseError, Result};
use crate::parser::{NESTING_MAX, STEPS_MAX, all_of, any_of, class_member, negated, test};
use crate::signatures;
use crate::tree::{
    Argument, Computed, ComputedKind, ElementLiteral, Predicate, PredicateName, Root, Script,
    SourceName, Span, Statement, StatementKind, Step, StepName, Strategy, Text, Traversal,
};

/// The instructions of a traversal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bytecode {
    /// Instructions that configure the source.
    pub source: Vec<Instruction>,
    /// The steps.
    pub steps: Vec<Instruction>,
}

/// A name and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// The name of the step or of the source instruction.
    pub name: Text,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

/// An argument of bytecode.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value without parts: null, a number, a string, a date, a UUID, bytes, an element.
    Plain(Argument),
    /// A list.
    List(Vec<Value>),
    /// A set.
    Set(Vec<Value>),
    /// A map.
    Map(Vec<(Value, Value)>),
    /// A nested traversal.
    Bytecode(Bytecode),
    /// A predicate of `P` or `TextP`.
    Predicate {
        /// Its name.
        name: Text,
        /// Its operands; those of `and`, `or` and `not` are predicates.
        operands: Vec<Value>,
    },
    /// An enum token.
    Token {
        /// The enum, such as `Order`.
        class: Text,
        /// The name, such as `desc`.
        name: Text,
    },
    /// A strategy.
    Strategy {
        /// The class, with or without its package.
        class: Text,
        /// Configuration by key.
        configuration: Vec<(Text, Value)>,
    },
    /// The name of a class, as in `withoutStrategies`.
    Class(Text),
    /// A value with the client's name for it, which is ignored.
    Binding(Box<Value>),
    /// A lambda, which is refused.
    Lambda,
}

/// The bytecode name of `Cardinality.list(x)`.
const CARDINALITY_VALUE: &str = "CardinalityValueTraversal";

/// Converts bytecode into a script: one traversal from `g`, or a call such as `g.tx().commit()`.
///
/// # Errors
///
/// If a step, predicate or enum token is unknown or has wrong arguments, if the bytecode has a
/// lambda, or if it exceeds a limit.
pub fn from_bytecode(bytecode: Bytecode) -> Result<Script> {
    let mut reader = Reader { depth: 0, steps: 0 };
    let expression = match transaction(&bytecode) {
        Some(command) => command,
        None => {
            let traversal = reader.traversal(bytecode, Root::Source(Text::const_new("g")))?;
            Argument::Traversal(Box::new(traversal))
        }
    };
    Ok(Script {
        statements: vec![Statement {
            kind: StatementKind::Expression(expression),
            span: Span::default(),
        }],
    })
}

/// Converts a value of bytecode into an argument.
///
/// # Errors
///
/// If the value has an invalid traversal, predicate or enum token, has a lambda, or exceeds a
/// limit.
pub fn argument(value: Value) -> Result<Argument> {
    Reader { depth: 0, steps: 0 }.argument(value)
}

/// The call `g.tx().commit()`, `begin()` or `rollback()` for the source instruction `tx`; `None`
/// for any other bytecode.
fn transaction(bytecode: &Bytecode) -> Option<Argument> {
    let [Instruction { name, arguments }] = bytecode.source.as_slice() else {
        return None;
    };
    let [Value::Plain(Argument::String(command))] = arguments.as_slice() else {
        return None;
    };
    if name != "tx" || !bytecode.steps.is_empty() {
        return None;
    }
    let call = |receiver, name: &str| {
        Argument::Computed(Box::new(Computed {
            kind: ComputedKind::Call {
                receiver: Some(receiver),
                name: name.into(),
                arguments: Vec::new(),
            },
            span: Span::default(),
        }))
    };
    let source = Argument::Variable(Text::const_new("g"));
    matches!(command.as_str(), "begin" | "commit" | "rollback")
        .then(|| call(call(source, "tx"), command))
}

struct Reader {
    depth: u16,
    steps: usize,
}

fn wrong<T>(code: ErrorCode, message: impl Into<String>) -> Result<T> {
    Err(ParseError::without_place(code, message))
}

impl Reader {
    fn traversal(&mut self, bytecode: Bytecode, root: Root) -> Result<Traversal> {
        let mut source = Vec::new();
        for instruction in bytecode.source {
            self.count()?;
            let Some(name) = SourceName::from_text(&instruction.name) else {
                return no_such_call(calls::SOURCE_CLASS, &instruction.name);
            };
            let arguments = self.arguments(instruction.arguments)?;
            let added = calls::add_source(&mut source, name, arguments, Span::default());
            added.or_else(|message| wrong(ErrorCode::WrongArguments, message))?;
        }
        let mut steps = Vec::with_capacity(bytecode.steps.len());
        for instruction in bytecode.steps {
            self.count()?;
            let Some(name) = StepName::from_text(&instruction.name) else {
                return no_such_call(calls::TRAVERSAL_CLASS, &instruction.name);
            };
            steps.push(Step::new(name, self.arguments(instruction.arguments)?)?);
        }
        // Drivers send `__`, the identity, as a nested traversal without steps.
        if steps.is_empty() && root == Root::Anonymous {
            steps.push(Step::new(StepName::Identity, Vec::new())?);
        }
        Ok(Traversal {
            root,
            source,
            steps,
            terminal: None,
            span: Span::default(),
        })
    }

    fn count(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            let message = format!("the bytecode has more than {STEPS_MAX} steps");
            return wrong(ErrorCode::TooManySteps, message);
        }
        Ok(())
    }

    fn arguments(&mut self, values: Vec<Value>) -> Result<Vec<Argument>> {
        if self.depth >= NESTING_MAX {
            let message = format!("the bytecode is nested deeper than {NESTING_MAX} levels");
            return wrong(ErrorCode::TooDeep, message);
        }
        self.depth += 1;
        let arguments = values
            .into_iter()
            .map(|value| self.argument(value))
            .collect();
        self.depth -= 1;
        arguments
    }

    fn pairs(&mut self, pairs: Vec<(Value, Value)>) -> Result<Vec<(Argument, Argument)>> {
        let (keys, values): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let (keys, values) = (self.arguments(keys)?, self.arguments(values)?);
        Ok(keys.into_iter().zip(values).collect())
    }

    fn argument(&mut self, value: Value) -> Result<Argument> {
        match value {
            Value::Plain(argument) => Ok(argument),
            Value::List(members) => self.arguments(members).map(Argument::List),
            Value::Set(members) => self.arguments(members).map(Argument::Set),
            Value::Map(entries) => self.pairs(entries).map(Argument::Map),
            Value::Bytecode(bytecode) => self.nested(bytecode),
            Value::Predicate { name, operands } => {
                let operands = self.arguments(operands)?;
                let predicate = predicate(&name, operands)?;
                Ok(Argument::Predicate(Box::new(predicate)))
            }
            Value::Token { class, name } => match class_member(&class, &name) {
                Some(token) => Ok(token),
                None => wrong(ErrorCode::Bytecode, format!("{class} has no member {name}")),
            },
            Value::Strategy {
                class,
                configuration,
            } => {
                let (keys, values): (Vec<_>, Vec<_>) = configuration.into_iter().unzip();
                let values = self.arguments(values)?;
                Ok(strategy(&class, keys.into_iter().zip(values).collect()))
            }
            Value::Class(class) => Ok(strategy(&class, Vec::new())),
            Value::Binding(value) => {
                let mut values = self.arguments(vec![*value])?;
                Ok(values.pop().unwrap_or(Argument::Null))
            }
            Value::Lambda => wrong(
                ErrorCode::Closure,
                "Lambdas are not supported; use a traversal instead",
            ),
        }
    }

    /// Converts a nested traversal. A value with a cardinality is encoded as a nested traversal,
    /// too.
    fn nested(&mut self, mut bytecode: Bytecode) -> Result<Argument> {
        if bytecode.steps.is_empty()
            && let [Instruction { name, arguments }] = bytecode.source.as_mut_slice()
            && name == CARDINALITY_VALUE
        {
            let arguments = std::mem::take(arguments);
            let arguments = self.arguments(arguments)?;
            return match <[Argument; 2]>::try_from(arguments) {
                Ok([Argument::Cardinality(cardinality), value]) => {
                    Ok(Argument::CardinalityValue(cardinality, Box::new(value)))
                }
                _ => wrong(
                    ErrorCode::Bytecode,
                    "a value with a cardinality is a cardinality and a value",
                ),
            };
        }
        let traversal = self.traversal(bytecode, Root::Anonymous)?;
        Ok(Argument::Traversal(Box::new(traversal)))
    }
}

fn no_such_call<T>(class: &str, name: &str) -> Result<T> {
    let name = crate::literals::shortened(name);
    wrong(
        ErrorCode::NoSuchMethod,
        signatures::no_such_call(class, name, &[], ""),
    )
}

/// A strategy, named by the last part of its class name.
fn strategy(class: &str, configuration: Vec<(Text, Argument)>) -> Argument {
    let name = class.rsplit('.').next().unwrap_or(class);
    Argument::Strategy(Box::new(Strategy {
        name: name.into(),
        configuration,
        span: Span::default(),
    }))
}

fn predicate(name: &str, mut operands: Vec<Argument>) -> Result<Predicate> {
    if matches!(name, "and" | "or" | "not" | "negate") {
        // In GraphSON, the members of a connective are in a list.
        if let [Argument::List(members)] = operands.as_mut_slice() {
            operands = std::mem::take(members);
        }
        return connective(name, operands);
    }
    let Some(known) = PredicateName::from_text(name) else {
        return no_such_call("P", name);
    };
    let two = matches!(
        known,
        PredicateName::Inside | PredicateName::Outside | PredicateName::Between
    );
    if two && let [Argument::List(both)] = operands.as_mut_slice() {
        operands = std::mem::take(both);
    }
    let forms = signatures::predicate_forms(known);
    if !signatures::match_forms(forms, &operands) {
        let message = signatures::no_such_call("P", name, &operands, forms);
        return wrong(ErrorCode::WrongArguments, message);
    }
    Ok(test(known, operands))
}

fn connective(name: &str, operands: Vec<Argument>) -> Result<Predicate> {
    let mut members = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand {
            Argument::Predicate(member) => members.push(*member),
            other => {
                let message = signatures::no_such_call("P", name, &[other], "P");
                return wrong(ErrorCode::WrongArguments, message);
            }
        }
    }
    let join = match name {
        "and" => all_of,
        "or" => any_of,
        _ if members.len() == 1 => return Ok(negated(members.remove(0))),
        _ => return wrong(ErrorCode::Bytecode, "not() takes one predicate"),
    };
    match members.into_iter().reduce(join) {
        Some(joined) => Ok(joined),
        None => wrong(ErrorCode::Bytecode, format!("{name}() takes predicates")),
    }
}

impl From<ElementLiteral> for Value {
    fn from(element: ElementLiteral) -> Value {
        Value::Plain(Argument::Element(Box::new(element)))
    }
}
