//! Random graphs with parallel edges, self-loops, weights and vertices without edges.

use varve_testkit::Random;
use varve_traversal::Node;

use super::world::Graph;

/// The number of random graphs of one test.
pub(crate) const GRAPHS: u64 = 2_000;

pub(crate) fn graph(_number: u64, random: &mut Random) -> Graph {
    let vertices = 2 + random.below(8);
    let is_weighted = random.below(2) == 0;
    let edge = |random: &mut Random| {
        let weight = match is_weighted {
            true => random.below(7) as f64 / 2.0,
            false => 1.0,
        };
        let ends = [0, 1].map(|_| random.below(vertices) as Node);
        (ends[0], ends[1], weight)
    };
    let count = random.below(3 * vertices);
    let mut edges: Vec<_> = (0..count).map(|_| edge(random)).collect();
    edges.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    Graph::of(vertices, edges)
}
