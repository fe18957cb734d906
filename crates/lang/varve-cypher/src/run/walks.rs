//! Sequences of relationships of a length that the pattern bounds.

use std::rc::Rc;
use std::sync::Arc;

use super::batch::ROWS;
use super::matching::{is_used, node_of};
use super::paths::{Adjacency, EachCondition, Step};
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::filters::{LabelFilter, Types};
use crate::plan::VarExpand;
use crate::value::{Node, Relationship, Value};

/// Rows that are given first: few, so that a small limit walks little.
const ROWS_MIN: usize = 16;

/// Walks sequences of relationships. One node may begin more walks than fit the memory, so they are
/// made as rows are asked for.
pub(crate) struct Walks<'p> {
    input: BoxedOperator<'p>,
    expand: &'p VarExpand,
    /// Input rows, and how many of them have begun.
    waiting: (Batch, usize),
    /// The relationships that the walks of these rows have read.
    adjacency: Option<Adjacency<'p>>,
    /// The walk of the last row that has begun.
    walk: Option<Walk<'p>>,
    /// Rows that are given at once.
    at_once: usize,
    /// Bytes of the rows that were given last.
    held: usize,
}

impl<'p> Walks<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, expand: &'p VarExpand) -> Walks<'p> {
        Walks {
            input,
            expand,
            waiting: (Batch::default(), 0),
            adjacency: None,
            walk: None,
            at_once: ROWS_MIN,
            held: 0,
        }
    }

    /// Begins the walk of the next row; `false` at the end of the input.
    fn begin(&mut self, cx: Cx<'_>) -> Outcome<bool> {
        let (batch, begun) = &mut self.waiting;
        if *begun == batch.len() {
            // Later rows may follow changes of the graph.
            let read = self.adjacency.take();
            cx.graph().meter.release(read.map_or(0, |read| read.held));
            match self.input.next(cx)? {
                Some(next) => (*batch, *begun) = (next, 0),
                None => return Ok(false),
            }
        }
        let (expand, at) = (self.expand, *begun);
        if at < batch.len() {
            *begun += 1;
            let row = batch.row(at);
            let is_to_null = expand.is_to_bound && node_of(row.get(expand.to))?.is_none();
            if let (Some(from), false) = (node_of(row.get(expand.from))?, is_to_null) {
                self.walk = Some(Walk::new(expand, (row, batch.count(at)), from));
            }
        }
        Ok(true)
    }
}

impl Operator for Walks<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let meter = cx.graph().meter;
        meter.release(std::mem::take(&mut self.held));
        let mut out: Option<Batch> = None;
        let given = |out: &Option<Batch>| out.as_ref().map_or(0, Batch::len);
        while given(&out) < self.at_once {
            let Some(walk) = &mut self.walk else {
                // Rows are given before more of the input is read.
                let is_done = self.waiting.1 == self.waiting.0.len();
                if is_done && given(&out) > 0 || !self.begin(cx)? {
                    break;
                }
                continue;
            };
            meter.check()?;
            let expand = self.expand;
            let read = self.adjacency.get_or_insert_with(|| {
                let types = Types::new(expand.types.as_ref(), cx.graph().schema);
                Adjacency::new(types, expand.direction)
            });
            let rows = out.get_or_insert_with(|| Batch::new(walk.row.len()));
            if walk.run(cx, read, rows, (self.at_once, &mut self.held))? {
                self.walk = None;
            }
        }
        self.at_once = (self.at_once * 4).min(ROWS);
        Ok(out.filter(|out| !out.is_empty()))
    }
}

/// The walks from the node of one row, depth first.
struct Walk<'p> {
    expand: &'p VarExpand,
    row: Vec<Value>,
    count: u64,
    labels: LabelFilter<'p>,
    each: EachCondition<'p>,
    path: Vec<Arc<Relationship>>,
    /// The node where the walks begin, until they do.
    from: Option<Arc<Node>>,
    /// For each node of the path, its steps and how many of them were taken.
    stack: Vec<(Rc<Vec<Step>>, usize)>,
}

impl<'p> Walk<'p> {
    fn new(expand: &'p VarExpand, (row, count): (&[Value], u64), from: &Arc<Node>) -> Walk<'p> {
        Walk {
            expand,
            row: row.to_vec(),
            count,
            labels: LabelFilter::new(expand.to_labels.as_ref()),
            each: EachCondition::new(expand.each.as_ref(), row),
            path: Vec::new(),
            from: Some(Arc::clone(from)),
            stack: Vec::new(),
        }
    }

    /// Walks until `out` has `most` rows. Returns whether the walk has ended.
    fn run(
        &mut self,
        cx: Cx<'_>,
        adjacency: &mut Adjacency<'_>,
        out: &mut Batch,
        (most, held): (usize, &mut usize),
    ) -> Outcome<bool> {
        let max = self.expand.max.unwrap_or(u64::MAX);
        if let Some(from) = self.from.take() {
            self.give(cx, &from, (out, held))?;
            if max > 0 {
                self.stack.push((adjacency.of(cx, &from)?, 0));
            }
        }
        while out.len() < most {
            let Some((steps, next)) = self.stack.last_mut() else {
                return Ok(true);
            };
            let Some((relationship, node)) = steps.get(*next).cloned() else {
                self.stack.pop();
                self.path.pop();
                continue;
            };
            *next += 1;
            cx.graph().meter.row()?;
            let is_repeated = self.path.contains(&relationship)
                || is_used(&relationship, &self.expand.unlike, &self.row);
            if is_repeated || !self.each.holds(cx, &relationship)? {
                continue;
            }
            self.path.push(relationship);
            self.give(cx, &node, (out, held))?;
            if (self.path.len() as u64) < max {
                self.stack.push((adjacency.of(cx, &node)?, 0));
            } else {
                self.path.pop();
            }
        }
        Ok(false)
    }

    /// Gives the row of the path so far, if it has the length and the end.
    fn give(
        &mut self,
        cx: Cx<'_>,
        node: &Arc<Node>,
        (out, held): (&mut Batch, &mut usize),
    ) -> Outcome<()> {
        if (self.path.len() as u64) < self.expand.min {
            return Ok(());
        }
        let is_end = match (self.expand.is_to_bound, self.row.get(self.expand.to)) {
            (true, Some(Value::Node(to))) => to.key == node.key,
            _ => self.labels.holds(cx.graph().schema, node.label),
        };
        if !is_end {
            return Ok(());
        }
        let each = self.path.iter().map(Arc::clone).map(Value::Relationship);
        let list: Vec<Value> = match self.expand.reversed {
            true => each.rev().collect(),
            false => each.collect(),
        };
        let bytes = size_of_val(&*list) + size_of_val(&*self.row);
        cx.graph().meter.hold(bytes)?;
        *held += bytes;
        out.push(&self.row, self.count);
        let last = out.len() - 1;
        let row = out.row_mut(last);
        row[self.expand.relationships] = Value::list(list);
        if !self.expand.is_to_bound {
            row[self.expand.to] = Value::Node(Arc::clone(node));
        }
        Ok(())
    }
}
