//! Predefined lists of rows: the published ones, and those of the speed table in
//! docs/performance.md.

use clap::ValueEnum;

use super::queries;
use super::scenario::Scenario;
use crate::report::{Published, published_rows};
use crate::result::Load;

/// Users of a row of short queries: enough to keep every core busy.
const QUERY_USERS: u32 = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    pub(crate) scenario: Scenario,
    pub(crate) load: Load,
    /// The published row to which it is compared.
    pub(crate) published: Option<String>,
    /// Number of the repeat, from 1.
    pub(crate) repeat: u32,
}

impl Planned {
    pub(crate) const fn new(scenario: Scenario, load: Load) -> Self {
        Self {
            scenario,
            load,
            published: None,
            repeat: 1,
        }
    }
}

/// The published page whose rows are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Page {
    /// HugeGraph 0.5.6 on RocksDB: the upper limits of six scenarios
    #[value(name = "v0.5.6")]
    V056,
    /// HugeGraph 0.5.6 on 15 nodes of Cassandra: the upper limits of six scenarios
    #[value(name = "v0.5.6-cassandra")]
    V056Cassandra,
    /// HugeGraph 0.4.4 on RocksDB: batches by concurrency, and the upper limits of single inserts
    #[value(name = "v0.4.4")]
    V044,
    /// HugeGraph 0.2: seven scenarios at 1,000 users, batches of 199 vertices and 499 edges
    #[value(name = "v0.2")]
    V02,
    /// HugeGraph 0.2: the upper limits of single inserts
    #[value(name = "v0.2-limit")]
    V02Limit,
}

impl Page {
    /// Page, back end and tables, as in `published.csv`; an empty list means all tables.
    const fn source(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::V056 => ("v0.5.6", "rocksdb", &[]),
            Self::V056Cassandra => ("v0.5.6", "cassandra", &[]),
            // The other tables have the same loads on other machines.
            Self::V044 => ("v0.4.4", "rocksdb", &["threads-batch", "threads-single"]),
            Self::V02 => ("v0.2", "cassandra", &["fixed"]),
            Self::V02Limit => ("v0.2", "cassandra", &["limit"]),
        }
    }

    fn rows(self) -> Vec<Published> {
        let (page, backend, tables) = self.source();
        let mut rows = published_rows();
        rows.retain(|row| {
            let wanted = tables.is_empty() || tables.contains(&row.table);
            row.page == page && row.backend == backend && wanted
        });
        rows
    }

    /// Elements in a batch of the page; `None` if it has no row of the scenario.
    pub(crate) fn items(self, scenario: Scenario) -> Option<u32> {
        let name = scenario.name();
        let row = self.rows().into_iter().find(|row| row.scenario == name)?;
        Some(row.items)
    }
}

/// A list of rows of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Batches, single writes and reads; closed, as fast as the server answers
    Speed,
    /// Gremlin queries on the social graph
    Gremlin,
    /// Traversers on the social graph
    Traversers,
    /// Every scenario briefly, to check that all work
    Smoke,
}

/// The rows of a published page. Unless `all` is set, only the best
/// row without errors of each scenario and table is returned. (The last one without errors may have
/// been unable to start all its users.)
pub(crate) fn published(page: Page, load: &Load, all: bool) -> Vec<Planned> {
    let rows = page.rows();
    let is_best = |row: &Published| {
        let mut beside = rows.iter().filter(|other| {
            other.table == row.table && other.scenario == row.scenario && other.clean()
        });
        row.clean() && beside.all(|other| other.throughput() <= row.throughput())
    };
    let planned = |row: &Published| {
        let load = Load {
            users: row.concurrency,
            ..load.clone()
        };
        Some(Planned {
            published: Some(format!("{} {}", row.source(), row.concurrency)),
            ..Planned::new(Scenario::from_str(row.scenario, false).ok()?, load)
        })
    };
    let rows_wanted = rows.iter().filter(|row| all || is_best(row));
    rows_wanted.filter_map(planned).collect()
}

/// The rows of a preset, with the times of `load`.
pub(crate) fn preset(preset: Preset, load: &Load) -> Vec<Planned> {
    let closed = |scenario, users| {
        let load = Load {
            users,
            ..load.clone()
        };
        Planned::new(scenario, load)
    };
    let all = |is_of: fn(Scenario) -> bool, users: fn(Scenario) -> u32| {
        let scenarios = Scenario::value_variants().iter().filter(|it| is_of(**it));
        scenarios.map(|it| closed(*it, users(*it))).collect()
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
        ],
        Preset::Gremlin => all(|it| queries::gremlin(it).is_some(), query_users),
        Preset::Traversers => all(|it| queries::traverser(it).is_some(), query_users),
        Preset::Smoke => all(|it| !it.is_load(), |_| 4),
    }
}

fn query_users(scenario: Scenario) -> u32 {
    match scenario {
        // Queries of milliseconds to seconds.
        Scenario::GremlinPath | Scenario::GremlinCities | Scenario::GremlinAllTwoHops => 1,
        _ => QUERY_USERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(rows: &[Planned]) -> Vec<&str> {
        let names = rows.iter().map(|row| row.published.as_deref());
        names.map(|name| name.expect("a published row")).collect()
    }

    #[test]
    fn the_published_rows_are_all_there() {
        let load = Load::default();
        for (page, all, best) in [
            (Page::V056, 35, 6),
            (Page::V056Cassandra, 34, 6),
            (Page::V044, 17, 4),
            (Page::V02, 7, 7),
            (Page::V02Limit, 7, 2),
        ] {
            assert_eq!(published(page, &load, true).len(), all, "{page:?}");
            assert_eq!(published(page, &load, false).len(), best, "{page:?}");
        }
        let single = published(Page::V056, &load, false).remove(2);
        assert_eq!(single.load.users, 11_500);
    }

    #[test]
    fn the_upper_limits_are_the_published_ones() {
        let rows = published(Page::V056, &Load::default(), false);
        let limits = [
            "v0.5.6 rocksdb vertex_batch 2200",
            "v0.5.6 rocksdb edge_batch 900",
            "v0.5.6 rocksdb vertex_single 11500",
            "v0.5.6 rocksdb edge_single 9000",
            "v0.5.6 rocksdb vertex_id_query 14000",
            "v0.5.6 rocksdb edge_id_query 13000",
        ];
        assert_eq!(names(&rows), limits);
        let rows = published(Page::V02Limit, &Load::default(), false);
        let limits = ["v0.2 cassandra limit 4000", "v0.2 cassandra limit 3000"];
        assert_eq!(names(&rows), limits);
    }

    #[test]
    fn a_page_tells_the_size_of_its_batches() {
        let of = |page: Page| {
            let (vertices, edges) = (Scenario::BatchInsertVertices, Scenario::BatchInsertEdges);
            (page.items(vertices), page.items(edges))
        };
        assert_eq!(of(Page::V02), (Some(199), Some(499)));
        assert_eq!(of(Page::V044), (Some(200), Some(500)));
        assert_eq!(of(Page::V02Limit), (None, None));
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
