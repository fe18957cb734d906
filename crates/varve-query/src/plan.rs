//! Query plans: steps in order. Languages bind their text to a plan, and rules rewrite it.

mod bounded;
pub mod call;
mod children;
mod fused;
mod passing;
pub mod write;

use compact_str::CompactString;
use smallvec::SmallVec;

pub use fused::{Counted, Fused};

use crate::predicate::Predicate;
use crate::value::Token;
use crate::{QueryError, Value};
use varve_model::{Condition, Direction};

/// A name that a query gives to a value or a side effect.
pub type Name = CompactString;

/// Steps; the input of each is the output of the step before it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The steps.
    pub ops: Vec<Op>,
}

impl Plan {
    /// A plan of these steps.
    #[must_use]
    pub const fn new(ops: Vec<Op>) -> Self {
        Self { ops }
    }

    /// Whether a step must see its whole input before it gives any output.
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.ops.iter().any(Op::gathers)
    }

    /// Whether a step adds to a side effect.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        let mut has = false;
        self.walk(&mut |op| {
            has |= match op {
                Op::Aggregate { .. } | Op::Subgraph { .. } => true,
                Op::Profile { into }
                | Op::Group { into, .. }
                | Op::GroupCount { into, .. }
                | Op::Tree { into, .. } => into.is_some(),
                _ => false,
            };
        });
        has
    }

    /// Whether a step reports metrics of other steps: `profile()`.
    #[must_use]
    pub(crate) fn profiles(&self) -> bool {
        let mut profiles = false;
        self.walk(&mut |op| profiles |= matches!(op, Op::Profile { .. }));
        profiles
    }

    /// Whether a step changes the graph.
    #[must_use]
    pub fn writes(&self) -> bool {
        let mut writes = false;
        self.walk(&mut |op| writes |= matches!(op, Op::Write(_)));
        writes
    }

    /// Calls `visit` for each step, including the steps of children.
    pub fn walk(&self, visit: &mut dyn FnMut(&Op)) {
        for op in &self.ops {
            visit(op);
            for child in op.children() {
                child.walk(visit);
            }
        }
    }
}

/// The kind of elements that a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// Vertices.
    Vertex,
    /// Edges.
    Edge,
}

/// The kind of elements that an expansion gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expanded {
    /// The edges.
    Edges,
    /// The vertices at the other ends of the edges.
    Vertices,
}

/// Selects ends of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum End {
    Out,
    In,
    Both,
    Other,
}

/// Whether a step works on the whole stream or within each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Scope {
    Global,
    Local,
}

/// Selects among several values with one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Pop {
    First,
    Last,
    All,
    Mixed,
}

/// How a step derives a value from each of its input values: `by(…)`.
#[derive(Debug, Clone, Default)]
pub enum By {
    /// The value itself.
    #[default]
    Identity,
    /// A property, or an entry of a map.
    Key(Name),
    /// As [`By::Key`], but of a vertex only a property for which the child has a result.
    VisibleKey(Name, Plan),
    /// The id, label, key or value.
    Token(Token),
    /// The keys of a map, or the labels of a path.
    Keys,
    /// The values of a map, or the objects of a path.
    Values,
    /// The first result of a child.
    Child(Plan),
    /// The result of the inner `by`, or null if it has none.
    OrNull(Box<By>),
}

/// The direction in which a step orders values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Ordering {
    #[default]
    Ascending,
    Descending,
    Shuffled,
}

/// How all values of a stream, or the members of one value, become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Reduce {
    Count,
    Sum,
    Min,
    Max,
    Mean,
    Fold,
}

/// The condition under which a branch takes an option.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The branch's result equals this value.
    Value(Value),
    /// The branch's result satisfies this predicate.
    Predicate(Predicate),
    /// This child has a result for the branch's result.
    Child(Plan),
    /// No value, predicate or child is met. For a branch that takes the first option, the branch
    /// must have a result.
    None,
    /// The branch has no result.
    Unproductive,
    /// Always.
    Any,
}

/// A condition of a loop, and when it is tested: `until(…)` or `emit(…)`.
#[derive(Debug, Clone)]
pub struct Modulator {
    /// Whether the test is before the body instead of after it.
    pub first: bool,
    /// The test.
    pub test: LoopTest,
}

/// The test of a [`Modulator`]: when it holds.
#[derive(Debug, Clone)]
pub enum LoopTest {
    /// Always.
    Always,
    /// When at least this number of rounds is complete.
    Times(u32),
    /// When this child has a result.
    Child(Plan),
}

/// The parts of an element, beside its properties, that a map of it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the definition")]
pub struct Tokens {
    pub ids: bool,
    pub labels: bool,
}

/// The values of a map of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapOf {
    /// The values of the properties; for a vertex, lists of them.
    Values,
    /// The properties; for a vertex, lists of them.
    Properties,
    /// The id, the label, for an edge also its ends, and one value of each property.
    Whole,
}

/// A map of an element from property names to what [`MapOf`] says.
#[derive(Debug, Clone)]
pub struct ElementMap {
    /// The values of the map.
    pub of: MapOf,
    /// The properties that the map contains; empty = all.
    pub keys: Vec<Name>,
    /// The other parts of the element that the map contains.
    pub tokens: Tokens,
    /// Replaces each value of the map; an entry without a result is omitted.
    pub by: Option<By>,
    /// Omits vertex properties for which this child has no result.
    pub visible: Option<Plan>,
}

/// A loop.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// The steps of one round.
    pub body: Plan,
    /// When a value leaves the loop.
    pub until: Option<Modulator>,
    /// When a copy of a value leaves the loop.
    pub emit: Option<Modulator>,
    /// The loop's name.
    pub name: Option<Name>,
}

/// One step. Each variant is described by the values that it gives.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "fields are described with their step")]
pub enum Op {
    /// All elements, or those with these ids, once for each input value.
    Source {
        kind: ElementKind,
        /// Ids, or elements.
        ids: Option<Vec<Value>>,
        /// Labels; `None` = all.
        labels: Option<Vec<Name>>,
        /// Conditions that an index may serve. The step that they were taken from checks them too.
        conditions: Vec<Condition>,
    },
    /// These values, in addition to the input.
    Inject(Vec<Value>),
    /// Edges or neighbours of vertices. `direction` `None` = both; `labels` empty = all.
    Expand {
        direction: Option<Direction>,
        labels: Vec<Name>,
        to: Expanded,
    },
    /// Ends of edges.
    EndVertex(End),
    /// Values that satisfy a predicate.
    Is(Predicate),
    /// Elements whose property satisfies a predicate.
    HasProperty { key: Name, predicate: Predicate },
    /// Elements with at least one value of a property for which a child has a result.
    HasPropertyChild { key: Name, child: Plan },
    /// Elements whose id, label, key or value satisfies a predicate.
    HasToken { token: Token, predicate: Predicate },
    /// Elements with a property.
    HasKey(Name),
    /// Elements without a property.
    HasNot(Name),
    /// Values for which a child has a result; with `not`, those for which it has none.
    Where { child: Plan, not: bool },
    /// Values for which all children (`all`), or at least one, have a result.
    Junction { children: Vec<Plan>, all: bool },
    /// Values that satisfy a comparison with labelled ones. `start`: the label of the value to
    /// compare; `None` = the input value.
    WhereLabels {
        start: Option<Name>,
        predicate: Predicate,
        by: Vec<By>,
    },
    /// Values, each only once.
    Dedup {
        labels: Vec<Name>,
        by: Option<By>,
        scope: Scope,
    },
    /// Values from position `low` (inclusive) to `high` (exclusive), counted from 0.
    Range {
        low: u64,
        high: Option<u64>,
        scope: Scope,
    },
    /// The last values.
    Tail { count: u64, scope: Scope },
    /// A random selection of `count` values.
    Sample {
        count: u64,
        by: Option<By>,
        scope: Scope,
    },
    /// The input, where each value passes with this probability.
    Coin(f64),
    /// Values whose path has no repeated object (`simple`), or has one.
    SimplePath {
        simple: bool,
        by: Vec<By>,
        from: Option<Name>,
        to: Option<Name>,
    },
    /// Nothing: every value is dropped.
    Discard,
    /// The id of an element.
    Id,
    /// The label of an element.
    Label,
    /// The values of the properties with these names; none given = all.
    Values(Vec<Name>),
    /// The properties with these names; none given = all.
    Properties(Vec<Name>),
    /// A map of an element.
    ElementMap(Box<ElementMap>),
    /// The key of a property or an entry.
    Key,
    /// The value of a property or an entry.
    Value,
    /// This value.
    Constant(Value),
    /// The input, unchanged.
    Identity,
    /// The input, after giving these labels to each value.
    As(SmallVec<[Name; 1]>),
    /// The value of a label; an error if there is none.
    Scoped(Name),
    /// Labelled values: a single one as it is, several as a map.
    Select {
        pop: Option<Pop>,
        labels: Vec<Name>,
        by: Vec<By>,
    },
    /// Keys or values of a map.
    SelectColumn { keys: bool },
    /// The value of a label, or of a map's key. The first result of a child is that label or key.
    SelectChild {
        pop: Option<Pop>,
        child: Plan,
        by: Option<By>,
    },
    /// A map with these keys.
    Project { keys: Vec<Name>, by: Vec<By> },
    /// The path.
    Path {
        by: Vec<By>,
        from: Option<Name>,
        to: Option<Name>,
    },
    /// The tree of all paths.
    Tree { by: Vec<By>, into: Option<Name> },
    /// The input, after adding each edge and its end vertices to a side effect.
    Subgraph { into: Name },
    /// The members of a collection.
    Unfold,
    /// One value, computed from all values.
    Reduce { reduce: Reduce, scope: Scope },
    /// One value: all values folded by an operator, from a seed.
    FoldWith { seed: Value, operator: Operator },
    /// Values in order.
    Order {
        by: Vec<(By, Ordering)>,
        scope: Scope,
    },
    /// A map of groups: each key with the values of its group, reduced by `value`.
    Group {
        key: By,
        value: By,
        into: Option<Name>,
    },
    /// A map of groups: each key with the size of its group.
    GroupCount { key: By, into: Option<Name> },
    /// The input, after collecting the values in a side effect.
    Aggregate { into: Name, by: By, scope: Scope },
    /// Side effects: a single one as it is, several as a map.
    Cap(Vec<Name>),
    /// The input, which passes only after all of it has come.
    Barrier,
    /// As [`Op::Barrier`], and divides each sack by the sum of all sacks.
    NormSack,
    /// Results of a child for each value. `first`: only the first result for each value.
    FlatMap {
        child: Plan,
        first: bool,
        /// Whether a result has the child's path and sack instead of the value's.
        local: bool,
    },
    /// The input, after running a child for its side effects.
    SideEffect(Plan),
    /// Results of all children for each value.
    Union(Vec<Plan>),
    /// Results of the first child that has any.
    Coalesce(Vec<Plan>),
    /// Results of a child, or the value itself if there are none.
    Optional(Plan),
    /// Results of `then` if `condition` has a result, else of `otherwise`.
    IfThenElse {
        condition: Plan,
        then: Plan,
        otherwise: Plan,
    },
    /// Results of the options whose choice the branch's result meets; `first`: only of the first
    /// such option.
    Branch {
        branch: By,
        options: Vec<(Choice, Plan)>,
        first: bool,
    },
    /// The values that leave a loop.
    Repeat(Box<Repeat>),
    /// The number of completed rounds of a loop; `None` = the innermost.
    Loops(Option<Name>),
    /// The sack.
    Sack,
    /// The input, after combining each sack with the value that `by` reads.
    SackWith { operator: Operator, by: By },
    /// The result of a calculation.
    Math { expression: Math, by: Vec<By> },
    /// Members of each value with their positions: pairs, or with `map` a map by position.
    Index { map: bool },
    /// Nothing: the query fails with this message as soon as a value comes.
    Fail(Name),
    /// The result of a function of one value; its other arguments are constant.
    Function(Function),
    /// The results of a change of the graph.
    Write(Box<write::Write>),
    /// Results of a service.
    Call(Box<call::Call>),
    /// The result of a function of one value and of the first result of each child.
    Combine {
        children: Vec<Plan>,
        function: Combination,
    },
    /// A text that contains the values of variables.
    Format { parts: Vec<FormatPart>, by: Vec<By> },
    /// The element that a property belongs to.
    Element,
    /// The input, after giving a label to each value. With `equal`, a value that differs from the
    /// one that has the label already is dropped.
    Bind { label: Name, equal: bool },
    /// The value that has a label; with `map`, a map with an entry for each label that has a value.
    Bound { labels: Vec<Name>, map: bool },
    /// The metrics of the steps before it, after they have finished: as the result, or as a side
    /// effect.
    Profile { into: Option<Name> },
    /// Several steps in one; only rules create it.
    Fused(Fused),
}

/// A part of the text that `format` makes.
#[derive(Debug, Clone)]
pub enum FormatPart {
    /// This text.
    Text(Name),
    /// The property or the labelled value with this name.
    Variable(Name),
    /// The value that the next `by` reads.
    Next,
}

/// An operator that combines two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Operator {
    Assign,
    Sum,
    Minus,
    Mult,
    Div,
    Min,
    Max,
    And,
    Or,
    AddAll,
}

/// The functions that calculations may use.
pub const MATH_FUNCTIONS: &[&str] = &[
    "abs", "acos", "asin", "atan", "cbrt", "ceil", "cos", "cosh", "exp", "floor", "log", "log10",
    "log2", "signum", "sin", "sinh", "sqrt", "tan", "tanh",
];

/// A calculation over named values; `_` is the value itself.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Math {
    Number(f64),
    Variable(Name),
    Negate(Box<Math>),
    Binary(char, Box<Math>, Box<Math>),
    Function(Name, Box<Math>),
}

/// The implementation of a [`Function`].
pub type Apply = dyn Fn(&Value) -> Result<Option<Value>, QueryError> + Send + Sync;

/// A function of one value.
#[derive(Clone)]
pub struct Function {
    /// The function's name.
    pub name: &'static str,
    /// Computes the result; `None` = no result.
    pub apply: std::sync::Arc<Apply>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The implementation of a [`Combination`], from a value and the results of the children.
pub type Join = dyn Fn(&Value, &[Value]) -> Result<Value, QueryError> + Send + Sync;

/// A function of one value and the results of children.
#[derive(Clone)]
pub struct Combination {
    /// The function's name.
    pub name: &'static str,
    /// Computes the result.
    pub apply: std::sync::Arc<Join>,
}

impl std::fmt::Debug for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Op {
    /// Whether this step, or a child that gets the whole stream, must see all input before it gives
    /// output.
    #[must_use]
    pub fn gathers(&self) -> bool {
        match self {
            Self::Tail { scope, .. }
            | Self::Sample { scope, .. }
            | Self::Order { scope, .. }
            | Self::Aggregate { scope, .. }
            | Self::Reduce { scope, .. } => *scope == Scope::Global,
            Self::Write(_)
            | Self::Barrier
            | Self::NormSack
            | Self::Cap(_)
            | Self::Profile { .. }
            | Self::Group { .. }
            | Self::GroupCount { .. }
            | Self::Tree { .. }
            | Self::Subgraph { .. }
            | Self::FoldWith { .. } => true,
            Self::Union(plans) => plans.iter().any(Plan::gathers),
            Self::IfThenElse {
                then, otherwise, ..
            } => then.gathers() || otherwise.gathers(),
            Self::Branch { options, .. } => options.iter().any(|(_, plan)| plan.gathers()),
            Self::Repeat(_) => true,
            Self::Fused(fused) => !matches!(fused, Fused::Few { .. }),
            _ => false,
        }
    }
}
