//! The values of TinkerPop's formats.

use std::net::IpAddr;

use compact_str::CompactString;
use jiff::civil;
use num_bigint::BigInt;
pub use varve_gremlin::tree::{DateTime, Duration};
use varve_model::Decimal;

/// A short text that usually needs no allocation.
pub type Text = CompactString;

/// A value of GraphSON or GraphBinary.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// null
    #[default]
    Null,
    /// A JSON boolean in GraphSON, which has no type for it.
    Bool(bool),
    /// `gx:Byte`.
    Byte(i8),
    /// `gx:Int16`.
    Short(i16),
    /// `g:Int32`.
    Int(i32),
    /// `g:Int64`.
    Long(i64),
    /// `gx:BigInteger`.
    BigInt(Box<BigInt>),
    /// `g:Float`.
    Float(f32),
    /// `g:Double`.
    Double(f64),
    /// `gx:BigDecimal`.
    BigDecimal(Box<Decimal>),
    /// `gx:Char`.
    Char(char),
    /// A string.
    String(Text),
    /// `g:UUID`, most significant byte first.
    Uuid(u128),
    /// `gx:ByteBuffer`.
    Binary(Vec<u8>),
    /// `g:Date`: milliseconds since 1970 UTC.
    Date(i64),
    /// `g:Timestamp`: milliseconds since 1970 UTC.
    Timestamp(i64),
    /// `gx:OffsetDateTime`.
    DateTime(DateTime),
    /// `gx:Duration`.
    Duration(Duration),
    /// A value of another type of `java.time`.
    Temporal(Temporal),
    /// `gx:InetAddress`.
    Address(IpAddr),
    /// `g:Class`: the name of a class.
    Class(Text),
    /// `g:List`.
    List(Vec<Value>),
    /// `g:Set`.
    Set(Vec<Value>),
    /// `g:Map`, in order; keys of any type.
    Map(Vec<(Value, Value)>),
    /// `g:BulkSet`: members with their counts.
    BulkSet(Vec<(Value, i64)>),
    /// `g:Vertex`.
    Vertex(Box<Vertex>),
    /// `g:Edge`.
    Edge(Box<Edge>),
    /// `g:VertexProperty`.
    VertexProperty(Box<VertexProperty>),
    /// `g:Property`.
    Property(Box<Property>),
    /// `g:Path`.
    Path(Path),
    /// `g:Tree`.
    Tree(Tree),
    /// `tinker:graph`.
    Graph(Box<Graph>),
    /// An enum token such as `g:T`.
    Token {
        /// The enum.
        class: TokenClass,
        /// Its member.
        name: Text,
    },
    /// `g:P` or `g:TextP`.
    Predicate {
        /// Its name.
        name: Text,
        /// Its operands.
        operands: Vec<Value>,
    },
    /// `g:Bytecode`.
    Bytecode(Bytecode),
    /// `g:Binding`.
    Binding {
        /// The name.
        key: Text,
        /// The value.
        value: Box<Value>,
    },
    /// `g:Lambda`. It is read only so that the error message can name it.
    Lambda {
        /// Its language.
        language: Text,
        /// Its code.
        script: Text,
        /// The number of its arguments; -1 if it is unknown.
        arguments: i32,
    },
    /// A traversal strategy.
    Strategy {
        /// The name of its class.
        class: Text,
        /// Its configuration.
        configuration: Vec<(Text, Value)>,
    },
    /// `g:Traverser`: a value with a count.
    Traverser {
        /// The count.
        bulk: i64,
        /// The value.
        value: Box<Value>,
    },
    /// `g:Metrics`.
    Metrics(Box<Metrics>),
    /// `g:TraversalMetrics`.
    TraversalMetrics {
        /// The total time in nanoseconds.
        nanoseconds: i64,
        /// The metrics of each step.
        metrics: Vec<Metrics>,
    },
}

/// Dates and times of `java.time` other than `OffsetDateTime` and `Duration`.
#[derive(Debug, Clone, PartialEq)]
pub enum Temporal {
    /// `gx:Instant`: seconds since 1970 UTC, and nanoseconds.
    Instant(i64, u32),
    /// `gx:LocalDate`.
    LocalDate(civil::Date),
    /// `gx:LocalDateTime`.
    LocalDateTime(civil::DateTime),
    /// `gx:LocalTime`.
    LocalTime(civil::Time),
    /// `gx:MonthDay`: month, day.
    MonthDay(i8, i8),
    /// `gx:OffsetTime`: a time and seconds east of UTC.
    OffsetTime(civil::Time, i32),
    /// `gx:Period`: years, months, days.
    Period(i32, i32, i32),
    /// `gx:Year`.
    Year(i32),
    /// `gx:YearMonth`: year, month.
    YearMonth(i32, i8),
    /// `gx:ZonedDateTime`, reduced to the offset that its zone has at this time.
    ZonedDateTime(DateTime),
    /// `gx:ZoneOffset`: seconds east of UTC.
    ZoneOffset(i32),
}

/// A vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertex {
    /// Its id.
    pub id: Value,
    /// Its label.
    pub label: Text,
    /// Its properties. Those of one key are adjacent.
    pub properties: Vec<VertexProperty>,
}

/// An edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Its id.
    pub id: Value,
    /// Its label.
    pub label: Text,
    /// The id of its target.
    pub in_id: Value,
    /// The label of its target.
    pub in_label: Text,
    /// The id of its source.
    pub out_id: Value,
    /// The label of its source.
    pub out_label: Text,
    /// Its properties.
    pub properties: Vec<Property>,
}

/// A property of a vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexProperty {
    /// Its id.
    pub id: Value,
    /// Its key.
    pub label: Text,
    /// Its value.
    pub value: Value,
    /// Its own properties.
    pub properties: Vec<Property>,
}

/// A property of an edge or of a vertex property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its key.
    pub key: Text,
    /// Its value.
    pub value: Value,
}

/// A path: objects, and the labels of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The labels of each object.
    pub labels: Vec<Vec<Text>>,
    /// The objects.
    pub objects: Vec<Value>,
}

/// A tree: keys with their subtrees.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// The branches, in order.
    pub branches: Vec<(Value, Tree)>,
}

/// A graph as a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// Its vertices.
    pub vertices: Vec<Vertex>,
    /// Its edges.
    pub edges: Vec<Edge>,
}

/// The instructions of a traversal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bytecode {
    /// The steps.
    pub steps: Vec<Instruction>,
    /// Instructions that configure the source.
    pub source: Vec<Instruction>,
}

/// A name and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// The name.
    pub name: Text,
    /// The arguments.
    pub arguments: Vec<Value>,
}

/// Metrics of a step of a profiled traversal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// The step's id.
    pub id: Text,
    /// The step's text.
    pub name: Text,
    /// The time in nanoseconds.
    pub nanoseconds: i64,
    /// Counters, such as `traverserCount`.
    pub counts: Vec<(Text, i64)>,
    /// Annotations, such as `percentDur`.
    pub annotations: Vec<(Text, Value)>,
    /// The metrics of its children.
    pub nested: Vec<Metrics>,
}

macro_rules! token_classes {
    ($($variant:ident = $name:literal, $code:literal;)+) => {
        /// The enums whose members are tokens.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are those of the formats")]
        pub enum TokenClass { $($variant),+ }

        impl TokenClass {
            /// All of them.
            pub const ALL: &'static [TokenClass] = &[$(TokenClass::$variant),+];

            /// The name of the enum. Its type in GraphSON is this name after `g:`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(TokenClass::$variant => $name),+ }
            }

            /// The type code in GraphBinary.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(TokenClass::$variant => $code),+ }
            }

            /// The enum of this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<TokenClass> {
                match name { $($name => Some(TokenClass::$variant),)+ _ => None }
            }

            /// The enum with this type code.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<TokenClass> {
                match code { $($code => Some(TokenClass::$variant),)+ _ => None }
            }
        }
    };
}

token_classes! {
    Barrier = "Barrier", 0x13;
    Cardinality = "Cardinality", 0x16;
    Column = "Column", 0x17;
    Direction = "Direction", 0x18;
    Operator = "Operator", 0x19;
    Order = "Order", 0x1A;
    Pick = "Pick", 0x1B;
    Pop = "Pop", 0x1C;
    Scope = "Scope", 0x1F;
    T = "T", 0x20;
    Merge = "Merge", 0x2E;
    Dt = "DT", 0x2F;
    GType = "GType", 0x30;
}

/// Whether this is the name of a `TextP` predicate.
#[must_use]
pub fn is_text_predicate(name: &str) -> bool {
    matches!(
        name,
        "containing"
            | "notContaining"
            | "startingWith"
            | "notStartingWith"
            | "endingWith"
            | "notEndingWith"
            | "regex"
            | "notRegex"
    )
}

/// The entries of a map with string keys; `None` if a key is not a string.
pub(crate) fn named(entries: Vec<(Value, Value)>) -> Option<Vec<(Text, Value)>> {
    let entry = |(key, value)| match key {
        Value::String(key) => Some((key, value)),
        _ => None,
    };
    entries.into_iter().map(entry).collect()
}
