//! The feature files of openCypher's TCK: scenarios with their texts, outlines expanded.

use std::fs;
use std::path::{Path, PathBuf};

/// An error that a scenario expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Such as `SyntaxError`.
    pub(crate) kind: String,
    /// Such as `compile time`.
    pub(crate) phase: String,
    /// Such as `UndefinedVariable`.
    pub(crate) detail: String,
}

/// A scenario after its outline is expanded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// The texts that fill the graph, and those that check it.
    pub(crate) others: Vec<String>,
    /// The texts under test; mostly one.
    pub(crate) queries: Vec<String>,
    /// The error of the last text under test.
    pub(crate) expected: Option<Expected>,
}

fn feature_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of features") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            feature_files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "feature")
        {
            found.push(path);
        }
    }
}

/// The scenarios in the folder `VARVE_TEST_CYPHER`.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let folder = std::env::var("VARVE_TEST_CYPHER").expect("VARVE_TEST_CYPHER");
    let mut files = Vec::new();
    feature_files(Path::new(&folder), &mut files);
    files.sort();
    files
        .iter()
        .flat_map(|file| feature(&fs::read_to_string(file).expect("UTF-8"), file))
        .collect()
}

fn feature(text: &str, file: &Path) -> Vec<Scenario> {
    let file = file.file_stem().expect("a name").to_string_lossy();
    let mut found = Vec::new();
    let mut outline: Option<(Scenario, Vec<Vec<String>>)> = None;
    let mut in_examples = false;
    let mut lines = text.lines();
    let mut step = "";
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some((_, name)) = line.split_once(':')
            && line.starts_with("Scenario")
        {
            found.extend(outline.take().into_iter().flat_map(expanded));
            in_examples = false;
            let name = format!("{file} {}", name.trim());
            let scenario = Scenario {
                name,
                ..Scenario::default()
            };
            outline = Some((scenario, Vec::new()));
            continue;
        }
        let Some((scenario, examples)) = &mut outline else {
            continue;
        };
        if line == "\"\"\"" {
            let body = lines.by_ref().take_while(|line| line.trim() != "\"\"\"");
            let body: Vec<&str> = body.collect();
            if step.ends_with("executing query:") {
                scenario.queries.push(body.join("\n"));
            } else {
                scenario.others.push(body.join("\n"));
            }
        } else if line.starts_with("Examples") {
            in_examples = true;
        } else if in_examples && line.starts_with('|') {
            examples.push(cells(line));
        } else if let Some(expected) = expected(line) {
            scenario.expected = Some(expected);
        } else if !line.is_empty() && !line.starts_with(['#', '|', '@']) {
            step = line;
        }
    }
    found.extend(outline.take().into_iter().flat_map(expanded));
    found
}

/// `Then a SyntaxError should be raised at compile time: UndefinedVariable`.
fn expected(line: &str) -> Option<Expected> {
    let (kind, rest) = line.split_once(" should be raised at ")?;
    let (phase, detail) = rest.split_once(": ")?;
    Some(Expected {
        kind: kind.rsplit(' ').next()?.to_owned(),
        phase: phase.to_owned(),
        detail: detail.to_owned(),
    })
}

fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let inner = line.trim_matches('|');
    let cell = |cell: &str| cell.trim().replace('\u{1}', "|").replace("\\\\", "\\");
    inner.split('|').map(cell).collect()
}

fn expanded((scenario, examples): (Scenario, Vec<Vec<String>>)) -> Vec<Scenario> {
    let Some((names, rows)) = examples.split_first() else {
        return vec![scenario];
    };
    let rows = rows.iter().filter(|row| *row != names);
    rows.map(|row| {
        let fill = |text: &String| {
            names
                .iter()
                .zip(row)
                .fold(text.clone(), |text, (name, value)| {
                    text.replace(&format!("<{name}>"), value)
                })
        };
        Scenario {
            name: format!("{} ({})", scenario.name, row.join(", ")),
            others: scenario.others.iter().map(fill).collect(),
            queries: scenario.queries.iter().map(fill).collect(),
            expected: scenario.expected.clone(),
        }
    })
    .collect()
}
