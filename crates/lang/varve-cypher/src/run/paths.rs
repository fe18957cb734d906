//! Sequences of relationships, and paths.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_view::Flow;

use super::matching::{is_second_sight, is_used, step, walked};
use super::{Batch, Cx};
use crate::error::{Outcome, type_error};
use crate::expression::Expr;
use crate::filters::Types;
use crate::plan::{Ends, PathParts};
use crate::tree::Direction;
use crate::value::{Node, NodeKey, Path, Relationship, Value};

/// The most nodes whose relationships are remembered during a walk.
const REMEMBERED: usize = 16_384;
/// Bytes of a step of a walk.
const STEP_BYTES: usize = 256;

pub(super) type Step = (Arc<Relationship>, Arc<Node>);

/// Reads the relationships of nodes during a walk, each node mostly once.
pub(super) struct Adjacency<'t> {
    pub(super) types: Types<'t>,
    direction: Direction,
    known: HashMap<NodeKey, Rc<Vec<Step>>>,
    /// Bytes that were charged.
    pub(super) held: usize,
}

impl<'t> Adjacency<'t> {
    pub(super) fn new(types: Types<'t>, direction: Direction) -> Adjacency<'t> {
        Adjacency {
            types,
            direction,
            known: HashMap::new(),
            held: 0,
        }
    }

    /// The relationships of a node, and the nodes at their other ends.
    pub(super) fn of(&mut self, cx: Cx<'_>, node: &Arc<Node>) -> Outcome<Rc<Vec<Step>>> {
        match self.known.get(&node.key) {
            Some(steps) => Ok(Rc::clone(steps)),
            None => Ok(self.of_all(cx, std::slice::from_ref(node))?.remove(0)),
        }
    }

    /// Those of each of some nodes, which differ; all that are not known are read at once.
    pub(super) fn of_all(
        &mut self,
        cx: Cx<'_>,
        nodes: &[Arc<Node>],
    ) -> Outcome<Vec<Rc<Vec<Step>>>> {
        let is_new = |node: &&Arc<Node>| !self.known.contains_key(&node.key);
        let new: Vec<&Arc<Node>> = nodes.iter().filter(is_new).collect();
        let mut read = self.read(cx, &new)?.into_iter();
        let mut all = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Some(steps) = self.known.get(&node.key) {
                all.push(Rc::clone(steps));
                continue;
            }
            let steps = Rc::new(read.next().unwrap_or_default());
            let bytes = STEP_BYTES * steps.len();
            if self.known.len() < REMEMBERED {
                self.held += bytes;
                self.known.insert(node.key.clone(), Rc::clone(&steps));
            } else {
                cx.graph().meter.release(bytes);
            }
            all.push(steps);
        }
        Ok(all)
    }

    /// How many relationships some nodes have, up to `most` each.
    pub(super) fn degrees(&self, cx: Cx<'_>, nodes: &[Arc<Node>], most: u64) -> Outcome<u64> {
        if self.types.is_none {
            return Ok(0);
        }
        let keys: Vec<&[u8]> = nodes.iter().map(|node| &node.key[..]).collect();
        let meter = cx.graph().meter;
        let degrees =
            cx.view()
                .degrees(&keys, &self.types.ask(walked(self.direction)), most, meter)?;
        Ok(degrees.into_iter().sum())
    }

    /// Reads the relationships of each node. The bytes of the steps are charged.
    fn read(&self, cx: Cx<'_>, nodes: &[&Arc<Node>]) -> Outcome<Vec<Vec<Step>>> {
        let mut all = vec![Vec::new(); nodes.len()];
        if self.types.is_none || nodes.is_empty() {
            return Ok(all);
        }
        let graph = cx.graph();
        let ask = self.types.ask(walked(self.direction));
        let keys: Vec<&[u8]> = nodes.iter().map(|node| &node.key[..]).collect();
        let mut failed = None;
        cx.view()
            .neighbours(&keys, &ask, graph.meter, &mut |at, seen| {
                let node = nodes[at];
                let is_again = is_second_sight(node, ask.direction, seen);
                if is_again || !self.types.holds(graph.schema, seen.label) {
                    return Flow::Continue(());
                }
                let charged = graph.meter.hold(STEP_BYTES);
                match charged
                    .map_err(Into::into)
                    .and_then(|()| step(cx, node, seen))
                {
                    Ok(step) => all[at].push(step),
                    Err(error) => {
                        failed = Some(error);
                        return Flow::Break(());
                    }
                }
                Flow::Continue(())
            })?;
        failed.map_or(Ok(all), Err)
    }
}

/// A condition on each relationship of a sequence.
pub(super) struct EachCondition<'p> {
    condition: Option<&'p (usize, Expr)>,
    row: Vec<Value>,
}

impl<'p> EachCondition<'p> {
    pub(super) fn new(condition: Option<&'p (usize, Expr)>, row: &[Value]) -> EachCondition<'p> {
        let row = match condition {
            Some(_) => row.to_vec(),
            None => Vec::new(),
        };
        EachCondition { condition, row }
    }

    pub(super) fn holds(&mut self, cx: Cx<'_>, one: &Arc<Relationship>) -> Outcome<bool> {
        let Some((slot, condition)) = self.condition else {
            return Ok(true);
        };
        if let Some(place) = self.row.get_mut(*slot) {
            *place = Value::Relationship(Arc::clone(one));
        }
        cx.holds(condition, &self.row)
    }
}

/// Checks or binds the ends of relationships that are bound.
pub(super) fn ends(cx: Cx<'_>, ends: &Ends, batch: &Batch) -> Outcome<Batch> {
    let types = Types::new(ends.types.as_ref(), cx.graph().schema);
    let mut out = Batch::new(batch.width());
    for (row, count) in batch.rows() {
        let one = match (row.get(ends.relationship), ends.length) {
            (None | Some(Value::Null), _) => continue,
            (Some(Value::Relationship(one)), None) => vec![Arc::clone(one)],
            (Some(Value::List(items)), Some((min, max))) => {
                let len = items.len() as u64;
                if len < min || max.is_some_and(|max| len > max) {
                    continue;
                }
                relationships(items)?
            }
            (Some(other), _) => {
                let message = format!("expected a relationship, but got {}", other.type_name());
                return Err(type_error("InvalidArgumentType", message));
            }
        };
        let fits = |one: &Arc<Relationship>| {
            types.holds(cx.graph().schema, one.label) && !is_used(one, &ends.unlike, row)
        };
        if !one.iter().all(fits) {
            continue;
        }
        for (start, end) in walks(&one, ends.direction, row, ends) {
            let is = |is_bound: bool, slot: usize, node: &Arc<Node>| {
                !is_bound || matches!(row.get(slot), Some(Value::Node(own)) if own.key == node.key)
            };
            let is_same = ends.from != ends.to || start.key == end.key;
            if is_same
                && is(ends.is_from_bound, ends.from, &start)
                && is(ends.is_to_bound, ends.to, &end)
            {
                out.push(row, count);
                let last = out.len() - 1;
                let row = out.row_mut(last);
                row[ends.from] = Value::Node(start);
                row[ends.to] = Value::Node(end);
            }
        }
    }
    Ok(out)
}

fn relationships(items: &[Value]) -> Outcome<Vec<Arc<Relationship>>> {
    let each = items.iter().map(|item| match item {
        Value::Relationship(one) => Ok(Arc::clone(one)),
        other => {
            let message = format!("expected a relationship, but got {}", other.type_name());
            Err(type_error("InvalidArgumentType", message))
        }
    });
    each.collect()
}

/// The first and last nodes of the walks along these relationships in a direction.
fn walks(
    all: &[Arc<Relationship>],
    direction: Direction,
    row: &[Value],
    ends: &Ends,
) -> Vec<(Arc<Node>, Arc<Node>)> {
    let Some(first) = all.first() else {
        // An empty sequence has one node.
        let node = [ends.from, ends.to]
            .into_iter()
            .find_map(|slot| match row.get(slot) {
                Some(Value::Node(node)) => Some(Arc::clone(node)),
                _ => None,
            });
        return node
            .map(|node| (Arc::clone(&node), node))
            .into_iter()
            .collect();
    };
    let mut found = Vec::new();
    let starts = match direction {
        Direction::Right => vec![&first.start],
        Direction::Left => vec![&first.end],
        _ if first.start == first.end => vec![&first.start],
        _ => vec![&first.start, &first.end],
    };
    for start in starts {
        let mut at = start;
        let is_walk = all.iter().all(|one| {
            let next = match (one.start.key == at.key, one.end.key == at.key) {
                (true, _) if direction != Direction::Left => &one.end,
                (_, true) if direction != Direction::Right => &one.start,
                _ => return false,
            };
            at = next;
            true
        });
        if is_walk {
            found.push((Arc::clone(start), Arc::clone(at)));
        }
    }
    found
}

/// The path through the elements in some slots; null if one of them is null.
pub(super) fn path_of(parts: &PathParts, row: &[Value]) -> Value {
    let Some(Value::Node(start)) = row.get(parts.start) else {
        return Value::Null;
    };
    let mut nodes = vec![Arc::clone(start)];
    let mut relationships = Vec::new();
    for slot in &parts.relationships {
        let items = match row.get(*slot) {
            Some(Value::List(items)) => &items[..],
            Some(one @ Value::Relationship(_)) => std::slice::from_ref(one),
            _ => return Value::Null,
        };
        for item in items {
            let (Value::Relationship(one), Some(at)) = (item, nodes.last()) else {
                return Value::Null;
            };
            let next = match one.start.key == at.key {
                true => Arc::clone(&one.end),
                false => Arc::clone(&one.start),
            };
            nodes.push(next);
            relationships.push(Arc::clone(one));
        }
    }
    Value::Path(Arc::new(Path {
        nodes,
        relationships,
    }))
}
