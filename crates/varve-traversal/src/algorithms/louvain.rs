//! Communities by greedy modularity (Blondel, Guillaume, Lambiotte and Lefebvre, 2008).
//!
//! Edges count in both directions with their weights, and weights of parallel edges add up. A
//! self-loop counts once inside its community, and twice in the degree of its vertex.

use varve_view::Meter;

use super::communities::{Votes, distinct};
use super::pace::{Pace, array};
use crate::{Node, Projection, TraversalError};

/// A smaller gain of modularity moves no vertex: rounding errors could move vertices back and
/// forth.
const GAIN_MIN: f64 = 1e-12;

/// Parameters of [`louvain`].
#[derive(Debug, Clone, Copy)]
pub struct LouvainAsk {
    /// The most rounds over the vertices of a level.
    pub times: u32,
    /// A level ends when a round has moved at most this share of its vertices.
    pub precision: f64,
    /// The seed of the order in which vertices are visited.
    pub seed: u64,
}

/// Communities and their modularity.
#[derive(Debug, Clone, PartialEq)]
pub struct Louvain {
    /// For each vertex, the smallest vertex of its community.
    pub of: Vec<Node>,
    /// The number of communities.
    pub count: usize,
    /// The number of passes: after each, communities become the vertices of a smaller graph.
    pub passes: u32,
    /// The number of rounds in all passes.
    pub rounds: u32,
    /// The share of vertices that the last round moved.
    pub last_change: f64,
    /// The modularity of the result.
    pub modularity: f64,
}

/// Communities by greedy modularity. The projection must have both directions.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn louvain(
    graph: &Projection,
    ask: &LouvainAsk,
    meter: &Meter,
) -> Result<Louvain, TraversalError> {
    let mut of: Vec<Node> = array(meter, 0, graph.len())?;
    of.iter_mut()
        .zip(graph.nodes())
        .for_each(|(of, node)| *of = node);
    let mut level = Level::of(graph, meter)?;
    let (mut passes, mut rounds, mut last_change) = (0, 0, 0.0);
    let mut random = ask.seed;
    loop {
        let moved = level.move_vertices(ask, &mut random, meter)?;
        rounds += moved.rounds;
        last_change = if passes == 0 || moved.any {
            moved.last_change
        } else {
            last_change
        };
        if !moved.any {
            break;
        }
        passes += 1;
        let (numbers, smaller) = level.merged(&moved.of, meter)?;
        for community in &mut of {
            *community = numbers[moved.of[*community as usize] as usize];
        }
        meter.release(level.bytes());
        level = smaller;
    }
    let of = named_by_smallest(&of);
    Ok(Louvain {
        count: distinct(&of),
        modularity: modularity(graph, &of, meter)?,
        of,
        passes,
        rounds,
        last_change,
    })
}

/// The modularity of communities: the share of the weight inside them, minus the share expected in
/// a random graph with the same degrees.
///
/// # Errors
/// As [`louvain`].
pub fn modularity(graph: &Projection, of: &[Node], meter: &Meter) -> Result<f64, TraversalError> {
    let mut degrees: Vec<f64> = array(meter, 0.0, of.len())?;
    let (mut inside, mut all) = (0.0, 0.0);
    let mut pace = Pace::new(meter);
    for node in graph.nodes() {
        pace.step(graph.first().degree(node) as usize + 1)?;
        for (other, weight) in graph.first().weighted(node) {
            let (a, b) = (of[node as usize], of[other as usize]);
            all += weight;
            inside += if a == b { weight } else { 0.0 };
            degrees[a as usize] += weight;
            degrees[b as usize] += weight;
        }
    }
    if all == 0.0 {
        return Ok(0.0);
    }
    let expected = degrees.iter().map(|degree| (degree / (2.0 * all)).powi(2));
    Ok(inside / all - expected.sum::<f64>())
}

/// The same communities, each named by its smallest vertex.
fn named_by_smallest(of: &[Node]) -> Vec<Node> {
    let mut smallest = vec![Node::MAX; of.len()];
    for (node, community) in of.iter().enumerate() {
        let first = &mut smallest[*community as usize];
        *first = (*first).min(node as Node);
    }
    of.iter()
        .map(|community| smallest[*community as usize])
        .collect()
}

/// A weighted graph. Each edge is stored at both ends; self-loops are stored separately.
struct Level {
    starts: Vec<usize>,
    edges: Vec<(Node, f64)>,
    loops: Vec<f64>,
}

/// The result of the rounds of one level.
struct Moved {
    of: Vec<Node>,
    rounds: u32,
    any: bool,
    last_change: f64,
}

impl Level {
    fn of(graph: &Projection, meter: &Meter) -> Result<Self, TraversalError> {
        let halves: usize = graph.sides().iter().map(|side| side.len()).sum();
        let bytes = halves * size_of::<(Node, f64)>();
        meter.hold(bytes + graph.len() * size_of::<(usize, f64)>())?;
        let mut level = Self {
            starts: vec![0],
            edges: Vec::with_capacity(halves),
            loops: vec![0.0; graph.len()],
        };
        let mut pace = Pace::new(meter);
        for node in graph.nodes() {
            for (at, side) in graph.sides().iter().enumerate() {
                pace.step(side.degree(node) as usize + 1)?;
                for (other, weight) in side.weighted(node) {
                    match other == node {
                        true if at == 0 => level.loops[node as usize] += weight,
                        true => {}
                        false => level.edges.push((other, weight)),
                    }
                }
            }
            level.starts.push(level.edges.len());
        }
        Ok(level)
    }

    fn len(&self) -> usize {
        self.loops.len()
    }

    fn bytes(&self) -> usize {
        let vertices = self.len() * size_of::<(usize, f64)>();
        vertices + self.edges.len() * size_of::<(Node, f64)>()
    }

    fn edges_of(&self, node: Node) -> &[(Node, f64)] {
        let at = node as usize;
        &self.edges[self.starts[at]..self.starts[at + 1]]
    }

    fn degree(&self, node: Node) -> f64 {
        let edges = self.edges_of(node).iter().map(|(_, weight)| weight);
        edges.sum::<f64>() + 2.0 * self.loops[node as usize]
    }

    /// Moves vertices between communities while that increases the modularity.
    fn move_vertices(
        &self,
        ask: &LouvainAsk,
        random: &mut u64,
        meter: &Meter,
    ) -> Result<Moved, TraversalError> {
        let nodes: Vec<Node> = (0..self.len() as Node).collect();
        let degrees: Vec<f64> = nodes.iter().map(|node| self.degree(*node)).collect();
        let all: f64 = degrees.iter().sum();
        let mut totals = degrees.clone();
        let mut moved = Moved {
            of: nodes.clone(),
            rounds: 0,
            any: false,
            last_change: 0.0,
        };
        if all == 0.0 {
            return Ok(moved);
        }
        let order = shuffled(nodes, random);
        let mut votes = Votes::new(self.len(), meter)?;
        let mut pace = Pace::new(meter);
        while moved.rounds < ask.times {
            let mut changed = 0_usize;
            for node in &order {
                let edges = self.edges_of(*node);
                pace.step(edges.len() + 1)?;
                for (other, weight) in edges {
                    votes.add(moved.of[*other as usize], *weight);
                }
                let own = moved.of[*node as usize];
                let degree = degrees[*node as usize];
                totals[own as usize] -= degree;
                let gain = |community: Node| {
                    votes.of(community) - totals[community as usize] * degree / all
                };
                let mut best = (gain(own) + GAIN_MIN * all, own);
                for community in votes.met() {
                    let gained = gain(*community);
                    let is_better = gained > best.0;
                    let is_first = gained == best.0 && best.1 != own && *community < best.1;
                    if *community != own && (is_better || is_first) {
                        best = (gained, *community);
                    }
                }
                totals[best.1 as usize] += degree;
                moved.of[*node as usize] = best.1;
                changed += usize::from(best.1 != own);
                votes.clear();
            }
            moved.rounds += 1;
            moved.any |= changed > 0;
            moved.last_change = changed as f64 / self.len() as f64;
            if moved.last_change <= ask.precision {
                break;
            }
        }
        meter.release(self.len() * size_of::<(f64, bool)>());
        Ok(moved)
    }

    /// The graph of the communities, and for each community its number in that graph.
    fn merged(&self, of: &[Node], meter: &Meter) -> Result<(Vec<Node>, Self), TraversalError> {
        let mut numbers = vec![Node::MAX; self.len()];
        let mut members: Vec<Vec<Node>> = Vec::new();
        for (node, community) in of.iter().enumerate() {
            let number = &mut numbers[*community as usize];
            if *number == Node::MAX {
                *number = members.len() as Node;
                members.push(Vec::new());
            }
            members[*number as usize].push(node as Node);
        }
        let mut level = Self {
            starts: vec![0],
            edges: Vec::new(),
            loops: vec![0.0; members.len()],
        };
        let mut votes = Votes::new(members.len(), meter)?;
        let mut pace = Pace::new(meter);
        for (number, members) in members.iter().enumerate() {
            let own = number as Node;
            for member in members {
                level.loops[number] += self.loops[*member as usize];
                let edges = self.edges_of(*member);
                pace.step(edges.len() + 1)?;
                for (other, weight) in edges {
                    votes.add(numbers[of[*other as usize] as usize], *weight);
                }
            }
            // An edge inside a community was counted from both ends.
            level.loops[number] += votes.of(own) / 2.0;
            let mut others: Vec<Node> = votes.met().to_vec();
            others.sort_unstable();
            let others = others.into_iter().filter(|other| *other != own);
            level
                .edges
                .extend(others.map(|other| (other, votes.of(other))));
            level.starts.push(level.edges.len());
            votes.clear();
        }
        meter.hold(level.bytes())?;
        Ok((numbers, level))
    }
}

/// The vertices in an order drawn from `random` (Fisher and Yates; numbers by SplitMix64).
fn shuffled(mut nodes: Vec<Node>, random: &mut u64) -> Vec<Node> {
    for end in (1..nodes.len()).rev() {
        let at = next_random(random) % (end as u64 + 1);
        nodes.swap(end, at as usize);
    }
    nodes
}

/// The next pseudo-random number of a sequence (SplitMix64).
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
