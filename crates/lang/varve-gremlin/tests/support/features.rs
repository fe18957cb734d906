//! TinkerPop's feature files.

use std::fs;
use std::path::{Path, PathBuf};

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

/// A scenario's name and its traversals: those that fill the graph, and the one under test.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) texts: Vec<String>,
}

/// The scenarios in the folder `VARVE_GREMLIN_FEATURES`.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let folder = std::env::var("VARVE_GREMLIN_FEATURES").expect("VARVE_GREMLIN_FEATURES");
    let mut files = Vec::new();
    feature_files(Path::new(&folder), &mut files);
    files.sort();
    let mut scenarios: Vec<Scenario> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let mut lines = text.lines().map(str::trim);
        let mut before = "";
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("Scenario: ") {
                let (name, texts) = (name.to_owned(), Vec::new());
                scenarios.push(Scenario { name, texts });
            } else if line == "\"\"\"" {
                let body: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| *line != "\"\"\"")
                    .collect();
                // Other quoted texts are comments and drawings of trees.
                if before.ends_with("the traversal of")
                    || before.ends_with("the graph initializer of")
                {
                    let scenario = scenarios.last_mut().expect("a scenario before its text");
                    scenario.texts.push(body.join("\n"));
                }
            }
            before = line;
        }
    }
    scenarios
}
