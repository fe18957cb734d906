//! Requests for several vertices give the results of the requests for each pair. Also: the edges
//! from one vertex to another.

use varve_model::{EdgeId, EdgeLabelId};
use varve_testkit::Random;
use varve_traversal::between::{Between, edges_between};
use varve_traversal::paths::{SimplePaths, paths_of_pairs, simple_paths};
use varve_traversal::shortest::{Shortest, paths_between_all};
use varve_traversal::similarity::{jaccard, jaccard_of_near};
use varve_traversal::{Capacity, Search, TraversalError};
use varve_view::Meter;

use super::graphs::{ids, on_graphs, places};
use super::naive;
use super::world::{EDGE_LABELS, World, id};

fn some(world: &World, random: &mut Random) -> Vec<usize> {
    (0..1 + random.below(3))
        .map(|_| world.vertex(random))
        .collect()
}

#[test]
fn paths_of_each_pair() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let (sources, targets) = (some(world, random), some(world, random));
        let mut ask = SimplePaths {
            depth: 1 + random.below(4) as u64,
            capacity: Capacity::NONE,
            limit: u64::MAX,
            nearest: random.below(2) == 0,
        };
        let mut search = Search::new(world.shown(), &meter);
        let mut numbers = |places: &[usize]| -> Vec<u32> {
            let each = places.iter();
            each.map(|place| search.number(&id(*place)).expect("a number"))
                .collect()
        };
        let (starts, ends) = (numbers(&sources), numbers(&targets));
        let mut wanted = Vec::new();
        for start in &starts {
            for end in &ends {
                wanted.extend(simple_paths(&mut search, *start, *end, &step, &ask).expect("paths"));
            }
        }
        let all = paths_of_pairs(&mut search, &starts, &ends, &step, &ask).expect("paths");
        assert_eq!(all, wanted);
        ask.limit = 1 + random.below(5) as u64;
        let few = paths_of_pairs(&mut search, &starts, &ends, &step, &ask).expect("paths");
        assert_eq!(few, wanted[..wanted.len().min(ask.limit as usize)]);
    });
}

#[test]
fn a_shortest_path_for_each_pair() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, false);
        let vertices = [some(world, random), some(world, random)].concat();
        let ask = Shortest {
            depth: 1 + random.below(5) as u64,
            capacity: Capacity::NONE,
            all: false,
        };
        let mut search = Search::new(world.shown(), &meter);
        let numbers: Vec<u32> = vertices
            .iter()
            .map(|place| search.number(&id(*place)).expect("a number"))
            .collect();
        let found = paths_between_all(&mut search, &numbers, &step, &ask).expect("paths");
        let mut found = found.iter().map(|path| places(&search, path));
        for (at, source) in vertices.iter().enumerate() {
            for target in &vertices[at + 1..] {
                let shortest =
                    naive::shortest_paths(world, &step, *source, *target, ask.depth as usize);
                if !shortest.is_empty() {
                    assert!(shortest.contains(&found.next().expect("a path")));
                }
            }
        }
        assert_eq!(found.next(), None);
    });
}

#[test]
fn likeness_to_every_near_vertex() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let source = world.vertex(random);
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&id(source)).expect("a number");
        let all = jaccard_of_near(&mut search, start, &step, usize::MAX, Capacity::NONE);
        let all = all.expect("an answer");
        assert!(all.is_sorted_by(|(_, a), (_, b)| a >= b), "{all:?}");
        for (near, score) in &all {
            let wanted = jaccard(&mut search, start, *near, &step).expect("an answer");
            assert_eq!(*score, wanted);
        }
        let distances = naive::distances(world, &step, source);
        let mut near: Vec<usize> = (0..distances.len())
            .filter(|vertex| matches!(distances[*vertex], Some(1 | 2)))
            .collect();
        let mut got = ids(&search, all.iter().map(|(near, _)| *near));
        got.sort_unstable();
        assert_eq!(got, near);
        let top = 1 + random.below(3);
        let best = jaccard_of_near(&mut search, start, &step, top, Capacity::NONE);
        assert_eq!(best.expect("an answer"), all[..all.len().min(top)]);
        near.push(source);
        let capacity = 1 + random.below(6) as u64;
        match jaccard_of_near(
            &mut search,
            start,
            &step,
            usize::MAX,
            Capacity::of(capacity),
        ) {
            Ok(answer) => assert_eq!(answer, all),
            Err(TraversalError::Capacity(text)) => {
                assert_eq!(text, format!("Reach capacity '{capacity}'"));
                assert!(near.len() as u64 > capacity);
            }
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn edges_from_one_vertex_to_another() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let [source, target] = [0; 2].map(|_| random.below(world.places()));
        let all = naive::edges_between(world, source, target);
        let mut labels: Vec<EdgeLabelId> = (1..=EDGE_LABELS).map(EdgeLabelId).collect();
        labels.retain(|_| random.below(3) == 0);
        let sort_values = (random.below(2) == 0).then(|| random.below(2).to_string());
        let limit = [0, 1, 2, usize::MAX][random.below(4)];
        let mut wanted = all.clone();
        wanted.retain(|edge| labels.is_empty() || labels.contains(&edge.label));
        wanted.retain(|edge| {
            sort_values
                .as_ref()
                .is_none_or(|own| edge.sort_values == **own)
        });
        wanted.truncate(limit);
        let mut search = Search::new(world.shown(), &meter);
        let mut number = |place| search.number(&id(place)).expect("a number");
        let ends = [number(source), number(target)];
        let mut got = |labels: &[EdgeLabelId], sort_values, limit| -> Vec<EdgeId> {
            let ask = Between {
                labels,
                sort_values,
                limit,
            };
            edges_between(&mut search, ends, &ask).expect("edges")
        };
        assert_eq!(got(&[], None, u64::MAX), all, "{source} {target}");
        let some = got(&labels, sort_values.as_deref(), limit as u64);
        assert_eq!(
            some, wanted,
            "{source} {target} {labels:?} {sort_values:?} {limit}"
        );
    });
}
