//! The tables of the report.

use std::fmt::Write as _;

use super::ReportRow;
use super::published::{Published, best};
use crate::api::result::ResultFile;
use crate::api::table::{figures, load, remarks, rows_between};
use crate::report::page::section;
use crate::report::table::{Cell, Table};
use crate::report::text::{escape, ms, three, whole};

/// The best row of a scenario and server: the one with the most elements a second without errors.
fn best_of<'a, 'b>(
    measured_rows: &'b [ReportRow<'a>],
    scenario: &str,
    server: &str,
) -> Option<&'b ReportRow<'a>> {
    let of = |clean: bool| {
        measured_rows
            .iter()
            .filter(|it| it.row.scenario == scenario && it.row.server == server)
            .filter(|it| !clean || it.row.columns.error_percent == 0.0)
            .max_by(|a, b| a.row.more.items_per_s.total_cmp(&b.row.more.items_per_s))
    };
    of(true).or_else(|| of(false))
}

/// Scenario and server pairs in the order they first ran.
fn pairs(measured_rows: &[ReportRow<'_>]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for it in measured_rows {
        let pair = (it.row.scenario.clone(), it.row.server.clone());
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

const SUMMARY: &[&str] = &[
    "<Scenario",
    "<Server",
    "<Load",
    "Requests/s",
    "Elements/s",
    "Median ms",
    "99% ms",
    "Error %",
    "Server CPU µs/element",
    "|Published elements/s",
    "Ours ÷ published",
    "<Published row",
];

/// The figures of a scenario's best row beside the published ones.
fn summary_row(it: &ReportRow<'_>, published: &[Published]) -> Vec<Cell> {
    let row = it.row;
    let clean = row.columns.error_percent == 0.0;
    let cpu = row.cpu.server_us_per_item;
    let mut cells: Vec<Cell> = vec![
        row.scenario.as_str().into(),
        it.series_name().into(),
        load(&row.load).into(),
        whole(row.columns.throughput).into(),
        whole(row.more.items_per_s).into(),
        ms(row.columns.median_us as f64).into(),
        ms(row.more.line99_us as f64).into(),
        Cell::Marked(format!("{:.2}", row.columns.error_percent), clean),
        cpu.map_or_else(|| "–".to_owned(), three).into(),
    ];
    let Some(best) = best(published, &row.scenario) else {
        cells.extend(["–", "–", "not published"].map(Cell::from));
        return cells;
    };
    let theirs = best.throughput() * f64::from(best.items);
    let ratio = row.more.items_per_s / theirs;
    cells.push(whole(theirs).into());
    cells.push(match offered_less(it, published) {
        true => three(ratio).into(),
        false => Cell::Marked(three(ratio), ratio >= 1.0),
    });
    cells.push(format!("{}, {} users", best.source(), best.concurrency).into());
    cells
}

/// Whether a paced row had fewer users than the published one; then its ratio does not show the
/// server's limit.
fn offered_less(it: &ReportRow<'_>, published: &[Published]) -> bool {
    let theirs = best(published, &it.row.scenario).map_or(0, |best| best.concurrency);
    it.row.load.period_s.is_some() && it.row.load.users.is_some_and(|users| users < theirs)
}

/// The best row of each scenario, beside the best published row.
pub(super) fn summary(measured_rows: &[ReportRow<'_>], published: &[Published]) -> Table {
    let mut table = Table::new(SUMMARY);
    for (scenario, server) in pairs(measured_rows) {
        if let Some(it) = best_of(measured_rows, &scenario, &server) {
            table.row(summary_row(it, published));
        }
    }
    table
}

/// The summary as a section.
pub(super) fn summary_section(measured_rows: &[ReportRow<'_>], published: &[Published]) -> String {
    if measured_rows.is_empty() {
        return "<p>No row ran.</p>\n".to_owned();
    }
    let note = "The best row without errors of each scenario, beside the best published one of the RocksDB back end \
                without errors (24 to 48 threads on machines of their time; paced, so the load offered was the limit \
                of most, and a paced row of fewer users cannot reach it).";
    let table = summary(measured_rows, published).titled("", note);
    section("summary", "In short", &table.html())
}

/// The published columns, followed by our own.
pub(super) fn aggregate(files: &[ResultFile], measured_rows: &[ReportRow<'_>]) -> String {
    let note = "Times in milliseconds, throughput in requests a second.";
    let before = ["<Label", "<Server", "<Load"];
    let mut table = rows_between(&before, &["<Remarks"]).titled("", note);
    for (at, it) in measured_rows.iter().enumerate() {
        let row = it.row;
        let anchor = it.anchor(at);
        let link = format!("<a href=\"#{anchor}\">{}</a>", escape(&row.label));
        let mut cells = vec![Cell::Html(link, row.label.clone())];
        cells.extend([it.series_name(), load(&row.load)].map(Cell::from));
        cells.extend(figures(row));
        cells.push(remarks(row));
        table.row(cells);
    }
    let mut out = table.html();
    let rows = files.iter().flat_map(|file| &file.rows);
    let skipped: Vec<String> = rows
        .filter_map(|row| {
            let why = row.skipped.as_ref()?;
            let text = format!("{} on {}: {why}", row.label, row.server);
            Some(format!("<li>{}</li>", escape(&text)))
        })
        .collect();
    if !skipped.is_empty() {
        let _ = write!(out, "<p>Not run:</p><ul>{}</ul>", skipped.concat());
    }
    section("table", "All rows", &out)
}

/// The results of searches for the upper limit.
pub(super) fn limits(files: &[ResultFile]) -> String {
    let mut table = Table::new([
        "<Scenario",
        "<Server",
        "<Raised",
        "Last clean",
        "First failed",
        "~What failed",
    ]);
    for it in files.iter().flat_map(|file| &file.limits) {
        let step = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), whole);
        table.row([
            it.label.clone(),
            it.server.clone(),
            it.raised.clone(),
            step(it.last_clean),
            step(it.first_failed),
            it.reason.clone(),
        ]);
    }
    match table.is_empty() {
        true => String::new(),
        false => section("limits", "Upper limits", &table.html()),
    }
}

/// Errors by kind, with the first of each kind.
pub(super) fn errors(measured_rows: &[ReportRow<'_>]) -> String {
    let heads = [
        "<Label",
        "<Server",
        "<Load",
        "<Kind",
        "Requests",
        "~The first",
    ];
    let mut table = Table::new(heads);
    for it in measured_rows {
        for (kind, count) in &it.row.errors {
            let example = it.row.error_examples.iter().find(|it| it.kind == *kind);
            table.row([
                it.row.label.clone(),
                it.series_name(),
                load(&it.row.load),
                kind.clone(),
                whole(*count as f64),
                example.map(|it| it.text.clone()).unwrap_or_default(),
            ]);
        }
    }
    let text = match table.is_empty() {
        false => table.html(),
        true => "<p>None.</p>".to_owned(),
    };
    section("errors", "Errors", &text)
}

/// The published tables, with our figures where the scenario ran with the same number of users.
pub(super) fn published(measured_rows: &[ReportRow<'_>], published: &[Published]) -> String {
    let mut out = String::from(
        "<p class=\"note\">Digit for digit; to the right ours, where the same scenario ran paced with as many users. Other \
         machines, other years: compare with a server measured beside ours, not with these.</p>\n",
    );
    let mut rest = published;
    while let Some(first) = rest.first() {
        let same = rest
            .iter()
            .take_while(|row| row.source() == first.source())
            .count();
        let (rows, after) = rest.split_at(same);
        rest = after;
        let _ = writeln!(
            out,
            "<details><summary>{}<span>{}</span></summary>{}</details>",
            escape(&first.source()),
            escape(&machines(rows)),
            published_table(rows, measured_rows).html()
        );
    }
    section("published", "The published tables", &out)
}

/// The machines of these rows.
fn machines(rows: &[Published]) -> String {
    let mut found: Vec<&str> = Vec::new();
    for row in rows {
        if !found.contains(&row.machine) {
            found.push(row.machine);
        }
    }
    found.join(" · ")
}

fn published_table(rows: &[Published], measured_rows: &[ReportRow<'_>]) -> Table {
    let mut table = Table::new([
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
        "|Ours: average ms",
        "median ms",
        "99% ms",
        "error %",
        "throughput",
    ]);
    for row in rows {
        let label = match row.items {
            1 => row.scenario.to_owned(),
            items => format!("{} ({items} a request)", row.scenario),
        };
        let users = whole(f64::from(row.concurrency));
        let mut cells: Vec<Cell> = vec![label.into(), users.into()];
        cells.extend(row.figures.iter().enumerate().map(|(at, figure)| match at {
            6 => Cell::Marked((*figure).to_owned(), row.clean()),
            _ => (*figure).into(),
        }));
        let ours = measured_rows.iter().find(|it| {
            row.is_of(&it.row.scenario)
                && it.row.load.users == Some(row.concurrency)
                && it.row.load.period_s.is_some()
        });
        if let Some(it) = ours {
            let ours = [
                ms(it.row.columns.average_us),
                ms(it.row.columns.median_us as f64),
                ms(it.row.more.line99_us as f64),
                format!("{:.2}", it.row.columns.error_percent),
                format!("{:.1}", it.row.columns.throughput),
            ];
            cells.extend(ours.map(Cell::from));
        }
        table.row(cells);
    }
    table
}
