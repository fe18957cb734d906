//! Ready-made lists of rows: the published ones, and those of the table of speed in the README.

use clap::ValueEnum;

use super::result::{Load, Model};
use super::scenario::Scenario;

/// A row to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    pub(crate) scenario: Scenario,
    pub(crate) load: Load,
    /// The published row beside it.
    pub(crate) published: Option<String>,
}

/// The published page whose rows are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Page {
    /// HugeGraph 0.5.6 on RocksDB: the upper limits of six scenarios
    #[value(name = "v0.5.6")]
    V056,
    /// HugeGraph 0.2: seven scenarios at 1,000 users
    #[value(name = "v0.2")]
    V02,
}

/// A list of rows of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Batches, single writes and reads, closed, as fast as the server can
    Speed,
    /// Reads at 14,000 users, writes at 11,500, paced
    Users,
    /// Every scenario for a moment, to see that all work
    Smoke,
}

/// Concurrencies of a published picture, and the last of them without an error.
struct Picture {
    scenario: Scenario,
    name: &'static str,
    users: &'static [u32],
    last_clean: u32,
}

const V056: &[Picture] = &[
    Picture {
        scenario: Scenario::BatchInsertVertices,
        name: "vertex_batch",
        users: &[2_000, 2_200, 2_500, 3_000],
        last_clean: 2_200,
    },
    Picture {
        scenario: Scenario::BatchInsertEdges,
        name: "edge_batch",
        users: &[900, 1_000, 1_500, 2_000],
        last_clean: 900,
    },
    Picture {
        scenario: Scenario::SingleInsertVertices,
        name: "vertex_single",
        users: &[9_000, 10_000, 11_000, 11_500, 12_000, 12_500, 13_000],
        last_clean: 11_500,
    },
    Picture {
        scenario: Scenario::SingleInsertEdges,
        name: "edge_single",
        users: &[5_000, 6_000, 7_000, 8_000, 9_000, 9_500, 10_000],
        last_clean: 9_000,
    },
    Picture {
        scenario: Scenario::VertexById,
        name: "vertex_id_query",
        users: &[8_000, 9_000, 10_000, 12_000, 14_000, 16_000, 17_000],
        last_clean: 14_000,
    },
    Picture {
        scenario: Scenario::EdgeById,
        name: "edge_id_query",
        users: &[10_000, 11_000, 12_000, 12_500, 13_000, 14_000],
        last_clean: 13_000,
    },
];

const V02: &[Scenario] = &[
    Scenario::PropertyKeys,
    Scenario::VertexLabels,
    Scenario::EdgeLabels,
    Scenario::SingleInsertVertices,
    Scenario::SingleInsertEdges,
    Scenario::BatchInsertVertices,
    Scenario::BatchInsertEdges,
];

/// The rows of a published page. `scale` multiplies the users; without `all` only the last clean row of each picture.
pub(crate) fn published(page: Page, load: &Load, scale: f64, all: bool) -> Vec<Planned> {
    let scaled = |users: u32| ((f64::from(users) * scale).round() as u32).max(1);
    let row = |scenario, users: u32, published: String| Planned {
        scenario,
        load: Load {
            model: Model::Paced,
            users: Some(scaled(users)),
            period_s: load.period_s.or(Some(1.0)),
            rate: None,
            ..load.clone()
        },
        published: Some(published),
    };
    match page {
        Page::V02 => V02
            .iter()
            .map(|it| row(*it, 1_000, format!("v0.2 cassandra {} 1000", it.name())))
            .collect(),
        Page::V056 => V056
            .iter()
            .flat_map(|picture| {
                let users = picture.users.iter().copied();
                users
                    .filter(|users| all || *users == picture.last_clean)
                    .map(|users| {
                        let name = format!("v0.5.6 rocksdb {} {users}", picture.name);
                        row(picture.scenario, users, name)
                    })
            })
            .collect(),
    }
}

/// The rows of a preset. Times come from `load`.
pub(crate) fn preset(preset: Preset, load: &Load) -> Vec<Planned> {
    let closed = |scenario, users| Planned {
        scenario,
        load: Load {
            model: Model::Closed,
            users: Some(users),
            period_s: None,
            rate: None,
            ramp_s: 0.0,
            ..load.clone()
        },
        published: None,
    };
    let paced = |scenario, users| Planned {
        scenario,
        load: Load {
            model: Model::Paced,
            users: Some(users),
            period_s: load.period_s.or(Some(1.0)),
            rate: None,
            ..load.clone()
        },
        published: None,
    };
    match preset {
        Preset::Speed => vec![
            closed(Scenario::BatchInsertVertices, 8),
            closed(Scenario::BatchInsertEdges, 8),
            closed(Scenario::BatchInsertEdgesUnchecked, 8),
            closed(Scenario::SingleInsertVertices, 64),
            closed(Scenario::SingleInsertEdges, 64),
            closed(Scenario::VertexById, 64),
            closed(Scenario::EdgeById, 64),
            closed(Scenario::Overwrite, 8),
            closed(Scenario::OverwriteNoHistory, 8),
        ],
        Preset::Users => vec![
            paced(Scenario::VertexById, 14_000),
            paced(Scenario::EdgeById, 14_000),
            paced(Scenario::SingleInsertVertices, 11_500),
            paced(Scenario::SingleInsertEdges, 11_500),
        ],
        Preset::Smoke => Scenario::value_variants()
            .iter()
            .filter(|scenario| !scenario.is_load())
            .map(|scenario| closed(*scenario, 4))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_rows_are_all_there() {
        let load = Load::default();
        assert_eq!(published(Page::V056, &load, 1.0, true).len(), 35);
        let last = published(Page::V056, &load, 0.1, false);
        assert_eq!(last.len(), 6);
        assert_eq!(last[2].load.users, Some(1_150));
        assert_eq!(
            last[2].published.as_deref(),
            Some("v0.5.6 rocksdb vertex_single 11500")
        );
        assert_eq!(published(Page::V02, &load, 1.0, false).len(), 7);
    }

    #[test]
    fn the_smoke_list_has_every_scenario_once() {
        let rows = preset(Preset::Smoke, &Load::default());
        let offered = Scenario::value_variants().iter().filter(|it| {
            it.to_possible_value()
                .is_some_and(|value| !value.is_hide_set())
        });
        assert_eq!(rows.len(), offered.count());
    }
}
