//! Matches at other points of valid time than the query's.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::{Instant, Properties, VertexLabelId};

use super::nested::Nested;
use super::{Batch, BoxedOperator, Cx, OpenSnapshot, Operator};
use crate::error::Outcome;
use crate::expression::Expr;
use crate::instants::instant_of;
use crate::plan::Pipeline;
use crate::value::{Content, Node, Value};

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
        let open = at
            .map(|at| cx.shared.snapshots.at(cx.graph(), at))
            .transpose()?;
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
