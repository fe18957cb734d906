//! Runs scripts: statement after statement, over values of queries only.

use std::collections::HashMap;

use varve_query::{QueryError, Value};

use crate::bind::{Bound, Variables, bind};
use crate::tree::{
    Argument, Computed, ComputedKind, Root, Script, Statement, StatementKind, Terminal, Text,
    Traversal,
};

/// Results, each with how often it is there.
pub type Results = Vec<(Value, u64)>;

/// What a traversal starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A traversal source by its name: `g`.
    Traversal(Text),
    /// A graph by its name: `hugegraph.traversal()`.
    Graph(Text),
}

/// What scripts work on.
pub trait Host {
    /// Runs a traversal and returns at most `most` results.
    ///
    /// # Errors
    /// When there is no such source, and as the traversal says.
    fn run(
        &mut self,
        source: &Source,
        bound: &Bound,
        most: Option<u64>,
    ) -> Result<Results, QueryError>;

    /// Whether the script may go on: called before each statement.
    ///
    /// # Errors
    /// When its time is over.
    fn check(&self) -> Result<(), QueryError>;
}

/// What a script, or an expression of it, comes to.
#[derive(Debug, Clone)]
enum Outcome {
    /// The results of a traversal, one by one.
    Stream(Results),
    /// One value.
    Value(Value),
    /// Nothing, as `iterate()` leaves.
    Nothing,
}

/// Runs a script. The results are those of its last statement; a list gives its items, a map its
/// entries.
///
/// # Errors
/// As its statements say.
pub fn execute(
    script: &Script,
    bindings: HashMap<Text, Value>,
    host: &mut dyn Host,
) -> Result<Results, QueryError> {
    let mut run = Run {
        variables: bindings,
        host,
    };
    let mut last = Outcome::Value(Value::Null);
    for statement in &script.statements {
        run.host.check()?;
        let (outcome, returns) = run.statement(statement)?;
        last = outcome;
        if returns {
            break;
        }
    }
    Ok(match last {
        Outcome::Stream(results) => results,
        Outcome::Nothing => Vec::new(),
        Outcome::Value(value) => match &value {
            Value::List(_) | Value::Set(_) | Value::Map(_) => {
                let items = value.items().unwrap_or_default();
                items.into_iter().map(|item| (item, 1)).collect()
            }
            _ => vec![(value, 1)],
        },
    })
}

struct Run<'h> {
    variables: HashMap<Text, Value>,
    host: &'h mut dyn Host,
}

impl Variables for HashMap<Text, Value> {
    fn value(&self, name: &str) -> Option<Value> {
        self.get(name).cloned()
    }
}

impl Run<'_> {
    /// The outcome of a statement, and whether it ends the script.
    fn statement(&mut self, statement: &Statement) -> Result<(Outcome, bool), QueryError> {
        Ok(match &statement.kind {
            StatementKind::Expression(expression) => (self.expression(expression)?, false),
            StatementKind::Define { name, value } => {
                let value = match value {
                    Some(value) => self.value(value)?,
                    None => Value::Null,
                };
                value.check_bounds()?;
                self.variables.insert(name.clone(), value.clone());
                (Outcome::Value(value), false)
            }
            StatementKind::Return(Some(value)) => (self.expression(value)?, true),
            StatementKind::Return(None) => (Outcome::Value(Value::Null), true),
            other => {
                let name = match other {
                    StatementKind::If { .. } => "if",
                    StatementKind::For { .. } | StatementKind::ForIn { .. } => "for",
                    StatementKind::While { .. } => "while",
                    StatementKind::Try { .. } => "try",
                    _ => "break",
                };
                return Err(QueryError::Unsupported(format!("The statement '{name}'")));
            }
        })
    }

    fn expression(&mut self, expression: &Argument) -> Result<Outcome, QueryError> {
        match expression {
            Argument::Traversal(traversal) => self.traversal(traversal),
            Argument::Computed(computed) => self.computed(computed),
            other => {
                let bound = crate::bind::value(other, &self.variables)?;
                Ok(Outcome::Value(bound))
            }
        }
    }

    /// An expression as one value.
    fn value(&mut self, expression: &Argument) -> Result<Value, QueryError> {
        Ok(match self.expression(expression)? {
            Outcome::Value(value) => value,
            Outcome::Nothing => Value::Null,
            Outcome::Stream(results) => list(results),
        })
    }

    fn computed(&mut self, computed: &Computed) -> Result<Outcome, QueryError> {
        match &computed.kind {
            ComputedKind::Assign {
                target: Argument::Variable(name),
                operator: None,
                value,
            } => {
                let value = self.value(value)?;
                value.check_bounds()?;
                self.variables.insert(name.clone(), value.clone());
                Ok(Outcome::Value(value))
            }
            _ => Err(QueryError::Unsupported(
                "This expression of a script".to_owned(),
            )),
        }
    }

    fn traversal(&mut self, traversal: &Traversal) -> Result<Outcome, QueryError> {
        let source = source_of(&traversal.root)?;
        let bound = bind(traversal, &self.variables)?;
        let most = match &traversal.terminal {
            Some(Terminal::Next | Terminal::TryNext | Terminal::HasNext) => Some(1),
            Some(Terminal::NextMany(count)) => {
                let count = crate::bind::value(count, &self.variables)?;
                Some(
                    count
                        .as_long()
                        .and_then(|count| u64::try_from(count).ok())
                        .unwrap_or(0),
                )
            }
            _ => None,
        };
        let results = self.host.run(&source, &bound, most)?;
        Ok(match &traversal.terminal {
            None => Outcome::Stream(results),
            Some(Terminal::ToList | Terminal::ToBulkSet | Terminal::NextMany(_)) => {
                Outcome::Value(list(results))
            }
            Some(Terminal::ToSet) => {
                Outcome::Value(Value::set(results.into_iter().map(|(value, _)| value)))
            }
            Some(Terminal::HasNext) => Outcome::Value(Value::Bool(!results.is_empty())),
            Some(Terminal::Iterate) => Outcome::Nothing,
            Some(Terminal::TryNext) => match results.into_iter().next() {
                Some((value, _)) => Outcome::Value(value),
                None => Outcome::Nothing,
            },
            Some(Terminal::Next) => match results.into_iter().next() {
                Some((value, _)) => Outcome::Value(value),
                None => return Err(QueryError::invalid("next(): the traversal has no result")),
            },
            Some(Terminal::Explain) => {
                return Err(QueryError::Unsupported("explain()".to_owned()));
            }
        })
    }
}

fn list(results: Results) -> Value {
    let mut items = Vec::with_capacity(results.len());
    for (value, bulk) in results {
        let bulk = usize::try_from(bulk).unwrap_or(usize::MAX);
        items.extend(std::iter::repeat_n(value, bulk));
    }
    Value::list(items)
}

/// The source that a traversal starts from.
///
/// # Errors
/// Where it starts from something else.
pub fn source_of(root: &Root) -> Result<Source, QueryError> {
    match root {
        Root::Source(name) => Ok(Source::Traversal(name.clone())),
        Root::Computed(argument) => {
            if let Argument::Computed(computed) = argument.as_ref()
                && let ComputedKind::Call {
                    receiver: Some(Argument::Variable(graph)),
                    name,
                    arguments,
                } = &computed.kind
                && name == "traversal"
                && arguments.is_empty()
            {
                return Ok(Source::Graph(graph.clone()));
            }
            Err(QueryError::Unsupported(
                "This source of a traversal".to_owned(),
            ))
        }
        Root::Anonymous => Err(QueryError::invalid(
            "A traversal begins with a source, such as g",
        )),
    }
}
