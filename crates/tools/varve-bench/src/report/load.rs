//! The report of load tests: the published columns, and charts of rows.

use anyhow::Result;

use super::chart::{Chart, Scale, Series, Shape};
use super::published::{self, Published};
use super::table::{Table, judged};
use super::text::{bytes, ms, optional, three, whole, whole_ms};
use super::{Report, grouped};
use crate::result::{Buckets, Model, ResultFile, Row, Second};

/// The most points of a line over time. If a run has more seconds, a point covers several of them.
const POINTS_MAX: usize = 240;

/// The part of an error's first answer that a table has.
const EXAMPLE_CHARACTERS: usize = 60;

/// A column's head and its value in a row.
type Figure = (&'static str, fn(&Row) -> String);

/// The published columns, followed by our own.
const FIGURES: &[Figure] = &[
    ("Samples", |row| whole(row.columns.samples as f64)),
    ("Average", |row| whole_ms(row.columns.average_us)),
    ("Median", |row| whole_ms(row.columns.median_us)),
    ("90% Line", |row| whole_ms(row.columns.line90_us)),
    ("Min", |row| whole_ms(row.columns.min_us)),
    ("Max", |row| whole_ms(row.columns.max_us)),
    ("Error %", |row| {
        let percent = row.columns.error_percent;
        judged(format!("{percent:.2}%"), percent > 0.0)
    }),
    ("Throughput", |row| format!("{:.1}", row.columns.throughput)),
    ("KB/sec", |row| format!("{:.1}", row.columns.kb_per_s)),
    ("95% Line", |row| ms(row.more.line95_us)),
    ("99% Line", |row| ms(row.more.line99_us)),
    ("99.9% Line", |row| ms(row.more.line999_us)),
    ("elements/s", |row| whole(row.more.items_per_s)),
    ("sent KB/sec", |row| {
        format!("{:.1}", row.more.sent_kb_per_s)
    }),
    ("corrected 50/99/99.9%", |row| {
        optional(row.corrected.as_ref(), |it| {
            [it.median_us, it.line99_us, it.line999_us]
                .map(ms)
                .join(" / ")
        })
    }),
    ("server µs/request", |row| {
        optional(row.cpu.server_us_per_request, three)
    }),
    ("server µs/element", |row| {
        optional(row.cpu.server_us_per_item, three)
    }),
    ("generator µs/request", |row| {
        three(row.cpu.generator_us_per_request)
    }),
    ("server memory", |row| {
        optional(row.server_memory.as_ref(), |it| bytes(it.peak_bytes as f64))
    }),
];

pub(super) fn write(report: &mut Report, files: &[ResultFile]) -> Result<()> {
    let published = published::rows();
    summary_table(report, files, &published);
    report.text("## All rows");
    rows(report, files);
    against_users(report, files, &published)?;
    report.text("## Row by row");
    for row in files.iter().flat_map(ResultFile::measured) {
        report.text(format!(
            "### {} on {}, {}",
            row.label,
            row.server,
            row.load.text()
        ));
        let opened = whole(row.connections.opened as f64);
        let before = &row.data_before;
        report.text(format!(
            "{opened} connections. In the store before: {before}."
        ));
        for chart in charts(row) {
            report.chart(&chart)?;
        }
    }
    beside_published(report, files, &published);
    Ok(())
}

/// The table of all rows, with a line of units and the limits found.
pub(super) fn rows(report: &mut Report, files: &[ResultFile]) {
    let figures = FIGURES.iter().map(|(head, _)| *head);
    let after = ["<load", "<server", "<durability", "<remarks"];
    let mut table = Table::new(["<Label"].into_iter().chain(figures).chain(after));
    for row in files.iter().flat_map(|file| &file.rows) {
        let mut cells = vec![row.label.clone()];
        cells.extend(FIGURES.iter().map(|(_, figure)| match row.skipped {
            Some(_) => "–".to_owned(),
            None => figure(row),
        }));
        let durability = row.durability.as_deref().unwrap_or("unknown").to_owned();
        cells.extend([row.load.text(), row.server.clone(), durability]);
        cells.push(remarks(row).join("; "));
        table.row(cells);
    }
    report.text(table.markdown());
    report.text("Times in ms; throughput in requests a second; corrected: from the planned send.");
    for found in files.iter().flat_map(|file| &file.limits) {
        report.text(format!(
            "Upper limit of {} on {}: {} users ({}).",
            found.label,
            found.server,
            found
                .last_clean
                .map_or("none".to_owned(), |users| users.to_string()),
            found.reason
        ));
    }
}

/// The remarks on a row; those of failures in bold.
fn remarks(row: &Row) -> Vec<String> {
    if let Some(reason) = &row.skipped {
        return vec![format!("skipped: {reason}")];
    }
    let errors = row.errors.iter().map(|(kind, count)| {
        let example = row.error_examples.iter().find(|it| it.kind == *kind);
        let text = example.map_or("", |it| it.text.as_str());
        let text: String = text.chars().take(EXAMPLE_CHARACTERS).collect();
        format!("{kind} {count} ({text})")
    });
    let mut remarks: Vec<String> = errors.collect();
    remarks.extend(
        row.ended_early
            .iter()
            .map(|why| format!("ended early: {why}")),
    );
    if row.generator.bound {
        let reason = row.generator.bound_reason.as_deref().unwrap_or_default();
        remarks.push(format!("generator-bound: {reason}"));
    }
    if row.repeat > 1 {
        remarks.push(format!("repeat {}", row.repeat));
    }
    match &row.verification {
        Some(it) if !it.passed() => remarks.push(format!(
            "**verification failed: {} missing, {} wrong of {}**",
            it.missing, it.wrong, it.checked
        )),
        Some(it) if it.checked > 0 => {
            remarks.push(format!("{} read back", whole(it.checked as f64)));
        }
        _ => {}
    }
    remarks
}

/// A row in one line, as progress output.
pub(crate) fn summary(row: &Row) -> String {
    let remarks = remarks(row).join("; ").replace("**", "");
    let (label, load, columns) = (&row.label, row.load.text(), &row.columns);
    if row.skipped.is_some() {
        return format!("{label}: {remarks}");
    }
    let server = row.cpu.server_us_per_request;
    format!(
        "{label} ({load}): {} samples, {:.1}/s, {:.0} items/s, median {} ms, 99 % {} ms, errors {:.2} %{}, generator \
         {:.1} µs a request{}{remarks}",
        columns.samples,
        columns.throughput,
        row.more.items_per_s,
        ms(columns.median_us),
        ms(row.more.line99_us),
        columns.error_percent,
        server.map_or(String::new(), |us| format!(", server {us:.1} µs")),
        row.cpu.generator_us_per_request,
        if remarks.is_empty() { "" } else { "; " },
    )
}

/// The best row without errors of each scenario and server, beside the best published one.
fn summary_table(report: &mut Report, files: &[ResultFile], published: &[Published]) {
    let mut table = Table::new([
        "<Scenario",
        "<Server",
        "<Load",
        "Elements/s",
        "Median ms",
        "99% ms",
        "Error %",
        "Server CPU µs/element",
        "Published elements/s",
        "Ours ÷ published",
        "<Published row",
    ]);
    let worth = |row: &Row| (row.columns.error_percent == 0.0, row.more.items_per_s);
    let better = |best, row| if worth(row) > worth(best) { row } else { best };
    let rows = files.iter().flat_map(ResultFile::measured);
    let groups = grouped(rows, |row| (&row.scenario, &row.server));
    for row in groups
        .into_iter()
        .filter_map(|(_, rows)| rows.into_iter().reduce(better))
    {
        let mut cells = vec![
            row.scenario.clone(),
            row.server.clone(),
            row.load.text(),
            whole(row.more.items_per_s),
            ms(row.columns.median_us),
            ms(row.more.line99_us),
            judged(
                format!("{:.2}", row.columns.error_percent),
                row.columns.error_percent > 0.0,
            ),
            optional(row.cpu.server_us_per_item, three),
        ];
        if let Some(theirs) = published::best(published, &row.scenario) {
            let items = theirs.throughput() * f64::from(theirs.items);
            cells.extend([whole(items), three(row.more.items_per_s / items)]);
            cells.push(format!("{}, {} users", theirs.source(), theirs.concurrency));
        }
        table.row(cells);
    }
    let note = "The best row without errors of each scenario, beside the best published one without errors. The published \
                tests were paced on 24 to 48 threads, so the load offered was the limit of most; a paced row of fewer users \
                cannot reach it.";
    report.table("## In short", note, &table);
}

/// Charts of throughput and latency against users, for scenarios that ran with more than one number
/// of users in one load model. Those of paced loads have the published rows as circles.
fn against_users(report: &mut Report, files: &[ResultFile], published: &[Published]) -> Result<()> {
    let rows = files.iter().flat_map(ResultFile::measured);
    for ((label, model), rows) in grouped(rows, |row| (&row.label, row.load.model)) {
        if rows.iter().all(|row| row.load.users == rows[0].load.users) {
            continue;
        }
        let circles = |value: fn(&Published) -> f64| {
            let is_shown = |row: &&Published| model == Model::Paced && row.is_of(&rows[0].scenario);
            let points = published.iter().filter(is_shown);
            let points = points
                .map(|row| (f64::from(row.concurrency), value(row)))
                .collect();
            Series {
                shape: Shape::Circles,
                ..Series::line("published", 7, points)
            }
        };
        let users = ("users", Scale::Linear);
        let mut series = lines(&rows, "", 0, |row| row.columns.throughput);
        series.push(circles(Published::throughput));
        report.chart(&Chart {
            title: format!("{label}: throughput"),
            x: users.clone(),
            y: ("requests a second", Scale::Linear),
            series,
        })?;
        let mut series = lines(&rows, "median", 0, |row| row.columns.median_us / 1e3);
        series.extend(lines(&rows, "99 %", 3, |row| row.more.line99_us / 1e3));
        // A published average of 0 means less than 1 ms; a logarithmic axis cannot show 0.
        series.push(circles(|row| row.average_ms().max(0.5)));
        report.chart(&Chart {
            title: format!("{label}: service time"),
            x: users,
            y: ("ms", Scale::Log),
            series,
        })?;
    }
    Ok(())
}

/// One line for each server, in the order of users.
fn lines(rows: &[&Row], what: &str, first: usize, value: fn(&Row) -> f64) -> Vec<Series> {
    let servers = grouped(rows, |row| &row.server).into_iter().enumerate();
    let lines = servers.map(|(at, (server, rows))| {
        let points = rows
            .iter()
            .map(|row| (f64::from(row.load.users), value(row)));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series {
            shape: Shape::Dotted,
            ..Series::line(format!("{server} {what}"), first + at, points)
        }
    });
    lines.collect()
}

type SecondFigure = fn(&Second) -> f64;

/// The charts of a row: percentiles, and figures over time.
fn charts(row: &Row) -> [Chart; 3] {
    let mut percentiles = vec![Series::line("service time", 0, curve(&row.histogram_ns))];
    let corrected = row.corrected_histogram_ns.as_ref();
    percentiles.extend(corrected.map(|it| Series::line("from the planned send", 1, curve(it))));
    let over_time = |title: &str, y, scale, lines: [(&str, SecondFigure); 3]| {
        let lines = lines.into_iter().enumerate();
        Chart {
            title: title.to_owned(),
            x: ("seconds", Scale::Linear),
            y: (y, scale),
            series: lines
                .map(|(at, (name, value))| Series::line(name, at, points(row, value)))
                .collect(),
        }
    };
    [
        Chart {
            title: "Percentiles".to_owned(),
            x: ("percent of the requests at or under it", Scale::Nines),
            y: ("ms", Scale::Log),
            series: percentiles,
        },
        over_time(
            "Throughput and errors over time",
            "a second",
            Scale::Linear,
            [
                ("requests a second", |it| it.samples as f64),
                ("errors a second", |it| it.errors as f64),
                ("users", |it| f64::from(it.users)),
            ],
        ),
        over_time(
            "Service time over time",
            "ms",
            Scale::Log,
            [
                ("median", |it| it.median_us as f64 / 1e3),
                ("99 %", |it| it.line99_us as f64 / 1e3),
                ("max", |it| it.max_us as f64 / 1e3),
            ],
        ),
    ]
}

/// The points of a line over time: the mean of each group of successive seconds.
fn points(row: &Row, value: SecondFigure) -> Vec<(f64, f64)> {
    let seconds = row.whole_seconds();
    let group = seconds.len().div_ceil(POINTS_MAX).max(1);
    let groups = seconds.chunks(group).map(|seconds| {
        let sum: f64 = seconds.iter().map(value).sum();
        (f64::from(seconds[0].at_s), sum / seconds.len() as f64)
    });
    groups.collect()
}

/// (percentile, ms) at the first rank of each bucket, without points that a reader cannot tell
/// apart.
fn curve(buckets: &Buckets) -> Vec<(f64, f64)> {
    let (count, mut seen) = (buckets.count() as f64, 0);
    let points = buckets.0.iter().map(|(value, bucket)| {
        let percent = 100.0 * seen as f64 / count;
        seen += bucket;
        (percent, *value as f64 / 1e6)
    });
    let mut points: Vec<(f64, f64)> = points.collect();
    let place = |percent: f64| Scale::Nines.place(percent);
    points.dedup_by(|next, kept| place(next.0) - place(kept.0) < 0.01);
    points
}

/// The published tables of the scenarios that ran, with our figures where one ran paced with the
/// same number of users.
fn beside_published(report: &mut Report, files: &[ResultFile], published: &[Published]) {
    let rows: Vec<&Row> = files.iter().flat_map(ResultFile::measured).collect();
    let ran = |theirs: &&Published| rows.iter().any(|row| theirs.is_of(&row.scenario));
    let mut table = Table::new([
        "<Published table",
        "<Scenario",
        "Concurrency",
        "Samples",
        "Average",
        "Median",
        "90% Line",
        "Min",
        "Max",
        "Error",
        "Throughput",
        "KB/sec",
        "Ours: average ms",
        "median ms",
        "99% ms",
        "error %",
        "throughput",
    ]);
    for theirs in published.iter().filter(ran) {
        let label = format!("{} ({} a request)", theirs.scenario, theirs.items);
        let mut cells = vec![theirs.source(), label, theirs.concurrency.to_string()];
        cells.extend(theirs.figures.map(str::to_owned));
        let is_same = |row: &&&Row| {
            let load = &row.load;
            theirs.is_of(&row.scenario)
                && load.model == Model::Paced
                && load.users == theirs.concurrency
        };
        if let Some(row) = rows.iter().find(is_same) {
            let times = [
                row.columns.average_us,
                row.columns.median_us,
                row.more.line99_us,
            ];
            cells.extend(times.map(ms));
            cells.push(format!("{:.2}", row.columns.error_percent));
            cells.push(format!("{:.1}", row.columns.throughput));
        }
        table.row(cells);
    }
    let note = "Digit for digit; to the right ours, where the same scenario ran paced with as many users. Other machines, \
                other years: compare with a server measured beside ours, not with these.";
    report.table("## The published tables", note, &table);
}
