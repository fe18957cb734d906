//! Queries and their clauses.

use super::{Expression, Name, PathPattern, QualifiedName, Span};

/// Branches that `UNION` joins; mostly one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// The times of the whole statement; absent in subqueries.
    pub times: Times,
    /// The branches, at least one.
    pub branches: Vec<Branch>,
    /// Whether `UNION ALL` joins the branches, which keeps repeated rows.
    pub union_all: bool,
}

/// The snapshot that a statement reads. The expressions have no variables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Times {
    /// `FOR VALID_TIME AS OF`: when it was true; now if absent.
    pub valid: Option<Expression>,
    /// `FOR SYSTEM_TIME AS OF`: when it was recorded; now if absent.
    pub system: Option<Expression>,
}

/// A sequence of clauses.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The clauses, at least one.
    pub clauses: Vec<Clause>,
    /// Its position.
    pub span: Span,
}

/// A clause of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    /// `USE graph`.
    Use(QualifiedName),
    /// `MATCH`.
    Match(Box<MatchClause>),
    /// `UNWIND list AS variable`, in GQL `FOR variable IN list`.
    Unwind(Expression, Name),
    /// `WITH`, in GQL also `LET` and `FILTER`.
    With(Box<Projection>),
    /// `RETURN`.
    Return(Box<Projection>),
    /// `FINISH`: runs the query and returns no row.
    Finish,
    /// `CREATE`, `SET`, `REMOVE` or `DELETE`.
    Write(Box<WriteClause>, Option<Box<Period>>),
    /// `MERGE`.
    Merge(Box<MergeClause>, Option<Box<Period>>),
    /// `FOREACH (variable IN list | clauses)`.
    Foreach(Box<Foreach>),
    /// `CALL procedure(…)`.
    Call(Box<ProcedureCall>),
    /// `CALL { … }`.
    Subquery(Box<SubqueryCall>),
}

/// `OPTIONAL MATCH patterns hints FOR VALID_TIME slice WHERE filter`.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchClause {
    /// Whether a row without a match is kept, with nulls.
    pub optional: bool,
    /// The patterns, at least one. No two of their relationships are the same.
    pub patterns: Vec<PathPattern>,
    /// The hints to the planner.
    pub hints: Vec<Hint>,
    /// The valid time, if it is not that of the statement.
    pub slice: Option<Slice>,
    /// The condition.
    pub filter: Option<Expression>,
}

/// A part of valid time.
#[derive(Debug, Clone, PartialEq)]
pub enum Slice {
    /// `AS OF at`.
    AsOf(Expression),
    /// `FROM start TO end`, without the end.
    FromTo(Expression, Expression),
    /// `BETWEEN start AND end`, with the end.
    Between(Expression, Expression),
    /// `ALL`.
    All,
}

/// The valid period of what a clause writes: `FOR VALID_TIME FROM start TO end`.
#[derive(Debug, Clone, PartialEq)]
pub struct Period {
    /// The first instant.
    pub from: Expression,
    /// The instant after the last one; without end if absent.
    pub to: Option<Expression>,
}

/// A hint to the planner: `USING …`.
#[derive(Debug, Clone, PartialEq)]
pub enum Hint {
    /// `USING INDEX variable:label(properties)`.
    Index {
        /// The node or relationship.
        variable: Name,
        /// Its label or type.
        label: Name,
        /// The properties of the index.
        properties: Vec<Name>,
    },
    /// `USING SCAN variable:label`.
    Scan {
        /// The node or relationship.
        variable: Name,
        /// Its label or type.
        label: Name,
    },
    /// `USING JOIN ON variables`.
    Join(Vec<Name>),
}

/// What `WITH`, `RETURN` and `YIELD` of `SHOW` pass on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection {
    /// Whether repeated rows are dropped.
    pub distinct: bool,
    /// Whether all variables come first: `*`.
    pub star: bool,
    /// The columns, in order.
    pub items: Vec<ProjectionItem>,
    /// `ORDER BY`.
    pub order: Vec<Sort>,
    /// `SKIP`, in GQL `OFFSET`.
    pub skip: Option<Expression>,
    /// `LIMIT`.
    pub limit: Option<Expression>,
    /// `WHERE`, which only `WITH` and `YIELD` have.
    pub filter: Option<Expression>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectionItem {
    /// The value.
    pub expression: Expression,
    /// The name; the text of the expression's span if absent.
    pub alias: Option<Name>,
}

/// An item of `ORDER BY`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// What is compared.
    pub expression: Expression,
    /// Whether the largest comes first.
    pub descending: bool,
}

/// A clause that changes elements.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteClause {
    /// `CREATE`, in GQL `INSERT`.
    Create(Vec<PathPattern>),
    /// `SET`.
    Set(Vec<SetItem>),
    /// `REMOVE`.
    Remove(Vec<RemoveItem>),
    /// `DELETE`.
    Delete(DeleteClause),
}

/// `DETACH DELETE elements`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteClause {
    /// Whether the relationships of the nodes are deleted too.
    pub detach: bool,
    /// Nodes, relationships and paths.
    pub elements: Vec<Expression>,
}

/// `MERGE pattern ON CREATE SET … ON MATCH SET …`.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    /// The pattern that is matched or created as a whole.
    pub pattern: PathPattern,
    /// What is set if it was created.
    pub on_create: Vec<SetItem>,
    /// What is set if it was matched.
    pub on_match: Vec<SetItem>,
}

/// An item of `SET`.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// `a.key = value` or `a[key] = value`.
    Property(Expression, Expression),
    /// `a = map`: replaces all properties.
    Replace(Name, Expression),
    /// `a += map`: changes the properties of the map.
    Add(Name, Expression),
    /// `a:Label`.
    Labels(Name, Vec<SetLabel>),
}

/// An item of `REMOVE`.
#[derive(Debug, Clone, PartialEq)]
pub enum RemoveItem {
    /// `a.key` or `a[key]`.
    Property(Expression),
    /// `a:Label`.
    Labels(Name, Vec<SetLabel>),
}

/// A label that is set or removed.
#[derive(Debug, Clone, PartialEq)]
pub enum SetLabel {
    /// This one.
    Name(Name),
    /// `$(expression)`: those that the expression names.
    Dynamic(Expression),
}

/// `FOREACH (variable IN list | clauses)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreach {
    /// The item.
    pub variable: Name,
    /// The list.
    pub list: Expression,
    /// The clauses, which only write; at least one.
    pub clauses: Vec<Clause>,
}

/// `OPTIONAL CALL name(arguments) YIELD …`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureCall {
    /// Whether a row without a result is kept, with nulls.
    pub optional: bool,
    /// The procedure.
    pub name: QualifiedName,
    /// The arguments; if absent, parameters named as the procedure's arguments.
    pub arguments: Option<Vec<Expression>>,
    /// The columns that are used.
    pub yields: Option<Yields>,
    /// Its position.
    pub span: Span,
}

/// `YIELD columns WHERE filter`.
#[derive(Debug, Clone, PartialEq)]
pub struct Yields {
    /// The columns; all for `YIELD *`.
    pub items: Option<Vec<YieldItem>>,
    /// The condition.
    pub filter: Option<Expression>,
}

/// A column of a procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct YieldItem {
    /// The column.
    pub column: Name,
    /// The variable, if it has another name.
    pub alias: Option<Name>,
}

/// `OPTIONAL CALL (imports) { query } IN TRANSACTIONS …`.
#[derive(Debug, Clone, PartialEq)]
pub struct SubqueryCall {
    /// Whether a row without a result is kept, with nulls.
    pub optional: bool,
    /// The outer variables that the subquery sees.
    pub imports: Imports,
    /// The subquery.
    pub query: Query,
    /// How many rows one transaction has; all of the statement's if absent.
    pub batches: Option<Batches>,
}

/// The outer variables that a subquery sees.
#[derive(Debug, Clone, PartialEq)]
pub enum Imports {
    /// `CALL { WITH a … }`: those of its first `WITH`.
    LeadingWith,
    /// `CALL (*)`: all.
    All,
    /// `CALL (a, b)`: these.
    Named(Vec<Name>),
}

/// `IN n CONCURRENT TRANSACTIONS OF n ROWS ON ERROR … REPORT STATUS AS v`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batches {
    /// Whether transactions run at the same time.
    pub concurrent: bool,
    /// How many run at the same time.
    pub concurrency: Option<Expression>,
    /// The rows of a transaction.
    pub rows: Option<Expression>,
    /// What follows an error in a transaction; as [`OnError::Fail`] if absent.
    pub on_error: Option<OnError>,
    /// The variable for the status of each transaction.
    pub status: Option<Name>,
}

/// What follows an error in one of the transactions of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The statement fails.
    Fail,
    /// The next transaction runs.
    Continue,
    /// No further transaction runs.
    Break,
}
