//! The page around the tables.

use std::fmt::Write as _;

use super::super::profile::Profile;
use super::super::result::MetadataFile;
use super::ReportRun;
use super::{plot, table};
use crate::report::page;
use crate::report::text::{escape, whole};

const READING: &str = r#"<section id="reading"><h2>How to read this</h2><dl>
<dt>Volume</dt><dd>Instances of each type, once as the repository's own and once as reference copies, and the page of the timed searches.</dd>
<dt>N</dt><dd>Timed calls. Searches that only find the instances of a test case count in the rows of the searches, as in the published runs.</dd>
<dt>Whole ms</dt><dd>The median of times cut off to whole milliseconds, as the published figures are: what takes less than a millisecond reads 0.</dd>
<dt>Median, 90 %, 99 %, max</dt><dd>Of the true times, from the request as a value to the answer as a value: JSON both ways, HTTP and the server.</dd>
<dt>95 % of medians</dt><dd>The bootstrap interval of the median.</dd>
<dt>Published</dt><dd>Medians of the XTDB and the JanusGraph connector of Egeria 3.4, in whole milliseconds, measured by their project on its machine through a platform in between: not the same machine, and not the same path.</dd>
</dl></section>
"#;

/// A description of the run in one line.
pub(super) fn words(of: ReportRun<'_>) -> String {
    let run = of.run;
    let mut words = format!(
        "{} instances of each type, page {}: {} instances created, {} timed calls in {:.0} s",
        run.instances_per_type,
        run.max_search_results,
        whole(run.instances_created as f64),
        whole(run.rows.iter().map(|it| it.calls as f64).sum()),
        run.seconds,
    );
    if let Some(durability) = &of.file.repository.durability {
        let _ = write!(words, ", durability {durability}");
    }
    let failed: u64 = run.profiles.iter().map(|it| it.failed).sum();
    let _ = write!(words, ", {failed} failed test cases");
    let wrong = run.rows.iter().filter(|row| row.has_wrong_calls()).count();
    if wrong > 0 {
        let _ = write!(
            words,
            ", {wrong} rows without the calls that they must have"
        );
    }
    if !run.booking {
        words += ", set-up searches not counted";
    }
    if !run.complete {
        words += "; not the whole suite";
    }
    words + "."
}

pub(super) fn html(files: &[MetadataFile], runs: &[ReportRun<'_>]) -> String {
    let title = files.first().map_or("Open metadata suite", |it| &it.title);
    let first = files.first().map(|file| &file.environment);
    let mut out = page::heading(title, first, "");
    for run in runs {
        let volume = &run.run.volume;
        let mut content = format!("<p>{}</p>", escape(&words(*run)));
        content += &table::published(*run).html();
        content += &table::missed(*run).map_or_else(String::new, |table| table.html());
        let _ = writeln!(
            content,
            "<details><summary>Profiles<span>times, CPU, memory</span></summary>{}</details>",
            table::profiles(*run).html()
        );
        content += &table::failures(*run).map_or_else(String::new, |table| table.html());
        let name = format!("{} {volume}", run.file.repository.name);
        out += &page::section(&format!("volume-{volume}"), &name, &content);
    }
    if let Some(growth) = table::growth(runs) {
        out += &page::section("growth", "By volume", &growth.html());
    }
    let plot = plot::chart(runs);
    if !plot.is_empty() {
        out += &page::section("medians", "All medians", &plot.html());
    }
    out += READING;
    out += &environment(files);
    page::document(title, &out)
}

/// Profile 999: the suite's environment, with a block for each file.
fn environment(files: &[MetadataFile]) -> String {
    let mut out = String::new();
    for file in files {
        let repository = &file.repository;
        let facts = [
            ("Repository", &repository.url),
            ("Server name", &repository.server_name),
            ("User", &repository.user),
            ("Metadata collection", &repository.metadata_collection_id),
        ];
        let facts = facts.map(|(name, text)| (name.to_owned(), escape(text)));
        out += &page::environment(facts.to_vec(), &file.environment);
    }
    page::section("environment", Profile::Environment.name(), &out)
}
