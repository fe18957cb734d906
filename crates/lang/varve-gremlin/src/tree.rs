//! The syntax tree of texts and bytecode: scripts of statements, and traversals of steps.
//!
//! [`Argument`] is the one expression type of the language: an argument of a step, or an expression
//! of a script. A tree owns all its data and keeps the width of every number.

use compact_str::CompactString;
use num_bigint::BigInt;
use varve_model::Decimal;
use varve_query::Value;

pub use crate::names::{
    Barrier, Cardinality, Column, Direction, Dt, GType, Merge, Operator, Order, Pick, Pop,
    PredicateName, Scope, SourceName, StepName, T,
};

/// A short text that usually needs no allocation.
pub type Text = CompactString;

/// A range of bytes of the source text; empty for bytecode.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

/// Always true: two trees are equal if they mean the same, wherever they are in a text.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// A script: statements in order. Its result is the value of the last statement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// The statements; none for an empty text.
    pub statements: Vec<Statement>,
}

impl Script {
    /// The traversal that is all of the script; `None` for any other script.
    #[must_use]
    pub fn traversal(&self) -> Option<&Traversal> {
        match self.statements.as_slice() {
            [
                Statement {
                    kind: StatementKind::Expression(Argument::Traversal(traversal)),
                    ..
                },
            ] => Some(traversal),
            _ => None,
        }
    }
}

/// A statement and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The statement.
    pub kind: StatementKind,
    /// Its position.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// Computes a value.
    Expression(Argument),
    /// `def x = e` or `Type x = e`: a variable of the enclosing block.
    Define {
        /// The variable.
        name: Text,
        /// Its initial value; null if absent.
        value: Option<Argument>,
    },
    /// `return e`: ends the script with this value, null without one.
    Return(Option<Argument>),
    /// `if (condition) then else otherwise`.
    If {
        /// The condition.
        condition: Argument,
        /// The statements that run if the condition holds.
        then: Vec<Statement>,
        /// The statements that run otherwise.
        otherwise: Vec<Statement>,
    },
    /// `for (first; condition; each) body`.
    For {
        /// Runs once before the loop.
        first: Option<Box<Statement>>,
        /// The loop continues while this holds; absent = forever.
        condition: Option<Argument>,
        /// Runs after each round.
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
        /// The loop continues while this holds.
        condition: Argument,
        /// The body.
        body: Vec<Statement>,
    },
    /// `try body catch (A | B name) … finally …`.
    Try {
        /// The statements that may throw.
        body: Vec<Statement>,
        /// The handlers, tried in order.
        catches: Vec<Catch>,
        /// The statements that always run last.
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
    /// The names of exception classes; empty = any exception.
    pub classes: Vec<Text>,
    /// The variable for the exception.
    pub name: Text,
    /// The statements of the handler.
    pub body: Vec<Statement>,
}

/// A traversal: a root, a source configuration, steps, and a terminal method.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversal {
    /// The start.
    pub root: Root,
    /// The instructions that configure its source, in order; empty for a nested traversal.
    pub source: Vec<SourceInstruction>,
    /// The steps, including modulators, in order.
    pub steps: Vec<Step>,
    /// The terminal method; absent in nested traversals, and if the text has none.
    pub terminal: Option<Terminal>,
    /// Its position.
    pub span: Span,
}

/// The start of a traversal.
#[derive(Debug, Clone, PartialEq)]
pub enum Root {
    /// Nested: `__.out()`, `out()`. Starts from a value of its parent.
    Anonymous,
    /// A traversal source by name: `g`, an alias, or a variable of the script.
    Source(Text),
    /// A source that the script computes: `graph.traversal()`.
    Computed(Box<Argument>),
}

/// An instruction to the traversal source, such as `withSack(1)`.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceInstruction {
    /// Its name.
    pub name: SourceName,
    /// Its arguments, in one of the forms that `signatures` lists.
    pub arguments: Vec<Argument>,
    /// Its position.
    pub span: Span,
}

/// A step, such as `has('name', gt(3))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: StepName,
    /// Its arguments, in one of the forms that `signatures` lists.
    pub arguments: Vec<Argument>,
    /// Its position.
    pub span: Span,
}

/// The terminal method of a traversal: which results it returns.
#[derive(Debug, Clone, PartialEq)]
pub enum Terminal {
    /// `next()`: the next result; an error if there is none.
    Next,
    /// `next(n)`: up to n results as a list.
    NextMany(Box<Argument>),
    /// `tryNext()`: the next result, or an empty optional.
    TryNext,
    /// `hasNext()`.
    HasNext,
    /// `toList()`.
    ToList,
    /// `toSet()`.
    ToSet,
    /// `toBulkSet()`.
    ToBulkSet,
    /// `iterate()`: runs the traversal and returns no results.
    Iterate,
    /// `explain()`.
    Explain,
}

/// A value, or an expression that computes one.
///
/// The constants of `WithOptions`, `IO`, `ShortestPath`, `PageRank`, `PeerPressure` and
/// `ConnectedComponent` are replaced by their strings and integers, as in bytecode.
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
    /// `1l`, or an integer without suffix that needs 64 bits.
    Long(i64),
    /// `1n`, or an integer without suffix that needs more.
    BigInt(Box<BigInt>),
    /// `1.0f`.
    Float(f32),
    /// `1.0`, `1.0d`, `NaN`, `Infinity`.
    Double(f64),
    /// `1.0m`.
    BigDecimal(Box<Decimal>),
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
    /// `UUID()`: a new random UUID.
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
    /// The name of a binding or of a variable of the script.
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
    /// A strategy with its configuration, or in `withoutStrategies` only its name.
    Strategy(Box<Strategy>),
    /// A reference to a vertex, edge or property, which is not read: `new Vertex(1, 'person')`.
    Element(Box<ElementLiteral>),
    /// An expression of a script.
    Computed(Box<Computed>),
    /// A value computed by a script. No text is parsed into it.
    Value(Value),
}

/// A predicate. `and` and `or` have at least two members, none of the same connective.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// A test with its operands. The operands of `within` and `without` are the members of the
    /// collection; a single variable may be the whole collection.
    Test {
        /// The test's name.
        name: PredicateName,
        /// Its operands.
        arguments: Vec<Argument>,
    },
    /// All of these hold.
    And(Vec<Predicate>),
    /// At least one of these holds.
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
    /// Its position.
    pub span: Span,
}

/// A reference to an element, as an argument.
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

/// An expression of a script and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// The expression.
    pub kind: ComputedKind,
    /// Its position.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputedKind {
    /// `receiver.name(arguments)`. Without a receiver a function: `sleep(200)`.
    Call {
        /// The object; `None` for a function.
        receiver: Option<Argument>,
        /// The method.
        name: Text,
        /// Its arguments.
        arguments: Vec<Argument>,
    },
    /// `receiver.name`.
    Member {
        /// The object.
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
    /// `target = value`. The target is a variable, member or index.
    Assign {
        /// The target.
        target: Argument,
        /// `+` of `+=`.
        operator: Option<BinaryOperator>,
        /// The new value, or the right operand.
        value: Argument,
    },
    /// `x++`, `--x`.
    Step {
        /// The variable, member or index.
        target: Argument,
        /// +1 or -1.
        by: i8,
        /// Whether the expression's value is the one before the step.
        before: bool,
    },
    /// `-x`, `!x`.
    Unary(UnaryOperator, Argument),
    /// `a + b`.
    Binary(BinaryOperator, Argument, Argument),
    /// `condition ? then : otherwise`; `a ?: b` has no `then`.
    Ternary {
        /// The condition.
        condition: Argument,
        /// The value if the condition holds; absent = the condition's own value.
        then: Option<Argument>,
        /// The value otherwise.
        otherwise: Argument,
    },
}

crate::names::names! {
    /// A prefix operator.
    UnaryOperator { Minus = "-", Plus = "+", Not = "!" }
}

crate::names::names! {
    /// An infix operator.
    BinaryOperator {
        Add = "+", Subtract = "-", Multiply = "*", Divide = "/", Remainder = "%", Power = "**",
        Equal = "==", NotEqual = "!=", Less = "<", LessOrEqual = "<=", Greater = ">",
        GreaterOrEqual = ">=", And = "&&", Or = "||", In = "in",
        /// Comparison with the result -1, 0 or 1.
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
    /// Nanoseconds in addition, below 1,000,000,000.
    pub nanoseconds: u32,
}
