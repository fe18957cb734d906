//! The traversers: the checks of `varve-traversal` at points of histories.

#[path = "../../../varve-traversal/tests/definitions/graphs.rs"]
mod graphs;
#[path = "../../../varve-traversal/tests/definitions/naive.rs"]
mod naive;
#[path = "../../../varve-traversal/tests/definitions/near.rs"]
mod near;
#[path = "../../../varve-traversal/tests/definitions/pairs.rs"]
mod pairs;
#[path = "../../../varve-traversal/tests/definitions/ranks.rs"]
mod ranks;
#[path = "../../../varve-traversal/tests/definitions/steps.rs"]
mod steps;
#[path = "../../../varve-traversal/tests/definitions/walks.rs"]
mod walks;
#[path = "../../../varve-traversal/tests/definitions/world.rs"]
mod world;

mod making {
    //! Points of histories.

    use std::rc::Rc;

    use varve_testkit::Random;

    use super::world::World;
    use crate::history;

    /// Points that one test reads.
    pub(crate) const GRAPHS: u64 = 2_000;

    pub(crate) fn world(seed: u64, random: &mut Random) -> World {
        let (view, model) = history::whole_point(seed, random);
        World::of(model, Some(Rc::new(view)))
    }
}
