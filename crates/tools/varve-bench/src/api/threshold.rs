//! Thresholds: conditions on a row of the results, such as `error>0` or `p99>20ms`. A threshold
//! that holds fails the run, or ends the search for the upper limit.

use std::fmt;
use std::str::FromStr;

use crate::result::{Buckets, Row};

/// A condition that must not hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Threshold {
    metric: Metric,
    above: bool,
    /// The bound, in the metric's unit: microseconds for times.
    value: f64,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    Error,
    Average,
    Percentile(u32),
    CorrectedPercentile(u32),
    Max,
    Throughput,
    Items,
}

/// The metrics by their names on the command line. Percentiles are in tenths of a percent.
const METRICS: &[(&str, Metric)] = &[
    ("error", Metric::Error),
    ("average", Metric::Average),
    ("median", Metric::Percentile(500)),
    ("p50", Metric::Percentile(500)),
    ("p90", Metric::Percentile(900)),
    ("p95", Metric::Percentile(950)),
    ("p99", Metric::Percentile(990)),
    ("p99.9", Metric::Percentile(999)),
    ("corrected_p50", Metric::CorrectedPercentile(500)),
    ("corrected_p90", Metric::CorrectedPercentile(900)),
    ("corrected_p99", Metric::CorrectedPercentile(990)),
    ("corrected_p99.9", Metric::CorrectedPercentile(999)),
    ("max", Metric::Max),
    ("throughput", Metric::Throughput),
    ("items", Metric::Items),
];

impl Threshold {
    /// The conditions that end a search for the upper limit: `asked`, and `error>0` unless `asked`
    /// has a condition on errors.
    pub(crate) fn of_search(asked: &[Self]) -> Vec<Self> {
        let mut all = asked.to_vec();
        if all.iter().all(|it| it.metric != Metric::Error) {
            all.push(Self {
                metric: Metric::Error,
                above: true,
                value: 0.0,
                text: "error>0".to_owned(),
            });
        }
        all
    }

    /// Whether the condition holds for a row that ran. A condition on corrected times holds for no
    /// row without them.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        let percentile =
            |times: &Buckets, tenths: u32| times.percentile(f64::from(tenths) / 10.0) as f64 / 1e3;
        let value = match self.metric {
            Metric::Error => row.columns.error_percent,
            Metric::Average => row.columns.average_us,
            Metric::Percentile(it) => percentile(&row.histogram_ns, it),
            Metric::CorrectedPercentile(it) => {
                let Some(times) = &row.corrected_histogram_ns else {
                    return false;
                };
                percentile(times, it)
            }
            Metric::Max => row.columns.max_us,
            Metric::Throughput => row.columns.throughput,
            Metric::Items => row.more.items_per_s,
        };
        match self.above {
            true => value > self.value,
            false => value < self.value,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(['<', '>']).ok_or_else(|| {
            format!("{text}: expected <metric> > or < <value>, such as error>0 or p99>20ms")
        })?;
        let (name, value) = (text[..at].trim(), text[at + 1..].trim());
        let known = METRICS.iter().find(|(known, _)| *known == name);
        let (_, metric) = known.ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
            format!("{name} is not a metric; there are {}", names.join(", "))
        })?;
        let is_time = !matches!(metric, Metric::Error | Metric::Throughput | Metric::Items);
        let value = if is_time {
            parse_seconds(value)? * 1e6
        } else {
            let number = value.trim_end_matches('%').parse();
            number.map_err(|_| format!("{value} is not a number"))?
        };
        Ok(Self {
            metric: *metric,
            above: text.as_bytes()[at] == b'>',
            value,
            text: text.to_owned(),
        })
    }
}

/// Parses a time such as `300s`, `20ms` or `5m` into seconds. Only 0 needs no unit.
///
/// # Errors
/// When the text is not such a time, or is negative.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text}: expected a time such as 30s, 20ms or 5m");
    let end = text
        .find(|c: char| c.is_ascii_alphabetic() || c == 'µ')
        .unwrap_or(text.len());
    let number: f64 = text[..end].trim().parse().map_err(|_| wrong())?;
    let unit = match &text[end..] {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "" if number == 0.0 => 1.0,
        _ => return Err(wrong()),
    };
    match number.is_finite() && number >= 0.0 {
        true => Ok(number * unit),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Columns;

    fn row() -> Row {
        Row {
            columns: Columns {
                error_percent: 0.5,
                throughput: 900.0,
                ..Columns::default()
            },
            histogram_ns: Buckets(vec![(1_000_000, 98), (25_000_000, 2)]),
            ..Row::default()
        }
    }

    fn holds(text: &str) -> bool {
        text.parse::<Threshold>()
            .expect("a threshold")
            .holds(&row())
    }

    #[test]
    fn conditions_are_read_and_judged() {
        for (text, expected) in [
            ("error>0", true),
            ("error > 0.5%", false),
            ("p99>20ms", true),
            ("p99>25ms", false),
            ("median>1ms", false),
            ("throughput<1000", true),
            ("throughput<900", false),
            ("corrected_p99>1ms", false),
            ("corrected_p99<1ms", false),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_search_ends_at_errors_unless_asked_otherwise() {
        let names = |asked: &[&str]| -> Vec<String> {
            let asked: Vec<Threshold> = asked.iter().map(|it| it.parse().expect(it)).collect();
            let all = Threshold::of_search(&asked);
            all.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(&[]), ["error>0"]);
        assert_eq!(names(&["p99>20ms"]), ["p99>20ms", "error>0"]);
        assert_eq!(names(&["error>1"]), ["error>1"]);
    }

    #[test]
    fn wrong_conditions_are_refused() {
        for text in ["p99", "latency>1ms", "p99>20", "error>x", "p99>-1ms"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read() {
        for (text, seconds) in [
            ("30s", 30.0),
            ("20ms", 0.02),
            ("5m", 300.0),
            ("0", 0.0),
            ("1.5s", 1.5),
        ] {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
        for text in ["30", "s", "-1s", "1h", ""] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
