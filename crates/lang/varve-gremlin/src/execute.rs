//! Runs scripts: a walk over the tree of statements, on values of queries only.
//!
//! Nothing of a script is code of the host: what it can call is the closed list of methods in this
//! folder, and traversals, which a [`Host`] runs. A script has a number of steps to spend, and what
//! it makes counts as memory of its request.

mod arithmetic;
mod collections;
mod elements;
mod environment;
mod errors;
mod expressions;
mod methods;
mod places;
mod resolve;
mod schema;
mod splices;
mod statements;
mod texts;
mod traversals;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use varve_query::{QueryError, Value};

use crate::bind::Bound;
use crate::tree::{Argument, Root, Script, SourceInstruction, Statement, StatementKind, Text};

pub use environment::{Environment, Item, Outcome};
pub use errors::class_of as exception_class;
pub use schema::{SchemaAction, SchemaKind, SchemaRequest};

/// Results, each with how often it is there.
pub type Results = Vec<(Value, u64)>;

/// Steps that a script may take: nodes of its tree, and members of collections that it goes over.
pub const SCRIPT_STEPS_MAX: u64 = 10_000_000;
/// The longest text that a script may make, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Steps between two looks at the clock.
const CHECK_EVERY: u64 = 1_024;
/// How long a sleeping script does not look whether it is cancelled.
const SLEEP_SLICE: Duration = Duration::from_millis(20);

/// Waits, unless `check` fails, which is called every 20 ms.
///
/// # Errors
/// As `check`.
pub fn sleep(time: Duration, check: impl Fn() -> Result<(), QueryError>) -> Result<(), QueryError> {
    let until = Instant::now().checked_add(time);
    loop {
        check()?;
        let left = until.map_or(SLEEP_SLICE, |until| {
            until.saturating_duration_since(Instant::now())
        });
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(SLEEP_SLICE));
    }
}

/// What a traversal starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A traversal source by its name: `g`.
    Traversal(Text),
    /// A graph by its name: `hugegraph.traversal()`.
    Graph(Text),
}

/// What a global name of the host stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A traversal source.
    Source,
    /// A graph.
    Graph,
}

/// How a script ends its transaction before the script ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// What was written becomes part of the graph.
    Commit,
    /// What was written is dropped.
    Rollback,
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

    /// Whether the script may go on: called before the first statement and every some steps.
    ///
    /// # Errors
    /// When its time is over, or when it is cancelled.
    fn check(&self) -> Result<(), QueryError>;

    /// Counts bytes that the script made.
    ///
    /// # Errors
    /// Over the memory that it may have.
    fn hold(&self, _bytes: usize) -> Result<(), QueryError> {
        Ok(())
    }

    /// Steps that the script may take.
    fn steps_max(&self) -> u64 {
        SCRIPT_STEPS_MAX
    }

    /// What a name means that no variable has.
    fn named(&self, name: &str) -> Option<Named> {
        match name {
            "g" => Some(Named::Source),
            "graph" => Some(Named::Graph),
            _ => None,
        }
    }

    /// Waits, no longer than the script may run.
    ///
    /// # Errors
    /// As [`Host::check`].
    fn sleep(&self, time: Duration) -> Result<(), QueryError> {
        sleep(time, || self.check())
    }

    /// Ends the transaction of a source; the next write begins another one.
    ///
    /// # Errors
    /// When what was written cannot become part of the graph.
    fn end(&mut self, _source: &Source, _end: TransactionEnd) -> Result<(), QueryError> {
        Ok(())
    }

    /// Reads or changes the schema of a graph: the element as its map of members, or a list.
    ///
    /// # Errors
    /// As the schema's rules say.
    fn schema(&mut self, _graph: &str, _request: &SchemaRequest) -> Result<Value, QueryError> {
        Err(QueryError::Unsupported("The schema in a script".to_owned()))
    }

    /// Says how far a job is.
    ///
    /// # Errors
    /// When the script is no job.
    fn progress(&mut self, _progress: u64) -> Result<(), QueryError> {
        Err(QueryError::Unbound("gremlinJob".to_owned()))
    }
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
    let mut environment = Environment::from(bindings);
    execute_in(script, &mut environment, host).map(Outcome::into_results)
}

/// Runs a script with these variables, which are as the script leaves them afterwards, also when it
/// fails.
///
/// # Errors
/// As its statements say.
pub fn execute_in(
    script: &Script,
    environment: &mut Environment,
    host: &mut dyn Host,
) -> Result<Outcome, QueryError> {
    let mut run = Run {
        environment,
        host,
        steps: 0,
        reads: (Source::Traversal(Text::const_new("g")), Vec::new()),
    };
    run.host.check()?;
    let Some((last, before)) = script.statements.split_last() else {
        return Ok(Outcome::Value(Value::Null));
    };
    let before = run.statements(before, &mut Vec::new())?;
    match before {
        statements::Flow::Next(_) => run.last(last),
        other => run.outcome(other.item()),
    }
}

/// One run of a script.
struct Run<'h> {
    environment: &'h mut Environment,
    host: &'h mut dyn Host,
    /// Steps taken.
    steps: u64,
    /// What the last traversal started from: members of elements are read in the same way.
    reads: (Source, Vec<SourceInstruction>),
}

impl Run<'_> {
    /// The last statement of the script. A traversal that needs nothing computed runs as it is.
    fn last(&mut self, statement: &Statement) -> Result<Outcome, QueryError> {
        if let StatementKind::Expression(Argument::Traversal(traversal))
        | StatementKind::Return(Some(Argument::Traversal(traversal))) = &statement.kind
            && traversal.terminal.is_none()
            && !traversal.steps.is_empty()
            && let Root::Source(name) = &traversal.root
            && self.environment.get(name).is_none()
            && self.is_plain(traversal)
        {
            let source = Source::Traversal(name.clone());
            return self.run(source, traversal, None).map(Outcome::Stream);
        }
        let flow = self.statements(std::slice::from_ref(statement), &mut Vec::new())?;
        self.outcome(flow.item())
    }

    /// What a script comes to whose last value is this.
    fn outcome(&mut self, item: Item) -> Result<Outcome, QueryError> {
        Ok(match item {
            Item::Traversal(lazy) => Outcome::Stream(self.run_lazy(&lazy, None)?),
            Item::Results(results) => {
                Outcome::Stream(results.iter().cloned().map(|value| (value, 1)).collect())
            }
            Item::Nothing => Outcome::Nothing,
            Item::Element(element) => Outcome::Whole(element),
            other => Outcome::Value(self.value_of(other)?),
        })
    }

    /// Counts steps.
    fn step(&mut self, count: u64) -> Result<(), QueryError> {
        let checked = self.steps / CHECK_EVERY;
        self.steps = self.steps.saturating_add(count);
        let most = self.host.steps_max();
        if self.steps > most {
            return Err(QueryError::Limit(format!(
                "A script may take {most} steps: do more of the work in traversals"
            )));
        }
        match self.steps / CHECK_EVERY == checked {
            true => Ok(()),
            false => self.host.check(),
        }
    }

    /// Counts a new text or collection: its members as steps, its bytes as memory.
    fn made(&mut self, value: Value) -> Result<Value, QueryError> {
        match &value {
            Value::Text(text) if text.len() > TEXT_BYTES_MAX => {
                return Err(QueryError::Limit(format!(
                    "A text that a script makes may have {TEXT_BYTES_MAX} bytes"
                )));
            }
            Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Entry(_) => {
                let members = value.members()?;
                self.step(members as u64)?;
            }
            _ => {}
        }
        self.host.hold(bytes_of(&value))?;
        Ok(value)
    }
}

/// Bytes of a value and of its own members, beyond the value itself.
fn bytes_of(value: &Value) -> usize {
    let all = |items: &mut dyn Iterator<Item = &Value>| {
        items.fold(0, |sum, item| sum + size_of::<Value>() + heap(item))
    };
    match value {
        Value::List(items) => all(&mut items.iter()),
        Value::Set(items) => all(&mut items.iter()) * 2,
        Value::Map(map) => all(&mut map.iter().flat_map(|(key, value)| [key, value])) * 2,
        other => heap(other),
    }
}

/// Bytes that copying this value costs.
fn heap(value: &Value) -> usize {
    match value {
        Value::Text(text) if text.is_heap_allocated() => text.len(),
        _ => 0,
    }
}
