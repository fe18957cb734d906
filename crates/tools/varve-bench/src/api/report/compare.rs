//! Compares two servers, or two runs of one, row by row: ratios of the medians, with minimum and
//! maximum over the repeats.

use std::fmt::Write as _;

use anyhow::{Result, ensure};

use super::{ReportRow, measured};
use crate::api::result::{ResultFile, Row};
use crate::api::table::load;
use crate::report::page::section;
use crate::report::table::{Cell, Table};
use crate::report::text::{escape, three, whole};

/// Two sides and their rows.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    /// Names of the sides.
    sides: [String; 2],
    rows: Vec<Pair>,
    /// Rows that only one side has.
    alone: Vec<String>,
}

/// A scenario under a load, on both sides.
#[derive(Debug, Clone)]
struct Pair {
    label: String,
    load: String,
    figures: Vec<Figure>,
}

/// A figure of a row on both sides, over the repeats.
#[derive(Debug, Clone)]
struct Figure {
    name: &'static str,
    /// Whether a greater value is better.
    more: bool,
    sides: [Spread; 2],
    ratio: Spread,
}

/// Median, minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    median: f64,
    least: f64,
    greatest: f64,
    count: usize,
}

impl Spread {
    /// `None` when there are no values.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.filter(|it| it.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ if values.is_empty() => return None,
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Some(Self {
            median,
            least: values[0],
            greatest: values[values.len() - 1],
            count: values.len(),
        })
    }

    fn text(self, number: fn(f64) -> String) -> String {
        match self.count {
            1 => number(self.median),
            _ => format!(
                "{} ({}–{})",
                number(self.median),
                number(self.least),
                number(self.greatest)
            ),
        }
    }
}

/// A figure's name, whether more is better, and its value in a row.
type ComparedFigure = (&'static str, bool, fn(&Row) -> Option<f64>);

const FIGURES: [ComparedFigure; 7] = [
    ("requests/s", true, |row| Some(row.columns.throughput)),
    ("elements/s", true, |row| Some(row.more.items_per_s)),
    ("average ms", false, |row| {
        Some(row.columns.average_us / 1_000.0)
    }),
    ("median ms", false, |row| {
        Some(row.columns.median_us as f64 / 1_000.0)
    }),
    ("99% ms", false, |row| {
        Some(row.more.line99_us as f64 / 1_000.0)
    }),
    ("server CPU µs/element", false, |row| {
        row.cpu.server_us_per_item
    }),
    ("error %", false, |row| Some(row.columns.error_percent)),
];

/// The figures of the compact table, and whether their ratio is shown.
const COMPACT: [(&str, bool); 5] = [
    ("elements/s", true),
    ("median ms", false),
    ("99% ms", true),
    ("server CPU µs/element", true),
    ("error %", false),
];

/// Compares the two servers in the files, or, when all rows are of one server, the two files.
///
/// # Errors
/// When there are neither two servers nor two files.
pub(crate) fn comparison(files: &[ResultFile]) -> Result<Option<Comparison>> {
    let measured_rows = measured(files);
    let mut servers: Vec<&str> = Vec::new();
    for it in &measured_rows {
        if !servers.contains(&it.row.server.as_str()) {
            servers.push(&it.row.server);
        }
    }
    if measured_rows.is_empty() {
        return Ok(None);
    }
    if servers.len() == 1 && files.len() == 1 {
        return Ok(None);
    }
    ensure!(
        servers.len() == 2 || (servers.len() == 1 && files.len() == 2),
        "two servers or two files of one server can be compared, not {} servers in {} files",
        servers.len(),
        files.len()
    );
    let by_server = servers.len() == 2;
    let sides = match by_server {
        true => [servers[0].to_owned(), servers[1].to_owned()],
        false => [0, 1].map(|at| side_of_file(files, at)),
    };
    let side = |it: &ReportRow<'_>| match by_server {
        true => usize::from(it.row.server != sides[0]),
        false => it.file,
    };
    let mut keys: Vec<(String, String)> = Vec::new();
    for it in &measured_rows {
        let key = (it.row.label.clone(), load(&it.row.load));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let (mut rows, mut alone) = (Vec::new(), Vec::new());
    for (label, words) in keys {
        let of = |wanted: usize| -> Vec<&Row> {
            measured_rows
                .iter()
                .filter(|it| {
                    side(it) == wanted && it.row.label == label && load(&it.row.load) == words
                })
                .map(|it| it.row)
                .collect()
        };
        let both = [of(0), of(1)];
        match both.iter().position(Vec::is_empty) {
            Some(missing) => alone.push(format!("{label}, {words}: only {}", sides[1 - missing])),
            None => rows.push(Pair {
                figures: FIGURES
                    .iter()
                    .filter_map(|kind| figure(kind, &both))
                    .collect(),
                label,
                load: words,
            }),
        }
    }
    Ok(Some(Comparison { sides, rows, alone }))
}

/// The name of a file's side, which differs from that of the other side.
fn side_of_file(files: &[ResultFile], at: usize) -> String {
    let letter = ["A", "B"][at];
    match files[at].title.as_str() {
        "" => letter.to_owned(),
        title => format!("{letter}: {title}"),
    }
}

/// The n-th repeat of one side is divided by the n-th of the other, since they ran one after the
/// other.
fn figure((name, more, value): &ComparedFigure, both: &[Vec<&Row>; 2]) -> Option<Figure> {
    let values =
        [0, 1].map(|side| -> Vec<f64> { both[side].iter().filter_map(|row| value(row)).collect() });
    let ratios = values[0].iter().zip(&values[1]).map(|(a, b)| a / b);
    Some(Figure {
        name,
        more: *more,
        ratio: Spread::of(ratios).unwrap_or(Spread {
            median: f64::NAN,
            least: f64::NAN,
            greatest: f64::NAN,
            count: 1,
        }),
        sides: [
            Spread::of(values[0].iter().copied())?,
            Spread::of(values[1].iter().copied())?,
        ],
    })
}

impl Comparison {
    /// Whether any row ran on both sides.
    pub(crate) fn is_useful(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Every figure with its spread, one in each line.
    fn spreads(&self) -> Table {
        let [a, b] = &self.sides;
        let ratio = format!("|{a} ÷ {b}");
        let heads = ["<Scenario", "<Load", "<Figure", a, b, &ratio];
        let mut table = Table::new(heads);
        for pair in &self.rows {
            for (at, figure) in pair.figures.iter().enumerate() {
                let number = number_of(figure);
                let once = |text: &str| Cell::from(if at == 0 { text } else { "" });
                table.row([
                    once(&pair.label),
                    once(&pair.load),
                    figure.name.into(),
                    figure.sides[0].text(number).into(),
                    figure.sides[1].text(number).into(),
                    figure.ratio_cell(),
                ]);
            }
        }
        table
    }

    /// The most important figures, a line for each row.
    fn table(&self) -> Table {
        let [a, b] = &self.sides;
        let mut heads = vec!["<Scenario".to_owned(), "<Load".to_owned()];
        for (name, with_ratio) in COMPACT {
            heads.push(format!("|{name}, {a}"));
            heads.push(format!("{name}, {b}"));
            if with_ratio {
                heads.push(format!("{a} ÷ {b}"));
            }
        }
        let mut table = Table::new(heads);
        for pair in &self.rows {
            let mut cells: Vec<Cell> = vec![pair.label.as_str().into(), pair.load.as_str().into()];
            for (name, with_ratio) in COMPACT {
                match pair.figures.iter().find(|it| it.name == name) {
                    Some(figure) => {
                        let number = number_of(figure);
                        cells.extend(figure.sides.map(|it| Cell::from(number(it.median))));
                        cells.extend(with_ratio.then(|| figure.ratio_cell()));
                    }
                    None => {
                        let missing = if with_ratio { 3 } else { 2 };
                        cells.extend((0..missing).map(|_| Cell::from("–")));
                    }
                }
            }
            table.row(cells);
        }
        table
    }

    fn repeats(&self) -> usize {
        let counts = self
            .rows
            .iter()
            .flat_map(|pair| &pair.figures)
            .map(|figure| figure.ratio.count);
        counts.max().unwrap_or(0)
    }

    /// The comparison as a section of the page.
    pub(crate) fn html(&self) -> String {
        let mut out = self.table().titled("", self.note()).html();
        let spreads = self.spreads().html();
        let _ = write!(
            out,
            "<details><summary>Every figure with its spread</summary>{spreads}</details>"
        );
        for it in &self.alone {
            let _ = write!(out, "<p class=\"note\">{}</p>", escape(it));
        }
        let [a, b] = &self.sides;
        section("comparison", &format!("{a} against {b}"), &out)
    }

    fn note(&self) -> String {
        format!(
            "Medians of at most {} repeats. A ratio is the median of those of the single repeats, each of one side divided \
             by the same one of the other, with the least and the greatest.",
            self.repeats()
        )
    }

    /// The comparison as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("\n{}{}\n", self.table().markdown(), self.note());
        for it in &self.alone {
            let _ = writeln!(out, "\n{it}.");
        }
        out
    }
}

impl Figure {
    /// The ratio, marked as better or worse; a ratio within 2 % of 1 is not marked.
    fn ratio_cell(&self) -> Cell {
        match self.ratio.median {
            it if !it.is_finite() => "–".into(),
            it if (0.98..=1.02).contains(&it) => self.ratio.text(three).into(),
            it => Cell::Marked(self.ratio.text(three), (it > 1.0) == self.more),
        }
    }
}

/// Rates without decimals, times with three digits.
fn number_of(figure: &Figure) -> fn(f64) -> String {
    match figure.more {
        true => whole,
        false => three,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::result::{Columns, More};

    fn row(server: &str, label: &str, throughput: f64) -> Row {
        Row {
            server: server.into(),
            label: label.into(),
            columns: Columns {
                throughput,
                average_us: 1e6 / throughput,
                ..Columns::default()
            },
            more: More {
                items_per_s: throughput,
                ..More::default()
            },
            ..Row::default()
        }
    }

    fn file(rows: Vec<Row>) -> ResultFile {
        ResultFile {
            rows,
            ..ResultFile::default()
        }
    }

    #[test]
    fn servers_are_compared_over_their_repeats() {
        let files = [
            file(vec![row("varve", "a", 100.0), row("other", "a", 50.0)]),
            file(vec![row("varve", "a", 300.0), row("other", "a", 60.0)]),
            file(vec![
                row("varve", "a", 200.0),
                row("other", "a", 200.0),
                row("varve", "b", 1.0),
            ]),
        ];
        let found = comparison(&files).expect("comparable").expect("rows");
        assert_eq!(found.rows.len(), 1);
        let figure = &found.rows[0].figures[0];
        assert_eq!(figure.sides[0].median, 200.0);
        assert_eq!(
            (
                figure.ratio.least,
                figure.ratio.median,
                figure.ratio.greatest
            ),
            (1.0, 2.0, 5.0)
        );
        let text = found.markdown();
        assert!(text.contains("| 200 | 60 | 2.00 (1.00–5.00) |"), "{text}");
        let page = found.html();
        assert!(
            page.contains("<td>200 (100–300)</td><td>60 (50–200)</td>"),
            "{page}"
        );
        assert!(page.contains("only varve"));
    }

    #[test]
    fn two_files_of_one_server_are_before_and_after() {
        let files = [
            file(vec![row("v", "a", 100.0)]),
            file(vec![row("v", "a", 80.0)]),
        ];
        let found = comparison(&files).expect("comparable").expect("rows");
        assert_eq!(found.sides, ["A", "B"]);
        assert_eq!(found.rows[0].figures[0].ratio.median, 1.25);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let rows = vec![row("a", "x", 1.0), row("b", "x", 1.0), row("c", "x", 1.0)];
        assert!(comparison(&[file(rows)]).is_err());
        assert!(
            comparison(&[file(vec![row("a", "x", 1.0)])])
                .expect("fine")
                .is_none()
        );
        assert!(comparison(&[]).expect("fine").is_none());
    }

    #[test]
    fn a_spread_is_median_and_ends() {
        assert_eq!(Spread::of([].into_iter()), None);
        let even = Spread::of([4.0, 1.0, 3.0, 2.0].into_iter()).expect("values");
        assert_eq!((even.least, even.median, even.greatest), (1.0, 2.5, 4.0));
    }
}
