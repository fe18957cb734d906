//! Patterns of paths, and label expressions.

use super::{Expression, Name, Span};

/// A path to match or create: `p = (a)-[r:T]->(b)`.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPattern {
    /// The variable of the path.
    pub variable: Option<Name>,
    /// Which of the matching paths count.
    pub kind: PathKind,
    /// The first node.
    pub start: NodePattern,
    /// The relationships, each with the node behind it.
    pub steps: Vec<(RelationshipPattern, NodePattern)>,
    /// Its position.
    pub span: Span,
}

/// Which of the matching paths count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// All of them.
    All,
    /// `shortestPath(…)`: one of the shortest for each pair of ends.
    ShortestPath,
    /// `allShortestPaths(…)`: all of the shortest for each pair of ends.
    AllShortestPaths,
}

/// `(variable:labels {properties} WHERE filter)`.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePattern {
    /// The variable.
    pub variable: Option<Name>,
    /// The labels.
    pub labels: Option<LabelExpression>,
    /// The properties: a map, or a parameter in a pattern to create.
    pub properties: Option<Expression>,
    /// The condition.
    pub filter: Option<Expression>,
    /// Its position.
    pub span: Span,
}

/// `-[variable:types*length {properties} WHERE filter]->`.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationshipPattern {
    /// The variable; of a list if there is a length.
    pub variable: Option<Name>,
    /// The types.
    pub types: Option<LabelExpression>,
    /// How many relationships follow one another; exactly one if absent. Quantifiers of GQL behind
    /// the relationship, such as `{1,3}`, are lengths too.
    pub length: Option<Length>,
    /// The properties of each relationship: a map, or a parameter in a pattern to create.
    pub properties: Option<Expression>,
    /// The condition on each relationship.
    pub filter: Option<Expression>,
    /// The direction.
    pub direction: Direction,
    /// Its position.
    pub span: Span,
}

/// The direction of a relationship in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `-->`.
    Right,
    /// `<--`.
    Left,
    /// `--`.
    Either,
    /// `<-->`, which matches what `--` matches.
    Both,
}

impl Direction {
    /// The direction of the same relationship from its other end.
    pub(crate) const fn reversed(self) -> Direction {
        match self {
            Direction::Right => Direction::Left,
            Direction::Left => Direction::Right,
            other => other,
        }
    }
}

/// `*min..max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The least number of relationships; 1 if absent.
    pub min: Option<u64>,
    /// The largest number of relationships; no limit if absent.
    pub max: Option<u64>,
}

/// Which labels a node has, or which type a relationship.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelExpression {
    /// This one.
    Name(Name),
    /// `%`: any.
    Any,
    /// `$(expression)`, also spelled `$all(expression)`: all that the expression names.
    Dynamic(Box<Expression>),
    /// `$any(expression)`: any of those that the expression names.
    DynamicAny(Box<Expression>),
    /// `!a`.
    Not(Box<LabelExpression>),
    /// `a&b`, also spelled `:a:b`.
    And(Vec<LabelExpression>),
    /// `a|b`, also spelled `:a|:b`.
    Or(Vec<LabelExpression>),
}

impl PathKind {
    /// The function whose argument is the path; empty for all paths.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            PathKind::All => "",
            PathKind::ShortestPath => "shortestPath",
            PathKind::AllShortestPaths => "allShortestPaths",
        }
    }

    /// The kind of the function of this name, in any case.
    pub(crate) fn word(word: &str) -> Option<PathKind> {
        let kinds = [PathKind::ShortestPath, PathKind::AllShortestPaths];
        kinds
            .into_iter()
            .find(|kind| word.eq_ignore_ascii_case(kind.text()))
    }
}
