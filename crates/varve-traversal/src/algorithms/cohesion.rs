//! Cohesion of the simple graph: triangles and cores.

use std::cmp::Ordering;

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Adjacency, Node, Projection, TraversalError};

/// Triangles of the simple graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triangles {
    /// The number of triangles of each vertex.
    pub of: Vec<u64>,
    /// The degree of each vertex in the simple graph.
    pub degrees: Vec<u32>,
}

impl Triangles {
    /// The number of triangles.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.of.iter().sum::<u64>() / 3
    }

    /// The share of pairs of edges with a common end that a third edge closes (transitivity); 0
    /// without such pairs.
    #[must_use]
    pub fn coefficient(&self) -> f64 {
        let pairs: f64 = self.degrees.iter().map(|degree| pairs(*degree)).sum();
        match pairs > 0.0 {
            true => 3.0 * self.count() as f64 / pairs,
            false => 0.0,
        }
    }

    /// The same share for the pairs of edges at one vertex.
    #[must_use]
    pub fn local_coefficient(&self, node: Node) -> f64 {
        let pairs = pairs(self.degrees[node as usize]);
        match pairs > 0.0 {
            true => self.of[node as usize] as f64 / pairs,
            false => 0.0,
        }
    }
}

fn pairs(degree: u32) -> f64 {
    f64::from(degree) * (f64::from(degree) - 1.0) / 2.0
}

/// Counts triangles. The projection must have both directions.
///
/// Each edge is directed to its end of higher degree. So the neighbour lists that are intersected
/// stay short, also at vertices with very many edges.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn triangles(graph: &Projection, meter: &Meter) -> Result<Triangles, TraversalError> {
    let simple = graph.simple(meter)?;
    let degrees: Vec<u32> = graph.nodes().map(|node| simple.degree(node)).collect();
    let upward = upward(&simple, &degrees, meter)?;
    let mut of = array(meter, 0_u64, graph.len())?;
    let mut pace = Pace::new(meter);
    for a in graph.nodes() {
        let of_a = upward.of_node(a);
        for b in of_a {
            let of_b = upward.of_node(*b);
            pace.step(of_a.len() + of_b.len() + 1)?;
            common(of_a, of_b, &mut |c| {
                for node in [a, *b, c] {
                    of[node as usize] += 1;
                }
            });
        }
    }
    Ok(Triangles { of, degrees })
}

/// Each edge once, from its end of lower degree; of equal degrees, from the lower number.
fn upward(simple: &Adjacency, degrees: &[u32], meter: &Meter) -> Result<Adjacency, TraversalError> {
    let above = |a: Node, b: Node| (degrees[a as usize], a) < (degrees[b as usize], b);
    Ok(simple.filtered(&above, meter)?)
}

fn common(a: &[Node], b: &[Node], found: &mut dyn FnMut(Node)) {
    let (mut at, mut beside) = (0, 0);
    while at < a.len() && beside < b.len() {
        match a[at].cmp(&b[beside]) {
            Ordering::Less => at += 1,
            Ordering::Greater => beside += 1,
            Ordering::Equal => {
                found(a[at]);
                at += 1;
                beside += 1;
            }
        }
    }
}

/// The core number of each vertex: the greatest k for which it is in a part of the simple graph
/// where every vertex has at least k neighbours (Batagelj and Zaversnik, 2003). The projection must
/// have both directions.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn core_numbers(graph: &Projection, meter: &Meter) -> Result<Vec<u32>, TraversalError> {
    let simple = graph.simple(meter)?;
    let mut degrees = array(meter, 0_u32, graph.len())?;
    for node in graph.nodes() {
        degrees[node as usize] = simple.degree(node);
    }
    let most = degrees.iter().copied().max().unwrap_or(0) as usize;
    // `order`: vertices by degree. `starts`: the index in it of each degree's first vertex.
    // `places`: the index of each vertex.
    let mut starts = array(meter, 0_usize, most + 2)?;
    for degree in &degrees {
        starts[*degree as usize + 1] += 1;
    }
    for degree in 0..=most {
        starts[degree + 1] += starts[degree];
    }
    let mut order = array(meter, 0 as Node, graph.len())?;
    let mut places = array(meter, 0_usize, graph.len())?;
    let mut next = starts.clone();
    for node in graph.nodes() {
        let place = &mut next[degrees[node as usize] as usize];
        order[*place] = node;
        places[node as usize] = *place;
        *place += 1;
    }
    let mut pace = Pace::new(meter);
    for at in 0..order.len() {
        let node = order[at];
        let others = simple.of_node(node);
        pace.step(others.len() + 1)?;
        for other in others {
            let degree = degrees[*other as usize];
            if degree <= degrees[node as usize] {
                continue;
            }
            // Swaps the vertex with the first one of its degree, then moves the start of that
            // degree past it.
            let first_place = starts[degree as usize];
            let (first, place) = (order[first_place], places[*other as usize]);
            order.swap(first_place, place);
            places[first as usize] = place;
            places[*other as usize] = first_place;
            starts[degree as usize] += 1;
            degrees[*other as usize] -= 1;
        }
    }
    Ok(degrees)
}
