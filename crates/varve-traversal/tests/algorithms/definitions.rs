//! The algorithms by brute force from their definitions.

use std::collections::BTreeSet;

use varve_traversal::algorithms::UNREACHED;
use varve_traversal::{Node, Projection};

use super::world::Graph;

/// The number of distinct values.
pub(crate) fn classes(of: &[Node]) -> usize {
    of.iter().collect::<BTreeSet<_>>().len()
}

/// The vertices that each vertex reaches, including itself.
fn reached(vertices: usize, edges: &[(Node, Node)]) -> Vec<BTreeSet<Node>> {
    let mut reached: Vec<BTreeSet<Node>> = (0..vertices as Node).map(|n| [n].into()).collect();
    loop {
        let before: usize = reached.iter().map(BTreeSet::len).sum();
        for (from, to) in edges {
            let further = reached[*to as usize].clone();
            reached[*from as usize].extend(further);
        }
        if reached.iter().map(BTreeSet::len).sum::<usize>() == before {
            return reached;
        }
    }
}

pub(crate) fn strong(graph: &Graph) -> Vec<Node> {
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let reached = reached(graph.vertices, &edges);
    let of = |node: usize| {
        let mut both = reached[node].iter().copied();
        both.find(|other| reached[*other as usize].contains(&(node as Node)))
    };
    (0..graph.vertices)
        .map(|node| of(node).expect("itself"))
        .collect()
}

pub(crate) fn weak(graph: &Graph) -> Vec<Node> {
    let ways = graph
        .edges
        .iter()
        .flat_map(|edge| [(edge.0, edge.1), (edge.1, edge.0)]);
    let reached = reached(graph.vertices, &ways.collect::<Vec<_>>());
    let first = |set: &BTreeSet<Node>| *set.first().expect("itself");
    reached.iter().map(first).collect()
}

/// The right-hand side of PageRank's equation.
pub(crate) fn page_rank_step(
    graph: &Graph,
    ranks: &[f64],
    alpha: f64,
    sources: &[Node],
) -> Vec<f64> {
    let sources: BTreeSet<Node> = match sources {
        [] => (0..graph.vertices as Node).collect(),
        some => some.iter().copied().collect(),
    };
    let weight_of = |node: Node| -> f64 {
        let own = graph.edges.iter().filter(|edge| edge.0 == node);
        own.map(|edge| edge.2).sum()
    };
    let dangling: f64 = (0..graph.vertices)
        .filter(|node| weight_of(*node as Node) == 0.0)
        .map(|node| ranks[node])
        .sum();
    let rank = |node: Node| {
        let jump = match sources.contains(&node) {
            true => (alpha + (1.0 - alpha) * dangling) / sources.len() as f64,
            false => 0.0,
        };
        let into = graph
            .edges
            .iter()
            .filter(|edge| edge.1 == node && edge.2 > 0.0);
        let followed = into.map(|edge| ranks[edge.0 as usize] * edge.2 / weight_of(edge.0));
        jump + (1.0 - alpha) * followed.sum::<f64>()
    };
    (0..graph.vertices as Node).map(rank).collect()
}

/// The product of the adjacency matrix and a vector.
pub(crate) fn turned(graph: &Graph, vector: &[f64]) -> Vec<f64> {
    let mut turned = vec![0.0; graph.vertices];
    for (from, to, weight) in &graph.edges {
        turned[*to as usize] += weight * vector[*from as usize];
    }
    turned
}

fn are_joined(graph: &Graph, a: Node, b: Node) -> bool {
    let joins = |edge: &(Node, Node, f64)| (edge.0, edge.1) == (a, b) || (edge.0, edge.1) == (b, a);
    a != b && graph.edges.iter().any(joins)
}

/// For each vertex, the number of its triangles and of the pairs of its neighbours.
pub(crate) fn triangles(graph: &Graph) -> (Vec<u64>, Vec<u64>) {
    let nodes = 0..graph.vertices as Node;
    let (mut of, mut pairs) = (vec![0; graph.vertices], vec![0; graph.vertices]);
    for a in nodes.clone() {
        for b in nodes.clone() {
            for c in b + 1..graph.vertices as Node {
                if are_joined(graph, a, b) && are_joined(graph, a, c) {
                    pairs[a as usize] += 1;
                    of[a as usize] += u64::from(are_joined(graph, b, c));
                }
            }
        }
    }
    (of, pairs)
}

pub(crate) fn core_numbers(graph: &Graph) -> Vec<u32> {
    let mut cores = vec![0; graph.vertices];
    for k in 1..graph.vertices {
        let mut left: BTreeSet<Node> = (0..graph.vertices as Node).collect();
        loop {
            let joined = |node: &Node| {
                left.iter()
                    .filter(|b| are_joined(graph, *node, **b))
                    .count()
            };
            let kept: BTreeSet<Node> = left.iter().copied().filter(|n| joined(n) >= k).collect();
            if kept == left {
                break;
            }
            left = kept;
        }
        for node in left {
            cores[node as usize] = k as u32;
        }
    }
    cores
}

pub(crate) fn label_propagation(graph: &Graph, times: u32, precision: f64) -> (Vec<Node>, u32) {
    let mut of: Vec<Node> = (0..graph.vertices as Node).collect();
    for round in 1..=times {
        let mut changed = 0;
        for node in 0..graph.vertices as Node {
            let votes = |community: Node| -> Option<f64> {
                let mut votes = None;
                for (from, to, weight) in &graph.edges {
                    for (own, other) in [(from, to), (to, from)] {
                        if *own == node && of[*other as usize] == community {
                            *votes.get_or_insert(0.0) += weight;
                        }
                    }
                }
                votes
            };
            let all = (0..graph.vertices as Node).filter_map(|c| Some((c, votes(c)?)));
            let most = all
                .clone()
                .map(|(_, votes)| votes)
                .fold(f64::NEG_INFINITY, f64::max);
            let mut best = all.filter(|(_, votes)| *votes == most).map(|(c, _)| c);
            let own = of[node as usize];
            let chosen = match best.clone().any(|community| community == own) {
                true => own,
                false => best.next().unwrap_or(own),
            };
            changed += usize::from(chosen != own);
            of[node as usize] = chosen;
        }
        if changed as f64 / graph.vertices as f64 <= precision {
            return (of, round);
        }
    }
    (of, times)
}

/// Modularity as the sum over all pairs of vertices.
pub(crate) fn modularity(graph: &Graph, of: &[Node]) -> f64 {
    let nodes = graph.vertices;
    let mut matrix = vec![vec![0.0; nodes]; nodes];
    for (from, to, weight) in &graph.edges {
        matrix[*from as usize][*to as usize] += weight;
        matrix[*to as usize][*from as usize] += weight;
    }
    let degrees: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let all: f64 = degrees.iter().sum();
    if all == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for a in 0..nodes {
        for b in 0..nodes {
            if of[a] == of[b] {
                sum += matrix[a][b] - degrees[a] * degrees[b] / all;
            }
        }
    }
    sum / all
}

/// The edges of a projection in each of its directions.
fn ways(graph: &Projection) -> Vec<(Node, Node, f64)> {
    let mut ways = Vec::new();
    for side in graph.sides() {
        for node in graph.nodes() {
            ways.extend(
                side.weighted(node)
                    .map(|(other, weight)| (node, other, weight)),
            );
        }
    }
    ways
}

/// The weights of lightest paths between all pairs (Floyd and Warshall).
pub(crate) fn distances(graph: &Projection) -> Vec<Vec<f64>> {
    lightest(graph, &ways(graph))
}

/// The number of edges of shortest paths between all pairs.
pub(crate) fn hops(graph: &Projection) -> Vec<Vec<u32>> {
    let ones: Vec<_> = ways(graph)
        .into_iter()
        .map(|(a, b, _)| (a, b, 1.0))
        .collect();
    let hops = |sum: f64| {
        if sum.is_finite() {
            sum as u32
        } else {
            UNREACHED
        }
    };
    let rows = lightest(graph, &ones).into_iter();
    rows.map(|row| row.into_iter().map(hops).collect())
        .collect()
}

fn lightest(graph: &Projection, ways: &[(Node, Node, f64)]) -> Vec<Vec<f64>> {
    let count = graph.len();
    let mut sums = vec![vec![f64::INFINITY; count]; count];
    for (node, row) in sums.iter_mut().enumerate() {
        row[node] = 0.0;
    }
    for (from, to, weight) in ways {
        let sum = &mut sums[*from as usize][*to as usize];
        *sum = sum.min(*weight);
    }
    for through in 0..count {
        for from in 0..count {
            for to in 0..count {
                let sum = sums[from][through] + sums[through][to];
                sums[from][to] = sums[from][to].min(sum);
            }
        }
    }
    sums
}

/// Betweenness and stress: the shares and the numbers of shortest paths through each vertex.
pub(crate) fn between(graph: &Projection, sources: &[Node], depth: u32) -> (Vec<f64>, Vec<f64>) {
    let hops = hops(graph);
    let joined: BTreeSet<(Node, Node)> = ways(graph).iter().map(|way| (way.0, way.1)).collect();
    // The number of shortest paths between each pair.
    let mut paths = vec![vec![0.0; graph.len()]; graph.len()];
    for from in graph.nodes() {
        let mut order: Vec<Node> = graph.nodes().collect();
        order.sort_by_key(|node| hops[from as usize][*node as usize]);
        paths[from as usize][from as usize] = 1.0;
        for to in order {
            let away = hops[from as usize][to as usize];
            if to == from || away == UNREACHED {
                continue;
            }
            let before = graph.nodes().filter(|node| {
                joined.contains(&(*node, to)) && hops[from as usize][*node as usize] == away - 1
            });
            let sum: f64 = before.map(|node| paths[from as usize][node as usize]).sum();
            paths[from as usize][to as usize] = sum;
        }
    }
    let (mut shares, mut counts) = (vec![0.0; graph.len()], vec![0.0; graph.len()]);
    for from in sources.iter().map(|source| *source as usize) {
        for to in (0..graph.len()).filter(|to| *to != from) {
            let away = hops[from][to];
            if away == UNREACHED || away > depth {
                continue;
            }
            for through in (0..graph.len()).filter(|node| *node != from && *node != to) {
                let parts = [hops[from][through], hops[through][to]];
                if parts.contains(&UNREACHED) || parts[0] + parts[1] != away {
                    continue;
                }
                let count = paths[from][through] * paths[through][to];
                counts[through] += count;
                shares[through] += count / paths[from][to];
            }
        }
    }
    (shares, counts)
}

/// All rings of at most `depth` edges, sorted.
pub(crate) fn rings(graph: &Graph, depth: usize, direction: &str) -> Vec<Vec<Node>> {
    let edges: BTreeSet<(Node, Node)> = graph.edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let leads = |a: Node, b: Node| match direction {
        "out" => edges.contains(&(a, b)),
        "in" => edges.contains(&(b, a)),
        _ => edges.contains(&(a, b)) || edges.contains(&(b, a)),
    };
    let mut paths: Vec<Vec<Node>> = (0..graph.vertices as Node).map(|node| vec![node]).collect();
    let mut found: BTreeSet<Vec<Node>> = BTreeSet::new();
    for _ in 0..depth {
        for path in &paths {
            let (first, last) = (path[0], *path.last().expect("not empty"));
            let closes = match path.len() {
                2 if direction == "both" => {
                    edges.contains(&(first, last)) && edges.contains(&(last, first))
                }
                _ => leads(last, first),
            };
            let mirrored: Vec<Node> = [
                &path[..1],
                &path[1..].iter().rev().copied().collect::<Vec<_>>(),
            ]
            .concat();
            let is_other_way = direction == "both" && mirrored < *path;
            if closes && path.iter().all(|node| *node >= first) && !is_other_way {
                found.insert(path.clone());
            }
        }
        let longer = paths.iter().flat_map(|path| {
            let last = *path.last().expect("not empty");
            let next = (0..graph.vertices as Node).filter(move |node| leads(last, *node));
            let new = next.filter(move |node| !path.contains(node));
            new.map(move |node| [path.as_slice(), &[node]].concat())
        });
        paths = longer.collect();
    }
    found.into_iter().collect()
}
