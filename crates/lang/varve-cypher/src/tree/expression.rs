//! Expressions.

use super::{LabelExpression, Name, PathPattern, QualifiedName, Query, Span, Text};

/// An expression and its position. Parentheses leave no trace but in the position.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The expression.
    pub kind: ExpressionKind,
    /// Its position, which names a column without an alias.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer, with its sign.
    Integer(i64),
    /// A float, with its sign.
    Float(f64),
    /// A string.
    String(Text),
    /// `$name` or `$0`.
    Parameter(Name),
    /// A variable.
    Variable(Name),
    /// `[a, b]`.
    List(Vec<Expression>),
    /// `{key: value}`.
    Map(Vec<Entry>),
    /// `a.key`.
    Property(Box<Expression>, Name),
    /// `a[b]`.
    Index(Box<Expression>, Box<Expression>),
    /// `a[from..to]`.
    Slice(Box<Expression>, Box<SliceBounds>),
    /// `NOT a`.
    Not(Box<Expression>),
    /// `-a` or `+a`, where a is no number.
    Sign(Sign, Box<Expression>),
    /// Operators of one precedence: `a + b - c`, `a OR b OR c`, `a < b <= c`. They apply from the
    /// left, but a chain of comparisons means `a < b AND b <= c`.
    Chain(Box<Expression>, Vec<ChainLink>),
    /// `a IS …`.
    Is(Box<Expression>, Box<Test>),
    /// `a:Label`.
    HasLabels(Box<Expression>, Box<LabelExpression>),
    /// `f(a, b)`.
    Call(Box<Call>),
    /// `count(*)`.
    CountStar,
    /// `CASE … END`.
    Case(Box<Case>),
    /// `[x IN list WHERE a | b]`.
    ListComprehension(Box<ListComprehension>),
    /// `[(a)-->(b) WHERE c | d]`.
    PatternComprehension(Box<PatternComprehension>),
    /// `n {.key, .*, key: a, variable}`.
    MapProjection(Box<MapProjection>),
    /// `reduce(sum = 0, x IN list | sum + x)`.
    Reduce(Box<Reduce>),
    /// `all(x IN list WHERE a)`.
    Quantified(Box<Quantified>),
    /// `(a)-->(b)`: whether there is such a path, or the path of `shortestPath`.
    Pattern(Box<PathPattern>),
    /// `EXISTS { … }`, `COUNT { … }`, `COLLECT { … }`.
    Subquery(SubqueryKind, Box<Query>),
}

/// A key of a map and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Name,
    /// The value.
    pub value: Expression,
}

/// The bounds of a slice of a list; an absent one is the list's own.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceBounds {
    /// The index of the first item.
    pub from: Option<Expression>,
    /// The index after the last item.
    pub to: Option<Expression>,
}

/// A sign before an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
}

/// An operator and its right operand.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainLink {
    /// The operator.
    pub operator: Operator,
    /// Its right operand.
    pub operand: Expression,
}

macro_rules! operators {
    ($($variant:ident = $text:literal, $precedence:ident;)+) => {
        /// The operators between two operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operator { $(#[doc = concat!("`", $text, "`.")] $variant),+ }

        impl Operator {
            /// The operator as it is printed.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Operator::$variant => $text),+ }
            }

            /// Its precedence.
            #[must_use]
            pub const fn precedence(self) -> Precedence {
                match self { $(Operator::$variant => Precedence::$precedence),+ }
            }
        }
    };
}

operators! {
    Or = "OR", Or;
    Xor = "XOR", Xor;
    And = "AND", And;
    Equal = "=", Comparison;
    NotEqual = "<>", Comparison;
    Less = "<", Comparison;
    LessEqual = "<=", Comparison;
    Greater = ">", Comparison;
    GreaterEqual = ">=", Comparison;
    In = "IN", Predicate;
    StartsWith = "STARTS WITH", Predicate;
    EndsWith = "ENDS WITH", Predicate;
    Contains = "CONTAINS", Predicate;
    Matches = "=~", Predicate;
    Add = "+", Sum;
    Subtract = "-", Sum;
    Concatenate = "||", Sum;
    Multiply = "*", Product;
    Divide = "/", Product;
    Modulo = "%", Product;
    Power = "^", Power;
}

/// The precedences of operators, from the loosest to the tightest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// `OR`.
    Or,
    /// `XOR`.
    Xor,
    /// `AND`.
    And,
    /// `NOT`.
    Not,
    /// `=`, `<` and the like.
    Comparison,
    /// `IN`, `STARTS WITH`, `=~`, `IS NULL` and the like.
    Predicate,
    /// `+`, `-`, `||`.
    Sum,
    /// `*`, `/`, `%`.
    Product,
    /// `^`.
    Power,
    /// A sign.
    Sign,
    /// `a:Label`.
    Label,
    /// A property, an index or a slice.
    Postfix,
    /// Everything else.
    Atom,
}

impl Precedence {
    /// The next tighter precedence.
    #[must_use]
    pub const fn tighter(self) -> Precedence {
        use Precedence::*;
        match self {
            Or => Xor,
            Xor => And,
            And => Not,
            Not => Comparison,
            Comparison => Predicate,
            Predicate => Sum,
            Sum => Product,
            Product => Power,
            Power => Sign,
            Sign => Label,
            Label => Postfix,
            Postfix | Atom => Atom,
        }
    }
}

impl ExpressionKind {
    /// The precedence of the outermost operator.
    #[must_use]
    pub fn precedence(&self) -> Precedence {
        match self {
            ExpressionKind::Chain(_, links) => links
                .first()
                .map_or(Precedence::Or, |link| link.operator.precedence()),
            ExpressionKind::Not(_) => Precedence::Not,
            ExpressionKind::Is(..) => Precedence::Predicate,
            ExpressionKind::Sign(..) => Precedence::Sign,
            ExpressionKind::HasLabels(..) => Precedence::Label,
            ExpressionKind::Property(..)
            | ExpressionKind::Index(..)
            | ExpressionKind::Slice(..) => Precedence::Postfix,
            _ => Precedence::Atom,
        }
    }
}

/// What `IS` tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Whether there is a `NOT`.
    pub negated: bool,
    /// The test.
    pub kind: TestKind,
}

/// The tests of `IS`.
#[derive(Debug, Clone, PartialEq)]
pub enum TestKind {
    /// `IS NULL`.
    Null,
    /// `IS :: TYPE`.
    Type(ValueType),
    /// `IS NORMALIZED`, with the Unicode form, such as `NFC`.
    Normalized(Option<Text>),
}

/// A type of values.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueType {
    /// The values other than null.
    pub kind: TypeKind,
    /// Whether null is excluded.
    pub not_null: bool,
}

/// The kinds of types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// A type with a name.
    Named(TypeName),
    /// `LIST<T>`.
    List(Box<ValueType>),
    /// `A | B`: a value of any of them.
    Union(Vec<ValueType>),
}

macro_rules! type_names {
    ($($variant:ident = $text:literal $(, $other:literal)*;)+) => {
        /// The types with names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TypeName { $(#[doc = concat!("`", $text, "`.")] $variant),+ }

        impl TypeName {
            /// The name as it is printed.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(TypeName::$variant => $text),+ }
            }

            /// All spellings, of which the longest that fits counts.
            pub(crate) const SPELLINGS: &[(&'static str, TypeName)] = &[
                $(($text, TypeName::$variant), $(($other, TypeName::$variant),)*)+
            ];
        }
    };
}

type_names! {
    Nothing = "NOTHING";
    Null = "NULL";
    Boolean = "BOOLEAN", "BOOL";
    String = "STRING", "VARCHAR";
    Integer = "INTEGER", "INT", "INTEGER64", "INT64", "SIGNED INTEGER";
    Float = "FLOAT", "FLOAT64";
    Date = "DATE";
    LocalTime = "LOCAL TIME", "TIME WITHOUT TIMEZONE", "TIME WITHOUT TIME ZONE";
    ZonedTime = "ZONED TIME", "TIME WITH TIMEZONE", "TIME WITH TIME ZONE";
    LocalDateTime = "LOCAL DATETIME", "TIMESTAMP WITHOUT TIMEZONE",
        "TIMESTAMP WITHOUT TIME ZONE";
    ZonedDateTime = "ZONED DATETIME", "TIMESTAMP WITH TIMEZONE", "TIMESTAMP WITH TIME ZONE";
    Duration = "DURATION";
    Point = "POINT";
    Node = "NODE", "VERTEX", "ANY NODE", "ANY VERTEX";
    Relationship = "RELATIONSHIP", "EDGE", "ANY RELATIONSHIP", "ANY EDGE";
    Map = "MAP", "ANY MAP";
    Path = "PATH", "PATHS";
    PropertyValue = "PROPERTY VALUE", "ANY PROPERTY VALUE";
    Any = "ANY", "ANY VALUE";
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: QualifiedName,
    /// Whether an aggregate drops repeated values.
    pub distinct: bool,
    /// Its arguments.
    pub arguments: Vec<Expression>,
}

/// `CASE subject WHEN … THEN … ELSE … END`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The value that is compared; absent if the branches have conditions.
    pub subject: Option<Expression>,
    /// The branches, tried in order; at least one.
    pub branches: Vec<When>,
    /// The value if no branch applies; null if absent.
    pub otherwise: Option<Expression>,
}

/// A branch of `CASE`.
#[derive(Debug, Clone, PartialEq)]
pub struct When {
    /// The values that the subject may equal, or the one condition.
    pub operands: Vec<Expression>,
    /// The value of the branch.
    pub value: Expression,
}

/// `[variable IN list WHERE filter | result]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListComprehension {
    /// The item.
    pub variable: Name,
    /// The list.
    pub list: Expression,
    /// The condition on the item.
    pub filter: Option<Expression>,
    /// The new item; the item itself if absent.
    pub result: Option<Expression>,
}

/// `[pattern WHERE filter | result]`.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternComprehension {
    /// The pattern, whose new variables are local.
    pub pattern: PathPattern,
    /// The condition on a match.
    pub filter: Option<Expression>,
    /// The item for a match.
    pub result: Expression,
}

/// `variable {entries}`.
#[derive(Debug, Clone, PartialEq)]
pub struct MapProjection {
    /// A node, relationship or map.
    pub variable: Name,
    /// What the new map has.
    pub entries: Vec<ProjectionEntry>,
}

/// An entry of a map projection.
#[derive(Debug, Clone, PartialEq)]
pub enum ProjectionEntry {
    /// `.key`: the property of that name.
    Property(Name),
    /// `.*`: all properties.
    All,
    /// `key: value`.
    Entry(Entry),
    /// `variable`: its value by its name.
    Variable(Name),
}

/// `reduce(accumulator = initial, variable IN list | step)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduce {
    /// The accumulator.
    pub accumulator: Name,
    /// Its first value.
    pub initial: Expression,
    /// The item.
    pub variable: Name,
    /// The list.
    pub list: Expression,
    /// The next value of the accumulator.
    pub step: Expression,
}

/// `all(variable IN list WHERE predicate)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantified {
    /// How many items must satisfy the predicate.
    pub quantifier: Quantifier,
    /// The item.
    pub variable: Name,
    /// The list.
    pub list: Expression,
    /// The condition on an item.
    pub predicate: Expression,
}

/// How many items of a list satisfy a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// Each one.
    All,
    /// At least one.
    Any,
    /// None.
    None,
    /// Exactly one.
    Single,
}

/// What a subquery is evaluated to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubqueryKind {
    /// Whether it has a row.
    Exists,
    /// The number of its rows.
    Count,
    /// The list of its rows' values.
    Collect,
}
