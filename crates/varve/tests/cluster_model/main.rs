//! The model test of the graph (`crates/varve-graph/tests/model`) on a real Cassandra node: random
//! lists of operations, and every read compared with what the naive model says, at some points of
//! both times.
//!
//! A read takes a thousand times as long there as in memory, so the lists are few and short, and no
//! new one is begun after a while. What the node adds to the lists in memory is what it does with
//! timestamps, removals, orders and pages. No write is made to fail here: the version of the last
//! commit is stored ahead (`keeps_versions_ahead`), so that after a failure the model could not
//! tell it, and the lists' operations that have writes fail do nothing. Lists are drawn by chance;
//! one that fails is printed with its seed, and `VARVE_MODEL_SEED` runs that one again, and no
//! other.
//!
//! Before them, very much is removed, and what is left is read (`removed`).
//!
//! `VARVE_TEST_CASSANDRA=host:port` says where the node is; without it nothing is tried.
//! `VARVE_CLUSTER_MODEL_SECONDS` says for how long lists are begun.

#![cfg(feature = "engines")]

#[path = "../../../varve-graph/tests/model/compare.rs"]
mod compare;
mod engines;
#[path = "../../../varve-graph/tests/model/queries.rs"]
mod queries;
mod removed;
#[path = "../../../varve-graph/tests/model/requests.rs"]
mod requests;
#[path = "../../../varve-graph/tests/model/schema.rs"]
mod schema;
#[path = "../../../varve-graph/tests/model/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use varve_testkit::generate::{self, Case};

use engines::Below;
use world::World;

/// Operations of a list, at most.
const OPERATIONS_MAX: usize = 12;
/// For how long lists are begun, by default.
const SECONDS_DEFAULT: u64 = 40;

/// The node to try, if there is one.
fn node() -> Option<String> {
    std::env::var("VARVE_TEST_CASSANDRA").ok()
}

fn number_from(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// A first seed that the next run does not have again.
fn seed_of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |since| since.as_secs())
}

/// Runs a case to its end; the first difference ends it.
fn run(case: &Case, below: Below) -> Result<(), String> {
    let mut world = World::new(case, below);
    for (at, operation) in case.operations.iter().enumerate() {
        world
            .apply(operation)
            .map_err(|wrong| format!("operation {at}, {operation:?}: {wrong}"))?;
        let outcome = compare::present(&world);
        outcome.map_err(|wrong| format!("after operation {at}: {wrong}"))?;
    }
    compare::everything(&world)
}

fn check(seed: u64, below: Below) {
    let mut case = generate::case(seed);
    case.operations.truncate(OPERATIONS_MAX);
    let began = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(&case, below)));
    if !matches!(outcome, Ok(Ok(()))) {
        for operation in &case.operations {
            println!("  {operation:?}");
        }
    }
    match outcome {
        Ok(outcome) => outcome.unwrap_or_else(|wrong| panic!("seed {seed}, {below:?}: {wrong}")),
        Err(panic) => {
            println!("seed {seed}, {below:?}: a panic");
            resume_unwind(panic)
        }
    }
    let (took, operations) = (began.elapsed(), case.operations.len());
    println!("seed {seed}, {below:?}: {operations} operations in {took:.1?}");
}

#[test]
fn on_a_node() {
    if node().is_none() {
        println!("skipped: VARVE_TEST_CASSANDRA names no node");
        return;
    }
    let given = number_from("VARVE_MODEL_SEED");
    if given.is_none() {
        for below in [Below::Whole, Below::Parts] {
            removed::a_vertex_with_very_many_edges_is_deleted_while_it_is_read(below);
        }
        removed::a_label_is_listed_when_most_of_its_vertices_are_deleted();
    }
    random_lists(given);
    engines::cluster().remove_list().expect("no space is left");
}

fn random_lists(given: Option<u64>) {
    let seconds = number_from("VARVE_CLUSTER_MODEL_SECONDS").unwrap_or(SECONDS_DEFAULT);
    let (began, first) = (Instant::now(), given.unwrap_or_else(seed_of_the_clock));
    for seed in first.. {
        // A seed decides all of its list, so that one that failed fails again.
        let below = [Below::Whole, Below::Parts][usize::from(seed % 2 == 1)];
        check(seed, below);
        if given.is_some() || began.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
}
