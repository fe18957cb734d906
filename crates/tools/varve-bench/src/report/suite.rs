//! The report of the open-metadata suite: the published table with our column beside it, profiles,
//! failures, the growth of medians with the volume, and the point plot.

use anyhow::Result;

use super::Report;
use super::chart::{Chart, Scale, Series, Shape};
use super::published::Peer;
use super::table::{Table, judged};
use super::text::{bytes, optional, three, whole};
use crate::metadata::{GROWTH_MAX, LINE99_MAX_US, PUBLISHED_ROWS, ROWS, RowInfo};
use crate::result::{ResultFile, Row, VolumeRun};

/// The volume for which the published calls of each row are known.
const COUNTED_VOLUME: &str = "0005-02";
/// The height of a row of the plot with one volume, and of each further volume, in pixels.
const LINE: u32 = 14;
const FURTHER: u32 = 7;

#[derive(Debug, Clone, Copy)]
struct Volume<'a> {
    file: &'a ResultFile,
    run: &'a VolumeRun,
}

impl<'a> Volume<'a> {
    fn name(self) -> &'a str {
        self.file
            .servers
            .first()
            .map_or("ours", |server| &server.name)
    }

    /// The measured row of a method.
    fn row(self, info: &RowInfo) -> Option<&'a Row> {
        let mut rows = self.file.rows.iter();
        rows.find(|row| row.volume == self.run.volume && info.is(row))
    }

    /// The same, if it had calls.
    fn called(self, info: &RowInfo) -> Option<&'a Row> {
        self.row(info).filter(|row| row.columns.samples > 0)
    }
}

/// The volumes of the files, ascending.
fn volumes(files: &[ResultFile]) -> Vec<Volume<'_>> {
    let volumes = files
        .iter()
        .flat_map(|file| file.volumes.iter().map(move |run| Volume { file, run }));
    let mut volumes: Vec<Volume<'_>> = volumes.collect();
    volumes.sort_by_key(|it| (it.run.instances_per_type, it.run.max_search_results));
    volumes
}

pub(super) fn write(report: &mut Report, files: &[ResultFile]) -> Result<()> {
    tables(report, files);
    report.chart(&plot(&volumes(files)))
}

pub(super) fn tables(report: &mut Report, files: &[ResultFile]) {
    let volumes = volumes(files);
    for of in &volumes {
        report.text(format!("## {} {}", of.name(), of.run.volume));
        report.text(words(*of));
        published(report, *of);
        profiles(report, of.run);
        failures(report, of.run);
    }
    growth(report, &volumes);
}

/// A description of the run of a volume in one line.
fn words(of: Volume<'_>) -> String {
    let run = of.run;
    let rows = of.file.rows.iter().filter(|row| row.volume == run.volume);
    let calls: u64 = rows.clone().map(|row| row.columns.samples).sum();
    let wrong = rows.filter(|row| row.has_wrong_calls()).count();
    let server = of.file.servers.first();
    let durability = server.and_then(|server| server.durability.as_deref());
    let complete = if run.complete {
        ""
    } else {
        "; not the whole suite"
    };
    format!(
        "{} instances of each type, page {}: {} instances created, {} timed calls in {:.0} s, durability {}, {} failed \
         test cases, {wrong} rows without the calls that they must have{complete}.",
        run.instances_per_type,
        run.max_search_results,
        whole(run.instances_created as f64),
        whole(calls as f64),
        run.seconds,
        durability.unwrap_or("unknown"),
        run.failed(),
    )
}

/// Microseconds as milliseconds, with the significant digits.
fn ms(us: f64) -> String {
    match us {
        us if us < 10_000.0 => format!("{:.3}", us / 1_000.0),
        us => three(us / 1_000.0),
    }
}

/// The published table with our column.
fn published(report: &mut Report, of: Volume<'_>) {
    let name = of.name();
    let mut heads = ["<Profile", "<Method", "N", "XTDB's N"]
        .map(str::to_owned)
        .to_vec();
    heads.extend([format!("{name}, whole ms"), format!("{name} median")]);
    heads.extend(["95 % of medians", "90 %", "99 %", "max"].map(str::to_owned));
    for peer in Peer::ALL {
        heads.extend([peer.name().to_owned(), format!("{} ÷ {name}", peer.name())]);
    }
    let mut table = Table::new(heads);
    for (at, info) in ROWS.iter().enumerate() {
        let Some(row) = of.row(info) else {
            continue;
        };
        let (profile, method) = (info.row.profile.name(), info.row.method);
        let star = if at < PUBLISHED_ROWS { "" } else { " *" };
        let mut figures = figures(info, row).into_iter();
        let mut cells = vec![profile.to_owned(), format!("{method}{star}")];
        cells.extend(figures.next());
        cells.push(match of.run.volume == COUNTED_VOLUME {
            true => whole(info.calls_published as f64),
            false => String::new(),
        });
        cells.extend(figures);
        for peer in Peer::ALL {
            let theirs = peer.median_ms(profile, method, &of.run.volume);
            let ours = row.columns.median_us;
            let times = theirs
                .filter(|_| ours > 0.0)
                .map(|ms| format!("{} ×", three(ms * 1e3 / ours)));
            cells.push(theirs.map_or_else(String::new, |ms| ms.to_string()));
            cells.push(times.unwrap_or_default());
        }
        table.row(cells);
    }
    let note = "Milliseconds at the client, from the request as a value to the checked answer. \"Whole ms\" is the median of \
                times cut off to whole milliseconds, as the published figures are. A dash: the repository does not do this, \
                or found nothing to do. Bold: over the limit, a median of 0.2 ms for reads by GUID and of history, 0.5 ms for \
                changes, 1 ms for searches and walks, or 10 ms for 99 %. \\* Not in the published table.";
    report.table("### The published table", note, &table);
}

/// The number of calls; if it is wrong, followed by the right one. Then medians and percentiles.
fn figures(info: &RowInfo, row: &Row) -> Vec<String> {
    let calls = whole(row.columns.samples as f64);
    let calls = match row.calls_max {
        _ if !row.has_wrong_calls() => calls,
        Some(right) => format!("**{calls} of {}**", whole(right as f64)),
        None => format!("**{calls} of some**"),
    };
    let Some((low, high)) = row.histogram_ns.median_interval() else {
        let mark = if row.skipped.is_some() { "--" } else { "–" };
        let mut cells = vec![calls];
        cells.resize(7, mark.to_owned());
        return cells;
    };
    let whole_ms = row.histogram_ns.median_whole_ms();
    let [low, high] = [low, high].map(|ns| ms(ns as f64 / 1e3));
    let (median, line99) = (row.columns.median_us, row.more.line99_us);
    vec![
        calls,
        optional(whole_ms, |ms| ms.to_string()),
        judged(ms(median), median > info.median_max_us()),
        format!("{low} to {high}"),
        ms(row.columns.line90_us),
        judged(ms(line99), line99 > LINE99_MAX_US),
        ms(row.columns.max_us),
    ]
}

/// Instances in an answer of a row, on average.
fn an_answer(row: &Row) -> f64 {
    row.more.items_per_s * row.elapsed_s / row.columns.samples as f64
}

fn profiles(report: &mut Report, run: &VolumeRun) {
    let heads = [
        "",
        "<Profile",
        "time",
        "server's CPU",
        "its memory",
        "tool's CPU",
        "types",
        "failed",
    ];
    let mut table = Table::new(heads);
    for it in &run.profiles {
        table.row([
            it.id.to_string(),
            it.name.clone(),
            format!("{:.1}", it.seconds),
            optional(it.server_cpu_s, |s| format!("{s:.1}")),
            optional(it.server_resident_bytes, |size| bytes(size as f64)),
            format!("{:.1}", it.tool_cpu_s),
            whole(it.cases as f64),
            judged(it.failed.to_string(), it.failed > 0),
        ]);
    }
    let note = "Seconds. Profiles that take turns share the CPU time of the first.";
    report.table("### Profiles", note, &table);
}

fn failures(report: &mut Report, run: &VolumeRun) {
    let mut table = Table::new(["<Profile", "<Type", "<What", "<Request"]);
    for it in &run.failures {
        let what = format!("{} {}", it.exception, it.message);
        table.row([&it.profile, &it.case, &what, &it.request]);
    }
    let note = format!(
        "{} in all; {} of them here.",
        run.failed(),
        run.failures.len()
    );
    report.table("### Failed test cases", &note, &table);
}

/// Medians by volume, and their ratio between the largest and the smallest volume.
fn growth(report: &mut Report, volumes: &[Volume<'_>]) {
    let [first, .., last] = volumes else {
        return;
    };
    let names = volumes.iter().map(|it| it.run.volume.as_str());
    let ratios = ["last ÷ first", "instances an answer, last ÷ first"];
    let mut table = Table::new(
        ["<Profile", "<Method"]
            .into_iter()
            .chain(names)
            .chain(ratios),
    );
    for info in ROWS {
        let mut cells = vec![
            info.row.profile.name().to_owned(),
            info.row.method.to_owned(),
        ];
        let medians = volumes
            .iter()
            .map(|of| of.called(info).map(|row| ms(row.columns.median_us)));
        cells.extend(medians.map(Option::unwrap_or_default));
        if let (Some(first), Some(last)) = (first.called(info), last.called(info)) {
            let ratio = last.columns.median_us / first.columns.median_us;
            let more = an_answer(last) / an_answer(first);
            // Walks that return a closure may grow with it.
            let allowed = match info.row.method {
                "getRelatedEntities" | "getLinkingEntities" if more > 1.0 => GROWTH_MAX * more,
                _ => GROWTH_MAX,
            };
            cells.push(judged(three(ratio), ratio > allowed));
            cells.extend(more.is_finite().then(|| three(more)));
        }
        table.row(cells);
    }
    let note = "Medians in milliseconds by volume. A row may have twice its first median at most; the walks that return \
                closures in proportion to what they return.";
    report.table("## Growth", note, &table);
}

/// The point plot on a logarithmic axis. Each row of the table has a line. On it, each volume has a
/// point at its median, with a bar for the median's bootstrap interval. Published medians are
/// circles.
fn plot(volumes: &[Volume<'_>]) -> Chart {
    let further = FURTHER * volumes.len().saturating_sub(1) as u32;
    let step = f64::from(FURTHER) / f64::from(LINE + further);
    let shown = ROWS
        .iter()
        .filter(|info| volumes.iter().any(|of| of.called(info).is_some()));
    let shown: Vec<&RowInfo> = shown.collect();
    let names = shown
        .iter()
        .map(|info| format!("{} · {}", info.row.profile.name(), info.row.method));
    let names = names.collect();
    let mut series = Vec::new();
    for (colour, of) in volumes.iter().enumerate() {
        let offset = step * (colour as f64 - (volumes.len() as f64 - 1.0) / 2.0);
        let (mut points, mut bars, mut circles) = (Vec::new(), Vec::new(), Vec::new());
        for (at, info) in shown.iter().enumerate() {
            let row = of.called(info);
            if let Some((row, (low, high))) =
                row.and_then(|row| Some((row, row.histogram_ns.median_interval()?)))
            {
                let y = at as f64 + offset;
                points.push((row.columns.median_us / 1e3, y));
                bars.push((low as f64 / 1e6, high as f64 / 1e6, y));
            }
            let (profile, method) = (info.row.profile.name(), info.row.method);
            let theirs = Peer::ALL.map(|peer| peer.median_ms(profile, method, &of.run.volume));
            circles.extend(theirs.into_iter().flatten().map(|ms| (ms, at as f64)));
        }
        let name = format!("{} {}", of.name(), of.run.volume);
        series.push(Series {
            shape: Shape::Dotted,
            bars,
            ..Series::line(name, colour, points)
        });
        let name = format!("XTDB and JanusGraph {}", of.run.volume);
        series.push(Series {
            shape: Shape::Circles,
            ..Series::line(name, colour, circles)
        });
    }
    series.retain(|series| !series.points.is_empty());
    Chart {
        title: "Medians by method and volume; bars: 95 % bootstrap interval".to_owned(),
        x: ("ms", Scale::Log),
        y: ("", Scale::Names(names, LINE + further)),
        series,
    }
}
