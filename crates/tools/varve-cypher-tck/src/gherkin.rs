//! Feature files: scenarios as lists of steps, with backgrounds and with outlines expanded.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A table: its header and its rows, as texts of cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows, each with one cell a column.
    pub rows: Vec<Vec<String>>,
}

/// An error that a scenario expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedError {
    /// Such as `SyntaxError`.
    pub kind: String,
    /// `compile time`, `runtime` or `any time`.
    pub phase: String,
    /// Such as `UndefinedVariable`; `*` stands for any.
    pub detail: String,
}

/// How the rows of a result are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order {
    /// Whether the order of rows counts.
    pub rows: bool,
    /// Whether the order of elements in lists does not count.
    pub ignores_lists: bool,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The graph has no elements. Also "any graph", where the graph does not matter.
    EmptyGraph,
    /// A graph by its name, such as `binary-tree-1`.
    NamedGraph(String),
    /// A query that prepares the graph.
    Executed(String),
    /// Parameters of the query: names and literals.
    Parameters(Vec<(String, String)>),
    /// A procedure with its signature, and a table of its arguments and results.
    Procedure(String, Table),
    /// The query under test.
    Query(String),
    /// A query that checks what the query under test has done.
    Control(String),
    /// The expected result.
    Result(Order, Table),
    /// The expected result is empty.
    EmptyResult,
    /// The expected error.
    Error(ExpectedError),
    /// The expected changes of the graph: names such as `+nodes`, and counts.
    SideEffects(Vec<(String, u64)>),
    /// A step that this reader does not know.
    Unknown(String),
}

/// A scenario after its outline is expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The path of its file below the folder of features, without its extension.
    pub feature: String,
    /// Its name, and the number of its example from 1 on.
    pub name: String,
    /// Its steps, with those of the background.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// The feature and the name.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}: {}", self.feature, self.name)
    }
}

/// A step as it is written.
#[derive(Debug, Clone, Default)]
struct RawStep {
    text: String,
    body: Option<String>,
    table: Vec<Vec<String>>,
}

#[derive(Debug, Default)]
struct RawScenario {
    name: String,
    steps: Vec<RawStep>,
    examples: Vec<Vec<Vec<String>>>,
}

/// Where a line belongs.
enum Part {
    Nothing,
    Background,
    Scenario,
    Examples,
}

/// The scenarios of all feature files in a folder, in the order of their paths.
///
/// # Errors
/// When a file cannot be read.
pub fn scenarios(folder: &Path) -> io::Result<Vec<Scenario>> {
    let mut files = Vec::new();
    feature_files(folder, &mut files)?;
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let name = name.with_extension("").to_string_lossy().into_owned();
        found.extend(feature(&fs::read_to_string(&file)?, &name));
    }
    Ok(found)
}

fn feature_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            feature_files(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "feature") {
            found.push(path);
        }
    }
    Ok(())
}

/// The scenarios of a feature file.
#[must_use]
pub fn feature(text: &str, name: &str) -> Vec<Scenario> {
    let mut background: Vec<RawStep> = Vec::new();
    let mut scenarios: Vec<RawScenario> = Vec::new();
    let mut part = Part::Nothing;
    let mut lines = text.lines();
    while let Some(whole) = lines.next() {
        let line = whole.trim();
        if line.is_empty() || line.starts_with(['#', '@']) {
            continue;
        }
        if let Some(title) = titled(line, &["Scenario Outline:", "Scenario:", "Example:"]) {
            part = Part::Scenario;
            scenarios.push(RawScenario {
                name: title.to_owned(),
                ..RawScenario::default()
            });
            continue;
        }
        if line.starts_with("Background:") {
            part = Part::Background;
            continue;
        }
        let last = scenarios.last_mut();
        let steps = match (&part, last) {
            (Part::Nothing, _) => continue,
            (Part::Background, _) => &mut background,
            (Part::Scenario, Some(last)) => {
                if line.starts_with("Examples:") {
                    last.examples.push(Vec::new());
                    part = Part::Examples;
                    continue;
                }
                &mut last.steps
            }
            (Part::Examples, Some(last)) => {
                match (line.starts_with('|'), last.examples.last_mut()) {
                    (true, Some(table)) => table.push(cells(line)),
                    _ => last.examples.push(Vec::new()),
                }
                continue;
            }
            (_, None) => continue,
        };
        if line == "\"\"\"" {
            let indent = whole.len() - whole.trim_start().len();
            let body = lines.by_ref().take_while(|line| line.trim() != "\"\"\"");
            let body: Vec<&str> = body.map(|line| dedented(line, indent)).collect();
            if let Some(step) = steps.last_mut() {
                step.body = Some(body.join("\n"));
            }
        } else if line.starts_with('|') {
            if let Some(step) = steps.last_mut() {
                step.table.push(cells(line));
            }
        } else if let Some(text) = titled(line, &["Given ", "When ", "Then ", "And ", "But "]) {
            steps.push(RawStep {
                text: text.to_owned(),
                ..RawStep::default()
            });
        }
    }
    let expand = |raw: &RawScenario| expanded(raw, &background, name);
    scenarios.iter().flat_map(expand).collect()
}

fn titled<'t>(line: &'t str, titles: &[&str]) -> Option<&'t str> {
    let rest = titles.iter().find_map(|title| line.strip_prefix(title))?;
    Some(rest.trim())
}

fn dedented(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indent)..]
}

/// The cells of a row. A backslash escapes a bar, a backslash and `n`.
fn cells(line: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut characters = line.trim().chars().skip(1).peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('|', _) => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            ('\\', Some('|' | '\\')) => cell.extend(characters.next()),
            ('\\', Some('n')) => {
                characters.next();
                cell.push('\n');
            }
            (other, _) => cell.push(other),
        }
    }
    cells
}

fn expanded(raw: &RawScenario, background: &[RawStep], feature: &str) -> Vec<Scenario> {
    let steps: Vec<&RawStep> = background.iter().chain(&raw.steps).collect();
    let made = |name: String, fill: &dyn Fn(&str) -> String| Scenario {
        feature: feature.to_owned(),
        name,
        steps: steps.iter().map(|step| step_of(step, fill)).collect(),
    };
    if raw.examples.iter().all(Vec::is_empty) {
        return vec![made(raw.name.clone(), &str::to_owned)];
    }
    let mut found = Vec::new();
    for table in &raw.examples {
        let Some((names, rows)) = table.split_first() else {
            continue;
        };
        for row in rows {
            let fill = |text: &str| {
                let pairs = names.iter().zip(row);
                pairs.fold(text.to_owned(), |text, (name, value)| {
                    text.replace(&format!("<{name}>"), value)
                })
            };
            let number = found.len() + 1;
            found.push(made(format!("{} #{number}", fill(&raw.name)), &fill));
        }
    }
    found
}

fn step_of(raw: &RawStep, fill: &dyn Fn(&str) -> String) -> Step {
    let text = fill(&raw.text);
    let text = text.trim_end_matches(':').trim();
    let body = || fill(raw.body.as_deref().unwrap_or_default());
    let filled = |row: &Vec<String>| row.iter().map(|cell| fill(cell)).collect();
    let rows: Vec<Vec<String>> = raw.table.iter().map(filled).collect();
    let table = || match rows.split_first() {
        Some((header, rows)) => Table {
            header: header.clone(),
            rows: rows.to_vec(),
        },
        None => Table::default(),
    };
    let order = |rows, ignores_lists| Order {
        rows,
        ignores_lists,
    };
    match text {
        "an empty graph" | "any graph" => Step::EmptyGraph,
        "having executed" => Step::Executed(body()),
        "parameters are" => Step::Parameters(pairs(&rows)),
        "executing query" => Step::Query(body()),
        "executing control query" => Step::Control(body()),
        "the result should be, in any order" => Step::Result(order(false, false), table()),
        "the result should be, in order" => Step::Result(order(true, false), table()),
        "the result should be (ignoring element order for lists)" => {
            Step::Result(order(false, true), table())
        }
        "the result should be, in order (ignoring element order for lists)" => {
            Step::Result(order(true, true), table())
        }
        "the result should be empty" => Step::EmptyResult,
        "no side effects" => Step::SideEffects(Vec::new()),
        "the side effects should be" => side_effects(&rows, text),
        _ => other_step(text, table()),
    }
}

fn pairs(rows: &[Vec<String>]) -> Vec<(String, String)> {
    let pair = |row: &Vec<String>| Some((row.first()?.clone(), row.get(1)?.clone()));
    rows.iter().filter_map(pair).collect()
}

fn side_effects(rows: &[Vec<String>], text: &str) -> Step {
    let counted = pairs(rows).into_iter().map(|(name, count)| {
        let count = count.parse().ok()?;
        Some((name, count))
    });
    match counted.collect() {
        Some(effects) => Step::SideEffects(effects),
        None => Step::Unknown(text.to_owned()),
    }
}

fn other_step(text: &str, table: Table) -> Step {
    if let Some(signature) = text.strip_prefix("there exists a procedure ") {
        return Step::Procedure(signature.trim().to_owned(), table);
    }
    if let Some(name) = text.strip_prefix("the ")
        && let Some(name) = name.strip_suffix(" graph")
    {
        return Step::NamedGraph(name.to_owned());
    }
    let error = text.split_once(" should be raised at ");
    let parts = error.and_then(|(kind, rest)| Some((kind, rest.split_once(':')?)));
    match parts {
        Some((kind, (phase, detail))) => Step::Error(ExpectedError {
            kind: kind.rsplit(' ').next().unwrap_or(kind).to_owned(),
            phase: phase.to_owned(),
            detail: detail.trim().to_owned(),
        }),
        None => Step::Unknown(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURE: &str = r#"
Feature: Some
  Background:
    Given an empty graph

  Scenario: [1] One
    When executing query:
      """
      RETURN 1
        AS x
      """
    Then the result should be, in order:
      | x      |
      | '\|\\' |
    And no side effects

  Scenario Outline: [2] Two <a>
    When executing query:
      """
      RETURN <a>
      """
    Then a SyntaxError should be raised at compile time: <b>

    Examples:
      | a | b |
      | 1 | X |
      | 2 | Y |
"#;

    #[test]
    fn a_feature_is_read_with_its_background_and_its_examples() {
        let found = feature(FEATURE, "some");
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["[1] One", "[2] Two 1 #1", "[2] Two 2 #2"]);
        let order = Order {
            rows: true,
            ignores_lists: false,
        };
        let table = Table {
            header: vec!["x".to_owned()],
            rows: vec![vec!["'|\\'".to_owned()]],
        };
        let steps = [
            Step::EmptyGraph,
            Step::Query("RETURN 1\n  AS x".to_owned()),
            Step::Result(order, table),
            Step::SideEffects(Vec::new()),
        ];
        assert_eq!(found[0].steps, steps);
        assert!(
            matches!(&found[2].steps[2], Step::Error(error) if error.detail == "Y"),
            "{:?}",
            found[2].steps
        );
    }
}
