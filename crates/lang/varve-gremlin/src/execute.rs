//! Runs scripts: interprets their tree of statements, whose values are query values only.
//!
//! A script cannot run code of the host. It can only call the closed list of methods in this
//! folder, and traversals, which a [`Host`] runs. The number of its steps is limited, and the
//! values that it makes are charged to the memory of its request.

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

use varve_query::value::{TEXT_BYTES_MAX, too_long};
use varve_query::work::{self, Watched};
use varve_query::{QueryError, Value};

use crate::bind::Bound;
use crate::tree::{Argument, Root, Script, SourceInstruction, Statement, StatementKind, Text};

pub use environment::{Environment, Item, Outcome};
pub use errors::class_of as exception_class;
pub use schema::{SchemaAction, SchemaKind, SchemaRequest};

/// Results, each with its count.
pub type Results = Vec<(Value, u64)>;

/// The most steps of a script: nodes of its tree that it evaluates, and members of collections that
/// it visits.
pub const SCRIPT_STEPS_MAX: u64 = 10_000_000;
/// Steps between two calls of [`Host::check`].
const CHECK_EVERY: u64 = 1_024;
/// The time between two checks of a sleeping script.
const SLEEP_SLICE: Duration = Duration::from_millis(20);

/// Sleeps for `time`. Calls `check` first and then every 20 ms, and ends early if `check` fails.
///
/// # Errors
///
/// Those of `check`.
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

/// The source of a traversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A traversal source by name: `g`.
    Traversal(Text),
    /// A graph by name: `hugegraph.traversal()`.
    Graph(Text),
}

/// The meaning of a global name of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A traversal source.
    Source,
    /// A graph.
    Graph,
}

/// The end of a transaction that the script requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// The changes become part of the graph.
    Commit,
    /// The changes are dropped.
    Rollback,
}

/// The environment in which scripts run: graphs, limits, time.
pub trait Host {
    /// Runs a traversal. Returns at most `most` results; `None` is no limit.
    ///
    /// # Errors
    ///
    /// If there is no such source, and those of the traversal.
    fn run(
        &mut self,
        source: &Source,
        bound: &Bound,
        most: Option<u64>,
    ) -> Result<Results, QueryError>;

    /// Checks whether the script may continue. Called before the first statement, and regularly
    /// afterwards.
    ///
    /// # Errors
    ///
    /// If its deadline has passed, or if it is cancelled.
    fn check(&self) -> Result<(), QueryError>;

    /// Ends work on large values, such as a comparison, when [`Host::check`] would fail. The
    /// default does not.
    fn watched(&self) -> Option<Watched> {
        None
    }

    /// Charges bytes that the script allocated to the request's memory. The default does nothing.
    ///
    /// # Errors
    ///
    /// If its memory limit is exceeded.
    fn hold(&self, _bytes: usize) -> Result<(), QueryError> {
        Ok(())
    }

    /// The most steps that the script may take.
    fn steps_max(&self) -> u64 {
        SCRIPT_STEPS_MAX
    }

    /// The meaning of a name that no variable has; `None` if it has none.
    fn named(&self, name: &str) -> Option<Named> {
        match name {
            "g" => Some(Named::Source),
            "graph" => Some(Named::Graph),
            _ => None,
        }
    }

    /// Sleeps; ends early with an error once [`Host::check`] fails, as after the deadline.
    ///
    /// # Errors
    ///
    /// Those of [`Host::check`].
    fn sleep(&self, time: Duration) -> Result<(), QueryError> {
        sleep(time, || self.check())
    }

    /// Ends the transaction of a source. The next write begins another one. The default does
    /// nothing.
    ///
    /// # Errors
    ///
    /// If the changes cannot be committed.
    fn end(&mut self, _source: &Source, _end: TransactionEnd) -> Result<(), QueryError> {
        Ok(())
    }

    /// Reads or changes the schema of a graph. Returns an element as a map of its members, or a
    /// list of elements.
    ///
    /// # Errors
    ///
    /// Those of the schema's rules. The default always fails: it supports no schema.
    fn schema(&mut self, _graph: &str, _request: &SchemaRequest) -> Result<Value, QueryError> {
        Err(QueryError::Unsupported("The schema in a script".to_owned()))
    }

    /// Reports the progress of a job.
    ///
    /// # Errors
    ///
    /// If the script is not a job, as by default.
    fn progress(&mut self, _progress: u64) -> Result<(), QueryError> {
        Err(QueryError::Unbound("gremlinJob".to_owned()))
    }
}

/// Runs a script. The results are those of its last statement, or of the `return` that ends it: the
/// items of a list or set, the entries of a map, otherwise the one value.
///
/// # Errors
///
/// Those of its statements, and those of [`Host::check`].
pub fn execute(
    script: &Script,
    bindings: HashMap<Text, Value>,
    host: &mut dyn Host,
) -> Result<Results, QueryError> {
    let mut environment = Environment::from(bindings);
    execute_in(script, &mut environment, host).map(Outcome::into_results)
}

/// Runs a script with these variables. Its changes of them stay, even if it fails.
///
/// # Errors
///
/// Those of its statements, and those of [`Host::check`].
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
    let _watched = run.host.watched();
    let outcome = run.all(script);
    run.check_work()?;
    outcome
}

/// One run of a script.
struct Run<'h> {
    environment: &'h mut Environment,
    host: &'h mut dyn Host,
    /// Steps taken so far.
    steps: u64,
    /// The source of the last traversal. Members of elements are read from the same source.
    reads: (Source, Vec<SourceInstruction>),
}

impl Run<'_> {
    fn all(&mut self, script: &Script) -> Result<Outcome, QueryError> {
        let Some((last, before)) = script.statements.split_last() else {
            return Ok(Outcome::Value(Value::Null));
        };
        match self.statements(before, &mut Vec::new())? {
            statements::Flow::Next(_) => self.last(last),
            other => self.outcome(other.item()),
        }
    }

    /// Fails if work was told to stop, so that nothing is made of its answer.
    fn check_work(&self) -> Result<(), QueryError> {
        if !work::is_over() {
            return Ok(());
        }
        self.host.check()?;
        Err(QueryError::View(varve_query::ViewError::Cancelled))
    }

    /// Runs the last statement. A traversal from a source runs directly if no argument in it must
    /// be computed.
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

    /// The outcome of a script whose last value is `item`.
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

    /// Counts steps, and calls [`Host::check`] after every [`CHECK_EVERY`] of them. Fails above
    /// [`Host::steps_max`].
    fn step(&mut self, count: u64) -> Result<(), QueryError> {
        self.check_work()?;
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

    /// Counts a new value: the members of a collection as steps, the bytes of any value as memory.
    /// Refuses a text above [`TEXT_BYTES_MAX`].
    fn made(&mut self, value: Value) -> Result<Value, QueryError> {
        self.counted(&value)?;
        self.host.hold(bytes_of(&value))?;
        Ok(value)
    }

    /// Counts a new value like [`Run::made`], without its bytes.
    fn counted(&mut self, value: &Value) -> Result<(), QueryError> {
        match value {
            Value::Text(text) if text.len() > TEXT_BYTES_MAX => Err(too_long()),
            Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Entry(_) => {
                let members = value.members()?;
                self.step(members as u64)
            }
            _ => Ok(()),
        }
    }
}

/// The estimated heap bytes of a value and of its direct members. Sets and maps count double.
fn bytes_of(value: &Value) -> usize {
    let all = |items: &mut dyn Iterator<Item = &Value>| items.map(member_bytes).sum::<usize>();
    match value {
        Value::List(items) => all(&mut items.iter()),
        Value::Set(items) => all(&mut items.iter()) * 2,
        Value::Map(map) => all(&mut map.iter().flat_map(|(key, value)| [key, value])) * 2,
        Value::Path(path) => all(&mut path.objects.iter()),
        other => heap(other),
    }
}

/// The bytes that a value takes as a member of a collection.
fn member_bytes(value: &Value) -> usize {
    size_of::<Value>() + heap(value)
}

/// Heap bytes that a copy of this value takes: those of a text, and of the key and value of an
/// entry, which a map that takes the entry copies.
fn heap(value: &Value) -> usize {
    match value {
        Value::Text(text) if text.is_heap_allocated() => text.len(),
        Value::Entry(entry) => member_bytes(&entry.0) + member_bytes(&entry.1),
        _ => 0,
    }
}
