//! The syntax tree. It owns its data, and says what a text means, not how it was spelled: aliases
//! of GQL (`INSERT`, `LET`, `FILTER`, `FOR x IN`, `NEXT`, `OFFSET`) are the clauses of Cypher.

mod clause;
mod expression;
mod pattern;
mod schema;

pub use clause::{
    Batches, Branch, Clause, DeleteClause, Foreach, Hint, Imports, MatchClause, MergeClause,
    OnError, Period, ProcedureCall, Projection, ProjectionItem, Query, RemoveItem, SetItem,
    SetLabel, Slice, Sort, SubqueryCall, Times, WriteClause, YieldItem, Yields,
};
pub use expression::{
    Call, Case, ChainLink, Entry, Expression, ExpressionKind, ListComprehension, MapProjection,
    Operator, PatternComprehension, Precedence, ProjectionEntry, Quantified, Quantifier, Reduce,
    Sign, SliceBounds, SubqueryKind, Test, TestKind, TypeKind, TypeName, ValueType, When,
};
pub use pattern::{
    Direction, LabelExpression, Length, NodePattern, PathKind, PathPattern, RelationshipPattern,
};
pub use schema::{
    Command, ConstraintKind, ConstraintRule, CreateConstraint, CreateDatabase, CreateIndex,
    DropDatabase, DropNamed, Existence, IndexKind, IndexedBy, NamedKind, SchemaName, SchemaTarget,
    Show, ShowTarget,
};

use compact_str::CompactString;

/// A short text that usually needs no allocation.
pub type Text = CompactString;

/// A range of bytes of the source text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The part of the text that was parsed; empty if the text is another one.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// Always true: two trees are equal if they mean the same, wherever they are in a text.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// A name and its position: of a variable, label, property, function or procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The name, without backticks.
    pub text: Text,
    /// Its position.
    pub span: Span,
}

/// A name with its namespaces, such as `db.labels`.
#[derive(Debug, Clone, PartialEq)]
pub struct QualifiedName {
    /// The parts between the dots; at least one.
    pub parts: Vec<Name>,
}

impl QualifiedName {
    /// The parts joined with dots, as procedures and functions are registered.
    #[must_use]
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        parts.join(".")
    }

    /// The position of all parts.
    #[must_use]
    pub fn span(&self) -> Span {
        let end = |name: Option<&Name>| name.map(|name| name.span).unwrap_or_default();
        Span {
            start: end(self.parts.first()).start,
            end: end(self.parts.last()).end,
        }
    }
}

/// A statement, with the options before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The options of `CYPHER`, and `EXPLAIN` or `PROFILE`.
    pub options: Options,
    /// What to do.
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// Reads and writes elements.
    Query(Query),
    /// Changes the schema or creates and drops databases.
    Command(Command),
    /// Lists indexes, constraints, procedures, functions or databases.
    Show(Box<Show>),
}

/// What stands before a statement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// `CYPHER 5` or `CYPHER 25`.
    pub version: Option<Version>,
    /// Settings of `CYPHER name=value`, in order; most concern other implementations.
    pub settings: Vec<(Name, Text)>,
    /// Whether the statement runs, and whether its plan is returned.
    pub mode: Mode,
}

/// A version of Cypher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `CYPHER 5`.
    Five,
    /// `CYPHER 25`.
    TwentyFive,
}

/// How a statement is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It runs.
    #[default]
    Run,
    /// `EXPLAIN`: its plan is returned, and it does not run.
    Explain,
    /// `PROFILE`: it runs, and its plan with the rows of each operator is returned too.
    Profile,
}
