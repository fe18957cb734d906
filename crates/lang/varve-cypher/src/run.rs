//! Runs plans: operators that pull rows in batches.

mod at;
mod batch;
pub(crate) mod build;
mod drain;
mod expand;
mod matching;
mod nested;
mod nodes;
mod number;
mod ordered;
mod pages;
mod paths;
mod profile;
mod relationship_scan;
mod remembered;
mod rows;
mod scan;
mod shortest;
mod snapshots;
mod sort;
mod subquery;
mod transactions;
mod unwind;
mod walks;
mod write;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

pub use batch::Batch;
pub(crate) use batch::RowOf;
pub(crate) use nodes::Nodes;
pub use profile::Measured;
pub(crate) use profile::Profile;
pub(crate) use snapshots::{OpenSnapshot, Snapshots};
use varve_model::{PropertyKeyId, VertexLabelId};
use varve_view::GraphView;

use crate::error::Outcome;
use crate::evaluate::{evaluate, truth};
use crate::expression::{Expr, Frame};
use crate::plan::Plan;
use crate::procedures::Procedures;
use crate::temporal::Clock;
use crate::value::{Graph, Map, Node, Snapshot, Value};

/// What a query has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the definition")]
pub struct Counters {
    pub nodes_created: u64,
    pub nodes_deleted: u64,
    pub relationships_created: u64,
    pub relationships_deleted: u64,
    pub properties_set: u64,
    pub labels_added: u64,
    pub labels_removed: u64,
    pub indexes_added: u64,
    pub indexes_removed: u64,
    pub constraints_added: u64,
    pub constraints_removed: u64,
}

impl Counters {
    /// Whether the query has changed something.
    #[must_use]
    pub fn contains_updates(&self) -> bool {
        *self != Counters::default()
    }
}

/// What all operators of a running query share.
pub(crate) struct Shared<'q> {
    pub(crate) graph: Graph<'q>,
    pub(crate) parameters: &'q Map,
    pub(crate) clock: Clock,
    pub(crate) plan: &'q Plan,
    pub(crate) procedures: &'q dyn Procedures,
    pub(crate) counters: Cell<Counters>,
    pub(crate) nodes: Nodes,
    pub(crate) snapshots: Snapshots,
    /// What the operators do, if the query says `PROFILE`.
    pub(crate) profile: Option<Profile>,
    /// See [`Cx::keys`].
    pub(crate) keys: OnceCell<Vec<PropertyKeyId>>,
}

/// What an operator runs in: the query, and the locals of the subquery that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'c> {
    pub(crate) shared: &'c Shared<'c>,
    pub(crate) locals: &'c [Value],
    /// The point of valid time of the `MATCH` that runs, if it names one.
    pub(crate) snapshot: Option<&'c OpenSnapshot>,
}

/// An operator that gives rows.
pub(crate) trait Operator {
    /// Before the first row: whether the rows will come in this order, which may cost more than
    /// another one if all are read.
    fn comes_in(&mut self, _: Cx<'_>, _: &ordered::Order<'_>) -> Outcome<bool> {
        Ok(false)
    }

    /// The next rows; none at the end. A batch may be empty.
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>>;
}

pub(crate) type BoxedOperator<'p> = Box<dyn Operator + 'p>;

impl<'c> Cx<'c> {
    pub(crate) fn graph(&self) -> &'c Graph<'c> {
        &self.shared.graph
    }

    /// Where patterns are matched. Contents of elements are read in their own snapshots.
    pub(crate) fn view(&self) -> &'c dyn GraphView {
        match self.snapshot {
            Some(open) => &*open.snapshot.view,
            None => self.shared.graph.view,
        }
    }

    /// The snapshot of the elements that are matched.
    pub(crate) fn snapshot(&self) -> Option<&'c Arc<Snapshot>> {
        self.snapshot.map(|open| &open.snapshot)
    }

    /// The ids of the property keys that the query reads, ascending.
    pub(crate) fn keys(&self) -> Cow<'c, [PropertyKeyId]> {
        let graph = &self.shared.graph;
        if self.shared.plan.writes {
            // It may have made new ones.
            return Cow::Owned(graph.keys());
        }
        Cow::Borrowed(self.shared.keys.get_or_init(|| {
            let Some(names) = &self.shared.plan.properties else {
                return graph.keys();
            };
            let each = names.iter();
            let keys = each.filter_map(|name| graph.schema.property_key_named(name));
            let mut ids: Vec<PropertyKeyId> = keys.map(|key| key.id).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        }))
    }

    /// The node with this key: the same one as before, if the query only reads.
    pub(crate) fn node(&self, key: &[u8], label: VertexLabelId) -> Outcome<Arc<Node>> {
        let nodes = match self.snapshot {
            Some(open) => &open.nodes,
            None => &self.shared.nodes,
        };
        nodes.of((&self.shared.graph, self.snapshot()), key, label)
    }

    fn frame<'f>(&'f self, row: &'f RowOf<'f>) -> Frame<'f> {
        Frame {
            graph: &self.shared.graph,
            parameters: self.shared.parameters,
            row,
            locals: self.locals.to_vec(),
            clock: &self.shared.clock,
            subplans: self,
        }
    }

    /// The value of an expression for a row.
    pub(crate) fn evaluate(&self, expr: &Expr, row: &[Value]) -> Outcome<Value> {
        match expr {
            Expr::Constant(value) => Ok(value.clone()),
            Expr::Slot(slot) => Ok(row.get(*slot).cloned().unwrap_or(Value::Null)),
            _ => evaluate(expr, &mut self.frame(&RowOf(row))),
        }
    }

    /// Whether a condition is true for a row.
    pub(crate) fn holds(&self, condition: &Expr, row: &[Value]) -> Outcome<bool> {
        truth(condition, &mut self.frame(&RowOf(row)))
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.shared.counters.get();
        change(&mut counters);
        self.shared.counters.set(counters);
    }
}
