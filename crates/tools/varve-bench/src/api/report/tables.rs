//! The tables of the report.

use std::fmt::Write as _;

use super::Shown;
use super::published::{Published, best};
use super::text::{bytes, escape, markdown_line, ms, three, whole, whole_ms};
use crate::api::result::{ResultFile, Row};
use crate::api::table::load;

/// A table under construction: cells are escaped, numbers to the right.
pub(super) struct Table {
    out: String,
}

/// A cell.
pub(super) enum Cell {
    /// Text, to the left.
    Text(String),
    /// Text that may wrap.
    Long(String),
    /// A number or what stands for one, to the right.
    Number(String),
    /// The same in the colour of good or bad.
    Marked(String, bool),
    /// HTML made here, to the left.
    Html(String),
}

impl Cell {
    /// Its text, for other forms of the table.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(it)
            | Self::Long(it)
            | Self::Number(it)
            | Self::Marked(it, _)
            | Self::Html(it) => it,
        }
    }
}

impl Table {
    /// A table with these heads; those that start with `<` are of text columns, those with `|`
    /// begin our columns.
    pub(super) fn new(heads: &[&str]) -> Self {
        let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
        for head in heads {
            let (class, name) = match head.chars().next() {
                Some('<') => (" class=\"text\"", &head[1..]),
                Some('|') => (" class=\"ours\"", &head[1..]),
                _ => ("", *head),
            };
            let _ = write!(out, "<th{class}>{}</th>", escape(name));
        }
        out.push_str("</tr></thead><tbody>\n");
        Self { out }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.out.push_str("<tr>");
        for cell in cells {
            let _ = match cell {
                Cell::Text(text) => write!(self.out, "<td class=\"text\">{}</td>", escape(&text)),
                Cell::Long(text) => write!(self.out, "<td class=\"long\">{}</td>", escape(&text)),
                Cell::Number(text) => write!(self.out, "<td>{}</td>", escape(&text)),
                Cell::Html(html) => write!(self.out, "<td class=\"text\">{html}</td>"),
                Cell::Marked(text, good) => {
                    let class = if good { "good" } else { "bad" };
                    write!(self.out, "<td class=\"{class}\">{}</td>", escape(&text))
                }
            };
        }
        self.out.push_str("</tr>\n");
    }

    pub(super) fn html(self) -> String {
        self.out + "</tbody></table></div>\n"
    }
}

/// The best row of a scenario and server: most elements a second without an error.
fn best_of<'a, 'b>(shown: &'b [Shown<'a>], scenario: &str, server: &str) -> Option<&'b Shown<'a>> {
    let of = |clean: bool| {
        shown
            .iter()
            .filter(|it| it.row.scenario == scenario && it.row.server == server)
            .filter(|it| !clean || it.row.columns.error_percent == 0.0)
            .max_by(|a, b| a.row.more.items_per_s.total_cmp(&b.row.more.items_per_s))
    };
    of(true).or_else(|| of(false))
}

/// Scenario and server pairs in the order they first ran.
fn pairs(shown: &[Shown<'_>]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for it in shown {
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

/// Ours and published of a scenario's best rows, as text.
fn summary_cells(it: &Shown<'_>, published: &[Published]) -> Vec<String> {
    let row = it.row;
    let mut cells = vec![
        row.scenario.clone(),
        it.series_name(),
        load(&row.load),
        whole(row.columns.throughput),
        whole(row.more.items_per_s),
        ms(row.columns.median_us as f64),
        ms(row.more.line99_us as f64),
        format!("{:.2}", row.columns.error_percent),
        row.cpu
            .server_us_per_item
            .map_or_else(|| "–".to_owned(), three),
    ];
    match best(published, &row.scenario) {
        Some(best) => {
            let theirs = best.throughput() * f64::from(best.items);
            cells.push(whole(theirs));
            cells.push(three(row.more.items_per_s / theirs));
            cells.push(format!("{}, {} users", best.source(), best.concurrency));
        }
        None => cells.extend(["–".to_owned(), "–".to_owned(), "not published".to_owned()]),
    }
    cells
}

/// Whether a paced row had fewer users than the published one, so that its ratio says nothing about
/// the server.
fn offered_less(it: &Shown<'_>, published: &[Published]) -> bool {
    let theirs = best(published, &it.row.scenario).map_or(0, |best| best.concurrency);
    it.row.load.period_s.is_some() && it.row.load.users.is_some_and(|users| users < theirs)
}

/// The best row of each scenario beside the best published one.
pub(super) fn summary(shown: &[Shown<'_>], published: &[Published]) -> String {
    if shown.is_empty() {
        return "<p>No row ran.</p>\n".to_owned();
    }
    let mut table = Table::new(SUMMARY);
    for (scenario, server) in pairs(shown) {
        let Some(it) = best_of(shown, &scenario, &server) else {
            continue;
        };
        let cells = summary_cells(it, published).into_iter().enumerate();
        let clean = it.row.columns.error_percent == 0.0;
        table.row(
            cells
                .map(|(at, text)| match at {
                    0..=2 | 11 => Cell::Text(text),
                    7 => Cell::Marked(text, clean),
                    10 if text != "–" && !offered_less(it, published) => {
                        let better = text
                            .replace(',', "")
                            .parse::<f64>()
                            .is_ok_and(|it| it >= 1.0);
                        Cell::Marked(text, better)
                    }
                    _ => Cell::Number(text),
                })
                .collect(),
        );
    }
    format!(
        "<section id=\"summary\"><h2>In short</h2><p class=\"note\">The best row without errors of each scenario, beside the \
         best published one of the RocksDB back end without errors (24 to 48 threads on machines of their time; paced, so the \
         load offered was the limit of most, and a paced row of fewer users cannot reach it).</p>{}</section>\n",
        table.html()
    )
}

/// The same in Markdown.
pub(super) fn markdown_summary(shown: &[Shown<'_>], published: &[Published]) -> String {
    let mut out = String::new();
    let heads: Vec<String> = SUMMARY
        .iter()
        .map(|head| head.trim_start_matches(['<', '|']).to_owned())
        .collect();
    markdown_line(&mut out, &heads);
    let rule = |head: &&str| if head.starts_with('<') { "---" } else { "--:" }.to_owned();
    markdown_line(&mut out, &SUMMARY.iter().map(rule).collect::<Vec<_>>());
    for (scenario, server) in pairs(shown) {
        if let Some(it) = best_of(shown, &scenario, &server) {
            markdown_line(&mut out, &summary_cells(it, published));
        }
    }
    out
}

const AGGREGATE: &[&str] = &[
    "Label",
    "<Server",
    "<Load",
    "Samples",
    "Average",
    "Median",
    "90% Line",
    "Min",
    "Max",
    "Error %",
    "Throughput",
    "KB/sec",
    "|95% ms",
    "99% ms",
    "99.9% ms",
    "corrected 99% ms",
    "elements/s",
    "server µs/request",
    "server µs/element",
    "generator µs/request",
    "server memory",
    "<Remarks",
];

/// The published columns, and ours to the right of them.
pub(super) fn aggregate(files: &[ResultFile], shown: &[Shown<'_>]) -> String {
    let mut table = Table::new(AGGREGATE);
    for (at, it) in shown.iter().enumerate() {
        table.row(aggregate_row(at, it));
    }
    let mut out = format!(
        "<section id=\"table\"><h2>All rows</h2><p class=\"note\">Times in milliseconds, throughput in requests a second.</p>{}",
        table.html()
    );
    let skipped: Vec<&Row> = files
        .iter()
        .flat_map(|file| &file.rows)
        .filter(|row| row.skipped.is_some())
        .collect();
    if !skipped.is_empty() {
        out.push_str("<p>Not run:</p><ul>");
        for row in skipped {
            let _ = write!(
                out,
                "<li>{} on {}: {}</li>",
                escape(&row.label),
                escape(&row.server),
                escape(row.skipped.as_deref().unwrap_or_default())
            );
        }
        out.push_str("</ul>");
    }
    out + "</section>\n"
}

fn aggregate_row(at: usize, it: &Shown<'_>) -> Vec<Cell> {
    let row = it.row;
    let (columns, more) = (&row.columns, &row.more);
    let number = |text: String| Cell::Number(text);
    let optional = |value: Option<f64>| Cell::Number(value.map_or_else(|| "–".into(), three));
    let mut cells = vec![
        Cell::Html(format!(
            "<a href=\"#{}\">{}</a>",
            it.anchor(at),
            escape(&row.label)
        )),
        Cell::Text(it.series_name()),
        Cell::Text(load(&row.load)),
        number(whole(columns.samples as f64)),
        number(whole_ms(columns.average_us)),
        number(whole_ms(columns.median_us as f64)),
        number(whole_ms(columns.line90_us as f64)),
        number(whole_ms(columns.min_us as f64)),
        number(whole_ms(columns.max_us as f64)),
        Cell::Marked(
            format!("{:.2}%", columns.error_percent),
            columns.error_percent == 0.0,
        ),
        number(format!("{:.1}", columns.throughput)),
        number(format!("{:.1}", columns.kb_per_s)),
        number(ms(more.line95_us as f64)),
        number(ms(more.line99_us as f64)),
        number(ms(more.line999_us as f64)),
    ];
    cells.push(optional(
        row.corrected
            .as_ref()
            .map(|it| it.line99_us as f64 / 1_000.0),
    ));
    cells.push(number(whole(more.items_per_s)));
    cells.push(optional(row.cpu.server_us_per_request));
    cells.push(optional(row.cpu.server_us_per_item));
    cells.push(number(three(row.cpu.generator_us_per_request)));
    let memory = row.server_memory.as_ref();
    cells.push(number(
        memory.map_or_else(|| "–".into(), |it| bytes(it.peak_bytes as f64)),
    ));
    cells.push(Cell::Html(remarks(row)));
    cells
}

/// What a reader must know of a row.
fn remarks(row: &Row) -> String {
    let mut out = Vec::new();
    if let Some(why) = &row.ended_early {
        out.push(format!(
            "<span class=\"flag\" title=\"{}\">ended early</span>",
            escape(why)
        ));
    }
    if row.generator.bound {
        let reason = row.generator.bound_reason.as_deref().unwrap_or_default();
        out.push(format!(
            "<span class=\"flag\" title=\"{}\">generator-bound</span>",
            escape(reason)
        ));
    }
    if row.repeat > 1 {
        out.push(format!("repeat {}", row.repeat));
    }
    if row.generator.not_sent > 0 {
        out.push(format!(
            "<span class=\"flag\">{} not sent</span>",
            whole(row.generator.not_sent as f64)
        ));
    }
    match &row.verification {
        Some(it) if !it.passed() => out.push(format!(
            "<span class=\"bad\">{} missing, {} wrong</span> of {}",
            whole(it.missing as f64),
            whole(it.wrong as f64),
            whole(it.checked as f64)
        )),
        Some(it) if it.checked > 0 => {
            out.push(format!("{} read back", whole(it.checked as f64)));
        }
        _ => {}
    }
    out.join(", ")
}

/// What searches for the upper limit found.
pub(super) fn limits(files: &[ResultFile]) -> String {
    let found: Vec<_> = files.iter().flat_map(|file| &file.limits).collect();
    if found.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        "Scenario",
        "<Server",
        "<Raised",
        "Last clean",
        "First failed",
        "<What failed",
    ]);
    for it in found {
        let step = |value: Option<f64>| Cell::Number(value.map_or_else(|| "–".into(), whole));
        table.row(vec![
            Cell::Text(it.label.clone()),
            Cell::Text(it.server.clone()),
            Cell::Text(it.raised.clone()),
            step(it.last_clean),
            step(it.first_failed),
            Cell::Long(it.reason.clone()),
        ]);
    }
    format!(
        "<section id=\"limits\"><h2>Upper limits</h2>{}</section>\n",
        table.html()
    )
}

/// Ours against the ceilings of the same run.
pub(super) fn ceilings(files: &[ResultFile]) -> String {
    let rows: Vec<_> = files.iter().flat_map(|file| &file.ceilings).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        "Scenario",
        "<Durability",
        "Users",
        "Ours: elements/s",
        "CPU µs/element",
        "|<Ceiling",
        "Its elements/s",
        "Its CPU µs/element",
        "Ours ÷ ceiling",
        "Its CPU ÷ ours",
    ]);
    for row in rows {
        for (at, ceiling) in row.ceilings.iter().enumerate() {
            // Ours stands once, before its ceilings.
            let once = |text: String| if at == 0 { text } else { String::new() };
            table.row(vec![
                Cell::Text(once(row.label.clone())),
                Cell::Text(once(row.durability.clone())),
                Cell::Number(once(row.users.to_string())),
                Cell::Number(once(whole(row.ours.items_per_s))),
                Cell::Number(once(three(row.ours.cpu_us_per_item))),
                Cell::Text(ceiling.name.clone()),
                Cell::Number(whole(ceiling.measured.items_per_s)),
                Cell::Number(three(ceiling.measured.cpu_us_per_item)),
                Cell::Number(three(ceiling.ratio_rate)),
                Cell::Number(three(ceiling.ratio_cpu)),
            ]);
        }
    }
    format!(
        "<section id=\"ceilings\"><h2>Against the ceilings</h2><p class=\"note\">The same bytes in the same batches given to \
         the engine alone, and the same requests and answers to a bare HTTP server, in the same run.</p>{}</section>\n",
        table.html()
    )
}

/// Errors by kind with the first of each.
pub(super) fn errors(shown: &[Shown<'_>]) -> String {
    let mut table = Table::new(&[
        "Label",
        "<Server",
        "<Load",
        "<Kind",
        "Requests",
        "<The first",
    ]);
    let mut any = false;
    for it in shown {
        for (kind, count) in &it.row.errors {
            any = true;
            let example = it.row.error_examples.iter().find(|it| it.kind == *kind);
            table.row(vec![
                Cell::Text(it.row.label.clone()),
                Cell::Text(it.series_name()),
                Cell::Text(load(&it.row.load)),
                Cell::Text(kind.clone()),
                Cell::Number(whole(*count as f64)),
                Cell::Long(example.map(|it| it.text.clone()).unwrap_or_default()),
            ]);
        }
    }
    let text = match any {
        true => table.html(),
        false => "<p>None.</p>".to_owned(),
    };
    format!("<section id=\"errors\"><h2>Errors</h2>{text}</section>\n")
}

/// The published tables, with ours where the scenario ran with the same number of users.
pub(super) fn published(shown: &[Shown<'_>], published: &[Published]) -> String {
    let mut out = String::from(
        "<section id=\"published\"><h2>The published tables</h2><p class=\"note\">Digit for digit; to the right ours, where the same \
         scenario ran paced with as many users. Other machines, other years: compare with a server measured beside ours, not with these.</p>\n",
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
            published_table(rows, shown)
        );
    }
    out + "</section>\n"
}

/// The machines of some rows.
fn machines(rows: &[Published]) -> String {
    let mut found: Vec<&str> = Vec::new();
    for row in rows {
        if !found.contains(&row.machine) {
            found.push(row.machine);
        }
    }
    found.join(" · ")
}

fn published_table(rows: &[Published], shown: &[Shown<'_>]) -> String {
    let mut table = Table::new(&[
        "Scenario",
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
        let mut cells = vec![
            Cell::Text(label),
            Cell::Number(whole(f64::from(row.concurrency))),
        ];
        cells.extend(row.figures.iter().enumerate().map(|(at, figure)| match at {
            6 => Cell::Marked((*figure).to_owned(), row.clean()),
            _ => Cell::Number((*figure).to_owned()),
        }));
        let ours = shown.iter().find(|it| {
            row.is_of(&it.row.scenario)
                && it.row.load.users == Some(row.concurrency)
                && it.row.load.period_s.is_some()
        });
        cells.extend(match ours {
            Some(it) => [
                ms(it.row.columns.average_us),
                ms(it.row.columns.median_us as f64),
                ms(it.row.more.line99_us as f64),
                format!("{:.2}", it.row.columns.error_percent),
                format!("{:.1}", it.row.columns.throughput),
            ]
            .map(Cell::Number),
            None => [const { String::new() }; 5].map(Cell::Number),
        });
        table.row(cells);
    }
    table.html()
}
