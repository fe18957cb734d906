//! Walks along lists of steps: customized paths and crosspoints, template paths, counts.

use std::collections::BTreeSet;

use varve_model::Value;
use varve_testkit::Random;
use varve_traversal::count::{Count, count};
use varve_traversal::customized::{
    Crossroads, Customized, Sorting, WeighedStep, customized_crosspoints, customized_paths,
};
use varve_traversal::template::{RepeatedStep, Template, template_paths};
use varve_traversal::{Capacity, Search, Step, Stepped, edges_of_steps};
use varve_view::Meter;

use super::graphs::{assert_whole, distinct, ids, on_graphs, places};
use super::naive;
use super::world::{KEY, World, id};

fn some(world: &World, random: &mut Random) -> Vec<usize> {
    let mut some: Vec<usize> = (0..1 + random.below(3))
        .map(|_| world.vertex(random))
        .collect();
    some.dedup();
    some
}

fn numbers(search: &mut Search<'_>, places: &[usize]) -> Vec<u32> {
    let each = places.iter();
    each.map(|place| search.number(&id(*place)).expect("a number"))
        .collect()
}

/// Checks that each edge returned belongs to a step walked there, and that each hop has an edge.
fn assert_edges(world: &World, search: &mut Search<'_>, paths: &[Stepped], steps: &[&Step]) {
    let edges = edges_of_steps(search, paths.iter(), steps).expect("edges");
    let mut walked = BTreeSet::new();
    for stepped in paths {
        let path = places(search, &stepped.path);
        assert_eq!(stepped.steps.len() + 1, path.len());
        for (pair, step) in path.windows(2).zip(&stepped.steps) {
            let hops = naive::hops(world, steps[*step], pair[0]);
            let own = hops.iter().filter(|(other, ..)| *other == pair[1]);
            let own: Vec<_> = own.map(|(_, edge, _)| edge.id.clone()).collect();
            assert!(own.iter().any(|edge| edges.contains(edge)), "{pair:?}");
            walked.extend(own.iter().map(ToString::to_string));
        }
    }
    for edge in &edges {
        assert!(walked.contains(&edge.to_string()), "{edge} was not walked");
    }
}

fn all_customized(
    world: &World,
    steps: &[WeighedStep],
    walk: &[usize],
    weights: &[f64],
    found: &mut Vec<(Vec<usize>, Vec<f64>)>,
) {
    let Some((step, rest)) = steps.split_first() else {
        found.push((walk.to_vec(), weights.to_vec()));
        return;
    };
    let hops = naive::hops(world, &step.step, walk[walk.len() - 1]);
    let on = hops.iter().filter(|(other, ..)| !walk.contains(other));
    let most = step.sample.map_or(usize::MAX, |sample| sample as usize);
    for (other, edge, _) in on.take(most) {
        let value = step.weight.and_then(|key| edge.properties.get(key));
        let weight = value.and_then(Value::as_f64).unwrap_or(step.default_weight);
        let (walk, weights) = ([walk, &[*other]].concat(), [weights, &[weight]].concat());
        all_customized(world, rest, &walk, &weights, found);
    }
}

#[test]
fn customized_paths_with_their_weights() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let sources = some(world, random);
        let step = |random: &mut Random| WeighedStep {
            step: world.step(random, true),
            weight: (random.below(2) == 0).then_some(KEY),
            default_weight: random.below(3) as f64,
            sample: (random.below(2) == 0).then(|| 1 + random.below(3) as u64),
        };
        let steps: Vec<WeighedStep> = (0..1 + random.below(3)).map(|_| step(random)).collect();
        let sorting = [Sorting::None, Sorting::Ascending, Sorting::Descending][random.below(3)];
        let mut wanted = Vec::new();
        for source in &sources {
            all_customized(world, &steps, &[*source], &[], &mut wanted);
        }
        let sum = |weights: &[f64]| weights.iter().sum::<f64>();
        match sorting {
            Sorting::None => {}
            Sorting::Ascending => wanted.sort_by(|(_, a), (_, b)| sum(a).total_cmp(&sum(b))),
            Sorting::Descending => wanted.sort_by(|(_, a), (_, b)| sum(b).total_cmp(&sum(a))),
        }
        let mut search = Search::new(world.shown(), &meter);
        let starts = numbers(&mut search, &sources);
        let ask = |limit, capacity| Customized {
            sorting,
            capacity,
            limit,
        };
        let all = ask(u64::MAX, Capacity::NONE);
        let all = customized_paths(&mut search, &starts, &steps, &all).expect("paths");
        let got: Vec<(Vec<usize>, Vec<f64>)> = all
            .iter()
            .map(|path| (places(&search, &path.path.path), path.weights.clone()))
            .collect();
        assert_eq!(got, wanted);
        let few = 1 + random.below(4);
        let first = ask(few as u64, Capacity::NONE);
        let first = customized_paths(&mut search, &starts, &steps, &first).expect("paths");
        assert_eq!(first, all[..all.len().min(few)]);
        let bounded = ask(u64::MAX, Capacity::of(few as u64));
        assert_whole(
            customized_paths(&mut search, &starts, &steps, &bounded),
            &all,
            &format!("Exceed capacity '{few}' while finding customized paths"),
        );
        let paths: Vec<Stepped> = all.into_iter().map(|path| path.path).collect();
        let steps: Vec<&Step> = steps.iter().map(|step| &step.step).collect();
        assert_edges(world, &mut search, &paths, &steps);
    });
}

/// Finds all walks that follow the steps, each up to its number of times, in every way.
fn all_of_template(
    world: &World,
    steps: &[RepeatedStep],
    with_ring: bool,
    walk: &[usize],
    found: &mut BTreeSet<Vec<usize>>,
) {
    found.insert(walk.to_vec());
    let Some((step, rest)) = steps.split_first() else {
        return;
    };
    all_of_template(world, rest, with_ring, walk, found);
    let mut again = steps.to_vec();
    again[0].max_times -= 1;
    let left = if again[0].max_times > 0 {
        &again[..]
    } else {
        rest
    };
    let next: BTreeSet<usize> = naive::next(world, &step.step, walk[walk.len() - 1])
        .into_iter()
        .filter(|other| with_ring || !walk.contains(other))
        .collect();
    for other in next {
        let walk = [walk, &[other]].concat();
        all_of_template(world, left, with_ring, &walk, found);
    }
}

#[test]
fn paths_that_fit_a_template() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let (sources, targets) = (some(world, random), some(world, random));
        let step = |random: &mut Random| RepeatedStep {
            step: world.step(random, true),
            max_times: 1 + random.below(2) as u64,
        };
        let steps: Vec<RepeatedStep> = (0..1 + random.below(2)).map(|_| step(random)).collect();
        let with_ring = random.below(3) == 0;
        let mut wanted = BTreeSet::new();
        for source in &sources {
            all_of_template(world, &steps, with_ring, &[*source], &mut wanted);
        }
        wanted.retain(|walk| walk.len() > 1 && targets.contains(&walk[walk.len() - 1]));
        let mut search = Search::new(world.shown(), &meter);
        let starts = numbers(
            &mut search,
            &BTreeSet::from_iter(sources).into_iter().collect::<Vec<_>>(),
        );
        let ends = numbers(&mut search, &targets);
        let ask = |limit, capacity| Template {
            with_ring,
            capacity,
            limit,
        };
        let all = ask(u64::MAX, Capacity::NONE);
        let all = template_paths(&mut search, &starts, &ends, &steps, &all).expect("paths");
        let got: Vec<Vec<usize>> = all.iter().map(|path| places(&search, &path.path)).collect();
        assert!(got.is_sorted_by_key(Vec::len), "{got:?}");
        assert_eq!(
            BTreeSet::from_iter(got.iter().cloned()),
            wanted,
            "{steps:?}"
        );
        assert_eq!(got.len(), wanted.len(), "a path stands twice: {got:?}");
        for stepped in &all {
            assert!(stepped.steps.is_sorted());
            for (number, step) in steps.iter().enumerate() {
                let times = stepped.steps.iter().filter(|step| **step == number);
                assert!(times.count() as u64 <= step.max_times);
            }
        }
        let few = 1 + random.below(4);
        let first = ask(few as u64, Capacity::NONE);
        let first = template_paths(&mut search, &starts, &ends, &steps, &first).expect("paths");
        assert_eq!(first, all[..all.len().min(few)]);
        let bounded = ask(u64::MAX, Capacity::of(few as u64));
        assert_whole(
            template_paths(&mut search, &starts, &ends, &steps, &bounded),
            &all,
            &format!("Exceed capacity '{few}' while finding template paths"),
        );
        let steps: Vec<&Step> = steps.iter().map(|step| &step.step).collect();
        assert_edges(world, &mut search, &all, &steps);
    });
}

#[test]
fn crosspoints_of_several_sources() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let sources = some(world, random);
        let pattern = |random: &mut Random| -> Vec<Step> {
            (0..1 + random.below(2))
                .map(|_| world.step(random, true))
                .collect()
        };
        let patterns: Vec<Vec<Step>> = (0..1 + random.below(2)).map(|_| pattern(random)).collect();
        let walks = |source: usize| -> BTreeSet<Vec<usize>> {
            let mut found = Vec::new();
            for steps in &patterns {
                let weighed = |step: &Step| WeighedStep {
                    step: step.clone(),
                    weight: None,
                    default_weight: 0.0,
                    sample: None,
                };
                let steps: Vec<WeighedStep> = steps.iter().map(weighed).collect();
                all_customized(world, &steps, &[source], &[], &mut found);
            }
            found.into_iter().map(|(walk, _)| walk).collect()
        };
        let ends = |source: usize| -> BTreeSet<usize> {
            walks(source)
                .iter()
                .map(|walk| walk[walk.len() - 1])
                .collect()
        };
        let mut common = ends(sources[0]);
        for source in &sources {
            common = common.intersection(&ends(*source)).copied().collect();
        }
        let mut search = Search::new(world.shown(), &meter);
        let starts = numbers(&mut search, &sources);
        let mut ask = Crossroads {
            capacity: Capacity::NONE,
            limit: u64::MAX,
            with_paths: true,
        };
        let all = customized_crosspoints(&mut search, &starts, &patterns, &ask).expect("answer");
        let got = ids(&search, all.crosspoints.iter().copied());
        assert_eq!(distinct(&got), common);
        let paths: Vec<Vec<usize>> = all
            .paths
            .iter()
            .map(|path| places(&search, &path.path))
            .collect();
        let wanted: BTreeSet<Vec<usize>> = sources
            .iter()
            .flat_map(|source| walks(*source))
            .filter(|walk| common.contains(&walk[walk.len() - 1]))
            .collect();
        assert_eq!(paths.len(), wanted.len(), "a path stands twice: {paths:?}");
        assert_eq!(BTreeSet::from_iter(paths), wanted);
        let steps: Vec<&Step> = patterns.iter().flatten().collect();
        assert_edges(world, &mut search, &all.paths, &steps);
        let few = 1 + random.below(3);
        ask.capacity = Capacity::of(few as u64);
        assert_whole(
            customized_crosspoints(&mut search, &starts, &patterns, &ask),
            &all,
            &format!("Exceed capacity '{few}' while finding customized crosspoints"),
        );
        (ask.capacity, ask.limit, ask.with_paths) = (Capacity::NONE, few as u64, false);
        let first = customized_crosspoints(&mut search, &starts, &patterns, &ask).expect("answer");
        assert_eq!(
            first.crosspoints,
            all.crosspoints[..all.crosspoints.len().min(few)]
        );
        assert_eq!(first.paths, []);
    });
}

struct Counted<'a> {
    world: &'a World,
    steps: &'a [Step],
    most: usize,
    left: BTreeSet<usize>,
    edges_before: u64,
    count: u64,
}

impl Counted<'_> {
    fn leave(&mut self, at: usize, step: usize) {
        if self.steps.len() > 1 {
            if self.left.contains(&at) {
                return;
            }
            if self.left.len() < self.most {
                self.left.insert(at);
            }
        }
        let next = naive::next(self.world, &self.steps[step], at);
        if step + 1 == self.steps.len() {
            self.count += next.len() as u64;
            return;
        }
        for other in next {
            self.edges_before += 1;
            self.leave(other, step + 1);
        }
    }
}

#[test]
fn counts_of_the_last_steps_edges() {
    on_graphs(|world, random| {
        let meter = Meter::unlimited();
        let source = world.vertex(random);
        let steps: Vec<Step> = (0..1 + random.below(3))
            .map(|_| world.step(random, true))
            .collect();
        let remembered_max = (random.below(2) == 0).then(|| random.below(4) as u64);
        let mut wanted = Counted {
            world,
            steps: &steps,
            most: remembered_max.map_or(usize::MAX, |most| most as usize),
            left: BTreeSet::new(),
            edges_before: 0,
            count: 0,
        };
        wanted.leave(source, 0);
        for contains_traversed in [false, true] {
            let ask = Count {
                contains_traversed,
                remembered_max,
            };
            let mut search = Search::new(world.shown(), &meter);
            let start = search.number(&id(source)).expect("a number");
            let got = count(&mut search, start, &steps, &ask).expect("a count");
            let traversed = if contains_traversed {
                1 + wanted.edges_before
            } else {
                0
            };
            assert_eq!(
                got,
                wanted.count + traversed,
                "{steps:?} {remembered_max:?}"
            );
        }
    });
}
