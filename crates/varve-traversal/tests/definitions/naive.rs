//! The definitions, computed without any of the crate's code.

use std::collections::BTreeSet;

use varve_model::{Condition, Direction, Edge, EdgeId, Properties, Vertex};
use varve_traversal::Step;

use super::world::{KEY, World, id, place};

fn satisfies(conditions: &[Condition], properties: &Properties) -> bool {
    let none = |_: &str, _: &str| false;
    conditions
        .iter()
        .all(|condition| condition.holds(properties, &none))
}

/// The vertex, if it exists: some vertices are only named by edges.
fn vertex(world: &World, at: usize) -> Option<&Vertex> {
    let mut all = world.view.all_vertices().iter();
    all.find(|vertex| vertex.id == id(at))
}

fn may_stand(world: &World, step: &Step, at: usize) -> bool {
    let passes = |vertex: &Vertex| {
        step.vertices.iter().any(|filter| {
            filter.label.is_none_or(|label| label == vertex.label)
                && satisfies(&filter.conditions, &vertex.properties)
        })
    };
    step.vertices.is_empty() || vertex(world, at).is_some_and(passes)
}

/// The edges of a vertex in the step's direction and labels, in storage order.
fn edges(world: &World, step: &Step, at: usize) -> Vec<(usize, Edge, Direction)> {
    let mut found = Vec::new();
    for direction in [Direction::Out, Direction::In] {
        if step.direction.is_some_and(|asked| asked != direction) {
            continue;
        }
        let all = world.view.all_edges().iter();
        let mut own: Vec<Edge> = all
            .filter(|edge| *edge.id.owner(direction) == id(at))
            .filter(|edge| step.labels.is_empty() || step.labels.contains(&edge.id.label))
            .cloned()
            .collect();
        own.sort_by_key(|edge| {
            let other = place(edge.id.other(direction));
            (edge.id.label, edge.id.sort_values.clone(), other)
        });
        let ends = own.into_iter();
        found.extend(ends.map(|edge| (place(edge.id.other(direction)), edge, direction)));
    }
    found
}

/// The number of edges of a vertex in the step's direction and labels.
pub(crate) fn degree(world: &World, step: &Step, at: usize) -> usize {
    edges(world, step, at).len()
}

/// The edges that a step follows from a vertex, with their other ends.
pub(crate) fn hops(world: &World, step: &Step, at: usize) -> Vec<(usize, Edge, Direction)> {
    if !may_stand(world, step, at) {
        return Vec::new();
    }
    let mut edges = edges(world, step, at);
    if step
        .skip_degree
        .is_some_and(|skip| edges.len() as u64 >= skip)
    {
        return Vec::new();
    }
    edges.truncate(step.max_degree.map_or(usize::MAX, |most| most as usize));
    let passes = |edge: &Edge| {
        step.edges.is_empty()
            || step.edges.iter().any(|filter| {
                filter.label.is_none_or(|label| label == edge.id.label)
                    && satisfies(&filter.conditions, &edge.properties)
            })
    };
    let ends = edges.into_iter().filter(|(_, edge, _)| passes(edge));
    ends.filter(|(other, ..)| may_stand(world, step, *other))
        .collect()
}

/// The edges from one vertex to another in storage order. The vertices need not exist.
pub(crate) fn edges_between(world: &World, source: usize, target: usize) -> Vec<EdgeId> {
    let all = world.view.all_edges().iter().map(|edge| &edge.id);
    let own = all.filter(|id| id.source == self::id(source) && id.target == self::id(target));
    let mut own: Vec<EdgeId> = own.cloned().collect();
    own.sort_by_key(|id| (id.label, id.sort_values.clone()));
    own
}

/// The neighbours that a step leads to, once for each edge.
pub(crate) fn next(world: &World, step: &Step, at: usize) -> Vec<usize> {
    let hops = hops(world, step, at).into_iter();
    hops.map(|(other, ..)| other).collect()
}

/// The distance of each vertex from the source; `None` = not reached.
pub(crate) fn distances(world: &World, step: &Step, source: usize) -> Vec<Option<usize>> {
    let count = world.places();
    let mut distances = vec![None; count];
    distances[source] = Some(0);
    for round in 0..count {
        for at in 0..count {
            if distances[at] == Some(round) {
                for other in next(world, step, at) {
                    if distances[other].is_none() {
                        distances[other] = Some(round + 1);
                    }
                }
            }
        }
    }
    distances
}

pub(crate) fn at_distance(distances: &[Option<usize>], depth: usize) -> BTreeSet<usize> {
    let all = distances.iter().enumerate();
    all.filter(|(_, at)| **at == Some(depth))
        .map(|(vertex, _)| vertex)
        .collect()
}

/// The ends of walks of `depth` edges that never return to the source.
pub(crate) fn walk_ends(
    world: &World,
    step: &Step,
    source: usize,
    depth: usize,
) -> BTreeSet<usize> {
    let mut ends = BTreeSet::from([source]);
    for _ in 0..depth {
        let each = ends.iter().flat_map(|at| next(world, step, *at));
        ends = each.filter(|other| *other != source).collect();
    }
    ends
}

/// The neighbours that a step leads to, with the edge's weight: its property, or 1.
fn weighted(world: &World, step: &Step, at: usize) -> Vec<(usize, i64)> {
    let weight = |edge: &Edge| {
        edge.properties
            .get(KEY)
            .and_then(varve_model::Value::as_i64)
    };
    let hops = hops(world, step, at).into_iter();
    hops.map(|(other, edge, _)| (other, weight(&edge).unwrap_or(1)))
        .collect()
}

/// The least weight of a path to each vertex (Bellman and Ford); for steps without degree bounds.
pub(crate) fn least_weights(world: &World, step: &Step, source: usize) -> Vec<Option<i64>> {
    let count = world.places();
    let mut least = vec![None; count];
    least[source] = Some(0);
    for _ in 0..count {
        for at in 0..count {
            let Some(weight) = least[at] else { continue };
            for (other, edge) in weighted(world, step, at) {
                if least[other].is_none_or(|known| weight + edge < known) {
                    least[other] = Some(weight + edge);
                }
            }
        }
    }
    least
}

/// The least weight of the edges of a path.
pub(crate) fn path_weight(world: &World, step: &Step, path: &[usize]) -> i64 {
    let pairs = path.windows(2).map(|pair| {
        let edges = weighted(world, step, pair[0]).into_iter();
        let own = edges.filter(|(other, _)| *other == pair[1]);
        own.map(|(_, weight)| weight).min().expect("an edge")
    });
    pairs.sum()
}

/// All simple paths of 1 to `depth` edges.
pub(crate) fn simple_paths(
    world: &World,
    step: &Step,
    source: usize,
    target: usize,
    depth: usize,
) -> BTreeSet<Vec<usize>> {
    let mut found = BTreeSet::new();
    let mut walks = BTreeSet::from([vec![source]]);
    for _ in 0..depth {
        let mut longer = BTreeSet::new();
        for walk in &walks {
            for other in next(world, step, walk[walk.len() - 1]) {
                if !walk.contains(&other) {
                    longer.insert([&walk[..], &[other]].concat());
                }
            }
        }
        let ends = longer.iter().filter(|walk| walk[walk.len() - 1] == target);
        found.extend(ends.cloned());
        walks = longer;
    }
    found
}

/// All paths of least length, if that is at most `depth`.
pub(crate) fn shortest_paths(
    world: &World,
    step: &Step,
    source: usize,
    target: usize,
    depth: usize,
) -> BTreeSet<Vec<usize>> {
    let mut walks = BTreeSet::from([vec![source]]);
    for _ in 0..=depth {
        let there = |walk: &Vec<usize>| walk.last() == Some(&target);
        let found: BTreeSet<Vec<usize>> =
            walks.iter().filter(|walk| there(walk)).cloned().collect();
        if !found.is_empty() {
            return found;
        }
        let mut longer = BTreeSet::new();
        for walk in &walks {
            for other in next(world, step, walk[walk.len() - 1]) {
                if !walk.contains(&other) {
                    longer.insert([&walk[..], &[other]].concat());
                }
            }
        }
        walks = longer;
    }
    BTreeSet::new()
}
