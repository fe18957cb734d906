//! Matches at other points of valid time than the query's.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::{Instant, Properties, VertexLabelId};

use super::nested::Nested;
use super::{Batch, BoxedOperator, Cx, Nodes, Operator};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::instants::instant_of;
use crate::plan::Pipeline;
use crate::value::{Content, Node, Snapshot, Value};

/// Bytes of a snapshot: a view, and its table of nodes.
const SNAPSHOT_BYTES: usize = 1024;
/// The most snapshots that are kept for later rows; then all are forgotten. Elements keep theirs.
const SNAPSHOTS_MAX: usize = 64;

/// A snapshot of the running query, and the nodes that were met in it.
pub(crate) struct OpenSnapshot {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) nodes: Nodes,
}

/// The snapshots of a query, by their points of valid time: elements of the same point are the
/// same.
#[derive(Default)]
pub(crate) struct Snapshots {
    open: RefCell<BTreeMap<Instant, Rc<OpenSnapshot>>>,
    /// Bytes that are held for those that were forgotten.
    forgotten: Cell<usize>,
}

impl Snapshots {
    fn at(&self, cx: Cx<'_>, at: Instant) -> Outcome<Rc<OpenSnapshot>> {
        if let Some(open) = self.open.borrow().get(&at) {
            return Ok(Rc::clone(open));
        }
        let graph = cx.graph();
        graph.meter.hold(SNAPSHOT_BYTES)?;
        let open = Rc::new(OpenSnapshot {
            snapshot: Arc::new(Snapshot {
                view: graph.view.at_valid(at)?,
            }),
            nodes: Nodes::default(),
        });
        let mut all = self.open.borrow_mut();
        if all.len() >= SNAPSHOTS_MAX {
            // The views live as long as elements that were found in them.
            let views = self.forgotten.get() + SNAPSHOT_BYTES * all.len();
            self.forgotten.set(views);
            graph
                .meter
                .release(all.values().map(|one| one.nodes.bytes()).sum());
            all.clear();
        }
        all.insert(at, Rc::clone(&open));
        drop(all);
        Ok(open)
    }

    /// The bytes that are held for the snapshots and their nodes.
    pub(super) fn bytes(&self) -> usize {
        let open = self.open.borrow();
        let nodes = open.values().map(|open| open.nodes.bytes());
        nodes.sum::<usize>() + SNAPSHOT_BYTES * open.len() + self.forgotten.get()
    }
}

/// A pipeline whose patterns are matched at the point of valid time of each row.
pub(crate) struct At<'p> {
    input: BoxedOperator<'p>,
    at: Option<&'p Expr>,
    moved: &'p [(usize, usize)],
    inner: &'p Pipeline,
    /// The rows of a batch by their points; `None`: the point at which the operator runs.
    waiting: BTreeMap<Option<Instant>, Batch>,
    running: Option<(Option<Rc<OpenSnapshot>>, Nested<'p>)>,
}

impl<'p> At<'p> {
    pub(crate) fn new(
        input: BoxedOperator<'p>,
        (at, moved): (Option<&'p Expr>, &'p [(usize, usize)]),
        inner: &'p Pipeline,
    ) -> At<'p> {
        At {
            input,
            at,
            moved,
            inner,
            waiting: BTreeMap::new(),
            running: None,
        }
    }

    /// Begins to run the rows of a point.
    fn start(&mut self, cx: Cx<'_>, at: Option<Instant>, mut rows: Batch) -> Outcome<()> {
        let open = at.map(|at| cx.shared.snapshots.at(cx, at)).transpose()?;
        for slots in self.moved {
            rows = moved(within(cx, open.as_ref()), &rows, *slots)?;
        }
        self.running = Some((open, Nested::shown(cx, self.inner, rows)));
        Ok(())
    }
}

fn within<'c>(cx: Cx<'c>, open: Option<&'c Rc<OpenSnapshot>>) -> Cx<'c> {
    let open = open.map(|open| &**open);
    Cx {
        snapshot: open.or(cx.snapshot),
        ..cx
    }
}

/// The rows whose node in the slot `from` exists in the snapshot, with it in the slot `to`. Null
/// stays null.
fn moved(cx: Cx<'_>, rows: &Batch, (from, to): (usize, usize)) -> Outcome<Batch> {
    let slots = rows.values().map(|row| match row.get(from) {
        Some(Value::Node(node)) => Some(node),
        _ => None,
    });
    let slots: Vec<Option<&Arc<Node>>> = slots.collect();
    let mut keys: Vec<&[u8]> = slots.iter().flatten().map(|node| &*node.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found: Vec<Option<(VertexLabelId, Properties)>> = vec![None; keys.len()];
    let (view, meter) = (cx.view(), cx.graph().meter);
    view.vertices(&keys, &cx.keys(), meter, &mut |at, label, properties| {
        found[at] = Some((label, properties));
    })?;
    let mut out = Batch::new(rows.width());
    for ((row, count), node) in rows.rows().zip(slots) {
        let value = match node {
            None => row.get(from).cloned().unwrap_or(Value::Null),
            Some(node) => {
                let at = keys.binary_search(&&*node.key).ok();
                let Some((label, properties)) = at.and_then(|at| found[at].as_ref()) else {
                    continue;
                };
                let node = cx.node(&node.key, *label)?;
                let content = Content {
                    label: Some(*label),
                    properties: properties.clone(),
                };
                node.set(cx.graph().changes(), Some(Arc::new(content)));
                Value::Node(node)
            }
        };
        out.push(row, count);
        let last = out.len() - 1;
        if let Some(slot) = out.row_mut(last).get_mut(to) {
            *slot = value;
        }
    }
    Ok(out)
}

impl Operator for At<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        loop {
            if let Some((open, nested)) = &mut self.running {
                if let Some(batch) = nested.next(within(cx, open.as_ref()))? {
                    return Ok(Some(batch));
                }
                self.running = None;
            }
            if let Some((at, rows)) = self.waiting.pop_first() {
                self.start(cx, at, rows)?;
                continue;
            }
            let Some(rows) = self.input.next(cx)? else {
                return Ok(None);
            };
            for (row, count) in rows.rows() {
                let at = self.at.map(|at| instant_of(&cx.evaluate(at, row)?));
                let same = self.waiting.entry(at.transpose()?);
                let same = same.or_insert_with(|| Batch::new(rows.width()));
                same.push(row, count);
            }
        }
    }
}
