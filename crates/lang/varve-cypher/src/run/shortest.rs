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
/// Nodes of a level whose relationships are read first.
const FIRST: usize = 16;
/// The factor by which the next piece grows.
const GROWTH: usize = 4;
/// The most relationships of a node that are counted.
const DEGREE_MAX: u64 = 10_000;

type Walk = Vec<Arc<Relationship>>;

/// Finds the shortest paths of each row.
pub(super) fn shortest(cx: Cx<'_>, one: &Shortest, batch: &Batch) -> Outcome<Batch> {
    let types = || Types::new(one.types.as_ref(), cx.graph().schema);
    let mut sides =
        [one.direction, one.direction.reversed()].map(|way| Adjacency::new(types(), way));
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
            true => search.by_meeting(cx, &mut sides)?,
            false => search.exhaustive(cx, &mut sides[0])?,
        };
        cx.graph().meter.release(search.held);
        for walk in walks {
            let row = with_path(one, row, from, walk);
            out.push(&row, count);
        }
    }
    for side in sides {
        cx.graph().meter.release(side.held);
    }
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

/// What was reached from one end.
struct Side<'s, 't> {
    adjacency: &'s mut Adjacency<'t>,
    reached: HashMap<NodeKey, Reached>,
    /// The nodes at the distance of the last level.
    level: Vec<Arc<Node>>,
    distance: u64,
    /// What the next level costs, if it is known.
    cost: Option<u64>,
}

impl<'s, 't> Side<'s, 't> {
    fn new(end: &Arc<Node>, adjacency: &'s mut Adjacency<'t>) -> Side<'s, 't> {
        let start = Reached {
            distance: 0,
            steps: Vec::new(),
        };
        Side {
            adjacency,
            reached: HashMap::from([(end.key.clone(), start)]),
            level: vec![Arc::clone(end)],
            distance: 0,
            cost: None,
        }
    }

    /// The relationships that the next level has to look at: of few nodes, each of which may have
    /// very many, else the number of nodes.
    fn cost(&mut self, cx: Cx<'_>) -> Outcome<u64> {
        let cost = match self.cost {
            Some(cost) => cost,
            None if self.level.len() > FIRST => self.level.len() as u64,
            None => self.adjacency.degrees(cx, &self.level, DEGREE_MAX)?,
        };
        self.cost = Some(cost);
        Ok(cost)
    }
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

    /// From both ends, the smaller level first: each node is reached by its shortest walks only.
    fn by_meeting(&mut self, cx: Cx<'_>, sides: &mut [Adjacency<'_>; 2]) -> Outcome<Vec<Walk>> {
        let [near, far] = sides;
        let (mut near, mut far) = (Side::new(self.from, near), Side::new(self.to, far));
        let max = self.one.max.unwrap_or(u64::MAX);
        let mut met = Vec::new();
        while met.is_empty()
            && !near.level.is_empty()
            && !far.level.is_empty()
            && near.distance + far.distance < max
        {
            met = match near.cost(cx)? <= far.cost(cx)? {
                true => self.grow(cx, &mut near, &far)?,
                false => self.grow(cx, &mut far, &near)?,
            };
        }
        let mut found = Vec::new();
        for key in met {
            let mut ends = self.ways(cx, &far, &key)?;
            // From the end backwards: as they are walked from where both met.
            ends.iter_mut().for_each(|way| way.reverse());
            for way in self.ways(cx, &near, &key)? {
                for end in &ends {
                    self.charge(cx, REACHED_BYTES + 8 * (way.len() + end.len()))?;
                    found.push([&way[..], &end[..]].concat());
                }
            }
        }
        Ok(found)
    }

    /// Adds the next level, and returns those of its nodes that the other side has reached. If one
    /// path is wanted, few nodes may suffice, so the level is read in pieces.
    fn grow(
        &mut self,
        cx: Cx<'_>,
        side: &mut Side<'_, '_>,
        other: &Side<'_, '_>,
    ) -> Outcome<Vec<NodeKey>> {
        let all = self.one.kind == PathKind::AllShortestPaths;
        side.distance += 1;
        side.cost = None;
        let level = std::mem::take(&mut side.level);
        // All are wanted of all paths.
        let first = if all { level.len() } else { FIRST };
        let (mut rest, mut count) = (&level[..], first);
        let mut met = Vec::new();
        while !rest.is_empty() {
            let piece;
            (piece, rest) = rest.split_at(count.min(rest.len()));
            count *= GROWTH;
            let steps = side.adjacency.of_all(cx, piece)?;
            for (node, steps) in piece.iter().zip(steps) {
                for (relationship, next) in steps.iter() {
                    let known = side.reached.get_mut(&next.key);
                    let is_wanted = match &known {
                        Some(found) => all && found.distance == side.distance,
                        None => true,
                    };
                    if !is_wanted || !self.may_walk(cx, relationship)? {
                        continue;
                    }
                    self.charge(cx, REACHED_BYTES)?;
                    let step = (node.key.clone(), Arc::clone(relationship));
                    if let Some(found) = known {
                        found.steps.push(step);
                        continue;
                    }
                    let found = Reached {
                        distance: side.distance,
                        steps: vec![step],
                    };
                    side.reached.insert(next.key.clone(), found);
                    side.level.push(Arc::clone(next));
                    if other.reached.contains_key(&next.key) {
                        met.push(next.key.clone());
                        if !all {
                            return Ok(met);
                        }
                    }
                }
            }
        }
        Ok(met)
    }

    /// The shortest walks from a side's end to a node that it has reached.
    fn ways(&mut self, cx: Cx<'_>, side: &Side<'_, '_>, to: &NodeKey) -> Outcome<Vec<Walk>> {
        let reached = |key: &NodeKey| side.reached.get(key);
        let length = reached(to).map_or(0, |one| one.distance);
        let mut walks: Vec<(NodeKey, Walk)> = vec![(to.clone(), Vec::new())];
        for _ in 0..length {
            let mut longer = Vec::with_capacity(walks.len());
            for (key, walk) in walks {
                for (before, relationship) in reached(&key).into_iter().flat_map(|one| &one.steps) {
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
