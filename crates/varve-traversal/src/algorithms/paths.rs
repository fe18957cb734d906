//! Distances from one vertex to all others.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Node, Projection, TraversalError};

/// The number of hops to an unreachable vertex.
pub const UNREACHED: u32 = u32::MAX;

/// The number of edges of a shortest path from `source` to each vertex; [`UNREACHED`] if there is
/// none.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, its deadline has passed, or the request was
/// cancelled.
pub fn hops(graph: &Projection, source: Node, meter: &Meter) -> Result<Vec<u32>, TraversalError> {
    let mut hops = array(meter, UNREACHED, graph.len())?;
    let mut order = vec![source];
    hops[source as usize] = 0;
    let mut pace = Pace::new(meter);
    let mut next = 0;
    while let Some(node) = order.get(next).copied() {
        next += 1;
        for side in graph.sides() {
            let others = side.of_node(node);
            pace.step(others.len() + 1)?;
            for other in others {
                if hops[*other as usize] == UNREACHED {
                    hops[*other as usize] = hops[node as usize] + 1;
                    order.push(*other);
                }
            }
        }
    }
    Ok(hops)
}

/// A distance as a heap key.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The weight of a lightest path from `source` to each vertex; infinite if there is none. Weights
/// must not be negative (Dijkstra, 1959).
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, its deadline has passed, or the request was
/// cancelled.
pub fn distances(
    graph: &Projection,
    source: Node,
    meter: &Meter,
) -> Result<Vec<f64>, TraversalError> {
    let mut distances = array(meter, f64::INFINITY, graph.len())?;
    distances[source as usize] = 0.0;
    let mut waiting = BinaryHeap::from([(Reverse(Distance(0.0)), source)]);
    let mut pace = Pace::new(meter);
    while let Some((Reverse(Distance(distance)), node)) = waiting.pop() {
        if distance > distances[node as usize] {
            continue;
        }
        for side in graph.sides() {
            pace.step(side.degree(node) as usize + 1)?;
            for (other, weight) in side.weighted(node) {
                let through = distance + weight;
                if through < distances[other as usize] {
                    distances[other as usize] = through;
                    waiting.push((Reverse(Distance(through)), other));
                }
            }
        }
    }
    Ok(distances)
}
