//! Ranks by power iteration: PageRank and eigenvector centrality.

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Adjacency, Node, Projection, TraversalError};

/// Parameters of PageRank (Page, Brin, Motwani and Winograd, 1999).
#[derive(Debug, Clone, Copy)]
pub struct PageRank<'a> {
    /// The probability of a jump instead of following an edge, in (0, 1]. NetworkX's `alpha` is 1
    /// minus this.
    pub alpha: f64,
    /// The most iterations.
    pub times: u32,
    /// Ends when the sum of the changes of all ranks is less than this.
    pub precision: f64,
    /// The targets of jumps, with equal probability; empty = all vertices.
    pub sources: &'a [Node],
}

/// Ranks, and how the iteration ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// The rank of each vertex.
    pub ranks: Vec<f64>,
    /// The number of iterations.
    pub iterations: u32,
    /// The sum of the changes of all ranks in the last iteration.
    pub last_change: f64,
}

/// The PageRank of each vertex; the sum is 1. An edge gets the share of its source's rank that its
/// weight has in the weights of the source's edges. The rank of a vertex without edges jumps. The
/// projection must have the edges from their targets ([`Projection::back`]).
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn page_rank(
    graph: &Projection,
    ask: &PageRank<'_>,
    meter: &Meter,
) -> Result<Ranks, TraversalError> {
    let count = graph.len();
    let none = Adjacency::default();
    let back = graph.back().unwrap_or(&none);
    let begin = 1.0 / count.max(1) as f64;
    let mut ranks = array(meter, begin, count)?;
    let jumps = jumps(ask.sources, count, meter)?;
    if let Some(jumps) = &jumps {
        ranks.copy_from_slice(jumps);
    }
    // 1 / the sum of the weights of each vertex's outgoing edges; 0 without edges.
    let parts = parts(graph, back, meter)?;
    let mut shares: Vec<f64> = array(meter, 0.0, count)?;
    let mut followed: Vec<f64> = array(meter, 0.0, count)?;
    let mut sums = Sums::new(back, count, meter)?;
    let mut lost = 0.0;
    for (at, rank) in ranks.iter().enumerate() {
        shares[at] = rank * parts[at];
        lost += if parts[at] == 0.0 { *rank } else { 0.0 };
    }
    let (mut iterations, mut last_change) = (0, f64::INFINITY);
    let mut pace = Pace::new(meter);
    while iterations < ask.times && last_change >= ask.precision && count > 0 {
        let jumping = ask.alpha + (1.0 - ask.alpha) * lost;
        let even = jumping / count as f64;
        (lost, last_change) = (0.0, 0.0);
        followed.fill(0.0);
        sums.add(&shares, &mut followed, &mut pace)?;
        for (at, followed) in followed.iter().enumerate() {
            let jumped = jumps.as_ref().map_or(even, |jumps| jumping * jumps[at]);
            let rank = jumped + (1.0 - ask.alpha) * followed;
            last_change += (rank - ranks[at]).abs();
            ranks[at] = rank;
            shares[at] = rank * parts[at];
            lost += if parts[at] == 0.0 { rank } else { 0.0 };
        }
        iterations += 1;
    }
    Ok(Ranks {
        ranks,
        iterations,
        last_change: if iterations == 0 { 0.0 } else { last_change },
    })
}

/// Vertices whose values are read together: 4 MiB, which mostly stay in the cache.
const BLOCK: usize = 1 << 19;

/// Adds to each vertex the sum of the values of its neighbours, weighted by the edges. Values are
/// read in random order, so the edges are walked once for each block of vertices. Neighbours
/// ascend, so each walk continues where the previous one ended.
struct Sums<'a> {
    side: &'a Adjacency,
    /// The index of the next edge of each vertex.
    next: Vec<u32>,
}

impl<'a> Sums<'a> {
    fn new(side: &'a Adjacency, count: usize, meter: &Meter) -> Result<Self, TraversalError> {
        let next = array(meter, 0, count)?;
        Ok(Self { side, next })
    }

    fn add(
        &mut self,
        values: &[f64],
        sums: &mut [f64],
        pace: &mut Pace<'_>,
    ) -> Result<(), TraversalError> {
        let Self { side, next } = self;
        if side.is_empty() {
            return Ok(());
        }
        next.copy_from_slice(&side.starts[..sums.len()]);
        let is_weighted = !side.weights.is_empty();
        for block in (0..values.len()).step_by(BLOCK) {
            let end = (block + BLOCK).min(values.len());
            for (node, sum) in sums.iter_mut().enumerate() {
                let rest = next[node] as usize..side.starts[node + 1] as usize;
                let others = &side.others[rest.clone()];
                let mut walked = 0;
                let mut total = *sum;
                while let Some(other) = others.get(walked).filter(|other| (**other as usize) < end)
                {
                    let value = values[*other as usize];
                    total += match is_weighted {
                        true => value * side.weights[rest.start + walked],
                        false => value,
                    };
                    walked += 1;
                }
                *sum = total;
                next[node] += walked as u32;
                pace.step(walked + 1)?;
            }
        }
        Ok(())
    }
}

/// The share of each vertex in the jumps; `None` if all are equal.
fn jumps(
    sources: &[Node],
    count: usize,
    meter: &Meter,
) -> Result<Option<Vec<f64>>, TraversalError> {
    if sources.is_empty() {
        return Ok(None);
    }
    let mut distinct = sources.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut jumps = array(meter, 0.0, count)?;
    for source in &distinct {
        jumps[*source as usize] = 1.0 / distinct.len() as f64;
    }
    Ok(Some(jumps))
}

fn parts(graph: &Projection, back: &Adjacency, meter: &Meter) -> Result<Vec<f64>, TraversalError> {
    let mut sums: Vec<f64> = array(meter, 0.0, graph.len())?;
    let mut pace = Pace::new(meter);
    for node in graph.nodes() {
        pace.step(1)?;
        for (source, weight) in back.weighted(node) {
            sums[source as usize] += weight;
        }
    }
    for sum in &mut sums {
        *sum = if *sum > 0.0 { 1.0 / *sum } else { 0.0 };
    }
    Ok(sums)
}

/// Eigenvector centrality: a vector of length 1 that is an eigenvector of the adjacency matrix. A
/// vertex's value is proportional to the sum of the values of the sources of its edges. Iterates
/// the adjacency matrix plus the identity, so that it also converges on bipartite graphs. Ends when
/// the mean change per vertex is less than `precision`. A graph without a cycle has no such vector;
/// then the last iterate is returned, and [`Ranks::last_change`] shows that it did not converge.
///
/// The projection must have the edges from their targets ([`Projection::back`]). If it also has
/// them from their sources, both directions count.
///
/// # Errors
/// As [`page_rank`].
pub fn eigenvector(
    graph: &Projection,
    times: u32,
    precision: f64,
    meter: &Meter,
) -> Result<Ranks, TraversalError> {
    let count = graph.len();
    let mut sides = Vec::new();
    for side in graph.sides() {
        sides.push(Sums::new(side, count, meter)?);
    }
    let mut ranks = array(meter, 1.0 / (count.max(1) as f64).sqrt(), count)?;
    let mut next = array(meter, 0.0, count)?;
    let (mut iterations, mut last_change) = (0, f64::INFINITY);
    let mut pace = Pace::new(meter);
    while iterations < times && last_change >= precision * count as f64 && count > 0 {
        next.copy_from_slice(&ranks);
        for side in &mut sides {
            side.add(&ranks, &mut next, &mut pace)?;
        }
        let length = next.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
        last_change = 0.0;
        for (rank, next) in ranks.iter_mut().zip(&next) {
            let normed = next / length;
            last_change += (normed - *rank).abs();
            *rank = normed;
        }
        iterations += 1;
    }
    Ok(Ranks {
        ranks,
        iterations,
        last_change: if iterations == 0 { 0.0 } else { last_change },
    })
}
