//! Rings: closed paths without a repeated vertex.

use varve_view::{Flow, Meter};

use super::pace::Pace;
use crate::{Adjacency, Node, Projection, TraversalError};

/// A request for rings.
#[derive(Debug, Clone, Copy)]
pub struct Rings {
    /// The most edges of a ring.
    pub depth: u32,
}

/// Calls `visit` for each ring once, with its vertices from the smallest on. Returns the number of
/// rings. Parallel edges give no further rings; a self-loop is a ring of one vertex. If the
/// projection has both directions, a ring may use edges in either direction, and a ring of two
/// vertices needs an edge in each. Otherwise edges are walked in the projection's direction only.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn rings(
    graph: &Projection,
    ask: &Rings,
    meter: &Meter,
    visit: &mut dyn FnMut(&[Node]) -> Flow,
) -> Result<u64, TraversalError> {
    let simple = graph.simple(meter)?;
    let mut search = Search {
        simple: &simple,
        both_ways: graph.sides().len() > 1,
        graph,
        depth: ask.depth as usize,
        path: Vec::new(),
        on_path: vec![false; graph.len()],
        shown: 0,
        pace: Pace::new(meter),
    };
    for node in graph.nodes() {
        if search.from(node, visit)?.is_break() {
            break;
        }
    }
    Ok(search.shown)
}

struct Search<'a> {
    graph: &'a Projection,
    simple: &'a Adjacency,
    both_ways: bool,
    depth: usize,
    path: Vec<Node>,
    on_path: Vec<bool>,
    shown: u64,
    pace: Pace<'a>,
}

impl Search<'_> {
    /// Visits the rings whose smallest vertex is `first`.
    fn from(
        &mut self,
        first: Node,
        visit: &mut dyn FnMut(&[Node]) -> Flow,
    ) -> Result<Flow, TraversalError> {
        self.path = vec![first];
        if self.depth > 0 && self.has_edge(first, first) {
            self.shown += 1;
            if visit(&self.path).is_break() {
                return Ok(Flow::Break(()));
            }
        }
        // The number of neighbours tried at each vertex of the path.
        let mut tried: Vec<usize> = vec![0];
        while let (Some(node), Some(next)) = (self.path.last().copied(), tried.last_mut()) {
            let other = self.simple.of_node(node).get(*next).copied();
            *next += 1;
            self.pace.step(1)?;
            let Some(other) = other else {
                self.path.pop();
                tried.pop();
                self.on_path[node as usize] = false;
                continue;
            };
            if other == first && self.closes() {
                self.shown += 1;
                if visit(&self.path).is_break() {
                    return Ok(Flow::Break(()));
                }
            }
            let is_new = other > first && !self.on_path[other as usize];
            if is_new && self.path.len() < self.depth {
                self.path.push(other);
                tried.push(0);
                self.on_path[other as usize] = true;
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Whether the path and an edge back to its start form a ring that was not visited in the
    /// opposite orientation.
    fn closes(&self) -> bool {
        match *self.path.as_slice() {
            [a, b] if self.both_ways => self.has_edge(a, b) && self.has_edge(b, a),
            [_, second, .., last] if self.both_ways => second < last,
            [_, _, ..] => true,
            _ => false,
        }
    }

    fn has_edge(&self, from: Node, to: Node) -> bool {
        self.graph.first().of_node(from).binary_search(&to).is_ok()
    }
}
