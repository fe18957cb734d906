//! A row: the results of one scenario under one load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Buckets, Load, is_default};

/// The last second of a row counts as whole if at least this share of it was measured.
const WHOLE_SECOND: f64 = 0.95;

/// One row: a scenario under a load on a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// [`Server::name`](super::Server::name).
    pub server: String,
    /// `metadata`: the volume, in the form `0005-02`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub volume: String,
    /// `metadata`: the profile.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// Scenario, e.g. `single_insert_vertices`; method of `metadata`.
    pub scenario: String,
    /// The label in the table: the scenario and its variant.
    pub label: String,
    /// Why the row did not run; then there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Why the row ended early; then the figures cover the time until its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// The published row with which this row is compared: page, backend, picture and concurrency,
    /// e.g. `v0.5.6 rocksdb vertex_single 11500`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// How the requests were sent.
    pub load: Load,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Elements that a request writes or reads.
    pub items_per_request: u32,
    /// Durability of the server in this row. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// A description of the elements of this run that were stored before the row.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub data_before: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End of the last sample minus start of the first. `metadata`: the sum of the times.
    pub elapsed_s: f64,
    /// The published columns.
    pub columns: Columns,
    /// Further columns of ours.
    pub more: More,
    /// Latencies from the planned send. Absent in the closed model, and without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Corrected>,
    /// Failed samples by kind: `refused`, `connect_timeout`, `connect_failed`, `read_timeout`,
    /// `reset`, `closed`, `bad_answer`, `wrong_body`, or the status as `http_503`.
    #[serde(skip_serializing_if = "is_default")]
    pub errors: BTreeMap<String, u64>,
    /// One of the first errors of each kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_examples: Vec<ErrorExample>,
    /// Connections.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: Connections,
    /// CPU time.
    #[serde(skip_serializing_if = "is_default")]
    pub cpu: Cpu,
    /// Resident memory of the server. Absent if its process is unknown, as on another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_memory: Option<Memory>,
    /// How well the generator kept to the planned load.
    #[serde(skip_serializing_if = "is_default")]
    pub generator: Generator,
    /// The result of reading back acknowledged elements. Absent for reads, if reading back is
    /// switched off, and if nothing was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// One for each second since the first sample; the last one may be incomplete.
    #[serde(skip_serializing_if = "is_default")]
    pub series: Vec<Second>,
    /// Times from the actual send.
    pub histogram_ns: Buckets,
    /// Times from the planned send; absent like [`Row::corrected`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_histogram_ns: Option<Buckets>,
    /// `metadata`: the least number of calls, where it follows from the volume.
    #[serde(skip_serializing_if = "is_default")]
    pub calls_min: u64,
    /// `metadata`: the greatest number of calls, where it follows from the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_max: Option<u64>,
}

impl Row {
    /// The load, and the volume and profile of `metadata`, by which rows of two files are paired.
    #[must_use]
    pub fn key(&self) -> String {
        match self.volume.is_empty() {
            true => format!("{}, {}", self.label, self.load.text()),
            false => format!("{} {}, {}", self.volume, self.profile, self.label),
        }
    }

    /// Whether it has fewer or more calls than required.
    #[must_use]
    pub fn has_wrong_calls(&self) -> bool {
        let calls = self.columns.samples;
        calls < self.calls_min || self.calls_max.is_some_and(|most| calls > most)
    }

    /// The complete seconds of the series. The last second is left out if less than 95 % of it was
    /// measured, unless it is the only one.
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

impl Columns {
    /// The columns of samples that took `elapsed_s` in all.
    pub(crate) fn of(times: &Buckets, elapsed_s: f64, failed: u64, received_bytes: u64) -> Self {
        let (samples, elapsed) = (times.count(), elapsed_s.max(1e-9));
        Self {
            samples,
            average_us: times.mean() / 1e3,
            median_us: us(times, 50.0),
            line90_us: us(times, 90.0),
            min_us: times.min() as f64 / 1e3,
            max_us: us(times, 100.0),
            error_percent: 100.0 * failed as f64 / samples.max(1) as f64,
            throughput: samples as f64 / elapsed,
            kb_per_s: received_bytes as f64 / 1_024.0 / elapsed,
        }
    }
}

impl Cpu {
    /// The CPU time of the server, if known, and of the generator, for this number of requests and
    /// elements.
    pub(crate) fn of(server_s: Option<f64>, generator_s: f64, requests: u64, items: u64) -> Self {
        let per = |seconds: f64, count: u64| seconds * 1e6 / count.max(1) as f64;
        Self {
            server_s,
            server_us_per_request: server_s.map(|s| per(s, requests)),
            server_us_per_item: server_s.map(|s| per(s, items)),
            generator_s,
            generator_us_per_request: per(generator_s, requests),
            generator_us_per_item: per(generator_s, items),
        }
    }
}

impl More {
    /// The times of further columns.
    pub(crate) fn of(times: &Buckets) -> Self {
        Self {
            line95_us: us(times, 95.0),
            line99_us: us(times, 99.0),
            line999_us: us(times, 99.9),
            ..Self::default()
        }
    }
}

impl Corrected {
    /// The columns of times from the planned send; `None` without samples.
    pub(crate) fn of(times: &Buckets, omitted: u64) -> Option<Self> {
        (times.count() > 0).then(|| Self {
            median_us: us(times, 50.0),
            line90_us: us(times, 90.0),
            line95_us: us(times, 95.0),
            line99_us: us(times, 99.0),
            line999_us: us(times, 99.9),
            max_us: us(times, 100.0),
            average_us: times.mean() / 1e3,
            omitted,
        })
    }
}

fn us(times: &Buckets, percent: f64) -> f64 {
    times.percentile(percent) as f64 / 1e3
}

/// The nine published columns beside the label, with more digits than the table shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Columns {
    /// Requests finished, failed ones included.
    pub samples: u64,
    /// Mean service time: from the actual send to the end of the answer.
    pub average_us: f64,
    /// 50 % of the service times, by nearest rank.
    pub median_us: f64,
    /// 90 %, by nearest rank.
    pub line90_us: f64,
    /// Shortest.
    pub min_us: f64,
    /// Longest.
    pub max_us: f64,
    /// Failed samples, in percent of all.
    pub error_percent: f64,
    /// Samples ÷ [`Row::elapsed_s`].
    pub throughput: f64,
    /// Bytes received, heads included, ÷ 1024 ÷ [`Row::elapsed_s`].
    pub kb_per_s: f64,
}

/// Further columns of ours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct More {
    /// 95 % of the service times.
    pub line95_us: f64,
    /// 99 %.
    pub line99_us: f64,
    /// 99.9 %.
    pub line999_us: f64,
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
    /// Answers without an element that are no errors, such as 404 where the scenario allows it.
    pub empty_answers: u64,
}

/// Latencies from the planned send: those of users who send on time, without waiting for the last
/// answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Corrected {
    /// 50 %.
    pub median_us: f64,
    /// 90 %.
    pub line90_us: f64,
    /// 95 %.
    pub line95_us: f64,
    /// 99 %.
    pub line99_us: f64,
    /// 99.9 %.
    pub line999_us: f64,
    /// Longest.
    pub max_us: f64,
    /// Mean.
    pub average_us: f64,
    /// Planned requests that were never sent, because the user was still waiting for an answer. The
    /// figures include them, as if they had been answered together with the next request.
    pub omitted: u64,
}

/// A failed request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorExample {
    /// Kind, as in [`Row::errors`].
    pub kind: String,
    /// The first 300 bytes of the answer, or of the system's error.
    pub text: String,
}

/// Connections of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connections {
    /// Opened in all.
    pub opened: u64,
    /// Opened by a user who had one before.
    pub reconnects: u64,
    /// Mean time to connect.
    pub connect_average_us: f64,
    /// 99 % of the times to connect.
    pub connect_line99_us: u64,
    /// Longest time to connect. About 1, 3, 7 or 15 s means that the server's accept queue was
    /// full.
    pub connect_max_us: u64,
}

/// CPU time of a row, from the first sample to the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// User and system time of the server. Absent if its process is unknown, as on another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_s: Option<f64>,
    /// Server time ÷ samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us_per_request: Option<f64>,
    /// Server time ÷ elements of requests that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us_per_item: Option<f64>,
    /// User and system time of the threads that sent.
    pub generator_s: f64,
    /// Generator time ÷ samples.
    pub generator_us_per_request: f64,
    /// Generator time ÷ elements of requests that succeeded.
    pub generator_us_per_item: f64,
}

/// Resident memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// When the row began.
    pub start_bytes: u64,
    /// The highest sample during the row.
    pub peak_bytes: u64,
    /// When the row ended.
    pub end_bytes: u64,
}

/// How well the generator kept to the planned load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Generator {
    /// Late sends, although the user was free. Paced model: more than 5 % of the period after the
    /// planned time, or after the user became free if that was later. Closed model: always 0.
    pub late_sends: u64,
    /// The longest delay of any send, measured in the same way. Closed model: always 0.
    pub late_max_us: u64,
    /// Whether the generator, rather than the server, limited the throughput of the row.
    pub bound: bool,
    /// Why the generator limited the throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_reason: Option<String>,
    /// Requests in flight on average, by Little's law: throughput × average. In a closed row it is
    /// about the number of users.
    pub in_flight: f64,
    /// Samples of a user on average.
    pub samples_per_user: f64,
    /// Samples of a user when nothing is late: 331 with the published plan. Only in the paced
    /// model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_samples_per_user: Option<f64>,
}

/// The result of reading back elements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Elements acknowledged.
    pub acknowledged: u64,
    /// Acknowledged elements that were read back.
    pub checked: u64,
    /// Read-back elements that were not found.
    pub missing: u64,
    /// Read-back elements with other content.
    pub wrong: u64,
    /// How elements were read back.
    pub method: String,
}

impl Verification {
    /// Whether all read-back elements were found with their content.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.missing == 0 && self.wrong == 0
    }
}

/// A second of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Seconds from the first sample to the start of this second.
    pub at_s: u32,
    /// Samples that ended in this second.
    pub samples: u64,
    /// Failed samples among them.
    pub errors: u64,
    /// Mean service time: from the actual send to the end of the answer.
    pub average_us: f64,
    /// Median.
    pub median_us: u64,
    /// 99 %.
    pub line99_us: u64,
    /// Longest.
    pub max_us: u64,
    /// Users that have started and not stopped.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_the_row_did_not_fill_is_distinguished() {
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
}
