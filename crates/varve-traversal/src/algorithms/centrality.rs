//! Centralities: degree, closeness, betweenness and stress.
//!
//! All but the degree look at paths of vertices, so parallel edges count once and self-loops never.
//! They follow the directions that the projection has: both make the graph undirected.

use varve_view::Meter;

use super::louvain::next_random;
use super::pace::{Pace, array};
use crate::{Adjacency, Node, Projection, TraversalError};

/// The number of edges of each vertex in the directions that the projection has. A self-loop counts
/// once in each.
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

/// What closeness is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closeness {
    /// The sum of one over the distance to each vertex that is reached: HugeGraph's.
    Harmonic,
    /// One over the mean distance to the vertices that are reached, times their share of all others
    /// (Wasserman and Faust).
    Classic,
}

/// The closeness of each vertex along paths of at most `depth` edges.
///
/// # Errors
/// Over the meter's bytes or its deadline.
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
            // Of no numbers `sum` gives -0.0.
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

/// What betweenness counts.
#[derive(Debug, Clone, Copy)]
pub struct Betweenness<'a> {
    /// Where paths begin; `None` = at every vertex.
    pub sources: Option<&'a [Node]>,
    /// Edges of a path, at most.
    pub depth: u32,
}

/// The betweenness of each vertex: for every ordered pair of other vertices, the share of the
/// shortest paths between them that lead through it (Brandes, 2001). Of an undirected graph each
/// pair counts twice, as in HugeGraph. With sources only the pairs that begin at one count, and the
/// sums are scaled up to all vertices.
///
/// # Errors
/// Over the meter's bytes or its deadline.
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

/// The stress of each vertex: how many shortest paths lead through it, counted as [`betweenness`].
///
/// # Errors
/// As [`betweenness`].
pub fn stress(
    graph: &Projection,
    ask: &Betweenness<'_>,
    meter: &Meter,
) -> Result<Vec<f64>, TraversalError> {
    paths_through(graph, ask, meter, |search, scores, simple, pace| {
        // How many shortest paths begin at a vertex and lead away from the source.
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

/// So many different vertices, drawn by a seed, ascending; all if there are no more.
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

/// Adds a source's part to the scores.
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

/// A search by breadth that counts shortest paths. Its arrays serve one source after the other.
struct Search {
    /// The vertices reached, in the order in which they were.
    order: Vec<Node>,
    /// Edges between the source and each vertex.
    depths: Vec<u32>,
    /// Shortest paths from the source to each vertex.
    paths: Vec<f64>,
    /// What is gathered on the way back.
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

    /// Forgets what the last source reached.
    fn clear(&mut self) {
        for node in self.order.drain(..) {
            let at = node as usize;
            self.depths[at] = UNSEEN;
            self.paths[at] = 0.0;
            self.backwards[at] = 0.0;
        }
    }
}
