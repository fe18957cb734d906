//! Random lists of operations on the store and on lists of whole states: every walk, read and
//! history is the same, now and as of then, before and after a restart.

mod instances;
mod operations;
mod orders;
mod parts;
mod random;
mod reads;
mod rendered;
mod states;
mod walks;

pub(crate) use random::Random;
use states::Model;

use crate::world::*;

struct Run {
    world: World,
    model: Model,
    random: Random,
    guids: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        Self {
            world: World::new(),
            model: Model::default(),
            random: Random(seed),
            guids: 0,
        }
    }
}

#[test]
fn the_store_is_lists_of_states() {
    let seeds = std::env::var("VARVE_MODEL_SEEDS").map_or(3, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let mut run = Run::new(seed);
        for step in 1..=240 {
            run.step();
            if step % 60 == 0 {
                run.compare_all();
            }
        }
        run.world.verify();
        run.world.restart();
        run.compare_all();
        run.world.verify();
    }
}
