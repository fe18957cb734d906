//! The procedures that queries call: those of Neo4j and APOC that clients ask for, with their exact
//! columns. `SHOW` is rewritten into calls of hidden procedures.

mod algorithms;
mod apoc;
mod config;
mod listing;
mod missing;
mod refactor;
mod sample;
mod schema;
mod show;
mod table;
mod traversers;
mod writing;

use std::sync::Arc;

use parking_lot::Mutex;
use varve_cypher::{
    Counters, CypherError, Error, ErrorClass, Graph, Map, ProcedureField, Procedures, Signature,
    Value,
};
use varve_graph::schema::Schema;

pub(crate) use show::rewritten;
use table::{Procedure, TABLE};
pub(crate) use writing::quoted;

use super::failure::needs_graph;
use crate::hugegraph::SchemaSight;

/// What procedures know beside the graph.
pub(crate) struct Catalogue {
    /// The name of the graph, or `system`.
    pub(crate) graph: String,
    /// The graph on which sessions run that name none, as far as clients are concerned.
    pub(crate) home: String,
    /// Whether there is no graph: the database is `system`.
    pub(crate) is_system: bool,
    /// The graphs that the client sees.
    pub(crate) graphs: Vec<String>,
    /// The user; empty without authentication.
    pub(crate) user: String,
    /// The graph's schema, with its indexes.
    pub(crate) schema: Arc<Schema>,
    /// What the client may see of it.
    pub(crate) sight: SchemaSight,
    /// What the procedures of a statement have changed.
    pub(crate) counted: Counted,
}

/// The changes of queries that procedures run.
#[derive(Default)]
pub(crate) struct Counted(Mutex<Counters>);

impl Counted {
    /// The changes so far; then there are none.
    pub(super) fn take(&self) -> Counters {
        std::mem::take(&mut *self.0.lock())
    }

    fn add(&self, counters: Counters) {
        let mut counted = self.0.lock();
        *counted = super::counters::sum(*counted, counters);
    }
}

/// The rows of a call.
type Rows = Result<Vec<Vec<Value>>, CypherError>;

impl Procedures for Catalogue {
    fn signature(&self, name: &str) -> Option<Signature> {
        Some(found(name)?.signature())
    }

    fn is_missing(&self, name: &str) -> bool {
        missing::NAMES.contains(&name)
    }

    fn call(&self, name: &str, arguments: &[Value], graph: &Graph<'_>) -> Rows {
        let procedure = found(name).ok_or_else(|| {
            failed(
                ErrorClass::ProcedureError,
                "ProcedureNotFound",
                format!("there is no procedure {name}"),
            )
        })?;
        if self.is_system && !procedure.works_on_system() {
            return Err(needs_graph(&format!("CALL {name}")));
        }
        (procedure.body)(self, arguments, graph)
    }

    fn counters(&self) -> Counters {
        *self.counted.0.lock()
    }

    fn set_counters(&self, counters: Counters) {
        *self.counted.0.lock() = counters;
    }
}

fn found(name: &str) -> Option<&'static Procedure> {
    TABLE.iter().find(|procedure| procedure.name == name)
}

/// An error of a procedure.
fn failed(class: ErrorClass, detail: &'static str, message: impl Into<String>) -> CypherError {
    Error::run(class, detail, message).into()
}

fn invalid(message: impl Into<String>) -> CypherError {
    failed(ErrorClass::ArgumentError, "InvalidArgumentType", message)
}

/// A list of strings.
fn strings<'s>(items: impl IntoIterator<Item = &'s str>) -> Value {
    Value::list(items.into_iter().map(Value::string).collect())
}

fn map<'s>(entries: impl IntoIterator<Item = (&'s str, Value)>) -> Value {
    let entries = entries.into_iter();
    Value::map(
        entries
            .map(|(key, value)| (Arc::from(key), value))
            .collect(),
    )
}

/// The map in an argument; an absent one is empty.
fn map_argument<'v>(
    arguments: &'v [Value],
    at: usize,
    name: &str,
) -> Result<Option<&'v Map>, CypherError> {
    match arguments.get(at) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Map(map)) => Ok(Some(map)),
        Some(other) => Err(invalid(format!(
            "{name} is a map, not {}",
            other.type_name()
        ))),
    }
}

impl Procedure {
    fn signature(&self) -> Signature {
        let field = |(name, typed): &(&str, &str)| ProcedureField {
            name: (*name).to_owned(),
            typed: table::value_type(typed),
        };
        Signature {
            name: self.name.to_owned(),
            arguments: self.arguments.iter().map(field).collect(),
            required: self.required,
            columns: self.columns.iter().map(field).collect(),
            writes: self.writes,
        }
    }
}
