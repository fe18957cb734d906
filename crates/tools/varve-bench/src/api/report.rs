//! The report of one or more result files: an HTML page, and Markdown for documents.

mod compare;
mod overview;
mod page;
pub(crate) mod published;
mod rows;
mod tables;

use anyhow::{Context, Result};

use super::result::{ResultFile, Row, Server};
use crate::report::page::document;
use compare::{Comparison, comparison};

/// A measured row, with its file and its server.
#[derive(Debug, Clone, Copy)]
struct ReportRow<'a> {
    file: usize,
    server: Option<&'a Server>,
    row: &'a Row,
}

impl ReportRow<'_> {
    /// The name in charts: the server, and the durability if it is known.
    fn series_name(&self) -> String {
        match self.durability() {
            Some(durability) => format!("{} ({durability})", self.row.server),
            None => self.row.server.clone(),
        }
    }

    fn durability(&self) -> Option<&str> {
        let of_server = self.server.and_then(|server| server.durability.as_deref());
        self.row.durability.as_deref().or(of_server)
    }

    /// The id of its details on the page.
    fn anchor(&self, at: usize) -> String {
        format!("row-{}", at + 1)
    }
}

/// Every row that ran, in the order of the files.
fn measured(files: &[ResultFile]) -> Vec<ReportRow<'_>> {
    files
        .iter()
        .enumerate()
        .flat_map(|(at, file)| {
            file.measured().map(move |row| ReportRow {
                file: at,
                server: file.server(&row.server),
                row,
            })
        })
        .collect()
}

/// The ratios between two servers of the files, or between two files of one server, as Markdown.
///
/// # Errors
/// When there is nothing to compare.
pub fn compare(files: &[ResultFile]) -> Result<String> {
    comparison(files)?
        .filter(Comparison::is_useful)
        .map(|it| it.markdown())
        .context("no scenario ran with the same load on both sides")
}

/// The whole page.
#[must_use]
pub fn html(files: &[ResultFile]) -> String {
    let measured_rows = measured(files);
    let published = published::rows();
    let mut body = String::new();
    body.push_str(&page::heading(files));
    body.push_str(&tables::summary_section(&measured_rows, &published));
    if let Ok(Some(found)) = comparison(files).map(|it| it.filter(Comparison::is_useful)) {
        body.push_str(&found.html());
    }
    body.push_str(&tables::aggregate(files, &measured_rows));
    body.push_str(&overview::charts(&measured_rows, &published));
    body.push_str(&tables::limits(files));
    body.push_str(&tables::errors(&measured_rows));
    body.push_str(&rows::details(&measured_rows));
    body.push_str(&tables::published(&measured_rows, &published));
    body.push_str(&page::environment(files));
    body.push_str(page::READING);
    document(&page::title(files), &body)
}

/// The tables of the page as Markdown, without charts.
#[must_use]
pub fn markdown(files: &[ResultFile]) -> String {
    let mut out = String::new();
    for file in files {
        out.push_str(&page::markdown_heading(file));
        out.push_str(&super::table::markdown(file));
        out.push('\n');
    }
    let published = published::rows();
    out.push_str(&tables::summary(&measured(files), &published).markdown());
    if let Ok(Some(found)) = comparison(files).map(|it| it.filter(Comparison::is_useful)) {
        out.push_str(&found.markdown());
    }
    out
}

#[cfg(test)]
mod tests;
