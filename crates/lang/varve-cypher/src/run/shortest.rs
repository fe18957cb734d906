//! Shortest paths between two nodes.

use std::collections::HashMap;
use std::sync::Arc;

use super::matching::{is_used, node_of};
use super::paths::{Adjacency, EachCondition};
use super::{Batch, Cx};
use crate::error::Outcome;
use crate::filters::Types;
use crate::plan::Shortest;
use crate::tree::PathKind;
use crate::value::{Node, NodeKey, Path, Relationship, Value};

/// Bytes of a node that a search has reached.
const REACHED_BYTES: usize = 192;

type Walk = Vec<Arc<Relationship>>;

/// Finds the shortest paths of each row.
pub(super) fn shortest(cx: Cx<'_>, one: &Shortest, batch: &Batch) -> Outcome<Batch> {
    let types = Types::new(one.types.as_ref(), cx.graph().schema);
    let mut adjacency = Adjacency::new(types, one.direction);
    let mut out = Batch::new(batch.width());
    for (row, count) in batch.rows() {
        let ends = (node_of(row.get(one.from))?, node_of(row.get(one.to))?);
        let (Some(from), Some(to)) = ends else {
            continue;
        };
        let mut search = Search {
            one,
            row,
            each: EachCondition::new(one.each.as_ref(), row),
            from,
            to,
            held: 0,
        };
        // The shortest walk back to its own start may repeat a relationship.
        let is_plain = one.filter.is_none() && one.min <= 1 && from.key != to.key;
        let walks = match is_plain {
            true => search.by_level(cx, &mut adjacency)?,
            false => search.exhaustive(cx, &mut adjacency)?,
        };
        cx.graph().meter.release(search.held);
        for walk in walks {
            let row = with_path(one, row, from, walk);
            out.push(&row, count);
        }
    }
    cx.graph().meter.release(adjacency.held);
    Ok(out)
}

/// A row with the path of a walk.
fn with_path(one: &Shortest, row: &[Value], from: &Arc<Node>, walk: Walk) -> Vec<Value> {
    let mut row = row.to_vec();
    let mut nodes = vec![Arc::clone(from)];
    for relationship in &walk {
        let next = match nodes.last() {
            Some(at) if relationship.start.key == at.key => &relationship.end,
            _ => &relationship.start,
        };
        nodes.push(Arc::clone(next));
    }
    let items = walk.iter().map(Arc::clone).map(Value::Relationship);
    row[one.relationships] = match one.is_single {
        true => items.into_iter().next().unwrap_or(Value::Null),
        false => Value::list(items.collect()),
    };
    row[one.path] = Value::Path(Arc::new(Path {
        nodes,
        relationships: walk,
    }));
    row
}

/// A search from one node to another.
struct Search<'s> {
    one: &'s Shortest,
    row: &'s [Value],
    each: EachCondition<'s>,
    from: &'s Arc<Node>,
    to: &'s Arc<Node>,
    /// Bytes that were charged.
    held: usize,
}

/// How a node was reached first: its distance, and the steps to it from nodes before it.
struct Reached {
    distance: u64,
    steps: Vec<(NodeKey, Arc<Relationship>)>,
}

impl Search<'_> {
    fn may_walk(&mut self, cx: Cx<'_>, relationship: &Arc<Relationship>) -> Outcome<bool> {
        let is_used = is_used(relationship, &self.one.unlike, self.row);
        Ok(!is_used && self.each.holds(cx, relationship)?)
    }

    fn charge(&mut self, cx: Cx<'_>, bytes: usize) -> Outcome<()> {
        cx.graph().meter.row()?;
        cx.graph().meter.hold(bytes)?;
        self.held += bytes;
        Ok(())
    }

    /// Breadth first: each node is reached by its shortest walks only.
    fn by_level(&mut self, cx: Cx<'_>, adjacency: &mut Adjacency<'_>) -> Outcome<Vec<Walk>> {
        let max = self.one.max.unwrap_or(u64::MAX);
        let all = self.one.kind == PathKind::AllShortestPaths;
        let mut reached: HashMap<NodeKey, Reached> = HashMap::new();
        let mut level = vec![Arc::clone(self.from)];
        let mut distance = 0;
        while !level.is_empty() && distance < max && !reached.contains_key(&self.to.key) {
            distance += 1;
            let mut next = Vec::new();
            for node in level {
                for (relationship, other) in adjacency.of(cx, &node)?.iter() {
                    let is_start = other.key == self.from.key;
                    if is_start || !self.may_walk(cx, relationship)? {
                        continue;
                    }
                    let step = (node.key.clone(), Arc::clone(relationship));
                    match reached.get_mut(&other.key) {
                        None => {
                            self.charge(cx, REACHED_BYTES)?;
                            let steps = vec![step];
                            let found = Reached { distance, steps };
                            reached.insert(other.key.clone(), found);
                            next.push(Arc::clone(other));
                        }
                        Some(found) if all && found.distance == distance => {
                            found.steps.push(step);
                        }
                        Some(_) => {}
                    }
                }
            }
            level = next;
        }
        match reached.contains_key(&self.to.key) {
            true => self.back(cx, &reached, distance),
            false => Ok(Vec::new()),
        }
    }

    /// The walks that the steps to the end describe, from the end backwards.
    fn back(
        &mut self,
        cx: Cx<'_>,
        reached: &HashMap<NodeKey, Reached>,
        length: u64,
    ) -> Outcome<Vec<Walk>> {
        let mut walks: Vec<(NodeKey, Walk)> = vec![(self.to.key.clone(), Vec::new())];
        for _ in 0..length {
            let mut longer = Vec::with_capacity(walks.len());
            for (key, walk) in walks {
                for (before, relationship) in
                    reached.get(&key).into_iter().flat_map(|one| &one.steps)
                {
                    self.charge(cx, REACHED_BYTES + 8 * walk.len())?;
                    let mut walk = walk.clone();
                    walk.push(Arc::clone(relationship));
                    longer.push((before.clone(), walk));
                }
            }
            walks = longer;
        }
        let mut found: Vec<Walk> = walks.into_iter().map(|(_, walk)| walk).collect();
        found.iter_mut().for_each(|walk| walk.reverse());
        if self.one.kind == PathKind::ShortestPath {
            found.truncate(1);
        }
        Ok(found)
    }

    /// All walks without repeated relationships, by length, until some satisfy the condition.
    fn exhaustive(&mut self, cx: Cx<'_>, adjacency: &mut Adjacency<'_>) -> Outcome<Vec<Walk>> {
        let max = self.one.max.unwrap_or(u64::MAX);
        let mut level: Vec<(Arc<Node>, Walk)> = vec![(Arc::clone(self.from), Vec::new())];
        let mut length = 0;
        while !level.is_empty() {
            if length >= self.one.min {
                let mut found = Vec::new();
                for (node, walk) in &level {
                    if node.key != self.to.key {
                        continue;
                    }
                    let row = with_path(self.one, self.row, self.from, walk.clone());
                    let holds = match &self.one.filter {
                        Some(filter) => cx.holds(filter, &row)?,
                        None => true,
                    };
                    if holds {
                        found.push(walk.clone());
                        if self.one.kind == PathKind::ShortestPath {
                            return Ok(found);
                        }
                    }
                }
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            if length == max {
                break;
            }
            length += 1;
            let mut next = Vec::new();
            for (node, walk) in level {
                for (relationship, other) in adjacency.of(cx, &node)?.iter() {
                    if walk.contains(relationship) || !self.may_walk(cx, relationship)? {
                        continue;
                    }
                    self.charge(cx, REACHED_BYTES + 8 * walk.len())?;
                    let mut walk = walk.clone();
                    walk.push(Arc::clone(relationship));
                    next.push((Arc::clone(other), walk));
                }
            }
            level = next;
        }
        Ok(Vec::new())
    }
}
