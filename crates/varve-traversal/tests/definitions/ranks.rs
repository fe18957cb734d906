//! Fusiform similarity, neighbour ranks and personal ranks.

use std::collections::{BTreeMap, BTreeSet};

use varve_model::{Direction, Value};
use varve_traversal::fusiform::{Fusiform, fusiform_similarity};
use varve_traversal::ranks::{
    PersonalRank, RankStep, Ranks, WithLabel, neighbour_rank, personal_rank,
};
use varve_traversal::{Capacity, Search, Step, TraversalError};
use varve_view::Meter;

use super::graphs::{distinct, ids, on_graphs};
use super::naive;
use super::world::{KEY, World, id};

fn neighbours(world: &World, step: &Step, at: usize) -> BTreeSet<usize> {
    let next = naive::next(world, step, at).into_iter();
    next.filter(|other| *other != at).collect()
}

#[test]
fn vertices_that_share_neighbours() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let sources: Vec<usize> = world.present().to_vec();
        let ask = Fusiform {
            neighbours_min: 1 + random.below(3) as u64,
            alpha: [0.3, 0.5, 1.0][random.below(3)],
            similars_min: 1 + random.below(2) as u64,
            top: (random.below(2) == 0).then(|| 1 + random.below(2) as u64),
            groups: (random.below(2) == 0).then(|| (KEY, 1 + random.below(3) as u64)),
            capacity: Capacity::NONE,
            limit: u64::MAX,
        };
        let mut search = Search::new(world.shown(), &meter);
        let starts: Vec<u32> = sources
            .iter()
            .map(|place| search.number(&id(*place)).expect("a number"))
            .collect();
        let all = fusiform_similarity(&mut search, &starts, &step, &ask).expect("an answer");
        let mut answered = all.iter();
        let value = |place: usize| {
            let mut vertices = world.view.all_vertices().iter();
            let vertex = vertices.find(|vertex| vertex.id == id(place));
            vertex.and_then(|vertex| vertex.properties.get(KEY).and_then(Value::as_i64))
        };
        for source in &sources {
            let own = neighbours(world, &step, *source);
            let mut shared: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for middle in &own {
                for other in neighbours(world, &step.reversed(), *middle) {
                    if other != *source {
                        shared.entry(other).or_default().insert(*middle);
                    }
                }
            }
            let score = |of: &BTreeSet<usize>| of.len() as f64 / own.len() as f64;
            shared.retain(|_, of| score(of) >= ask.alpha);
            if (own.len() as u64) < ask.neighbours_min || (shared.len() as u64) < ask.similars_min {
                continue;
            }
            // Which vertices of equal score are among the top is not defined. So the number of
            // groups is known only without `top`.
            if ask.top.is_none() {
                let kept = shared.keys().copied().chain([*source]);
                let groups: BTreeSet<_> = kept.filter_map(value).collect();
                if ask
                    .groups
                    .is_some_and(|(_, least)| (groups.len() as u64) < least)
                {
                    continue;
                }
            } else if ask.groups.is_some() {
                return;
            }
            let (got_source, similar) = answered.next().expect("a source");
            assert_eq!(ids(&search, [*got_source]), [*source]);
            let most = ask.top.map_or(usize::MAX, |top| top as usize);
            assert_eq!(similar.len(), shared.len().min(most));
            assert!(similar.is_sorted_by(|a, b| a.score >= b.score));
            let mut best: Vec<f64> = shared.values().map(score).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            for (similar, best) in similar.iter().zip(best) {
                let place = ids(&search, [similar.vertex])[0];
                let of = distinct(&ids(&search, similar.shared.iter().copied()));
                assert_eq!(of, shared[&place]);
                assert_eq!((similar.score, best), (score(&of), score(&of)));
            }
        }
        assert!(answered.next().is_none());
        let few = Fusiform { limit: 2, ..ask };
        let first = fusiform_similarity(&mut search, &starts, &step, &few).expect("an answer");
        assert_eq!(first, all[..all.len().min(2)]);
        let capacity = 1 + random.below(9) as u64;
        let bounded = Fusiform {
            capacity: Capacity::of(capacity),
            ..ask
        };
        match fusiform_similarity(&mut search, &starts, &step, &bounded) {
            Ok(answer) => assert_eq!(answer, all),
            Err(TraversalError::Capacity(text)) => assert_eq!(
                text,
                format!("Exceed capacity '{capacity}' while finding fusiform similarity")
            ),
            Err(other) => panic!("{other}"),
        }
    });
}

fn assert_ranks(search: &Search<'_>, got: &Ranks, wanted: &BTreeMap<usize, f64>) {
    assert_eq!(got.len(), wanted.len(), "{got:?} {wanted:?}");
    for (vertex, rank) in got {
        let wanted = wanted[&ids(search, [*vertex])[0]];
        assert!((rank - wanted).abs() < 1e-9, "{rank} {wanted}");
    }
}

#[test]
fn ranks_of_the_vertices_of_each_step() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let (source, alpha) = (world.vertex(random), [0.5, 0.85, 1.0][random.below(3)]);
        let steps: Vec<Step> = (0..1 + random.below(4))
            .map(|_| world.step(random, true))
            .collect();
        // Builds every path, as the original does.
        let mut layers = vec![BTreeMap::from([(source, 1.0)])];
        let mut paths = vec![vec![source]];
        let mut made = 0_u64;
        for step in &steps {
            let last = layers.len() - 1;
            let now = layers[last].clone();
            let (mut longer, mut degrees) = (Vec::new(), BTreeMap::new());
            for (vertex, rank) in &now {
                let next = naive::next(world, step, *vertex);
                let own = paths.iter().filter(|path| path[path.len() - 1] == *vertex);
                let mut new: Vec<Vec<usize>> = Vec::new();
                for path in own {
                    let to = next
                        .iter()
                        .filter(|other| layers.iter().all(|layer| !layer.contains_key(other)));
                    new.extend(to.map(|other| [&path[..], &[*other]].concat()));
                }
                let given: BTreeSet<usize> = next.iter().copied().collect();
                let layer_of = |other: &usize| {
                    (0..layers.len())
                        .rev()
                        .find(|at| layers[*at].contains_key(other))
                };
                let back: Vec<(usize, usize)> = given
                    .iter()
                    .filter_map(|other| layer_of(other).map(|at| (at, *other)))
                    .filter(|(at, _)| *at == last || *at > 0)
                    .collect();
                let degree = (new.len() + back.len()) as f64;
                for (at, other) in back {
                    *layers[at].get_mut(&other).expect("it is there") += rank * alpha / degree;
                }
                made += new.len() as u64;
                degrees.insert(*vertex, degree);
                longer.extend(new);
            }
            let mut layer: BTreeMap<usize, f64> = BTreeMap::new();
            for path in &longer {
                let [.., from, to] = path[..] else { continue };
                *layer.entry(to).or_default() += layers[last][&from] * alpha / degrees[&from];
            }
            layers.push(layer);
            paths = longer;
        }
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&id(source)).expect("a number");
        let top = |top: usize| -> Vec<RankStep> {
            let step = |step: &Step| RankStep {
                step: step.clone(),
                top,
            };
            steps.iter().map(step).collect()
        };
        let all = neighbour_rank(&mut search, start, &top(usize::MAX), alpha, Capacity::NONE);
        let all = all.expect("ranks");
        assert_eq!(all.len(), layers.len());
        for (got, wanted) in all.iter().zip(&layers) {
            assert_ranks(&search, got, wanted);
            assert!(got.is_sorted_by(|(_, a), (_, b)| a >= b));
        }
        let best = neighbour_rank(&mut search, start, &top(2), alpha, Capacity::NONE);
        let cut = all.iter().map(|layer| layer[..layer.len().min(2)].to_vec());
        assert!(best.expect("ranks").into_iter().eq(cut));
        match neighbour_rank(&mut search, start, &top(2), alpha, Capacity::of(3)) {
            Ok(_) => assert!(made <= 3),
            Err(TraversalError::Capacity(text)) => {
                assert_eq!(text, "Exceed capacity '3' while finding neighbor rank");
                assert!(made > 3);
            }
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn ranks_after_some_rounds() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let step = world.step(random, true);
        let source = world.vertex(random);
        let count = world.places();
        let mut ask = PersonalRank {
            direction: [Direction::Out, Direction::In][random.below(2)],
            alpha: [0.3, 0.85, 1.0][random.below(3)],
            rounds: 2 + random.below(4) as u64,
            with_label: [WithLabel::Same, WithLabel::Other, WithLabel::Both][random.below(3)],
            sorted: true,
            limit: usize::MAX,
        };
        let next = |side: usize, at: usize| {
            let direction = match side {
                0 => ask.direction,
                _ => ask.direction.opposite(),
            };
            let step = Step {
                direction: Some(direction),
                ..step.clone()
            };
            naive::next(world, &step, at)
        };
        // The rank of every vertex on both sides; `None` if no walk of these rounds can reach it.
        let mut ranks = [vec![None; count], vec![None; count]];
        ranks[0][source] = Some(1.0);
        for _ in 0..ask.rounds {
            let known = |rank: &Option<f64>| rank.map(|_| 0.0);
            let mut new = [0, 1]
                .map(|side: usize| -> Vec<Option<f64>> { ranks[side].iter().map(known).collect() });
            for side in [0, 1] {
                for (vertex, rank) in ranks[side].iter().enumerate() {
                    let (Some(rank), next) = (rank, next(side, vertex)) else {
                        continue;
                    };
                    if next.is_empty() {
                        *new[side][vertex].get_or_insert(0.0) += rank;
                    }
                    for other in &next {
                        let given = rank * ask.alpha / next.len() as f64;
                        *new[1 - side][*other].get_or_insert(0.0) += given;
                    }
                }
            }
            *new[0][source].get_or_insert(0.0) += 1.0 - ask.alpha;
            ranks = new;
        }
        let near: BTreeSet<usize> = next(0, source).into_iter().chain([source]).collect();
        let of = |side: usize| -> BTreeMap<usize, f64> {
            let all = ranks[side].iter().enumerate();
            let far = all.filter(|(vertex, _)| !near.contains(vertex));
            far.filter_map(|(vertex, rank)| rank.map(|rank| (vertex, rank)))
                .collect()
        };
        let mut search = Search::new(world.shown(), &meter);
        let start = search.number(&id(source)).expect("a number");
        if ask.with_label == WithLabel::Both {
            // In these graphs a vertex may be on both sides.
            ask.with_label = WithLabel::Same;
        }
        let got = personal_rank(&mut search, start, &step, &ask).expect("ranks");
        let side = usize::from(ask.with_label == WithLabel::Other);
        assert_ranks(&search, &got, &of(side));
        assert!(got.is_sorted_by(|(_, a), (_, b)| a >= b));
        ask.limit = 2;
        let best = personal_rank(&mut search, start, &step, &ask).expect("ranks");
        assert_eq!(best, got[..got.len().min(2)]);
    });
}
