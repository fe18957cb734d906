//! The graph against the naive model: random lists of operations on both, then every read at many
//! points of both times.
//!
//! `VARVE_MODEL_LISTS` sets how many lists run, `VARVE_MODEL_SEED` the first seed. A failing list
//! is shrunk and printed.

mod compare;
mod engines;
mod queries;
mod regressions;
mod requests;
mod schema;
mod stable;
mod threads;
mod world;

use varve_testkit::generate::{self, Case};

use engines::Below;
use world::World;

const LISTS_DEFAULT: u64 = 200;

/// Runs a case to its end; the first difference ends it.
fn run(case: &Case, below: Below) -> Result<(), String> {
    let mut world = World::new(case, below);
    for (at, operation) in case.operations.iter().enumerate() {
        world
            .apply(operation)
            .map_err(|wrong| format!("operation {at}, {operation:?}: {wrong}"))?;
        let outcome = compare::present(&world).and_then(|()| compare::sound(&world));
        outcome.map_err(|wrong| format!("after operation {at}: {wrong}"))?;
    }
    compare::everything(&world)
}

fn outcome(case: &Case, below: Below) -> Result<(), String> {
    let run = std::panic::AssertUnwindSafe(|| run(case, below));
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn check(seed: u64, below: Below) {
    let case = generate::case(seed);
    if outcome(&case, below).is_err() {
        let small = generate::shrink(case, &|case| outcome(case, below).is_err());
        let wrong = outcome(&small, below).expect_err("it failed a moment ago");
        let list: Vec<String> = small
            .operations
            .iter()
            .map(|operation| format!("  {operation:?}"))
            .collect();
        panic!("seed {seed}, {below:?}: {wrong}\n{}", list.join("\n"));
    }
}

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

#[test]
fn random_lists() {
    check_lists(Below::Memory, 1);
}

#[test]
fn random_lists_behind_a_front_table() {
    check_lists(Below::FrontTable, 2);
}

#[test]
fn random_lists_on_replicas() {
    check_lists(Below::Replicas, 4);
}

#[test]
fn random_lists_with_partitions_in_parts() {
    check_lists(Below::Parts, 2);
}

/// One of `share` of the lists that are asked for.
fn check_lists(below: Below, share: u64) {
    let (first, lists) = (
        number_from("VARVE_MODEL_SEED", 1),
        number_from("VARVE_MODEL_LISTS", LISTS_DEFAULT),
    );
    for seed in first..first + lists / share {
        check(seed, below);
    }
}
