//! Centralities: degree, closeness, betweenness and stress.
//!
//! All but the degree depend on paths of vertices: parallel edges count once, and self-loops are
//! ignored. They follow the projection's directions; with both, the graph is undirected.

use varve_view::Meter;

use super::louvain::next_random;
use super::pace::{Pace, array};
use crate::{Adjacency, Node, Projection, TraversalError};

/// The number of edges of each vertex in the projection's directions. A self-loop counts once in
/// each direction.
#[must_use]
pub fn degree(graph: &Projection) -> Vec<u64> {
    let of = |node| {
        graph
            .sides()
            .iter()
            .map(|side| u64::from(side.degree(node)))
            .sum()
    };
    graph.nodes().map(of).collect()
}

/// The formula of closeness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closeness {
    /// The sum of 1 / distance over the reached vertices, as in HugeGraph.
    Harmonic,
    /// 1 / (mean distance to the reached vertices), times their share of all other vertices
    /// (Wasserman and Faust).
    Classic,
}

/// The closeness of each vertex, along paths of at most `depth` edges.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn closeness(
    graph: &Projection,
    kind: Closeness,
    depth: u32,
    meter: &Meter,
) -> Result<Vec<f64>, TraversalError> {
    let simple = graph.simple(meter)?;
    let mut search = Search::new(graph.len(), meter)?;
    let mut scores = array(meter, 0.0, graph.len())?;
    let mut pace = Pace::new(meter);
    for node in graph.nodes() {
        search.run(&simple, node, depth, &mut pace)?;
        let reached = &search.order[1..];
        let distances = reached.iter().map(|other| search.depths[*other as usize]);
        scores[node as usize] = match kind {
            // `sum` of no numbers would be -0.0.
            _ if reached.is_empty() => 0.0,
            Closeness::Harmonic => distances.map(|depth| 1.0 / f64::from(depth)).sum(),
            Closeness::Classic => {
                let sum: f64 = distances.map(f64::from).sum();
                let reached = reached.len() as f64;
                reached / sum * (reached / (graph.len() as f64 - 1.0))
            }
        };
        search.clear();
    }
    Ok(scores)
}

/// The paths that betweenness counts.
#[derive(Debug, Clone, Copy)]
pub struct Betweenness<'a> {
    /// The vertices at which paths begin; `None` = all.
    pub sources: Option<&'a [Node]>,
    /// The most edges of a path.
    pub depth: u32,
}

/// The betweenness of each vertex: for every ordered pair of other vertices, the share of the
/// shortest paths between them that lead through it (Brandes, 2001). In an undirected graph each
/// pair counts twice, as in HugeGraph. With sources, only pairs that begin at a source count, and
/// the sums are scaled up to all vertices.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn betweenness(
    graph: &Projection,
    ask: &Betweenness<'_>,
    meter: &Meter,
) -> Result<Vec<f64>, TraversalError> {
    paths_through(graph, ask, meter, |search, scores, simple, pace| {
        let depends = &mut search.backwards;
        for node in search.order.iter().skip(1).rev() {
            let (at, others) = (*node as usize, simple.of_node(*node));
            pace.step(others.len() + 1)?;
            let below = search.depths[at].wrapping_add(1);
            let mut sum = 0.0;
            for other in others.iter().map(|other| *other as usize) {
                if search.depths[other] == below {
                    sum += (1.0 + depends[other]) / search.paths[other];
                }
            }
            depends[at] = sum * search.paths[at];
            scores[at] += depends[at];
        }
        Ok(())
    })
}

/// The stress of each vertex: the number of shortest paths that lead through it. Pairs count as in
/// [`betweenness`].
///
/// # Errors
/// As [`betweenness`].
pub fn stress(
    graph: &Projection,
    ask: &Betweenness<'_>,
    meter: &Meter,
) -> Result<Vec<f64>, TraversalError> {
    paths_through(graph, ask, meter, |search, scores, simple, pace| {
        // For each vertex, the number of shortest paths that lead on from it, away from the source.
        let onward = &mut search.backwards;
        for node in search.order.iter().skip(1).rev() {
            let (at, others) = (*node as usize, simple.of_node(*node));
            pace.step(others.len() + 1)?;
            let below = search.depths[at].wrapping_add(1);
            let mut sum = 0.0;
            for other in others.iter().map(|other| *other as usize) {
                if search.depths[other] == below {
                    sum += 1.0 + onward[other];
                }
            }
            onward[at] = sum;
            scores[at] += sum * search.paths[at];
        }
        Ok(())
    })
}

/// A sample of `count` distinct vertices, drawn by a seed, ascending; all vertices if there are
/// fewer.
#[must_use]
pub fn sampled(graph: &Projection, count: usize, seed: u64) -> Vec<Node> {
    let mut nodes: Vec<Node> = graph.nodes().collect();
    let (mut random, count) = (seed, count.min(nodes.len()));
    for at in 0..count {
        let rest = (nodes.len() - at) as u64;
        let other = at + (next_random(&mut random) % rest) as usize;
        nodes.swap(at, other);
    }
    nodes.truncate(count);
    nodes.sort_unstable();
    nodes
}

/// Adds the contribution of one source to the scores.
type Gather<'a> =
    fn(&mut Search, &mut [f64], &Adjacency, &mut Pace<'a>) -> Result<(), TraversalError>;

fn paths_through<'a>(
    graph: &Projection,
    ask: &Betweenness<'_>,
    meter: &'a Meter,
    gather: Gather<'a>,
) -> Result<Vec<f64>, TraversalError> {
    let simple = graph.simple(meter)?;
    let mut search = Search::new(graph.len(), meter)?;
    let mut scores = array(meter, 0.0, graph.len())?;
    let mut pace = Pace::new(meter);
    let all: Vec<Node>;
    let sources = match ask.sources {
        Some(sources) => sources,
        None => {
            all = graph.nodes().collect();
            &all
        }
    };
    for source in sources {
        search.run(&simple, *source, ask.depth, &mut pace)?;
        gather(&mut search, &mut scores, &simple, &mut pace)?;
        search.clear();
    }
    if sources.len() < graph.len() && !sources.is_empty() {
        let scale = graph.len() as f64 / sources.len() as f64;
        scores.iter_mut().for_each(|score| *score *= scale);
    }
    Ok(scores)
}

const UNSEEN: u32 = u32::MAX;

/// A breadth-first search that counts shortest paths. Its arrays are reused for each source.
struct Search {
    /// The vertices reached, in the order of the search.
    order: Vec<Node>,
    /// The number of edges between the source and each vertex.
    depths: Vec<u32>,
    /// The number of shortest paths from the source to each vertex.
    paths: Vec<f64>,
    /// Values that are accumulated from the last vertex back to the source.
    backwards: Vec<f64>,
}

impl Search {
    fn new(count: usize, meter: &Meter) -> Result<Self, TraversalError> {
        Ok(Self {
            order: Vec::new(),
            depths: array(meter, UNSEEN, count)?,
            paths: array(meter, 0.0, count)?,
            backwards: array(meter, 0.0, count)?,
        })
    }

    fn run(
        &mut self,
        simple: &Adjacency,
        source: Node,
        depth: u32,
        pace: &mut Pace<'_>,
    ) -> Result<(), TraversalError> {
        self.order.push(source);
        self.depths[source as usize] = 0;
        self.paths[source as usize] = 1.0;
        let mut next = 0;
        while let Some(node) = self.order.get(next).copied() {
            next += 1;
            let (own, paths) = (self.depths[node as usize], self.paths[node as usize]);
            if own >= depth {
                break;
            }
            let others = simple.of_node(node);
            pace.step(others.len() + 1)?;
            for other in others {
                let at = *other as usize;
                if self.depths[at] == UNSEEN {
                    self.depths[at] = own + 1;
                    self.order.push(*other);
                }
                if self.depths[at] == own + 1 {
                    self.paths[at] += paths;
                }
            }
        }
        Ok(())
    }

    /// Clears what the search of the last source has set.
    fn clear(&mut self) {
        for node in self.order.drain(..) {
            let at = node as usize;
            self.depths[at] = UNSEEN;
            self.paths[at] = 0.0;
            self.backwards[at] = 0.0;
        }
    }
}
