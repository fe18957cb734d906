//! What a query does, step by step: the form that languages bind to and rules rewrite.

mod bounded;
pub mod call;
mod children;
mod fused;
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

/// Steps, each of which takes what the one before gives.
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

    /// Whether a step must see all values before it gives any.
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

    /// Whether a step reports what others did.
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

    /// Calls `visit` for each step, those of children included.
    pub fn walk(&self, visit: &mut dyn FnMut(&Op)) {
        for op in &self.ops {
            visit(op);
            for child in op.children() {
                child.walk(visit);
            }
        }
    }
}

/// What the values of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// Vertices.
    Vertex,
    /// Edges.
    Edge,
}

/// What an expansion gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expanded {
    /// Edges.
    Edges,
    /// The vertices at their other ends.
    Vertices,
}

/// Which end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum End {
    Out,
    In,
    Both,
    Other,
}

/// Whether a step works on the stream or within each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Scope {
    Global,
    Local,
}

/// Which of several values with one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Pop {
    First,
    Last,
    All,
    Mixed,
}

/// What a step reads from each value: `by(…)`.
#[derive(Debug, Clone, Default)]
pub enum By {
    /// The value itself.
    #[default]
    Identity,
    /// A property, or an entry of a map.
    Key(Name),
    /// The id, label, key or value.
    Token(Token),
    /// The keys of a map, or the labels of a path.
    Keys,
    /// The values of a map, or the objects of a path.
    Values,
    /// The first result of a child.
    Child(Plan),
    /// What this reads, and null where it reads nothing.
    OrNull(Box<By>),
}

/// How a step orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Ordering {
    #[default]
    Ascending,
    Descending,
    Shuffled,
}

/// What is made of all values of a stream, or of the members of one value.
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

/// Which child results of a branch go on.
#[derive(Debug, Clone)]
pub enum Choice {
    /// A value that the branch's result equals.
    Value(Value),
    /// A predicate that it satisfies.
    Predicate(Predicate),
    /// A child that it has a result for.
    Child(Plan),
    /// None of the others.
    None,
    /// The branch has no result.
    Unproductive,
    /// Whatever it is.
    Any,
}

/// When a loop tests.
#[derive(Debug, Clone)]
pub struct Modulator {
    /// Before the body instead of after it.
    pub first: bool,
    /// What is tested.
    pub test: LoopTest,
}

/// What a loop tests.
#[derive(Debug, Clone)]
pub enum LoopTest {
    /// Always.
    Always,
    /// The number of completed rounds.
    Times(u32),
    /// A child that has a result.
    Child(Plan),
}

/// Which parts of an element that are no properties a map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the definition")]
pub struct Tokens {
    pub ids: bool,
    pub labels: bool,
}

/// A loop.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// What is repeated.
    pub body: Plan,
    /// When a value leaves.
    pub until: Option<Modulator>,
    /// When a copy of a value leaves.
    pub emit: Option<Modulator>,
    /// The loop's name.
    pub name: Option<Name>,
}

/// One step.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "fields are described with their step")]
pub enum Op {
    /// All elements, or those with these ids; for each value that comes in.
    Source {
        kind: ElementKind,
        /// Ids, or elements.
        ids: Option<Vec<Value>>,
        /// Labels; `None` = all.
        labels: Option<Vec<Name>>,
        /// What an index serves. The step that they come from checks them too.
        conditions: Vec<Condition>,
    },
    /// These values, beside those that come in.
    Inject(Vec<Value>),
    /// Edges or neighbours of vertices. `labels` empty = all; `None` = none that exists.
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
    /// Elements whose property, as a child sees it, gives a result.
    HasPropertyChild { key: Name, child: Plan },
    /// Elements whose id, label, key or value satisfies a predicate.
    HasToken { token: Token, predicate: Predicate },
    /// Elements with a property.
    HasKey(Name),
    /// Elements without a property.
    HasNot(Name),
    /// Values for which a child has a result, or has none.
    Where { child: Plan, not: bool },
    /// Values for which all children have a result, or one of them has.
    Junction { children: Vec<Plan>, all: bool },
    /// Values that compare with labelled ones. `start`: what is compared; the value itself if
    /// absent.
    WhereLabels {
        start: Option<Name>,
        predicate: Predicate,
        by: Vec<By>,
    },
    /// Values that did not come before.
    Dedup {
        labels: Vec<Name>,
        by: Option<By>,
        scope: Scope,
    },
    /// Values from the `low`th up to before the `high`th.
    Range {
        low: u64,
        high: Option<u64>,
        scope: Scope,
    },
    /// The last values.
    Tail { count: u64, scope: Scope },
    /// Values at random.
    Sample {
        count: u64,
        by: Option<By>,
        scope: Scope,
    },
    /// Each value with this probability.
    Coin(f64),
    /// Values whose path has no repeats, or has some.
    SimplePath {
        simple: bool,
        by: Vec<By>,
        from: Option<Name>,
        to: Option<Name>,
    },
    /// Nothing.
    Discard,
    /// The id of an element.
    Id,
    /// The label of an element.
    Label,
    /// Values of properties.
    Values(Vec<Name>),
    /// Properties.
    Properties(Vec<Name>),
    /// A map of properties; `lists`: vertex properties in lists.
    ValueMap {
        keys: Vec<Name>,
        tokens: Tokens,
        by: Option<By>,
    },
    /// A map of properties as properties.
    PropertyMap(Vec<Name>),
    /// A flat map of an element.
    ElementMap(Vec<Name>),
    /// The key of a property or an entry.
    Key,
    /// The value of a property or an entry.
    Value,
    /// This value.
    Constant(Value),
    /// The same.
    Identity,
    /// Gives a value labels.
    As(SmallVec<[Name; 1]>),
    /// Labelled values: one by itself, several as a map.
    Select {
        pop: Option<Pop>,
        labels: Vec<Name>,
        by: Vec<By>,
    },
    /// Keys or values of a map.
    SelectColumn { keys: bool },
    /// What a child's first result names.
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
    /// Adds edges and the vertices that they join to a side effect.
    Subgraph { into: Name },
    /// What a collection holds.
    Unfold,
    /// What is made of all values.
    Reduce { reduce: Reduce, scope: Scope },
    /// Values folded by an operator from a seed.
    FoldWith { seed: Value, operator: Operator },
    /// Values in order.
    Order {
        by: Vec<(By, Ordering)>,
        scope: Scope,
    },
    /// Groups: keys and what is made of the values.
    Group {
        key: By,
        value: By,
        into: Option<Name>,
    },
    /// Groups and their sizes.
    GroupCount { key: By, into: Option<Name> },
    /// Collects values in a side effect.
    Aggregate { into: Name, by: By, scope: Scope },
    /// Side effects: one by itself, several as a map.
    Cap(Vec<Name>),
    /// All values, before any goes on.
    Barrier,
    /// As a barrier; sacks become shares of their sum.
    NormSack,
    /// Results of a child for each value. `first`: only the first of each.
    FlatMap {
        child: Plan,
        first: bool,
        /// Whether results keep the child's way instead of the value's.
        local: bool,
    },
    /// Runs a child for its side effects.
    SideEffect(Plan),
    /// Results of all children.
    Union(Vec<Plan>),
    /// Results of the first child that has some.
    Coalesce(Vec<Plan>),
    /// Results of a child, or the value.
    Optional(Plan),
    /// Results of one child or the other.
    IfThenElse {
        condition: Plan,
        then: Plan,
        otherwise: Plan,
    },
    /// Results of the children whose choice the branch's result meets; `first`: of the first.
    Branch {
        branch: By,
        options: Vec<(Choice, Plan)>,
        first: bool,
    },
    /// A loop.
    Repeat(Box<Repeat>),
    /// Rounds of a loop.
    Loops(Option<Name>),
    /// The sack.
    Sack,
    /// Joins the sack with a value.
    SackWith { operator: Operator, by: By },
    /// A calculation.
    Math { expression: Math, by: Vec<By> },
    /// Each value with its position.
    Index { map: bool },
    /// Ends the query.
    Fail(Name),
    /// A function of one value and constant arguments.
    Function(Function),
    /// A change of the graph.
    Write(Box<write::Write>),
    /// Results of a service.
    Call(Box<call::Call>),
    /// A function of one value and of the first result of each child.
    Combine {
        children: Vec<Plan>,
        function: Combination,
    },
    /// A text with the values of variables in it.
    Format { parts: Vec<FormatPart>, by: Vec<By> },
    /// The element that a property belongs to.
    Element,
    /// Gives a value a label. Where one has it already, the value must equal that one, if `equal`.
    Bind { label: Name, equal: bool },
    /// What has a label; with `map` a map of those labels that something has.
    Bound { labels: Vec<Name>, map: bool },
    /// What the steps before it did, once they have done it: as the result, or as a side effect.
    Profile { into: Option<Name> },
    /// Several steps in one; only rules make it.
    Fused(Fused),
}

/// A part of what `format` makes.
#[derive(Debug, Clone)]
pub enum FormatPart {
    /// This text.
    Text(Name),
    /// The property or the labelled value with this name.
    Variable(Name),
    /// What the next `by` reads.
    Next,
}

/// How two values become one.
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

/// What a [`Function`] does.
pub type Apply = dyn Fn(&Value) -> Result<Option<Value>, QueryError> + Send + Sync;

/// A function of one value.
#[derive(Clone)]
pub struct Function {
    /// What it is called.
    pub name: &'static str,
    /// What it makes; `None` = nothing.
    pub apply: std::sync::Arc<Apply>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What a [`Combination`] does with a value and the results of the children.
pub type Join = dyn Fn(&Value, &[Value]) -> Result<Value, QueryError> + Send + Sync;

/// A function of one value and the results of children.
#[derive(Clone)]
pub struct Combination {
    /// What it is called.
    pub name: &'static str,
    /// What it makes.
    pub apply: std::sync::Arc<Join>,
}

impl std::fmt::Debug for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Op {
    /// Whether this step, or a child that sees its whole stream, must see all values first.
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
