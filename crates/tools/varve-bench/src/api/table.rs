//! The table of rows: the published columns in their order, followed by our own.

use std::fmt::Write as _;

use super::result::{Load, Model, ResultFile, Row};
use crate::report::table::{Cell, Table};
use crate::report::text::{bytes, escape, ms, three, whole, whole_ms};

/// A column's head and its value in a row.
type Figure = (&'static str, fn(&Row) -> Cell);

/// The published columns, followed by our own.
const FIGURES: &[Figure] = &[
    ("Samples", |row| whole(row.columns.samples as f64).into()),
    ("Average", |row| whole_ms(row.columns.average_us).into()),
    ("Median", |row| {
        whole_ms(row.columns.median_us as f64).into()
    }),
    ("90% Line", |row| {
        whole_ms(row.columns.line90_us as f64).into()
    }),
    ("Min", |row| whole_ms(row.columns.min_us as f64).into()),
    ("Max", |row| whole_ms(row.columns.max_us as f64).into()),
    ("Error %", |row| {
        let percent = row.columns.error_percent;
        Cell::Marked(format!("{percent:.2}%"), percent == 0.0)
    }),
    ("Throughput", |row| {
        format!("{:.1}", row.columns.throughput).into()
    }),
    ("KB/sec", |row| {
        format!("{:.1}", row.columns.kb_per_s).into()
    }),
    ("|95% Line", |row| ms(row.more.line95_us as f64).into()),
    ("99% Line", |row| ms(row.more.line99_us as f64).into()),
    ("99.9% Line", |row| ms(row.more.line999_us as f64).into()),
    ("elements/s", |row| whole(row.more.items_per_s).into()),
    ("sent KB/sec", |row| {
        format!("{:.1}", row.more.sent_kb_per_s).into()
    }),
    ("corrected 50/99/99.9%", |row| {
        optional(row.corrected.as_ref(), |it| {
            let all = [it.median_us, it.line99_us, it.line999_us];
            all.map(|us| ms(us as f64)).join(" / ")
        })
    }),
    ("server µs/request", |row| {
        optional(row.cpu.server_us_per_request, three)
    }),
    ("server µs/element", |row| {
        optional(row.cpu.server_us_per_item, three)
    }),
    ("generator µs/request", |row| {
        three(row.cpu.generator_us_per_request).into()
    }),
    ("server memory", |row| {
        optional(row.server_memory.as_ref(), |it| bytes(it.peak_bytes as f64))
    }),
];

fn optional<V>(value: Option<V>, text: impl FnOnce(V) -> String) -> Cell {
    value.map_or_else(|| "–".to_owned(), text).into()
}

/// A table with these columns before the figures and after them.
pub(crate) fn rows_between(before: &[&str], after: &[&str]) -> Table {
    let figures = FIGURES.iter().map(|(head, _)| *head);
    let before = before.iter().copied();
    Table::new(before.chain(figures).chain(after.iter().copied()))
}

/// The figures of a row; dashes for a row that did not run.
pub(crate) fn figures(row: &Row) -> impl Iterator<Item = Cell> {
    FIGURES.iter().map(|(_, figure)| match row.skipped {
        Some(_) => "–".into(),
        None => figure(row),
    })
}

/// The table of all rows, with a line of units and the limits found.
#[must_use]
pub fn markdown(file: &ResultFile) -> String {
    let after = ["<load", "<server", "<durability", "<remarks"];
    let mut table = rows_between(&["<Label"], &after);
    for row in &file.rows {
        let durability = match row.skipped {
            Some(_) => "",
            None => row.durability.as_deref().unwrap_or("unknown"),
        };
        let mut cells: Vec<Cell> = vec![row.label.as_str().into()];
        cells.extend(figures(row));
        cells.extend([
            load(&row.load).into(),
            row.server.as_str().into(),
            durability.into(),
        ]);
        cells.push(remarks(row));
        table.row(cells);
    }
    let mut out = table.markdown();
    out.push_str(
        "Times in ms; throughput in requests a second; corrected: from the planned send.\n",
    );
    for found in &file.limits {
        let last = found
            .last_clean
            .map_or("none".to_owned(), |n| format!("{n:.0}"));
        let _ = writeln!(
            out,
            "\nUpper limit of {} on {}: {last} {} ({}).",
            found.label, found.server, found.raised, found.reason
        );
    }
    out
}

/// A remark for the reader of a row.
enum Remark {
    Note(String),
    /// A short text and its reason, which a page shows in a tooltip.
    Flag(&'static str, String),
    Bad(String),
}

impl Remark {
    fn plain(self) -> String {
        match self {
            Self::Note(text) | Self::Bad(text) => text,
            Self::Flag(what, why) => format!("{what}: {why}"),
        }
    }
}

/// The remarks on a row.
pub(crate) fn remarks(row: &Row) -> Cell {
    let (mut html, mut text) = (Vec::new(), Vec::new());
    for remark in noted(row) {
        match remark {
            Remark::Note(note) => {
                html.push(escape(&note));
                text.push(note);
            }
            Remark::Flag(what, why) => {
                let title = escape(&why);
                html.push(format!(
                    "<span class=\"flag\" title=\"{title}\">{what}</span>"
                ));
                text.push(format!("{what}: {why}"));
            }
            Remark::Bad(what) => {
                html.push(format!("<span class=\"bad\">{}</span>", escape(&what)));
                text.push(format!("**{what}**"));
            }
        }
    }
    Cell::Html(html.join(", "), text.join("; "))
}

fn noted(row: &Row) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(reason) = &row.skipped {
        remarks.push(Remark::Note(format!("skipped: {reason}")));
        return remarks;
    }
    if !row.errors.is_empty() {
        let kinds = row.errors.iter();
        let kinds = kinds.map(|(kind, count)| format!("{kind} {count}"));
        remarks.push(Remark::Note(kinds.collect::<Vec<_>>().join(", ")));
    }
    if let Some(why) = &row.ended_early {
        remarks.push(Remark::Flag("ended early", why.clone()));
    }
    if let Some(limit) = row.limit_us {
        let server = row.cpu.server_us_per_request;
        let ratio = server.map_or(String::new(), |us| format!(" ({:.2} of it)", us / limit));
        remarks.push(Remark::Note(format!(
            "limit {limit:.0} µs of server CPU{ratio}"
        )));
    }
    if row.generator.bound {
        let reason = row.generator.bound_reason.clone().unwrap_or_default();
        remarks.push(Remark::Flag("generator-bound", reason));
    }
    if row.repeat > 1 {
        remarks.push(Remark::Note(format!("repeat {}", row.repeat)));
    }
    if row.generator.not_sent > 0 {
        let count = whole(row.generator.not_sent as f64);
        remarks.push(Remark::Note(format!("not sent {count}")));
    }
    match &row.verification {
        Some(it) if !it.passed() => remarks.push(Remark::Bad(format!(
            "verification failed: {} missing, {} wrong of {}",
            it.missing, it.wrong, it.checked
        ))),
        Some(it) if it.checked > 0 => {
            let count = whole(it.checked as f64);
            remarks.push(Remark::Note(format!("{count} read back")));
        }
        _ => {}
    }
    remarks
}

/// A row in one line, as progress output.
#[must_use]
pub fn summary(row: &Row) -> String {
    let (label, load) = (&row.label, load(&row.load));
    if let Some(reason) = &row.skipped {
        return format!("{label}: skipped: {reason}");
    }
    let columns = &row.columns;
    let remarks: Vec<_> = noted(row).into_iter().map(Remark::plain).collect();
    let remarks = remarks.join("; ");
    let server = row
        .cpu
        .server_us_per_request
        .map_or(String::new(), |us| format!(", server {us:.1} µs"));
    format!(
        "{label} ({load}): {} samples, {:.1}/s, {:.0} items/s, median {} ms, 99 % {} ms, errors {:.2} %{server}, \
         generator {:.1} µs a request{}{remarks}",
        columns.samples,
        columns.throughput,
        row.more.items_per_s,
        ms(columns.median_us as f64),
        ms(row.more.line99_us as f64),
        columns.error_percent,
        row.cpu.generator_us_per_request,
        if remarks.is_empty() { "" } else { "; " },
    )
}

/// A short description of the load.
#[must_use]
pub fn load(load: &Load) -> String {
    let users = load.users.unwrap_or_default();
    match load.model {
        Model::Paced => format!(
            "paced {users} users, {} s + {} s",
            short(load.ramp_s),
            short(load.hold_s)
        ),
        Model::Closed => format!("closed {users} users, {} s", short(load.hold_s)),
        Model::Open => format!(
            "open {}/s{}, {} s",
            short(load.rate.unwrap_or_default()),
            if load.poisson { " poisson" } else { "" },
            short(load.hold_s)
        ),
    }
}

/// A number without trailing zeros.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::result::{Columns, More, Verification};

    #[test]
    fn the_published_columns_come_first_and_in_their_order() {
        let row = Row {
            label: "vertex_by_id".into(),
            columns: Columns {
                samples: 331_000,
                average_us: 1_999.0,
                median_us: 1_000,
                line90_us: 2_000,
                min_us: 999,
                max_us: 172_000,
                error_percent: 0.0,
                throughput: 920.71,
                kb_per_s: 178.06,
            },
            more: More {
                line99_us: 12_345,
                ..More::default()
            },
            ..Row::default()
        };
        let file = ResultFile {
            rows: vec![row],
            ..ResultFile::default()
        };
        let text = markdown(&file);
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|head| head.starts_with(
            "| Label | Samples | Average | Median | 90% Line | Min | Max | Error % | Throughput | KB/sec |"
        )));
        let cells: Vec<usize> = text
            .lines()
            .take(3)
            .map(|l| l.matches(" |").count())
            .collect();
        assert_eq!(cells[0], cells[1]);
        assert_eq!(cells[0], cells[2]);
        assert!(text.contains(
            "| vertex_by_id | 331,000 | 1 | 1 | 2 | 0 | 172 | 0.00% | 920.7 | 178.1 | 0.00 | 12.3 |"
        ), "{text}");
    }

    #[test]
    fn a_row_that_ended_early_says_why() {
        let row = Row {
            ended_early: Some("no ids are left".into()),
            ..Row::default()
        };
        assert!(summary(&row).ends_with("; ended early: no ids are left"));
        let file = ResultFile {
            rows: vec![row],
            ..ResultFile::default()
        };
        assert!(markdown(&file).contains("| ended early: no ids are left |"));
    }

    #[test]
    fn a_failed_verification_is_bold_in_markdown() {
        let row = Row {
            verification: Some(Verification {
                checked: 9,
                wrong: 2,
                ..Verification::default()
            }),
            ..Row::default()
        };
        let failed = "verification failed: 0 missing, 2 wrong of 9";
        assert!(summary(&row).ends_with(&format!("; {failed}")));
        let file = ResultFile {
            rows: vec![row],
            ..ResultFile::default()
        };
        assert!(markdown(&file).contains(&format!("| **{failed}** |")));
    }

    #[test]
    fn a_skipped_row_says_why() {
        let row = Row {
            label: "as_of".into(),
            skipped: Some("the server has no as_of".into()),
            ..Row::default()
        };
        let file = ResultFile {
            rows: vec![row],
            ..ResultFile::default()
        };
        assert!(markdown(&file).contains("skipped: the server has no as_of |"));
    }
}
