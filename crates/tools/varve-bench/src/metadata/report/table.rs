//! The tables.

use super::super::profile::{PUBLISHED_ROWS, ROWS, RowInfo};
use super::super::published::Peer;
use super::super::result::{Limit, RowResult};
use super::ReportRun;
use crate::report::table::{Cell, Table};
use crate::report::text::{bytes, three, whole};

/// The volume for which the published calls of each row are known.
const COUNTED_VOLUME: &str = "0005-02";

/// Microseconds as milliseconds, with the significant digits.
pub(super) fn ms(us: f64) -> String {
    match us {
        us if us < 10_000.0 => format!("{:.3}", us / 1_000.0),
        us => three(us / 1_000.0),
    }
}

/// The measured rows, with their expected values.
pub(super) fn rows(run: ReportRun<'_>) -> impl Iterator<Item = (&RowInfo, &RowResult)> {
    ROWS.iter().filter_map(move |info| {
        let is_it = |row: &&RowResult| info.is(row);
        Some((info, run.run.rows.iter().find(is_it)?))
    })
}

/// The result of a row, if it was measured and had calls.
pub(super) fn row_of<'a>(info: &RowInfo, run: ReportRun<'a>) -> Option<&'a RowResult> {
    let found = run.run.rows.iter().find(|row| info.is(row));
    found.filter(|row| row.calls > 0)
}

/// A published figure in milliseconds.
fn published_ms(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |ms| ms.to_string())
}

/// The ratio of a published figure to ours.
fn times(figure: Option<f64>, row: &RowResult) -> String {
    match figure {
        Some(ms) if row.median_us > 0.0 => format!("{} ×", three(ms * 1_000.0 / row.median_us)),
        _ => String::new(),
    }
}

/// The published table with our column.
pub(super) fn published(of: ReportRun<'_>) -> Table {
    let name = of.file.repository.name.as_str();
    let mut heads = ["<Profile", "<Method", "N", "XTDB's N"]
        .map(str::to_owned)
        .to_vec();
    heads.extend([format!("{name}, whole ms"), format!("{name} median")]);
    heads.extend(["95 % of medians", "90 %", "99 %", "max"].map(str::to_owned));
    for peer in Peer::ALL {
        heads.extend([peer.name().to_owned(), format!("{} ÷ {name}", peer.name())]);
    }
    let note = "Milliseconds at the client. A dash: the repository does not do this, or found nothing to do. * Not in \
                the published table.";
    let mut table = Table::new(heads).titled("The published table", note);
    for (at, (info, row)) in rows(of).enumerate() {
        let star = if at < PUBLISHED_ROWS { "" } else { " *" };
        let method = format!("{}{star}", info.row.method);
        let mut line: Vec<Cell> = vec![info.row.profile.name().into(), method.into()];
        let mut figures = figures(info, row).into_iter();
        line.extend(figures.next());
        line.push(match of.run.volume == COUNTED_VOLUME {
            true => whole(info.calls_published as f64).into(),
            false => "".into(),
        });
        line.extend(figures);
        for peer in Peer::ALL {
            let figure = peer.median_ms(info.row, &of.run.volume);
            line.extend([published_ms(figure).into(), times(figure, row).into()]);
        }
        table.row(line);
    }
    table
}

/// The number of calls; if it is wrong, followed by the right one.
fn calls(row: &RowResult) -> String {
    let calls = whole(row.calls as f64);
    match row.calls_max {
        _ if !row.has_wrong_calls() => calls,
        Some(right) => format!("{calls} of {}", whole(right as f64)),
        None => format!("{calls} of some"),
    }
}

fn figures(info: &RowInfo, row: &RowResult) -> Vec<Cell> {
    let calls = Cell::judged(calls(row), row.has_wrong_calls());
    if row.calls == 0 {
        let mark = if row.not_supported { "--" } else { "–" };
        let mut cells: Vec<Cell> = vec![calls];
        cells.resize(7, mark.into());
        return cells;
    }
    let interval = format!("{} to {}", ms(row.median_low_us), ms(row.median_high_us));
    vec![
        calls,
        published_ms(row.median_ms).into(),
        Cell::judged(ms(row.median_us), row.median_us > info.limit.median_us()),
        interval.into(),
        ms(row.p90_us).into(),
        Cell::judged(ms(row.p99_us), row.p99_us > Limit::LINE99_US),
        ms(row.max_us).into(),
    ]
}

/// The rows that miss a limit.
pub(super) fn missed(of: ReportRun<'_>) -> Option<Table> {
    let note = "Limits: median of reads by GUID and of history 0.2 ms, of changes 0.5 ms, of searches and walks 1 ms; \
                99 % of all within 10 ms. Milliseconds.";
    let mut table = Table::new([
        "<Profile",
        "<Method",
        "median",
        "limit",
        "99 %",
        "instances an answer",
        "bytes an answer",
    ])
    .titled("Rows over a limit", note);
    for (info, row) in rows(of).filter(|(_, row)| row.calls > 0) {
        let limit = info.limit.median_us();
        let (median, line) = (row.median_us > limit, row.p99_us > Limit::LINE99_US);
        if median || line {
            table.row([
                info.row.profile.name().into(),
                info.row.method.into(),
                Cell::judged(ms(row.median_us), median),
                ms(limit).into(),
                Cell::judged(ms(row.p99_us), line),
                three(row.instances as f64 / row.calls as f64).into(),
                bytes(row.bytes as f64 / row.calls as f64).into(),
            ]);
        }
    }
    (!table.is_empty()).then_some(table)
}

/// The profiles with their times.
pub(super) fn profiles(of: ReportRun<'_>) -> Table {
    let mut table = Table::new([
        "<",
        "<Profile",
        "time",
        "server's CPU",
        "server's memory",
        "tool's CPU",
        "test cases",
        "failed",
    ])
    .titled(
        "Profiles",
        "Seconds. Profiles that take turns share the CPU time of the first.",
    );
    let optional = |text: Option<String>| Cell::from(text.unwrap_or_default());
    for it in &of.run.profiles {
        table.row([
            it.id.to_string().into(),
            it.name.as_str().into(),
            format!("{:.1}", it.seconds).into(),
            optional(it.server_cpu_s.map(|s| format!("{s:.1}"))),
            optional(it.server_resident_bytes.map(|size| bytes(size as f64))),
            format!("{:.1}", it.tool_cpu_s).into(),
            whole(it.cases as f64).into(),
            Cell::judged(it.failed.to_string(), it.failed > 0),
        ]);
    }
    table
}

/// The test cases that failed.
pub(super) fn failures(of: ReportRun<'_>) -> Option<Table> {
    let failed: u64 = of.run.profiles.iter().map(|it| it.failed).sum();
    let kept = &of.run.failures;
    let note = format!("{failed} in all; {} of them here.", kept.len());
    let heads = ["<Profile", "<Type", "~What", "~Request"];
    let mut table = Table::new(heads).titled("Failed test cases", note);
    for it in kept {
        let what = format!("{} {}", it.exception, it.message);
        table.row([&it.profile, &it.case, &what, &it.request].map(String::as_str));
    }
    (failed > 0).then_some(table)
}

/// Medians by volume, and their ratio between the largest and the smallest volume.
pub(super) fn growth(runs: &[ReportRun<'_>]) -> Option<Table> {
    let (first, last) = (runs.first()?, runs.last()?);
    if first.run.volume == last.run.volume {
        return None;
    }
    let volumes = runs.iter().map(|it| it.run.volume.as_str());
    let ratios = ["last ÷ first", "instances an answer, last ÷ first"];
    let heads = ["<Profile", "<Method"]
        .into_iter()
        .chain(volumes)
        .chain(ratios);
    let note = "Medians in milliseconds by volume. A row may have twice its first median at most; the walks that return \
                closures in proportion to what they return.";
    let mut table = Table::new(heads).titled("Growth", note);
    for info in ROWS {
        let mut line: Vec<Cell> = vec![info.row.profile.name().into(), info.row.method.into()];
        let medians = runs
            .iter()
            .map(|run| row_of(info, *run).map(|row| ms(row.median_us)));
        line.extend(medians.map(|median| Cell::from(median.unwrap_or_default())));
        if let (Some(first), Some(last)) = (row_of(info, *first), row_of(info, *last)) {
            let ratio = last.median_us / first.median_us;
            let an_answer = |row: &RowResult| row.instances as f64 / row.calls as f64;
            let more = an_answer(last) / an_answer(first);
            // Walks that return a closure may grow with it.
            let allowed = match info.row.method {
                "getRelatedEntities" | "getLinkingEntities" if more > 1.0 => Limit::GROWTH * more,
                _ => Limit::GROWTH,
            };
            line.push(Cell::judged(three(ratio), ratio > allowed));
            line.extend(more.is_finite().then(|| Cell::from(three(more))));
        }
        table.row(line);
    }
    Some(table)
}
