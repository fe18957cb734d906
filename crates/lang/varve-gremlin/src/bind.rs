//! Binds a syntax tree to a query plan.

mod arguments;
mod branches;
mod by;
mod calls;
mod conversions;
mod filters;
mod lists;
mod matching;
mod math;
mod predicates;
mod source;
mod steps;
mod strategies;
mod strings;
mod writes;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use varve_query::plan::{Name, Plan};
use varve_query::{QueryError, QueryOptions, Value};

pub(crate) use arguments::random_uuid;

use crate::tree::{Argument, Text, Traversal};

/// The most steps of a traversal that runs, those of its children included: each step needs space
/// on the stack.
pub const STEPS_MAX: usize = 1_000;
/// The most members of all ranges of a traversal together.
const RANGE_MEMBERS_MAX: u64 = 1_000_000;
/// The most regular expressions of a traversal.
const EXPRESSIONS_MAX: u32 = 100;

/// A bound traversal.
#[derive(Debug, Default)]
pub struct Bound {
    /// The plan.
    pub plan: Plan,
    /// The initial state of the query.
    pub options: QueryOptions,
    /// The `with(key, value)` of the source, in order.
    pub with: Vec<(Text, Value)>,
}

/// The values of variables.
pub trait Variables {
    /// The value of a variable; `None` if there is no such variable.
    fn value(&self, name: &str) -> Option<Value>;
}

/// No variables.
pub struct NoVariables;

impl Variables for NoVariables {
    fn value(&self, _: &str) -> Option<Value> {
        None
    }
}

/// Binds a traversal that starts from a source.
///
/// # Errors
///
/// If a step is used wrongly or is not supported, or the traversal exceeds a limit, such as
/// [`STEPS_MAX`].
pub fn bind(traversal: &Traversal, variables: &dyn Variables) -> Result<Bound, QueryError> {
    bound_by(&Binder::new(variables), traversal)
}

/// As [`bind`], without constructs that take much longer to bind than to parse.
///
/// # Errors
///
/// As [`bind`], and if the traversal has ranges or regular expressions.
pub fn bind_quickly(traversal: &Traversal, variables: &dyn Variables) -> Result<Bound, QueryError> {
    let binder = Binder::new(variables);
    binder.members.set(0);
    binder.expressions.set(0);
    bound_by(&binder, traversal)
}

fn bound_by(binder: &Binder<'_>, traversal: &Traversal) -> Result<Bound, QueryError> {
    let (mut bound, strategies) = binder.source(&traversal.source)?;
    strategies.verify(&traversal.steps)?;
    bound.plan = binder.plan(&traversal.steps)?;
    // Strategies add steps to each step of the plan. Without this limit, the plan could become too
    // large to bind in time.
    counted(&bound.plan)?;
    strategies.apply(&mut bound.plan)?;
    Ok(bound)
}

/// The number of steps of a plan.
///
/// # Errors
///
/// If it exceeds [`STEPS_MAX`].
fn counted(plan: &Plan) -> Result<usize, QueryError> {
    let mut steps = 0;
    plan.walk(&mut |_| steps += 1);
    match steps > STEPS_MAX {
        true => Err(too_many_steps()),
        false => Ok(steps),
    }
}

fn too_many_steps() -> QueryError {
    QueryError::invalid(format!(
        "A traversal may have {STEPS_MAX} steps, those of its children and of strategies included"
    ))
}

/// The value of an argument that computes nothing, such as a literal or a variable.
///
/// # Errors
///
/// If the argument is not a value, a variable has none, or a limit is exceeded.
pub fn value(argument: &Argument, variables: &dyn Variables) -> Result<Value, QueryError> {
    Binder::new(variables).value(argument)
}

/// The state of binding one traversal.
struct Binder<'b> {
    variables: &'b dyn Variables,
    /// The number of members that further ranges may have together.
    members: Cell<u64>,
    /// The number of further regular expressions allowed.
    expressions: Cell<u32>,
    /// Whether `and()` and `or()` without arguments are infix operators, which join the steps on
    /// both sides.
    infix: Cell<bool>,
    /// The labels that the steps bound so far define.
    labels: RefCell<HashSet<Name>>,
}

impl<'b> Binder<'b> {
    fn new(variables: &'b dyn Variables) -> Self {
        Self {
            variables,
            members: Cell::new(RANGE_MEMBERS_MAX),
            expressions: Cell::new(EXPRESSIONS_MAX),
            infix: Cell::new(true),
            labels: RefCell::default(),
        }
    }
}
