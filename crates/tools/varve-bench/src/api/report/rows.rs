//! The details of each row of the report: latencies, and figures over time.

use std::fmt::Write as _;

use super::ReportRow;
use crate::api::result::{Buckets, Model, Row, Second};
use crate::api::table::load;
use crate::report::chart::{Axis, Chart, Scale, Series, Shape};
use crate::report::page::section;
use crate::report::text::{escape, ms, three, whole};

/// The most points of a line over time. If a run has more seconds, a point covers several of them.
const POINTS_MAX: usize = 240;
/// Bars of a latency distribution for each power of ten.
const BARS_A_DECADE: f64 = 10.0;

/// A block for each row; collapsed unless it is the only one. Empty without rows.
pub(super) fn details(measured: &[ReportRow<'_>]) -> String {
    if measured.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for (at, it) in measured.iter().enumerate() {
        let row = it.row;
        let _ = write!(
            out,
            "<details id=\"{}\"{}><summary>{}<span>{}, {}: {} requests/s, median {} ms, 99 % {} ms</span></summary>{}",
            it.anchor(at),
            if measured.len() == 1 { " open" } else { "" },
            escape(&row.label),
            escape(&it.series_name()),
            escape(&load(&row.load)),
            whole(row.columns.throughput),
            ms(row.columns.median_us as f64),
            ms(row.more.line99_us as f64),
            notes(row),
        );
        out.push_str("<div class=\"charts\">");
        for chart in charts(row) {
            if !chart.is_empty() {
                out.push_str(&chart.html());
            }
        }
        out.push_str("</div></details>\n");
    }
    section("rows", "Row by row", &out)
}

/// Sentences about the row: plan, connections, verification.
fn notes(row: &Row) -> String {
    let generator = &row.generator;
    let mut facts = vec![format!(
        "{} requests in flight on average (throughput × average)",
        three(generator.in_flight)
    )];
    if let (Some(samples), Some(planned)) = (
        generator.samples_per_user,
        generator.planned_samples_per_user,
    ) {
        facts.push(format!(
            "{} samples a user of {} planned",
            three(samples),
            three(planned)
        ));
    }
    let connections = &row.connections;
    facts.push(format!(
        "{} connections opened, {} again; connecting took {} ms on average, {} ms at most",
        whole(connections.opened as f64),
        whole(connections.reconnects as f64),
        ms(connections.connect_average_us),
        ms(connections.connect_max_us as f64)
    ));
    if !row.data_before.is_empty() {
        facts.push(format!("In the store before: {}", row.data_before));
    }
    if let Some(reason) = &generator.bound_reason {
        facts.push(reason.clone());
    }
    if let Some(it) = &row.verification {
        facts.push(format!(
            "{} acknowledged, {} read back, {} missing, {} wrong ({})",
            whole(it.acknowledged as f64),
            whole(it.checked as f64),
            whole(it.missing as f64),
            whole(it.wrong as f64),
            it.method
        ));
    }
    format!("<p class=\"note\">{}.</p>", escape(&facts.join(". ")))
}

fn charts(row: &Row) -> Vec<Chart> {
    vec![
        percentiles(row),
        distribution(row),
        throughput_over_time(row),
        response_over_time(row),
        processor_over_time(row),
        memory_over_time(row),
    ]
}

/// A chart over time.
fn of_time(title: &str, y: &'static str, scale: Scale, series: Vec<Series>) -> Chart {
    let x = Axis::new("seconds since the first sample", Scale::Linear);
    Chart::new(title, x, Axis::new(y, scale), series)
}

fn line(name: &str, colour: usize, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        shape: Shape::Line,
        colour,
        points,
    }
}

/// Latency at each percentile.
fn percentiles(row: &Row) -> Chart {
    let mut series = vec![line("service time", 0, curve(&row.histogram))];
    if let Some(corrected) = &row.corrected_histogram {
        series.push(line("from the planned send", 1, curve(corrected)));
    }
    let x = Axis::new("percent of the requests at or under it", Scale::Nines);
    Chart::new("Percentiles", x, Axis::new("ms", Scale::Log), series)
}

/// (percentile, ms) at the first rank of each bucket, without points that are closer than 0.01 on
/// the chart's scale of nines.
fn curve(buckets: &Buckets) -> Vec<(f64, f64)> {
    let count = buckets.count() as f64;
    let mut seen = 0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_place = f64::NEG_INFINITY;
    for (value, bucket) in &buckets.0 {
        // The first rank of the bucket, since the last rank of all is the 100th percentile, whose
        // position on the scale of nines is infinite.
        let percent = 100.0 * seen as f64 / count;
        seen += bucket;
        let place = -(1.0 - percent / 100.0).log10();
        if place - last_place >= 0.01 {
            points.push((percent, *value as f64 / 1_000.0));
            last_place = place;
        }
    }
    points
}

/// Share of the requests by service time.
fn distribution(row: &Row) -> Chart {
    let total = row.histogram.count() as f64;
    let mut bars: Vec<(i64, u64)> = Vec::new();
    for (value, count) in &row.histogram.0 {
        let bar = ((*value).max(1) as f64 / 1_000.0).log10() * BARS_A_DECADE;
        let bar = bar.floor() as i64;
        match bars.last_mut() {
            Some((at, sum)) if *at == bar => *sum += count,
            _ => bars.push((bar, *count)),
        }
    }
    let points = bars
        .into_iter()
        .map(|(bar, count)| {
            let middle = 10_f64.powf((bar as f64 + 0.5) / BARS_A_DECADE);
            (middle, 100.0 * count as f64 / total)
        })
        .collect();
    let x = Axis::new("service time, ms", Scale::Log);
    let y = Axis::new("percent of the requests", Scale::Linear);
    let series = Series {
        shape: Shape::Bars,
        ..line("requests", 0, points)
    };
    Chart::new("Distribution", x, y, vec![series])
}

/// The points of a line over time, one for each group of successive seconds. A group for which
/// `value` returns `None` has no point.
fn over_time(row: &Row, value: impl Fn(&[Second]) -> Option<f64>) -> Vec<(f64, f64)> {
    let seconds = row.whole_seconds();
    let group = seconds.len().div_ceil(POINTS_MAX).max(1);
    seconds
        .chunks(group)
        .filter_map(|seconds| Some((f64::from(seconds[0].at_s), value(seconds)?)))
        .collect()
}

fn mean(seconds: &[Second], value: impl Fn(&Second) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = seconds.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn throughput_over_time(row: &Row) -> Chart {
    let mut series = vec![line(
        "requests a second",
        0,
        over_time(row, |seconds| mean(seconds, |it| Some(it.samples as f64))),
    )];
    if row.series.iter().any(|it| it.errors > 0) {
        series.push(line(
            "errors a second",
            6,
            over_time(row, |seconds| mean(seconds, |it| Some(it.errors as f64))),
        ));
    }
    series.push(Series {
        shape: Shape::Dashed,
        ..line(
            match row.load.model {
                Model::Open => "requests in flight",
                _ => "users",
            },
            7,
            over_time(row, |seconds| mean(seconds, |it| Some(f64::from(it.users)))),
        )
    });
    let title = "Throughput and errors over time";
    of_time(title, "a second", Scale::Linear, series)
}

fn response_over_time(row: &Row) -> Chart {
    let answered = |it: &Second| it.samples > 0;
    let highest = |value: fn(&Second) -> u64| {
        over_time(row, move |seconds| {
            let most = seconds.iter().filter(|it| answered(it)).map(value).max();
            most.map(|us| us as f64 / 1_000.0)
        })
    };
    let median = over_time(row, |seconds| {
        mean(seconds, |it| {
            answered(it).then_some(it.median_us as f64 / 1_000.0)
        })
    });
    let series = vec![
        line("median", 0, median),
        line("99 %", 1, highest(|it| it.line99_us)),
        line("longest", 7, highest(|it| it.max_us)),
    ];
    of_time("Service time over time", "ms", Scale::Log, series)
}

fn processor_over_time(row: &Row) -> Chart {
    let server = over_time(row, |seconds| mean(seconds, |it| it.server_cpu_percent));
    let mut series = Vec::new();
    if !server.is_empty() {
        series.push(line("server", 0, server));
    }
    series.push(line(
        "load tool",
        1,
        over_time(row, |seconds| {
            mean(seconds, |it| Some(it.generator_cpu_percent))
        }),
    ));
    let y = "percent of one processor";
    of_time("Processor time", y, Scale::Linear, series)
}

fn memory_over_time(row: &Row) -> Chart {
    let points = over_time(row, |seconds| {
        mean(seconds, |it| {
            it.server_rss_bytes.map(|it| it as f64 / f64::from(1 << 20))
        })
    });
    let series = match points.is_empty() {
        true => Vec::new(),
        false => vec![line("resident", 0, points)],
    };
    of_time(
        "Memory of the server",
        "MiB resident",
        Scale::Linear,
        series,
    )
}
