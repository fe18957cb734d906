//! The options of `varve-bench api`, and the rows that they select.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::arguments::Common;

use super::preset::{self, Page, Planned, Preset};
use super::scenario::{PUBLISHED, Scenario, Sizes};
use super::target::Paths;
use super::threshold::{Threshold, parse_seconds};
use crate::result::{Load, Model};

/// The default number of users of a paced row: that of the published fixed test.
const PACED_USERS: u32 = 1_000;
/// The default number of users of a closed row.
const CLOSED_USERS: u32 = 32;
/// The default number of vertices of a batch request: that of the published batches since 0.4.
pub(crate) const BATCH_VERTICES: u32 = 200;
/// The same number for edges.
pub(crate) const BATCH_EDGES: u32 = 500;

/// `varve-bench api`
#[derive(Debug, Clone, Args)]
pub(crate) struct ApiArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Name of the graph
    #[arg(long, default_value = "hugegraph", value_name = "NAME")]
    pub(crate) graph: String,
    /// The form of the graph's paths
    #[arg(long, value_enum, default_value_t)]
    pub(crate) paths: Paths,
    /// Scenarios, separated by commas [default: the nine published ones]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) scenario: Vec<Scenario>,
    /// Run the rows of a published page
    #[arg(long, value_enum, value_name = "PAGE", conflicts_with_all = ["scenario", "preset"])]
    pub(crate) published: Option<Page>,
    /// With --published: run every row, not only the best one without errors of each scenario
    #[arg(long, requires = "published")]
    pub(crate) all_rows: bool,
    /// Run a predefined list of rows
    #[arg(long, value_enum, value_name = "LIST", conflicts_with = "scenario")]
    pub(crate) preset: Option<Preset>,

    /// How requests are sent
    #[arg(long, value_enum, default_value_t)]
    pub(crate) model: Model,
    /// Numbers of users, one row for each [default: 1000 paced, 32 closed]. With --published: the
    /// most users of a row, instead of those of the page
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pub(crate) users: Vec<u32>,
    /// Paced: time between two requests of a user
    #[arg(long, default_value = "1s", value_parser = parse_seconds, value_name = "TIME")]
    pub(crate) period: f64,
    /// Time over which the users start and, in paced rows, stop [default: 30s paced, 0 else]
    #[arg(long, value_parser = parse_seconds, value_name = "TIME")]
    pub(crate) ramp: Option<f64>,
    /// Time for which all users run [default: 300s paced, 10s else]
    #[arg(long, value_parser = parse_seconds, value_name = "TIME")]
    pub(crate) hold: Option<f64>,
    /// Load before each row that is not measured [default: 0 paced, 1s else]
    #[arg(long, value_parser = parse_seconds, value_name = "TIME")]
    pub(crate) warmup: Option<f64>,
    /// Send at most this number of requests for each row
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Run the whole list this number of times
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) repeat: u32,

    /// Vertices loaded before reads and edges
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub(crate) vertices: u64,
    /// Edges loaded before reads of edges
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    pub(crate) edges: u64,
    /// Vertices of a batch request [default: 200, or what the page of --published had]
    #[arg(long, value_name = "N")]
    pub(crate) vertices_per_request: Option<u32>,
    /// Edges of a batch request [default: 500, or what the page of --published had]
    #[arg(long, value_name = "N")]
    pub(crate) edges_per_request: Option<u32>,
    /// Three characters that distinguish the elements of this run [default: random ones, not yet
    /// used in the graph]
    #[arg(long, value_name = "ABC", value_parser = parse_prefix)]
    pub(crate) run_prefix: Option<[u8; 3]>,
    /// The server has Gremlin over HTTP and no other API: --graph names its traversal source, and
    /// its store contains what was loaded into another server
    #[arg(long, requires = "loaded", conflicts_with = "serve")]
    pub(crate) gremlin_server: bool,
    /// The store contains what an earlier run with this --run-prefix loaded
    #[arg(long, requires = "run_prefix")]
    pub(crate) loaded: bool,

    /// Threads that send requests [default: one for every two processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Give up connecting, or waiting for an answer, after this time
    #[arg(long, default_value = "60s", value_parser = parse_seconds, value_name = "TIME")]
    pub(crate) timeout: f64,
    /// Written elements to read back after a row
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) verify: u64,

    /// Raise the users until a row fails; then search the limit by halving
    #[arg(long)]
    pub(crate) limit_search: bool,
    /// Search: factor between one step and the next
    #[arg(long, default_value_t = 1.5, value_name = "FACTOR")]
    pub(crate) limit_factor: f64,
    /// Search: the most users
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub(crate) limit_max: u32,
    /// Fail the run (exit code 3), or end the search, when this holds for a row, e.g. `error>0`
    /// (the search's default) or `p99>20ms`; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_on: Vec<Threshold>,

    /// Write every sample to this file, in JMeter's format
    #[arg(long, value_name = "FILE")]
    pub(crate) jtl: Option<PathBuf>,
}

fn parse_prefix(text: &str) -> Result<[u8; 3], String> {
    let fits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let bytes = text.as_bytes().try_into().ok().filter(|_| fits);
    bytes.ok_or_else(|| format!("{text}: expected three letters or digits"))
}

/// The default limit of connections of a Varve server.
const SERVER_CONNECTIONS: u32 = 18_000;
/// Connections besides those of a row: the tool's own, and connections of the previous row whose
/// end the server has not seen yet.
const CONNECTIONS_BESIDE: u32 = 64;

impl ApiArguments {
    /// The options of `varve-bench gremlin`: the list of queries, unless other rows are named.
    #[must_use]
    pub(crate) fn of_gremlin(mut self) -> Self {
        if self.scenario.is_empty() && self.published.is_none() {
            self.preset.get_or_insert(Preset::Gremlin);
        }
        self
    }

    /// The most connections that a row opens.
    pub(crate) fn connections(&self) -> Result<u32> {
        let rows = self.rows()?;
        let most = rows.iter().map(|row| row.load.users).max().unwrap_or(1);
        Ok(match self.limit_search {
            true => most.max(self.limit_max),
            false => most,
        })
    }

    /// The options of the server that is started for the run. By default it accepts as many
    /// connections as the rows open.
    pub(crate) fn server_settings(&self) -> Result<Vec<String>> {
        let connections = self.connections()?.saturating_add(CONNECTIONS_BESIDE);
        let mut settings = Vec::new();
        if connections > SERVER_CONNECTIONS {
            settings.push(format!("server.max_connections={connections}"));
        }
        Ok(settings)
    }

    pub(crate) fn sizes(&self) -> Result<Sizes> {
        let published = |scenario| self.published.and_then(|page| page.items(scenario));
        let vertices_per_request = self
            .vertices_per_request
            .or_else(|| published(Scenario::BatchInsertVertices))
            .unwrap_or(BATCH_VERTICES);
        let edges_per_request = self
            .edges_per_request
            .or_else(|| published(Scenario::BatchInsertEdges))
            .unwrap_or(BATCH_EDGES);
        ensure!(
            vertices_per_request > 0 && edges_per_request > 0,
            "a batch has at least one element"
        );
        ensure!(self.vertices > 1, "--vertices must be at least 2");
        // Only whole requests are loaded.
        let up = |count: u64, step: u32| {
            let step = u64::from(step);
            count.div_ceil(step).saturating_mul(step)
        };
        Ok(Sizes {
            vertices_per_request,
            edges_per_request,
            vertices: up(self.vertices, vertices_per_request),
            edges: up(self.edges, edges_per_request),
        })
    }

    pub(crate) fn threads(&self) -> u32 {
        let default = crate::environment::processors().div_ceil(2);
        self.threads.unwrap_or(default).max(1)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    /// The load of the options, for `model`.
    fn load(&self, model: Model) -> Load {
        let paced = model == Model::Paced;
        Load {
            model,
            users: 1,
            period_s: paced.then_some(self.period),
            ramp_s: self.ramp.unwrap_or(if paced { 30.0 } else { 0.0 }),
            hold_s: self.hold.unwrap_or(if paced { 300.0 } else { 10.0 }),
            warmup_s: self.warmup.unwrap_or(if paced { 0.0 } else { 1.0 }),
        }
    }

    /// The rows to run in order, with all repeats.
    ///
    /// # Errors
    /// When options contradict each other.
    pub(crate) fn plan(&self) -> Result<Vec<Planned>> {
        let rows = self.rows()?;
        let repeats = (1..=self.repeat.max(1)).flat_map(|repeat| {
            rows.iter().map(move |row| Planned {
                repeat,
                ..row.clone()
            })
        });
        Ok(repeats.collect())
    }

    fn rows(&self) -> Result<Vec<Planned>> {
        if let Some(page) = self.published {
            let load = self.load(Model::Paced);
            let mut rows = preset::published(page, &load, self.all_rows);
            if let Some(most) = self.users.iter().max() {
                for row in &mut rows {
                    row.load.users = row.load.users.min(*most);
                }
            }
            return Ok(rows);
        }
        if let Some(list) = self.preset {
            return Ok(preset::preset(list, &self.load(Model::Closed)));
        }
        let scenarios = match self.scenario.is_empty() {
            true => PUBLISHED,
            false => &self.scenario,
        };
        let loads = self.loads()?;
        let rows = scenarios.iter().flat_map(|scenario| {
            loads
                .iter()
                .map(|load| Planned::new(*scenario, load.clone()))
        });
        Ok(rows.collect())
    }

    fn loads(&self) -> Result<Vec<Load>> {
        let load = self.load(self.model);
        let default = match self.model {
            Model::Paced => PACED_USERS,
            Model::Closed => CLOSED_USERS,
        };
        let users = match self.users.is_empty() {
            true => vec![default],
            false => self.users.clone(),
        };
        ensure!(users.iter().all(|users| *users > 0), "--users is above 0");
        let with = |users: u32| Load {
            users,
            ..load.clone()
        };
        Ok(users.into_iter().map(with).collect())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: ApiArguments,
    }

    fn parse(line: &str) -> ApiArguments {
        let words = ["bench"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words).expect("parses").arguments
    }

    #[test]
    fn a_server_of_the_run_takes_as_many_connections_as_it_opens() {
        let settings = |line: &str| parse(line).server_settings().expect("settings");
        assert!(settings("--users 14000").is_empty());
        assert_eq!(
            settings("--users 500,19000"),
            ["server.max_connections=19064"]
        );
    }

    #[test]
    fn the_published_plan_is_the_default() {
        let rows = parse("").rows().expect("rows");
        assert_eq!(rows.len(), 9);
        let load = &rows[0].load;
        assert_eq!(load.model, Model::Paced);
        assert_eq!((load.users, load.period_s), (1_000, Some(1.0)));
        assert_eq!(
            (load.ramp_s, load.hold_s, load.warmup_s),
            (30.0, 300.0, 0.0)
        );
    }

    #[test]
    fn several_users_are_several_rows() {
        let rows = parse("--model closed --scenario vertex_by_id,edge_by_id --users 1,8 --hold 2s");
        let rows = rows.rows().expect("rows");
        let users: Vec<_> = rows.iter().map(|row| row.load.users).collect();
        assert_eq!(users, [1, 8, 1, 8]);
        assert_eq!(rows[0].load.hold_s, 2.0);
    }

    #[test]
    fn published_rows_take_fewer_users_if_asked() {
        let users = |line: &str| -> Vec<_> {
            let rows = parse(line).rows().expect("rows");
            rows.iter().map(|row| row.load.users).collect()
        };
        let published = users("--published v0.5.6-cassandra");
        assert!(published.iter().all(|users| *users > 1000));
        let fewer = users("--published v0.5.6-cassandra --users 64");
        assert_eq!(fewer, vec![64; published.len()]);
    }

    #[test]
    fn batches_are_as_large_as_the_published_ones() {
        let of = |line: &str| {
            let sizes = parse(line).sizes().expect("sizes");
            (sizes.vertices_per_request, sizes.edges_per_request)
        };
        assert_eq!(of(""), (200, 500));
        assert_eq!(of("--published v0.5.6"), (200, 500));
        assert_eq!(of("--published v0.2"), (199, 499));
        let words = "--published v0.2 --edges-per-request 7";
        assert_eq!(of(words), (199, 7), "what is named counts");
    }

    #[test]
    fn whole_requests_are_loaded() {
        let sizes = parse("--vertices 1000 --vertices-per-request 199")
            .sizes()
            .expect("sizes");
        assert_eq!(sizes.vertices % 199, 0);
        assert!(sizes.vertices >= 1_000);
    }
}
