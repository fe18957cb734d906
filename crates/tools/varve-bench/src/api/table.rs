//! The Markdown table of a result: the published columns in their order, ours to the right.

use std::fmt::Write as _;

use super::result::{Load, Model, ResultFile, Row};

/// The published columns.
const PUBLISHED: &[&str] = &[
    "Label",
    "Samples",
    "Average",
    "Median",
    "90% Line",
    "Min",
    "Max",
    "Error %",
    "Throughput",
    "KB/sec",
];

/// The columns of ours.
const OURS: &[&str] = &[
    "95% Line",
    "99% Line",
    "99.9% Line",
    "items/s",
    "sent KB/sec",
    "corrected 50/99/99.9%",
    "server µs/request",
    "server µs/item",
    "generator µs/request",
    "load",
    "server",
    "durability",
    "remarks",
];

/// The table of all rows, with a line of units and the limits found.
#[must_use]
pub fn markdown(file: &ResultFile) -> String {
    let mut out = String::new();
    line(
        &mut out,
        PUBLISHED.iter().chain(OURS).map(ToString::to_string),
    );
    let numbers = 1..PUBLISHED.len() + 9;
    line(
        &mut out,
        (0..PUBLISHED.len() + OURS.len()).map(|at| match numbers.contains(&at) {
            true => "--:".to_owned(),
            false => "---".to_owned(),
        }),
    );
    for row in &file.rows {
        line(&mut out, cells(row).into_iter());
    }
    out.push_str(
        "\nTimes in ms; throughput in requests a second; corrected: from the planned send.\n",
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

/// The table of ours against the ceilings of the same run; nothing when there is none.
#[must_use]
pub fn ceilings(file: &ResultFile) -> String {
    const HEAD: &[&str] = &[
        "scenario",
        "durability",
        "users",
        "ours items/s",
        "ours CPU µs/item",
        "ceiling",
        "its items/s",
        "its CPU µs/item",
        "ours ÷ ceiling, rate",
        "ceiling ÷ ours, CPU",
    ];
    let mut out = String::new();
    if file.ceilings.is_empty() {
        return out;
    }
    line(&mut out, HEAD.iter().map(ToString::to_string));
    line(&mut out, HEAD.iter().map(|_| "---".to_owned()));
    for row in &file.ceilings {
        for ceiling in &row.ceilings {
            let cells = [
                row.label.clone(),
                row.durability.clone(),
                row.users.to_string(),
                format!("{:.0}", row.ours.items_per_s),
                format!("{:.2}", row.ours.cpu_us_per_item),
                ceiling.name.clone(),
                format!("{:.0}", ceiling.measured.items_per_s),
                format!("{:.2}", ceiling.measured.cpu_us_per_item),
                format!("{:.2}", ceiling.ratio_rate),
                format!("{:.2}", ceiling.ratio_cpu),
            ];
            line(&mut out, cells.into_iter());
        }
    }
    out
}

/// A row's cells.
fn cells(row: &Row) -> Vec<String> {
    let mut cells = vec![row.label.clone()];
    if let Some(reason) = &row.skipped {
        cells.resize(PUBLISHED.len() + OURS.len() - 4, "–".to_owned());
        cells.extend([load(&row.load), row.server.clone(), String::new()]);
        cells.push(format!("skipped: {reason}"));
        return cells;
    }
    let (columns, more) = (&row.columns, &row.more);
    cells.push(columns.samples.to_string());
    cells.push(whole_ms(columns.average_us));
    for us in [
        columns.median_us,
        columns.line90_us,
        columns.min_us,
        columns.max_us,
    ] {
        cells.push(whole_ms(us as f64));
    }
    cells.push(format!("{:.2}%", columns.error_percent));
    cells.push(format!("{:.1}", columns.throughput));
    cells.push(format!("{:.1}", columns.kb_per_s));
    for us in [more.line95_us, more.line99_us, more.line999_us] {
        cells.push(ms(us));
    }
    cells.push(format!("{:.0}", more.items_per_s));
    cells.push(format!("{:.1}", more.sent_kb_per_s));
    cells.push(row.corrected.as_ref().map_or("–".to_owned(), |it| {
        format!(
            "{} / {} / {}",
            ms(it.median_us),
            ms(it.line99_us),
            ms(it.line999_us)
        )
    }));
    let optional = |us: Option<f64>| us.map_or("–".to_owned(), |us| format!("{us:.1}"));
    cells.push(optional(row.cpu.server_us_per_request));
    cells.push(optional(row.cpu.server_us_per_item));
    cells.push(format!("{:.1}", row.cpu.generator_us_per_request));
    cells.push(load(&row.load));
    cells.push(row.server.clone());
    cells.push(row.durability.clone().unwrap_or("unknown".to_owned()));
    cells.push(remarks(row));
    cells
}

/// What a reader of the row must know.
fn remarks(row: &Row) -> String {
    let mut remarks: Vec<String> = Vec::new();
    if !row.errors.is_empty() {
        let kinds = row
            .errors
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"));
        remarks.push(kinds.collect::<Vec<_>>().join(", "));
    }
    if let Some(why) = &row.ended_early {
        remarks.push(format!("ended early: {why}"));
    }
    if let Some(limit) = row.limit_us {
        let server = row.cpu.server_us_per_request;
        let ratio = server.map_or(String::new(), |us| format!(" ({:.2} of it)", us / limit));
        remarks.push(format!("limit {limit:.0} µs of server CPU{ratio}"));
    }
    if row.generator.bound {
        let reason = row.generator.bound_reason.as_deref().unwrap_or_default();
        remarks.push(format!("generator-bound: {reason}"));
    }
    if row.generator.not_sent > 0 {
        remarks.push(format!("not sent {}", row.generator.not_sent));
    }
    match &row.verification {
        Some(it) if !it.passed() => remarks.push(format!(
            "verification failed: {} missing, {} wrong of {}",
            it.missing, it.wrong, it.checked
        )),
        Some(it) if it.checked > 0 => remarks.push(format!("{} read back", it.checked)),
        _ => {}
    }
    remarks.join("; ")
}

/// A row in one line, for people who wait.
#[must_use]
pub fn summary(row: &Row) -> String {
    let (label, load) = (&row.label, load(&row.load));
    if let Some(reason) = &row.skipped {
        return format!("{label}: skipped: {reason}");
    }
    let columns = &row.columns;
    let remarks = remarks(row);
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
        ms(columns.median_us),
        ms(row.more.line99_us),
        columns.error_percent,
        row.cpu.generator_us_per_request,
        if remarks.is_empty() { "" } else { "; " },
    )
}

/// The load in a few words.
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

/// A number without needless digits.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// As the published columns: whole milliseconds, cut off as JMeter's are.
fn whole_ms(us: f64) -> String {
    format!("{}", (us / 1_000.0) as u64)
}

/// Milliseconds with the digits that say something.
fn ms(us: u64) -> String {
    let ms = us as f64 / 1_000.0;
    match us {
        0..10_000 => format!("{ms:.2}"),
        10_000..100_000 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        out.push_str("| ");
        out.push_str(&cell.replace('|', "\\|").replace('\n', " "));
        out.push(' ');
    }
    out.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::result::{Columns, More};

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
            "| vertex_by_id | 331000 | 1 | 1 | 2 | 0 | 172 | 0.00% | 920.7 | 178.1 | 0.00 | 12.3 |"
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
