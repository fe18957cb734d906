//! The tables, as cells that become HTML or Markdown.

use std::fmt::Write as _;

use super::super::profile::{PUBLISHED_ROWS, ROWS, RowInfo};
use super::super::published::Peer;
use super::super::result::{Limit, RowResult};
use super::Shown;
use crate::api::report::text::{bytes, escape, markdown_line, three, whole};

/// The volume of which the published run's calls are known by row.
const COUNTED_VOLUME: &str = "0005-02";

/// A table.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) title: &'static str,
    /// What stands above it.
    pub(super) note: String,
    pub(super) head: Vec<String>,
    pub(super) lines: Vec<Vec<Cell>>,
    /// Columns of text from the left.
    pub(super) text_columns: usize,
}

/// A cell: its text, and whether that is bad.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) bad: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, bad: false }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Cell {
    fn judged(text: String, bad: bool) -> Self {
        Self { text, bad }
    }
}

impl Table {
    pub(super) fn html(&self) -> String {
        let mut out = format!("<h3>{}</h3>", escape(self.title));
        if !self.note.is_empty() {
            let _ = write!(out, "<p class=\"note\">{}</p>", escape(&self.note));
        }
        out.push_str("<div class=\"scroll\"><table><thead><tr>");
        let class = |at: usize| {
            if at < self.text_columns {
                " class=\"text\""
            } else {
                ""
            }
        };
        for (at, name) in self.head.iter().enumerate() {
            let _ = write!(out, "<th{}>{}</th>", class(at), escape(name));
        }
        out.push_str("</tr></thead><tbody>\n");
        for line in &self.lines {
            out.push_str("<tr>");
            for (at, cell) in line.iter().enumerate() {
                let text = escape(&cell.text);
                let _ = match cell.bad {
                    true => write!(
                        out,
                        "<td{}><span class=\"bad\">{text}</span></td>",
                        class(at)
                    ),
                    false => write!(out, "<td{}>{text}</td>", class(at)),
                };
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody></table></div>\n"
    }

    pub(super) fn markdown(&self) -> String {
        let mut out = format!("**{}**", self.title);
        if !self.note.is_empty() {
            let _ = write!(out, ": {}", self.note);
        }
        out.push_str("\n\n");
        markdown_line(&mut out, &self.head);
        let rule = |at: usize| if at < self.text_columns { "---" } else { "--:" };
        let rules: Vec<String> = (0..self.head.len()).map(|at| rule(at).to_owned()).collect();
        markdown_line(&mut out, &rules);
        for line in &self.lines {
            let mark = |cell: &Cell| match cell.bad {
                true => format!("**{}**", cell.text),
                false => cell.text.clone(),
            };
            markdown_line(&mut out, &line.iter().map(mark).collect::<Vec<_>>());
        }
        out.push('\n');
        out
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Milliseconds of microseconds, with the digits that count.
pub(super) fn ms(us: f64) -> String {
    match us {
        us if us < 10_000.0 => format!("{:.3}", us / 1_000.0),
        us => three(us / 1_000.0),
    }
}

/// The rows that were measured, with what is known of them.
pub(super) fn rows(run: Shown<'_>) -> impl Iterator<Item = (&RowInfo, &RowResult)> {
    ROWS.iter().filter_map(move |info| {
        let is_it = |row: &&RowResult| info.is(row);
        Some((info, run.run.rows.iter().find(is_it)?))
    })
}

/// A published figure in milliseconds.
fn published_ms(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |ms| ms.to_string())
}

/// How many times ours a published figure is.
fn times(figure: Option<f64>, row: &RowResult) -> String {
    match figure {
        Some(ms) if row.median_us > 0.0 => format!("{} ×", three(ms * 1_000.0 / row.median_us)),
        _ => String::new(),
    }
}

/// The published table with our column.
pub(super) fn published(of: Shown<'_>) -> Table {
    let name = of.file.repository.name.as_str();
    let mut head = strings(&["Profile", "Method", "N", "XTDB's N"]);
    head.extend([format!("{name}, whole ms"), format!("{name} median")]);
    head.extend(strings(&["95 % of medians", "90 %", "99 %", "max"]));
    for peer in Peer::ALL {
        head.extend([peer.name().to_owned(), format!("{} ÷ {name}", peer.name())]);
    }
    let mut lines = Vec::new();
    for (at, (info, row)) in rows(of).enumerate() {
        let mut line: Vec<Cell> = vec![info.row.profile.name().into()];
        let star = if at < PUBLISHED_ROWS { "" } else { " *" };
        line.push(format!("{}{star}", info.row.method).into());
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
        lines.push(line);
    }
    Table {
        title: "The published table",
        note: "Milliseconds at the client. A dash: the repository does not do this, or found nothing to do. \
               * Not in the published table."
            .to_owned(),
        head,
        lines,
        text_columns: 2,
    }
}

/// The number of calls; where that is wrong with the right one.
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
pub(super) fn missed(of: Shown<'_>) -> Option<Table> {
    let mut lines = Vec::new();
    for (info, row) in rows(of).filter(|(_, row)| row.calls > 0) {
        let limit = info.limit.median_us();
        let (median, line) = (row.median_us > limit, row.p99_us > Limit::LINE99_US);
        if median || line {
            lines.push(vec![
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
    (!lines.is_empty()).then(|| Table {
        title: "Rows over a limit",
        note: "Limits: median of reads by GUID and of history 0.2 ms, of changes 0.5 ms, of searches and walks 1 ms; \
               99 % of all within 10 ms. Milliseconds."
            .to_owned(),
        head: strings(&[
            "Profile",
            "Method",
            "median",
            "limit",
            "99 %",
            "instances an answer",
            "bytes an answer",
        ]),
        lines,
        text_columns: 2,
    })
}

/// The profiles with their times.
pub(super) fn profiles(of: Shown<'_>) -> Table {
    let optional = |text: Option<String>| text.unwrap_or_default().into();
    let lines = of.run.profiles.iter().map(|it| {
        vec![
            it.id.to_string().into(),
            it.name.as_str().into(),
            format!("{:.1}", it.seconds).into(),
            optional(it.server_cpu_s.map(|s| format!("{s:.1}"))),
            optional(it.server_resident_bytes.map(|size| bytes(size as f64))),
            format!("{:.1}", it.tool_cpu_s).into(),
            whole(it.cases as f64).into(),
            Cell::judged(it.failed.to_string(), it.failed > 0),
        ]
    });
    Table {
        title: "Profiles",
        note: "Seconds. Profiles that take turns share the CPU time of the first.".to_owned(),
        head: strings(&[
            "",
            "Profile",
            "time",
            "server's CPU",
            "server's memory",
            "tool's CPU",
            "test cases",
            "failed",
        ]),
        lines: lines.collect(),
        text_columns: 2,
    }
}

/// The test cases that failed.
pub(super) fn failures(of: Shown<'_>) -> Option<Table> {
    let failed: u64 = of.run.profiles.iter().map(|it| it.failed).sum();
    let lines: Vec<Vec<Cell>> = of
        .run
        .failures
        .iter()
        .map(|it| {
            vec![
                it.profile.as_str().into(),
                it.case.as_str().into(),
                format!("{} {}", it.exception, it.message).into(),
                it.request.as_str().into(),
            ]
        })
        .collect();
    (failed > 0).then(|| Table {
        title: "Failed test cases",
        note: format!("{failed} in all; {} of them here.", lines.len()),
        head: strings(&["Profile", "Type", "What", "Request"]),
        lines,
        text_columns: 4,
    })
}

/// Medians by volume, and the largest volume's over the smallest one's.
pub(super) fn growth(runs: &[Shown<'_>]) -> Option<Table> {
    let (first, last) = (runs.first()?, runs.last()?);
    if first.run.volume == last.run.volume {
        return None;
    }
    let mut head = strings(&["Profile", "Method"]);
    head.extend(runs.iter().map(|it| it.run.volume.clone()));
    head.extend(strings(&[
        "last ÷ first",
        "instances an answer, last ÷ first",
    ]));
    let mut lines = Vec::new();
    for info in ROWS {
        let of = |run: &Shown<'_>| {
            let mut rows = rows(*run);
            let found = rows.find(|(it, row)| it.row == info.row && row.calls > 0);
            found.map(|(_, row)| row.clone())
        };
        let mut line: Vec<Cell> = vec![info.row.profile.name().into(), info.row.method.into()];
        let cells = runs
            .iter()
            .map(|run| of(run).map_or_else(String::new, |row| ms(row.median_us)));
        line.extend(cells.map(Cell::from));
        if let (Some(first), Some(last)) = (of(first), of(last)) {
            let ratio = last.median_us / first.median_us;
            let an_answer = |row: &RowResult| row.instances as f64 / row.calls as f64;
            let more = an_answer(&last) / an_answer(&first);
            // The walks that return a closure may grow as it does.
            let allowed = match info.row.method {
                "getRelatedEntities" | "getLinkingEntities" if more > 1.0 => Limit::GROWTH * more,
                _ => Limit::GROWTH,
            };
            line.push(Cell::judged(three(ratio), ratio > allowed));
            line.push(match more.is_finite() {
                true => three(more).into(),
                false => "".into(),
            });
        } else {
            line.resize(head.len(), Cell::default());
        }
        lines.push(line);
    }
    Some(Table {
        title: "Growth",
        note: "Medians in milliseconds by volume. A row may have twice its first median at most; the walks that return \
               closures in proportion to what they return."
            .to_owned(),
        head,
        lines,
        text_columns: 2,
    })
}
