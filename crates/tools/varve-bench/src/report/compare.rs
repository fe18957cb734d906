//! Compares two servers, or two runs of one, row by row: ratios of the medians, with minimum and
//! maximum over the repeats.

use anyhow::{Result, ensure};

use super::table::{Table, judged};
use super::text::{three, whole};
use super::{Report, grouped};
use crate::result::{ResultFile, Row};

/// Two sides and their rows.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    sides: [String; 2],
    /// The rows of each side, over the repeats.
    pairs: Vec<(String, [Vec<Row>; 2])>,
    /// Rows that only one side has.
    alone: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    least: f64,
    greatest: f64,
    count: usize,
}

impl Spread {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.filter(|it| it.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Some(Self {
            median,
            least,
            greatest,
            count: values.len(),
        })
    }

    pub(super) fn text(self) -> String {
        let [median, least, greatest] = [self.median, self.least, self.greatest].map(three);
        match self.count {
            1 => median,
            _ => format!("{median} ({least}–{greatest})"),
        }
    }
}

/// A figure: its name, its format, whether more is better (`None`: it has no ratio), and its value
/// in a row.
struct Figure {
    name: &'static str,
    text: fn(f64) -> String,
    more: Option<bool>,
    value: fn(&Row) -> Option<f64>,
}

const fn figure(
    name: &'static str,
    text: fn(f64) -> String,
    more: Option<bool>,
    value: fn(&Row) -> Option<f64>,
) -> Figure {
    Figure {
        name,
        text,
        more,
        value,
    }
}

#[rustfmt::skip]
const FIGURES: [Figure; 5] = [
    figure("elements/s", whole, Some(true), |row| Some(row.more.items_per_s)),
    figure("median ms", three, Some(false), |row| Some(row.columns.median_us / 1e3)),
    figure("99% ms", three, Some(false), |row| Some(row.more.line99_us / 1e3)),
    figure("server CPU µs/element", three, Some(false), |row| row.cpu.server_us_per_item),
    figure("error %", three, None, |row| Some(row.columns.error_percent)),
];

/// Compares the two servers in the files, or, when all rows are of one server, the two files.
///
/// # Errors
/// When there are neither two servers nor two files.
pub(super) fn comparison(files: &[ResultFile]) -> Result<Option<Comparison>> {
    let all = files.iter().enumerate();
    let all = all.flat_map(|(at, file)| file.measured().map(move |row| (at, row)));
    let all: Vec<(usize, &Row)> = all.collect();
    let servers = grouped(&all, |(_, row)| row.server.as_str());
    let servers: Vec<&str> = servers.into_iter().map(|(server, _)| server).collect();
    if servers.is_empty() || (servers.len() == 1 && files.len() == 1) {
        return Ok(None);
    }
    ensure!(
        servers.len() == 2 || (servers.len() == 1 && files.len() == 2),
        "two servers or two files of one server can be compared, not {} servers in {} files",
        servers.len(),
        files.len()
    );
    let sides = match servers[..] {
        [one, two] => [one.to_owned(), two.to_owned()],
        _ => [("A", 0), ("B", 1)].map(|(letter, at)| format!("{letter}: {}", files[at].title)),
    };
    let side = |at: usize, row: &Row| match servers.len() {
        2 => usize::from(row.server != servers[0]),
        _ => at,
    };
    let groups = grouped(all, |(_, row)| row.key()).into_iter();
    let pairs = groups.map(|(key, rows)| {
        let of = |wanted: usize| {
            let rows = rows.iter().filter(|(at, row)| side(*at, row) == wanted);
            rows.map(|(_, row)| (*row).clone()).collect::<Vec<Row>>()
        };
        (key, [of(0), of(1)])
    });
    let (pairs, lonely): (Vec<_>, Vec<_>) =
        pairs.partition(|(_, rows)| !rows.iter().any(Vec::is_empty));
    let alone = lonely.into_iter().map(|(key, rows)| {
        let of = usize::from(rows[0].is_empty());
        format!("{key}: only {}", sides[of])
    });
    Ok(Some(Comparison {
        alone: alone.collect(),
        sides,
        pairs,
    }))
}

impl Comparison {
    /// Whether any row ran on both sides.
    pub(super) fn is_useful(&self) -> bool {
        !self.pairs.is_empty()
    }

    pub(super) fn write(&self, report: &mut Report) {
        let [a, b] = &self.sides;
        let mut heads = vec!["<Row".to_owned()];
        for Figure { name, more, .. } in &FIGURES {
            heads.extend([format!("{name}, {a}"), format!("{name}, {b}")]);
            heads.extend(more.map(|_| format!("{a} ÷ {b}")));
        }
        let mut table = Table::new(heads);
        for (key, rows) in &self.pairs {
            let mut cells = vec![key.clone()];
            for figure in &FIGURES {
                cells.extend(figure.cells(rows));
            }
            table.row(cells);
        }
        let repeats = self
            .pairs
            .iter()
            .map(|(_, rows)| rows[0].len().min(rows[1].len()));
        let note = format!(
            "Medians of at most {} repeats. A ratio is the median of those of the single repeats, each of one side divided \
             by the same one of the other, with the least and the greatest. A ratio that is worse by over 2 % is bold.",
            repeats.max().unwrap_or_default()
        );
        report.table(&format!("## {a} against {b}"), &note, &table);
        let alone = self.alone.iter().map(|it| format!("- {it}"));
        report.text(alone.collect::<Vec<_>>().join("\n"));
    }
}

impl Figure {
    /// The medians of both sides, and the ratio. The n-th repeat of one side is divided by the n-th
    /// of the other, since they ran one after the other.
    fn cells(&self, rows: &[Vec<Row>; 2]) -> Vec<String> {
        let values =
            [0, 1].map(|side| -> Vec<f64> { rows[side].iter().filter_map(self.value).collect() });
        let medians = values
            .each_ref()
            .map(|values| Spread::of(values.iter().copied()));
        let none = || "–".to_owned();
        let mut cells = medians
            .map(|it| it.map_or_else(none, |it| (self.text)(it.median)))
            .to_vec();
        if let Some(more) = self.more {
            let ratios = values[0].iter().zip(&values[1]).map(|(a, b)| a / b);
            cells.push(Spread::of(ratios).map_or_else(none, |ratio| {
                let is_worse = if more {
                    ratio.median < 0.98
                } else {
                    ratio.median > 1.02
                };
                judged(ratio.text(), is_worse)
            }));
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Columns, More};

    fn row(server: &str, label: &str, rate: f64) -> Row {
        Row {
            server: server.into(),
            label: label.into(),
            columns: Columns {
                throughput: rate,
                median_us: 1e6 / rate,
                ..Columns::default()
            },
            more: More {
                items_per_s: rate,
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

    fn markdown(files: &[ResultFile]) -> String {
        let mut report = Report::default();
        let found = comparison(files).expect("comparable").expect("rows");
        found.write(&mut report);
        report.markdown()
    }

    #[test]
    fn servers_are_compared_over_their_repeats() {
        let text = markdown(&[
            file(vec![row("varve", "a", 100.0), row("other", "a", 50.0)]),
            file(vec![row("varve", "a", 300.0), row("other", "a", 60.0)]),
            file(vec![
                row("varve", "a", 200.0),
                row("other", "a", 200.0),
                row("varve", "b", 1.0),
            ]),
        ]);
        assert!(text.contains("| 200 | 60 | 2.00 (1.00–5.00) |"), "{text}");
        assert!(
            text.contains("b, paced 0 users, 0 s + 0 s: only varve"),
            "{text}"
        );
    }

    #[test]
    fn two_files_of_one_server_are_before_and_after() {
        let text = markdown(&[
            file(vec![row("v", "a", 80.0)]),
            file(vec![row("v", "a", 100.0)]),
        ]);
        assert!(
            text.contains("| 80 | 100 | **0.80** | 12.5 | 10.0 | **1.25** |"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let rows = vec![row("a", "x", 1.0), row("b", "x", 1.0), row("c", "x", 1.0)];
        assert!(comparison(&[file(rows)]).is_err());
        let one = comparison(&[file(vec![row("a", "x", 1.0)])]).expect("fine");
        assert!(one.is_none() && comparison(&[]).expect("fine").is_none());
    }
}
