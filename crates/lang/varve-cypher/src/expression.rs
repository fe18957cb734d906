//! Bound expressions: names are slots and locals, functions are entries of the table.

use std::sync::Arc;

use crate::error::Outcome;
use crate::functions::Function;
use crate::temporal::Clock;
use crate::tree::{Quantifier, SubqueryKind, Text, ValueType};
use crate::value::{Graph, Map, Value};

/// An expression whose names are resolved.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Constant(Value),
    Parameter(Text),
    /// A column of the row.
    Slot(usize),
    /// A variable of an enclosing comprehension, quantifier or `reduce`: its place on the stack,
    /// from the outermost, which has 0.
    Local(usize),
    List(Vec<Expr>),
    Map(Vec<(Arc<str>, Expr)>),
    MapProjection(Box<MapProjection>),
    Property(Box<Expr>, Arc<str>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// A `+` before an expression: the operand must be a number.
    Plus(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Vec<Expr>),
    /// `a < b <= c`: each pair of neighbours must satisfy its operator.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a + b - c …`, from the left: flat, since a text may have many operators in a row, and each
    /// would nest one level.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    IsNull(Box<Expr>, Negated),
    IsType(Box<Expr>, Box<ValueType>, Negated),
    HasLabels(Box<Expr>, Box<LabelTest>),
    Call(&'static Function, Vec<Expr>),
    Case(Box<CaseExpr>),
    ListComprehension(Box<ComprehensionExpr>),
    Reduce(Box<ReduceExpr>),
    Quantified(Box<QuantifiedExpr>),
    /// A subquery, pattern predicate or pattern comprehension, by its number in [`Subplans`].
    Subquery(SubqueryKind, usize),
}

impl Expr {
    /// A list or map of constants as a constant, so that it is made once.
    pub(crate) fn folded(self) -> Expr {
        let constant = |item: &Expr| match item {
            Expr::Constant(value) => Some(value.clone()),
            _ => None,
        };
        match self {
            Expr::List(items) => {
                let values: Option<Vec<Value>> = items.iter().map(constant).collect();
                values.map_or(Expr::List(items), |values| {
                    Expr::Constant(Value::list(values))
                })
            }
            Expr::Map(entries) => {
                let values: Option<Map> = entries
                    .iter()
                    .map(|(key, item)| Some((Arc::clone(key), constant(item)?)))
                    .collect();
                values.map_or(Expr::Map(entries), |map| Expr::Constant(Value::map(map)))
            }
            other => other,
        }
    }
}

/// Whether a test has a `NOT`.
pub(crate) type Negated = bool;

/// The operators of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// The other operators of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Concatenate,
    In,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
}

/// A label expression after `:`; of relationships, names are types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LabelTest {
    /// The element has the label, or the type.
    Name(Arc<str>),
    /// The element has some label: `%`.
    Any,
    Not(Box<LabelTest>),
    And(Vec<LabelTest>),
    Or(Vec<LabelTest>),
}

/// `n {.a, .*, key: value}`.
#[derive(Debug, Clone)]
pub(crate) struct MapProjection {
    pub(crate) subject: Expr,
    pub(crate) entries: Vec<ProjectionEntry>,
}

/// An entry of a map projection.
#[derive(Debug, Clone)]
pub(crate) enum ProjectionEntry {
    Property(Arc<str>),
    All,
    Value(Arc<str>, Expr),
}

/// `CASE`.
#[derive(Debug, Clone)]
pub(crate) struct CaseExpr {
    /// Without a subject, operands are conditions.
    pub(crate) subject: Option<Expr>,
    /// Operands, any of which selects the branch, and its value.
    pub(crate) branches: Vec<(Vec<Expr>, Expr)>,
    pub(crate) otherwise: Option<Expr>,
}

/// `[local IN list WHERE filter | result]`.
#[derive(Debug, Clone)]
pub(crate) struct ComprehensionExpr {
    pub(crate) local: usize,
    pub(crate) list: Expr,
    pub(crate) filter: Option<Expr>,
    pub(crate) result: Option<Expr>,
}

/// `reduce(local = initial, local + 1 IN list | step)`.
#[derive(Debug, Clone)]
pub(crate) struct ReduceExpr {
    /// The accumulator's place on the stack; the item's is the next one.
    pub(crate) local: usize,
    pub(crate) initial: Expr,
    pub(crate) list: Expr,
    pub(crate) step: Expr,
}

/// `all(local IN list WHERE predicate)`.
#[derive(Debug, Clone)]
pub(crate) struct QuantifiedExpr {
    pub(crate) quantifier: Quantifier,
    pub(crate) local: usize,
    pub(crate) list: Expr,
    pub(crate) predicate: Expr,
}

/// A row's values by slot.
pub(crate) trait Row {
    /// The value of a slot; null if the row has no such slot.
    fn slot(&self, slot: usize) -> &Value;
}

/// What a missing slot has.
pub(crate) static NULL: Value = Value::Null;

impl Row for [Value] {
    fn slot(&self, slot: usize) -> &Value {
        self.get(slot).unwrap_or(&NULL)
    }
}

impl Row for Vec<Value> {
    fn slot(&self, slot: usize) -> &Value {
        self.get(slot).unwrap_or(&NULL)
    }
}

/// Runs the subqueries of expressions.
pub(crate) trait Subplans {
    /// Runs a subquery for the frame's row and locals. Calls `visit` with the first column of each
    /// of its rows (null if it has no column) and the number of equal rows, until it breaks.
    ///
    /// # Errors
    /// As running a query.
    fn rows(
        &self,
        plan: usize,
        frame: &mut Frame<'_>,
        visit: &mut dyn FnMut(&Value, u64) -> Outcome<varve_view::Flow>,
    ) -> Outcome<()>;
}

/// What an expression is evaluated in.
pub(crate) struct Frame<'a> {
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) parameters: &'a Map,
    pub(crate) row: &'a dyn Row,
    /// The stack of locals.
    pub(crate) locals: Vec<Value>,
    pub(crate) clock: &'a Clock,
    pub(crate) subplans: &'a dyn Subplans,
}
