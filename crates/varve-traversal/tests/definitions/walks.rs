//! Rings, rays and crosspoints.

use std::collections::BTreeSet;

use varve_traversal::crosspoints::{Crosspoints, crosspoints};
use varve_traversal::rings::{Rings, rays, rings};
use varve_traversal::{Capacity, Search, Step, TraversalError};
use varve_view::Meter;

use super::graphs::{on_graphs, places};
use super::naive;
use super::world::{World, id};

/// The normal form of a ring, equal for both orientations. `place` is the index at which it closes.
fn either_way(walk: &[usize], place: usize) -> Vec<usize> {
    let mut mirrored = walk.to_vec();
    mirrored[place..].reverse();
    walk.to_vec().min(mirrored)
}

fn either_way_of(walk: &[usize]) -> Vec<usize> {
    let last = walk[walk.len() - 1];
    let place = walk.iter().position(|vertex| *vertex == last);
    either_way(walk, place.expect("it is on the walk"))
}

/// The next vertices of a walk: those that it has visited, and those that it has not.
fn ways_on(world: &World, step: &Step, walk: &[usize]) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let hops = naive::hops(world, step, walk[walk.len() - 1]);
    let all = hops.iter().map(|(other, ..)| *other);
    let (back, mut on): (BTreeSet<usize>, BTreeSet<usize>) =
        all.partition(|other| walk.contains(other));
    let mut back = back;
    if let (None, [.., before, last]) = (step.direction, walk)
        && before != last
    {
        let own = hops.iter().filter(|(other, ..)| other == before);
        let mut directions: Vec<_> = own.map(|(_, _, direction)| *direction).collect();
        directions.dedup();
        if directions.len() < 2 {
            back.remove(before);
        }
    }
    on.retain(|vertex| !back.contains(vertex));
    (on, back)
}

/// The walks of `edges` edges that visit no vertex twice.
fn simple_walks(world: &World, step: &Step, source: usize, edges: usize) -> Vec<Vec<usize>> {
    let mut walks = vec![vec![source]];
    for _ in 0..edges {
        let longer = walks.iter().flat_map(|walk| {
            let next: BTreeSet<usize> = naive::next(world, step, walk[walk.len() - 1])
                .into_iter()
                .filter(|other| !walk.contains(other))
                .collect();
            next.into_iter()
                .map(|other| [&walk[..], &[other]].concat())
                .collect::<Vec<_>>()
        });
        walks = longer.collect();
    }
    walks
}

fn all_rings(
    world: &World,
    step: &Step,
    source: usize,
    depth: usize,
    at_source: bool,
) -> BTreeSet<Vec<usize>> {
    let mut found = BTreeSet::new();
    for edges in 0..depth {
        for walk in simple_walks(world, step, source, edges) {
            let (_, back) = ways_on(world, step, &walk);
            let closing = back
                .iter()
                .filter(|other| !at_source || **other == source)
                .map(|other| either_way_of(&[&walk[..], &[*other]].concat()));
            found.extend(closing);
        }
    }
    found
}

fn all_rays(world: &World, step: &Step, source: usize, depth: usize) -> BTreeSet<Vec<usize>> {
    let mut found: BTreeSet<Vec<usize>> = simple_walks(world, step, source, depth)
        .into_iter()
        .collect();
    for edges in 0..depth {
        let walks = simple_walks(world, step, source, edges).into_iter();
        found.extend(walks.filter(|walk| {
            let (on, back) = ways_on(world, step, walk);
            on.is_empty() && back.is_empty()
        }));
    }
    found
}

/// Requests all results, the first few, and results under a capacity that may not suffice.
fn check(
    wanted: &BTreeSet<Vec<usize>>,
    few: usize,
    written: impl Fn(&[usize]) -> Vec<usize>,
    ask: impl Fn(u64, Capacity) -> Result<Vec<Vec<usize>>, TraversalError>,
) {
    let all = ask(u64::MAX, Capacity::NONE).expect("an answer");
    let got: BTreeSet<Vec<usize>> = all.iter().map(|path| written(path)).collect();
    assert_eq!(got.len(), all.len(), "one stands twice in {all:?}");
    assert_eq!(&got, wanted);
    assert!(all.is_sorted_by_key(Vec::len), "{all:?}");
    let first = ask(few as u64, Capacity::NONE).expect("an answer");
    assert_eq!(first, all[..all.len().min(few)]);
    match ask(u64::MAX, Capacity::of(few as u64)) {
        Ok(answer) => assert_eq!(answer, all),
        Err(TraversalError::Capacity(text)) => {
            assert!(text.starts_with(&format!("Exceed capacity '{few}' while finding ")));
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn rings_and_rays() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let (source, depth) = (world.vertex(random), 1 + random.below(5));
        let few = 1 + random.below(4);
        for source_in_ring in [true, false] {
            let ask = |limit, capacity| Rings {
                depth: depth as u64,
                source_in_ring,
                capacity,
                limit,
            };
            let wanted = all_rings(world, &step, source, depth, source_in_ring);
            check(&wanted, few, either_way_of, |limit, capacity| {
                let mut search = Search::new(world.shown(), &meter);
                let start = search.number(&id(source))?;
                let found = rings(&mut search, start, &step, &ask(limit, capacity))?;
                Ok(found.iter().map(|path| places(&search, path)).collect())
            });
        }
        let wanted = all_rays(world, &step, source, depth);
        check(&wanted, few, <[usize]>::to_vec, |limit, capacity| {
            let ask = Rings {
                depth: depth as u64,
                source_in_ring: true,
                capacity,
                limit,
            };
            let mut search = Search::new(world.shown(), &meter);
            let start = search.number(&id(source))?;
            let found = rays(&mut search, start, &step, &ask)?;
            Ok(found.iter().map(|path| places(&search, path)).collect())
        });
    });
}

#[test]
fn crosspoints_of_two_vertices() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let (source, target) = (world.vertex(random), world.vertex(random));
        let (depth, few) = (1 + random.below(5), 1 + random.below(4));
        let mut wanted = BTreeSet::new();
        for length in 1..=depth {
            for near in simple_walks(world, &step, source, length.div_ceil(2)) {
                for far in simple_walks(world, &step, target, length / 2) {
                    let way = far.iter().rev().skip(1).copied();
                    let path: Vec<usize> = near.iter().copied().chain(way).collect();
                    let is_simple = path.iter().collect::<BTreeSet<_>>().len() == path.len();
                    if near.last() == far.last() && is_simple {
                        wanted.insert(path);
                    }
                }
            }
        }
        if source == target {
            wanted.clear();
        }
        check(&wanted, few, <[usize]>::to_vec, |limit, capacity| {
            let ask = Crosspoints {
                depth: depth as u64,
                capacity,
                limit,
            };
            let mut search = Search::new(world.shown(), &meter);
            let ends = [search.number(&id(source))?, search.number(&id(target))?];
            let found = crosspoints(&mut search, ends[0], ends[1], &step, &ask)?;
            let middle = |edges: usize| edges.div_ceil(2);
            for crossing in &found {
                let vertices = &crossing.path.vertices;
                assert_eq!(vertices[middle(vertices.len() - 1)], crossing.crosspoint);
            }
            let paths = found.iter().map(|crossing| places(&search, &crossing.path));
            Ok(paths.collect())
        });
    });
}
