//! Thresholds: conditions on a row of the results, such as `error>0` or `p99>20ms`. A threshold
//! that holds fails the run, or ends the search for the upper limit.

use std::fmt;
use std::str::FromStr;

use crate::result::Row;

#[derive(Debug, Clone)]
pub(crate) struct Threshold {
    metric: &'static Metric,
    above: bool,
    /// The bound, in the metric's unit: microseconds for times.
    value: f64,
    text: String,
}

/// A figure of a row, by its name on the command line.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    is_time: bool,
    /// `None`: no condition holds, as on corrected times for rows without them.
    value: fn(&Row) -> Option<f64>,
}

const fn number(name: &'static str, value: fn(&Row) -> Option<f64>) -> Metric {
    Metric {
        name,
        is_time: false,
        value,
    }
}

const fn time(name: &'static str, value: fn(&Row) -> Option<f64>) -> Metric {
    Metric {
        name,
        is_time: true,
        value,
    }
}

static METRICS: [Metric; 15] = [
    number("error", |row| Some(row.columns.error_percent)),
    number("throughput", |row| Some(row.columns.throughput)),
    number("items", |row| Some(row.more.items_per_s)),
    time("average", |row| Some(row.columns.average_us)),
    time("median", |row| Some(row.columns.median_us)),
    time("p50", |row| Some(row.columns.median_us)),
    time("p90", |row| Some(row.columns.line90_us)),
    time("p95", |row| Some(row.more.line95_us)),
    time("p99", |row| Some(row.more.line99_us)),
    time("p99.9", |row| Some(row.more.line999_us)),
    time("max", |row| Some(row.columns.max_us)),
    time("corrected_p50", |row| {
        Some(row.corrected.as_ref()?.median_us)
    }),
    time("corrected_p90", |row| {
        Some(row.corrected.as_ref()?.line90_us)
    }),
    time("corrected_p99", |row| {
        Some(row.corrected.as_ref()?.line99_us)
    }),
    time("corrected_p99.9", |row| {
        Some(row.corrected.as_ref()?.line999_us)
    }),
];

impl Threshold {
    /// The conditions that end a search for the upper limit: `asked`, and `error>0` unless `asked`
    /// has a condition on errors.
    pub(crate) fn of_search(asked: &[Self]) -> Vec<Self> {
        let mut all = asked.to_vec();
        if all.iter().all(|it| it.metric.name != "error") {
            all.extend("error>0".parse::<Self>());
        }
        all
    }

    /// Whether the condition holds for a row that ran.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        (self.metric.value)(row).is_some_and(|value| match self.above {
            true => value > self.value,
            false => value < self.value,
        })
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
        let known = METRICS.iter().find(|it| it.name == name);
        let metric = known.ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|it| it.name).collect();
            format!("{name} is not a metric; there are {}", names.join(", "))
        })?;
        let value = if metric.is_time {
            parse_seconds(value)? * 1e6
        } else {
            let number = value.trim_end_matches('%').parse();
            number.map_err(|_| format!("{value} is not a number"))?
        };
        Ok(Self {
            metric,
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
    use crate::result::{Buckets, Columns, More};

    fn row() -> Row {
        let times = Buckets(vec![(1_000_000, 98), (25_000_000, 2)]);
        Row {
            columns: Columns {
                error_percent: 0.5,
                throughput: 900.0,
                ..Columns::of(&times, 1.0, 0, 0)
            },
            more: More::of(&times),
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
