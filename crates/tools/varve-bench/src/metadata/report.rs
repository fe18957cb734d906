//! The report, as one HTML page and as Markdown: the published table with our column beside it, the
//! distributions, the rows that miss the limits, the growth of medians with the volume, the point
//! plot, and the failed test cases.

mod page;
mod plot;
mod table;

use super::result::{MetadataFile, VolumeRun};

/// A run with the file that it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportRun<'a> {
    file: &'a MetadataFile,
    run: &'a VolumeRun,
}

/// The runs in the order of their volumes.
fn by_volume(files: &[MetadataFile]) -> Vec<ReportRun<'_>> {
    let runs = files
        .iter()
        .flat_map(|file| file.runs.iter().map(move |run| ReportRun { file, run }));
    let mut runs: Vec<ReportRun<'_>> = runs.collect();
    runs.sort_by_key(|it| (it.run.instances_per_type, it.run.max_search_results));
    runs
}

/// The page.
pub(super) fn html(files: &[MetadataFile]) -> String {
    page::html(files, &by_volume(files))
}

/// The tables for documents.
pub(super) fn markdown(files: &[MetadataFile]) -> String {
    let runs = by_volume(files);
    let mut out = String::new();
    for run in &runs {
        out += &format!(
            "### {} {}\n\n{}\n\n",
            run.file.title,
            run.run.volume,
            page::words(*run)
        );
        out += &table::published(*run).markdown();
        out += &table::missed(*run).map_or_else(String::new, |table| table.markdown());
        out += &table::profiles(*run).markdown();
        out += &table::failures(*run).map_or_else(String::new, |table| table.markdown());
    }
    out += &table::growth(&runs).map_or_else(String::new, |table| table.markdown());
    out
}

#[cfg(test)]
mod tests;
