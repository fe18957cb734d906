//! The repository against a naive one: random lists of calls on both, then every search, order,
//! page and time.
//!
//! `VARVE_OMRS_MODEL_LISTS` sets how many lists run, `VARVE_OMRS_MODEL_SEED` the first seed. A
//! failing list is shrunk and printed.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests too"
)]
#![allow(
    clippy::large_enum_variant,
    reason = "instances are large, and a test need not be fast"
)]

mod below;
mod call;
mod compare;
mod generate;
mod naive;
mod real;
mod world;

use std::panic::AssertUnwindSafe;

use varve_omrs::json::Millis;
use varve_testkit::random::Random;

use call::Write;
use generate::{Generator, USERS};
use world::{Step, World};

const LISTS_DEFAULT: u64 = 60;

/// Calls that write in a list.
const WRITES: usize = 60;

/// Calls that read, between the writes and after them.
const READS_BETWEEN: usize = 1;
const READS_AFTER: usize = 80;

/// One in so many calls that make an entity comes again so many times: searches pass over more than
/// 16 with the same value.
const AGAIN_ONE_IN: usize = 12;
const AGAIN: usize = 20;

/// The most runs that shrinking a list takes.
const SHRINK_RUNS_MAX: usize = 400;

/// Random reads, then reads of everything.
fn look(world: &mut World, seed: u64, count: usize) -> Result<(), String> {
    let mut random = Random::new(seed);
    for _ in 0..count {
        let read = generator(world, &mut random).read();
        let outcome = world.ask(&read);
        outcome.map_err(|wrong| format!("{read:?}: {wrong}"))?;
    }
    Ok(())
}

fn generator<'a>(world: &'a World, random: &'a mut Random) -> Generator<'a> {
    Generator {
        random,
        naive: &world.naive,
        names: &world.names,
        known: &world.known,
    }
}

/// Reads everything at some times.
fn look_at_all(world: &mut World, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut times: Vec<Millis> = Vec::new();
    for _ in 0..3 {
        times.extend(generator(world, &mut random).at());
    }
    world.ask_all(&times)?;
    look(world, seed, READS_AFTER)
}

/// Runs a list to its end; the first difference ends it.
fn run(steps: &[Step], seed: u64) -> Result<(), String> {
    let mut world = World::new();
    for (at, step) in steps.iter().enumerate() {
        let outcome = world.apply(step);
        outcome.map_err(|wrong| format!("call {at}: {wrong}"))?;
        look(&mut world, seed + at as u64, READS_BETWEEN)?;
    }
    look_at_all(&mut world, seed)
}

/// A list, and what came of it: it is made while it runs, so that its calls make sense.
fn make(seed: u64) -> (Vec<Step>, Result<(), String>) {
    let mut world = World::new();
    let mut random = Random::new(seed);
    let mut steps: Vec<Step> = Vec::new();
    for at in 0..WRITES {
        let write = generator(&world, &mut random).write(&format!("new-{at}"));
        let from = steps.len();
        steps.push(Step {
            wait_ms: *random.pick(&[0, 0, 1, 2, 10]),
            user: USERS[random.below(USERS.len())],
            write,
        });
        if let Write::AddEntity(name, request) = &steps[from].write
            && random.one_in(AGAIN_ONE_IN)
        {
            let again = |number| Step {
                wait_ms: i64::from(number == AGAIN / 2),
                user: steps[from].user,
                write: Write::AddEntity(format!("{name}-{number}"), request.clone()),
            };
            let all: Vec<Step> = (0..AGAIN).map(again).collect();
            steps.extend(all);
        }
        let outcome = caught(|| {
            steps[from..]
                .iter()
                .try_for_each(|step| world.apply(step))?;
            look(&mut world, seed + at as u64, READS_BETWEEN)
        });
        if let Err(wrong) = outcome {
            return (steps, Err(format!("call {at}: {wrong}")));
        }
    }
    let outcome = caught(|| look_at_all(&mut world, seed));
    (steps, outcome)
}

/// A panic is a difference too.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Leaves calls out as long as the two still differ.
fn shrink(mut steps: Vec<Step>, fails: &dyn Fn(&[Step]) -> bool) -> Vec<Step> {
    let mut runs = 0;
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() && runs < SHRINK_RUNS_MAX {
            let end = (at + size).min(steps.len());
            let mut fewer = steps.clone();
            let gone: Vec<Step> = fewer.drain(at..end).collect();
            if let Some(next) = fewer.get_mut(at) {
                next.wait_ms += gone.iter().map(|step| step.wait_ms).sum::<i64>();
            }
            runs += 1;
            if fails(&fewer) {
                steps = fewer;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    steps
}

fn check(seed: u64) {
    let (steps, outcome) = make(seed);
    let Err(wrong) = outcome else {
        return;
    };
    let rerun = |steps: &[Step]| caught(|| run(steps, seed));
    let small = shrink(steps, &|steps| rerun(steps).is_err());
    // GUIDs are random: what depends on them may not fail again.
    let wrong = rerun(&small).err().unwrap_or(wrong);
    let list: Vec<String> = small.iter().map(|step| format!("  {step:?}")).collect();
    panic!("seed {seed}: {wrong}\n{}", list.join("\n"));
}

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

#[test]
fn random_lists() {
    let first = number_from("VARVE_OMRS_MODEL_SEED", 1);
    let lists = number_from("VARVE_OMRS_MODEL_LISTS", LISTS_DEFAULT);
    for seed in first..first + lists {
        check(seed);
    }
}
