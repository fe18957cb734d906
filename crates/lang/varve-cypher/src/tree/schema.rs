//! Commands that change the schema or the databases, and `SHOW`.

use super::{Expression, Name, Projection, ValueType};

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// `CREATE INDEX`.
    CreateIndex(Box<CreateIndex>),
    /// `CREATE CONSTRAINT`.
    CreateConstraint(Box<CreateConstraint>),
    /// `CREATE DATABASE`.
    CreateDatabase(Box<CreateDatabase>),
    /// `DROP INDEX` or `DROP CONSTRAINT`.
    Drop(DropNamed),
    /// `DROP DATABASE`.
    DropDatabase(DropDatabase),
}

/// What a command does if the thing exists, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existence {
    /// It fails.
    #[default]
    Fail,
    /// `IF NOT EXISTS`, `IF EXISTS`: it does nothing.
    Ignore,
    /// `OR REPLACE`: it drops the old one first.
    Replace,
}

/// `CREATE kind INDEX name IF NOT EXISTS FOR target ON by OPTIONS options`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// The kind.
    pub kind: IndexKind,
    /// The name; generated if absent.
    pub name: Option<SchemaName>,
    /// What happens if the index exists.
    pub existence: Existence,
    /// The elements.
    pub target: SchemaTarget,
    /// What of them is indexed.
    pub by: IndexedBy,
    /// The options: a map or a parameter.
    pub options: Option<Expression>,
}

/// The name of an index, constraint or database.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaName {
    /// In the text.
    Name(Name),
    /// In a parameter.
    Parameter(Name),
}

/// The kinds of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// Equality and ranges; the kind of `CREATE INDEX` alone.
    Range,
    /// Strings.
    Text,
    /// Points.
    Point,
    /// Labels and types.
    Lookup,
    /// Words in strings.
    FullText,
    /// Nearest vectors.
    Vector,
}

impl IndexKind {
    /// All kinds.
    pub(crate) const ALL: [IndexKind; 6] = [
        IndexKind::Range,
        IndexKind::Text,
        IndexKind::Point,
        IndexKind::Lookup,
        IndexKind::FullText,
        IndexKind::Vector,
    ];

    /// The word before `INDEX`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            IndexKind::Range => "RANGE",
            IndexKind::Text => "TEXT",
            IndexKind::Point => "POINT",
            IndexKind::Lookup => "LOOKUP",
            IndexKind::FullText => "FULLTEXT",
            IndexKind::Vector => "VECTOR",
        }
    }
}

/// What of the elements an index holds.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexedBy {
    /// `ON (a.x, a.y)`, or `ON EACH [a.x, a.y]` of a full-text index.
    Properties(Vec<Name>),
    /// `ON EACH labels(n)` or `ON EACH type(r)`.
    Labels,
}

/// The elements of an index or constraint: `(n:A|B)` or `()-[r:T]-()`.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaTarget {
    /// Whether they are relationships.
    pub relationships: bool,
    /// The variable.
    pub variable: Name,
    /// The labels or types, of which each element has at least one; all elements if empty.
    pub labels: Vec<Name>,
}

/// `CREATE CONSTRAINT name IF NOT EXISTS FOR target REQUIRE properties IS rule OPTIONS options`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateConstraint {
    /// The name; generated if absent.
    pub name: Option<SchemaName>,
    /// What happens if the constraint exists.
    pub existence: Existence,
    /// The elements.
    pub target: SchemaTarget,
    /// The properties, at least one.
    pub properties: Vec<Name>,
    /// What holds for them.
    pub rule: ConstraintRule,
    /// The options: a map or a parameter.
    pub options: Option<Expression>,
}

/// What a constraint requires.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstraintRule {
    /// `IS UNIQUE`.
    Unique,
    /// `IS KEY`: unique and not null.
    Key,
    /// `IS NOT NULL`.
    NotNull,
    /// `IS :: TYPE`.
    Type(ValueType),
}

/// `DROP INDEX name IF EXISTS`.
#[derive(Debug, Clone, PartialEq)]
pub struct DropNamed {
    /// What is dropped.
    pub kind: NamedKind,
    /// Its name.
    pub name: SchemaName,
    /// What happens if there is none of that name.
    pub existence: Existence,
}

/// What `DROP` drops by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedKind {
    /// An index.
    Index,
    /// A constraint.
    Constraint,
}

/// `CREATE DATABASE name IF NOT EXISTS OPTIONS options WAIT`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateDatabase {
    /// The name of the graph.
    pub name: SchemaName,
    /// What happens if it exists.
    pub existence: Existence,
    /// The options: a map or a parameter.
    pub options: Option<Expression>,
}

/// `DROP DATABASE name IF EXISTS`.
#[derive(Debug, Clone, PartialEq)]
pub struct DropDatabase {
    /// The name of the graph.
    pub name: SchemaName,
    /// What happens if there is none of that name.
    pub existence: Existence,
}

/// `SHOW target YIELD … WHERE … RETURN …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    /// What is listed.
    pub target: ShowTarget,
    /// `YIELD`, with its order, limits and condition; the default columns if absent.
    pub yields: Option<Projection>,
    /// `WHERE` without `YIELD`.
    pub filter: Option<Expression>,
    /// `RETURN`, which only follows `YIELD`.
    pub returns: Option<Projection>,
}

/// What `SHOW` lists.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowTarget {
    /// Indexes, of one kind or all.
    Indexes(Option<IndexKind>),
    /// Constraints.
    Constraints {
        /// Of relationships (`Some(true)`), of nodes (`Some(false)`), or both.
        relationships: Option<bool>,
        /// The kind, or all.
        kind: Option<ConstraintKind>,
    },
    /// Procedures.
    Procedures,
    /// Functions: those built in (`Some(true)`), defined by users (`Some(false)`), or all.
    Functions(Option<bool>),
    /// All databases.
    Databases,
    /// The default database.
    DefaultDatabase,
    /// The database of the user.
    HomeDatabase,
    /// One database.
    Database(SchemaName),
    /// The user of the connection.
    CurrentUser,
}

/// The kinds of constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// `UNIQUENESS`.
    Unique,
    /// `KEY`.
    Key,
    /// `EXISTENCE`.
    Exists,
    /// `PROPERTY TYPE`.
    Type,
}

impl ConstraintKind {
    /// The words before `CONSTRAINTS`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            ConstraintKind::Unique => "UNIQUENESS",
            ConstraintKind::Key => "KEY",
            ConstraintKind::Exists => "EXISTENCE",
            ConstraintKind::Type => "PROPERTY TYPE",
        }
    }
}
