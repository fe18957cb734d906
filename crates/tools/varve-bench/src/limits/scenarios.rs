//! The measured scenarios and their sizes.

use crate::api::options::{BATCH_EDGES, BATCH_VERTICES};
use crate::api::scenario::{Scenario, Sizes};

/// The vertices among which reads choose: the first ones, as many as `varve-bench api` loads. All
/// of them can be read during the warm-up.
const READ_VERTICES: u64 = 100_000;
/// The edges among which reads choose: the first ones, as many as `varve-bench api` loads.
const READ_EDGES: u64 = 200_000;
/// Average number of reads of each element before reads are measured.
const WARM_UP: u64 = 3;

/// The scenarios in their required order: later ones need the elements of earlier ones. In ten
/// turns, the batch scenarios fill several front tables, so their results include the cost of
/// flushes.
pub(super) const SCENARIOS: &[Measure] = &[
    Measure::new(Scenario::SingleInsertVertices, 64, 15_000),
    Measure::new(Scenario::BatchInsertVertices, 16, 1_000),
    Measure::new(Scenario::SingleInsertEdges, 64, 10_000),
    Measure::new(Scenario::BatchInsertEdges, 16, 250),
    Measure::new(Scenario::BatchInsertEdgesUnchecked, 16, 500),
    Measure::new(Scenario::VertexById, 64, 50_000),
    Measure::new(Scenario::EdgeById, 64, 50_000),
];

/// A scenario with its concurrent users.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) scenario: Scenario,
    pub(super) users: u32,
    /// The usual number of requests of a turn.
    requests: u64,
}

/// The turns of all scenarios, and the size of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turns {
    /// The number of measured turns. Turn 0, a warm-up, precedes them.
    pub(super) measured: u32,
    /// Requests in percent of the usual number.
    pub(super) percent: u64,
}

impl Measure {
    const fn new(scenario: Scenario, users: u32, requests: u64) -> Self {
        Self {
            scenario,
            users,
            requests,
        }
    }

    /// The number of requests of a measured turn, and of the warm-up of a write.
    pub(super) fn count(&self, turns: Turns) -> u64 {
        (self.requests * turns.percent / 100).max(u64::from(self.users))
    }

    /// The number of requests of all turns of a write.
    pub(super) fn count_all(&self, turns: Turns) -> u64 {
        self.count(turns) * (u64::from(turns.measured) + 1)
    }

    /// The number of requests of the warm-up: of a write as many as of a measured turn, since a new
    /// process allocates its memory while it writes; of a read several of each element.
    pub(super) fn count_warm_up(&self, turns: Turns, sizes: &Sizes) -> u64 {
        match self.reads() {
            true => WARM_UP * self.read_from(sizes),
            false => self.count(turns),
        }
    }

    pub(super) const fn reads(&self) -> bool {
        !self.scenario.writes()
    }

    /// Limits the sizes of all elements to those among which a read chooses.
    pub(super) fn read_sizes(&self, all: Sizes) -> Sizes {
        match self.scenario {
            // The ends of an edge depend on the number of all vertices.
            Scenario::EdgeById => Sizes {
                edges: all.edges.min(READ_EDGES),
                ..all
            },
            Scenario::VertexById => Sizes {
                vertices: all.vertices.min(READ_VERTICES),
                ..all
            },
            _ => all,
        }
    }

    /// The number of elements among which a read chooses.
    const fn read_from(&self, sizes: &Sizes) -> u64 {
        match self.scenario {
            Scenario::EdgeById => sizes.edges,
            _ => sizes.vertices,
        }
    }
}

/// The sizes of a batch, and the numbers of vertices and edges that all scenarios write in all
/// turns.
pub(super) fn sizes(turns: Turns) -> Sizes {
    let mut sizes = Sizes {
        vertices_per_request: BATCH_VERTICES,
        edges_per_request: BATCH_EDGES,
        vertices: 0,
        edges: 0,
    };
    for measure in SCENARIOS {
        let items = u64::from(measure.scenario.items(&sizes)) * measure.count_all(turns);
        match measure.scenario {
            Scenario::SingleInsertVertices | Scenario::BatchInsertVertices => {
                sizes.vertices += items;
            }
            _ if !measure.reads() => sizes.edges += items,
            _ => {}
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_turns_of_a_write_have_the_same_number_of_requests() {
        for percent in [0, 1, 250] {
            let turns = Turns {
                measured: 3,
                percent,
            };
            let sizes = sizes(turns);
            for measure in SCENARIOS.iter().filter(|it| !it.reads()) {
                let count = measure.count(turns);
                assert_eq!(measure.count_warm_up(turns, &sizes), count);
                assert_eq!(measure.count_all(turns), 4 * count);
                assert!(count >= u64::from(measure.users), "each user sends");
            }
        }
    }
}
