//! Procedures that queries call.

use crate::CypherError;
use crate::run::Counters;
use crate::tree::{QualifiedName, ValueType};
use crate::value::{Graph, Value};

/// An argument or a column of a procedure.
#[derive(Debug, Clone)]
pub struct ProcedureField {
    /// Its name.
    pub name: String,
    /// Its type.
    pub typed: ValueType,
}

/// What a procedure takes and gives.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Its name, such as `db.labels`.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<ProcedureField>,
    /// How many of the arguments a call must have.
    pub required: usize,
    /// Its columns; none = it returns no rows.
    pub columns: Vec<ProcedureField>,
    /// Whether it changes the graph.
    pub writes: bool,
}

/// The procedures that a query may call.
pub trait Procedures: Send + Sync {
    /// The signature of a procedure; `None` if there is none of this name.
    fn signature(&self, name: &str) -> Option<Signature>;

    /// Whether a procedure of this name is known, but not supported. Then there is no signature.
    fn is_missing(&self, _name: &str) -> bool {
        false
    }

    /// Calls a procedure: returns rows with a value for each column.
    ///
    /// # Errors
    /// When the arguments are wrong, a limit is exceeded or the store fails.
    fn call(
        &self,
        name: &str,
        arguments: &[Value],
        graph: &Graph<'_>,
    ) -> Result<Vec<Vec<Value>>, CypherError>;

    /// What the procedures have changed since the query began.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Sets [`Procedures::counters`]: later changes were dropped.
    fn set_counters(&self, _: Counters) {}
}

/// No procedures.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProcedures;

impl Procedures for NoProcedures {
    fn signature(&self, _: &str) -> Option<Signature> {
        None
    }

    fn call(&self, name: &str, _: &[Value], _: &Graph<'_>) -> Result<Vec<Vec<Value>>, CypherError> {
        Err(crate::error::not_supported(format!("the procedure {name}")))
    }
}

/// The name of a procedure in a query.
pub(crate) fn name_of(name: &QualifiedName) -> String {
    name.text()
}
