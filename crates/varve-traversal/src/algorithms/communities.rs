//! Communities by label propagation (Raghavan, Albert and Kumara, 2007).

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Node, Projection, TraversalError};

/// The community of each vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// For each vertex, a vertex that names its community.
    pub of: Vec<Node>,
    /// The number of communities.
    pub count: usize,
    /// The number of rounds.
    pub rounds: u32,
    /// The share of vertices that the last round moved to another community; 0 without a round.
    pub last_change: f64,
}

/// Finds communities by label propagation. At first each vertex is its own community. A round
/// visits the vertices in order. Each joins the community to which its edges have the greatest
/// total weight: among equals its own community, else the smallest. A vertex without edges stays in
/// its own. Ends after `times` rounds, or after a round that moved a share of at most `precision`
/// of the vertices.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, its deadline has passed, or the request was
/// cancelled.
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

/// The number of distinct values.
pub(super) fn distinct(of: &[Node]) -> usize {
    let mut seen = vec![false; of.len()];
    let new = |node: &&Node| !std::mem::replace(&mut seen[**node as usize], true);
    of.iter().filter(new).count()
}

/// The weights of one vertex's edges into each community.
pub(super) struct Votes {
    weights: Vec<f64>,
    /// The communities with a weight, in the order in which they were added.
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

    /// The communities with a weight since the last clearing, in the order in which they were
    /// added.
    pub(super) fn met(&self) -> &[Node] {
        &self.met
    }

    pub(super) fn clear(&mut self) {
        for community in self.met.drain(..) {
            self.is_met[community as usize] = false;
        }
    }

    /// Returns the community with the greatest weight: among equals `own`, else the smallest;
    /// without weights `own`. Clears the weights.
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
