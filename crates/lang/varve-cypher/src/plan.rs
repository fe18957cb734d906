//! Plans: pipelines of operators over rows of slots.

pub(crate) mod bulk;
mod early;
pub(crate) mod explain;
pub(crate) mod order;
pub(crate) mod properties;
pub(crate) mod slots;

use std::sync::Arc;

use varve_model::PropertyKeyId;

use crate::expression::{Expr, LabelTest};
use crate::functions::Aggregate;
use crate::tree::{Direction, OnError, PathKind};

/// Operators, each of which reads the rows of the one before it. The first reads the argument: the
/// rows for which the pipeline runs, for a whole query one row without slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipeline {
    pub(crate) ops: Vec<Op>,
}

/// A plan and the subplans of its expressions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) root: Pipeline,
    /// By the number in [`Expr::Subquery`].
    pub(crate) subplans: Vec<Subplan>,
    /// Whether an operator changes the graph.
    pub(crate) writes: bool,
    /// Whether an operator commits what was changed so far.
    pub(crate) commits: bool,
    /// The names of the properties that it reads; `None`: it may read any property.
    pub(crate) properties: Option<Vec<Arc<str>>>,
}

/// A plan that an expression runs. It begins with one row without slots; what it needs of the
/// outer row are its first locals.
#[derive(Debug, Clone)]
pub(crate) struct Subplan {
    pub(crate) pipeline: Pipeline,
    /// The values of its first locals: slots and locals of the outer row, or null if not used.
    pub(crate) inputs: Vec<Expr>,
    /// Whether the values of its first column are read, and not the number of its rows alone.
    pub(crate) reads_value: bool,
}

impl Subplan {
    /// The same inputs, and no operators.
    fn inputs_only(&self) -> Subplan {
        Subplan {
            pipeline: Pipeline::default(),
            inputs: self.inputs.clone(),
            reads_value: self.reads_value,
        }
    }
}

/// An operator. Rows have a fixed number of slots, which [`Op::Extend`], [`Op::Unwind`],
/// [`Op::Project`], [`Op::Aggregate`], [`Op::Union`], [`Op::Apply`], [`Op::Transactions`],
/// [`Op::Call`] and [`Op::Keep`] change.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Adds slots with null.
    Extend(usize),
    /// Adds a slot with each item of a list.
    Unwind(Expr),
    /// Evaluates columns behind the first `kept` slots of the row: all, or none.
    Project { items: Vec<Expr>, kept: usize },
    /// Rows of these slots, in this order.
    Keep(Vec<usize>),
    /// Rows for which the condition is true.
    Filter(Expr),
    /// One row for each group: its keys, then the aggregates.
    Aggregate {
        keys: Vec<Expr>,
        aggregates: Vec<AggregateCall>,
    },
    /// Each row once.
    Distinct,
    /// Rows in an order.
    Sort {
        keys: Vec<SortKey>,
        /// The numbers after `SKIP` and `LIMIT` that follow: only so many rows are needed.
        top: Option<(Option<Expr>, Expr)>,
    },
    /// Rows without the first ones.
    Skip(Expr),
    /// The first rows. `drains`: the input is read to its end, since it writes.
    Limit { count: Expr, drains: bool },
    /// For each batch of rows, the rows of each pipeline.
    Union(Vec<Pipeline>),
    /// The nodes of some labels, in a slot.
    NodeScan(NodeScan),
    /// The relationships with some properties, in a slot.
    RelationshipScan(RelationshipScan),
    /// The relationships of nodes, and the nodes at their other ends.
    Expand(Expand),
    /// Checks the ends of a bound relationship, or binds them.
    Ends(Ends),
    /// Sequences of relationships.
    VarExpand(VarExpand),
    /// The shortest paths between two bound nodes.
    Shortest(Shortest),
    /// Makes a path of bound elements.
    MakePath { path: usize, parts: PathParts },
    /// The rows of a pipeline for each row; a row without any is kept, with its own slots.
    Optional {
        inner: Pipeline,
        /// The slot for the number of the row within its batch.
        number: usize,
    },
    /// The rows of a pipeline whose patterns are matched at a point of valid time.
    At {
        /// `None`: the point at which the operator runs.
        at: Option<Expr>,
        /// Slots of nodes, and those for the same nodes at that point. Rows whose nodes don't exist
        /// there are left out.
        moved: Vec<(usize, usize)>,
        inner: Pipeline,
    },
    /// Runs a subquery for each row.
    Apply(Apply),
    /// Runs a subquery for each row, in transactions of their own. Reads all rows before.
    Transactions(Box<Transactions>),
    /// Calls a procedure for each row.
    Call(ProcedureOp),
    /// Reads all rows before the first is passed on.
    Eager,
    /// Changes the graph: reads all rows, and then each step is done for every row.
    Write(Vec<WriteStep>),
    /// Reads all rows and passes none on.
    Finish,
}

/// An aggregate of a group.
#[derive(Debug, Clone)]
pub(crate) struct AggregateCall {
    pub(crate) function: &'static Aggregate,
    pub(crate) distinct: bool,
    /// The argument, and those that are the same for all rows, such as a percentile.
    pub(crate) arguments: Vec<Expr>,
}

/// An item of `ORDER BY`.
#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub(crate) value: Expr,
    pub(crate) descending: bool,
}

/// A scan of nodes.
#[derive(Debug, Clone)]
pub(crate) struct NodeScan {
    pub(crate) node: usize,
    pub(crate) labels: Option<LabelTest>,
    /// Conditions on properties. The filters behind the scan check them again.
    pub(crate) by: Vec<PropertyLookup>,
    /// The expression whose `elementId` is compared, if one is.
    pub(crate) id: Option<IdLookup>,
    /// Whether the properties are read with the nodes.
    pub(crate) reads_properties: bool,
}

/// A look-up by id: `elementId(n) = value`, `id(n) = value` or `n = value`.
#[derive(Debug, Clone)]
pub(crate) struct IdLookup {
    pub(crate) value: Expr,
    pub(crate) of: IdOf,
    /// Whether the value is a list, any item of which may be the id.
    pub(crate) is_list: bool,
}

/// What the value of a look-up by id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdOf {
    /// The text of `elementId`.
    Text,
    /// The number of `id`.
    Number,
    /// The node itself.
    Node,
}

/// A scan of relationships by an index of their properties. Operators behind it check the type, the
/// properties and the ends again.
#[derive(Debug, Clone)]
pub(crate) struct RelationshipScan {
    pub(crate) relationship: usize,
    pub(crate) types: Option<LabelTest>,
    pub(crate) by: Vec<PropertyLookup>,
}

/// A condition on `element.key` whose value is known before the scan.
#[derive(Debug, Clone)]
pub(crate) struct PropertyLookup {
    pub(crate) key: Arc<str>,
    pub(crate) value: Expr,
    pub(crate) how: LookupBy,
}

/// How a property is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupBy {
    /// `= value`.
    Equal,
    /// `IN value`.
    Among,
    /// `> value` or `>= value`.
    From,
    /// `< value` or `<= value`.
    To,
    /// `STARTS WITH value`.
    Prefix,
}

impl LookupBy {
    /// Whether an index needs an order for it.
    pub(crate) const fn is_range(self) -> bool {
        matches!(self, Self::From | Self::To | Self::Prefix)
    }
}

/// A step along one relationship.
#[derive(Debug, Clone)]
pub(crate) struct Expand {
    pub(crate) from: usize,
    pub(crate) relationship: usize,
    pub(crate) to: usize,
    /// Whether the node in `to` is bound before.
    pub(crate) is_to_bound: bool,
    /// The direction as seen from `from`.
    pub(crate) direction: Direction,
    pub(crate) types: Option<LabelTest>,
    pub(crate) to_labels: Option<LabelTest>,
    /// Slots of relationships, or lists of them, that the relationship must not be.
    pub(crate) unlike: Vec<usize>,
    /// When the relationship is put into its slot.
    pub(crate) keeps_relationship: Use,
    /// Whether the node is put into its slot; otherwise equal rows are counted.
    pub(crate) keeps_to: bool,
    /// What must hold for the node in `to`.
    pub(crate) condition: Option<NodeCondition>,
    /// A second step from the same node, along relationships of the same types. Nothing is kept of
    /// either, so pairs of steps are counted.
    pub(crate) second: Option<Box<Expand>>,
}

/// A condition on a node that is being bound. It reads one property of it, and nothing else that
/// differs between rows.
#[derive(Debug, Clone)]
pub(crate) struct NodeCondition {
    pub(crate) key: PropertyKeyId,
    pub(crate) holds: Expr,
}

/// When a value is used later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Always,
    /// If the relationship begins and ends at one node.
    Loops,
    Never,
}

/// A relationship, or a list of them, that is bound before its pattern.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub(crate) from: usize,
    pub(crate) is_from_bound: bool,
    pub(crate) relationship: usize,
    pub(crate) to: usize,
    pub(crate) is_to_bound: bool,
    pub(crate) direction: Direction,
    pub(crate) types: Option<LabelTest>,
    /// The bounds of the length, if it is a list.
    pub(crate) length: Option<(u64, Option<u64>)>,
    pub(crate) unlike: Vec<usize>,
}

/// A sequence of relationships.
#[derive(Debug, Clone)]
pub(crate) struct VarExpand {
    pub(crate) from: usize,
    /// The slot for the list of relationships, from `from` on or, if `reversed`, to it.
    pub(crate) relationships: usize,
    pub(crate) reversed: bool,
    pub(crate) to: usize,
    pub(crate) is_to_bound: bool,
    pub(crate) direction: Direction,
    pub(crate) types: Option<LabelTest>,
    pub(crate) to_labels: Option<LabelTest>,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    /// A condition on each relationship, which is put into a slot before.
    pub(crate) each: Option<(usize, Expr)>,
    pub(crate) unlike: Vec<usize>,
}

/// A search for shortest paths.
#[derive(Debug, Clone)]
pub(crate) struct Shortest {
    pub(crate) kind: PathKind,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The slot for the list of relationships.
    pub(crate) relationships: usize,
    pub(crate) is_single: bool,
    pub(crate) path: usize,
    pub(crate) direction: Direction,
    pub(crate) types: Option<LabelTest>,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    /// A condition on each relationship, which is put into a slot before.
    pub(crate) each: Option<(usize, Expr)>,
    /// A condition on the path; then all paths are tried, by length.
    pub(crate) filter: Option<Expr>,
    pub(crate) unlike: Vec<usize>,
}

/// The slots of a path: its first node, then each relationship or list of them.
#[derive(Debug, Clone)]
pub(crate) struct PathParts {
    pub(crate) start: usize,
    pub(crate) relationships: Vec<usize>,
}

/// A subquery.
#[derive(Debug, Clone)]
pub(crate) struct Apply {
    /// Begins with one row without slots.
    pub(crate) inner: Pipeline,
    /// The values of its first locals.
    pub(crate) inputs: Vec<Expr>,
    /// Columns that the subquery adds to the row; `None`: it returns nothing, and the row passes.
    pub(crate) columns: Option<usize>,
    /// Whether a row without a result is kept, with nulls.
    pub(crate) optional: bool,
}

/// A subquery in transactions.
#[derive(Debug, Clone)]
pub(crate) struct Transactions {
    pub(crate) apply: Apply,
    /// The rows of each transaction; `None`: the default number.
    pub(crate) rows: Option<Expr>,
    pub(crate) on_error: OnError,
    /// Whether the status of its transaction is added to each row.
    pub(crate) reports: bool,
}

/// A call of a procedure.
#[derive(Debug, Clone)]
pub(crate) struct ProcedureOp {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Expr>,
    /// The columns of the procedure that are added to the row, by number.
    pub(crate) columns: Vec<usize>,
    pub(crate) optional: bool,
    /// Whether it has no columns at all, and each row passes once.
    pub(crate) is_void: bool,
}

/// A change of the graph.
#[derive(Debug, Clone)]
pub(crate) enum WriteStep {
    Create(Box<CreatePattern>),
    Merge(Box<Merge>),
    Set(Vec<SetOp>),
    Remove(Vec<RemoveOp>),
    Delete {
        elements: Vec<Expr>,
        detach: bool,
    },
    /// Runs a pipeline for each item of a list, which is in the slot after the row's.
    Foreach {
        list: Expr,
        width: usize,
        inner: Pipeline,
    },
}

/// Elements to create, nodes first.
#[derive(Debug, Clone, Default)]
pub(crate) struct CreatePattern {
    pub(crate) nodes: Vec<CreateNode>,
    pub(crate) relationships: Vec<CreateRelationship>,
    /// Paths to make of them.
    pub(crate) paths: Vec<(usize, PathParts)>,
}

/// A node to create.
#[derive(Debug, Clone)]
pub(crate) struct CreateNode {
    pub(crate) slot: usize,
    pub(crate) labels: Vec<LabelPart>,
    pub(crate) properties: Option<Expr>,
}

/// A relationship to create.
#[derive(Debug, Clone)]
pub(crate) struct CreateRelationship {
    pub(crate) slot: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: LabelPart,
    pub(crate) properties: Option<Expr>,
}

/// A label, or an expression of a label or of a list of labels.
#[derive(Debug, Clone)]
pub(crate) enum LabelPart {
    Name(Arc<str>),
    Dynamic(Expr),
}

/// `MERGE`.
#[derive(Debug, Clone)]
pub(crate) struct Merge {
    /// Finds the pattern for one row.
    pub(crate) find: Pipeline,
    pub(crate) create: CreatePattern,
    pub(crate) on_create: Vec<SetOp>,
    pub(crate) on_match: Vec<SetOp>,
    /// Expressions of properties, which must not be null.
    pub(crate) not_null: Vec<(Arc<str>, Expr)>,
    /// Slots of bound nodes, which must not be null.
    pub(crate) bound: Vec<usize>,
}

/// An item of `SET`.
#[derive(Debug, Clone)]
pub(crate) enum SetOp {
    Property {
        element: Expr,
        key: Expr,
        value: Expr,
    },
    /// `+=` if `keeps`, else `=`.
    Properties {
        element: Expr,
        map: Expr,
        keeps: bool,
    },
    Labels(LabelChange),
}

/// Labels of a node to add or remove.
#[derive(Debug, Clone)]
pub(crate) struct LabelChange {
    pub(crate) element: Expr,
    pub(crate) labels: Vec<LabelPart>,
    /// Whether the clause names a valid period.
    pub(crate) in_period: bool,
}

/// An item of `REMOVE`.
#[derive(Debug, Clone)]
pub(crate) enum RemoveOp {
    Property { element: Expr, key: Expr },
    Labels(LabelChange),
}
