//! The tree that texts and bytecode become: scripts of statements, and traversals of steps.
//!
//! [`Argument`] is the one expression of the language: an argument of a step, and also what a
//! script computes with. A tree refers to nothing but itself and keeps the width of every number.

use bigdecimal::BigDecimal;
use compact_str::CompactString;
use num_bigint::BigInt;
use varve_query::Value;

pub use crate::names::{
    Barrier, Cardinality, Column, Direction, Dt, GType, Merge, Operator, Order, Pick, Pop,
    PredicateName, Scope, SourceName, StepName, T,
};

/// A short text that usually needs no allocation.
pub type Text = CompactString;

/// The bytes of the source text that a node was read from; empty for bytecode.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

/// Two trees are equal if they mean the same, so where a node stood does not count.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// A script: statements in order. Its result is the value of the last one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// The statements; none for an empty text.
    pub statements: Vec<Statement>,
}

/// A statement and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// Computes a value.
    Expression(Argument),
    /// `def x = e` or `Type x = e`: a variable of the block it stands in.
    Define {
        /// The variable.
        name: Text,
        /// Its first value; null without one.
        value: Option<Argument>,
    },
    /// `return e`: ends the script with this value, null without one.
    Return(Option<Argument>),
    /// `if (condition) then else otherwise`.
    If {
        /// What decides.
        condition: Argument,
        /// What runs if it holds.
        then: Vec<Statement>,
        /// What runs if it does not.
        otherwise: Vec<Statement>,
    },
    /// `for (first; condition; each) body`.
    For {
        /// What runs once before the loop.
        first: Option<Box<Statement>>,
        /// What lets the loop go on; absent = for ever.
        condition: Option<Argument>,
        /// What runs after each round.
        each: Option<Argument>,
        /// The body.
        body: Vec<Statement>,
    },
    /// `for (name in items) body`.
    ForIn {
        /// The variable.
        name: Text,
        /// A list, set, map, range or traversal.
        items: Argument,
        /// The body.
        body: Vec<Statement>,
    },
    /// `while (condition) body`.
    While {
        /// What lets the loop go on.
        condition: Argument,
        /// The body.
        body: Vec<Statement>,
    },
    /// `try body catch (A | B name) … finally …`.
    Try {
        /// What is tried.
        body: Vec<Statement>,
        /// What catches, in order.
        catches: Vec<Catch>,
        /// What runs in any case.
        finally: Vec<Statement>,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// One `catch` of a `try`.
#[derive(Debug, Clone, PartialEq)]
pub struct Catch {
    /// The names of exception classes; none = any exception.
    pub classes: Vec<Text>,
    /// The variable that holds the exception.
    pub name: Text,
    /// What runs.
    pub body: Vec<Statement>,
}

/// A traversal: from a root, through steps, to its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversal {
    /// What it starts from.
    pub root: Root,
    /// How its source is configured, in order; empty for a nested traversal.
    pub source: Vec<SourceInstruction>,
    /// The steps, modulators among them, in order.
    pub steps: Vec<Step>,
    /// How the result is asked for; absent in nested traversals and if the text ends without.
    pub terminal: Option<Terminal>,
    /// Where it stands.
    pub span: Span,
}

/// What a traversal starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum Root {
    /// Nested: `__.out()`, `out()`. It starts from what its parent hands in.
    Anonymous,
    /// A traversal source by its name: `g`, an alias, or a variable of the script.
    Source(Text),
    /// A source that the script computes: `graph.traversal()`.
    Computed(Box<Argument>),
}

/// An instruction to the traversal source, such as `withSack(1)`.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceInstruction {
    /// Its name.
    pub name: SourceName,
    /// Its arguments, of one of the forms that `signatures` lists.
    pub arguments: Vec<Argument>,
    /// Where it stands.
    pub span: Span,
}

/// A step, such as `has('name', gt(3))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: StepName,
    /// Its arguments, of one of the forms that `signatures` lists.
    pub arguments: Vec<Argument>,
    /// Where it stands.
    pub span: Span,
}

/// How the result of a traversal is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Terminal {
    /// `next()`: the next result; an error if there is none.
    Next,
    /// `next(n)`: up to n results as a list.
    NextMany(Box<Argument>),
    /// `tryNext()`: the next result or nothing.
    TryNext,
    /// `hasNext()`.
    HasNext,
    /// `toList()`.
    ToList,
    /// `toSet()`.
    ToSet,
    /// `toBulkSet()`.
    ToBulkSet,
    /// `iterate()`: runs for its side effects.
    Iterate,
    /// `explain()`.
    Explain,
}

/// A value or what computes one.
///
/// The constants of `WithOptions`, `IO`, `ShortestPath`, `PageRank`, `PeerPressure` and
/// `ConnectedComponent` are the strings and integers that they stand for, as in bytecode.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `1b`.
    Byte(i8),
    /// `1s`.
    Short(i16),
    /// `1`, `1i`.
    Int(i32),
    /// `1l`, or a bare integer that needs 64 bits.
    Long(i64),
    /// `1n`, or a bare integer that needs more.
    BigInt(Box<BigInt>),
    /// `1.0f`.
    Float(f32),
    /// `1.0`, `1.0d`, `NaN`, `Infinity`.
    Double(f64),
    /// `1.0m`.
    BigDecimal(Box<BigDecimal>),
    /// A Java `char`; from bytecode only.
    Char(char),
    /// `'text'`, `"text"`.
    String(Text),
    /// `datetime('2023-08-02T00:00:00Z')`.
    DateTime(DateTime),
    /// `datetime()`: the time at which the statement runs.
    Now,
    /// A duration; from bytecode only.
    Duration(Duration),
    /// `UUID('…')`.
    Uuid(u128),
    /// `UUID()`: a new random one.
    RandomUuid,
    /// Bytes; from bytecode only.
    Binary(Box<[u8]>),
    /// `[a, b]`.
    List(Vec<Argument>),
    /// `{a, b}`.
    Set(Vec<Argument>),
    /// `[k: v]`, in order; a key may be any value.
    Map(Vec<(Argument, Argument)>),
    /// `a..b`, both ends included; integers or strings.
    Range(Box<(Argument, Argument)>),
    /// A binding, or a variable of the script.
    Variable(Text),
    /// A nested traversal, or a whole one: `g.V().next()`.
    Traversal(Box<Traversal>),
    /// A predicate.
    Predicate(Box<Predicate>),
    /// `T.id`.
    T(T),
    /// `Order.desc`.
    Order(Order),
    /// `Scope.local`.
    Scope(Scope),
    /// `Pop.last`.
    Pop(Pop),
    /// `Column.keys`.
    Column(Column),
    /// `Direction.OUT`.
    Direction(Direction),
    /// `Operator.sum`.
    Operator(Operator),
    /// `Barrier.normSack`.
    Barrier(Barrier),
    /// `Pick.none`.
    Pick(Pick),
    /// `Merge.onCreate`.
    Merge(Merge),
    /// `Cardinality.list`.
    Cardinality(Cardinality),
    /// `Cardinality.list(33)`: a value to be written with this cardinality.
    CardinalityValue(Cardinality, Box<Argument>),
    /// `DT.hour`.
    Dt(Dt),
    /// `GType.INT`.
    GType(GType),
    /// A strategy with its configuration, or in `withoutStrategies` its name alone.
    Strategy(Box<Strategy>),
    /// A vertex, edge or property that is named, not read: `new Vertex(1, 'person')`.
    Element(Box<ElementLiteral>),
    /// What a script computes.
    Computed(Box<Computed>),
    /// A value that a script has computed. No text is read as one.
    Value(Value),
}

/// A predicate. `and` and `or` have at least two members, none of their own kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// A test with its operands. Those of `within` and `without` are the members of the
    /// collection; a sole variable among them may stand for the whole collection.
    Test {
        /// Which test.
        name: PredicateName,
        /// What it compares with.
        arguments: Vec<Argument>,
    },
    /// All of these hold.
    And(Vec<Predicate>),
    /// One of these holds.
    Or(Vec<Predicate>),
    /// This does not hold: `not(p)`, `p.negate()`.
    Not(Box<Predicate>),
}

/// A strategy of the traversal source.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// The class's name without its package, such as `SubgraphStrategy`.
    pub name: Text,
    /// Configuration by key, in order.
    pub configuration: Vec<(Text, Argument)>,
    /// Where it stands.
    pub span: Span,
}

/// An element that an argument names by its id.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementLiteral {
    /// A vertex.
    Vertex {
        /// Its id.
        id: Argument,
        /// Its label.
        label: Argument,
    },
    /// An edge; from bytecode only.
    Edge {
        /// Its id.
        id: Argument,
        /// Its label.
        label: Argument,
    },
    /// A vertex property; from bytecode only.
    VertexProperty {
        /// Its id.
        id: Argument,
        /// Its key.
        key: Argument,
        /// Its value.
        value: Argument,
    },
    /// A property of an edge or of a vertex property; from bytecode only.
    Property {
        /// Its key.
        key: Argument,
        /// Its value.
        value: Argument,
    },
}

/// Something that a script computes, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// How.
    pub kind: ComputedKind,
    /// Where it stands.
    pub span: Span,
}

/// How a script computes a value.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputedKind {
    /// `receiver.name(arguments)`. Without a receiver a function: `sleep(200)`.
    Call {
        /// Whose method.
        receiver: Option<Argument>,
        /// The method.
        name: Text,
        /// Its arguments.
        arguments: Vec<Argument>,
    },
    /// `receiver.name`.
    Member {
        /// Whose member.
        receiver: Argument,
        /// The member.
        name: Text,
    },
    /// `receiver[index]`.
    Index {
        /// A list or map.
        receiver: Argument,
        /// A position, key or range.
        index: Argument,
    },
    /// `target = value`. A target is a variable, member or index.
    Assign {
        /// What is set.
        target: Argument,
        /// `+` of `+=`.
        operator: Option<BinaryOperator>,
        /// To what.
        value: Argument,
    },
    /// `x++`, `--x`.
    Step {
        /// The variable, member or index.
        target: Argument,
        /// +1 or -1.
        by: i8,
        /// Whether the result is the value before.
        before: bool,
    },
    /// `-x`, `!x`.
    Unary(UnaryOperator, Argument),
    /// `a + b`.
    Binary(BinaryOperator, Argument, Argument),
    /// `condition ? then : otherwise`; `a ?: b` has no `then`.
    Ternary {
        /// What decides.
        condition: Argument,
        /// The value if it holds; the condition's own value if absent.
        then: Option<Argument>,
        /// The value if it does not.
        otherwise: Argument,
    },
}

crate::names::names! {
    /// An operator before its operand.
    UnaryOperator { Minus = "-", Plus = "+", Not = "!" }
}

crate::names::names! {
    /// An operator between two operands.
    BinaryOperator {
        Add = "+", Subtract = "-", Multiply = "*", Divide = "/", Remainder = "%", Power = "**",
        Equal = "==", NotEqual = "!=", Less = "<", LessOrEqual = "<=", Greater = ">",
        GreaterOrEqual = ">=", And = "&&", Or = "||", In = "in",
        /// The operator that gives -1, 0 or 1.
        Compare = "<=>",
        /// Appends to a list.
        Append = "<<",
    }
}

/// An instant with the offset it was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds of the second, below 1,000,000,000.
    pub nanoseconds: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Duration {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds beyond them, below 1,000,000,000.
    pub nanoseconds: u32,
}
