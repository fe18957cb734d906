//! The JSON result file of `varve bench`: what ran, on what machine, and what came out.
//!
//! These types are the file: `docs/bench.md` describes it field by field. Times are microseconds where a name ends in
//! `_us`, seconds where it ends in `_s`; sizes are bytes. A field that could not be known is absent. Readers accept
//! absent fields, so that a newer tool reads older files; [`FORMAT`] grows when a field changes its meaning.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// Version of the file's form.
pub const FORMAT: u32 = 1;

/// A second of a row of which less is left out counts as whole.
const WHOLE_SECOND: f64 = 0.95;

/// A whole result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultFile {
    /// [`FORMAT`] of the tool that wrote it.
    pub format: u32,
    /// What the run was for: `--title`, or the command's name.
    pub title: String,
    /// Machine, tool and command line.
    pub environment: Environment,
    /// The servers measured; rows name them by [`Server::name`].
    pub servers: Vec<Server>,
    /// One for each scenario, load and server, in the order they ran. Skipped ones are here too, with the reason.
    pub rows: Vec<Row>,
    /// What `--limit-search` found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitFound>,
    /// What `varve bench limits` found: ours against the ceilings of the same run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<CeilingRow>,
}

/// The machine and the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// `--machine`: how the user calls it.
    pub machine: Option<String>,
    /// From `/proc/cpuinfo`.
    pub cpu_model: String,
    /// Logical processors that the tool may use.
    pub cpu_count: u32,
    /// All memory of the machine.
    pub memory_bytes: u64,
    /// File system and device of the working directory.
    pub disk: String,
    /// `uname -sr`.
    pub kernel: String,
    /// Name and version of the distribution.
    pub system: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Commit the tool was built from, if known.
    pub tool_commit: Option<String>,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Seed of payloads and choices.
    pub seed: u64,
    /// Prefix of the run's ids: a run's inserts never meet another run's elements.
    pub run_prefix: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339.
    pub ended: String,
    /// Open files that the tool may have.
    pub open_files_max: u64,
    /// Accept queue limit of the kernel.
    pub somaxconn: u64,
    /// Load average of one minute at the start: other work on the machine.
    pub load_average_start: f64,
    /// Load average of one minute at the end.
    pub load_average_end: f64,
    /// Threads that sent requests.
    pub generator_threads: u32,
    /// What a reader should know: limits that were too low, processes beside it.
    pub warnings: Vec<String>,
}

/// A server measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Short name, unique in the file: `varve`, `hugegraph`.
    pub name: String,
    /// Base address.
    pub url: String,
    /// The graph used.
    pub graph: String,
    /// `short` (`/graphs/g/…`) or `graph-space` (`/graphspaces/DEFAULT/graphs/g/…`).
    pub paths: String,
    /// What the server says it is: `core` of `GET /versions`.
    pub core_version: Option<String>,
    /// `api` of `GET /versions`.
    pub api_version: Option<String>,
    /// Name and version of the program as far as it tells (`service` and `version` of `GET /`).
    pub service: Option<String>,
    /// When a write is acknowledged: `sync`, `interval:<ms>`, `none`; for others in words. Absent when unknown.
    pub durability: Option<String>,
    /// Engine below, if it tells.
    pub engine: Option<String>,
    /// Process on this machine.
    pub pid: Option<u32>,
    /// Its command line.
    pub command_line: Option<String>,
    /// What was set differently from its defaults, and why.
    pub notes: Vec<String>,
}

/// How requests were sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// N users, at most one request each a period, as in the published tests.
    #[default]
    Paced,
    /// N users, back to back.
    Closed,
    /// A rate, whatever the answers do.
    Open,
}

impl Model {
    /// The word used in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paced => "paced",
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

/// The load of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// The model.
    pub model: Model,
    /// Users of the paced and the closed model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Requests a second of the open model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open model: exponential gaps instead of even ones.
    pub poisson: bool,
    /// Open model: the most requests in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Paced model: time between two requests of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// Time in which users start, and in which they stop.
    pub ramp_s: f64,
    /// Time with all users.
    pub hold_s: f64,
    /// Warm-up before, not in the figures.
    pub warmup_s: f64,
}

/// One row: a scenario under a load on a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// [`Server::name`].
    pub server: String,
    /// Scenario, e.g. `single_insert_vertices`.
    pub scenario: String,
    /// What the table shows: the scenario and its variant, e.g. `batch_insert_edges check_vertex=false`.
    pub label: String,
    /// Why the row did not run; then there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The published row it stands beside, as `v0.5.6 rocksdb vertex_single 11500`: page, backend, picture,
    /// concurrency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The load.
    pub load: Load,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Elements a request carries or asks for.
    pub items_per_request: u32,
    /// How ids were chosen: `new`, `uniform`, `zipfian`.
    pub choice: String,
    /// Durability of the server in this row, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// What the store held before, in words: elements of this run.
    pub data_before: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End of the last sample minus start of the first.
    pub elapsed_s: f64,
    /// The published columns.
    pub columns: Columns,
    /// What we print beside them.
    pub more: More,
    /// Latencies from the planned send. Absent in the closed model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Corrected>,
    /// Failed samples by kind: `refused`, `connect_timeout`, `read_timeout`, `reset`, `closed`, `bad_answer`,
    /// `wrong_body`, or the status as `http_503`.
    pub errors: BTreeMap<String, u64>,
    /// The first of each kind, as the server sent it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_examples: Vec<ErrorExample>,
    /// Connections.
    pub connections: Connections,
    /// CPU time.
    pub cpu: Cpu,
    /// Resident memory of the server. Absent when it is not local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_memory: Option<Memory>,
    /// How well the generator kept the plan.
    pub generator: Generator,
    /// Read back what was acknowledged. Absent for reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// One for each second since the first sample; the row ends within the last.
    pub series: Vec<Second>,
    /// Service times.
    pub histogram: Buckets,
    /// Corrected times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_histogram: Option<Buckets>,
}

impl Row {
    /// The seconds of the series that the row filled. It ends within the last one, which is therefore left out unless
    /// it is the only one: what ended in it is not what ends in a second.
    #[must_use]
    pub fn whole_seconds(&self) -> &[Second] {
        match self.series.split_last() {
            Some((last, others))
                if !others.is_empty() && f64::from(last.at_s) + WHOLE_SECOND > self.elapsed_s =>
            {
                others
            }
            _ => &self.series,
        }
    }
}

/// The nine published columns but the label, with more digits than the table shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Columns {
    /// Requests finished, failed ones included.
    pub samples: u64,
    /// Mean service time.
    pub average_us: f64,
    /// 50 % by nearest rank.
    pub median_us: u64,
    /// 90 % by nearest rank.
    pub line90_us: u64,
    /// Shortest.
    pub min_us: u64,
    /// Longest.
    pub max_us: u64,
    /// Failed of all, in percent.
    pub error_percent: f64,
    /// Samples ÷ [`Row::elapsed_s`].
    pub throughput: f64,
    /// Bytes received, head and body, ÷ 1024 ÷ [`Row::elapsed_s`].
    pub kb_per_s: f64,
}

/// Columns of ours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct More {
    /// 95 % of the service times.
    pub line95_us: u64,
    /// 99 %.
    pub line99_us: u64,
    /// 99.9 %.
    pub line999_us: u64,
    /// Elements of requests that succeeded ÷ [`Row::elapsed_s`].
    pub items_per_s: f64,
    /// Bytes sent ÷ 1024 ÷ [`Row::elapsed_s`].
    pub sent_kb_per_s: f64,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Bytes of bodies received.
    pub received_body_bytes: u64,
    /// Bytes sent, heads included.
    pub sent_bytes: u64,
    /// Requests that answered 404 where that is no error, and the like: answers without an element.
    pub empty_answers: u64,
}

/// Latencies from the planned send: what a user would have seen who does not wait for the last answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Corrected {
    /// 50 %.
    pub median_us: u64,
    /// 90 %.
    pub line90_us: u64,
    /// 95 %.
    pub line95_us: u64,
    /// 99 %.
    pub line99_us: u64,
    /// 99.9 %.
    pub line999_us: u64,
    /// Longest.
    pub max_us: u64,
    /// Mean.
    pub average_us: f64,
    /// Planned requests that were never sent since the user still waited; they are in these figures, as answered
    /// together with the next one.
    pub omitted: u64,
}

/// A failed request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorExample {
    /// Kind, as in [`Row::errors`].
    pub kind: String,
    /// Begin of the answer, or the system's error.
    pub text: String,
}

/// Connections of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connections {
    /// Opened in all.
    pub opened: u64,
    /// Opened again by a user who had one.
    pub reconnects: u64,
    /// Mean time to connect.
    pub connect_average_us: f64,
    /// 99 % of the times to connect.
    pub connect_line99_us: u64,
    /// Longest time to connect. About 1, 3, 7 or 15 s means that the server's accept queue was full.
    pub connect_max_us: u64,
}

/// CPU time of a row, first sample to last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// User and system time of the server. Absent when it is not local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_s: Option<f64>,
    /// The same ÷ samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us_per_request: Option<f64>,
    /// The same ÷ elements of requests that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us_per_item: Option<f64>,
    /// User and system time of the threads that sent.
    pub generator_s: f64,
    /// The same ÷ samples.
    pub generator_us_per_request: f64,
    /// The same ÷ elements of requests that succeeded.
    pub generator_us_per_item: f64,
}

/// Resident memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Before the row.
    pub start_bytes: u64,
    /// The most seen during it.
    pub peak_bytes: u64,
    /// After it.
    pub end_bytes: u64,
}

/// How the generator did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Generator {
    /// Sends later than 5 % of the period after the plan although the user was free.
    pub late_sends: u64,
    /// The latest.
    pub late_max_us: u64,
    /// Open model: arrivals over `max_in_flight`, not sent.
    pub not_sent: u64,
    /// The row says more about the generator than about the server.
    pub bound: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_reason: Option<String>,
    /// Little's law: throughput × average, the requests in flight on average. In a closed row about the users.
    pub in_flight: f64,
    /// Samples of a user on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples_per_user: Option<f64>,
    /// Samples of a user when nothing is late (331 with the published plan).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_samples_per_user: Option<f64>,
    /// Whether [`Generator::in_flight`] and the samples of a user agree with the plan.
    pub little_agrees: bool,
}

/// Whether the data is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Elements acknowledged.
    pub acknowledged: u64,
    /// Of them read back.
    pub checked: u64,
    /// Of those not found.
    pub missing: u64,
    /// Of those found with other content.
    pub wrong: u64,
    /// How.
    pub method: String,
}

impl Verification {
    /// Whether all that was looked at was there.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.missing == 0 && self.wrong == 0
    }
}

/// A second of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Seconds since the first sample, at the second's begin.
    pub at_s: u32,
    /// Samples that ended in it.
    pub samples: u64,
    /// Of them failed.
    pub errors: u64,
    /// Mean service time.
    pub average_us: f64,
    /// Median.
    pub median_us: u64,
    /// 99 %.
    pub line99_us: u64,
    /// Longest.
    pub max_us: u64,
    /// Users started and not stopped; in the open model requests in flight.
    pub users: u32,
    /// CPU of the server in percent of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_percent: Option<f64>,
    /// CPU of this tool in percent of one processor.
    pub generator_cpu_percent: f64,
    /// Resident memory of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_rss_bytes: Option<u64>,
}

/// A histogram: `[highest value of the bucket in µs, count]`, ascending, empty buckets left out. Three digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl Buckets {
    /// Samples in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The smallest value that at least `percent` of the samples are at or under, in µs; 0 when there are none.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        // Whole numbers: 99.9 % of 1,000 in floating point is a little over 999.
        let thousandths = (percent * 1_000.0).round() as u128;
        let rank = (u128::from(self.count()) * thousandths).div_ceil(100_000);
        let rank = rank.max(1) as u64;
        let mut seen = 0;
        for (value, count) in &self.0 {
            seen += count;
            if seen >= rank {
                return *value;
            }
        }
        self.0.last().map_or(0, |(value, _)| *value)
    }
}

/// The upper limit that a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitFound {
    /// [`Server::name`].
    pub server: String,
    /// Scenario and variant.
    pub label: String,
    /// What was raised: `users` or `rate`.
    pub raised: String,
    /// The last clean step: no condition held and the generator kept up. Absent when the first step already failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_clean: Option<f64>,
    /// The first step that failed. Absent when the search ended at its own maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<f64>,
    /// What failed there, in words.
    pub reason: String,
    /// Indexes of its rows in [`ResultFile::rows`], in the order they ran.
    pub rows: Vec<u32>,
}

/// A scenario of ours against the ceilings of the same run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CeilingRow {
    /// Scenario.
    pub label: String,
    /// Durability of ours and of the engines.
    pub durability: String,
    /// Elements a request carries.
    pub items_per_request: u32,
    /// Connections of ours and of the bare server.
    pub users: u32,
    /// Ours, through HTTP.
    pub ours: Measured,
    /// The ceilings: `rocksdb`, `front table`, `bare http`.
    pub ceilings: Vec<Ceiling>,
}

/// A ceiling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceiling {
    /// What was fed the same bytes.
    pub name: String,
    /// What it did.
    pub measured: Measured,
    /// Our items/s ÷ its items/s.
    pub ratio_rate: f64,
    /// Its CPU time an item ÷ ours.
    pub ratio_cpu: f64,
}

/// Work done and its price.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// Elements.
    pub items: u64,
    /// Wall-clock time.
    pub elapsed_s: f64,
    /// CPU time of the process measured.
    pub cpu_s: f64,
    /// Elements a second of wall clock.
    pub items_per_s: f64,
    /// CPU time an element.
    pub cpu_us_per_item: f64,
    /// Median answer time, for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_us: Option<u64>,
    /// 99 % answer time, for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line99_us: Option<u64>,
}

impl ResultFile {
    /// Reads a result file.
    ///
    /// # Errors
    /// When it cannot be read, is no result file, or was written by a newer tool.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let file: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a result file", path.display()))?;
        ensure!(
            (1..=FORMAT).contains(&file.format),
            "{}: form {} is not known to this tool, which knows 1 to {FORMAT}",
            path.display(),
            file.format
        );
        Ok(file)
    }

    /// Writes the file, readable by people: one row's fields a line, series and histograms compact.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).context("as JSON")?;
        std::fs::write(path, compact_pairs(&text) + "\n")
            .with_context(|| format!("writing {}", path.display()))
    }

    /// The server named so.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Rows that ran.
    pub fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.skipped.is_none())
    }
}

/// Puts arrays and objects that hold only numbers on one line each; a histogram would fill thousands of lines.
fn compact_pairs(pretty: &str) -> String {
    let mut out = String::with_capacity(pretty.len());
    let mut lines = pretty.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        let in_series = line.ends_with('[') && line.trim() == "[";
        let in_second = line.trim() == "{"
            && lines
                .peek()
                .is_some_and(|next| next.trim().starts_with("\"at_s\""));
        if in_series || in_second {
            for inner in lines.by_ref() {
                let inner = inner.trim();
                if !matches!(inner, "]" | "]," | "}" | "},") {
                    out.push_str(inner);
                    continue;
                }
                out.push_str(inner);
                break;
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let row = Row {
            server: "varve".into(),
            label: "vertex_by_id".into(),
            series: vec![Second {
                samples: 7,
                ..Second::default()
            }],
            histogram: Buckets(vec![(10, 3), (20, 1)]),
            ..Row::default()
        };
        let file = ResultFile {
            format: FORMAT,
            rows: vec![row],
            ..ResultFile::default()
        };
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("a.json");
        file.write(&path).expect("written");
        assert_eq!(ResultFile::read(&path).expect("read"), file);
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.contains("[10,3]"), "{text}");
    }

    /// Collects the names of all fields below a value.
    fn names(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    found.push(name.clone());
                    names(value, found);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|it| names(it, found)),
            _ => {}
        }
    }

    #[test]
    fn every_field_is_documented() {
        let row = Row {
            corrected: Some(Corrected::default()),
            corrected_histogram: Some(Buckets::default()),
            server_memory: Some(Memory::default()),
            verification: Some(Verification::default()),
            error_examples: vec![ErrorExample::default()],
            series: vec![Second::default()],
            ..Row::default()
        };
        let file = ResultFile {
            servers: vec![Server::default()],
            rows: vec![row],
            limits: vec![LimitFound::default()],
            ceilings: vec![CeilingRow {
                ceilings: vec![Ceiling::default()],
                ..CeilingRow::default()
            }],
            ..ResultFile::default()
        };
        let mut found = Vec::new();
        names(&serde_json::to_value(&file).expect("JSON"), &mut found);
        let page = include_str!("../../../../docs/bench.md");
        for name in found {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/bench.md does not have `{name}`"
            );
        }
    }

    #[test]
    fn a_second_that_the_row_did_not_fill_is_told_apart() {
        let row = |seconds: u32, elapsed_s: f64| Row {
            series: (0..seconds)
                .map(|at_s| Second {
                    at_s,
                    ..Second::default()
                })
                .collect(),
            elapsed_s,
            ..Row::default()
        };
        for (seconds, elapsed_s, whole) in [
            (11, 10.2, 10),
            (10, 10.000_1, 10),
            (10, 9.99, 10),
            (1, 0.3, 1),
            (0, 0.0, 0),
        ] {
            let row = row(seconds, elapsed_s);
            assert_eq!(row.whole_seconds().len(), whole, "{elapsed_s} s");
        }
    }

    #[test]
    fn a_newer_form_is_refused() {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("a.json");
        std::fs::write(&path, r#"{"format":99}"#).expect("written");
        let error = ResultFile::read(&path).expect_err("refused").to_string();
        assert!(error.contains("99"), "{error}");
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let buckets = Buckets(vec![(1, 50), (2, 40), (9, 10)]);
        assert_eq!(buckets.percentile(50.0), 1);
        assert_eq!(buckets.percentile(50.1), 2);
        assert_eq!(buckets.percentile(90.0), 2);
        assert_eq!(buckets.percentile(99.9), 9);
        assert_eq!(Buckets::default().percentile(50.0), 0);
    }

    #[test]
    fn a_percentile_is_the_smallest_value_with_so_many_at_or_under_it() {
        for thousands in 1..=50_u64 {
            let count = thousands * 1_000;
            let buckets = Buckets((1..=count).map(|value| (value, 1)).collect());
            for tenths in [500, 900, 950, 990, 999, 1_000_u64] {
                let exact = count / 1_000 * tenths;
                let got = buckets.percentile(tenths as f64 / 10.0);
                assert_eq!(got, exact, "{} % of {count}", tenths as f64 / 10.0);
            }
        }
    }
}
