//! The texts of TinkerPop's own scenarios: each is parsed, printed, and parsed again.

#[path = "support/encode.rs"]
mod encode;
#[path = "support/features.rs"]
mod features;

use features::{Scenario, scenarios};
use varve_gremlin::bytecode::from_bytecode;
use varve_gremlin::{parse_script, parse_traversal};

/// The number of scenarios in gremlin-test 3.8.1.
const SCENARIOS: usize = 2_061;

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
                // NaN is not equal to itself, so trees that contain it are compared as text.
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

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn the_bytecode_of_a_text_is_the_same_tree() {
    let mut compared = 0;
    for text in scenarios().iter().flat_map(|scenario| &scenario.texts) {
        let Some(bytecode) = parse_traversal(text)
            .ok()
            .and_then(|tree| encode::encode(&tree))
        else {
            continue;
        };
        let tree = parse_script(text).expect("it was parsed");
        let again = from_bytecode(bytecode).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(
            again == tree || text.contains("NaN") && again.to_string() == tree.to_string(),
            "{text}\n{again}"
        );
        compared += 1;
    }
    assert!(compared > 1_500, "{compared}");
}
