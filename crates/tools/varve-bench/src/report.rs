//! Reports of result files: Markdown, and one self-contained HTML page of it with charts.
//!
//! A report is text with charts in between. The tables are Markdown; `pulldown-cmark` makes HTML of
//! them, and `plotters` draws the charts.

mod chart;
mod compare;
mod limits;
mod load;
mod page;
mod published;
mod suite;
mod table;
mod text;

use anyhow::{Context as _, Result, ensure};

use crate::result::ResultFile;
use chart::Chart;
use compare::Comparison;
use table::Table;

pub(crate) use load::summary;
pub(crate) use published::{Published, rows as published_rows};

/// A report: its parts from top to bottom.
#[derive(Debug, Default)]
pub(crate) struct Report {
    title: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    /// Markdown, one or more blocks.
    Text(String),
    /// A chart as SVG; only on the page.
    Chart(String),
}

impl Report {
    fn text(&mut self, markdown: impl Into<String>) {
        self.parts.push(Part::Text(markdown.into()));
    }

    /// Adds a table with its title; nothing if it has no rows.
    fn table(&mut self, title: &str, note: &str, table: &Table) {
        if !table.is_empty() {
            self.text(title);
            self.text(note);
            self.text(table.markdown());
        }
    }

    /// Adds a chart, if it has points.
    fn chart(&mut self, chart: &Chart) -> Result<()> {
        self.parts.extend(chart.svg()?.map(Part::Chart));
        Ok(())
    }

    /// The report without its charts.
    pub(crate) fn markdown(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.trim_end()),
            Part::Chart(_) => None,
        });
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        texts.join("\n\n") + "\n"
    }

    pub(crate) fn html(&self) -> String {
        page::html(self)
    }
}

/// Values by their keys, in the order in which the keys first appear.
fn grouped<K: PartialEq, V>(
    values: impl IntoIterator<Item = V>,
    key: impl Fn(&V) -> K,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for value in values {
        let key = key(&value);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The report of the files, which are of one suite.
///
/// # Errors
/// When they are of different suites.
pub(crate) fn of(files: &[ResultFile]) -> Result<Report> {
    let mut suites = files.iter().map(|file| file.suite.as_str());
    let suite = suites.next().unwrap_or_default();
    ensure!(
        suites.all(|other| other == suite),
        "files of different suites: make a report of each"
    );
    let mut report = Report {
        title: page::title(files),
        parts: Vec::new(),
    };
    page::heading(&mut report, files);
    if let Ok(Some(found)) = compare::comparison(files).map(|it| it.filter(Comparison::is_useful)) {
        found.write(&mut report);
    }
    match suite {
        "metadata" => suite::write(&mut report, files)?,
        "limits" => limits::write(&mut report, files),
        _ => load::write(&mut report, files)?,
    }
    page::environment(&mut report, files);
    Ok(report)
}

/// The table of the rows of a file as Markdown.
pub(crate) fn table_of(file: &ResultFile) -> String {
    let mut report = Report::default();
    match file.suite.as_str() {
        "metadata" => suite::tables(&mut report, std::slice::from_ref(file)),
        "limits" => limits::write(&mut report, std::slice::from_ref(file)),
        _ => load::rows(&mut report, std::slice::from_ref(file)),
    }
    report.markdown()
}

/// The ratios between two servers of the files, or between two files of one server, as Markdown.
///
/// # Errors
/// When there is nothing to compare.
pub(crate) fn compare(files: &[ResultFile]) -> Result<String> {
    let found = compare::comparison(files)?.filter(Comparison::is_useful);
    let found = found.context("no row ran with the same load on both sides")?;
    let mut report = Report::default();
    found.write(&mut report);
    Ok(report.markdown())
}

#[cfg(test)]
mod tests;
