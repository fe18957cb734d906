//! The texts of TinkerPop's own scenarios: each is parsed, printed, and parsed again.

use std::fs;
use std::path::{Path, PathBuf};

use varve_gremlin::parse_script;

/// The scenarios of gremlin-test 3.8.1.
const SCENARIOS: usize = 2_061;

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

/// A scenario's name and the traversals in it: the one that fills the graph, and the one it tests.
struct Scenario {
    name: String,
    texts: Vec<String>,
}

fn scenarios() -> Vec<Scenario> {
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
                // Other texts are comments and pictures of trees.
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

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn all_texts_are_parsed_and_what_is_printed_is_the_same_tree() {
    let scenarios = scenarios();
    let mut wrong = Vec::new();
    let mut texts = 0;
    for Scenario { name, texts: own } in &scenarios {
        texts += own.len();
        for text in own {
            let tree = match parse_script(text) {
                Ok(tree) => tree,
                Err(error) => {
                    wrong.push(format!("{name}: {error}\n{text}"));
                    continue;
                }
            };
            let printed = tree.to_string();
            match parse_script(&printed) {
                // NaN equals nothing, so its trees are compared as they are printed.
                Ok(again)
                    if again == tree || printed.contains("NaN") && again.to_string() == printed => {
                }
                Ok(_) => wrong.push(format!("{name}: another tree\n{text}\n{printed}")),
                Err(error) => wrong.push(format!("{name}: printed: {error}\n{text}\n{printed}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {texts} texts:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(scenarios.len(), SCENARIOS);
    assert!(texts >= SCENARIOS, "{texts}");
}
