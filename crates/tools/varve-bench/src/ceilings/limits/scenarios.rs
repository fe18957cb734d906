//! The measured scenarios and their sizes.

use crate::api::scenario::{Scenario, Sizes};

/// Vertices of a batch request.
const BATCH_VERTICES: u32 = 200;
/// Edges of a batch request.
const BATCH_EDGES: u32 = 500;
/// The vertices among which reads choose: the first ones, as many as `bench api` loads. All of them
/// can be read during the warm-up.
const READ_VERTICES: u64 = 100_000;
/// The edges among which reads choose: the first ones, as many as `bench api` loads.
const READ_EDGES: u64 = 200_000;

/// The scenarios in their required order: later ones need the elements of earlier ones. At 300 % of
/// the usual number of requests, the batch scenarios fill several front tables. Their results then
/// include the cost of flushes.
pub(super) const SCENARIOS: &[Measure] = &[
    Measure::new(Scenario::SingleInsertVertices, 64, 60_000),
    Measure::new(Scenario::BatchInsertVertices, 16, 4_000).warmed_up(),
    Measure::new(Scenario::SingleInsertEdges, 64, 40_000),
    Measure::new(Scenario::BatchInsertEdges, 16, 1_000).warmed_up(),
    Measure::new(Scenario::BatchInsertEdgesUnchecked, 16, 2_000).warmed_up(),
    Measure::new(Scenario::VertexById, 64, 150_000),
    Measure::new(Scenario::EdgeById, 64, 150_000),
];

/// A scenario with its concurrent users and its usual number of requests.
pub(super) struct Measure {
    pub(super) scenario: Scenario,
    pub(super) users: u32,
    pub(super) requests: u64,
    /// Whether as many unmeasured requests precede the measured ones.
    pub(super) warmed_up: bool,
}

impl Measure {
    const fn new(scenario: Scenario, users: u32, requests: u64) -> Self {
        Self {
            scenario,
            users,
            requests,
            warmed_up: false,
        }
    }

    /// Adds a warm-up of as many requests, to the server, to each engine and to the bare server. A
    /// new process allocates its memory while it writes, which would distort a short measurement.
    const fn warmed_up(mut self) -> Self {
        self.warmed_up = true;
        self
    }

    pub(super) fn count(&self, percent: u64) -> u64 {
        (self.requests * percent / 100).max(u64::from(self.users))
    }

    /// The warm-up; `None` if there is none. Its number of requests is already scaled by `percent`.
    pub(super) fn warm_up(&self, percent: u64) -> Option<Self> {
        self.warmed_up.then(|| Self {
            requests: self.count(percent),
            warmed_up: false,
            ..*self
        })
    }

    /// The number of all requests, measured or not.
    pub(super) fn count_all(&self, percent: u64) -> u64 {
        self.count(percent) * if self.warmed_up { 2 } else { 1 }
    }

    pub(super) const fn reads(&self) -> bool {
        self.scenario.written().is_none()
    }

    /// Limits the sizes of all elements to those among which a read chooses.
    pub(super) fn read_sizes(&self, all: Sizes) -> Sizes {
        match self.scenario {
            // The ends of an edge depend on the number of all vertices.
            Scenario::EdgeById => Sizes {
                edges: all.edges.min(READ_EDGES),
                ..all
            },
            _ => Sizes {
                vertices: all.vertices.min(READ_VERTICES),
                ..all
            },
        }
    }

    /// The number of elements among which a read chooses.
    pub(super) fn read_from(&self, sizes: &Sizes) -> u64 {
        match self.scenario {
            Scenario::EdgeById => sizes.edges,
            _ => sizes.vertices,
        }
    }
}

/// The sizes of a batch, and the numbers of vertices and edges that all scenarios write, warm-ups
/// included.
pub(super) fn sizes(percent: u64) -> Sizes {
    let mut sizes = Sizes {
        vertices_per_request: BATCH_VERTICES,
        edges_per_request: BATCH_EDGES,
        schema_elements: 1,
        write_ratio: 0.0,
        vertices: 0,
        edges: 0,
    };
    for measure in SCENARIOS {
        let items = u64::from(measure.scenario.items(&sizes)) * measure.count_all(percent);
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
    fn what_warms_up_is_as_much_as_what_is_measured() {
        for measure in SCENARIOS {
            for percent in [0, 1, 250] {
                let before = measure.warm_up(percent).map_or(0, |it| it.count(100));
                assert_eq!(measure.count_all(percent), before + measure.count(percent));
            }
        }
        assert!(SCENARIOS.iter().any(|measure| measure.warm_up(1).is_some()));
    }
}
