//! Runs checks on many random graphs, and converts answers to vertex numbers.
//!
//! `VARVE_TRAVERSAL_GRAPHS` sets the number of graphs, `VARVE_TRAVERSAL_SEED` the first seed.

use std::collections::BTreeSet;

use varve_testkit::Random;
use varve_traversal::{Path, Search, Step, TraversalError};

use super::world::{self, World};
use super::{making, naive};

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

/// Runs a check on many random graphs.
pub(crate) fn on_graphs(check: impl Fn(&World, &mut Random)) {
    let first = number_from("VARVE_TRAVERSAL_SEED", 1);
    for seed in first..first + number_from("VARVE_TRAVERSAL_GRAPHS", making::GRAPHS) {
        let mut random = Random::new(seed);
        let world = making::world(seed, &mut random);
        let run = std::panic::AssertUnwindSafe(|| check(&world, &mut random));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("seed {seed}: {world:?}");
            std::panic::resume_unwind(panic);
        }
    }
}

pub(crate) fn ids(search: &Search<'_>, numbers: impl IntoIterator<Item = u32>) -> Vec<usize> {
    let each = numbers.into_iter();
    each.map(|number| world::place(&search.id(number).expect("a vertex")))
        .collect()
}

pub(crate) fn places(search: &Search<'_>, path: &Path) -> Vec<usize> {
    ids(search, path.vertices.iter().copied())
}

pub(crate) fn distinct(places: &[usize]) -> BTreeSet<usize> {
    let set: BTreeSet<usize> = places.iter().copied().collect();
    assert_eq!(set.len(), places.len(), "a vertex stands twice: {places:?}");
    set
}

/// Checks that a step joins every pair of neighbours on a path.
pub(crate) fn assert_walks(world: &World, step: &Step, path: &[usize]) {
    for pair in path.windows(2) {
        let next = naive::next(world, step, pair[0]);
        assert!(
            next.contains(&pair[1]),
            "no step from {} to {}",
            pair[0],
            pair[1]
        );
    }
}

/// Checks that an answer under a capacity is the whole answer, or an error with this text.
pub(crate) fn assert_whole<T: PartialEq + std::fmt::Debug>(
    answer: Result<T, TraversalError>,
    whole: &T,
    text: &str,
) {
    match answer {
        Ok(answer) => assert_eq!(&answer, whole),
        Err(TraversalError::Capacity(message)) => assert_eq!(message, text),
        Err(other) => panic!("{other}"),
    }
}
