//! Communities by label propagation (Raghavan, Albert and Kumara, 2007).

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Node, Projection, TraversalError};

/// The community of each vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// For each vertex, a vertex that names its community.
    pub of: Vec<Node>,
    /// How many there are.
    pub count: usize,
    /// Rounds made.
    pub rounds: u32,
    /// The share of vertices that the last round changed.
    pub last_change: f64,
}

/// Communities by label propagation. At first each vertex is its own. A round visits the vertices
/// in order; each takes the community that most of the weight of its edges leads to, of equals its
/// own, else the smallest. Ends after `times` rounds, or when a round changed a share of at most
/// `precision` of the vertices.
///
/// # Errors
/// Over the meter's bytes or its deadline.
pub fn label_propagation(
    graph: &Projection,
    times: u32,
    precision: f64,
    meter: &Meter,
) -> Result<Communities, TraversalError> {
    let count = graph.len();
    let mut of: Vec<Node> = array(meter, 0, count)?;
    for node in graph.nodes() {
        of[node as usize] = node;
    }
    let mut votes = Votes::new(count, meter)?;
    let (mut rounds, mut last_change) = (0, f64::INFINITY);
    let mut pace = Pace::new(meter);
    let sides = graph.sides();
    while rounds < times && last_change > precision && count > 0 {
        let mut changed = 0_usize;
        for node in graph.nodes() {
            for side in &sides {
                pace.step(side.degree(node) as usize + 1)?;
                for (other, weight) in side.weighted(node) {
                    votes.add(of[other as usize], weight);
                }
            }
            let own = of[node as usize];
            let best = votes.best(own);
            changed += usize::from(best != own);
            of[node as usize] = best;
        }
        last_change = changed as f64 / count as f64;
        rounds += 1;
    }
    Ok(Communities {
        count: distinct(&of),
        of,
        rounds,
        last_change: if rounds == 0 { 0.0 } else { last_change },
    })
}

/// How many different numbers there are.
pub(super) fn distinct(of: &[Node]) -> usize {
    let mut seen = vec![false; of.len()];
    let new = |node: &&Node| !std::mem::replace(&mut seen[**node as usize], true);
    of.iter().filter(new).count()
}

/// The weight of edges into each community, for one vertex at a time.
pub(super) struct Votes {
    weights: Vec<f64>,
    /// Communities that have a weight.
    met: Vec<Node>,
    is_met: Vec<bool>,
}

impl Votes {
    pub(super) fn new(count: usize, meter: &Meter) -> Result<Self, TraversalError> {
        Ok(Self {
            weights: array(meter, 0.0, count)?,
            met: Vec::new(),
            is_met: array(meter, false, count)?,
        })
    }

    pub(super) fn add(&mut self, community: Node, weight: f64) {
        let at = community as usize;
        if !std::mem::replace(&mut self.is_met[at], true) {
            self.met.push(community);
            self.weights[at] = 0.0;
        }
        self.weights[at] += weight;
    }

    pub(super) fn of(&self, community: Node) -> f64 {
        match self.is_met[community as usize] {
            true => self.weights[community as usize],
            false => 0.0,
        }
    }

    /// Communities that have votes, in the order in which they were met.
    pub(super) fn met(&self) -> &[Node] {
        &self.met
    }

    pub(super) fn clear(&mut self) {
        for community in self.met.drain(..) {
            self.is_met[community as usize] = false;
        }
    }

    /// The community with the greatest weight, of equals `own`, else the smallest. Clears.
    fn best(&mut self, own: Node) -> Node {
        let greatest = self.met.iter().map(|community| self.of(*community));
        let greatest = greatest.fold(f64::NEG_INFINITY, f64::max);
        let equals = self.met.iter().copied();
        let equals = equals.filter(|community| self.of(*community) >= greatest);
        let best = match self.is_met[own as usize] && self.of(own) >= greatest {
            true => own,
            false => equals.min().unwrap_or(own),
        };
        self.clear();
        best
    }
}
