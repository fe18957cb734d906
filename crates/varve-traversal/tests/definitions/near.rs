//! Neighbourhoods, shortest and lightest paths, simple paths, similarity.

use std::collections::BTreeSet;

use varve_traversal::neighbourhood::{KOut, k_neighbor, k_out};
use varve_traversal::paths::{SimplePaths, simple_paths};
use varve_traversal::shortest::{Shortest, shortest_paths};
use varve_traversal::similarity::{Weight, jaccard, link_prediction, same_neighbours};
use varve_traversal::weighted::{Lightest, lightest_paths};
use varve_traversal::{Capacity, Parallel, Search, edges_of};
use varve_view::Meter;

use super::graphs::{assert_walks, assert_whole, distinct, ids, on_graphs, places};
use super::{naive, world};

#[test]
fn k_out_and_k_neighbor() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let (source, depth) = (world.vertex(random), 1 + random.below(4));
        let distances = naive::distances(world, &step, source);
        for nearest in [true, false] {
            let mut search = Search::new(world.shown(), &meter);
            let start = search.number(&world::id(source)).expect("a number");
            let ask = KOut {
                depth: depth as u64,
                nearest,
                capacity: Capacity::NONE,
                counts_all: false,
                limit: u64::MAX,
            };
            let tree = k_out(&mut search, start, &step, &ask).expect("an answer");
            let got = distinct(&ids(
                &search,
                tree.last().iter().map(|reached| reached.vertex),
            ));
            let wanted = match nearest {
                true => naive::at_distance(&distances, depth),
                false => naive::walk_ends(world, &step, source, depth),
            };
            assert_eq!(
                got, wanted,
                "{step:?} from {source}, depth {depth}, {nearest}"
            );
            for position in 0..tree.last().len() {
                let path = tree.path(tree.layers.len() - 1, position);
                assert_eq!(path.vertices.len(), depth + 1);
                assert_walks(world, &step, &places(&search, &path));
            }
            let few = KOut { limit: 2, ..ask };
            let mut search = Search::new(world.shown(), &meter);
            let start = search.number(&world::id(source)).expect("a number");
            let tree = k_out(&mut search, start, &step, &few).expect("an answer");
            assert_eq!(tree.last().len(), wanted.len().min(2));
        }
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&world::id(source)).expect("a number");
        let tree =
            k_neighbor(&mut search, start, &step, depth as u64, u64::MAX).expect("an answer");
        let all = ids(&search, tree.reached());
        let wanted: BTreeSet<usize> = (1..=depth)
            .flat_map(|depth| naive::at_distance(&distances, depth))
            .collect();
        let got = distinct(&all);
        assert_eq!(got, wanted, "{step:?} from {source}, depth {depth}");
        let few = k_neighbor(&mut search, start, &step, depth as u64, 2).expect("an answer");
        assert_eq!(ids(&search, few.reached()), all[..all.len().min(2)]);
    });
}

#[test]
fn a_capacity_gives_the_whole_answer_or_an_error() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, false);
        let (source, depth) = (world.vertex(random), 1 + random.below(3));
        let distances = naive::distances(world, &step, source);
        let touched = distances
            .iter()
            .flatten()
            .filter(|at| **at <= depth)
            .count() as u64;
        let capacity = 1 + random.below(8) as u64;
        let ask = KOut {
            depth: depth as u64,
            nearest: true,
            capacity: Capacity::of(capacity),
            counts_all: true,
            limit: u64::MAX,
        };
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&world::id(source)).expect("a number");
        match k_out(&mut search, start, &step, &ask) {
            Ok(tree) => {
                assert!(touched <= capacity);
                let got = ids(&search, tree.last().iter().map(|reached| reached.vertex));
                assert_eq!(distinct(&got), naive::at_distance(&distances, depth));
            }
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.starts_with(&format!("Reach capacity '{capacity}'")),
                    "{text}"
                );
                assert!(touched >= capacity);
            }
        }
    });
}

#[test]
fn shortest_paths_from_both_ends() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, false);
        let (source, target) = (world.vertex(random), world.vertex(random));
        let depth = 1 + random.below(5);
        let wanted = naive::shortest_paths(world, &step, source, target, depth);
        for all in [true, false] {
            let mut search = Search::new(world.shown(), &meter);
            let start = search.number(&world::id(source)).expect("a number");
            let end = search.number(&world::id(target)).expect("a number");
            let ask = Shortest {
                depth: depth as u64,
                capacity: Capacity::NONE,
                all,
            };
            let paths = shortest_paths(&mut search, start, end, &step, &ask).expect("an answer");
            let got: BTreeSet<Vec<usize>> =
                paths.iter().map(|path| places(&search, path)).collect();
            assert_eq!(got.len(), paths.len(), "a path stands twice");
            match all {
                true => assert_eq!(got, wanted, "{step:?} {source} {target} {depth}"),
                false => {
                    assert_eq!(got.len(), wanted.len().min(1));
                    assert!(got.is_subset(&wanted), "{got:?} is none of {wanted:?}");
                }
            }
            let capacity = 1 + random.below(8) as u64;
            let bounded = Shortest {
                capacity: Capacity::of(capacity),
                ..ask
            };
            assert_whole(
                shortest_paths(&mut search, start, end, &step, &bounded),
                &paths,
                &format!("Exceed capacity '{capacity}' while finding shortest path"),
            );
            let edges = edges_of(&mut search, &paths, &step, Parallel::First).expect("an answer");
            let pairs: BTreeSet<[usize; 2]> = got
                .iter()
                .flat_map(|path| path.windows(2).map(|pair| [pair[0], pair[1]]))
                .collect();
            for [from, to] in &pairs {
                let joins = |id: &varve_model::EdgeId| {
                    let ends = [world::place(&id.source), world::place(&id.target)];
                    ends == [*from, *to] || ends == [*to, *from]
                };
                assert!(edges.iter().any(joins), "no edge from {from} to {to}");
            }
            assert!(edges.len() <= pairs.len());
        }
    });
}

#[test]
fn likeness_of_neighbourhoods() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, false);
        let (a, b) = (world.vertex(random), world.vertex(random));
        let of = |vertex: usize| -> BTreeSet<usize> {
            let next = naive::next(world, &step, vertex).into_iter();
            next.filter(|other| *other != vertex).collect()
        };
        let common: BTreeSet<usize> = of(a).intersection(&of(b)).copied().collect();
        let union = of(a).union(&of(b)).count();
        let mut search = Search::new(world.shown(), &meter);
        let one = search.number(&world::id(a)).expect("a number");
        let two = search.number(&world::id(b)).expect("a number");
        let same = same_neighbours(&mut search, &[one, two], &step, u64::MAX).expect("an answer");
        let same = ids(&search, same);
        assert_eq!(distinct(&same), common);
        let few = same_neighbours(&mut search, &[one, two], &step, 1).expect("an answer");
        assert_eq!(ids(&search, few), same[..same.len().min(1)]);
        let c = world.vertex(random);
        let three = [one, two, search.number(&world::id(c)).expect("a number")];
        let of_three = same_neighbours(&mut search, &three, &step, u64::MAX).expect("an answer");
        let wanted = common.intersection(&of(c)).copied().collect();
        assert_eq!(distinct(&ids(&search, of_three)), wanted);
        let index = jaccard(&mut search, one, two, &step).expect("an answer");
        let wanted = if union == 0 {
            0.0
        } else {
            common.len() as f64 / union as f64
        };
        assert!((index - wanted).abs() < 1e-12, "{index} {wanted}");
        let degree = |vertex: usize| naive::degree(world, &step, vertex);
        let degrees: Vec<f64> = common.iter().map(|v| degree(*v) as f64).collect();
        let weigh = |weight: fn(f64) -> f64| -> f64 {
            let counted = degrees.iter().filter(|degree| **degree > 0.0);
            counted.map(|degree| weight(*degree)).sum()
        };
        for (kind, wanted) in [
            (Weight::InverseDegree, weigh(|degree| 1.0 / degree)),
            (Weight::InverseLogDegree, weigh(|degree| 1.0 / degree.ln())),
        ] {
            let got = link_prediction(&mut search, one, two, &step, u64::MAX, kind);
            let got = got.expect("an answer");
            assert!(
                got == wanted || (got - wanted).abs() < 1e-9,
                "{kind:?} {got} {wanted}"
            );
            assert!(got.is_sign_positive(), "-0.0");
        }
    });
}

#[test]
fn simple_paths_shortest_first() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let (source, target) = (world.vertex(random), world.vertex(random));
        let depth = 1 + random.below(6);
        let wanted = naive::simple_paths(world, &step, source, target, depth);
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&world::id(source)).expect("a number");
        let end = search.number(&world::id(target)).expect("a number");
        let mut ask = SimplePaths {
            depth: depth as u64,
            capacity: Capacity::NONE,
            limit: u64::MAX,
            nearest: false,
        };
        let paths = simple_paths(&mut search, start, end, &step, &ask).expect("an answer");
        let got: Vec<Vec<usize>> = paths.iter().map(|path| places(&search, path)).collect();
        assert!(got.is_sorted_by_key(Vec::len), "{got:?}");
        let set: BTreeSet<Vec<usize>> = got.iter().cloned().collect();
        assert_eq!(set.len(), got.len(), "a path stands twice: {got:?}");
        assert_eq!(set, wanted, "{step:?} {source} {target} {depth}");
        ask.limit = 1 + random.below(4) as u64;
        let few = simple_paths(&mut search, start, end, &step, &ask).expect("an answer");
        let few: Vec<Vec<usize>> = few.iter().map(|path| places(&search, path)).collect();
        assert_eq!(few, got[..got.len().min(ask.limit as usize)]);
        (ask.limit, ask.nearest) = (u64::MAX, true);
        let nearest = simple_paths(&mut search, start, end, &step, &ask).expect("an answer");
        let nearest: Vec<Vec<usize>> = nearest.iter().map(|path| places(&search, path)).collect();
        let shortest = got.iter().filter(|path| path.len() == got[0].len());
        assert!(nearest.iter().eq(shortest), "{nearest:?} of {got:?}");
    });
}

#[test]
fn lightest_paths_from_a_vertex() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, false);
        let source = world.vertex(random);
        let least = naive::least_weights(world, &step, source);
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&world::id(source)).expect("a number");
        let mut ask = Lightest {
            weight: Some(world::KEY),
            capacity: Capacity::NONE,
            target: None,
            limit: u64::MAX,
        };
        let paths = lightest_paths(&mut search, start, &step, &ask).expect("an answer");
        assert!(paths.is_sorted_by(|a, b| a.weight <= b.weight));
        let mut got = vec![None; least.len()];
        got[source] = Some(0);
        for path in &paths {
            let vertices = places(&search, &path.path);
            assert_eq!(
                naive::path_weight(world, &step, &vertices) as f64,
                path.weight
            );
            got[vertices[vertices.len() - 1]] = Some(path.weight as i64);
        }
        assert_eq!(got, least, "{step:?} from {source}");
        ask.limit = 2;
        let few = lightest_paths(&mut search, start, &step, &ask).expect("an answer");
        assert_eq!(few, paths[..paths.len().min(2)]);
        let capacity = 1 + random.below(6) as u64;
        (ask.limit, ask.capacity) = (u64::MAX, Capacity::of(capacity));
        assert_whole(
            lightest_paths(&mut search, start, &step, &ask),
            &paths,
            &format!("Exceed capacity '{capacity}' while finding shortest path"),
        );
        ask.capacity = Capacity::NONE;
        let target = world.vertex(random);
        ask.target = Some(search.number(&world::id(target)).expect("a number"));
        let one = lightest_paths(&mut search, start, &step, &ask).expect("an answer");
        let weight = one.first().map(|path| path.weight as i64);
        assert_eq!(weight, least[target], "{source} to {target}");
    });
}
