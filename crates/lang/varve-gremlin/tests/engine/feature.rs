//! Reads feature files.

use std::fs;
use std::path::{Path, PathBuf};

/// One scenario.
#[derive(Debug, Default)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// The tags of the scenario and of its feature.
    pub(crate) tags: Vec<String>,
    /// Whether the suite marks the scenario as unsupported.
    pub(crate) given_up: bool,
    pub(crate) graph: String,
    /// Whether the scenario fills its graph itself.
    pub(crate) fills: bool,
    /// The traversals that fill the graph.
    pub(crate) filling: Vec<String>,
    /// Traversals with the number of results expected afterwards.
    pub(crate) counts: Vec<(usize, String)>,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) effects: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) next: bool,
    pub(crate) outcome: Outcome,
}

/// The expected outcome of a scenario.
#[derive(Debug)]
pub(crate) enum Outcome {
    Empty,
    Count(usize),
    Rows {
        rows: Vec<String>,
        ordered: bool,
        /// Whether each result must be one of the rows, instead of all rows occurring.
        of: bool,
    },
    /// The nodes of a tree, each with its depth.
    Tree(Vec<(usize, String)>),
    /// The edges and the vertices of a subgraph.
    Subgraph(Vec<String>),
    Error(Option<String>),
    Other(String),
}

impl Default for Outcome {
    fn default() -> Self {
        Self::Other("nothing".to_owned())
    }
}

impl Scenario {
    /// Why a remote server cannot pass it: it needs a graph computer or files on the server, or the
    /// suite marks it as unsupported.
    pub(crate) fn beyond_a_server(&self) -> Option<&str> {
        const TAGS: [&str; 3] = ["@GraphComputerOnly", "@StepRead", "@StepWrite"];
        let tag = self.tags.iter().find(|tag| TAGS.contains(&tag.as_str()));
        tag.map(String::as_str)
            .or(self.given_up.then_some("an unsupported test"))
    }

    /// Whether its traversal writes.
    pub(crate) fn writes(&self) -> bool {
        let writes = [
            "addV(",
            "addE(",
            "mergeV(",
            "mergeE(",
            ".drop()",
            ".property(",
        ];
        writes.iter().any(|step| self.text.contains(step))
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of features") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "feature")
        {
            found.push(path);
        }
    }
}

/// All scenarios, in the order of their files.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let folder = std::env::var("VARVE_GREMLIN_FEATURES").expect("VARVE_GREMLIN_FEATURES");
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        read(&fs::read_to_string(path).expect("UTF-8"), &mut all);
    }
    all
}

fn read(text: &str, all: &mut Vec<Scenario>) {
    let mut lines = text.lines().peekable();
    let (mut of_feature, mut tags) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next().map(str::trim) {
        if line.starts_with('@') {
            tags.extend(line.split_whitespace().map(str::to_owned));
            continue;
        }
        if line.starts_with("Feature:") {
            of_feature = std::mem::take(&mut tags);
            continue;
        }
        if let Some(name) = line.strip_prefix("Scenario: ") {
            tags.extend_from_slice(&of_feature);
            all.push(Scenario {
                name: name.trim().to_owned(),
                tags: std::mem::take(&mut tags),
                ..Scenario::default()
            });
            continue;
        }
        let Some(scenario) = all.last_mut() else {
            continue;
        };
        let step = ["Given ", "And ", "When ", "Then ", "But "];
        let Some(said) = step.iter().find_map(|word| line.strip_prefix(word)) else {
            continue;
        };
        if let Some(graph) = said
            .strip_prefix("the ")
            .and_then(|rest| rest.strip_suffix(" graph"))
        {
            scenario.graph = graph.to_owned();
        } else if said == "an unsupported test" {
            scenario.given_up = true;
        } else if let Some(rest) = said.strip_prefix("using the parameter ") {
            if let Some((name, value)) = rest.split_once(" defined as ") {
                let value = value.trim().trim_matches('"').replace("\\\"", "\"");
                scenario.parameters.push((name.to_owned(), value));
            }
        } else if said.starts_with("using the side effect") {
            let rest = said.trim_start_matches("using the side effect ");
            if let Some((name, value)) = rest.split_once(" defined as ") {
                let value = value.trim().trim_matches('"').replace("\\\"", "\"");
                scenario.effects.push((name.to_owned(), value));
            }
        } else if said == "the graph initializer of" {
            scenario.fills = true;
            let _ = lines.by_ref().find(|line| line.trim() == "\"\"\"");
            scenario.filling.push(quoted(&mut lines).join("\n"));
        } else if let Some(rest) = said.strip_prefix("the graph should return ") {
            if let Some((count, text)) = rest.split_once(" for count of ") {
                let text = text.trim().trim_matches('"').replace("\\\"", "\"");
                let count = count.parse().expect("a count");
                scenario.counts.push((count, text));
            }
        } else if said == "the traversal of" {
            // A comment may precede the text.
            let _ = lines.by_ref().find(|line| line.trim() == "\"\"\"");
            scenario.text = quoted(&mut lines).join("\n");
        } else if said == "iterated next" {
            scenario.next = true;
        } else if said.starts_with("the result") || said.starts_with("the traversal will") {
            outcome(scenario, said, &mut lines);
        }
    }
}

/// The lines up to the end of a quotation.
fn quoted<'l>(lines: &mut impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    lines
        .take_while(|line| line.trim() != "\"\"\"")
        .filter(|line| !line.trim().is_empty())
        .collect()
}

fn outcome<'l>(
    scenario: &mut Scenario,
    said: &str,
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'l str>>,
) {
    if said == "the result should be a tree with a structure of" {
        lines.next();
        let depth = |line: &str| line.find('|').unwrap_or(0);
        let lines: Vec<&str> = quoted(lines);
        let first = lines.first().map_or(0, |line| depth(line));
        let node = |line: &&str| {
            let (_, name) = line.split_once("|--").expect("a node of a tree");
            ((depth(line) - first) / 3, name.trim().to_owned())
        };
        scenario.outcome = Outcome::Tree(lines.iter().map(node).collect());
        return;
    }
    let mut rows = Vec::new();
    while let Some(row) = lines.next_if(|line| line.trim().starts_with('|')) {
        let cell = row
            .trim()
            .trim_start_matches('|')
            .trim_end_matches('|')
            .trim();
        rows.push(cell.replace("\\|", "|").replace("\\\\", "\\"));
    }
    if !rows.is_empty() {
        rows.remove(0);
    }
    let text = said.split("text of ").nth(1);
    scenario.outcome = match said {
        "the result should be empty" => Outcome::Empty,
        _ if said.starts_with("the result should have a count of ") => {
            // With rows, the count is redundant.
            if matches!(scenario.outcome, Outcome::Rows { .. }) {
                return;
            }
            let count = said.rsplit(' ').next().unwrap_or("");
            Outcome::Count(count.parse().expect("a count"))
        }
        "the result should be unordered" | "the result should be ordered" => Outcome::Rows {
            rows,
            ordered: said.ends_with(" ordered"),
            of: false,
        },
        "the result should be a subgraph with the following" => {
            if let Outcome::Subgraph(before) = &mut scenario.outcome {
                rows.append(before);
            }
            Outcome::Subgraph(rows)
        }
        "the result should be of" => Outcome::Rows {
            rows,
            ordered: false,
            of: true,
        },
        _ if said.starts_with("the traversal will raise") => {
            Outcome::Error(text.map(|text| text.trim_matches('"').replace("\\\"", "\"")))
        }
        other => Outcome::Other(other.to_owned()),
    };
}
